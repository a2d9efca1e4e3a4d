package exec

import (
	"context"
	"slices"
	"sync/atomic"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// cellBytes is the memory of a value of a column without its text.
const cellBytes = 8

// compute evaluates the functions of a window over whole partitions, which are sorted by partition and order: the rows,
// then a column for each function.
func (w *WindowSpec) compute(ctx context.Context, in *vector.Batch, workers int, memory *loan) (*vector.Batch, error) {
	held := int64(0) // by what is needed no longer than a function is computed
	defer func() { memory.Release(held) }()
	hold := func(bytes int64) error {
		err := memory.Reserve(bytes)
		if err == nil {
			held += bytes
		}
		return err
	}
	eval := func(list []expr.Expr) ([]*vector.Vector, error) { return evalAll(ctx, list, in, workers, memory, hold) }
	partition, err := eval(w.Partition)
	if err != nil {
		return nil, err
	}
	order, err := eval(expr.KeyExprs(w.Order))
	if err != nil {
		return nil, err
	}
	out := &vector.Batch{N: in.N, Cols: slices.Clone(in.Cols)}
	bounds, starts, err := w.split(in.N, partition, order, ctx.Err)
	if err != nil {
		return nil, err
	}
	if err := hold(int64(len(bounds)*8 + len(starts)*8)); err != nil {
		return nil, err
	}
	lasting := held
	for i := range w.Funcs {
		memory.Release(held - lasting)
		held = lasting
		if err := memory.Reserve(int64(in.N) * cellBytes); err != nil {
			return nil, err
		}
		f := &w.Funcs[i]
		args, err := eval(f.columns())
		if err != nil {
			return nil, err
		}
		col := &vector.Vector{Type: f.Type}
		grow(col, in.N)
		r := f.framer(w.Order, len(order), memory)
		r.giver.to(col, 0, &textRoom{memory: memory})
		page := rowPage{cols: append(order[:len(order):len(order)], args...), starts: starts}
		if err := r.partitions(page, bounds, ctx.Err); err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, col)
	}
	return out, nil
}

// columns are what a function needs of each row besides the order.
func (f *WindowFunc) columns() []expr.Expr {
	if f.Filter == nil {
		return f.Args
	}
	return append(f.Args[:len(f.Args):len(f.Args)], f.Filter)
}

// partitions computes all rows of a page, whose partitions begin at the given places but the last, where it ends.
func (r *framer) partitions(page rowPage, bounds []int, err func() error) error {
	defer r.free()
	p := &partition{err: err}
	for i, from := range bounds[:len(bounds)-1] {
		p.page = page
		p.page.from, p.page.n = from, bounds[i+1]-from
		r.begin(p)
		if err := r.next(p.page.n); err != nil {
			return err
		}
	}
	return nil
}

// split finds where partitions begin in sorted rows, and with a last place where the rows end, and which rows begin a
// group of peers.
func (w *WindowSpec) split(n int, partition, order []*vector.Vector, cancelled func() error) ([]int, vector.Bitmap,
	error) {
	same := func(cols []*vector.Vector, i int) bool {
		for _, c := range cols {
			if !sameValue(c, i-1, c, i) {
				return false
			}
		}
		return true
	}
	var bounds []int
	starts := vector.MakeBitmap(n)
	for i := range n {
		if i%checkRows == 0 {
			if err := cancelled(); err != nil {
				return nil, nil, err
			}
		}
		if i == 0 || !same(partition, i) {
			bounds = append(bounds, i)
			starts.Set(i)
		} else if !same(order, i) {
			starts.Set(i)
		}
	}
	return append(bounds, n), starts, nil
}

// loan is what is taken of a budget for some time. Safe for concurrent use.
type loan struct {
	budget *Budget
	bytes  atomic.Int64
}

func (l *loan) Err() error  { return l.budget.Err() }
func (l *loan) Left() int64 { return l.budget.Left() }

func (l *loan) Reserve(bytes int64) error {
	err := l.budget.Reserve(bytes)
	if err == nil {
		l.bytes.Add(bytes)
	}
	return err
}

func (l *loan) Release(bytes int64) {
	l.bytes.Add(-bytes)
	l.budget.Release(bytes)
}

// end gives back what was taken.
func (l *loan) end() { l.budget.Release(l.bytes.Swap(0)) }

// textRoom counts the texts that a function copies for each row.
type textRoom struct {
	memory expr.Memory
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
	return t.memory.Reserve(2 * bytes) // the texts are copied once more as they grow
}

// tellBytes is the least amount of copied bytes before the budget is updated.
const tellBytes = 1 << 20

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
func evalAll(ctx context.Context, list []expr.Expr, in *vector.Batch, workers int, memory *loan,
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
		return evalPart(ctx, memory, computed, in, parts[i], i*evalRows, min((i+1)*evalRows, in.N))
	})
	if err != nil {
		return nil, err
	}
	all, err := Together(ctx, parts, workers, memory.budget)
	if err != nil {
		return nil, err
	}
	for k, i := range at {
		out[i] = all.Cols[k]
	}
	return out, nil
}

// evalPart evaluates expressions over rows [from, to).
func evalPart(ctx context.Context, memory expr.Memory, list []expr.Expr, in *vector.Batch, out *Rows, from,
	to int) error {
	prog, err := expr.CompileWithin(list, memory)
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
