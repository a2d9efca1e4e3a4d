package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// join binds a JOIN: equalities between the two sides become keys, the rest of ON becomes the residual.
func (b *binder) join(t *parse.Join, out *outer) (Node, error) {
	l, err := b.tableRef(t.L, out)
	if err != nil {
		return nil, err
	}
	if d, ok := t.R.(*parse.Derived); ok && d.Lateral {
		return b.lateralJoin(l, d, t, out)
	}
	if f := elementsOf(t.R); f != nil {
		return b.unnestJoin(l, f, t, out)
	}
	r, err := b.tableRef(t.R, out)
	if err != nil {
		return nil, err
	}
	if err := b.countNode(len(l.Columns()) + len(r.Columns())); err != nil {
		return nil, err
	}
	if t.Kind == parse.AsofJoin || t.Kind == parse.AsofLeftJoin {
		return b.asof(l, r, t, out)
	}
	kind := kindsOf[t.Kind]
	if t.Kind == parse.RightSemiJoin || t.Kind == parse.RightAntiJoin {
		l, r = r, l
	}
	var decided map[parse.Expr]*expr.Column
	var after parse.Expr
	if t.On != nil {
		if l, r, decided, after, err = b.subqueriesOn(l, r, kind, t.On, out); err != nil {
			return nil, err
		}
	}
	j := &Join{Kind: kind, L: l, R: r, Cols: concat(l.Columns(), r.Columns())}
	switch {
	case t.Natural || len(t.Using) > 0:
		err = b.using(j, t)
	case t.On != nil && after == nil:
		err = b.on(j, t.On, decided, out)
	}
	if err != nil {
		return nil, err
	}
	if kind.semi() {
		j.Cols = append([]Column(nil), l.Columns()...)
		if after != nil {
			return b.outerWhere(j, after, out)
		}
		return j, nil
	}
	nullable(j)
	switch {
	case after == nil:
	case kind.inner():
		return b.joinWhere(j, after, out)
	default:
		return b.outerWhere(j, after, out)
	}
	if (t.Natural || len(t.Using) > 0) && kind.fillsLeft() {
		return b.mergeUsing(j)
	}
	return j, nil
}

// on binds the condition of a join, whose subqueries are decided by columns.
func (b *binder) on(j *Join, cond parse.Expr, decided map[parse.Expr]*expr.Column, out *outer) error {
	eb := &exprBinder{b: b, sc: &scope{cols: concat(j.L.Columns(), j.R.Columns()), outer: out}, where: "ON",
		special: columnsFor(decided, nil)}
	bound, err := eb.bind(cond)
	if err != nil {
		return err
	}
	if bound, err = b.boolean(bound, "ON"); err != nil {
		return err
	}
	return b.joinOn(j, splitAnd(bound, nil))
}

// lateralJoin binds a join whose right side may use columns of the left side. The condition after ON is a filter; a
// left join accepts only TRUE.
func (b *binder) lateralJoin(l Node, d *parse.Derived, t *parse.Join, out *outer) (Node, error) {
	kind, always, err := besideLateral(t)
	if err != nil {
		return nil, err
	}
	n, err := b.lateral(l, d, out, kind)
	if err != nil || always {
		return n, err
	}
	eb := &exprBinder{b: b, sc: &scope{cols: n.Columns(), outer: out}, where: "ON"}
	cond, err := eb.bind(t.On)
	if err != nil {
		return nil, err
	}
	if cond, err = b.boolean(cond, "ON"); err != nil {
		return nil, err
	}
	return &Filter{Input: n, Conds: splitAnd(cond, nil)}, nil
}

// nullable marks the columns of the side that an outer join may leave without a partner.
func nullable(j *Join) {
	n := len(j.L.Columns())
	for i := range j.Cols {
		if i < n && j.Kind.fillsLeft() || i >= n && j.Kind.fillsRight() {
			j.Cols[i].Nullable = true
		}
	}
}

// joinOn sorts the conditions of ON into keys and residual.
func (b *binder) joinOn(j *Join, conds []expr.Expr) error {
	n := len(j.L.Columns())
	var rest []expr.Expr
	for _, c := range conds {
		l, r, ok := equality(c, n)
		if !ok {
			rest = append(rest, c)
			continue
		}
		j.LKeys, j.RKeys = append(j.LKeys, l), append(j.RKeys, shift(r, -n))
	}
	var err error
	j.Residual, err = b.andAll(rest)
	if j.Kind == CrossJoin && len(j.LKeys) > 0 {
		j.Kind = InnerJoin
	}
	return err
}

// andAll joins conditions into one; nil if there are none.
func (b *binder) andAll(conds []expr.Expr) (expr.Expr, error) {
	if len(conds) == 0 {
		return nil, nil
	}
	acc := conds[0]
	for _, c := range conds[1:] {
		var err error
		if acc, err = b.ctx.Call("and", acc, c); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// equality reports whether c is an equality of the first n columns with the others, and gives the sides.
func equality(c expr.Expr, n int) (l, r expr.Expr, ok bool) {
	op, args := operator(c)
	if op != expr.Equal {
		return nil, nil, false
	}
	l, r = args[0], args[1]
	ll, lr := sides(l, n)
	rl, rr := sides(r, n)
	switch {
	case ll && !lr && !rl && rr:
	case !ll && lr && rl && !rr:
		l, r = r, l
	default:
		return nil, nil, false
	}
	return oneUnit(l, r)
}

// oneUnit brings points in time in different units, which are compared as they are, to the finer one, so that equal
// ones are equal keys: a value out of its range is NULL, which equals nothing, as it should.
func oneUnit(l, r expr.Expr) (expr.Expr, expr.Expr, bool) {
	if l.Type() == r.Type() {
		return l, r, true
	}
	t, err := expr.CommonType([]expr.Expr{l, r})
	if err != nil {
		return nil, nil, false
	}
	ctx := &expr.Context{}
	l, lerr := ctx.Cast(l, t, true)
	r, rerr := ctx.Cast(r, t, true)
	return l, r, lerr == nil && rerr == nil
}

// sides reports whether e refers to columns before n, and to columns from n on.
func sides(e expr.Expr, n int) (left, right bool) {
	expr.EachColumn(e, func(c *expr.Column) {
		left = left || c.Index < n
		right = right || c.Index >= n
	})
	return left, right
}

// using makes keys of the columns that both sides have by name; the right one is shadowed.
func (b *binder) using(j *Join, t *parse.Join) error {
	lc, rc := &scope{cols: j.L.Columns()}, &scope{cols: j.R.Columns()}
	names := t.Using
	if t.Natural {
		for _, c := range lc.cols {
			if slices.ContainsFunc(rc.cols, func(o Column) bool { return o.Name == c.Name && !o.Shadow && !c.Shadow }) {
				names = append(names, parse.Ident{Name: c.Name})
			}
		}
	}
	for _, id := range names {
		li, err := lc.resolve(parse.Name{id})
		if err != nil {
			return err
		}
		ri, err := rc.resolve(parse.Name{id})
		if err != nil {
			return err
		}
		l, r, err := b.sameType(lc.column(li), rc.column(ri))
		if err != nil {
			return err
		}
		j.LKeys, j.RKeys = append(j.LKeys, l), append(j.RKeys, r)
		j.Cols[len(lc.cols)+ri].Shadow = true
	}
	if j.Kind == CrossJoin && len(names) > 0 {
		j.Kind = InnerJoin
	}
	return nil
}

// sameType casts two expressions to their common type.
func (b *binder) sameType(l, r expr.Expr) (expr.Expr, expr.Expr, error) {
	if l.Type() == r.Type() {
		return l, r, nil
	}
	t, err := expr.CommonType([]expr.Expr{l, r})
	if err != nil {
		return nil, nil, err
	}
	if l, err = b.ctx.Cast(l, t, false); err != nil {
		return nil, nil, err
	}
	r, err = b.ctx.Cast(r, t, false)
	return l, r, err
}

// mergeUsing makes the one column of USING the value of the side that has a row.
func (b *binder) mergeUsing(j *Join) (Node, error) {
	sc := &scope{cols: j.Cols}
	p := &Project{Input: j, Cols: append([]Column(nil), j.Cols...)}
	n := len(j.L.Columns())
	for i := range j.Cols {
		p.Exprs = append(p.Exprs, sc.column(i))
	}
	for i := n; i < len(j.Cols); i++ {
		if !j.Cols[i].Shadow {
			continue
		}
		li := slices.IndexFunc(j.Cols[:n], func(c Column) bool { return c.Name == j.Cols[i].Name && !c.Shadow })
		if li < 0 {
			continue
		}
		e, err := b.ctx.Call("coalesce", sc.column(li), sc.column(i))
		if err != nil {
			return nil, err
		}
		p.Exprs[li] = e
		p.Cols[li].Type = e.Type()
	}
	return p, nil
}

// nullOf is a NULL of a type.
func nullOf(t vector.Type) *expr.Const { return &expr.Const{Value: vector.ConstNull(t)} }

func constFloat(f float64) *vector.Vector { return vector.ConstFloat(vector.FloatType, f) }
