package exec

import (
	"context"
	"errors"
	"iter"

	"varve/engine/vector"
)

// Stream is a source and the operators over it that have not run yet.
type Stream struct {
	Source Source
	Ops    []Operator
	// Several says that an operator may give several batches per input batch: a join, the slots of a range query.
	Several bool
	// Serial streams give their rows in an order that counts: one worker reads them.
	Serial bool
}

// With is the stream with one more operator.
func (s Stream) With(op Operator) Stream {
	s.Ops = append(s.Ops[:len(s.Ops):len(s.Ops)], op)
	return s
}

// pullReader turns a source and the operators over it into a reader: one goroutine, nothing kept between batches. It is
// the last stage of a plan whose rows go to the client in the source's order.
//
// Operators push, readers pull: the operators run in a coroutine that rests inside the step after the last one while
// its batch is looked at. So an operator that makes many batches of one, as a join does, is never ahead of its reader.
type pullReader struct {
	ctx  context.Context
	s    Stream
	in   Reader // of the source; the coroutine closes it once it has begun
	next func() (*vector.Batch, error, bool)
	stop func()
	free func()
}

// Pull reads a worker's share of a stream. free, if not nil, is called when the reader is closed.
func Pull(ctx context.Context, s Stream, worker int, free func()) Reader {
	return &pullReader{ctx: ctx, s: s, in: s.Source.Reader(worker), free: free}
}

// all returns the batches that the operators make, and the error that ends them.
func (p *pullReader) all(yield func(*vector.Batch, error) bool) {
	steps := Chain(p.s.Ops, func(b *vector.Batch) error {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if b.N > 0 && !yield(b, nil) {
			return ErrStop
		}
		return nil
	})
	for at, step := range steps { // the rows of the source, then the rest of each operator
		in := p.in
		if at > 0 {
			src := Rest(p.s.Ops[at-1])
			if src == nil {
				continue
			}
			in = src.Reader(0)
		}
		if err := p.read(in, step); err != nil {
			if !errors.Is(err, ErrStop) {
				yield(nil, err)
			}
			return
		}
	}
}

// read reads a source to its end.
func (p *pullReader) read(r Reader, step Step) error {
	defer r.Close()
	for b := (vector.Batch{}); ; {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return err
		}
		if err := step(&b); err != nil {
			return err
		}
	}
}

// Next returns the next batch.
func (p *pullReader) Next(b *vector.Batch) (bool, error) {
	if p.next == nil {
		p.next, p.stop = iter.Pull2(p.all)
	}
	out, err, ok := p.next()
	if !ok || err != nil {
		return false, err
	}
	b.N, b.Cols = out.N, append([]*vector.Vector(nil), out.Cols...) // the operators keep their own slice
	return true, nil
}

// Close ends the reading.
func (p *pullReader) Close() {
	switch {
	case p.stop != nil:
		p.stop()
	case p.in != nil:
		p.in.Close()
		p.in = nil
	}
	if p.free != nil {
		p.free()
		p.free = nil
	}
}
