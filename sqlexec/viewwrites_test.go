package sqlexec

import (
	"testing"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestWritesToViews: rows that are sent to the name of a view are refused, and no table is made of them, whether the view was made
// by this executor or before a start; once the view is gone, the name is free.
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
		_, errs, err := e.Series(t.Context(), &engine.SeriesRequest{Columns: engine.SampleColumns{Time: "ts", Value: "v"},
			Names: []engine.SeriesName{{Table: schema.Name{DB: "public", Table: "v"}}, {Table: schema.Name{DB: "public", Table: "m"}}}})
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
