package plan

import (
	"context"
	"fmt"

	"varve/engine/vector"
	"varve/sqlexec/exec"
)

// The operators of this file serve single nodes of the plan: first row of a run of keys, repetition for slots, filling
// of slots, window functions. The general ones are in exec.

// firstOfRun keeps the first row of each run of equal keys. One worker: its input is in order.
type firstOfRun struct{ keys []int }

func (f *firstOfRun) String() string { return fmt.Sprintf("FirstOfRun: %d keys", len(f.keys)) }

// Step passes the rows on that differ from the row before in a key.
func (f *firstOfRun) Step(next exec.Step) exec.Step {
	last := &vector.Batch{}
	var rows []uint32
	return func(b *vector.Batch) error {
		rows = rows[:0]
		for i := range b.N {
			switch {
			case i > 0 && f.same(b, i-1, b, i), i == 0 && last.N > 0 && f.same(last, 0, b, 0):
			default:
				rows = append(rows, uint32(i))
			}
		}
		if b.N > 0 {
			last = lastRow(b)
		}
		if len(rows) == 0 {
			return nil
		}
		return next(gather(b, rows))
	}
}

func (f *firstOfRun) same(a *vector.Batch, i int, b *vector.Batch, j int) bool {
	for _, k := range f.keys {
		if !sameAcross(a.Cols[k], i, b.Cols[k], j) {
			return false
		}
	}
	return true
}

// sameAcross is sameValue for two vectors of one type.
func sameAcross(v *vector.Vector, i int, w *vector.Vector, j int) bool {
	if v.IsNull(i) || w.IsNull(j) {
		return v.IsNull(i) && w.IsNull(j)
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return v.Bool(i) == w.Bool(j)
	case vector.Int64:
		return v.Int(i) == w.Int(j)
	case vector.Uint64:
		return v.Uint(i) == w.Uint(j)
	case vector.Float64:
		a, b := v.Float(i), w.Float(j)
		return a == b || a != a && b != b
	}
	return v.Str(i) == w.Str(j)
}

// lastRow copies the last row of a batch.
func lastRow(b *vector.Batch) *vector.Batch {
	out := &vector.Batch{N: 1}
	for _, c := range b.Cols {
		v := &vector.Vector{Type: c.Type}
		v.Append(0, c, b.N-1, b.N)
		out.Cols = append(out.Cols, v)
	}
	return out
}

func gather(b *vector.Batch, rows []uint32) *vector.Batch {
	out := &vector.Batch{N: len(rows)}
	for _, c := range b.Cols {
		v := &vector.Vector{}
		v.Gather(c, rows)
		out.Cols = append(out.Cols, v)
	}
	return out
}

// slotsOf is Expand as an operator.
type slotsOf struct {
	n       *Expand
	running func() error
}

func (s *slotsOf) String() string { return line(s.n) }

// Step repeats rows for their slots, at most a batch at a time.
func (s *slotsOf) Step(next exec.Step) exec.Step {
	n := s.n
	buf := make([]uint32, 0, vector.Size)
	pass := func(b *vector.Batch, rows []uint32, slots []int64) error {
		if err := s.running(); err != nil || len(rows) == 0 {
			return err
		}
		return next(n.slotted(b, rows, slots))
	}
	return func(b *vector.Batch) error {
		times := b.Cols[n.Time]
		rows, slots := buf, make([]int64, 0, vector.Size) // the slots are passed on
		for i := range b.N {
			first, last, err := n.slotsOf(times, i)
			if err != nil {
				return err
			}
			for k := first; k <= last; k++ {
				rows, slots = append(rows, uint32(i)), append(slots, n.Origin+k*n.Step)
				if len(rows) < vector.Size {
					continue
				}
				if err := pass(b, rows, slots); err != nil {
					return err
				}
				rows, slots = buf, make([]int64, 0, vector.Size)
			}
		}
		return pass(b, rows, slots)
	}
}

// slotted is rows of a batch, each with its slot and, for each further range, whether it lies in it.
func (n *Expand) slotted(b *vector.Batch, rows []uint32, slots []int64) *vector.Batch {
	times := b.Cols[n.Time]
	out := gather(b, rows)
	out.Cols = append(out.Cols, &vector.Vector{Type: n.Cols[n.Time].Type, Ints: slots})
	for _, span := range n.Ranges[1:] {
		inside := &vector.Vector{Type: vector.BoolType, Bools: vector.MakeBitmap(len(rows))}
		for i, r := range rows {
			if times.Int(int(r))-slots[i] < span {
				inside.Bools.Set(i)
			}
		}
		out.Cols = append(out.Cols, inside)
	}
	return out
}

// whole is a sink that collects all rows, in the order they come, and makes others of them. One worker.
type whole struct {
	name string
	rows *exec.Rows
	make func(context.Context, *vector.Batch) (exec.Source, error)
	// reserve is told of the bytes that are kept.
	reserve func(bytes int64) error
}

func newWhole(name string, cols []Column, reserve func(int64) error, make func(context.Context, *vector.Batch) (exec.Source, error)) *whole {
	return &whole{name: name, rows: exec.NewRows(types(cols)), make: make, reserve: reserve}
}

func (w *whole) String() string { return w.name }

// Step keeps a copy of the rows.
func (w *whole) Step(int) exec.Step {
	return func(b *vector.Batch) error {
		if err := w.reserve(exec.BatchBytes(b)); err != nil {
			return err
		}
		w.rows.Add(b, 0, b.N)
		return nil
	}
}

// Finish gives what was made of the rows.
func (w *whole) Finish(ctx context.Context) (exec.Source, error) {
	rows, err := exec.Together(ctx, []*exec.Rows{w.rows}, 1)
	if err != nil {
		return nil, err
	}
	return w.make(ctx, rows)
}
