package engine

import (
	"fmt"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
)

// TestTablesAreBounded: who writes to more tables than there may be is refused, for those that are too many; tables that are dropped
// make room.
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
	if n := refused(t, e, "more than 20000 tables would be made at once", names...); n != 10 {
		t.Errorf("%d were refused, want 10", n)
	}
}
