package plan

import (
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// quantified binds x op ANY|ALL over the values of a subquery, of a list as written, or of one array.
func (eb *exprBinder) quantified(x *parse.Quantified) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	var list []expr.Expr
	if x.Query != nil {
		a, err := eb.list(x.Query)
		if err != nil {
			return nil, err
		}
		if !a.done {
			return eb.compared(a, x.Op+" "+quantifier(x.All), arg)
		}
		if list, err = eb.b.constants(a); err != nil {
			return nil, err
		}
	} else if list, err = eb.elements(x, arg); err != nil {
		return nil, err
	}
	if len(list) == 1 && list[0].Type().ID == vector.TypeList {
		return eb.quantifiedArray(x, arg, list[0])
	}
	switch op := expr.OpOf(x.Op); {
	case op == expr.Equal && !x.All:
		return eb.b.inList(arg, list, false)
	case op == expr.NotEqual && x.All:
		return eb.b.inList(arg, list, true)
	}
	tests := make([]expr.Expr, 0, min(len(list), maxTuples))
	for i, e := range list {
		if err := eb.b.cancelled(i); err != nil {
			return nil, err
		}
		c, err := eb.quantifiedOne(x.Op, arg, e)
		if err != nil {
			return nil, err
		}
		if !expr.IsConst(e) || !tighter(tests, c, x.All) {
			tests = append(tests, c)
		}
		if len(tests) > maxTuples {
			return nil, status.New(status.RuntimeResourcesExhausted, "%s %s compares each row with more than %d values",
				x.Op, quantifier(x.All), maxTuples)
		}
	}
	switch len(tests) {
	case 0:
		return &expr.Const{Value: vector.ConstBool(x.All)}, nil
	case 1:
		return tests[0], nil
	}
	join := expr.Or
	if x.All {
		join = expr.And
	}
	return eb.b.ctx.Call(join.String(), tests...)
}

func quantifier(all bool) string {
	if all {
		return "ALL"
	}
	return "ANY"
}

// tighter replaces one of tests, all of the same value, by a comparison of that value with a constant; false if the
// comparison must be added. Of several order comparisons one is enough: x > ALL (1, 2) is x > 2.
func tighter(tests []expr.Expr, test expr.Expr, all bool) bool {
	op, args := operator(test)
	if op.Order() == 0 {
		return false
	}
	greatest := all == (op.Order() > 0)
	c, ok := args[1].(*expr.Const)
	if !ok {
		return false
	}
	for i, t := range tests {
		was, other := operator(t)
		if was != op || other[0].Type() != args[0].Type() || other[1].Type() != c.Type() {
			continue
		}
		k, ok := other[1].(*expr.Const)
		if !ok || k.Value.IsNull(0) != c.Value.IsNull(0) {
			continue
		}
		if !c.Value.IsNull(0) && (expr.Compare(c.Value, 0, k.Value, 0) > 0) == greatest {
			tests[i] = test
		}
		return true
	}
	return false
}

// quantifiedOne compares with one of the values.
func (eb *exprBinder) quantifiedOne(op string, x, y expr.Expr) (expr.Expr, error) {
	if op := expr.OpOf(op); op.Compares() {
		return eb.b.compare(op, x, y)
	}
	return eb.operator(&parse.Binary{Op: op}, x, y)
}

// elements are the values of a list, as written, with which arg is compared; constant arrays among them stand for their
// elements. A single array beside a constant stays an array: it is walked once.
func (eb *exprBinder) elements(x *parse.Quantified, arg expr.Expr) ([]expr.Expr, error) {
	var out []expr.Expr
	for _, item := range x.List {
		e, err := eb.bind(item)
		if err != nil {
			return nil, err
		}
		c, ok := e.(*expr.Const)
		switch {
		case !ok || e.Type().ID != vector.TypeList || len(x.List) == 1 && expr.IsConst(arg) && !c.Value.IsNull(0):
			out = append(out, e)
		case c.Value.IsNull(0):
			out = append(out, nullOf(e.Type().Elem()))
		default:
			if out, err = eb.elementsOf(out, c.Value); err != nil {
				return nil, err
			}
		}
	}
	if len(out) > 1 {
		for i, e := range out {
			if e.Type().ID == vector.TypeList {
				return nil,
					parse.PlaceError(planError("an array that is not a constant cannot stand alone in ANY (..) and ALL (..)"),
						x.List[min(i, len(x.List)-1)].Position())
			}
		}
	}
	return out, nil
}

// elementsOf appends the elements of a constant array.
func (eb *exprBinder) elementsOf(out []expr.Expr, array *vector.Vector) ([]expr.Expr, error) {
	count := expr.ItemCount(array.Bytes(0))
	if len(out)+count > maxList {
		return nil, status.New(status.RuntimeResourcesExhausted,
			"ANY (..) and ALL (..) compare each row with more than %d values", maxList)
	}
	v := &vector.Vector{Type: array.Type.Elem()}
	if err := eb.b.keep(constBytes*int64(count) + int64(len(array.Heap))); err != nil {
		return nil, err
	}
	for i := range expr.AppendElements(v, 0, array.Bytes(0)) {
		out = append(out, &expr.Const{Value: constAt(v, i)})
	}
	return out, nil
}

// quantifiedArray compares with the elements of an array that differs from row to row.
func (eb *exprBinder) quantifiedArray(x *parse.Quantified, arg, list expr.Expr) (expr.Expr, error) {
	left := arg // a literal is read as what it is compared with
	if !expr.IsConst(arg) {
		left = &expr.Column{Index: 0, Name: "x", T: arg.Type(), Null: true}
	}
	right := &expr.Column{Index: 1, Name: "element", T: list.Type().Elem(), Null: true}
	test, err := eb.quantifiedOne(x.Op, left, right)
	if err != nil {
		return nil, err
	}
	return eb.b.ctx.Quantify(arg, list, test, x.All)
}
