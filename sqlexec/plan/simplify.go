package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Rewrites is a set of rewrites of plans. Tests turn them off and compare the answers.
type Rewrites uint8

// The rewrites.
const (
	// ConstantKeys takes constants out of the keys of an aggregation.
	ConstantKeys Rewrites = 1 << iota
	// DependentKeys computes keys that depend on other keys alone once for each group.
	DependentKeys
	// SharedSums makes sums that differ by constants one.
	SharedSums
	// OuterConditions moves conditions of ON on one side of a join below it.
	OuterConditions
	// NearestRows makes ASOF joins of correlated subqueries that pick the row with the nearest time.
	NearestRows
	// ManyValues makes semi and anti joins of IN with many values of a subquery.
	ManyValues

	// AllRewrites are all of them.
	AllRewrites = ConstantKeys | DependentKeys | SharedSums | OuterConditions | NearestRows | ManyValues
)

// does reports whether a rewrite is on.
func (o *optimizer) does(r Rewrites) bool { return o.without&r == 0 }

// simplify makes aggregations of a plan cheaper whose answers stay the same.
func (o *optimizer) simplify(n Node) Node {
	n = mapInputs(n, o.simplify)
	a, ok := n.(*Aggregate)
	if !ok {
		return n
	}
	if o.does(SharedSums) {
		out := *a
		out.Aggs = expr.ShareSums(a.Aggs)
		a = &out
	}
	return o.fewerKeys(a)
}

// fewerKeys takes keys out of an aggregation that other keys decide, and computes them for its groups. One key stays:
// without keys there is a group even of no rows.
func (o *optimizer) fewerKeys(a *Aggregate) Node {
	left, count := all(len(a.Keys)), len(a.Keys) // left are the keys that stay
	for i := len(a.Keys) - 1; i >= 0 && count > 1; i-- {
		rule := DependentKeys
		if expr.IsConst(a.Keys[i]) {
			rule = ConstantKeys
		}
		if left[i] = false; o.does(rule) && decided(a.Keys[i], a.Keys, left) {
			count--
		} else {
			left[i] = true
		}
	}
	if count == len(a.Keys) {
		return a
	}
	return a.withKeys(left)
}

// decided reports whether an expression depends on some of the keys alone.
func decided(e expr.Expr, keys []expr.Expr, left []bool) bool {
	if expr.Varies(e) {
		return false
	}
	known := true
	expr.EachColumn(overKeys(e, keys, left, func(int) int { return -1 }),
		func(c *expr.Column) { known = known && c.Index < 0 })
	return known
}

// overKeys puts columns in for the keys that are left among the parts of an expression: column at(i) for key i.
func overKeys(e expr.Expr, keys []expr.Expr, left []bool, at func(i int) int) expr.Expr {
	for i, k := range keys {
		if left[i] && exactGroups(k) && equal(k, e) {
			return &expr.Column{Index: at(i), Name: k.String(), T: k.Type(), Null: k.Nullable()}
		}
	}
	list := children(e)
	if len(list) == 0 {
		return e
	}
	out := make([]expr.Expr, len(list))
	for i, x := range list {
		out[i] = overKeys(x, keys, left, at)
	}
	return withChildren(e, out)
}

// exactGroups reports whether equal values of a key are the same value to every function: zeros with different signs
// are not, nor are intervals of one length.
func exactGroups(k expr.Expr) bool {
	t := k.Type()
	whole := t.IsInteger() || t.IsTimestamp() || t.ID == vector.TypeDate || t == vector.BoolType
	return (whole || t == vector.StringType) && !expr.Varies(k)
}

// withKeys is the aggregation by the keys that are left, with a projection that makes the others of them.
func (a *Aggregate) withKeys(left []bool) Node {
	in := &Aggregate{Input: a.Input, Aggs: a.Aggs}
	at := make([]int, len(a.Keys)) // the column of each key that is left
	for i, k := range a.Keys {
		if left[i] {
			at[i] = len(in.Keys)
			in.Keys, in.Cols = append(in.Keys, k), append(in.Cols, a.Cols[i])
		}
	}
	in.Cols = append(in.Cols, a.Cols[len(a.Keys):]...)
	p := &Project{Input: in, Cols: slices.Clone(a.Cols)}
	sc := &scope{cols: in.Cols}
	for i, k := range a.Keys {
		if left[i] {
			p.Exprs = append(p.Exprs, sc.column(at[i]))
		} else {
			p.Exprs = append(p.Exprs, overKeys(k, a.Keys, left, func(i int) int { return at[i] }))
		}
	}
	for i := range a.Aggs {
		p.Exprs = append(p.Exprs, sc.column(len(in.Keys)+i))
	}
	return p
}
