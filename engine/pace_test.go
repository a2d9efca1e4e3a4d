package engine

import (
	"testing"

	"varve/engine/vfs"
)

// TestPartsStayFew: where rows come in as fast as they can, in parts of a few rows each, merges keep up.
func TestPartsStayFew(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.NoBackground, o.FlushBytes = false, 1
	e := mustOpen(t, o)
	defer mustClose(t, e)
	for i := range int64(400) {
		if err := put(e, "log", lastRow, []modelRow{{"ts": i, "host": "a", "v": i}}); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(public("log"))
		if err != nil {
			t.Fatal(err)
		}
		if n := tab.region.fresh(); n > mostFresh+1 {
			t.Fatalf("%d fresh parts after %d writes", n, i)
		}
	}
}
