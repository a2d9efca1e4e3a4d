package plan

import (
	"varve/engine/status"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// subqueriesOn answers the correlated subqueries of an ON condition. Where the join is an inner one, or one refers to
// both sides, the whole condition comes back as after: it is decided over the joined rows. Else each subquery becomes a
// hidden column of the one side whose columns it refers to; l and r are the sides with these columns, decided finds
// them in the joined row.
func (b *binder) subqueriesOn(l, r Node, kind JoinKind, on parse.Expr, out *outer) (_, _ Node,
	decided map[parse.Expr]*expr.Column, after parse.Expr, err error) {
	width := len(l.Columns())
	sc := &scope{cols: concat(l.Columns(), r.Columns()), outer: out}
	lsel := &selection{b: b, node: l, eb: &exprBinder{b: b, sc: &scope{cols: l.Columns(), outer: out}}}
	rsel := &selection{b: b, node: r, eb: &exprBinder{b: b, sc: &scope{cols: r.Columns(), outer: out}}}
	decided = map[parse.Expr]*expr.Column{}
	var right []*expr.Column
	parse.Walk(on, func(x parse.Expr) bool {
		query := parse.QueryOf(x)
		if query == nil || err != nil || after != nil {
			return err == nil && after == nil
		}
		var o *outer
		if _, o, err = b.probe(query, sc); err != nil || len(o.used) == 0 {
			return false
		}
		if kind.inner() {
			after = on
			return false
		}
		used := map[int]bool{}
		if err = b.usedBy(x, sc, used); err != nil {
			return false
		}
		switch left, other := within(used, 0, width), within(used, width, len(sc.cols)); {
		case left:
			decided[x], err = lsel.liftOne(x)
		case other:
			if decided[x], err = rsel.liftOne(x); err == nil {
				right = append(right, decided[x])
			}
		default:
			after = on
			return false
		}
		err = parse.PlaceError(err, x.Position())
		return false
	})
	if after != nil {
		return l, r, nil, after, err
	}
	for _, c := range right {
		c.Index += len(lsel.node.Columns())
	}
	return lsel.node, rsel.node, decided, after, err
}

// usedBy notes the columns of sc that an expression with subqueries refers to.
func (b *binder) usedBy(x parse.Expr, sc *scope, used map[int]bool) error {
	if _, err := b.beside(&outer{scope: sc, used: used}).bind(x); err != nil && status.Of(err) != status.Unsupported {
		return err
	}
	return nil
}

// within reports whether all that is used lies in [from, to).
func within(used map[int]bool, from, to int) bool {
	for i := range used {
		if i < from || i >= to {
			return false
		}
	}
	return true
}

// outerWhere is a join that is no inner one, with an ON that has subqueries which refer to both sides: the pairs for
// which ON is true, and the rows of a side that are in none of them. These are told by their values: of equal rows
// either all have a partner or none has. Each side is read once for the pairs and once for itself.
func (b *binder) outerWhere(j *Join, on parse.Expr, out *outer) (Node, error) {
	kind, l, r := j.Kind, j.L, j.R
	pairs := *j
	pairs.Cols = concat(l.Columns(), r.Columns())
	found, err := b.joinWhere(&pairs, on, out)
	if err != nil {
		return nil, err
	}
	width := len(l.Columns())
	if kind.semi() {
		return among(kind, l, found, 0), nil
	}
	all := &Union{Inputs: []Node{found}, Cols: j.Cols}
	if kind.fillsRight() {
		all.Inputs = append(all.Inputs, padded(among(LeftAntiJoin, l, found, 0), j.Cols, 0))
	}
	if kind.fillsLeft() {
		all.Inputs = append(all.Inputs, padded(among(LeftAntiJoin, r, found, width), j.Cols, width))
	}
	return all, nil
}

// among joins rows to pairs. The rows are one side of the pairs, and their columns begin at the given one.
func among(kind JoinKind, side, pairs Node, at int) Node {
	j := &Join{Kind: kind, L: side, R: pairs, Cols: append([]Column(nil), side.Columns()...), NullEqual: true}
	sc, psc := &scope{cols: j.Cols}, &scope{cols: pairs.Columns()}
	for i := range j.Cols {
		j.LKeys, j.RKeys = append(j.LKeys, sc.column(i)), append(j.RKeys, psc.column(at+i))
	}
	return j
}

// padded returns the rows of a side as rows of a join, NULL in the columns of the other side.
func padded(side Node, cols []Column, at int) Node {
	p := &Project{Input: side, Cols: append([]Column(nil), cols...)}
	sc := &scope{cols: side.Columns()}
	for i, c := range cols {
		if i >= at && i < at+len(sc.cols) {
			p.Exprs = append(p.Exprs, sc.column(i-at))
		} else {
			p.Exprs = append(p.Exprs, nullOf(c.Type))
		}
	}
	return p
}

// joinWhere keeps the rows of an inner join for which ON, which has correlated subqueries, is true. Its other
// conditions are conditions of the join.
func (b *binder) joinWhere(j *Join, on parse.Expr, out *outer) (Node, error) {
	j.Kind = InnerJoin
	sc := &scope{cols: j.Cols, outer: out}
	var plain, hard []parse.Expr
	for _, c := range conjuncts(on, nil) {
		used := false
		for _, q := range correlatedIn(c) {
			_, o, err := b.probe(q, sc)
			if err != nil {
				return nil, err
			}
			used = used || len(o.used) > 0
		}
		if used {
			hard = append(hard, c)
		} else {
			plain = append(plain, c)
		}
	}
	eb := &exprBinder{b: b, sc: sc, where: "ON"}
	var conds []expr.Expr
	for _, c := range plain {
		e, err := eb.bind(c)
		if err != nil {
			return nil, err
		}
		if e, err = b.boolean(e, "ON"); err != nil {
			return nil, err
		}
		conds = append(conds, splitAnd(e, nil)...)
	}
	if err := b.joinOn(j, conds); err != nil {
		return nil, err
	}
	var n Node = j
	for _, c := range hard {
		var err error
		if n, err = b.apply(n, sc, c); err != nil {
			return nil, err
		}
	}
	return n, nil
}
