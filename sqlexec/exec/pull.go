package exec

import (
	"context"
	"iter"

	"varve/engine/vector"
)

// pullReader turns a stream into a reader: one worker, nothing kept between batches. It is the last stage of a plan
// whose rows go to the client in the stream's order, and what sources read that merge or cut streams.
//
// Rows are pushed, readers pull: the stream moves in a coroutine that rests inside the last step while its batch is
// looked at. So an operator that makes many batches of one, as a join does, is never ahead of its reader.
type pullReader struct {
	ctx  context.Context
	s    Stream
	next func() (*vector.Batch, error, bool)
	stop func()
	free func()
}

// Pull reads a stream. Nothing of it is opened before the first Next. free, if not nil, is called when the reader is
// closed.
func Pull(ctx context.Context, s Stream, free func()) Reader {
	return &pullReader{ctx: ctx, s: s, free: free}
}

// all returns the batches that leave the stream, and the error that ends them.
func (p *pullReader) all(yield func(*vector.Batch, error) bool) {
	m, left := &mover{ctx: p.ctx}, false
	m.move(p.s, []Step{func(b *vector.Batch) error {
		if b.N == 0 {
			return nil
		}
		if left = left || !yield(b, nil); left {
			return ErrStop
		}
		return nil
	}})
	if err := m.err(); err != nil && !left {
		yield(nil, err)
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
	if p.stop != nil {
		p.stop()
	}
	if p.free != nil {
		p.free()
		p.free = nil
	}
}
