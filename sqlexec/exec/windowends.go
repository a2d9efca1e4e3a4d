package exec

import (
	"math"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// frameEnd finds one end of the frames of one row after another.
type frameEnd struct {
	bound  FrameBound
	mode   string
	behind bool  // it is the end behind the frame
	peers  peers // for ends at groups of peers
	key    cursor
}

// keyed reports whether the end is a value of the order key.
func (e *frameEnd) keyed() bool { return e.bound.Target > 0 }

// placed reports whether the end depends on more than the number of the row.
func (e *frameEnd) placed() bool { return e.mode != "rows" && !e.bound.Unbounded }

func (e *frameEnd) begin(p *partition) {
	switch {
	case e.keyed():
		e.key.begin(p)
	case e.placed():
		e.peers.begin(p)
	}
}

// of is the end of the frame of row i, where r is: the first row of the frame, or the first one behind it. It may lie
// behind the partition.
func (e *frameEnd) of(r *framer, i int) (int, error) {
	step := int64(0)
	if e.behind {
		step = 1
	}
	switch {
	case e.bound.Unbounded && e.behind:
		return math.MaxInt, nil
	case e.bound.Unbounded:
		return 0, nil
	case !e.placed():
		return placeAfter(i, satAdd(e.bound.Offset, step)), nil
	case !e.keyed():
		return e.peers.start(placeAfter(r.group, satAdd(e.bound.Offset, step)))
	}
	if !r.here.page.cols[0].IsNull(r.here.row()) {
		return e.place(r)
	}
	switch { // a row without a key has its peers around it
	case !e.behind:
		return r.first, nil
	case !r.order[0].NullsFirst:
		return math.MaxInt, nil
	}
	return e.past(func() bool { return e.key.page.cols[0].IsNull(e.key.row()) })
}

// past goes on past the rows for which f holds.
func (e *frameEnd) past(f func() bool) (int, error) {
	for {
		if ok, err := e.key.stand(); err != nil || !ok || !f() {
			return e.key.at, err
		}
		e.key.at++
		if err := e.key.p.ran(1); err != nil {
			return 0, err
		}
	}
}

// place is the first row whose key is not before the target of r's row, or the first whose key comes after it. Targets
// nearly always rise with the rows. They do not where months end: that of 31 January may be before that of the 30th.
func (e *frameEnd) place(r *framer) (int, error) {
	target, row, key, sign := r.here.page.cols[r.targets+e.bound.Target-1], r.here.row(), r.here.page.cols[0], 1
	if r.order[0].Desc {
		sign = -1
	}
	wrapped := e.bound.Side != 0 && sign*expr.Compare(target, row, key, row)*e.bound.Side < 0
	before := func() bool {
		key := e.key.page.cols[0]
		switch {
		case key.IsNull(e.key.row()):
			return r.order[0].NullsFirst
		case wrapped: // the target lies farther out than any number
			return e.bound.Side > 0
		}
		d := sign * expr.Compare(key, e.key.row(), target, row)
		return d < 0 || d == 0 && e.behind
	}
	from := e.key.at
	if at, err := e.past(before); err != nil || at > from || !r.f.mayGoBack(r.order) {
		return at, err
	}
	return e.back(before)
}

// back goes to the first of the rows up to here that are not before the target.
func (e *frameEnd) back(before func() bool) (int, error) {
	for e.key.at > 0 {
		e.key.at--
		ok, err := e.key.stand()
		if err != nil {
			return 0, err
		}
		if ok && before() {
			e.key.at++
			break
		}
		if err := e.key.p.ran(1); err != nil {
			return 0, err
		}
	}
	return e.key.at, nil
}

// placeAfter is the place that lies so far after another, the first one at least.
func placeAfter(i int, d int64) int { return int(max(satAdd(d, int64(i)), 0)) }

func satAdd(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// mayGoBack reports whether a frame may begin or end before that of the row before it: an interval of months was added
// to the key.
func (f *WindowFunc) mayGoBack(order []expr.SortKey) bool {
	return f.Targets > 0 && (order[0].Expr.Type().IsTimestamp() || order[0].Expr.Type().ID == vector.TypeDate)
}
