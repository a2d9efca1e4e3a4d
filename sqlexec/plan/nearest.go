package plan

import (
	"math"
	"slices"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// A correlated subquery that picks one row by its nearest time, SELECT .. WHERE r.k = l.k AND r.ts <= l.ts ORDER BY
// r.ts DESC LIMIT 1, is an ASOF join: each side is sorted once, instead of one search for each row of the query around
// it (correlated.go).

// nearestRow is such a subquery, joined to the rows around it.
type nearestRow struct {
	join  *AsofJoin
	items []expr.Expr // of the select list, over the columns of the join
	check []expr.Expr // what the row that the join finds must meet, over the columns of the join
}

// nearestRuns is the number of rows of a subquery's tables that can be sorted in the time of one search. Measured: a
// search takes 40 us, a row of a sort 0.15 us.
const nearestRuns = 200

// nearestRow joins the rows of in with the rows that a subquery picks; nil: the subquery is another one, or few
// searches cost less. Errors are left to the search, for which the columns around are constants: an integer may be a
// time then.
func (b *binder) nearestRow(in Node, q *parse.Query, sc *scope) *nearestRow {
	if b.st.Without&NearestRows != 0 || !isOne(q.Limit) || q.Offset != nil || len(q.OrderBy) == 0 || volatileIn(q) {
		return nil
	}
	rows := *q
	rows.OrderBy, rows.Limit = nil, nil
	s, err := b.inside(&rows, sc)
	if err != nil || s == nil || len(s.conds) == 0 || s.sel.Distinct {
		return nil
	}
	sel := &selection{b: b, s: s.sel, sc: s.sc, eb: s.eb(b), node: s.node}
	sel.items, err = b.items(s.sel, s.sc)
	if err != nil || slices.ContainsFunc(sel.clauses(q), severalRows) {
		return nil
	}
	n := &nearestRow{join: &AsofJoin{L: in, R: s.node, Cols: concat(in.Columns(), s.node.Columns())}}
	if !sel.nearestItems(n) {
		return nil
	}
	order := sel.nearestOrder(q, n)
	if order == nil || !n.conditions(b.ctx, order, s.conds) || !b.worthSorting(n.join) {
		return nil
	}
	n.place()
	return n
}

// isOne reports whether an expression is the literal 1.
func isOne(x parse.Expr) bool {
	lit, ok := x.(*parse.Literal)
	return ok && lit.Kind == parse.NumberLiteral && lit.Text == "1"
}

// volatileIn reports whether a query has a volatile function anywhere.
func volatileIn(q *parse.Query) (found bool) {
	parse.WalkQuery(q, func(x parse.Expr) bool {
		c, ok := x.(*parse.Call)
		found = found || ok && expr.IsVolatile(c.Name)
		return !found
	})
	return found
}

// severalRows reports whether an expression depends on other rows than the one at hand, or on a subquery.
func severalRows(x parse.Expr) bool {
	several := hasAggregate(x) || hasWindow(x) || len(correlatedIn(x)) > 0
	parse.Walk(x, func(y parse.Expr) bool {
		several = several || isUnnest(y) || isGrouping(y)
		return !several
	})
	return several
}

// nearestItems binds the select list over the columns of the subquery, those of the query around it behind them; false:
// it cannot.
func (sel *selection) nearestItems(n *nearestRow) bool {
	for i, it := range sel.items {
		e, err := aliased(sel.eb, sel.sc, sel.items[:i]).bind(it.x)
		if err != nil {
			return false
		}
		n.items = append(n.items, e)
	}
	return true
}

// nearestOrder binds ORDER BY: the first key is the time, the others decide between rows of equal time. It returns the
// first; nil: it is no column of the subquery.
func (sel *selection) nearestOrder(q *parse.Query, n *nearestRow) *expr.SortKey {
	var first *expr.SortKey
	width := len(sel.node.Columns())
	for _, o := range q.OrderBy {
		it, _, err := sel.position(o.X, "ORDER BY")
		if it == nil && err == nil {
			it = sel.aliasOf(o.X)
		}
		x := o.X
		if it != nil {
			x = it.x
		}
		e, err2 := sel.bindAliased(x)
		if err != nil || err2 != nil {
			return nil
		}
		if expr.IsConst(e) {
			continue
		}
		if _, around := sides(e, width); around {
			return nil
		}
		if first == nil {
			first = &expr.SortKey{Expr: e, Desc: o.Desc}
			continue
		}
		// The join takes the last of equal rows, ORDER BY the first.
		n.join.Ties = append(n.join.Ties, expr.SortKey{Expr: e, Desc: !o.Desc, NullsFirst: !o.NullsFirst()})
	}
	if first == nil {
		return nil
	}
	if _, ok := first.Expr.(*expr.Column); !ok || !timeLike(first.Expr) {
		return nil
	}
	return first
}

// timeLike reports whether the values of an expression have one order to comparisons and to sorts.
func timeLike(e expr.Expr) bool {
	t := e.Type()
	return exactGroups(e) && (t.IsInteger() || t.IsTimestamp() || t.ID == vector.TypeDate)
}

// conditions makes the join's condition of those that refer to the query around: equalities, and one comparison of the
// time that agrees with the order. Another comparison of the time, in the other direction, is checked on the row that
// is found: where that row does not meet it, no row does. So is what concerns the row around alone. false: there are
// others.
func (n *nearestRow) conditions(ctx *expr.Context, order *expr.SortKey, conds []expr.Expr) bool {
	j, width := n.join, len(n.join.R.Columns())
	for _, c := range conds {
		if expr.Varies(c) {
			return false
		}
		if r, l, ok := equality(c, width); ok {
			if r.Type() != l.Type() || !exactGroups(r) || !exactGroups(l) {
				return false
			}
			j.LKeys, j.RKeys = append(j.LKeys, shift(l, -width)), append(j.RKeys, r)
			continue
		}
		if inside, _ := sides(c, width); !inside {
			n.check = append(n.check, c)
			continue
		}
		r, l, op, ok := bound(c, width)
		if !ok || !timeLike(r) || !timeLike(l) || !sameOrder(r, order.Expr) {
			return false
		}
		switch {
		case order.Desc != (op.Order() < 0):
			n.check = append(n.check, c)
		case j.Op != expr.NoOp || !n.nearest(ctx, order, r, op, shift(l, -width)):
			return false
		}
	}
	return j.Op != expr.NoOp
}

// bound takes a comparison of the time r of the subquery with a time l of the query around it apart: r op l, in the
// types that they have.
func bound(c expr.Expr, width int) (r, l expr.Expr, op expr.Op, ok bool) {
	if _, _, op, ok = inequality(c, width); !ok {
		return nil, nil, op, false
	}
	_, args := operator(c)
	r, l = args[0], args[1]
	if inside, _ := sides(r, width); !inside {
		r, l = l, r
	}
	return r, l, op, true
}

// nearest makes r op l the comparison of the join. Times in different units are compared in the coarser one, in which a
// time is cut off, where this decides the same. Else an l that the finer unit does not reach lies behind all times of
// it, or has no partner. false: the types cannot be compared so.
func (n *nearestRow) nearest(ctx *expr.Context, order *expr.SortKey, r expr.Expr, op expr.Op,
	l expr.Expr) bool {
	var err error
	from, to := l.Type(), r.Type()
	switch {
	case from == to:
	case !from.IsTimestamp() || !to.IsTimestamp():
		return false
	case from.UnitsPerSecond() > to.UnitsPerSecond() && (op == expr.LessEqual || op == expr.Greater):
		l, err = ctx.Cast(l, to, false)
	case from.UnitsPerSecond() < to.UnitsPerSecond() && (op == expr.Less || op == expr.GreaterEqual):
		n.join.Ties = append([]expr.SortKey{{Expr: r, Desc: !order.Desc}}, n.join.Ties...)
		r, err = ctx.Cast(r, from, false)
	case from.UnitsPerSecond() < to.UnitsPerSecond() && op == expr.LessEqual:
		l, err = reaching(ctx, l, to)
	default:
		return false
	}
	n.join.LTime, n.join.RTime, n.join.Op = l, r, op.Flipped()
	return err == nil
}

// reaching is a time in a finer unit: the last time of this unit where it lies behind that, NULL where it lies before
// the first.
func reaching(ctx *expr.Context, e expr.Expr, t vector.Type) (expr.Expr, error) {
	last, ok := convert.Scale(math.MaxInt64, t.UnitsPerSecond(), e.Type().UnitsPerSecond())
	behind, err := ctx.Call(expr.Greater.String(), e, &expr.Const{Value: vector.ConstInt(e.Type(), last)})
	if err != nil || !ok {
		return nil, err
	}
	fits, err := ctx.Cast(e, t, true)
	if err != nil {
		return nil, err
	}
	return ctx.Case([]expr.Expr{behind}, []expr.Expr{&expr.Const{Value: vector.ConstInt(t, math.MaxInt64)}}, fits)
}

// sameOrder reports whether an expression is a column, or the same number in a wider type.
func sameOrder(e, column expr.Expr) bool {
	if c, ok := e.(*expr.Cast); ok && c.To.IsInteger() && c.Arg.Type().IsInteger() {
		e = c.Arg
	}
	return equal(e, column)
}

// worthSorting reports whether a join costs less than a search for each row of its left side.
func (b *binder) worthSorting(j *AsofJoin) bool {
	around := estimate(Optimize(b.ctx, j.L, b.st.Without))
	return estimate(Optimize(b.ctx, j.R, b.st.Without)) <= nearestRuns*max(1, around)
}

// place moves the items and checks to the columns of the join, where the row around comes first.
func (n *nearestRow) place() {
	l, r := len(n.join.L.Columns()), len(n.join.R.Columns())
	to := make([]int, l+r)
	for i := range to {
		to[i] = i + l
		if i >= r {
			to[i] = i - r
		}
	}
	n.items, n.check = remapAll(n.items, to), remapAll(n.check, to)
}

// found is the value of an item of the select list: NULL where no row was found.
func (n *nearestRow) found(b *binder, i int) (expr.Expr, error) {
	if c, ok := n.items[i].(*expr.Column); ok && len(n.check) == 0 && c.Index >= len(n.join.L.Columns()) {
		out := *c
		out.Null = true
		return &out, nil
	}
	at := n.join.RTime
	if c, ok := at.(*expr.Cast); ok {
		at = c.Arg
	}
	is, err := b.ctx.Call("is not null", shift(at, len(n.join.L.Columns())))
	if err != nil {
		return nil, err
	}
	return b.ctx.Case([]expr.Expr{expr.AllOf(append([]expr.Expr{is}, n.check...))}, []expr.Expr{n.items[i]}, nil)
}

// liftNearest makes a column of a scalar subquery that picks the row with the nearest time; nil: it is another one.
func (sel *selection) liftNearest(x *parse.Subquery) (*expr.Column, error) {
	b, in, sc := sel.b, sel.node, sel.eb.sc
	n := b.nearestRow(in, x.Query, sc)
	if n == nil || len(n.items) != 1 {
		return nil, nil
	}
	n.join.Outer = true
	value, err := n.found(b, 0)
	if err != nil {
		return nil, err
	}
	p := &Project{Input: n.join, Cols: concat(in.Columns(), nil)}
	isc := &scope{cols: n.join.Cols}
	for i := range p.Cols {
		p.Exprs = append(p.Exprs, isc.column(i))
	}
	c := Column{Name: parse.PrintExpr(x), Type: value.Type(), Nullable: true, Shadow: true}
	p.Exprs, p.Cols = append(p.Exprs, value), append(p.Cols, c)
	sel.node = p
	return &expr.Column{Index: len(p.Cols) - 1, Name: c.Name, T: c.Type, Null: true}, nil
}

// lateralNearest joins a lateral subquery that picks the row with the nearest time; nil: it is another one. shape has
// its columns, kind is inner or left.
func (b *binder) lateralNearest(in Node, q *parse.Query, shape Node, sc *scope, kind JoinKind) (Node, error) {
	n := b.nearestRow(in, q, sc)
	if n == nil {
		return nil, nil
	}
	width, cols := len(in.Columns()), concat(in.Columns(), shape.Columns())
	p := &Project{Cols: cols}
	isc := &scope{cols: n.join.Cols}
	for i := range width {
		p.Exprs = append(p.Exprs, isc.column(i))
	}
	for i, e := range n.items {
		if kind == LeftJoin {
			cols[width+i].Nullable = true
			var err error
			if e, err = n.found(b, i); err != nil {
				return nil, err
			}
		}
		if len(cols) <= width+i || e.Type() != cols[width+i].Type {
			return nil, nil
		}
		p.Exprs = append(p.Exprs, e)
	}
	if n.join.Outer = kind == LeftJoin; n.join.Outer {
		p.Input = n.join
	} else {
		p.Input = filterOver(n.join, n.check)
	}
	return p, nil
}
