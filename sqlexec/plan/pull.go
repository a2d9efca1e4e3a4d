package plan

import (
	"context"
	"errors"
	"iter"

	"varve/engine/vector"
	"varve/sqlexec/exec"
)

// pull turns a source and the operators over it into a reader: one goroutine, nothing kept between batches. It is the last
// stage of a plan whose rows go to the client in the source's order.
//
// Operators push, readers pull: the operators run in a coroutine that rests inside the step after the last one while its
// batch is looked at. So an operator that makes many batches of one, as a join does, is never ahead of its reader.
type pull struct {
	ctx  context.Context
	s    stream
	in   exec.Reader // of the source; the coroutine closes it once it has begun
	next func() (*vector.Batch, error, bool)
	stop func()
	free func()
}

func newPull(ctx context.Context, s stream, free func()) *pull {
	return pullAs(ctx, s, 0, free)
}

// pullAs is newPull for the share of one of several workers.
func pullAs(ctx context.Context, s stream, worker int, free func()) *pull {
	return &pull{ctx: ctx, s: s, in: s.src.Reader(worker), free: free}
}

// all gives the batches that the operators make, and the error that ends them.
func (p *pull) all(yield func(*vector.Batch, error) bool) {
	steps := exec.Chain(p.s.ops, func(b *vector.Batch) error {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if b.N > 0 && !yield(b, nil) {
			return exec.ErrStop
		}
		return nil
	})
	for at, step := range steps { // what the source gives, then what each operator has of its own
		in := p.in
		if at > 0 {
			src := exec.Rest(p.s.ops[at-1])
			if src == nil {
				continue
			}
			in = src.Reader(0)
		}
		if err := p.read(in, step); err != nil {
			if !errors.Is(err, exec.ErrStop) {
				yield(nil, err)
			}
			return
		}
	}
}

// read reads a source to its end.
func (p *pull) read(r exec.Reader, step exec.Step) error {
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

// Next gives the next batch.
func (p *pull) Next(b *vector.Batch) (bool, error) {
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
func (p *pull) Close() {
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
