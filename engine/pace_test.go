package engine

import (
	"slices"
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
		if n := tab.region.fresh(); n > e.mostFresh()+1 {
			t.Fatalf("%d fresh parts after %d writes", n, i)
		}
	}
}

// TestLongMergesStepAside: a merge of parts that merges have written goes on after fresh parts that have piled up, unless
// there are too many of its own kind.
func TestLongMergesStepAside(t *testing.T) {
	for _, c := range []struct {
		merged int
		levels []uint8 // that may be left of the parts
	}{
		{4, []uint8{2, 1}},
		{2*mostMerged + 4, []uint8{2, 1, 0}},
	} {
		e := mustOpen(t, testOptions(vfs.NewMem())) // merges of two parts
		r := partsOfLog(t, e, c.merged)
		if again, err := e.mergeMerged(t.Context(), r, e.o.mergeParts); !again || err != nil {
			t.Fatalf("%d merged parts are not merged: %v", c.merged, err)
		}
		levels := map[uint8]bool{}
		for _, p := range r.snap.Load().parts {
			levels[p.meta.Level] = true
		}
		for l := range levels {
			if !slices.Contains(c.levels, l) {
				t.Errorf("of %d merged parts and fresh ones a part of level %d is left", c.merged, l)
			}
		}
		if fresh := slices.Contains(c.levels, 0); levels[0] != fresh {
			t.Errorf("of %d merged parts and fresh ones fresh ones are left: %v, want %v", c.merged, levels[0], fresh)
		}
		mustClose(t, e)
	}
}

// partsOfLog makes a table with so many parts of level 1, and fresh ones that are twice what a merge needs.
func partsOfLog(t *testing.T, e *Engine, merged int) *region {
	var r *region
	at := int64(0)
	write := func(parts int) {
		for range parts {
			at++
			if err := put(e, "log", lastRow, []modelRow{{"ts": at, "host": "a", "v": at}}); err != nil {
				t.Fatal(err)
			}
			tab, err := e.Table(public("log"))
			if err != nil {
				t.Fatal(err)
			}
			if r = tab.region; e.flushRegion(t.Context(), r) != nil {
				t.Fatal("a flush failed")
			}
		}
	}
	for range merged {
		write(e.o.mergeParts)
		if again, err := e.mergeFresh(t.Context(), r); !again || err != nil {
			t.Fatalf("%d fresh parts are not merged: %v", e.o.mergeParts, err)
		}
	}
	write(2 * e.o.mergeParts)
	return r
}
