package plan

import (
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Unnest repeats each row for every element of its lists and adds the elements as columns. The lists of a row advance
// together: a shorter list gives NULL after its end. A row with only NULL or empty lists is dropped, unless Outer keeps
// it with NULLs.
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
	return ok && roleOf[c.Name] == takesApart && c.Over == nil
}

// unnest makes columns of the unnest(list) in the select list: one for each that is written differently. One that is
// the list of another comes before it.
func (sel *selection) unnest() error {
	var levels [][]*parse.Call
	seen := map[string]bool{}
	var err error
	// note adds the calls in an expression to their levels: how many lie in each other there.
	var note func(x parse.Expr) (deepest int)
	note = func(x parse.Expr) (deepest int) {
		parse.Walk(x, func(x parse.Expr) bool {
			if !isUnnest(x) {
				return true
			}
			c, text := x.(*parse.Call), parse.PrintExpr(x)
			if len(c.Args) != 1 {
				err = parse.PlaceError(planError("function 'unnest' takes 1 argument, found %d", len(c.Args)),
					c.Position())
				return false
			}
			level := note(c.Args[0])
			deepest = max(deepest, level+1)
			for len(levels) <= level {
				levels = append(levels, nil)
			}
			if !seen[text] {
				seen[text] = true
				levels[level] = append(levels[level], c)
			}
			return false
		})
		return deepest
	}
	for _, it := range sel.items {
		note(it.x)
	}
	for _, calls := range levels {
		if err != nil {
			return err
		}
		err = sel.unnestCalls(calls)
	}
	return err
}

// unnestCalls makes columns of calls that do not lie in each other.
func (sel *selection) unnestCalls(calls []*parse.Call) error {
	at := map[string]int{} // text of a call -> its place in calls
	for k, c := range calls {
		at[parse.PrintExpr(c)] = k
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
	out.Input, out.Lists, out.Cols = in, remapAll(u.Lists, m[:n]),
		append(append([]Column(nil), in.Columns()...), u.Cols[n:]...)
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
	return filterOver(u.over([]Node{o.push(u.Input, down)}), up)
}
