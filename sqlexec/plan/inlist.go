package plan

import (
	"slices"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// inGroup are the members of an IN list that are compared in one type.
type inGroup struct {
	arg  expr.Expr // the value in that type
	list []expr.Expr
}

// inList binds x IN (list). Members may be many: constants are looked up in one list for each type that they are
// compared in, which are few, and only what is computed for each row becomes a comparison of its own.
func (b *binder) inList(x expr.Expr, list []expr.Expr, not bool) (expr.Expr, error) {
	if len(list) == 0 {
		return &expr.Const{Value: vector.ConstBool(not)}, nil
	}
	op, join := expr.Equal, expr.Or
	if not {
		op, join = expr.NotEqual, expr.And
	}
	t, never := x.Type(), false
	var groups []inGroup
	var tests []expr.Expr
	for i, e := range list {
		if err := b.cancelled(i); err != nil {
			return nil, err
		}
		if t.IsNumber() {
			var err error
			if _, e, err = b.ctx.Numbers(x, e); err != nil {
				return nil, err
			}
		}
		if c, ok := e.(*expr.Const); ok {
			if c, ok := b.exactConst(c, t); ok {
				groups = member(groups, x, c)
				continue
			}
		}
		test, err := b.compare(op, x, e)
		if err != nil {
			return nil, err
		}
		if expr.IsConst(e) {
			if arg, c := equalTo(test); c != nil {
				groups = member(groups, arg, c)
				continue
			}
			if _, ok := test.(*expr.Case); ok { // a value that x cannot have: once is enough
				if never {
					continue
				}
				never = true
			}
		}
		if tests = append(tests, test); len(tests) > maxTuples {
			return nil, status.New(status.RuntimeResourcesExhausted,
				"IN compares each row with more than %d values that are not constants of its type", maxTuples)
		}
	}
	all := make([]expr.Expr, 0, len(groups)+len(tests))
	for _, g := range groups {
		e, err := b.ctx.In(g.arg, g.list, not)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if all = append(all, tests...); len(all) == 1 {
		return all[0], nil
	}
	return b.ctx.Call(join.String(), all...)
}

// member adds a member to the group of its type.
func member(groups []inGroup, arg, c expr.Expr) []inGroup {
	i := slices.IndexFunc(groups, func(g inGroup) bool { return g.arg.Type() == c.Type() })
	if i < 0 {
		i, groups = len(groups), append(groups, inGroup{arg: arg})
	}
	groups[i].list = append(groups[i].list, c)
	return groups
}

// equalTo takes a comparison for (in)equality with a constant of the same type apart; c is nil for all others.
func equalTo(test expr.Expr) (arg expr.Expr, c *expr.Const) {
	op, args := operator(test)
	if op != expr.Equal && op != expr.NotEqual {
		return nil, nil
	}
	c, ok := args[1].(*expr.Const)
	if !ok || c.Type() != args[0].Type() {
		return nil, nil
	}
	return args[0], c
}

// exactConst returns a constant as type t when a comparison with it does not change by that.
func (b *binder) exactConst(c *expr.Const, t vector.Type) (expr.Expr, bool) {
	switch {
	case c.Value.Type == t:
		return c, true
	case c.Value.IsNull(0):
		return nullOf(t), true
	case t.IsNumber() && t.ID != vector.TypeDecimal:
		return exactNumber(c.Value, t)
	}
	return nil, false
}

// inValues is membership in many different values of one column, compared in the type of x; nil: they are not.
func (b *binder) inValues(x expr.Expr, rows *vector.Batch, not bool) (expr.Expr, error) {
	t, v := x.Type(), rows.Cols[0]
	if !orderable(t) || v.Type != t && !(t.IsInteger() && v.Type.IsInteger()) {
		return nil, nil
	}
	all, n, null := &vector.Vector{Type: t}, 0, false
	for i := range rows.N {
		if err := b.cancelled(i); err != nil {
			return nil, err
		}
		switch {
		case v.IsNull(i):
			null = true
		case v.Type == t:
			all.Append(n, v, i, i+1)
			n++
		case appendInteger(all, v, i):
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	if err := b.keep(2 * exec.BatchBytes(&vector.Batch{N: n, Cols: []*vector.Vector{all}})); err != nil {
		return nil, err
	}
	s := sortValues(all, n)
	in := &expr.In{Arg: x, Values: s.v, Count: s.n, Not: not}
	if null {
		in.List = []expr.Expr{nullOf(t)}
	}
	return b.ctx.InValues(in)
}

// appendInteger appends integer i of v to integers of another type, unless that has no such number: nothing of the
// type is equal to it.
func appendInteger(to, v *vector.Vector, i int) bool {
	lo, most := convert.IntBounds(to.Type)
	switch signed := v.Type.Kind() == vector.Int64; {
	case signed && v.Int(i) < lo, signed && v.Int(i) >= 0 && uint64(v.Int(i)) > most, !signed && v.Uint(i) > most:
		return false
	case signed && to.Type.Kind() == vector.Int64:
		to.Ints = append(to.Ints, v.Int(i))
	case signed:
		to.Uints = append(to.Uints, uint64(v.Int(i)))
	case to.Type.Kind() == vector.Int64:
		to.Ints = append(to.Ints, int64(v.Uint(i)))
	default:
		to.Uints = append(to.Uints, v.Uint(i))
	}
	return true
}
