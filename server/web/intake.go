package web

import (
	"cmp"
	"container/list"
	"context"
	"math"
	"net/netip"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"varve/engine/status"
)

// Intake bounds the bytes of the bodies that are in hand at a time, decompressed, or of what is made of them where that
// is more: rows lie in memory until the request is answered. A body without room waits, older ones first; among streams
// that of the sender that holds least is next. It is refused with an error if there is no room in time. The oldest
// always goes on, whatever its size, so that none waits for ever for others that wait too. Bodies that arrive too
// slowly are given up when others wait for room. Safe for concurrent use.
type Intake struct {
	most    int64
	wait    time.Duration
	full    status.Code
	changed func(bytes int64)

	mu    sync.Mutex
	used  int64
	over  time.Time            // when more than most was last in hand
	parts list.List            // of *intakePart, oldest first
	held  map[netip.Addr]int64 // bytes by sender, of parts that have one
	slow  int64                // bodies that were given up
}

const (
	// freeIntake is what every body may have without being counted: requests that ask and command stay out of it.
	freeIntake = 64 << 10
	// intakeStep is what a body takes at a time.
	intakeStep = 256 << 10
	// worthCollecting is the size from which on the memory of a body that had no room is collected before the next
	// begins.
	worthCollecting = 16 << 20
	// The heap is nearly full when less than 1/heapShare of its limit is free.
	heapShare = 5
	// pressedTime is how long after a body that there was no room for another is likely.
	pressedTime = 2 * time.Second
)

// NewIntake makes an intake of so many bytes, in which a request waits for so long, to be refused with code full.
// changed, if not nil, is told how many bytes are in hand after each change; it must not wait.
func NewIntake(most int64, wait time.Duration, full status.Code, changed func(bytes int64)) *Intake {
	return &Intake{most: most, wait: wait, full: full, changed: changed, held: map[netip.Addr]int64{}}
}

// Bytes is how many bytes are in hand; 0 of no intake.
func (i *Intake) Bytes() int64 {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used
}

// Limit is how many bytes may be in hand before others wait; 0 of no intake.
func (i *Intake) Limit() int64 {
	if i == nil {
		return 0
	}
	return i.most
}

// Waiting is how many bodies wait for room; 0 of no intake.
func (i *Intake) Waiting() (n int) {
	if i == nil {
		return 0
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for at := i.parts.Front(); at != nil; at = at.Next() {
		if at.Value.(*intakePart).waiting {
			n++
		}
	}
	return n
}

// given is how many bodies were given up because they were slow.
func (i *Intake) given() int64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.slow
}

// Pressed reports whether a body is in hand that there was no room for, or was a moment ago: the next often comes at
// once.
func (i *Intake) Pressed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used > i.most || !i.over.IsZero() && time.Since(i.over) < pressedTime
}

// intakePart is what one body has of an intake. It belongs to one goroutine.
type intakePart struct {
	in     *Intake
	sender netip.Addr // the zero Addr: all are alike
	pace   pace
	fresh  int64 // bytes beyond the intake's since the heap was looked at

	// Under in.mu.
	bytes   int64
	place   *list.Element // among all that have begun; nil: has not
	waiting bool
	wake    chan struct{} // told when it may be its turn
}

// take counts n bytes more, waiting for room.
func (p *intakePart) take(ctx context.Context, n int64) error {
	if p.try(n) {
		p.slow(n)
		return nil
	}
	patience := time.NewTimer(p.in.wait)
	defer patience.Stop()
	look := time.NewTicker(slowGrace / 4)
	defer look.Stop()
	for {
		p.in.relieve(p, n)
		select {
		case <-p.wake:
			if p.try(n) {
				p.slow(n)
				return nil
			}
		case <-look.C:
		case <-patience.C:
			p.standDown()
			return status.New(p.in.full,
				"Request body memory limit exceeded: requests in hand hold %d bytes, bodies or what is made of them, "+
					"the limit is %d: try again later", p.in.Bytes(), p.in.most)
		case <-ctx.Done():
			p.standDown()
			return ctx.Err()
		}
	}
}

// slow lets the collector catch up with a body that goes on although there is no room, when the heap is nearly full:
// the body makes garbage as it grows, faster than that is collected beside it.
func (p *intakePart) slow(n int64) {
	if p.in.Bytes() <= p.in.most {
		return
	}
	if p.fresh += n; p.fresh >= worthCollecting {
		p.fresh = 0
		if heapNearlyFull() {
			runtime.GC()
		}
	}
}

// heapNearlyFull reports whether most of what the heap may have is taken, by what is in use and what is not collected
// yet.
func heapNearlyFull() bool {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() > s[1].Value.Uint64()/heapShare*(heapShare-1)
}

// try counts n bytes more, when it is the body's turn; else it waits for it.
func (p *intakePart) try(n int64) bool {
	i := p.in
	i.mu.Lock()
	defer i.mu.Unlock()
	if p.place == nil {
		p.place, p.wake = i.parts.PushBack(p), make(chan struct{}, 1)
	}
	p.waiting = true
	if i.parts.Front() != p.place && (i.used+n > i.most || i.next() != p) {
		return false
	}
	p.waiting = false
	i.add(p, n)
	i.wakeNext()
	return true
}

// standDown ends waiting.
func (p *intakePart) standDown() {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	p.waiting = false
	p.in.wakeNext()
}

// giveBack returns everything to the pool. A body that went on although there was no room is collected first: the next
// of its kind would begin while its memory is still taken, and the collector alone is seldom through with one before
// that has made as much again. At a limit of 512 MiB bodies of 60 MB were there three times.
func (p *intakePart) giveBack() {
	if p.place == nil {
		return
	}
	i := p.in
	if p.bytes > max(i.most, worthCollecting) {
		runtime.GC()
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.parts.Remove(p.place)
	p.place = nil
	i.add(p, -p.bytes)
	i.wakeNext()
}

// add counts n bytes more of p; below zero: less.
func (i *Intake) add(p *intakePart, n int64) {
	if i.used > i.most {
		i.over = time.Now()
	}
	p.bytes += n
	i.used += n
	if p.sender.IsValid() {
		if i.held[p.sender] += n; i.held[p.sender] == 0 {
			delete(i.held, p.sender)
		}
	}
	if i.changed != nil {
		i.changed(i.used)
	}
}

// relieve gives up slow bodies, the slowest first, until n bytes more of p fit. It does nothing unless p is next.
func (i *Intake) relieve(p *intakePart, n int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.next() != p {
		return
	}
	over := i.used + n - i.most
	type slowBody struct {
		part *intakePart
		late time.Duration
	}
	var slow []slowBody
	for e := i.parts.Front(); e != nil; e = e.Next() {
		of := e.Value.(*intakePart)
		if of.pace.cancelled.Load() {
			over -= of.bytes // it is about to go
		} else if late := of.pace.late(); late > 0 && of.bytes > 0 {
			slow = append(slow, slowBody{of, late})
		}
	}
	slices.SortFunc(slow, func(a, b slowBody) int { return cmp.Compare(b.late, a.late) })
	for _, s := range slow {
		if over <= 0 {
			return
		}
		s.part.pace.cancel()
		i.slow++
		over -= s.part.bytes
	}
}

// next is the body that waits whose sender holds least, of those the oldest; nil: none waits.
func (i *Intake) next() (next *intakePart) {
	least := int64(math.MaxInt64)
	for e := i.parts.Front(); e != nil && least > 0; e = e.Next() {
		if p := e.Value.(*intakePart); p.waiting && i.held[p.sender] < least {
			next, least = p, i.held[p.sender]
		}
	}
	return next
}

func (i *Intake) wakeNext() {
	if p := i.next(); p != nil {
		select {
		case p.wake <- struct{}{}:
		default: // it is told already
		}
	}
}
