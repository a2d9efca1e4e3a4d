package pipeline

import (
	"varve/engine/status"
	"varve/engine/vector"
)

// Rows of entries take a few times the bytes of these, which are bounded while the request is in hand. What a script makes
// of its entries beyond that has a bound of its own, for all requests together.
const (
	// freeRowBytes and rowsPerByte are what the rows of a request may take without being counted.
	freeRowBytes = 1 << 20
	rowsPerByte  = 8
	// measureBytes is what values take, at least, before rows are measured again.
	measureBytes = 1 << 20
	// defaultRowBytes is the bound where none is given.
	defaultRowBytes = 1 << 30
)

// holdRows counts what the rows of the request take, when values of so many bytes more are in them.
func (w *worker) holdRows(made int) error {
	if w.unmeasured += made; w.unmeasured < measureBytes {
		return nil
	}
	w.unmeasured = 0
	held := int64(0)
	var last *vector.Builder
	for _, s := range w.order { // sinks that share a builder follow one another, or are few
		if s.b != last {
			held += s.b.Bytes()
		}
		last = s.b
	}
	beyond := held - freeRowBytes - rowsPerByte*w.bytes
	if beyond <= w.held {
		return nil
	}
	most := w.m.o.RowBytes
	if all := w.m.rows.Add(beyond - w.held); all > most {
		w.m.rows.Add(w.held - beyond)
		if beyond > most/2 {
			return fatal{status.New(status.InvalidArguments,
				"the rows of the request take %d bytes, %d times those of its entries, send fewer entries at a time", held, held/max(w.bytes, 1))}
		}
		return fatal{status.New(status.RegionBusy, "the rows that scripts make of requests in hand take %d bytes, the limit is %d: try again later", all, most)}
	}
	w.held = beyond
	return nil
}

// giveRows takes back what was counted.
func (w *worker) giveRows() {
	w.m.rows.Add(-w.held)
	w.held, w.unmeasured = 0, 0
}
