package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"varve/engine/status"
)

// door admits the calls of the public face: none before the start is over, none after the end has begun, and, while the
// store is read-only, none that change more than rows. door.calls guards no field: each call holds it for reading, so
// that shut waits for all of them. Safe for concurrent use.
type door struct {
	space  *space
	calls  sync.RWMutex
	closed atomic.Bool
	ready  chan struct{}   // closed when the start is over
	failed error           // why the start failed; set before ready is closed
	run    context.Context // over when the store closes
}

func newDoor(s *space, run context.Context) *door {
	return &door{space: s, ready: make(chan struct{}), run: run}
}

// open ends the start. An error says why it failed: then no call is ever admitted.
func (d *door) open(failed error) {
	d.failed = failed
	close(d.ready)
}

// isOpen is nil when rows can be read and written.
func (d *door) isOpen() error {
	select {
	case <-d.ready:
		return d.failed
	default:
		return ErrStarting
	}
}

// wait waits until the start is over; an error says why it failed.
func (d *door) wait(ctx context.Context) error {
	select {
	case <-d.ready:
		return d.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter admits a call of the public face; leave ends it. Not to be nested.
func (d *door) enter() error {
	d.calls.RLock()
	if d.closed.Load() {
		d.calls.RUnlock()
		return ErrClosed
	}
	if err := d.isOpen(); err != nil {
		d.calls.RUnlock()
		return err
	}
	return nil
}

// enterEarly is enter for calls that need no rows: they are admitted before the start is over.
func (d *door) enterEarly() error {
	d.calls.RLock()
	if d.closed.Load() {
		d.calls.RUnlock()
		return ErrClosed
	}
	return nil
}

// enterToChange is enter for calls that change more than rows: a read-only store refuses them. Calls that may find
// everything as they want it begin with enter, and ask when they know that there is something to change, see
// inventory.redefine. The committer checks writes of rows.
func (d *door) enterToChange() error {
	if err := d.enter(); err != nil {
		return err
	}
	if err := d.space.readOnly(); err != nil {
		d.leave()
		return err
	}
	return nil
}

func (d *door) leave() { d.calls.RUnlock() }

// shut refuses all further calls; false: somebody else has shut the door. Calls under way go on, see drained.
func (d *door) shut() bool { return d.closed.CompareAndSwap(false, true) }

// drained waits until the calls under way have left. Until done is called, none gets in to be refused.
func (d *door) drained() (done func()) {
	d.calls.Lock()
	return d.calls.Unlock
}

// ErrClosed is returned by calls after Close.
var ErrClosed = status.New(status.Suspended, "the server is shutting down")

// ErrStarting is returned by calls that need rows before the log is replayed.
var ErrStarting = status.New(status.RegionNotReady,
	"the server is starting: parts are opened and the log is replayed, try again")
