package exec

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"varve/engine/vector"
)

// mover moves the rows of one stream and its branches: each worker reads batches of the source and pushes them through
// its own steps. There is no other way for rows through operators.
type mover struct {
	ctx    context.Context
	failed atomic.Bool
	once   sync.Once
	first  error // that is not ErrStop; to be read after failed is set, or when all workers have ended
}

// fail ends everything.
func (m *mover) fail(err error) {
	m.once.Do(func() {
		m.first = err
		m.failed.Store(true)
	})
}

// err is why the rows did not come to their end. A step that wants no more of them is no error.
func (m *mover) err() error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	return m.first
}

// move moves all rows of a stream into steps, one for each worker.
func (m *mover) move(s Stream, into []Step) { (&flow{mover: m}).move(s, into) }

// flow is the part of the work that one stream is. A limit ends it without ending the stream whose branch it is.
type flow struct {
	*mover
	trunk *flow // of the stream whose branch this is; nil: it is no branch
	ended atomic.Bool
}

// cancelled is why no more batches are to be read: ErrStop if the stream, or one above it, has enough.
func (f *flow) cancelled() error {
	for at := f; at != nil; at = at.trunk {
		if at.ended.Load() {
			return ErrStop
		}
	}
	if f.failed.Load() {
		return ErrStop
	}
	return f.ctx.Err()
}

// end ends the flow for all workers.
func (f *flow) end(err error) {
	if !errors.Is(err, ErrStop) {
		f.fail(err)
	}
	f.ended.Store(true)
}

// move moves the rows of the source, or of the branches, and then those that each operator still holds.
func (f *flow) move(s Stream, into []Step) {
	if s.Serial {
		into = into[:1]
	}
	steps := make([][]Step, len(into))
	for w, step := range into {
		steps[w] = Chain(s.Ops, f.watched(step))
	}
	if s.Source != nil {
		f.read(s.Source, steps, 0)
	}
	for _, b := range s.Branches {
		if f.cancelled() == nil {
			(&flow{mover: f.mover, trunk: f}).move(b, f.joined(steps))
		}
	}
	for at, op := range s.Ops {
		if f.cancelled() != nil {
			return
		}
		if src := Rest(op); src != nil {
			f.read(src, steps, at+1)
		}
	}
}

// watched looks whether the stream still runs before every batch that leaves it: an operator that makes many batches of
// one, as a join does, ends with the query too.
func (f *flow) watched(next Step) Step {
	return func(b *vector.Batch) error {
		if err := f.cancelled(); err != nil {
			return err
		}
		return next(b)
	}
}

// joined returns the first steps, as those that a branch ends in. What ends them ends the trunk, not only the branch.
func (f *flow) joined(steps [][]Step) []Step {
	first := make([]Step, len(steps))
	for w := range steps {
		first[w] = func(b *vector.Batch) error {
			err := steps[w][0](b)
			if err != nil {
				f.end(err)
			}
			return err
		}
	}
	return first
}

// read pushes the rows of a source into step at of each worker. It returns when all workers have ended.
func (f *flow) read(src Source, steps [][]Step, at int) {
	var wg sync.WaitGroup
	for w := 1; w < len(steps); w++ {
		wg.Go(func() { f.drain(src, w, steps[w][at]) })
	}
	f.drain(src, 0, steps[0][at])
	wg.Wait()
}

// drain reads a worker's share to its end. A panic is the query's end, not the server's.
func (f *flow) drain(src Source, worker int, step Step) {
	defer func() {
		if v := recover(); v != nil {
			f.end(panicked(v))
		}
	}()
	r := src.Reader(worker)
	defer r.Close()
	for b := (vector.Batch{}); ; {
		err := f.cancelled()
		if err == nil {
			var ok bool
			if ok, err = r.Next(&b); err == nil && !ok {
				return
			}
		}
		if err == nil && b.N > 0 {
			err = step(&b)
		}
		if err != nil {
			f.end(err)
			return
		}
	}
}
