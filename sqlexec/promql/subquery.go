package promql

import (
	"context"

	"varve/sqlexec/promql/histogram"
)

// subqueryGrid is the steps of a subquery for the windows of all steps of a grid: multiples of its resolution. n is 0
// when there is none.
func (e *evaluator) subqueryGrid(n *subqueryNode, g grid) grid {
	c := clockOf(g, n.at, n.offset)
	step := n.stepMS
	if step == 0 {
		step = e.subqueryStep
	}
	first, last := c.bounds()
	from := first - n.rangeMS
	start := from - from%step // towards zero
	if start <= from {
		start += step
	}
	if start > last {
		return grid{start: start, step: step}
	}
	return grid{start, step, int((last-start)/step) + 1}
}

// subquery evaluates the inside of a subquery once for the windows of all steps.
func (e *evaluator) subquery(c *rangeCall, n *subqueryNode, g grid) (*rowSet, error) {
	c.clock = clockOf(g, n.at, n.offset)
	c.rangeMS = n.rangeMS
	child := e.subqueryGrid(n, g)
	if child.n == 0 {
		return &rowSet{}, nil
	}
	if int64(child.n) > e.limits.max {
		return nil, errTooMany
	}
	wasInstant := e.instant
	e.instant = false
	m, err := e.eval(n.of, child)
	e.instant = wasInstant
	if err != nil {
		return nil, err
	}
	if m, err = e.join(m, child); err != nil {
		return nil, err
	}
	return &rowSet{m, child}, nil
}

// rowSet holds rows as series, so that windows can lie over them.
type rowSet struct {
	rows nodeMatrix
	grid grid
}

func (s *rowSet) Len() int            { return len(s.rows) }
func (s *rowSet) Labels(i int) Labels { return s.rows[i].labels() }
func (s *rowSet) Close()              {}

func (s *rowSet) dropName(i int) bool { return s.rows[i].dropName }

// Scan visits the rows. It clears the reset hints of histograms, because the previous sample may be a different one
// here.
func (s *rowSet) Scan(_ context.Context, from, to int, visit func(i int, s Samples) error) error {
	var all Samples
	for i := from; i < to; i++ {
		r := &s.rows[i]
		all.T, all.V, all.H = all.T[:0], all.V[:0], nil
		for step := range r.has.steps {
			all.T, all.V = append(all.T, s.grid.at(step)), append(all.V, r.vals[step])
			if r.hist == nil {
				continue
			}
			h := r.histogram(step)
			if h != nil && (h.Hint == histogram.CounterReset || h.Hint == histogram.NoReset) {
				h = h.WithHint(histogram.UnknownReset)
			}
			all.H = append(all.H, h)
		}
		if err := visit(i, all); err != nil {
			return err
		}
	}
	return nil
}
