package sqlexec

import (
	"fmt"
	"sync"
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestWritesToViews: rows that are sent to the name of a view are refused, and no table is made of them, whether the
// view was made by this executor or before a start; once the view is gone, the name is free.
func TestWritesToViews(t *testing.T) {
	disk := vfs.NewMem()
	open := func() (*engine.Engine, *Executor) {
		e, err := engine.Open(engine.Options{FS: disk, Dir: "/data", NoBackground: true, MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		return e, New(e, Options{})
	}
	write := func(e *engine.Engine) error {
		set := new(engine.WriteSet)
		b := set.Rows(schema.Name{DB: "public", Table: "v"}, engine.Hint{AutoCreate: true, TimeIndex: "ts"})
		ts, err := b.Column("ts", vector.Timestamp(3))
		if err != nil {
			t.Fatal(err)
		}
		ts.SetInt(1)
		b.EndRow()
		_, err = e.Write(t.Context(), set)
		return err
	}
	run := func(x *Executor, text string) {
		t.Helper()
		list, err := x.Parse(text)
		if err == nil {
			_, err = x.Execute(t.Context(), &Session{}, list[0])
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	e, x := open()
	run(x, "CREATE VIEW v AS SELECT 1 AS a")
	for range 2 {
		if err := write(e); status.Of(err) != status.InvalidArguments {
			t.Errorf("a write to a view: %v", err)
		}
		_, errs, err := e.Series(t.Context(),
			&engine.SeriesRequest{Columns: engine.SampleColumns{Time: "ts", Value: "v"},
				Names: []engine.SeriesName{{Table: schema.Name{DB: "public", Table: "v"}},
					{Table: schema.Name{DB: "public", Table: "m"}}}})
		if err != nil || status.Of(errs[0]) != status.InvalidArguments || errs[1] != nil {
			t.Errorf("series of a view and of a metric: %v, %v", errs, err)
		}
		if _, err := e.Table(schema.Name{DB: "public", Table: "v"}); status.Of(err) != status.TableNotFound {
			t.Errorf("the table behind the view: %v", err)
		}
		if err := e.Close(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		e, x = open()
	}
	run(x, "DROP VIEW v")
	if err := write(e); err != nil {
		t.Errorf("without the view: %v", err)
	}
	if err := e.Close(t.Context(), false); err != nil {
		t.Fatal(err)
	}
}

// TestViewsAndFirstWrites: of a CREATE VIEW and a first write to its name, which run beside each other, one comes too
// late: a view never hides a table that the write made.
func TestViewsAndFirstWrites(t *testing.T) {
	e, err := engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	x := New(e, Options{})
	for i := range 200 {
		name := schema.Name{DB: "public", Table: fmt.Sprintf("n%d", i)}
		list, err := x.Parse("CREATE VIEW " + name.Table + " AS SELECT 1 AS a")
		if err != nil {
			t.Fatal(err)
		}
		var made, written error
		var both sync.WaitGroup
		begin := make(chan struct{})
		both.Go(func() {
			<-begin
			_, made = x.Execute(t.Context(), &Session{}, list[0])
		})
		both.Go(func() {
			set := new(engine.WriteSet)
			b := set.Rows(name, engine.Hint{AutoCreate: true, TimeIndex: "ts"})
			ts, err := b.Column("ts", vector.Timestamp(3))
			if err != nil {
				t.Error(err)
				return
			}
			ts.SetInt(1)
			b.EndRow()
			<-begin
			_, written = e.Write(t.Context(), set)
		})
		close(begin)
		both.Wait()
		if (made == nil) == (written == nil) {
			t.Fatalf("%s: CREATE VIEW %v, the write %v", name, made, written)
		}
		if _, err := e.Table(name); (err == nil) != (written == nil) {
			t.Fatalf("%s: CREATE VIEW %v, the write %v, the table %v", name, made, written, err)
		}
	}
	if err := e.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
}
