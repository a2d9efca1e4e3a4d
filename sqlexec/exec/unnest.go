package exec

import (
	"bytes"
	"fmt"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// UnnestSpec says how rows are repeated for the elements of lists.
type UnnestSpec struct {
	Lists []expr.Expr
	Outer bool // rows all of whose lists are NULL or empty stay, with NULLs
	// Ordinality adds the number of each element in its list, from 1.
	Ordinality bool
}

// Unnest repeats each row for every element of its lists and adds the elements as columns. The lists of a row advance
// together: a shorter list gives NULL after its end.
func Unnest(spec UnnestSpec, budget *Budget) Operator { return &unnester{spec, budget} }

type unnester struct {
	UnnestSpec
	budget *Budget
}

func (u *unnester) String() string { return fmt.Sprintf("Unnest: %d lists", len(u.Lists)) }

// Step repeats rows for the elements of their lists, at most a batch at a time.
func (u *unnester) Step(next Step) Step {
	program, err := expr.CompileWithin(u.Lists, u.budget.Memory())
	lists := make([]*vector.Vector, len(u.Lists))
	e := elements{spec: &u.UnnestSpec, next: next, cancelled: u.budget.Err, reserve: u.budget.Reserve,
		cols: make([]*vector.Vector, len(lists))}
	var step func(b *vector.Batch) error
	step = func(b *vector.Batch) error {
		if err != nil {
			return err
		}
		if err := program.Eval(b, lists); status.Of(err) == status.RuntimeResourcesExhausted && b.N > 1 {
			// The lists of all rows together are too much, those of some may not be.
			return inHalves(b, step)
		} else if err != nil {
			return err
		}
		e.reset(lists)
		for i := range b.N {
			if err := e.row(lists, i); err != nil {
				return err
			}
			if len(e.rows) < vector.Size && i < b.N-1 && !longHere(b, i) || len(e.rows) == 0 {
				continue
			}
			if err := e.flush(b); err != nil {
				return err
			}
			e.reset(lists)
		}
		return nil
	}
	return step
}

// inHalves takes a step with each half of a batch.
func inHalves(b *vector.Batch, step Step) error {
	if err := step(sliceOf(b, 0, b.N/2)); err != nil {
		return err
	}
	return step(sliceOf(b, b.N/2, b.N))
}

// sliceOf is rows [from, to) of a batch.
func sliceOf(b *vector.Batch, from, to int) *vector.Batch {
	out := &vector.Batch{N: to - from}
	for _, c := range b.Cols {
		out.Cols = append(out.Cols, c.Slice(from, to))
	}
	return out
}

// freeElements is the length of lists that are not counted: a few batches.
const freeElements = 1 << 14

// elements collects the elements of lists, and the row that each belongs to.
type elements struct {
	spec      *UnnestSpec
	next      Step
	cancelled func() error
	reserve   func(bytes int64) error
	held      int64 // bytes that are reserved: of the longest lists of a row so far
	rows      []uint32
	cols      []*vector.Vector
	ordinal   *vector.Vector // nil: not requested
}

func (e *elements) reset(lists []*vector.Vector) {
	e.rows = e.rows[:0]
	for k := range e.cols {
		e.cols[k] = &vector.Vector{Type: lists[k].Type.Elem()}
	}
	if e.spec.Ordinality {
		e.ordinal = &vector.Vector{Type: vector.Int64Type}
	}
}

// row appends the elements of row i's lists, the shorter ones filled up with NULL.
func (e *elements) row(lists []*vector.Vector, i int) error {
	if err := e.makeRoom(lists, i); err != nil {
		return err
	}
	at, longest := len(e.rows), 0
	counts := make([]int, len(lists))
	for k, v := range lists {
		if !v.IsNull(i) {
			counts[k] = expr.AppendElements(e.cols[k], at, v.Bytes(i))
		}
		longest = max(longest, counts[k])
	}
	none := longest == 0 && e.spec.Outer
	if none {
		longest = 1
	}
	for range longest {
		e.rows = append(e.rows, uint32(i))
	}
	for k, n := range counts {
		e.cols[k].AppendNulls(at+n, longest-n)
	}
	if e.ordinal != nil {
		e.number(at, longest, none)
	}
	return nil
}

// elementBytes estimates the memory of an element while its list is unnested: its place in the list twice, for that
// grows, its value and its row.
const elementBytes = 64

// makeRoom counts the elements of row i, where they are more than in any row before.
func (e *elements) makeRoom(lists []*vector.Vector, i int) error {
	need := int64(0)
	for _, v := range lists {
		if !v.IsNull(i) {
			need += elementBytes * int64(1+bytes.Count(v.Bytes(i), []byte(",")))
		}
	}
	if need <= max(e.held, freeElements*elementBytes) {
		return nil
	}
	more := need - e.held
	if err := e.reserve(more); err != nil {
		return err
	}
	e.held = need
	return nil
}

// number appends the numbers of a row's elements; none: there are none.
func (e *elements) number(at, count int, none bool) {
	if none {
		e.ordinal.AppendNulls(at, 1)
		return
	}
	for k := range count {
		e.ordinal.Append(at+k, vector.ConstInt(vector.Int64Type, int64(k+1)), 0, 1)
	}
}

// flush hands the rows on, a batch at a time.
func (e *elements) flush(b *vector.Batch) error {
	for from := 0; from < len(e.rows); from += vector.Size {
		if err := e.cancelled(); err != nil {
			return err
		}
		to := min(from+vector.Size, len(e.rows))
		out := &vector.Batch{}
		repeat(out, b, e.rows[from:to])
		for _, v := range e.cols {
			out.Cols = append(out.Cols, v.Slice(from, to))
		}
		if e.ordinal != nil {
			out.Cols = append(out.Cols, e.ordinal.Slice(from, to))
		}
		if err := e.next(out); err != nil {
			return err
		}
	}
	return nil
}
