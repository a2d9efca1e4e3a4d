package exec

import (
	"context"
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// cellBytes is the memory of a value of a column without its text.
const cellBytes = 8

// compute evaluates the functions of a window over whole partitions, which are sorted by partition and order: the rows,
// then a column for each function.
func (w *WindowSpec) compute(ctx context.Context, in *vector.Batch, workers int, budget *Budget) (*vector.Batch,
	error) {
	held := int64(0) // by what is needed no longer than a function is computed
	defer func() { budget.Release(held) }()
	hold := func(bytes int64) error {
		err := budget.Reserve(bytes)
		if err == nil {
			held += bytes
		}
		return err
	}
	eval := func(list []expr.Expr) ([]*vector.Vector, error) { return evalAll(ctx, list, in, workers, budget, hold) }
	partition, err := eval(w.Partition)
	if err != nil {
		return nil, err
	}
	order, err := eval(expr.KeyExprs(w.Order))
	if err != nil {
		return nil, err
	}
	out := &vector.Batch{N: in.N, Cols: slices.Clone(in.Cols)}
	parts, err := w.split(in.N, partition, order, ctx.Err)
	if err != nil {
		return nil, err
	}
	if err := hold(int64(len(parts)) * windowInputBytes); err != nil {
		return nil, err
	}
	lasting := held
	for i := range w.Funcs {
		budget.Release(held - lasting)
		held = lasting
		if err := budget.Reserve(int64(in.N) * cellBytes); err != nil {
			return nil, err
		}
		col, err := w.Funcs[i].compute(ctx, w, in.N, parts, order, eval, &textRoom{budget: budget})
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, col)
	}
	return out, nil
}

// textRoom counts the texts that a function copies for each row.
type textRoom struct {
	budget *Budget
	all    int64
	untold int64
}

// take counts the text of row i of a vector before it is copied.
func (t *textRoom) take(v *vector.Vector, i int) error {
	if v.Type.Kind() != vector.Bytes || v.IsNull(i) {
		return nil
	}
	size := int64(len(v.Bytes(i)))
	if t.all += size; t.all > maxTexts {
		return tooManyTexts(t.all)
	}
	if t.untold += size; t.untold < tellBytes {
		return nil
	}
	bytes := t.untold
	t.untold = 0
	return t.budget.Reserve(2 * bytes) // the texts are copied once more as they grow
}

// tellBytes is the least amount of copied bytes before the budget is updated.
const tellBytes = 1 << 20

// compute evaluates one function over n rows.
func (f *WindowFunc) compute(ctx context.Context, w *WindowSpec, n int, parts []windowInput, order []*vector.Vector,
	eval func([]expr.Expr) ([]*vector.Vector, error), room *textRoom) (*vector.Vector, error) {
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
	grow(col, n)
	fr := f.framer(args, keep, col, ctx.Err, room)
	ranks := f.Agg == nil && fr.fn.Ranks
	for p := range parts {
		if p%checkRows == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if f.Targets > 0 {
			parts[p].keyed(order, w.Order)
		}
		if ranks {
			err = f.rank(fr.fn, &parts[p], args, col, ctx.Err, room)
		} else {
			err = fr.run(&parts[p])
		}
		if err != nil {
			return nil, err
		}
	}
	return col, nil
}

// grow makes room for n rows, so that no slice is copied as it grows.
func grow(v *vector.Vector, n int) {
	switch v.Type.Kind() {
	case vector.Int64:
		v.Ints = slices.Grow(v.Ints, n)
	case vector.Uint64:
		v.Uints = slices.Grow(v.Uints, n)
	case vector.Float64:
		v.Floats = slices.Grow(v.Floats, n)
	case vector.Bytes:
		v.Views = slices.Grow(v.Views, n)
	}
}

// evalRows is the number of rows that one goroutine evaluates at a time.
const evalRows = 1 << 16

// evalAll evaluates expressions over a batch of Flat vectors of any size, streaming batches at a time, into Flat
// vectors. Those that are columns are the batch's own; hold is asked for the memory of the others.
func evalAll(ctx context.Context, list []expr.Expr, in *vector.Batch, workers int, budget *Budget,
	hold func(int64) error) ([]*vector.Vector, error) {
	out := make([]*vector.Vector, len(list))
	var computed []expr.Expr
	var of []vector.Type
	var at []int
	for i, e := range list {
		if c, ok := e.(*expr.Column); ok {
			out[i] = in.Cols[c.Index]
			continue
		}
		out[i] = &vector.Vector{Type: e.Type()}
		computed, of, at = append(computed, e), append(of, e.Type()), append(at, i)
	}
	if in.N == 0 || len(computed) == 0 {
		return out, nil
	}
	if err := hold(int64(in.N) * cellBytes * int64(len(computed))); err != nil {
		return nil, err
	}
	parts := make([]*Rows, (in.N+evalRows-1)/evalRows)
	err := Spread(ctx, len(parts), workers, func(i int) error {
		parts[i] = NewRows(of)
		return evalPart(ctx, budget, computed, in, parts[i], i*evalRows, min((i+1)*evalRows, in.N))
	})
	if err != nil {
		return nil, err
	}
	all, err := Together(ctx, parts, workers, budget)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		out[i] = all.Cols[k]
	}
	return out, nil
}

// evalPart evaluates expressions over rows [from, to).
func evalPart(ctx context.Context, budget *Budget, list []expr.Expr, in *vector.Batch, out *Rows, from, to int) error {
	prog, err := expr.CompileWithin(list, budget.Memory())
	if err != nil {
		return err
	}
	part := vector.Batch{Cols: make([]*vector.Vector, len(in.Cols))}
	got := vector.Batch{Cols: make([]*vector.Vector, len(list))}
	for ; from < to; from += vector.Size {
		part.N = min(vector.Size, to-from)
		got.N = part.N
		for i, c := range in.Cols {
			part.Cols[i] = c.Slice(from, from+part.N)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := prog.Eval(&part, got.Cols); err != nil {
			return err
		}
		out.Add(&got, 0, got.N)
	}
	return nil
}
