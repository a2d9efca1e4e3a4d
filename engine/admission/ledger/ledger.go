// Package ledger owns an account of memory (package admission): it has the lock and the clock, and the one loop in
// which tickets wait.
//
// The lock of a Ledger is below all others: a caller may hold other locks, and the ledger calls nothing that takes one
// for long.
package ledger

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"time"

	"varve/engine/admission"
)

// Ledger is an account of memory that several goroutines share. Safe for concurrent use.
type Ledger struct {
	changed func(*admission.Control)

	mu      sync.Mutex // protects the fields below, and all tickets
	control *admission.Control
	over    [admission.Classes]time.Time // when a class last held more than its limit
}

// pressedTime is how long a class counts as pressed after it held more than its limit: the next large ticket often
// comes at once.
const pressedTime = 2 * time.Second

// New makes an account. changed, if not nil, is called after each change, with the lock held; it must not wait, nor
// call the ledger.
func New(limits admission.Limits, changed func(*admission.Control)) *Ledger {
	return &Ledger{changed: changed, control: admission.New(limits)}
}

// Single makes an account of one class alone. changed, if not nil, is called after each change with the bytes held.
func Single(of admission.Class, limit int64, changed func(bytes int64)) *Ledger {
	var limits admission.Limits
	limits.Of[of] = limit
	if changed == nil {
		return New(limits, nil)
	}
	return New(limits, func(c *admission.Control) { changed(c.Bytes(of)) })
}

// Bytes is how many bytes a class holds.
func (l *Ledger) Bytes(of admission.Class) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Bytes(of)
}

// Load is how many bytes count against the limit of a class.
func (l *Ledger) Load(of admission.Class) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Load(of)
}

// Limit is how many bytes a class may hold.
func (l *Ledger) Limit(of admission.Class) int64 { return l.control.Limit(of) }

// Full reports whether nothing more of a class fits.
func (l *Ledger) Full(of admission.Class) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Full(of)
}

// Waiting is how many tickets of a class wait.
func (l *Ledger) Waiting(of admission.Class) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Waiting(of)
}

// Given is how many tickets of a class were given up because their clients were slow.
func (l *Ledger) Given(of admission.Class) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Given(of)
}

// Pressed reports whether a class holds more than its limit, or did a moment ago.
func (l *Ledger) Pressed(of admission.Class) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.Over(of) || !l.over[of].IsZero() && time.Since(l.over[of]) < pressedTime
}

// GiveWay is Control.GiveWay of package admission.
func (l *Ledger) GiveWay(waiting int) (soon int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.control.GiveWay(waiting)
}

// Add is Control.Add of package admission.
func (l *Ledger) Add(of admission.Class, n int64) {
	l.change(of, func() bool { l.control.Add(of, n); return true })
}

// TryAdd is Add if there is room.
func (l *Ledger) TryAdd(of admission.Class, n int64) bool {
	return l.change(of, func() bool { return l.control.TryAdd(of, n) })
}

// change calls do, which reports whether it changed the bytes of a class.
func (l *Ledger) change(of admission.Class, do func() bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.control.Over(of)
	done := do()
	if done {
		if over || l.control.Over(of) {
			l.over[of] = time.Now()
		}
		if l.changed != nil {
			l.changed(l.control)
		}
	}
	return done
}

// Client is the other end of a transfer, which may be slow. Its methods are those of admission.Holder: they must not
// wait, nor call the ledger.
type Client interface {
	Behind() time.Duration
	GiveUp()
}

// Ticket is an admission.Ticket that several goroutines share. Safe for concurrent use, except Grow: one goroutine
// calls it at a time.
type Ticket struct {
	ledger *Ledger
	class  admission.Class
	client Client
	wake   chan struct{} // gets a value when it may be the ticket's turn; nil: the ticket has not waited
	ticket admission.Ticket
}

// Begin fills a ticket in, of a network or of the zero Addr. client is nil where no client can be slow.
func (l *Ledger) Begin(t *Ticket, of admission.Class, network netip.Addr, client Client) {
	*t = Ticket{ledger: l, class: of, client: client}
	l.control.Begin(&t.ticket, of, network, (*holder)(t))
}

// holder is a ticket as admission sees it.
type holder Ticket

func (h *holder) Turn() {
	select {
	case h.wake <- struct{}{}:
	default: // it has one already
	}
}

func (h *holder) Behind() time.Duration {
	if h.client == nil {
		return 0
	}
	return h.client.Behind()
}

func (h *holder) GiveUp() { h.client.GiveUp() }

// Wait says how a ticket waits.
type Wait struct {
	Most time.Duration // then Grow returns ErrFull; Forever: no bound but the context
	// Each is the time between two looks at the account: slow clients are given up then. 0: the ticket waits for its
	// turn alone.
	Each time.Duration
	// Look, if not nil, is called before each look while the ticket is the next of its queue, with the number of
	// tickets that wait. It is called without the lock, and may ask others for memory.
	Look    func(waiting int)
	Closing <-chan struct{} // ends waiting with ErrClosing; nil: nothing does
}

// Forever is no bound for the time that a ticket waits.
const Forever time.Duration = -1

// ErrFull and ErrClosing are why a ticket did not grow.
var (
	ErrFull    = errors.New("no memory was given back in time")
	ErrClosing = errors.New("closed while it waited for memory")
)

// Grow takes n bytes more, and waits for its turn and for room. Meanwhile slow clients of the class are given up. The
// error is ErrFull, ErrClosing, or the context's. However Grow ends, the ticket waits no more.
func (t *Ticket) Grow(ctx context.Context, n int64, wait Wait) error {
	if t.Try(n) {
		return nil
	}
	var patience, look <-chan time.Time
	if wait.Most != Forever {
		timer := time.NewTimer(wait.Most)
		defer timer.Stop()
		patience = timer.C
	}
	if wait.Each > 0 {
		ticker := time.NewTicker(wait.Each)
		defer ticker.Stop()
		look = ticker.C
	}
	defer t.Yield()
	for !t.enter(n) {
		select {
		case <-t.wake:
		case <-look:
			if waiting := t.queue(); waiting > 0 && wait.Look != nil {
				wait.Look(waiting)
			}
		case <-patience:
			return ErrFull
		case <-wait.Closing:
			return ErrClosing
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// enter grows, or waits in the queue and gives up slow clients.
func (t *Ticket) enter(n int64) bool {
	return t.ledger.change(t.class, func() bool {
		if t.wake == nil {
			t.wake = make(chan struct{}, 1)
		}
		if t.ticket.Grow(n) {
			return true
		}
		t.ledger.control.Relieve(&t.ticket, n)
		return false
	})
}

// Try takes n bytes more if it is the ticket's turn and there is room now.
func (t *Ticket) Try(n int64) bool {
	return t.ledger.change(t.class, func() bool {
		if t.ticket.Grow(n) {
			return true
		}
		t.ticket.Yield()
		return false
	})
}

// Take is Ticket.Take of package admission: it never waits.
func (t *Ticket) Take(n int64) bool {
	return t.ledger.change(t.class, func() bool { return t.ticket.Take(n) })
}

// Await is Ticket.Await of package admission.
func (t *Ticket) Await(waits bool) {
	t.ledger.mu.Lock()
	defer t.ledger.mu.Unlock()
	t.ticket.Await(waits)
}

// Yield ends waiting.
func (t *Ticket) Yield() {
	t.ledger.mu.Lock()
	defer t.ledger.mu.Unlock()
	t.ticket.Yield()
}

// Give gives n bytes back.
func (t *Ticket) Give(n int64) {
	t.ledger.change(t.class, func() bool { t.ticket.Give(n); return true })
}

// Release gives everything back. The ticket may grow again.
func (t *Ticket) Release() {
	t.ledger.change(t.class, func() bool { t.ticket.Release(); return true })
}

// Stream is Ticket.Stream of package admission.
func (t *Ticket) Stream() {
	t.ledger.mu.Lock()
	defer t.ledger.mu.Unlock()
	t.ticket.Stream()
}

func (t *Ticket) queue() int {
	t.ledger.mu.Lock()
	defer t.ledger.mu.Unlock()
	return t.ticket.Queue()
}
