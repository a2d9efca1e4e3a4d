package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
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
		if n := tab.region.fresh(); n > mostMerges*e.o.mergeParts+1 {
			t.Fatalf("%d fresh parts after %d writes", n, i)
		}
	}
}

// TestLongMergesStepAside: a merge of parts that merges have written goes on after fresh parts that have piled up.
func TestLongMergesStepAside(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	at := int64(0)
	var r *region
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
			if r = tab.region; e.flusher.flush(t.Context(), r) != nil {
				t.Fatal("a flush failed")
			}
		}
	}
	n := e.o.mergeParts
	for range n {
		write(n)
		if again, err := mergeKind(e, r, freshParts); !again || err != nil {
			t.Fatalf("%d fresh parts are not merged: %v", n, err)
		}
	}
	e.merger.mu.Lock()
	for k := range background { // what the flushes and merges above asked for
		e.merger.plan.queue[k], r.merges.queued[k] = nil, false
	}
	e.merger.mu.Unlock()
	e.merger.push(mergedParts, r)
	long := e.merger.next(mergedParts)
	begun, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := e.merger.merge(ctx, long, func(s *regionSnap, w windows) []*part {
			group := e.merger.choose(long)(s, w)
			write(2 * n)
			<-begun
			return group
		})
		e.merger.end(long, true)
		ended <- err
	}()
	levels := func() (all []uint8) {
		for _, p := range r.snap.Load().parts {
			all = append(all, p.meta.Level)
		}
		slices.Sort(all)
		return all
	}
	short := e.merger.next(freshParts)
	close(begun)
	again, err := e.merger.merge(ctx, short, e.merger.choose(short))
	if got := levels(); !again || err != nil || !slices.Equal(got, []uint8{1, 1, 1}) {
		t.Errorf("fresh parts are merged beside a long merge: %t, %v, levels %v", again, err, got)
	}
	e.merger.end(short, again)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := levels(); !slices.Equal(got, []uint8{1, 2}) {
		t.Errorf("parts of levels %v are left, want one of the long merge, one of the fresh ones", got)
	}
}

// TestCompactionWaits: a compaction that was asked for waits for the merge at hand, which no longer rests, and ends
// when its client is gone.
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
	hurried := func() bool {
		e.merger.mu.Lock()
		defer e.merger.mu.Unlock()
		return r.merges.hurry > 0
	}
	e.merger.push(mergedParts, r)
	counted := func(when string, waiting, running float64) {
		t.Helper()
		if got := gather(t, e); got["varve_merges_waiting"] != waiting || got["varve_merges_running"] != running {
			t.Errorf("%s %v merges wait and %v are under way, want %v and %v", when, got["varve_merges_waiting"],
				got["varve_merges_running"], waiting, running)
		}
	}
	counted("at first", 1, 0)
	j := e.merger.next(mergedParts)
	counted("with one begun", 0, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- e.Compact(ctx, public("log")) }()
	for !hurried() {
		runtime.Gosched()
	}
	counted("while a compaction waits", 1, 1)
	now := e.o.Now()
	e.flusher.last.Store(&now)
	j.unpaid = time.Hour
	if err := e.merger.step(t.Context(), j); err != nil {
		t.Errorf("the merge rests while a compaction waits: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a compaction that was cancelled while it waited: %v", err)
	}
	if hurried() {
		t.Error("the merge is still hurried")
	}
	e.merger.end(j, false)
	counted("in the end", 0, 0)
	if err := e.Compact(t.Context(), public("log")); err != nil {
		t.Error(err)
	}
}

// TestExpiryMeetsMerge: parts that are merged are not dropped under the merge, and none is merged that is being
// dropped.
func TestExpiryMeetsMerge(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	r := newRegion(e.memory, &schema.Table{})
	parts := []*part{{meta: manifest.PartMeta{File: 1}}, {meta: manifest.PartMeta{File: 2}}}
	e.merger.push(mergedParts, r)
	j := e.merger.next(mergedParts)
	if !e.merger.claim(t.Context(), j, parts[:1]) {
		t.Fatal("a merge does not get its parts")
	}
	gone, left := e.merger.leave(r, parts)
	if !slices.Equal(gone, parts[1:]) {
		t.Errorf("%v are dropped, want what is not merged", files(gone))
	}
	if again, done := e.merger.leave(r, parts); len(again) > 0 {
		t.Errorf("%v are dropped twice", files(again))
	} else {
		done()
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if e.merger.claim(ended, j, parts[1:]) {
		t.Error("a part that is dropped is merged")
	}
	left()
	if !e.merger.claim(t.Context(), j, parts[1:]) {
		t.Error("a part is kept from merges after it was not dropped")
	}
	e.merger.end(j, false)
}
