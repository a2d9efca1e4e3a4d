package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Unnest repeats each row for every element of its lists and adds the elements as columns. Lists of one row are taken side by
// side: shorter ones are NULL behind their end. A row all of whose lists are NULL or empty goes, unless Outer keeps it with NULLs.
type Unnest struct {
	Input Node
	Lists []expr.Expr
	Outer bool
	// Ordinality adds the number of each element in its list, from 1.
	Ordinality bool
	Cols       []Column // the input's, then one of elements for each list, then the ordinality
}

// Columns are the input's and the elements.
func (n *Unnest) Columns() []Column { return n.Cols }

func isUnnest(x parse.Expr) bool {
	c, ok := x.(*parse.Call)
	return ok && c.Name == "unnest" && c.Over == nil
}

// unnest makes columns of the unnest(list) in the select list: one for each that is written differently.
func (sel *selection) unnest() error {
	var calls []*parse.Call
	at := map[string]int{} // text of a call -> its place in calls
	var err error
	for _, it := range sel.items {
		parse.Walk(it.x, func(x parse.Expr) bool {
			if !isUnnest(x) {
				return true
			}
			c, text := x.(*parse.Call), parse.PrintExpr(x)
			if len(c.Args) != 1 {
				err = parse.PlaceError(planError("function 'unnest' takes 1 argument, found %d", len(c.Args)), c.Position())
			} else if _, ok := at[text]; !ok {
				at[text] = len(calls)
				calls = append(calls, c)
			}
			return false
		})
	}
	if len(calls) == 0 || err != nil {
		return err
	}
	first := len(sel.node.Columns())
	n := &Unnest{Input: sel.node, Cols: append([]Column(nil), sel.node.Columns()...)}
	for _, c := range calls {
		list, err := sel.eb.bind(c.Args[0])
		if err != nil {
			return err
		}
		if list, err = listOf(list, "unnest"); err != nil {
			return parse.PlaceError(err, c.Position())
		}
		n.Lists = append(n.Lists, list)
		n.Cols = append(n.Cols, Column{Name: parse.PrintExpr(c), Type: list.Type().Elem(), Nullable: true})
	}
	sel.node = n
	eb := *sel.eb
	inner := eb.special
	eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if isUnnest(x) {
			if k, ok := at[parse.PrintExpr(x)]; ok {
				c := n.Cols[first+k]
				return &expr.Column{Index: first + k, Name: c.Name, T: c.Type, Null: true}, true, nil
			}
		}
		if inner != nil {
			return inner(x)
		}
		return nil, false, nil
	}
	sel.eb = &eb
	return nil
}

func (o *optimizer) pruneUnnest(u *Unnest, need []bool) (Node, []int) {
	n := len(u.Input.Columns())
	in, m := o.prune(u.Input, widen(append([]bool(nil), need[:n]...), u.Lists...))
	out := *u
	out.Input, out.Lists, out.Cols = in, remapAll(u.Lists, m[:n]), append(append([]Column(nil), in.Columns()...), u.Cols[n:]...)
	m = append([]int(nil), m[:n]...)
	for k := range u.Cols[n:] {
		m = append(m, len(in.Columns())+k)
	}
	return &out, m
}

// pushUnnest moves conditions on the input's columns alone below.
func (o *optimizer) pushUnnest(u *Unnest, conds []expr.Expr) Node {
	var down, up []expr.Expr
	for _, c := range conds {
		if _, elements := sides(c, len(u.Input.Columns())); elements {
			up = append(up, c)
		} else {
			down = append(down, c)
		}
	}
	u.Input = o.push(u.Input, down)
	return filterOver(u, up)
}

// unnester is Unnest as an operator.
type unnester struct {
	n      *Unnest
	budget *exec.Budget
}

func (u *unnester) String() string { return line(u.n) }

// Step repeats rows for the elements of their lists, at most a batch at a time.
func (u *unnester) Step(next exec.Step) exec.Step {
	program, err := expr.CompileWithin(u.n.Lists, u.budget.Memory())
	lists := make([]*vector.Vector, len(u.n.Lists))
	e := elements{n: u.n, next: next, running: u.budget.Err, cols: make([]*vector.Vector, len(lists))}
	return func(b *vector.Batch) error {
		if err != nil {
			return err
		}
		if err := program.Eval(b, lists); err != nil {
			return err
		}
		e.reset(lists)
		for i := range b.N {
			e.row(lists, i)
			if len(e.rows) < vector.Size && i < b.N-1 || len(e.rows) == 0 {
				continue
			}
			if err := e.flush(b); err != nil {
				return err
			}
			e.reset(lists)
		}
		return nil
	}
}

// elements collects the elements of lists, and the row that each belongs to.
type elements struct {
	n       *Unnest
	next    exec.Step
	running func() error
	rows    []uint32
	cols    []*vector.Vector
	ordinal *vector.Vector // nil: nobody asks
}

func (e *elements) reset(lists []*vector.Vector) {
	e.rows = e.rows[:0]
	for k := range e.cols {
		e.cols[k] = &vector.Vector{Type: lists[k].Type.Elem()}
	}
	if e.n.Ordinality {
		e.ordinal = &vector.Vector{Type: vector.Int64Type}
	}
}

// row appends the elements of row i's lists, the shorter ones filled up with NULL.
func (e *elements) row(lists []*vector.Vector, i int) {
	at, longest := len(e.rows), 0
	counts := make([]int, len(lists))
	for k, v := range lists {
		if !v.IsNull(i) {
			counts[k] = expr.AppendElements(e.cols[k], at, v.Bytes(i))
		}
		longest = max(longest, counts[k])
	}
	none := longest == 0 && e.n.Outer
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
		if err := e.running(); err != nil {
			return err
		}
		to := min(from+vector.Size, len(e.rows))
		out := gather(b, e.rows[from:to])
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
