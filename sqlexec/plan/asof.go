package plan

import (
	"slices"

	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// AsofJoin joins each row of the left side with the row of the right side that has equal keys and the nearest time:
// with Op ">=" the last row that is not later, with ">" the last earlier row, with "<=" and "<" the first row that is
// not earlier, or later. Both sides are sorted by keys and time, so that each row is read once.
type AsofJoin struct {
	L, R         Node
	Outer        bool // left rows without a partner stay
	LKeys, RKeys []expr.Expr
	LTime, RTime expr.Expr
	Op           expr.Op // LTime Op RTime
	// Ties order the right rows of equal keys and times: the last of them is the partner.
	Ties []expr.SortKey
	Cols []Column
}

// Columns are those of both sides.
func (n *AsofJoin) Columns() []Column { return n.Cols }

// backwards reports whether partners lie at or after a row's time: times are sorted falling then.
func (n *AsofJoin) backwards() bool { return n.Op.Order() < 0 }

// strict reports whether the partner's time must differ.
func (n *AsofJoin) strict() bool { return n.Op == n.Op.Strict() }

// asof binds ASOF [LEFT] JOIN. ON has equalities and one comparison by order; the last column of USING is the one that
// is compared by order.
func (b *binder) asof(l, r Node, t *parse.Join, out *outer) (Node, error) {
	n := &AsofJoin{L: l, R: r, Outer: t.Kind == parse.AsofLeftJoin, Cols: concat(l.Columns(), r.Columns())}
	var err error
	switch {
	case t.Natural:
		return nil, parse.PlaceError(planError("ASOF JOIN needs ON or USING"), t.At)
	case len(t.Using) > 0:
		err = b.asofUsing(n, t)
	default:
		err = b.asofOn(n, t, out)
	}
	if n.Outer {
		for i := len(l.Columns()); i < len(n.Cols); i++ {
			n.Cols[i].Nullable = true
		}
	}
	return n, err
}

func (b *binder) asofUsing(n *AsofJoin, t *parse.Join) error {
	j := &Join{Kind: InnerJoin, L: n.L, R: n.R, Cols: n.Cols}
	if err := b.using(j, t); err != nil {
		return err
	}
	last := len(j.LKeys) - 1
	n.LKeys, n.RKeys, n.LTime, n.RTime, n.Op = j.LKeys[:last], j.RKeys[:last], j.LKeys[last], j.RKeys[last],
		expr.GreaterEqual
	return nil
}

func (b *binder) asofOn(n *AsofJoin, t *parse.Join, out *outer) error {
	eb := &exprBinder{b: b, sc: &scope{cols: n.Cols, outer: out}, where: "ON"}
	cond, err := eb.bind(t.On)
	if err != nil {
		return err
	}
	if cond, err = b.boolean(cond, "ON"); err != nil {
		return err
	}
	width := len(n.L.Columns())
	for _, c := range splitAnd(cond, nil) {
		if l, r, ok := equality(c, width); ok {
			n.LKeys, n.RKeys = append(n.LKeys, l), append(n.RKeys, shift(r, -width))
			continue
		}
		l, r, op, ok := inequality(c, width)
		if !ok || n.Op != expr.NoOp {
			return parse.PlaceError(
				planError(
					"ON of ASOF JOIN takes equalities and one of >=, >, <= and < between columns of both tables, found %s", c), t.On.Position())
		}
		n.LTime, n.RTime, n.Op = l, shift(r, -width), op
	}
	if n.Op == expr.NoOp {
		return parse.PlaceError(
			planError("ON of ASOF JOIN needs one of >=, >, <= and < between columns of both tables"), t.On.Position())
	}
	return nil
}

// inequality reports whether c compares the order of the first n columns with that of the others, and gives the sides:
// l op r.
func inequality(c expr.Expr, n int) (l, r expr.Expr, op expr.Op, ok bool) {
	op, args := operator(c)
	if op.Order() == 0 {
		return nil, nil, expr.NoOp, false
	}
	l, r = args[0], args[1]
	ll, lr := sides(l, n)
	rl, rr := sides(r, n)
	switch {
	case ll && !lr && !rl && rr:
	case !ll && lr && rl && !rr:
		l, r, op = r, l, op.Flipped()
	default:
		return nil, nil, expr.NoOp, false
	}
	l, r, ok = oneUnit(l, r)
	return l, r, op, ok
}

// sorted puts a side of the join into the order that the join needs.
func (n *AsofJoin) sorted(in Node, keys []expr.Expr, time expr.Expr, ties []expr.SortKey) Node {
	s := &Sort{Input: in, Limit: -1}
	for _, k := range keys {
		s.Keys = append(s.Keys, expr.SortKey{Expr: k})
	}
	s.Keys = append(s.Keys, expr.SortKey{Expr: time, Desc: n.backwards(), NullsFirst: n.backwards()})
	s.Keys = append(s.Keys, ties...)
	return s
}

// pushAsof moves conditions on columns of the left side below the join. The right side gets those on the keys as well,
// and those on times that bound the times of partners.
func (o *optimizer) pushAsof(n *AsofJoin, conds []expr.Expr) Node {
	width := len(n.L.Columns())
	var left, right, up []expr.Expr
	for _, c := range conds {
		l, r := sides(c, width)
		if !l || r {
			up = append(up, c)
			continue
		}
		left = append(left, c)
		if x := n.implied(c); x != nil {
			right = append(right, x)
		}
	}
	return filterOver(n.over([]Node{o.push(n.L, left), o.push(n.R, right)}), up)
}

// implied is the condition on the right side that follows from one on left columns; nil: nothing.
func (n *AsofJoin) implied(c expr.Expr) expr.Expr {
	if !plainTest(c) {
		return nil
	}
	to := map[int]*expr.Column{}
	for k := range n.LKeys {
		l, lok := n.LKeys[k].(*expr.Column)
		r, rok := n.RKeys[k].(*expr.Column)
		if lok && rok && l.T == r.T {
			to[l.Index] = r
		}
	}
	l, lok := n.LTime.(*expr.Column)
	r, rok := n.RTime.(*expr.Column)
	if col, op, _, ok := columnOpConst(c); ok && lok && rok && col.Index == l.Index && l.T == r.T &&
		op.Order() == -n.Op.Order() {
		to[l.Index] = r
	}
	known := true
	expr.EachColumn(c, func(col *expr.Column) { known = known && to[col.Index] != nil })
	if !known {
		return nil
	}
	return mapColumns(c, func(col *expr.Column) expr.Expr { return to[col.Index] })
}

// plainTest reports whether a condition depends on nothing but the values of its columns.
func plainTest(c expr.Expr) bool {
	_, in := c.(*expr.In)
	return in || expr.OpOfCall(c).PlainTest()
}

func (o *optimizer) pruneAsof(n *AsofJoin, need []bool) (Node, []int) {
	width := len(n.L.Columns())
	l, lm := o.prune(n.L, widen(append([]bool(nil), need[:width]...), append(slices.Clone(n.LKeys), n.LTime)...))
	right := widen(append([]bool(nil), need[width:]...), append(slices.Clone(n.RKeys), n.RTime)...)
	r, rm := o.prune(n.R, widen(right, expr.KeyExprs(n.Ties)...))
	out := *n
	out.LKeys, out.RKeys, out.LTime, out.RTime = remapAll(n.LKeys, lm), remapAll(n.RKeys, rm), remap(n.LTime, lm),
		remap(n.RTime, rm)
	out.Ties = remapKeys(n.Ties, rm)
	out.L, out.R = out.sorted(l, out.LKeys, out.LTime, nil), out.sorted(r, out.RKeys, out.RTime, out.Ties)
	out.Cols = concat(l.Columns(), r.Columns())
	m := slices.Clone(lm)
	for _, at := range rm {
		if at >= 0 {
			at += len(l.Columns())
		}
		m = append(m, at)
	}
	for i, at := range m {
		if at >= 0 {
			out.Cols[at] = n.Cols[i]
		}
	}
	return &out, m
}

// spec is the join as it runs.
func (n *AsofJoin) spec() exec.AsofSpec {
	return exec.AsofSpec{LKeys: n.LKeys, RKeys: n.RKeys, LTime: n.LTime, RTime: n.RTime, Backwards: n.backwards(),
		Strict: n.strict(), Outer: n.Outer, Right: types(n.R.Columns())}
}
