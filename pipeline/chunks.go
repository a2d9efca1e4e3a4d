package pipeline

import (
	"fmt"
	"runtime"
	"slices"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

// Large bodies are worked on in chunks of entries, several at a time. What comes out is the same, in the same order: a
// chunk's rows collect in builders of its own and join those of the request in the order of the chunks. Where they do
// not fit there, because a column has another type by then, the chunk runs again, alone, into the builders of the
// request.

const (
	// chunkBytes is the text of a chunk: small enough to share a body of a few MiB, large enough that joining is cheap.
	chunkBytes = 512 << 10
	// aloneBytes is how much of a body is worked on before others help.
	aloneBytes = 256 << 10
	// maxPending bounds the chunks of a request that are under way or wait for an older one.
	maxPending = 8
)

// chunk is a stretch of consecutive entries of a body.
type chunk struct {
	text   []byte
	ends   []int // of the entries in text
	before int   // entries of the body before them
	w      *worker
	set    engine.WriteSet
	err    error
	done   chan struct{}
}

func (c *chunk) add(entry []byte) {
	c.text = append(c.text, entry...)
	c.ends = append(c.ends, len(c.text))
}

// run takes the chunk's entries through w up to the first error.
func (c *chunk) run(w *worker) error {
	from := 0
	for i, end := range c.ends {
		w.number = c.before + i + 1
		if err := w.guard(c.text[from:end:end]); err != nil {
			return err
		}
		from = end
	}
	return nil
}

// crew works on the body of one request. One goroutine at a time; the chunks under way are its own.
type crew struct {
	m       *Manager
	w       *worker // of the request's own builders
	entries int     // so far
	open    *chunk
	pending []*chunk // under way, in order
}

// entry takes the next entry.
func (c *crew) entry(text []byte) error {
	c.entries++
	if c.open == nil {
		if c.w.bytes < aloneBytes || cap(c.m.helpers) == 0 {
			c.w.number = c.entries
			return c.w.guard(text)
		}
		c.open = c.m.chunk()
		c.open.before = c.entries - 1
	}
	c.open.add(text)
	if len(c.open.text) < chunkBytes {
		return nil
	}
	return c.send()
}

// send hands the open chunk to a helper; when none is free it is done right here, beside those under way.
func (c *crew) send() error {
	k := c.open
	c.open = nil
	if err := c.joinDone(); err != nil {
		c.m.spareChunk(k)
		return err
	}
	select {
	case c.m.helpers <- struct{}{}:
		c.begin(k)
		go func() {
			defer func() {
				<-c.m.helpers
				close(k.done)
			}()
			k.err = k.run(k.w)
		}()
		return nil
	default:
	}
	if len(c.pending) == 0 {
		err := k.run(c.w)
		c.m.spareChunk(k)
		return err
	}
	c.begin(k)
	k.err = k.run(k.w)
	close(k.done)
	return nil
}

// begin readies a chunk to be worked on with builders of its own.
func (c *crew) begin(k *chunk) {
	w := c.m.worker(c.w.find, c.w.holding, c.w.request, c.w.first, setDestination(c.w.request, &k.set), c.w.text)
	n := int64(len(k.text)) // an entry has a byte at least
	w.clock.next = c.m.Times(n)
	w.clock.end = w.clock.next + n
	k.w, k.done = w, make(chan struct{})
	c.pending = append(c.pending, k)
}

// joinDone joins the oldest chunks as far as they are done, and waits when there are too many.
func (c *crew) joinDone() error {
	for len(c.pending) > 0 {
		if len(c.pending) <= maxPending {
			select {
			case <-c.pending[0].done:
			default:
				return nil
			}
		}
		if err := c.join(); err != nil {
			return err
		}
	}
	return nil
}

// join waits for the oldest chunk and takes its rows over.
func (c *crew) join() error {
	k := c.pending[0]
	c.pending = c.pending[1:]
	<-k.done
	defer c.m.spareChunk(k)
	c.w.widenLike(k.w)
	if !c.w.accepts(k.w) {
		k.w.forget()
		c.m.release(k.w)
		return k.run(c.w)
	}
	err := c.w.take(k.w)
	c.m.release(k.w)
	if k.err != nil {
		return k.err
	}
	return err
}

// finish ends the work: all chunks are joined, or after an error waited for.
func (c *crew) finish(err error) error {
	if err == nil && c.open != nil {
		k := c.open
		c.open = nil
		for err == nil && len(c.pending) > 0 {
			err = c.join()
		}
		if err == nil {
			err = k.run(c.w)
		}
		c.m.spareChunk(k)
	}
	for len(c.pending) > 0 {
		if err == nil {
			err = c.join()
			continue
		}
		k := c.pending[0]
		c.pending = c.pending[1:]
		<-k.done
		c.m.release(k.w)
		c.m.spareChunk(k)
	}
	return err
}

// widenLike makes a column of integers one of floats if the other worker has it as floats, in both directions.
func (w *worker) widenLike(from *worker) {
	for _, s := range from.order {
		if t := w.targets[s.target.program]; t != nil && t.sinks[s.key] != nil && !s.strict {
			own := t.sinks[s.key].b
			own.WidenLike(s.b)
			s.b.WidenLike(own)
		}
	}
}

// accepts reports whether the rows of another worker can follow those of w.
func (w *worker) accepts(from *worker) bool {
	for _, s := range from.order {
		if t := w.targets[s.target.program]; t != nil && t.sinks[s.key] != nil && !t.sinks[s.key].b.Accepts(s.b) {
			return false
		}
	}
	return true
}

// take adds the rows of another worker, builder by builder: sinks of equal hints share one.
func (w *worker) take(from *worker) error {
	var taken []*vector.Builder
	for _, s := range from.order {
		t := w.target(s.target.program)
		own := t.sinks[s.key]
		if own == nil {
			if len(w.order) >= maxSinks {
				return errSinks()
			}
			var err error
			if own, err = w.newSink(t, s.key, s.suffix, &s.vars); err != nil {
				return err
			}
			t.sinks[s.key] = own
			w.order = append(w.order, own)
		}
		if slices.Contains(taken, s.b) {
			continue
		}
		taken = append(taken, s.b)
		before := own.b.Columns()
		if err := own.b.Append(s.b); err != nil {
			return err
		}
		if w.columns += own.b.Columns() - before; w.columns > maxAllColumns {
			return errAllColumns()
		}
	}
	w.bytes += from.bytes
	if err := from.giveBack(); err != nil {
		return err
	}
	if err := w.measure(); err != nil {
		return err.(fatal).error
	}
	w.out.Rows += from.out.Rows
	w.out.Skipped += from.out.Skipped
	for _, f := range from.failures {
		w.failures = flatten.AddFailure(w.failures, f, w.request.AllFailures)
	}
	return nil
}

// forget takes back what a worker has counted.
func (w *worker) forget() {
	for _, c := range w.counts {
		*c = counts{}
	}
}

func errSinks() error {
	return status.New(status.InvalidArguments,
		"the rows of the request belong to more than %d tables and groups of options", maxSinks)
}

// helperCount is how many chunks are worked on at a time, beside the goroutines of the requests themselves.
func helperCount() int { return runtime.GOMAXPROCS(0) - 1 }

// maxSpareText bounds the text that an idle chunk keeps.
const maxSpareText = 4 * chunkBytes

func (m *Manager) chunk() *chunk { return m.chunks.Get() }

func (m *Manager) spareChunk(k *chunk) {
	k.set.Reset()
	k.w, k.err, k.done = nil, nil, nil
	k.text, k.ends = k.text[:0], k.ends[:0]
	if cap(k.text) <= maxSpareText {
		m.chunks.Put(k, int64(cap(k.text)+8*cap(k.ends))+k.set.Held())
	}
}

// panicError is the error of a panic, which is a bug.
func panicError(cause any, title string) error {
	return status.Wrap(fmt.Errorf("panic: %v", cause), status.Internal, "pipeline %s panicked", title)
}
