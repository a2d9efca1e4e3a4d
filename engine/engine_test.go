package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestConcurrent writes, scans, flushes, merges and alters at once: every scan sees whole batches, each row once.
func TestConcurrent(t *testing.T) {
	before := runtime.NumGoroutine()
	o := testOptions(vfs.NewMem())
	o.NoBackground = false
	o.FlushBytes = 32 << 10
	e := mustOpen(t, o)
	const writers, batches, size = 3, 60, 40
	var writing, others sync.WaitGroup
	var done atomic.Bool
	for k := range writers {
		writing.Go(func() {
			for i := range batches {
				rows := make([]modelRow, size)
				for j := range rows {
					rows[j] = modelRow{"ts": int64(i), "batch": int64(k*batches + i), "row": int64(j)}
				}
				if i%20 == 19 {
					rows[0][fmt.Sprint("x", k, "_", i)] = int64(1)
				}
				if err := put(e, "log", appendOnly, rows); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2 {
		others.Go(func() {
			for !done.Load() {
				lines, err := scanTable(e, public("log"), everything)
				if status.Of(err) == status.TableNotFound {
					continue
				}
				if err != nil || len(lines)%size != 0 {
					t.Errorf("scan: %d rows, %v", len(lines), err)
					return
				}
			}
		})
	}
	others.Go(func() {
		for !done.Load() {
			for _, f := range []func() error{func() error { return e.Flush(ctx, public("log")) },
				func() error { return e.Compact(ctx, public("log")) }} {
				if err := f(); err != nil && status.Of(err) != status.TableNotFound {
					t.Error(err)
					return
				}
			}
		}
	})
	writing.Wait()
	done.Store(true)
	others.Wait()
	lines, err := scanTable(e, public("log"), everything)
	if err != nil || len(lines) != writers*batches*size {
		t.Fatalf("%d rows, want %d: %v", len(lines), writers*batches*size, err)
	}
	mustClose(t, e)
	if _, err := scanTable(e, public("log"), everything); err == nil {
		t.Error("a closed store answers")
	}
	for deadline := time.Now().Add(40 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if runtime.NumGoroutine() <= before { // goroutines end a moment after what they signal
			return
		}
	}
	buf := make([]byte, 1<<16)
	t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// TestRefused checks what the write door says to rows that do not fit.
func TestRefused(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	if err := put(e, "fields", lastNonNull, []modelRow{{"ts": int64(1), "host": "a", "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	text, hint := vector.StringType, hintOf(lastNonNull)
	closed := hint
	closed.AutoCreate = false
	for _, c := range []struct {
		name    string
		table   schema.Name
		hint    Hint
		columns []vector.Field
		want    string
	}{
		{"database", schema.Name{DB: "none", Table: "t"}, hint, nil,
			"Failed to find schema, schema info: service.none"},
		{"type", public("fields"), hint, []vector.Field{{Name: "v", Type: text}},
			"column v expect type Int64, given: String: send it as Int64 or under another name, or change the column by ALTER TABLE"},
		{"role", public("fields"), Hint{AutoCreate: true, TimeIndex: "ts", Tags: []string{"v"}},
			[]vector.Field{{Name: "v", Type: vector.Int64Type}}, "column v expect"},
		{"no table", public("absent"), closed, nil,
			"Invalid InsertRequest, reason: Table `absent` does not exist, and `auto_create_table` hint is disabled"},
		{"no table by configuration", public("absent"), Hint{Disabled: true, TimeIndex: "ts"}, nil,
			"Table `absent` does not exist, auto-create table is disabled by frontend config"},
		{"no column", public("fields"), closed, []vector.Field{{Name: "new", Type: text}},
			"`auto_create_table` hint is disabled"},
		{"another time index", public("fields"), Hint{AutoCreate: true, TimeIndex: "other"},
			[]vector.Field{{Name: "other", Type: vector.Timestamp(3)}}, "TIMESTAMP"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var set WriteSet
			b := set.Rows(c.table, c.hint)
			ts, err := b.Column("ts", vector.Timestamp(3))
			if err != nil {
				t.Fatal(err)
			}
			ts.SetInt(2)
			for _, f := range c.columns {
				col, err := b.Column(f.Name, f.Type)
				if err != nil {
					t.Fatal(err)
				}
				if f.Type == text {
					col.SetString("x")
				} else {
					col.SetInt(1)
				}
			}
			b.EndRow()
			_, err = e.Write(ctx, &set)
			if status.Of(err) != status.InvalidArguments || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v (%v), want %q", err, status.Of(err), c.want)
			}
		})
	}
	if lines, err := scanTable(e, public("fields"), everything); err != nil || len(lines) != 1 {
		t.Errorf("rows after refused writes: %v %v", lines, err)
	}
}

// TestInsert writes with an empty hint, as INSERT does: columns take the roles that the table gives them.
func TestInsert(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	options, err := schema.ParseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.CreateTable(ctx, &schema.Table{Name: public("t"), Time: 1, Tags: []int{0}, Engine: "mito",
		Options: options, Columns: []schema.Column{
			{Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true},
			{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp, DefaultExpr: "current_timestamp()"},
			{Name: "v", Type: vector.Int64Type, Nullable: true},
		}})
	if err != nil {
		t.Fatal(err)
	}
	var set WriteSet
	b := set.Rows(public("t"), Hint{})
	for i := range int64(3) {
		for _, c := range []struct {
			name string
			t    vector.Type
			set  func(*vector.ColumnBuilder)
		}{
			{"v", vector.Int64Type, func(c *vector.ColumnBuilder) { c.SetInt(i) }},
			{"ts", vector.Timestamp(3), func(c *vector.ColumnBuilder) { c.SetInt(i / 2) }},
			{"host", vector.StringType, func(c *vector.ColumnBuilder) { c.SetString("a") }},
		} {
			col, err := b.Column(c.name, c.t)
			if err != nil {
				t.Fatal(err)
			}
			c.set(col)
		}
		b.EndRow()
	}
	if out, err := e.Write(ctx, &set); err != nil || len(out) != 1 || out[0].Rows != 3 {
		t.Fatalf("write: %v %v", out, err)
	}
	set.Reset()
	b = set.Rows(public("t"), Hint{}) // the time index has a default
	v, err := b.Column("v", vector.Int64Type)
	if err != nil {
		t.Fatal(err)
	}
	v.SetInt(9)
	b.EndRow()
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	lines, err := scanTable(e, public("t"), everything)
	want := " host=a ts=0 v=1; host=a ts=1 v=2; ts=1700000000000 v=9"
	if got := strings.Join(lines, ";"); err != nil || got != want {
		t.Errorf("got %s, want %s: %v", got, want, err)
	}
}

// TestBackpressure lets writers wait for a flush and refuses them when none comes.
func TestBackpressure(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MemtableLimit, o.WriteWait, o.FlushBytes = 4<<10, time.Millisecond, 1<<30
	e := mustOpen(t, o)
	rows := make([]modelRow, 300)
	for i := range rows {
		rows[i] = modelRow{"ts": int64(i), "v": int64(i)}
	}
	if err := put(e, "log", appendOnly, rows); err != nil {
		t.Fatal(err)
	}
	if err := e.Ready(); err != nil {
		t.Errorf("not ready before a write is refused: %v", err)
	}
	if err := put(e, "log", appendOnly, rows); status.Of(err) != status.RegionBusy {
		t.Fatalf("write over the limit: %v, want %v", err, status.RegionBusy)
	}
	if err := e.Ready(); status.Of(err) != status.RegionNotReady ||
		!strings.Contains(err.Error(), "flushing does not keep up") {
		t.Errorf("while writes are refused it is ready: %v", err)
	}
	if err := e.Flush(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	if err := e.Ready(); err != nil {
		t.Errorf("not ready when there is room again: %v", err)
	}
	if err := put(e, "log", appendOnly, rows); err != nil {
		t.Fatalf("write after the flush: %v", err)
	}
	mustClose(t, e)

	o.NoBackground, o.WriteWait = false, time.Minute
	e = mustOpen(t, o)
	for range 20 { // each waits for the flush of the one before
		if err := put(e, "log", appendOnly, rows); err != nil {
			t.Fatal(err)
		}
	}
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 22*len(rows) {
		t.Fatalf("%d rows, want %d: %v", len(lines), 22*len(rows), err)
	}
	mustClose(t, e)
}

// TestExpiry hides rows past their time at once and drops parts that hold nothing else.
func TestExpiry(t *testing.T) {
	now := time.UnixMilli(100_000)
	o := testOptions(vfs.NewMem())
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	defer mustClose(t, e)
	hint := hintOf(appendOnly)
	var err error
	if hint.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true", "ttl": "10s"}); err != nil {
		t.Fatal(err)
	}
	write := func(table string, h Hint, at int64) int {
		t.Helper()
		var set WriteSet
		if err := fill(set.Rows(public(table), h), []modelRow{{"ts": at, "v": at}}); err != nil {
			t.Fatal(err)
		}
		out, err := e.Write(ctx, &set)
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Rows
	}
	count := func(table string) int {
		t.Helper()
		lines, err := scanTable(e, public(table), everything)
		if err != nil {
			t.Fatal(err)
		}
		return len(lines)
	}
	for _, at := range []int64{85_000, 95_000} {
		write("short", hint, at)
		if err := e.Flush(ctx, public("short")); err != nil {
			t.Fatal(err)
		}
	}
	if n := count("short"); n != 1 {
		t.Errorf("%d rows, want 1: the other is past its time", n)
	}
	table, err := e.Table(public("short"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.expiry.drop(table.region); err != nil {
		t.Fatal(err)
	}
	if n := len(table.Stats().Parts); n != 1 {
		t.Errorf("%d parts, want 1", n)
	}
	write("long", hintOf(appendOnly), 85_000)
	if err := e.AlterDatabase(ctx,
		Database{Name: "public", Options: []schema.Option{{Key: "ttl", Value: "10s"}}}); err != nil {
		t.Fatal(err)
	}
	if n := count("long"); n != 0 {
		t.Errorf("%d rows of a table that takes the ttl of its database, want 0", n)
	}
	if hint.Options, err = schema.ParseOptions(map[string]string{"ttl": "instant"}); err != nil {
		t.Fatal(err)
	}
	if n := write("instant", hint, 99_000); n != 0 || count("instant") != 0 {
		t.Errorf("ttl instant: %d rows written, %d there, want 0", n, count("instant"))
	}
}

// TestDefaults keeps what a column's default was when a row was written.
func TestDefaults(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	defer func() { mustClose(t, e) }()
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	alter := func(change func(*schema.Table) (*schema.Table, error)) {
		t.Helper()
		if err := e.Alter(ctx, public("log"), change); err != nil {
			t.Fatal(err)
		}
	}
	setDefault := func(x int64) func(*schema.Table) (*schema.Table, error) {
		return func(s *schema.Table) (*schema.Table, error) {
			n := *s
			n.Columns = append([]schema.Column(nil), s.Columns...)
			n.Columns[n.Column("d")].Default = vector.ConstInt(vector.Int64Type, x)
			return &n, nil
		}
	}
	alter(func(s *schema.Table) (*schema.Table, error) {
		return s.Evolve([]schema.Column{{Name: "d", Type: vector.Int64Type, Nullable: true,
			Default: vector.ConstInt(vector.Int64Type, 5)}})
	})
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(2)}}); err != nil {
		t.Fatal(err)
	}
	alter(setDefault(7))
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(3)}}); err != nil {
		t.Fatal(err)
	}
	want := "d=5 ts=1| d=5 ts=2| d=7 ts=3"
	mustClose(t, e)
	e = mustOpen(t, o)
	for _, when := range []string{"replayed", "flushed", "flushed twice"} {
		lines, err := scanTable(e, public("log"), everything)
		if got := strings.Trim(strings.Join(lines, "|"), " "); err != nil || got != want {
			t.Errorf("%s: got %s, want %s: %v", when, got, want, err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStat answers counts and bounds without reading rows.
func TestStat(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for i := range int64(3) {
		if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": 10 + i}, {"ts": i + 10}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	table, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	v := table.Schema.Columns[table.Schema.Column("v")].ID
	for _, c := range []struct {
		name   string
		time   scan.Range
		filter filter.And
		ok     bool
	}{
		{"all", scan.All, nil, true},
		{"a range that cuts parts", scan.Range{From: 1, To: 10}, nil, false},
		{"a filter", scan.All, filter.And{{Column: v, Op: filter.IsNotNull}}, false},
	} {
		s, err := e.Scan(ctx, Request{Table: table, Time: c.time, Filter: c.filter})
		if err != nil {
			t.Fatal(err)
		}
		st, ok, err := s.Stat(v)
		if err != nil || ok != c.ok || ok && (st.Count != 3 || st.Min.Int(0) != 10 || st.Max.Int(0) != 12) {
			t.Errorf("%s: %+v %v, want ok %v, 3 values from 10 to 12", c.name, st, ok, c.ok)
		}
		s.Close()
	}
}

// TestWriteThatIsGivenUp: a write whose request has ended before the log has it leaves nothing.
func TestWriteThatIsGivenUp(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	rows := []modelRow{{"ts": int64(1), "host": "a", "v": int64(1)}}
	if err := put(e, "log", lastRow, rows); err != nil {
		t.Fatal(err)
	}
	m := model{"log": &modelTable{kind: lastRow, keys: map[string]modelRow{}}}
	m["log"].put(rows)
	var set WriteSet
	if err := fill(set.Rows(public("log"), hintOf(lastRow)),
		[]modelRow{{"ts": int64(2), "host": "a", "v": int64(2)}}); err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := e.Write(gone, &set); !errors.Is(err, context.Canceled) {
		t.Fatalf("the write answers %v", err)
	}
	for range 2 {
		compare(t, e, m, "after a write that was given up")
		mustClose(t, e)
		e = mustOpen(t, o)
	}
	mustClose(t, e)
}
