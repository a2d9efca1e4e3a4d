package engine

import (
	"testing"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/vector"
)

// planned is a schedule with a clock and regions of parts that are only described.
type planned struct {
	schedule
	t   *testing.T
	now time.Time
	seq uint64
}

func newPlanned(t *testing.T) *planned {
	return &planned{schedule: schedule{parts: 4}, t: t, now: time.Unix(1_700_000_000, 0)}
}

// region makes a region with fresh parts.
func (p *planned) region(parts int) *region {
	r := newRegion(newMemory(ownMemory(&Options{MemtableLimit: 1}), 0),
		&schema.Table{Columns: []schema.Column{{Name: "ts", Type: vector.Timestamp(3)}}})
	p.add(r, parts)
	return r
}

// add puts fresh parts in a region.
func (p *planned) add(r *region, parts int) {
	r.replace(func(s *regionSnap) {
		for range parts {
			p.seq++
			s.parts = append(s.parts, partOf(manifest.PartMeta{Rows: 1, MinSeq: p.seq, MaxSeq: p.seq}))
		}
	})
	p.push(freshParts, r)
	p.push(mergedParts, r)
}

// begins is a merge that has to begin now.
func (p *planned) begins(k kind) *job {
	p.t.Helper()
	j, at := p.begin(k, p.now, traffic{})
	if j == nil {
		p.t.Fatalf("no merge of kind %d begins; ask again at %v", k, at)
	}
	return j
}

// rests has a merge work for a while and gives how long it then stands still; -1: until something changes.
func (p *planned) rests(j *job, work time.Duration, t traffic) time.Duration {
	p.t.Helper()
	p.now = p.now.Add(work)
	p.worked(j, p.now)
	began := p.now
	for {
		ok, at := p.resume(j, p.now, t)
		switch {
		case ok:
			return p.now.Sub(began)
		case at.IsZero():
			return -1
		case !at.After(p.now):
			p.t.Fatalf("to be asked again at %v, now is %v", at, p.now)
		}
		p.now = at
	}
}

// TestFreshPartsGoFirst: a merge of others stands still while fresh parts are merged, and has as much time for itself
// then.
func TestFreshPartsGoFirst(t *testing.T) {
	p := newPlanned(t)
	r := p.region(7)
	long := p.begins(mergedParts)
	if j, at := p.begin(freshParts, p.now, traffic{}); j != nil || !at.IsZero() {
		t.Errorf("seven fresh parts interrupt a merge: %v, %v", j, at)
	}
	p.add(r, 1)
	short := p.begins(freshParts)
	if d := p.rests(long, time.Millisecond, traffic{}); d != -1 {
		t.Errorf("the long merge goes on after %v beside one of fresh parts", d)
	}
	if d := p.rests(short, time.Millisecond, traffic{}); d != 0 {
		t.Errorf("the merge of fresh parts rests for %v", d)
	}
	p.now = short.began.Add(3 * time.Second)
	p.end(short, p.now, true)
	if d := p.rests(long, time.Millisecond, traffic{}); d != 0 {
		t.Errorf("the long merge rests for %v after that of fresh parts", d)
	}
	j, at := p.begin(freshParts, p.now, traffic{})
	if want := short.began.Add(6 * time.Second); j != nil || !at.Equal(want) {
		t.Errorf("the next merge of fresh parts begins at %v, want %v", at, want)
	}
	p.end(long, p.now, true)
	p.begins(freshParts)
}

// TestFlushWaits: a flush that waits has its table merged first, at once and without rest, and the long merge goes on
// beside.
func TestFlushWaits(t *testing.T) {
	p := newPlanned(t)
	p.region(8)
	late := p.region(p.mostFresh() + 1)
	long := p.begins(mergedParts)
	p.ended, p.took = p.now, time.Minute // it is the long merge's turn
	plea := p.plead(late)
	short := p.begins(freshParts)
	if short.region != late {
		t.Error("another table's parts are merged while a flush waits")
	}
	busy := traffic{flushing: true, scanning: true, crowded: true}
	for _, j := range []*job{short, long} {
		if d := p.rests(j, time.Second, busy); d != 0 {
			t.Errorf("a merge of kind %d rests for %v while a flush waits", j.kind, d)
		}
	}
	p.end(short, p.now, true)
	if done := <-plea.merged; !done {
		t.Error("the flush is not told that parts were merged")
	}
	if d := p.rests(long, time.Second, busy); d != -1 {
		t.Errorf("the long merge goes on beside a flush after %v", d)
	}
}

// TestSecondMergeWaitsForMemory: while others keep more memory than their share one merge goes on, of whatever kind,
// and a second one if a flush waits for it.
func TestSecondMergeWaitsForMemory(t *testing.T) {
	pressed := traffic{pressed: true}
	for k := range background {
		p := newPlanned(t)
		r := p.region(p.mostFresh() + 1)
		first, _ := p.begin(k, p.now, pressed)
		if first == nil {
			t.Fatalf("kind %d: no merge begins", k)
		}
		if j, at := p.begin(k.other(), p.now, pressed); j != nil || !at.After(p.now) {
			t.Errorf("kind %d: a second merge begins: %v; ask again at %v", k, j, at)
		}
		if k == mergedParts {
			p.plead(r)
			if j, _ := p.begin(freshParts, p.now, pressed); j == nil {
				t.Error("the merge that a flush waits for does not begin")
			}
			continue
		}
		p.end(first, p.now, true)
		if j, _ := p.begin(mergedParts, p.now, pressed); j == nil {
			t.Error("a merge waits for memory although no other is under way")
		}
	}
}

// TestFlushDoesNotWaitInVain: where the fresh parts are gone, or cannot be merged, or go with a compaction, flushes go
// on.
func TestFlushDoesNotWaitInVain(t *testing.T) {
	answer := func(what string, p *plea) {
		t.Helper()
		select {
		case done := <-p.merged:
			if done {
				t.Errorf("%s: parts were merged", what)
			}
		default:
			t.Errorf("%s: the flush waits", what)
		}
	}
	p := newPlanned(t)
	r := p.region(p.mostFresh() + 1)
	plea := p.plead(r)
	p.end(p.begins(freshParts), p.now, false)
	answer("a merge that failed", plea)

	plea = p.plead(r)
	j := p.reserve(r)
	if j == nil || !p.enter(j, p.now) {
		t.Fatal("a compaction does not begin")
	}
	answer("a compaction that began", plea)
	answer("a compaction that goes on", p.plead(r))
	p.end(j, p.now, true)

	plea = p.plead(r)
	r.replace(func(s *regionSnap) { s.parts = nil })
	if j, _ := p.begin(freshParts, p.now, traffic{}); j != nil {
		t.Error("a merge of nothing begins")
	}
	answer("a table without parts", plea)
}

// TestMergesRest: what merges leave to flushes, to scans and to rows that come in.
func TestMergesRest(t *testing.T) {
	const work = 100 * time.Millisecond
	for _, c := range []struct {
		name    string
		kind    kind
		fresh   int
		waiting int
		hurry   int
		traffic traffic
		want    time.Duration
	}{
		{name: "nothing else goes on", kind: freshParts, want: 0},
		{name: "a flush", kind: freshParts, traffic: traffic{flushing: true}, want: -1},
		{name: "a scan", kind: freshParts, traffic: traffic{scanning: true}, want: 3 * work},
		{name: "a scan, asked for", kind: asked, traffic: traffic{scanning: true}, want: 3 * work},
		{name: "parts have piled up", kind: freshParts, fresh: 13, traffic: traffic{flushing: true, scanning: true},
			want: 0},
		{name: "rows have piled up as well", kind: freshParts, fresh: 13,
			traffic: traffic{flushing: true, crowded: true}, want: -1},
		{name: "flushes wait", kind: freshParts, fresh: 33, traffic: traffic{flushing: true, crowded: true}, want: 0},
		{name: "rows come in", kind: freshParts, traffic: traffic{flushed: time.Unix(1_699_999_999, 0)}, want: 0},
		{name: "rows come in, one long", kind: mergedParts, waiting: 1,
			traffic: traffic{flushed: time.Unix(1_699_999_999, 0)}, want: 3 * work},
		{name: "rows come in, some long", kind: mergedParts, waiting: 16,
			traffic: traffic{flushed: time.Unix(1_699_999_999, 0)}, want: work},
		{name: "rows come in, many long", kind: mergedParts, waiting: 40,
			traffic: traffic{flushed: time.Unix(1_699_999_999, 0)}, want: 0},
		{name: "somebody waits", kind: mergedParts, waiting: 1, hurry: 1,
			traffic: traffic{flushed: time.Unix(1_699_999_999, 0)}, want: 0},
		{name: "no rows for a while", kind: mergedParts, waiting: 1,
			traffic: traffic{flushed: time.Unix(1_699_999_997, 0)}, want: 0},
	} {
		p := newPlanned(t)
		r := p.region(c.fresh)
		r.merges.hurry = c.hurry
		j := &job{kind: c.kind, region: r, waiting: c.waiting, resumed: p.now}
		if got := p.rests(j, work, c.traffic); got != c.want {
			t.Errorf("%s: a merge rests for %v, want %v", c.name, got, c.want)
		}
		if c.want > 0 { // short steps add up
			rest := time.Duration(0)
			for range 100 {
				rest += p.rests(j, time.Millisecond, c.traffic)
			}
			if rest < c.want-10*time.Millisecond || rest > c.want+10*time.Millisecond {
				t.Errorf("%s: a hundred steps of a merge rest for %v, want %v", c.name, rest, c.want)
			}
		}
	}
}

// TestWaitingIsRest: a merge that waited for a flush longer than it would have to rest goes on at once.
func TestWaitingIsRest(t *testing.T) {
	p := newPlanned(t)
	j := &job{kind: mergedParts, region: p.region(0), resumed: p.now}
	if d := p.rests(j, time.Second, traffic{flushing: true}); d != -1 {
		t.Fatalf("it goes on after %v beside a flush", d)
	}
	p.now = p.now.Add(3 * time.Second)
	if ok, at := p.resume(j, p.now, traffic{flushed: p.now}); !ok {
		t.Errorf("it goes on at %v, now is %v", at, p.now)
	}
}

// TestAskedMergesAreAlone: who asks for a merge waits for the long one while fresh parts are still merged, then for
// those.
func TestAskedMergesAreAlone(t *testing.T) {
	p := newPlanned(t)
	r := p.region(8)
	long := p.begins(mergedParts)
	r.merges.hurry = 1
	if p.reserve(r) != nil {
		t.Fatal("a merge that is asked for begins beside a long one")
	}
	short := p.begins(freshParts)
	p.end(long, p.now, true)
	if j, _ := p.begin(mergedParts, p.now, traffic{}); j != nil {
		t.Error("a merge begins before the one that is waited for")
	}
	j := p.reserve(r)
	if j == nil || p.enter(j, p.now) {
		t.Fatal("a merge that is asked for begins beside one of fresh parts")
	}
	p.end(short, p.now, true)
	if j, _ := p.begin(freshParts, p.now, traffic{}); j != nil {
		t.Error("fresh parts are merged before the one that is waited for")
	}
	if !p.enter(j, p.now) {
		t.Error("a merge that is asked for does not begin")
	}
	p.end(j, p.now, false)
	r.merges.hurry = 0
	p.begins(freshParts)
	p.begins(mergedParts)
}

// TestEveryTableHasItsTurn: tables that always have something to merge do not keep others from it.
func TestEveryTableHasItsTurn(t *testing.T) {
	for k := range background {
		p := newPlanned(t)
		counts := map[*region]int{}
		for range 5 {
			counts[p.region(100)] = 0
		}
		for range 20 {
			j := p.begins(k)
			counts[j.region]++
			p.end(j, p.now, true)
		}
		for _, n := range counts {
			if n != 4 {
				t.Errorf("of 20 merges of kind %d a table of five has %d", k, n)
			}
		}
	}
}
