package expr

import (
	"varve/engine/vector"
)

// quantifiedFunction is x op ANY|ALL (list) for lists that differ from row to row.
var quantifiedFunction = &Function{Name: "quantified", lazy: true, makesNull: true}

// Quantify reports whether test is true for an element of list, or with all for each: NULL where neither is known. test
// is over two columns, x and the element.
func (c *Context) Quantify(x, list, test Expr, all bool) (Expr, error) {
	name := " any"
	if all {
		name = " all"
	}
	q := quantifier{test: test, all: all, elem: list.Type().Elem(), cancelled: c.cancelled()}
	return c.fold(&Call{Fn: quantifiedFunction, Args: []Expr{x, list}, T: vector.BoolType, k: q.run,
		bound: test.String() + name})
}

type quantifier struct {
	test      Expr
	all       bool
	elem      vector.Type
	cancelled func() error // nil: never
}

// run tests the elements of all rows, a batch at a time.
func (q *quantifier) run(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
	program, err := Compile([]Expr{q.test})
	if err != nil {
		return err
	}
	out.Bools = out.Bools.Emptied(n)
	out.Valid = vector.MakeBitmap(n)
	x, items, answer := &vector.Vector{}, &vector.Vector{}, make([]*vector.Vector, 1)
	items.Reset(q.elem)
	rows, h := make([]uint32, 0, vector.Size), cancellation{cancelled: q.cancelled}
	flush := func() error {
		x.Gather(a[0], rows)
		if err := program.Eval(&vector.Batch{N: len(rows), Cols: []*vector.Vector{x, items}}, answer); err != nil {
			return err
		}
		q.decide(out, rows, answer[0])
		tested := len(rows)
		rows = rows[:0]
		items.Reset(q.elem)
		return h.did(tested)
	}
	for i := range n {
		if a[1].IsNull(i) {
			continue
		}
		out.Valid.Set(i) // until an element says otherwise
		if q.all {
			out.Bools.Set(i)
		}
		for _, m := range listItems(a[1].Bytes(i)) {
			appendElement(items, len(rows), m)
			if rows = append(rows, uint32(i)); len(rows) == vector.Size {
				if err := flush(); err != nil {
					return err
				}
			}
		}
	}
	return flush()
}

// decide joins the results of the elements of each row: a deciding result, else a NULL result.
func (q *quantifier) decide(out *vector.Vector, rows []uint32, answer *vector.Vector) {
	for k, r := range rows {
		i := int(r)
		decided := out.Valid.Get(i) && out.Bools.Get(i) != q.all
		switch {
		case decided:
		case answer.IsNull(k):
			out.Valid.Clear(i)
		case answer.Bool(k) != q.all:
			out.Valid.Set(i)
			if q.all {
				out.Bools.Clear(i)
			} else {
				out.Bools.Set(i)
			}
		}
	}
}
