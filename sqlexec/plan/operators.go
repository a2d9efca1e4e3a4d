package plan

import (
	"context"
	"fmt"

	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
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
type slotsOf struct{ n *Expand }

func (s *slotsOf) String() string { return line(s.n) }

// Step repeats rows for their slots, at most a batch at a time.
func (s *slotsOf) Step(next exec.Step) exec.Step {
	n := s.n
	var rows []uint32
	var slots []int64
	t := n.Cols[n.Time].Type
	return func(b *vector.Batch) error {
		var err error
		times := b.Cols[n.Time]
		if rows, slots, err = n.expand(times, b.N, rows[:0], slots[:0]); err != nil {
			return err
		}
		for from := 0; from < len(rows); from += vector.Size {
			to := min(from+vector.Size, len(rows))
			out := gather(b, rows[from:to])
			out.Cols = append(out.Cols, &vector.Vector{Type: t, Ints: slots[from:to]})
			for _, span := range n.Ranges[1:] {
				inside := &vector.Vector{Type: vector.BoolType, Bools: vector.MakeBitmap(to - from)}
				for i := from; i < to; i++ {
					if times.Int(int(rows[i]))-slots[i] < span {
						inside.Bools.Set(i - from)
					}
				}
				out.Cols = append(out.Cols, inside)
			}
			if err := next(out); err != nil {
				return err
			}
		}
		return nil
	}
}

// whole is a sink that collects all rows, in the order they come, and makes others of them. One worker.
type whole struct {
	name string
	rows *vector.Batch
	make func(*vector.Batch) (*vector.Batch, error)
	// reserve is told of the bytes that are kept.
	reserve func(bytes int64) error
}

func newWhole(name string, cols []Column, reserve func(int64) error, make func(*vector.Batch) (*vector.Batch, error)) *whole {
	return &whole{name: name, rows: vector.NewBatch(types(cols)...), make: make, reserve: reserve}
}

func (w *whole) String() string { return w.name }

// Step keeps a copy of the rows.
func (w *whole) Step(int) exec.Step {
	return func(b *vector.Batch) error {
		var bytes int64
		for _, c := range b.Cols {
			bytes += c.Bytes64(b.N)
		}
		if err := w.reserve(bytes); err != nil {
			return err
		}
		w.rows.Append(b, 0, b.N)
		return nil
	}
}

// Finish gives what was made of the rows.
func (w *whole) Finish(context.Context) (exec.Source, error) {
	out, err := w.make(w.rows)
	if err != nil {
		return nil, err
	}
	return exec.Values(out), nil
}

// compute evaluates the functions of a window over all rows, which are sorted by partition and order. running is asked
// whether the query still runs.
func (w *Window) compute(in *vector.Batch, running func() error) (*vector.Batch, error) {
	eval := func(list []expr.Expr) ([]*vector.Vector, error) {
		out := make([]*vector.Vector, len(list))
		if len(list) == 0 {
			return out, nil
		}
		prog, err := expr.Compile(list)
		if err != nil {
			return nil, err
		}
		flat := make([]*vector.Vector, len(list))
		for i, e := range list {
			flat[i] = &vector.Vector{Type: e.Type()}
		}
		return flat, evalAll(prog, in, flat, running)
	}
	partition, err := eval(w.Partition)
	if err != nil {
		return nil, err
	}
	order, err := eval(keyExprs(w.Order))
	if err != nil {
		return nil, err
	}
	out := &vector.Batch{N: in.N, Cols: append([]*vector.Vector(nil), in.Cols...)}
	parts, err := w.split(in.N, partition, order, running)
	if err != nil {
		return nil, err
	}
	for i := range w.Funcs {
		f := &w.Funcs[i]
		args, err := eval(f.Args)
		if err != nil {
			return nil, err
		}
		var keep *vector.Vector
		if f.Filter != nil {
			list, err := eval([]expr.Expr{f.Filter})
			if err != nil {
				return nil, err
			}
			keep = list[0]
		}
		col := &vector.Vector{Type: f.Type}
		fr := f.framer(args, keep, col, running)
		for p := range parts {
			if p%checkRows == 0 {
				if err := running(); err != nil {
					return nil, err
				}
			}
			if f.targets > 0 {
				parts[p].keyed(order, w.Order)
			}
			if ranking[f.Name] {
				err = f.rank(&parts[p], args, col)
			} else {
				err = fr.run(&parts[p])
			}
			if err != nil {
				return nil, err
			}
		}
		out.Cols = append(out.Cols, col)
	}
	return out, nil
}

// evalAll evaluates a program over a batch of any size, a streaming batch at a time, into Flat vectors.
func evalAll(prog *expr.Program, in *vector.Batch, out []*vector.Vector, running func() error) error {
	part := vector.Batch{Cols: make([]*vector.Vector, len(in.Cols))}
	got := make([]*vector.Vector, len(out))
	for from := 0; from < in.N; from += vector.Size {
		to := min(from+vector.Size, in.N)
		part.N = to - from
		for i, c := range in.Cols {
			part.Cols[i] = c.Slice(from, to)
		}
		if err := running(); err != nil {
			return err
		}
		if err := prog.Eval(&part, got); err != nil {
			return err
		}
		for i, v := range got {
			out[i].Append(from, v, 0, part.N)
		}
	}
	return nil
}
