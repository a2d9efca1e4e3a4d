package plan

import (
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Unnest repeats each row for every element of a list and adds the element as a column. A row whose list is NULL or empty goes.
type Unnest struct {
	Input Node
	List  expr.Expr
	Cols  []Column // the input's, then the element
}

// Columns are the input's and the element.
func (n *Unnest) Columns() []Column { return n.Cols }

func isUnnest(x parse.Expr) bool {
	c, ok := x.(*parse.Call)
	return ok && c.Name == "unnest" && c.Over == nil
}

// unnest makes a column of unnest(list) in the select list. There may be one.
func (sel *selection) unnest() error {
	var call *parse.Call
	var err error
	for _, it := range sel.items {
		parse.Walk(it.x, func(x parse.Expr) bool {
			if !isUnnest(x) {
				return true
			}
			c := x.(*parse.Call)
			switch {
			case len(c.Args) != 1:
				err = parse.PlaceError(planError("function 'unnest' takes 1 argument, found %d", len(c.Args)), c.Position())
			case call != nil && parse.PrintExpr(call) != parse.PrintExpr(c):
				err = parse.PlaceError(status.New(status.Unsupported, "more than one unnest in a select list is not supported"), c.Position())
			}
			call = c
			return false
		})
	}
	if call == nil || err != nil {
		return err
	}
	list, err := sel.eb.bind(call.Args[0])
	if err != nil {
		return err
	}
	if list.Type().ID != vector.TypeList {
		return parse.PlaceError(planError("function 'unnest' takes a list, found %s", list.Type()), call.Position())
	}
	text := parse.PrintExpr(call)
	elem := Column{Name: text, Type: list.Type().Elem(), Nullable: true}
	n := &Unnest{Input: sel.node, List: list, Cols: append(append([]Column(nil), sel.node.Columns()...), elem)}
	sel.node = n
	eb := *sel.eb
	inner := eb.special
	eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if isUnnest(x) && parse.PrintExpr(x) == text {
			return &expr.Column{Index: len(n.Cols) - 1, Name: text, T: elem.Type, Null: true}, true, nil
		}
		if inner != nil {
			return inner(x)
		}
		return nil, false, nil
	}
	sel.eb = &eb
	return nil
}

// unnestTable binds UNNEST(list) in FROM, where list is a constant. The column is named by the alias.
func (b *binder) unnestTable(t *parse.TableFunc) (Node, error) {
	if len(t.Call.Args) != 1 {
		return nil, parse.PlaceError(planError("function 'unnest' takes 1 argument, found %d", len(t.Call.Args)), t.Call.Position())
	}
	eb := &exprBinder{b: b, sc: &scope{}, where: "FROM"}
	e, err := eb.bind(t.Call.Args[0])
	if err != nil {
		return nil, err
	}
	c, ok := e.(*expr.Const)
	if !ok || c.Value.Type.ID != vector.TypeList {
		return nil, parse.PlaceError(planError("UNNEST in FROM takes a constant list, found %s", e.Type()), t.Call.Position())
	}
	name := "unnest"
	if t.Alias != nil {
		name = t.Alias.Name.Name
	}
	v := &vector.Vector{Type: c.Value.Type.Elem()}
	n := &Values{Cols: []Column{{Name: name, Type: v.Type, Nullable: true}}, Batch: &vector.Batch{Cols: []*vector.Vector{v}}}
	if !c.Value.IsNull(0) {
		n.Batch.N = expr.AppendElements(v, 0, c.Value.Bytes(0))
	}
	return rename(n, t.Alias, name)
}

func (o *optimizer) pruneUnnest(u *Unnest, need []bool) (Node, []int) {
	n := len(u.Input.Columns())
	in, m := o.prune(u.Input, widen(append([]bool(nil), need[:n]...), u.List))
	out := &Unnest{Input: in, List: remap(u.List, m), Cols: append(append([]Column(nil), in.Columns()...), u.Cols[n])}
	return out, append(append([]int(nil), m...), len(in.Columns()))
}

// unnester is Unnest as an operator.
type unnester struct{ n *Unnest }

func (u *unnester) String() string { return line(u.n) }

// Step repeats rows for the elements of their lists, at most a batch at a time.
func (u *unnester) Step(next exec.Step) exec.Step {
	program, err := expr.Compile([]expr.Expr{u.n.List})
	lists := make([]*vector.Vector, 1)
	var rows []uint32
	return func(b *vector.Batch) error {
		if err != nil {
			return err
		}
		if err := program.Eval(b, lists); err != nil {
			return err
		}
		elems := &vector.Vector{Type: u.n.List.Type().Elem()}
		rows = rows[:0]
		for i := range b.N {
			if !lists[0].IsNull(i) {
				for range expr.AppendElements(elems, len(rows), lists[0].Bytes(i)) {
					rows = append(rows, uint32(i))
				}
			}
			if len(rows) < vector.Size && i < b.N-1 || len(rows) == 0 {
				continue
			}
			for from := 0; from < len(rows); from += vector.Size {
				to := min(from+vector.Size, len(rows))
				out := gather(b, rows[from:to])
				out.Cols = append(out.Cols, elems.Slice(from, to))
				if err := next(out); err != nil {
					return err
				}
			}
			rows, elems = rows[:0], &vector.Vector{Type: elems.Type}
		}
		return nil
	}
}
