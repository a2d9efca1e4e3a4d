package plan

import "varve/sqlexec/expr"

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

// bounds are the columns of scans below the left side that hold its keys: the right side's keys bound them.
func (n *Join) bounds() (list []ScanBound) {
	for k, e := range n.LKeys {
		c, ok := e.(*expr.Column)
		if !ok {
			continue
		}
		if s, at := origin(n.L, c.Index); s != nil && s.Cols[at].Type == n.RKeys[k].Type() {
			list = append(list, ScanBound{Scan: s, At: at, Key: k})
		}
	}
	return list
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
