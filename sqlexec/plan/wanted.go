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
func (r *graphRun) bounded(s *Scan, at int) *scan.Bound {
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

// boundProbe gives the keys of a build side, as bounds, to scans of the probe side.
func (r *graphRun) boundProbe(j *exec.Join, bounds []ScanBound) {
	for _, to := range bounds {
		if b, ok := j.Bounds(to.Key); ok {
			r.bounded(to.Scan, to.At).Tighten(to.Scan.among(to.At, b))
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

// bounds is the column of a scan that yields the first key of an order with a limit: the first rows that are kept bound
// it. If it is the time index, the newest rows are read first, or the oldest.
func (n *Sort) bounds() (list []ScanBound, newest, oldest bool) {
	s, at, ok := firstKey(n)
	if !ok || s.Never || s.Rel.Table == nil || !orderable(s.Cols[at].Type) {
		return nil, false, false
	}
	byTime := s.isTime(at)
	return []ScanBound{{Scan: s, At: at}}, byTime && n.Keys[0].Desc, byTime && !n.Keys[0].Desc
}

// boundTop returns the receiver for the reach of the first rows of an order, which bounds a scan; nil if there is none.
func (r *graphRun) boundTop(n *Sort, sink *Stage) (tell func(reach *vector.Vector)) {
	for _, to := range sink.Bounds {
		b := r.bounded(to.Scan, to.At)
		w := r.wanted[to.Scan]
		w.newest, w.oldest, w.first = sink.Newest, sink.Oldest, int(n.Limit+n.Offset)
		if n.Limit+n.Offset == 0 {
			b.Tighten(scan.Range{From: 1, To: 0}, nil) // none
		}
		tell = func(reach *vector.Vector) { b.Tighten(to.Scan.within(to.At, n.Keys[0], reach)) }
	}
	return tell
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
