package pipeline

import (
	"sync"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

// What a request holds in memory beside its body is the rows so far and the values of an entry. All of it is counted by
// whoever bounds the memory of requests: see Request.Hold.
const (
	// freeBytes is what rows may take more before they are measured again.
	freeBytes = 64 << 10
	// defaultRowBytes is the bound of one request where none is given.
	defaultRowBytes = 1 << 30
)

// holding is what a request holds. Its workers share it.
type holding struct {
	most int64
	hold func(bytes int64) error // nil: nobody counts

	mu    sync.Mutex
	bytes int64
}

func (m *Manager) holding(hold func(bytes int64) error) *holding {
	return &holding{most: m.o.RowBytes, hold: hold}
}

// add counts n bytes more, or less, and waits until there is room for them.
func (h *holding) add(n int64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.bytes += n; n <= 0 {
		return nil
	}
	if h.bytes > h.most {
		return errHeld(h.bytes, h.most)
	}
	if h.hold == nil {
		return nil
	}
	return h.hold(h.bytes)
}

func errHeld(bytes, most int64) error {
	return status.Wrap(flatten.ErrTooMany, status.InvalidArguments,
		"the rows of the request and the values of its entries take %d bytes, the limit is %d, send fewer entries at a time", bytes, most)
}

// grown notes that rows may take so many bytes more, and measures them where it has become much.
func (w *worker) grown(bytes int) error {
	// Measuring looks at each column: many of them must be worth it.
	if w.unmeasured += bytes; w.unmeasured < max(freeBytes, 64*w.columns) {
		return nil
	}
	return w.measure()
}

// measure counts what the rows take. It waits until there is room.
func (w *worker) measure() error {
	w.unmeasured = 0
	held := int64(0)
	var last *vector.Builder
	for _, s := range w.order { // sinks that share a builder follow one another, or are few
		if err := s.checkCells(w.bytes); err != nil {
			return fatal{err}
		}
		if s.b != last {
			held += s.b.Bytes()
		}
		last = s.b
	}
	more := held - w.held
	w.held = held
	if err := w.holding.add(more); err != nil {
		return fatal{err}
	}
	return nil
}

// holdEvent counts the bytes that the values of an entry take more than those of any before.
func (w *worker) holdEvent(more int) error {
	if w.holding == nil {
		return nil
	}
	w.heldEvent += int64(more)
	return w.holding.add(int64(more))
}

// giveBack takes back what the worker has counted: another has its rows.
func (w *worker) giveBack() error {
	back := w.held + w.heldEvent
	w.held, w.heldEvent, w.unmeasured = 0, 0, 0
	w.arena.Forget()
	return w.holding.add(-back)
}
