package engine

import (
	"cmp"
	"context"
	"time"
)

// pacer is what a merge of parts calls between batches: it lets others go first, and keeps little of the parts in the
// process's memory, which a merge passes through once.
type pacer struct {
	e     *core
	ctx   context.Context
	r     *region
	aside bool // it may be long: fresh parts are merged in between, and while rows come in it rests
	calls int

	since time.Time     // the last merge of fresh parts in between
	turn  time.Duration // what it took

	rest    float64       // for each second of work
	owed    time.Duration // of rest
	last    time.Time     // end of the last step
	flushes int64         // seen at the last step
	flushed time.Time     // when they were last found to have changed
}

// paceOf gives the pacer of a merge of some parts of a snapshot.
func (e *core) paceOf(ctx context.Context, r *region, s *regionSnap, w windows, aside bool) *pacer {
	now := time.Now()
	p := &pacer{e: e, ctx: ctx, r: r, aside: aside, since: now, last: now, flushes: e.flushes.Load()}
	if aside {
		p.rest = restOf(behind(s.parts, w, e.o.mergeParts))
	}
	return p
}

// restOf is how long a long merge rests for each second of work while rows come in, by the number of merges that wait. At
// the most it takes a quarter of a processor, so that writing does not feel it; the more wait, the less it rests.
func restOf(waiting int) float64 {
	return 1/min(1, max(longShare, float64(waiting)/mostLong)) - 1
}

// step is called between two batches of a merge of parts.
func (p *pacer) step(parts []*part) error {
	if p.calls++; p.calls%releaseBatches == 0 {
		for _, m := range parts {
			m.file.Release()
		}
	}
	start := time.Now()
	if p.aside {
		p.owed += time.Duration(float64(start.Sub(p.last)) * p.rest)
		p.mergeFresh()
	}
	err := p.e.giveWay(p.ctx, p.r)
	if err == nil && p.aside {
		p.owed -= time.Since(start)
		err = p.takeRest()
	}
	p.last = time.Now()
	return err
}

// takeRest stands still for as long as is owed, when there have been flushes not long ago and nobody waits for the merge to end.
func (p *pacer) takeRest() error {
	now := time.Now()
	if n := p.e.flushes.Load(); n != p.flushes {
		p.flushes, p.flushed = n, now
	}
	if p.flushed.IsZero() || now.Sub(p.flushed) > restAfter || p.r.hurry.Load() > 0 {
		p.owed = 0
	}
	p.owed = max(p.owed, 0)
	if p.owed < leastRest {
		return nil
	}
	d := min(p.owed, longestRest)
	p.owed -= d
	return p.e.pause(p.ctx, d)
}

// mergeFresh merges fresh parts where they have piled up, and those of other tables that ask for it, but leaves half of the
// time to the merge that it interrupts.
func (p *pacer) mergeFresh() {
	if time.Since(p.since) < p.turn {
		return
	}
	start := time.Now()
	if p.r.fresh() >= 2*p.e.o.mergeParts {
		p.e.tryMerge(p.ctx, p.r, p.e.mergeFresh)
	}
	select {
	case other := <-p.e.merge:
		if other != p.r {
			p.e.tryMerge(p.ctx, other, p.e.mergeFresh)
		}
	default:
	}
	p.since = time.Now()
	p.turn = p.since.Sub(start)
}

// giveWay lets flushes and queries go first: a merge has time, writers and readers have not. Not so when fresh parts have
// piled up: where writing takes all there is, a merge would never come to an end, and many parts make scans slower. But
// rows that pile up in memory come before parts that pile up on disk, unless flushes wait for merges already.
func (e *core) giveWay(ctx context.Context, r *region) error {
	for {
		wait := e.room.wait()
		if err := cmp.Or(ctx.Err(), e.run.Err()); err != nil || r.fresh() > e.mostFresh() || r.fresh() > piledMerges*e.o.mergeParts && !e.crowded() {
			return err
		}
		if !e.flushing.Load() {
			return e.yield(ctx)
		}
		select {
		case <-wait:
		case <-ctx.Done():
		case <-e.run.Done():
		}
	}
}

// mostFresh is the number of a table's fresh parts past which flushes wait for merges.
func (e *core) mostFresh() int { return mostMerges * e.o.mergeParts }

// fresh is the number of parts that no merge has written.
func (r *region) fresh() (n int) {
	for _, p := range r.snap.Load().parts {
		if p.meta.Level == 0 {
			n++
		}
	}
	return n
}

// crowded tells that flushing does not keep up with writing.
func (e *core) crowded() bool { return e.memBytes.Load() > crowdedMemtables*e.o.FlushBytes }

// yield gives the processor to scans that are under way: a merge then goes on at a fraction of its speed.
func (e *core) yield(ctx context.Context) error {
	if e.scanning.Load() == 0 {
		return nil
	}
	return e.pause(ctx, yieldTime)
}

// pause stands still for a while.
func (e *core) pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-e.run.Done():
		return e.run.Err()
	}
}

// turn is a lock that is waited for until a context ends: merges take long.
type turn chan struct{}

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }

// stopMerges waits until no merge of the region goes on, and keeps others from beginning until done is called.
func (r *region) stopMerges(ctx context.Context) (done func(), err error) {
	r.hurry.Add(1)
	defer r.hurry.Add(-1)
	if err := r.merging.take(ctx); err != nil {
		return nil, err
	}
	if err := r.freshening.take(ctx); err != nil {
		r.merging.give()
		return nil, err
	}
	return func() {
		r.freshening.give()
		r.merging.give()
	}, nil
}
