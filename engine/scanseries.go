package engine

import (
	"slices"

	"varve/engine/scan"
	"varve/engine/vector"
)

// Series walks the i-th of n disjoint ranges of series keys: keys rise, and the rows of a series are ordered by time. A
// physical table has a single range, and so has a table of one series.
func (s *Scan) Series(i, n int) (scan.Series, error) {
	w, err := s.series(i, n)
	if err == nil && s.spent.of != nil {
		w = &countedSeries{w, &s.spent}
	}
	return w, err
}

func (s *Scan) series(i, n int) (scan.Series, error) {
	spec := *s.spec
	switch {
	case s.physical != nil && i == 0:
		return &physicalSeries{s: s, runs: s.all}, nil
	case n > 1 && len(s.all) > 0 && s.physical == nil:
		ranges := s.cutKeys(s.all, n)
		if i >= len(ranges) {
			return emptySeries{}, nil
		}
		spec.Keys = ranges[i]
	case i > 0:
		return emptySeries{}, nil
	}
	if !s.oneSeries() {
		return s.walk(s.all, spec)
	}
	return &stretchSeries{s: s, spec: spec, left: s.stretches(s.all)}, nil
}

// walk walks runs by series. Several runs are merged. A single run without replaced rows is walked directly; it then
// tests all conditions itself and respects all bounds.
func (s *Scan) walk(runs []*scanRun, spec scan.Spec) (scan.Series, error) {
	if len(runs) != 1 || !s.asItIs(runs[0]) {
		return s.merge(runs, spec)
	}
	spec.Filter = slices.Concat(spec.Filter, s.above)
	return s.guard(runs)[0].Series(&spec)
}

// asItIs reports whether a run has no versions of rows that hide others of its own, or that come out in another form.
func (s *Scan) asItIs(r *scanRun) bool {
	return s.t.Options.AppendMode || r.part != nil && r.part.meta.Unique
}

// oneSeries reports whether all rows of the table belong to one series.
func (s *Scan) oneSeries() bool { return s.physical == nil && len(s.t.Tags) == 0 && s.t.Physical == 0 }

// stretchSeries walks the one series of a table stretch by stretch of time: runs that overlap no other there are read
// alone.
type stretchSeries struct {
	s     *Scan
	spec  scan.Spec
	left  []stretch
	walk  scan.Series // of the stretch at hand; nil: none
	begun bool
	asked []int64 // bytes that were requested of each of the first stretches that are left
	reach int     // bound of those of asked that are not 0
}

// Next moves to the only series.
func (w *stretchSeries) Next() ([]byte, bool, error) {
	if w.begun {
		w.left = nil
		return nil, false, nil
	}
	w.begun = true
	return w.next()
}

// next moves to the series in the next stretch that has rows of it.
func (w *stretchSeries) next() ([]byte, bool, error) {
	for w.Close(); len(w.left) > 0; w.Close() {
		w.reachOut()
		at := w.left[0]
		w.left = w.left[1:]
		if len(w.asked) > 0 {
			w.asked = w.asked[1:]
		}
		spec := w.spec
		spec.Time = spec.Time.And(at.span)
		if spec.Time.From > spec.Time.To {
			continue
		}
		var err error
		if w.walk, err = w.s.walk(at.runs, spec); err != nil {
			w.walk = nil
			return nil, false, err
		}
		if key, ok, err := w.walk.Next(); ok || err != nil {
			return key, ok, err
		}
	}
	return nil, false, nil
}

// Rows fills b with the next rows.
func (w *stretchSeries) Rows(b *vector.Batch) (bool, error) {
	for w.walk != nil {
		if ok, err := w.walk.Rows(b); ok || err != nil {
			return ok, err
		}
		if _, _, err := w.next(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// Close ends the walk of the stretch at hand.
func (w *stretchSeries) Close() {
	if w.walk != nil {
		w.walk.Close()
		w.walk = nil
	}
}

type emptySeries struct{}

func (emptySeries) Next() ([]byte, bool, error)      { return nil, false, nil }
func (emptySeries) Rows(*vector.Batch) (bool, error) { return false, nil }
func (emptySeries) Close()                           {}

// seriesCursor is a walk as a cursor over its rows.
type seriesCursor struct {
	w    scan.Series
	done bool // the current series has no more rows
}

func (c *seriesCursor) Next(b *vector.Batch) (bool, error) {
	for {
		if c.done {
			if _, ok, err := c.w.Next(); err != nil || !ok {
				return false, err
			}
			c.done = false
		}
		ok, err := c.w.Rows(b)
		if err != nil {
			return false, err
		}
		if ok {
			return true, nil
		}
		c.done = true
	}
}

func (c *seriesCursor) Close() { c.w.Close() }
