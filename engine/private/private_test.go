package private

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// drawn is a table with a column of each type.
var drawn = Table{TTL: "36500d", Comment: "for a test", OwnTable: engine.OwnTable{
	Name: engine.DashboardsTable, Time: "at", Tags: []string{"name", "kind"}, Later: []string{"count"},
	Columns: []vector.Field{
		{Name: "name", Type: vector.StringType}, {Name: "kind", Type: vector.StringType},
		{Name: "text", Type: vector.StringType},
		{Name: "count", Type: vector.Int64Type}, {Name: "size", Type: vector.Uint64Type},
		{Name: "share", Type: vector.FloatType},
		{Name: "shown", Type: vector.BoolType}, {Name: "at", Type: vector.Timestamp(3)},
	},
}}

var everything = Query{Columns: []string{"name", "kind", "text", "count", "share", "at"}}

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

// lines are the rows of a query.
func lines(t *testing.T, e *engine.Engine, q Query) string {
	t.Helper()
	var all []string
	for row, err := range drawn.Rows(t.Context(), e, q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s/%s %q %d %g @%d %v", row.Text(0), row.Text(1), row.Text(2), row.Int(3),
			row.Float(4), row.Int(5), row.AnyNull(5)))
	}
	return strings.Join(all, "\n")
}

// TestRows: rows are written, replaced by those of the same key, found by texts and times, and deleted, in memory and
// flushed.
func TestRows(t *testing.T) {
	for _, flush := range []bool{false, true} {
		t.Run(fmt.Sprintf("flush=%v", flush), func(t *testing.T) {
			e := open(t)
			check := func(q Query, want string) {
				t.Helper()
				if flush {
					if err := e.Flush(t.Context(), schema.Name{DB: engine.PrivateDB, Table: drawn.Name}); err != nil {
						t.Fatal(err)
					}
				}
				if got := lines(t, e, q); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
			if got := lines(t, e, everything); got != "" {
				t.Errorf("rows of a table that is not there: %s", got)
			}
			if err := drawn.Put(t.Context(), e,
				[]any{"a", "x", []byte("one"), int64(-1), uint64(2), 0.5, true, int64(0)},
				[]any{"b", "x", nil, nil, nil, nil, nil, int64(7)}); err != nil {
				t.Fatal(err)
			}
			check(everything, `a/x "one" -1 0.5 @0 false`+"\n"+`b/x "" 0 0 @7 true`)
			if err := drawn.Put(t.Context(), e, []any{"a", "x", "two", int64(3), nil, 1.5, false, int64(0)}); err !=
				nil {
				t.Fatal(err)
			}
			check(Query{Columns: everything.Columns, Where: map[string]string{"name": "a", "kind": "x"}},
				`a/x "two" 3 1.5 @0 false`)
			check(Query{Columns: everything.Columns, Where: map[string]string{"name": "a", "kind": "y"}}, "")
			check(Query{Columns: everything.Columns, Time: &scan.Range{From: 7, To: 7}}, `b/x "" 0 0 @7 true`)
			for range drawn.Rows(t.Context(), e, everything) {
				break
			}
			if err := drawn.Delete(t.Context(), e, []any{"a", "x", int64(0)}, []any{"a", "x", int64(1)}); err != nil {
				t.Fatal(err)
			}
			check(everything, `b/x "" 0 0 @7 true`)
		})
	}
}

// TestForm: a table is made in the order of its columns, gets the ttl that is kept, and one from before a column is
// used and gets it.
func TestForm(t *testing.T) {
	e := open(t)
	before := drawn
	before.TTL, before.Later = "forever", nil
	before.Columns = append(append([]vector.Field(nil), drawn.Columns[:3]...), drawn.Columns[4:]...)
	if there, err := drawn.KeepTTL(t.Context(), e); there || err != nil {
		t.Errorf("a table that is not there: %v, %v", there, err)
	}
	if err := before.Put(t.Context(), e, []any{"a", "x", "one", uint64(2), 0.5, true, int64(0)}); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, e, everything); got != `a/x "one" 0 0.5 @0 true` {
		t.Errorf("a row from before the column: %s", got)
	}
	if there, err := drawn.KeepTTL(t.Context(), e); !there || err != nil {
		t.Errorf("keep the ttl: %v, %v", there, err)
	}
	if err := drawn.Put(t.Context(), e, []any{"b", "x", "two", int64(3), nil, nil, nil, int64(0)}); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, e, everything); got != `a/x "one" 0 0.5 @0 true`+"\n"+`b/x "two" 3 0 @0 true` {
		t.Errorf("a row of the column: %s", got)
	}
	table, err := e.Own(&drawn.OwnTable)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range table.Schema.Columns {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "name kind text size share shown at count" {
		t.Errorf("columns %s", got)
	}
	if o := table.Schema.Options; o.Comment != "for a test" || o.TTL == 0 || o.AppendMode {
		t.Errorf("options %v", o.All)
	}
}

// TestBrokenTable: a table with a column of another type is set aside, and has no rows; one of a column that came later
// too.
func TestBrokenTable(t *testing.T) {
	for _, column := range []string{"size", "count"} {
		e := open(t)
		broken := drawn
		broken.Columns = append([]vector.Field(nil), drawn.Columns...)
		row := []any{"a", "x", "one", int64(1), uint64(2), 0.5, true, int64(0)}
		for i := range broken.Columns {
			if broken.Columns[i].Name == column {
				broken.Columns[i].Type, row[i] = vector.StringType, "broken"
			}
		}
		if err := broken.Put(t.Context(), e, row); err != nil {
			t.Fatal(err)
		}
		if got := lines(t, e, everything); got != "" {
			t.Errorf("rows of a broken table: %s", got)
		}
		if aside := e.TablesAside(); len(aside) != 1 ||
			!strings.Contains(aside[0].Reason, "has a column "+column+" of type String") {
			t.Errorf("set aside: %v", aside)
		}
	}
}
