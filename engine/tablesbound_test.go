package engine

import (
	"fmt"
	"strings"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestTablesAreBounded: who writes to more tables than there may be is refused, for those that are too many; tables
// that are dropped make room.
func TestTablesAreBounded(t *testing.T) {
	e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "d", NoBackground: true, MaxTables: 5})
	var names []SeriesName
	for i := range 7 {
		names = append(names, named(fmt.Sprint("m", i), "p", "host", "a"))
	}
	if n := refused(t, e, "memory_limit has room for 5", names...); n != 3 { // the physical table is one as well
		t.Errorf("%d of 7 metrics were refused, want 3", n)
	}
	if n := refused(t, e, "memory_limit has room for 5", names[:4]...); n != 0 {
		t.Errorf("%d metrics that are there were refused", n)
	}
	if err := e.DropTables(ctx, []schema.Name{names[0].Table}); err != nil {
		t.Fatal(err)
	}
	if n := refused(t, e, "memory_limit has room for 5", names[4:]...); n != 2 {
		t.Errorf("after one was dropped %d of 3 were refused, want 2", n)
	}
}

// TestTablesOfARequestAreBounded: a request does not fill the catalog at once.
func TestTablesOfARequestAreBounded(t *testing.T) {
	e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "d", NoBackground: true})
	var names []SeriesName
	for i := range maxMade + 9 {
		names = append(names, named(fmt.Sprint("m", i), "p", "host", "a"))
	}
	if n := refused(t, e, "the request would create more than 20000 tables", names...); n != 10 {
		t.Errorf("%d were refused, want 10", n)
	}
}

// TestColumnsAreBounded: who brings more columns than all tables may have together is refused, whether a table would be
// new or get wider; columns that are there are written to, the server's own tables are not counted, and tables that are
// dropped make room.
func TestColumnsAreBounded(t *testing.T) {
	o := Options{FS: vfs.NewMem(), Dir: "d", NoBackground: true, MinFree: -1, MaxColumns: 6}
	e := mustOpen(t, o)
	row := modelRow{"ts": int64(1), "v": int64(1), "s": "x"}
	for _, table := range []string{"a", "b"} { // three columns each
		if err := put(e, table, appendOnly, []modelRow{row}); err != nil {
			t.Fatal(err)
		}
	}
	wider := modelRow{"ts": int64(1), "w": int64(2)}
	alter := func(table string, add ...string) error {
		return e.Alter(ctx, public(table), func(old *schema.Table) (*schema.Table, error) {
			columns := make([]schema.Column, len(add))
			for i, name := range add {
				columns[i] = schema.Column{Name: name, Type: vector.Int64Type, Nullable: true}
			}
			return old.Evolve(columns)
		})
	}
	check := func(when string) {
		t.Helper()
		for table, r := range map[string]modelRow{"c": row, "b": wider} {
			if err := put(e, table, appendOnly, []modelRow{r}); err == nil ||
				!strings.Contains(err.Error(), "memory_limit has room for 6") {
				t.Errorf("%s: more columns for %s: %v", when, table, err)
			}
		}
		if err := alter("b", "w"); err == nil || !strings.Contains(err.Error(), "memory_limit has room for 6") {
			t.Errorf("%s: a column that ALTER adds: %v", when, err)
		}
		if err := put(e, "a", appendOnly, []modelRow{row}); err != nil {
			t.Errorf("%s: columns that are there: %v", when, err)
		}
	}
	check("at the bound")
	mustClose(t, e)
	e = mustOpen(t, o)
	check("after a start")
	if err := e.DropTables(ctx, []schema.Name{public("a")}); err != nil {
		t.Fatal(err)
	}
	if err := put(e, "b", appendOnly, []modelRow{wider}); err != nil {
		t.Errorf("after a table was dropped: %v", err)
	}
	if err := alter("b", "x"); err != nil {
		t.Errorf("ALTER after a table was dropped: %v", err)
	}
	mustClose(t, e)
}
