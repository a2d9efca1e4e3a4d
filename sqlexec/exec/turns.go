package exec

import (
	"container/list"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// queryShare is the part of the pool, and queryBytes the most, that a query takes which reads a table, for what its
// scan and sinks have in hand whatever they keep: thousands of small queries at once would take as much as a few large
// ones. Where the pool does not have it, a query waits for others to end, at most queryWait, and looks every queryLook
// whether any can be made to.
const (
	queryShare = 32
	queryBytes = 8 << 20
	queryWait  = 10 * time.Second
	queryLook  = 250 * time.Millisecond
	// giveWayTime is how long a query at work waits for those to end that give way, giveWayLook how often it looks.
	giveWayTime = 5 * time.Second
	giveWayLook = 50 * time.Millisecond
)

// Begin takes the turn and the memory that a query needs to read a table, on its first call. Among waiting queries, the
// client with the fewest running queries is next; of its queries, alternately the oldest and the newest. (With the
// oldest first, a crowd whose work takes longer than queries wait would let nobody finish.) Begin returns early when
// the query ends.
func (b *Budget) Begin() error {
	if b == nil || b.begun.Swap(true) {
		return nil
	}
	w := &waiter{client: b.client, wake: make(chan struct{}, 1)}
	share := min(b.pool.limit/queryShare, queryBytes)
	begin := func() bool {
		if !b.pool.turns.take(w, func() bool { return b.pool.awaiting.Load() == 0 && b.pool.take(share) }) {
			return false
		}
		b.share = share
		b.count(share)
		return true
	}
	if begin() {
		return nil
	}
	defer b.pool.turns.leave(w)
	patience := time.NewTimer(queryWait)
	defer patience.Stop()
	look := time.NewTicker(queryLook)
	defer look.Stop()
	for {
		select {
		case <-w.wake:
		case <-look.C:
			b.pool.giveWay(b.pool.turns.behind(w))
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-patience.C:
			return b.exceeded()
		}
		if begin() {
			return nil
		}
	}
}

// giveWay requests room for the given number of queries, and returns how many of them will get room.
func (p *Pool) giveWay(waiting int) (soon int) {
	if waiting > 0 && p.GiveWay != nil {
		soon = p.GiveWay(waiting)
	}
	return soon
}

// turns are the queries that wait to begin. Safe for concurrent use.
type turns struct {
	waiting atomic.Int64 // length of queue

	mu    sync.Mutex
	queue list.List          // of *waiter, oldest first
	begun map[netip.Addr]int // queries that have begun and not ended, by client
	late  bool               // the newest is next, not the oldest
}

// waiter is a query that wants to begin. wake is told when it may be its turn.
type waiter struct {
	client netip.Addr
	place  *list.Element // in the queue; nil: it is not there
	wake   chan struct{}
}

// take lets a query begin if it is its turn and there is room; else it waits in the queue, where it stays until it
// leaves.
func (t *turns) take(w *waiter, room func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if w.place == nil {
		w.place = t.queue.PushBack(w)
		t.waiting.Add(1) // before room is looked for: who makes some after that wakes the next
	}
	if t.next() != w || !room() {
		return false
	}
	t.begun[w.client]++
	if t.queue.Len() > 1 {
		t.late = !t.late
	}
	t.remove(w)
	return true
}

// leave ends waiting.
func (t *turns) leave(w *waiter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(w)
}

// remove takes a query out of the queue; the caller holds mu.
func (t *turns) remove(w *waiter) {
	if w.place == nil {
		return
	}
	t.queue.Remove(w.place)
	w.place = nil
	t.waiting.Add(-1)
	t.wakeNext()
}

// end notes that a query of a client is over which had begun.
func (t *turns) end(client netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun[client]--; t.begun[client] == 0 {
		delete(t.begun, client)
	}
}

// behind is the length of the queue if a query is next; 0: it is not.
func (t *turns) behind(w *waiter) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next() != w {
		return 0
	}
	return t.queue.Len()
}

// wake lets the next query look again, when bytes were given back.
func (t *turns) wake() {
	if t.waiting.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wakeNext()
}

// wakeNext wakes the next query; the caller holds mu.
func (t *turns) wakeNext() {
	if w := t.next(); w != nil {
		select {
		case w.wake <- struct{}{}:
		default: // it is told already
		}
	}
}

// next is the query whose turn it is; nil: none waits. The caller holds mu.
func (t *turns) next() (next *waiter) {
	least := math.MaxInt
	first, step := t.queue.Front, (*list.Element).Next
	if t.late {
		first, step = t.queue.Back, (*list.Element).Prev
	}
	for e := first(); e != nil && least > 0; e = step(e) {
		if w := e.Value.(*waiter); t.begun[w.client] < least {
			next, least = w, t.begun[w.client]
		}
	}
	return next
}
