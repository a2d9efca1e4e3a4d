package rules

import (
	"context"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"varve/server/rules/file"
)

// groupName names a group.
type groupName struct{ file, group string }

// group is a group with the state of its rules.
type group struct {
	m        *Manager
	file     string
	at       int // line in the file
	def      *file.Group
	interval time.Duration

	evaluating sync.Mutex // held while the rules are evaluated
	mu         sync.Mutex // protects the state of the rules and the times below; never held while anything is asked
	rules      []*rule
	last       time.Time     // of the last evaluation; zero: none
	took       time.Duration // by it

	evaluations, failures, missed atomic.Int64

	cancel context.CancelFunc // nil: it is not started
	done   chan struct{}
}

func (g *group) name() groupName { return groupName{g.file, g.def.Name} }

// newGroup makes a group that is not started.
func (m *Manager) newGroup(name string, def *file.Group) *group {
	g := &group{m: m, file: name, at: def.Line, def: def, interval: def.Interval}
	if g.interval <= 0 {
		g.interval = m.o.Interval
	}
	for i := range def.Rules {
		g.rules = append(g.rules, newRule(g, &def.Rules[i]))
	}
	return g
}

// inherit takes over the state of the rules that were there before: those of the same name and labels, in order.
func (g *group) inherit(before *group) {
	before.mu.Lock() // whoever looks at the group may still see it
	defer before.mu.Unlock()
	taken := map[*rule]bool{}
	for _, r := range g.rules {
		for _, old := range before.rules {
			if !taken[old] && r.same(old) {
				taken[old] = true
				r.active, r.written, r.begun = old.active, old.written, old.begun
				r.health, r.err, r.last, r.took = old.health, old.err, old.last, old.took
				old.active, old.written = nil, nil
				break
			}
		}
	}
	g.evaluations.Store(before.evaluations.Load())
	g.failures.Store(before.failures.Load())
	g.missed.Store(before.missed.Load())
	before.missed.Store(0)
}

// start evaluates the group until it is stopped or ctx ends.
func (g *group) start(ctx context.Context) {
	ctx, g.cancel = context.WithCancel(ctx)
	g.done = make(chan struct{})
	go func() {
		defer close(g.done)
		g.loop(ctx)
	}()
}

// stop ends the evaluations and waits for the one in hand.
func (g *group) stop() {
	if g.cancel == nil {
		return
	}
	g.cancel()
	<-g.done
	g.cancel = nil
}

// slot is the last time at or before t at which the group is evaluated. Groups are spread over the interval by the hash
// of their names, at the same offset after each start.
func (g *group) slot(t time.Time) time.Time {
	h := fnv.New64a()
	h.Write([]byte(g.file + "\xff" + g.def.Name))
	interval := g.interval.Milliseconds()
	since := (t.UnixMilli() - int64(mix(h.Sum64())%uint64(interval))) % interval
	if since < 0 {
		since += interval
	}
	return time.UnixMilli(t.UnixMilli() - since)
}

// mix spreads a hash over all bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// loop evaluates the group at its times. Times that pass while an evaluation runs, or while it waits for a place, are
// missed and counted.
func (g *group) loop(ctx context.Context) {
	now := g.m.o.Now()
	g.catchUp(ctx, now)
	next := g.slot(now).Add(g.interval)
	for {
		if !wait(ctx, next.Sub(g.m.o.Now())) {
			return
		}
		if !g.m.place(ctx) {
			return
		}
		now := g.m.o.Now()
		if late := now.Sub(next); late >= g.interval {
			n := int64(late / g.interval)
			g.missed.Add(n)
			next = next.Add(time.Duration(n) * g.interval)
		}
		g.evaluate(ctx, next, false)
		<-g.m.places
		next = next.Add(g.interval)
		if now = g.m.o.Now(); next.Sub(now) > 2*g.interval { // the clock was set back
			next = g.slot(now).Add(g.interval)
		}
	}
}

// place waits for a place to evaluate a group in, which the caller gives back; false: ctx has ended.
func (m *Manager) place(ctx context.Context) bool {
	select {
	case m.places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// wait waits for a time; false: ctx has ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// catchUp evaluates the recording rules at the times that passed while the server was stopped, as far back as
// Options.CatchUp.
func (g *group) catchUp(ctx context.Context, now time.Time) {
	if g.m.o.CatchUp <= 0 {
		return
	}
	since, err := g.lastRecorded(ctx, now.Add(-g.m.o.CatchUp), now)
	if err != nil {
		g.m.log.Error("rules cannot catch up", "file", g.file, "group", g.def.Name, "error", err)
		return
	}
	for at := g.slot(since).Add(g.interval); !at.After(now) && ctx.Err() == nil; at = at.Add(g.interval) {
		if !g.m.place(ctx) {
			return
		}
		g.evaluate(ctx, at, true)
		<-g.m.places
	}
}
