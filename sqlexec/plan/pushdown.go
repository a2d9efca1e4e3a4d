package plan

import (
	"slices"

	"varve/sqlexec/expr"
)

// push moves conditions down as far as they go: through projections of plain columns, below sorts and distincts, to
// the side of a join they belong to, and into scans as time ranges and filters. It gives the node that stands for
// Filter{n, conds}.
func (o *optimizer) push(n Node, conds []expr.Expr) Node {
	switch n := n.(type) {
	case *Filter:
		return o.push(n.Input, append(append([]expr.Expr(nil), n.Conds...), conds...))
	case *Scan:
		return o.pushScan(n, conds)
	case *Project:
		return o.pushProject(n, conds)
	case *Distinct, *Union:
		return o.pushThrough(n, conds)
	case *Sort:
		if n.Limit < 0 && n.Offset == 0 {
			return o.pushThrough(n, conds)
		}
	case *Aggregate:
		return o.pushAggregate(n, conds)
	case *Join:
		return o.pushJoin(n, conds)
	case *AsofJoin:
		return o.pushAsof(n, conds)
	case *Unnest:
		return o.pushUnnest(n, conds)
	case *Unpivot:
		return o.pushUnpivot(n, conds)
	}
	return filterOver(o.pushThrough(n, nil), conds)
}

// pushThrough moves conditions below a node that gives rows of its inputs as they are.
func (o *optimizer) pushThrough(n Node, conds []expr.Expr) Node {
	return mapInputs(n, func(in Node) Node { return o.push(in, conds) })
}

func filterOver(n Node, conds []expr.Expr) Node {
	if len(conds) == 0 {
		return n
	}
	return &Filter{Input: n, Conds: conds}
}

// pushProject moves conditions below a projection by putting its expressions in for its columns; those that would
// compute a call twice stay above.
func (o *optimizer) pushProject(p *Project, conds []expr.Expr) Node {
	var down, up []expr.Expr
	for _, c := range conds {
		plain := true
		expr.EachColumn(c, func(col *expr.Column) { plain = plain && cheap(p.Exprs[col.Index]) })
		if plain {
			down = append(down, substitute(c, p.Exprs))
		} else {
			up = append(up, c)
		}
	}
	return filterOver(p.over([]Node{o.push(p.Input, down)}), up)
}

func cheap(e expr.Expr) bool {
	switch e.(type) {
	case *expr.Column, *expr.Const:
		return true
	}
	return false
}

// pushAggregate moves conditions on keys alone below the aggregate.
func (o *optimizer) pushAggregate(a *Aggregate, conds []expr.Expr) Node {
	var down, up []expr.Expr
	for _, c := range conds {
		keys := len(a.Keys) > 0
		found := false
		expr.EachColumn(c, func(col *expr.Column) {
			found = true
			keys = keys && col.Index < len(a.Keys)
		})
		if keys && found {
			down = append(down, substitute(c, a.Keys))
		} else {
			up = append(up, c)
		}
	}
	return filterOver(a.over([]Node{o.push(a.Input, down)}), up)
}

// pushJoin moves conditions to the side whose columns alone they use, where the join kind lets them; equalities of
// both sides become keys.
func (o *optimizer) pushJoin(j *Join, conds []expr.Expr) Node {
	n := len(j.L.Columns())
	out := *j
	out.LKeys, out.RKeys = slices.Clip(j.LKeys), slices.Clip(j.RKeys)
	var left, right, up []expr.Expr
	for _, c := range conds {
		l, r := sides(c, n)
		switch {
		case j.Kind.semi() || l && !r && !j.Kind.fillsLeft():
			left = append(left, c)
		case !l && r && !j.Kind.fillsRight():
			right = append(right, shift(c, -n))
		case l && r && j.Kind.inner():
			if le, re, ok := equality(c, n); ok {
				out.Kind = InnerJoin
				out.LKeys, out.RKeys = append(out.LKeys, le), append(out.RKeys, shift(re, -n))
				continue
			}
			up = append(up, c)
		default:
			up = append(up, c)
		}
	}
	if j.Residual != nil && o.does(OuterConditions) {
		l, r := out.ownConditions(n)
		left, right = append(left, l...), append(right, r...)
	}
	return filterOver(out.over([]Node{o.push(j.L, left), o.push(j.R, right)}), up)
}

// ownConditions takes the conditions out of the residual that concern one side alone and may leave rows of it out: a
// side whose rows stay without a partner keeps them all. n is the number of columns of the left side.
func (j *Join) ownConditions(n int) (left, right []expr.Expr) {
	var rest []expr.Expr
	for _, c := range splitAnd(j.Residual, nil) {
		l, r := sides(c, n)
		switch {
		case expr.Varies(c):
			rest = append(rest, c)
		case l && !r && (j.Kind.inner() || j.Kind == RightJoin || j.Kind == LeftSemiJoin):
			left = append(left, c)
		case !l && r && j.Kind != RightJoin && j.Kind != FullJoin:
			right = append(right, shift(c, -n))
		default:
			rest = append(rest, c)
		}
	}
	if j.Residual = nil; len(rest) > 0 {
		j.Residual = expr.AllOf(rest)
	}
	return left, right
}
