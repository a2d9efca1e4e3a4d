package engine

import (
	"errors"
	"path"
	"testing"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/vfs"
)

// TestMergeMeetsDrop lets a merge end between the moment at which the manifest forgets a table and the one at which its
// parts are let go of: the merge leaves no file.
func TestMergeMeetsDrop(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	defer mustClose(t, e)
	for i := range int64(2) {
		if err := put(e, "t", lastRow, []modelRow{{"ts": i, "v": i}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.apply(manifest.Edit{DropTable: []schema.TableID{tab.Schema.ID}}); err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("t")); !errors.Is(err, errOverrun) {
		t.Errorf("the merge ended with %v", err)
	}
	e.ddl.Lock()
	e.change(func(c *catalog) { c.remove(tab.place) })
	e.discard([]place{tab.place})
	e.ddl.Unlock()
	names, err := o.FS.List(path.Join(o.Dir, partsDir))
	if err != nil || len(names) > 0 {
		t.Errorf("left over: %v %v", names, err)
	}
}
