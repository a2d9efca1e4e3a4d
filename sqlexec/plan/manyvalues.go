package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// joinFrom is the number of values of a subquery from which on IN is a join instead of a list in a condition. Below
// it a list is as fast, and leaves more blocks out; of a million values the join takes half the time.
const joinFrom = 100_000

// manySemiJoin makes a join of a condition x [NOT] IN (query) where the query, which does not refer to the query around
// it, has many values; nil: it has few, it has not run, or it has values that are no keys of a join.
func (b *binder) manySemiJoin(in Node, sc *scope, c parse.Expr) (Node, error) {
	x, ok := c.(*parse.In)
	if !ok || x.Query == nil || b.recursing || len(correlatedIn(x.X)) > 0 || b.st.Without&ManyValues != 0 {
		return nil, nil
	}
	key, _ := b.keyOf(x.Query, askList)
	a := b.st.named[key]
	if a == nil || !a.done || a.err != nil || a.rows.N <= joinFrom {
		return nil, nil
	}
	arg, err := (&exprBinder{b: b, sc: sc, where: "WHERE"}).bind(x.X)
	if err != nil || expr.IsConst(arg) || expr.Varies(arg) {
		return nil, nil // what is wrong with it is said where the list is bound, which knows aliases too
	}
	r, o, err := b.probe(x.Query, sc)
	if err != nil || len(o.used) > 0 {
		return nil, err
	}
	value := r.Columns()[0]
	if t := arg.Type(); !orderable(t) || value.Type != t && !(t.IsInteger() && value.Type.IsInteger()) {
		return nil, nil
	}
	if x.Not {
		null, err := b.hasNull(a, r)
		switch {
		case err != nil:
			return nil, err
		case null: // then no value is known to be none of them
			return &Filter{Input: in, Conds: []expr.Expr{&expr.Const{Value: vector.ConstBool(false)}}}, nil
		}
	}
	values := askList.over(r)
	if a.rows.N <= maxList { // they are all there
		if err := b.keep(exec.BatchBytes(a.rows)); err != nil {
			return nil, err
		}
		values = &Values{Cols: unqualified(r.Columns()), Batch: a.rows}
	}
	return b.amongMany(in, arg, values, x.Not)
}

// amongMany joins the rows of in with the values that arg must be among, or must not. None of the values is NULL in the
// second case.
func (b *binder) amongMany(in Node, arg expr.Expr, values Node, not bool) (Node, error) {
	j := &Join{Kind: LeftSemiJoin, L: in, R: values, Cols: in.Columns()}
	if not {
		j.Kind = LeftAntiJoin
		if arg.Nullable() {
			known, err := b.ctx.Call("is not null", arg)
			if err != nil {
				return nil, err
			}
			j.L = &Filter{Input: in, Conds: []expr.Expr{known}}
		}
	}
	value := (&scope{cols: values.Columns()}).column(0)
	same, err := b.compare(expr.Equal, arg, shift(value, len(in.Columns())))
	if err != nil {
		return nil, err
	}
	if err := b.joinOn(j, splitAnd(same, nil)); err != nil || j.Residual != nil || len(j.LKeys) == 0 {
		return nil, err
	}
	return j, nil
}

// hasNull reports whether a subquery, bound as r, has a NULL among its values.
func (b *binder) hasNull(a *Asked, r Node) (bool, error) {
	column := (&scope{cols: r.Columns()}).column(0)
	if a.null != nil || !column.Nullable() {
		return a.null != nil && *a.null, nil
	}
	found := false
	for i := range a.rows.N {
		found = found || a.rows.Cols[0].IsNull(i)
	}
	if !found && a.rows.N > maxList { // there are others
		is, err := b.ctx.Call("is null", column)
		if err != nil {
			return false, err
		}
		rows, err := b.run(askExists.over(&Filter{Input: r, Conds: []expr.Expr{is}}), askExists.most())
		if err != nil {
			return false, err
		}
		found = rows.N > 0
	}
	a.null = &found
	return found, nil
}
