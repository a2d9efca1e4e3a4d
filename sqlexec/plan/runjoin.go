package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// join runs one side into the join and probes with the other: the left side streams, unless the right side is much
// larger.
func (r *planRun) join(n *Join) (exec.Stream, error) {
	kind := joinKinds[n.Kind]
	if !n.keepsLeft() {
		return r.hashJoin(n, kind.keepsRight)
	}
	x, to := n.exchanged()
	s, err := r.hashJoin(x, kind.keepsLeft)
	if err != nil || n.Kind.semi() {
		return s, err
	}
	list := make([]expr.Expr, len(n.Cols))
	for i, c := range n.Cols {
		list[i] = &expr.Column{Index: to[i], Name: c.Name, T: c.Type, Null: true}
	}
	op, err := exec.Project(list, r.budget)
	return s.With(op), err
}

// The right side is streamed instead of kept if it has more than exchangeRows rows, and more than exchangeTimes as many
// as the left side. For fewer rows the natural order of the left side is worth more.
const (
	exchangeRows  = 10_000
	exchangeTimes = 2
)

// keepsLeft reports whether the left side is the one to keep. A right join keeps it by default, as it gives the right
// side in full.
func (n *Join) keepsLeft() bool {
	l, r := estimate(n.L), estimate(n.R)
	if n.Kind == RightJoin {
		return !(l > exchangeRows && l > exchangeTimes*r)
	}
	return r > exchangeRows && r > exchangeTimes*l
}

// hashJoin keeps the right side and streams the left side. If probe rows without a partner are dropped, the scans of
// their keys get the existing keys as a bound.
func (r *planRun) hashJoin(n *Join, kind exec.JoinKind) (exec.Stream, error) {
	j, err := exec.NewJoin(exec.JoinSpec{
		Kind: kind, Probe: n.LKeys, Build: n.RKeys, Residual: n.Residual, NullEqual: n.NullEqual, Budget: r.budget,
		ProbeTypes: types(n.L.Columns()), BuildTypes: types(n.R.Columns()),
	})
	if err != nil {
		return exec.Stream{}, err
	}
	b, err := r.build(n.R)
	if err != nil {
		return b, err
	}
	if _, err = r.finish(b, j.Build(), false); err != nil {
		return b, err
	}
	probe := n.L
	if kind.NeedsPartner() {
		if j.Empty() {
			probe = &Values{Cols: n.L.Columns(), Batch: vector.NewBatch(types(n.L.Columns())...)}
		} else {
			r.boundProbe(j, n)
		}
	}
	s, err := r.build(probe)
	s.Several = true
	return s.With(j.Probe()), err
}

// exchanged is the join with its sides exchanged; to says where each column of the join is then.
func (n *Join) exchanged() (out *Join, to []int) {
	l, r := len(n.L.Columns()), len(n.R.Columns())
	to = make([]int, l+r)
	for i := range to {
		to[i] = i + r
		if i >= l {
			to[i] = i - l
		}
	}
	out = &Join{Kind: n.Kind, L: n.R, R: n.L, LKeys: n.RKeys, RKeys: n.LKeys, NullEqual: n.NullEqual}
	if n.Residual != nil {
		out.Residual = remap(n.Residual, to)
	}
	return out, to
}

// origin is the scan from which column at of a node comes unchanged, and its place there; nil: there is none. The rows
// of the node with a value in this column depend only on the rows of the scan with the same value.
func origin(n Node, at int) (*Scan, int) {
	switch n := n.(type) {
	case *Scan:
		if n.Rel.Table != nil && !n.Never {
			return n, at
		}
	case *Filter:
		return origin(n.Input, at)
	case *Project:
		if c, ok := n.Exprs[at].(*expr.Column); ok {
			return origin(n.Input, c.Index)
		}
	case *Aggregate:
		if at < len(n.Keys) {
			if c, ok := n.Keys[at].(*expr.Column); ok {
				return origin(n.Input, c.Index)
			}
		}
	case *Distinct:
		return origin(n.Input, at)
	case *Sort:
		if n.Limit < 0 && n.Offset == 0 {
			return origin(n.Input, at)
		}
	case *Join:
		l := len(n.L.Columns())
		switch {
		case at < l && !n.Kind.fillsLeft():
			return origin(n.L, at)
		case at >= l && !n.Kind.fillsRight():
			return origin(n.R, at-l)
		}
	}
	return nil, 0
}
