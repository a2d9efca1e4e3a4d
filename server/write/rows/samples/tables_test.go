package samples

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

func open(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "data", NoBackground: true, MinFree: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background(), false); err != nil {
			t.Error(err)
		}
	})
	return e
}

// find asks for series by name and tells which were known.
func find(t *testing.T, tables *Tables, db string, names ...string) (known []bool, list []*engine.Series) {
	t.Helper()
	r := tables.Begin(db, "", Hints{})
	var handles []Handle
	for _, name := range names {
		h, ok := r.Find([]byte(name))
		if known = append(known, ok); !ok {
			var err error
			if h, err = r.Add([]byte(name),
				[]Label{{[]byte("__name__"), []byte("m")}, {[]byte("l"), []byte(name)}}); err != nil {
				t.Fatal(err)
			}
		}
		handles = append(handles, h)
	}
	r.End()
	if err := r.Resolve(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, h := range handles {
		s, err := r.Series(h)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return known, list
}

// TestKnownSeries: what was there before is known in any order, in its database alone.
func TestKnownSeries(t *testing.T) {
	e := open(t)
	if err := e.CreateDatabase(t.Context(), engine.Database{Name: "other"}); err != nil {
		t.Fatal(err)
	}
	tables := New(Options{Store: e, CacheBytes: 1 << 20})
	if known, _ := find(t, tables, "public", "a", "b", "c", "a"); fmt.Sprint(known) != "[false false false false]" {
		t.Errorf("at first %v are known", known)
	}
	_, first := find(t, tables, "public", "a", "b", "c")
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "b", "a"}, {"a", "b", "c"}} {
		known, list := find(t, tables, "public", order...)
		for i, name := range order {
			if !known[i] || list[i] != first[name[0]-'a'] {
				t.Errorf("%v: series %s is known: %v", order, name, known[i])
			}
		}
	}
	if known, list := find(t, tables, "other", "a"); known[0] || list[0] == first[0] {
		t.Error("a series of one database is taken for that of another")
	}
}

// TestKnownSeriesAreBounded: the memory stays within its bound, and what is in use is kept before the rest.
func TestKnownSeriesAreBounded(t *testing.T) {
	tables := New(Options{Store: open(t), CacheBytes: 100 * (knownBytes + 40)})
	for i := range 2000 {
		find(t, tables, "public", fmt.Sprint("n", i))
		if i > 10 {
			find(t, tables, "public", "n0")
		}
		if tables.Bytes() > tables.o.CacheBytes {
			t.Fatalf("%d bytes after %d series", tables.Bytes(), i)
		}
	}
	if len(tables.known) < 10 {
		t.Errorf("%d are left", len(tables.known))
	}
	sum := int64(0)
	for _, k := range tables.known {
		sum += int64(knownBytes + k.series.KeyBytes())
	}
	if sum != tables.Bytes() {
		t.Errorf("%d bytes are counted, there are %d", tables.Bytes(), sum)
	}
}

// TestGoneSeriesAreForgotten: series that others replace do not stay known though there is room, and those in use do.
func TestGoneSeriesAreForgotten(t *testing.T) {
	defer func(before int) { fewKnown = before }(fewKnown)
	fewKnown = 10
	tables := New(Options{Store: open(t), CacheBytes: 1 << 30})
	for i := range 200 {
		name := fmt.Sprint("n", i)
		for range 10 {
			known, _ := find(t, tables, "public", name, "a", "b", "c")
			if i > 0 && fmt.Sprint(known[1:]) != "[true true true]" {
				t.Fatalf("after %d series those in use are known: %v", i, known[1:])
			}
		}
	}
	if n := len(tables.known); n > 50 {
		t.Errorf("%d series are known, four are in use", n)
	}
}

// TestMetadata: the last word counts, is there after a restart, and is not written twice.
func TestMetadata(t *testing.T) {
	e := open(t)
	tables := New(Options{Store: e, CacheBytes: 1 << 20})
	for _, help := range []string{"old", "new", "new"} {
		if err := tables.Describe(t.Context(), "public",
			[]Metadata{{"m", "counter", "bytes", help}, {"n", "gauge", "", ""}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		list, err := tables.Metadata(t.Context(), "public", "")
		if err != nil || fmt.Sprint(list) != "[{m counter bytes new} {n gauge  }]" {
			t.Errorf("metadata %v, %v", list, err)
		}
		tables = New(Options{Store: e}) // as after a restart
	}
	if list, err := tables.Metadata(t.Context(), "other", ""); err != nil || len(list) > 0 {
		t.Errorf("metadata of another database: %v, %v", list, err)
	}

	// What was said of a table that was dropped is gone, after a restart as well.
	var set engine.WriteSet
	b := set.Rows(schema.Name{DB: "public", Table: "m"}, engine.Hint{AutoCreate: true, TimeIndex: "ts"})
	ts, err := b.Column("ts", vector.Timestamp(3))
	if err != nil {
		t.Fatal(err)
	}
	ts.SetInt(1)
	b.EndRow()
	if _, err := e.Write(t.Context(), &set); err != nil {
		t.Fatal(err)
	}
	if err := tables.Describe(t.Context(), "public", []Metadata{{"m", "counter", "bytes", "of the table"}}); err !=
		nil {
		t.Fatal(err)
	}
	if err := e.DropTables(t.Context(), []schema.Name{{DB: "public", Table: "m"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		list, err := tables.Metadata(t.Context(), "public", "")
		if err != nil || fmt.Sprint(list) != "[{n gauge  }]" {
			t.Errorf("metadata of a dropped table: %v, %v", list, err)
		}
		tables = New(Options{Store: e})
	}
}

// TestSearchesThatWait: what requests hold is asked for while one of them searches and another waits to enter its
// series; who waits within a search lets the other on.
func TestSearchesThatWait(t *testing.T) {
	tables := New(Options{CacheBytes: 1 << 20})
	r := tables.Begin("public", "", Hints{})
	entered := make(chan struct{})
	go func() {
		tables.learn(&Request{t: tables})
		close(entered)
	}()
	for tables.mu.TryRLock() { // until the other waits for the lock
		tables.mu.RUnlock()
		runtime.Gosched()
	}
	if n := tables.Bytes(); n != 0 {
		t.Errorf("%d bytes of no series", n)
	}
	if err := r.Wait(func() error { <-entered; return nil }); err != nil {
		t.Fatal(err)
	}
	r.End()
}
