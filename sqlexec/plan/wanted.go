package plan

import (
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
)

// wanted is what operators want of a scan.
type wanted struct {
	bounds []*scan.Bound
	newest bool // the newest rows first
	oldest bool // the oldest rows first
	first  int  // rows of them; 0: not known
}

// bounded gives a scan a bound on its column at and returns the bound: the caller tightens it as the query runs.
func (r *planRun) bounded(s *Scan, at int) *scan.Bound {
	if r.wanted == nil {
		r.wanted = map[*Scan]*wanted{}
	}
	w := r.wanted[s]
	if w == nil {
		w = &wanted{}
		r.wanted[s] = w
	}
	b := &scan.Bound{Column: s.Rel.Table.Schema.Columns[s.Positions[at]].ID}
	w.bounds = append(w.bounds, b)
	return b
}

// boundProbe gives the keys of the kept side, as a bound, to the scans of a join's streamed side.
func (r *planRun) boundProbe(j *exec.Join, n *Join) {
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
			r.bounded(s, at).Tighten(s.among(at, b))
		}
	}
}

// among returns the place of rows, and the conditions that they pass, whose column at equals one of the keys of a join.
func (s *Scan) among(at int, b exec.KeyBounds) (scan.Range, filter.And) {
	lo, hi := b.Lo, b.Hi
	if b.Values != nil {
		lo, hi = constAt(b.Values, 0), constAt(b.Values, b.N-1)
	}
	column := s.Rel.Table.Schema.Columns[s.Positions[at]].ID
	switch {
	case s.isTime(at):
		return scan.Range{From: lo.Int(0), To: hi.Int(0)}, nil
	case b.Values != nil:
		return scan.All, filter.And{{Column: column, Op: filter.In, Args: b.Values, NArgs: b.N}}
	}
	return scan.All, filter.And{
		{Column: column, Op: filter.GreaterEqual, Args: lo.Flatten(1), NArgs: 1},
		{Column: column, Op: filter.LessEqual, Args: hi.Flatten(1), NArgs: 1},
	}
}

// boundTop bounds the scan that yields the first key of an order with a limit. If that key is the time index, the scan
// reads the newest rows first, or the oldest. It returns the receiver for the reach of the first rows; nil if
// there is none.
func (r *planRun) boundTop(n *Sort) (tell func(reach *vector.Vector)) {
	s, at, ok := firstKey(n)
	if !ok || s.Never || s.Rel.Table == nil || !orderable(s.Cols[at].Type) {
		return nil
	}
	b := r.bounded(s, at)
	if s.isTime(at) {
		w := r.wanted[s]
		w.newest, w.oldest, w.first = n.Keys[0].Desc, !n.Keys[0].Desc, int(n.Limit+n.Offset)
	}
	if n.Limit+n.Offset == 0 {
		b.Tighten(scan.Range{From: 1, To: 0}, nil) // none
	}
	return func(reach *vector.Vector) { b.Tighten(s.within(at, n.Keys[0], reach)) }
}

// within returns the place of rows, and the conditions that they pass, whose column at is not beyond value in an order.
func (s *Scan) within(at int, key expr.SortKey, value *vector.Vector) (scan.Range, filter.And) {
	if s.isTime(at) {
		if key.Desc {
			return scan.Range{From: value.Int(0), To: scan.All.To}, nil
		}
		return scan.Range{From: scan.All.From, To: value.Int(0)}, nil
	}
	c := filter.Cond{Column: s.Rel.Table.Schema.Columns[s.Positions[at]].ID, Op: filter.LessEqual, Args: value,
		NArgs: 1}
	if key.Desc {
		c.Op = filter.GreaterEqual
	}
	if !key.NullsFirst || !s.Cols[at].Nullable {
		return scan.All, filter.And{c}
	}
	return scan.All, filter.And{{Op: filter.AnyOf, Any: []filter.And{{c}, {{Column: c.Column, Op: filter.IsNull}}}}}
}

// isTime reports whether column at is the table's time index.
func (s *Scan) isTime(at int) bool { return s.Positions[at] == s.Rel.Table.Schema.Time }
