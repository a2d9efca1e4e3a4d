package plan

import (
	"context"
	"errors"

	"varve/engine/vector"
	"varve/sqlexec/exec"
)

// pull turns a source and the operators over it into a reader: one goroutine, one input batch at a time, nothing kept
// beyond it. It is the last stage of a plan whose rows go to the client in the source's order.
type pull struct {
	ctx context.Context
	in  exec.Reader
	ops []exec.Operator
	// steps[at] takes what in gives: the source first, then what each operator has of its own.
	steps []exec.Step
	at    int
	b     vector.Batch   // the input
	out   []vector.Batch // what the operators made of it, not yet given out
	next  int
	done  bool
	// several tells that an operator may give several batches per input batch.
	several bool
	free    func()
}

func newPull(ctx context.Context, s stream, free func()) *pull {
	p := &pull{ctx: ctx, in: s.src.Reader(0), ops: s.ops, several: s.several, free: free}
	p.steps = exec.Chain(s.ops, p.take)
	return p
}

// take keeps an output batch. An operator that gives several per input reuses its vectors, so they are copied then; the
// common single one is passed on as it is: it stays valid until the operators are called again.
func (p *pull) take(b *vector.Batch) error {
	if b.N == 0 {
		return nil
	}
	p.out = append(p.out, vector.Batch{N: b.N, Cols: append([]*vector.Vector(nil), b.Cols...)})
	if !p.several {
		return nil
	}
	last := &p.out[len(p.out)-1]
	for i, c := range last.Cols {
		last.Cols[i] = copyVector(c, b.N)
	}
	return nil
}

// copyVector is a Flat copy of n rows.
func copyVector(v *vector.Vector, n int) *vector.Vector {
	if v.Form == vector.Const {
		return v
	}
	c := &vector.Vector{Type: v.Type}
	c.Append(0, v, 0, n)
	return c
}

// Next gives the next batch.
func (p *pull) Next(b *vector.Batch) (bool, error) {
	for p.next >= len(p.out) {
		if p.done {
			return false, nil
		}
		p.out, p.next = p.out[:0], 0
		if err := p.ctx.Err(); err != nil {
			return false, err
		}
		ok, err := p.in.Next(&p.b)
		if err != nil {
			return false, err
		}
		if !ok {
			p.more()
			continue
		}
		if err := p.steps[p.at](&p.b); errors.Is(err, errStop) {
			p.done = true
		} else if err != nil {
			return false, err
		}
	}
	*b = p.out[p.next]
	p.next++
	return true, nil
}

// more goes on with the next operator that has rows of its own.
func (p *pull) more() {
	for p.at < len(p.ops) {
		p.at++
		if src := exec.Rest(p.ops[p.at-1]); src != nil {
			p.in.Close()
			p.in = src.Reader(0)
			return
		}
	}
	p.done = true
}

// Close ends the reading.
func (p *pull) Close() {
	if p.in != nil {
		p.in.Close()
		p.in = nil
		if p.free != nil {
			p.free()
		}
	}
}

var errStop = exec.ErrStop
