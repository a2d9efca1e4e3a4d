package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"varve/engine/manifest"
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

// TestLongMergesRest: while rows come in, a long merge stands still for three times as long as it worked, less when many
// wait; what it waited for flushes counts. Without flushes it does not rest.
func TestLongMergesRest(t *testing.T) {
	for waiting, want := range map[int]float64{0: 3, 1: 3, 8: 3, 16: 1, 32: 0, 1000: 0} {
		if got := restOf(waiting); got != want {
			t.Errorf("with %d merges waiting it rests %v s a second of work, want %v", waiting, got, want)
		}
	}
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	ended, cancel := context.WithCancel(t.Context())
	cancel() // a rest is refused then
	p := &pacer{e: &e.core, ctx: ended, r: &region{}, owed: time.Hour}
	if err := p.takeRest(); err != nil || p.owed != 0 {
		t.Errorf("without flushes it rests and owes %v more: %v", p.owed, err)
	}
	e.flushes.Add(1)
	p.owed = -time.Hour // waited for flushes
	if err := p.takeRest(); err != nil || p.owed != 0 {
		t.Errorf("after it has waited it rests and owes %v more: %v", p.owed, err)
	}
	p.owed = 2 * longestRest
	if err := p.takeRest(); !errors.Is(err, context.Canceled) || p.owed != longestRest {
		t.Errorf("while rows come in it does not rest, and owes %v: %v", p.owed, err)
	}
}

// TestCompactionWaits: a compaction that was asked for waits for the merge at hand, which no longer rests, and ends when its
// client is gone.
func TestCompactionWaits(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	if err := put(e, "log", lastRow, []modelRow{{"ts": int64(1), "host": "a", "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	r := tab.region
	if err := r.merging.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Compact(ctx, public("log")) }()
	for r.hurry.Load() == 0 {
		runtime.Gosched()
	}
	gone, end := context.WithCancel(t.Context())
	end()
	e.flushes.Add(1)
	p := &pacer{e: &e.core, ctx: gone, r: r, owed: time.Hour}
	if err := p.takeRest(); err != nil {
		t.Errorf("the merge rests while a compaction waits: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a compaction that was cancelled while it waited: %v", err)
	}
	if r.hurry.Load() != 0 {
		t.Error("the merge is still hurried")
	}
	r.merging.give()
	if err := e.Compact(t.Context(), public("log")); err != nil {
		t.Error(err)
	}
}

// TestBehind counts the merges that wait in all windows of a table.
func TestBehind(t *testing.T) {
	var parts []*part
	add := func(n int, level uint8, time int64) {
		for range n {
			seq := uint64(len(parts) + 1)
			parts = append(parts, &part{meta: manifest.PartMeta{Level: level, Rows: 1, MinTime: time, MaxTime: time, MinSeq: seq, MaxSeq: seq}})
		}
	}
	add(40, 0, 1) // fresh
	add(3, 1, 1)  // too few
	add(4, 1, 11) // one
	add(9, 1, 21) // two, of eight at most
	add(4, 2, 21) // one
	if n := behind(parts, windows{10}, 4); n != 4 {
		t.Errorf("%d merges wait, want 4", n)
	}
}
