package plan

import (
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// join runs one side into the join and probes with the other: the left side streams, unless the right one is much the
// larger.
func (r *runner) join(n *Join) (exec.Stream, error) {
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

// exchangeRows and exchangeTimes are how many rows the right side must have, and how many times those of the left one, to be
// streamed instead of kept. Below, the natural order of the left side is worth more.
const (
	exchangeRows  = 10_000
	exchangeTimes = 2
)

// keepsLeft tells whether the left side is the one to keep. It also is where a right join would otherwise keep a side
// that it gives in full.
func (n *Join) keepsLeft() bool {
	l, r := estimate(n.L), estimate(n.R)
	if n.Kind == RightJoin {
		return !(l > exchangeRows && l > exchangeTimes*r)
	}
	return r > exchangeRows && r > exchangeTimes*l
}

// hashJoin keeps the right side and streams the left one. Where probe rows without a partner leave nothing, the scans of
// their keys are told what keys there are.
func (r *runner) hashJoin(n *Join, kind exec.JoinKind) (exec.Stream, error) {
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
			r.bound(j, n)
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

// bound pushes what is known about the keys of the kept side down to the scans of the other side's keys.
func (r *runner) bound(j *exec.Join, n *Join) {
	for k, e := range n.LKeys {
		c, ok := e.(*expr.Column)
		if !ok {
			continue
		}
		s, at := origin(n.L, c.Index)
		if s == nil || s.Cols[at].Type != n.RKeys[k].Type() {
			continue
		}
		if b, ok := j.Bounds(k); ok {
			if r.bounds == nil {
				r.bounds = map[*Scan][]keyBounds{}
			}
			r.bounds[s] = append(r.bounds[s], keyBounds{s.Positions[at], b})
		}
	}
}

// keyBounds is what the column at a position of a scan's table can be in rows that count.
type keyBounds struct {
	position int
	exec.KeyBounds
}

// origin is the scan that column at of a node comes from unchanged, with its place there, such that rows of the scan with
// other values in it can be left out without changing rows of the node with this value; nil: there is none.
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

// narrowed is a scan's range and filter with what joins know about its columns.
func (r *runner) narrowed(n *Scan) (scan.Range, filter.And) {
	times, and := n.Time, n.Filter
	table := n.Rel.Table.Schema
	for _, b := range r.bounds[n] {
		col := table.Columns[b.position].ID
		lo, hi := b.Lo, b.Hi
		if b.Values != nil {
			lo, hi = constAt(b.Values, 0), constAt(b.Values, b.N-1)
		}
		if b.position == table.Time {
			times.From, times.To = max(times.From, lo.Int(0)), min(times.To, hi.Int(0))
			continue
		}
		if b.Values != nil {
			and = append(and[:len(and):len(and)], filter.Cond{Column: col, Op: filter.In, Args: b.Values, NArgs: b.N})
		} else {
			and = append(and[:len(and):len(and)],
				filter.Cond{Column: col, Op: filter.GreaterEqual, Args: lo.Flatten(1), NArgs: 1},
				filter.Cond{Column: col, Op: filter.LessEqual, Args: hi.Flatten(1), NArgs: 1})
		}
	}
	return times, and
}
