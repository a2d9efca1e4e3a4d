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

// TestLongMergesStepAside: a merge of parts that merges have written goes on after fresh parts that have piled up.
func TestLongMergesStepAside(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
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
	for range e.o.mergeParts {
		write(e.o.mergeParts)
		if again, err := e.mergeFresh(t.Context(), r); !again || err != nil {
			t.Fatalf("%d fresh parts are not merged: %v", e.o.mergeParts, err)
		}
	}
	write(2 * e.o.mergeParts)
	if again, err := e.mergeMerged(t.Context(), r, e.o.mergeParts); !again || err != nil {
		t.Fatalf("%d merged parts are not merged: %v", e.o.mergeParts, err)
	}
	var levels []uint8
	for _, p := range r.snap.Load().parts {
		levels = append(levels, p.meta.Level)
	}
	if !slices.Equal(levels, []uint8{2, 1}) {
		t.Errorf("parts of levels %v are left, want one of the long merge, one of the fresh ones", levels)
	}
}
