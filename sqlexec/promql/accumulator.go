package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// accumulator is the groups of an aggregation at all steps.
type accumulator struct {
	op     parser.ItemType
	g      grid
	limits *limits
	pos    posrange.PositionRange
	groups []*cells
	notes  annotations.Annotations
}

// cells is one group: there may be as many as series. What sum has depends on the operator: the mean for stddev and stdvar.
type cells struct {
	floats    bitmap    // steps with floats
	sum, lost []float64 // lost: of sum and avg
	*moments            // of avg, stddev and stdvar
	hist      *histogramCells
}

// moments is what averages and deviations need besides their sum.
type moments struct {
	squares     []float64
	n           []float64
	incremental bitmap // avg: steps whose sum would have overflown
}

// histogramCells is the histograms of a group.
type histogramCells struct {
	has bitmap // steps with histograms that count
	at  []*histogramCell
}

// cellsBytes is the memory of a group besides its arrays and its row.
const cellsBytes = 112

// histogramCell is the histograms of a group at a step.
type histogramCell struct {
	sum     *histogram.Sum
	mean    *histogramMean
	hints   hints
	invalid bool // exponential and custom buckets met: nothing that follows counts
	mixed   bool // there were floats before that
}

func newAccumulator(op parser.ItemType, g grid, l *limits, pos posrange.PositionRange) *accumulator {
	return &accumulator{op: op, g: g, limits: l, pos: pos}
}

func (a *accumulator) note(err error) { a.notes.Add(err) }

// group is the cells of a group, made if need be.
func (a *accumulator) group(at int32) (*cells, error) {
	for int(at) >= len(a.groups) {
		a.groups = append(a.groups, nil)
	}
	if c := a.groups[at]; c != nil {
		return c, nil
	}
	arrays, more := 1, 0
	switch a.op {
	case parser.SUM:
		arrays = 2
	case parser.AVG, parser.STDDEV, parser.STDVAR:
		arrays, more = 3, 96+8*a.g.words()
	}
	if err := a.limits.reserve(int64(8*arrays*a.g.n + 8*a.g.words() + more + cellsBytes)); err != nil {
		return nil, err
	}
	if err := a.limits.hold(int64(a.g.n)); err != nil {
		return nil, err
	}
	c := &cells{floats: make(bitmap, a.g.words()), sum: make([]float64, a.g.n)}
	switch a.op {
	case parser.SUM:
		c.lost = make([]float64, a.g.n)
	case parser.AVG:
		c.lost, c.moments = make([]float64, a.g.n), &moments{n: make([]float64, a.g.n), incremental: make(bitmap, a.g.words())}
	case parser.STDDEV, parser.STDVAR:
		c.moments = &moments{squares: make([]float64, a.g.n), n: make([]float64, a.g.n)}
	}
	a.groups[at] = c
	return c, nil
}

// add adds a row to a group.
func (a *accumulator) add(at int32, r *row) error {
	c, err := a.group(at)
	if err != nil {
		return err
	}
	has := r.has
	if r.hist != nil {
		has = r.floats()
		if err := a.addHistograms(c, r); err != nil {
			return err
		}
	}
	switch a.op {
	case parser.SUM:
		addFloats(c.sum, c.lost, r.vals, has)
	case parser.AVG:
		c.addMeans(r.vals, has)
	case parser.MIN:
		addBest(c.sum, c.floats, r.vals, has, less)
	case parser.MAX:
		addBest(c.sum, c.floats, r.vals, has, greater)
	case parser.COUNT:
		for i := range r.has.steps { // histograms count as well
			c.sum[i]++
		}
		has = r.has
	case parser.GROUP:
		has = r.has
	case parser.STDDEV, parser.STDVAR:
		c.addSquares(r.vals, has)
	}
	c.floats.or(has)
	return nil
}

// addFloats adds a row to sums with compensation. Full words of steps, the common case, go without looking at bits.
func addFloats(sum, lost, vals []float64, has bitmap) {
	lost, vals = lost[:len(sum)], vals[:len(sum)]
	for w, word := range has {
		from := w << 6
		if word == ^uint64(0) {
			for i := from; i < from+64; i++ {
				k := kahan{sum[i], lost[i]}.plus(vals[i]) // add, without a call
				if k.lost != k.lost {
					k = kahan{sum[i], lost[i]}.addBeyond(vals[i])
				}
				sum[i], lost[i] = k.sum, k.lost
			}
			continue
		}
		for i := from; word != 0; i, word = i+1, word>>1 {
			if word&1 != 0 {
				k := kahan{sum[i], lost[i]}.add(vals[i])
				sum[i], lost[i] = k.sum, k.lost
			}
		}
	}
}

// addBest keeps the best value of each step.
func addBest(best []float64, known bitmap, vals []float64, has bitmap, better func(v, best float64) bool) {
	for i := range has.steps {
		if !known.has(i) || better(vals[i], best[i]) {
			best[i] = vals[i]
		}
	}
}

func (c *cells) addMeans(vals []float64, has bitmap) {
	for i := range has.steps {
		m := mean{kahan: kahan{c.sum[i], c.lost[i]}, n: c.n[i], incremental: c.incremental.has(i)}
		m.add(vals[i])
		c.sum[i], c.lost[i], c.n[i] = m.sum, m.lost, m.n
		if m.incremental {
			c.incremental.set(i)
		}
	}
}

// addSquares adds to the sum of squared distances from the mean (Welford).
func (c *cells) addSquares(vals []float64, has bitmap) {
	for i := range has.steps {
		v := vals[i]
		c.n[i]++
		if c.n[i] == 1 {
			c.sum[i] = v
			if math.IsNaN(v) || math.IsInf(v, 0) {
				c.squares[i] = math.NaN()
			}
			continue
		}
		delta := v - c.sum[i]
		c.sum[i] += delta / c.n[i]
		c.squares[i] += delta * (v - c.sum[i])
	}
}

// addHistograms adds the histograms of a row, or notes that the operator leaves them out.
func (a *accumulator) addHistograms(c *cells, r *row) error {
	switch a.op {
	case parser.COUNT, parser.GROUP:
		return nil
	case parser.SUM, parser.AVG:
	default:
		if !slices.Equal(r.floats(), r.has) {
			a.note(annotations.NewHistogramIgnoredInAggregationInfo(a.op.String(), a.pos))
		}
		return nil
	}
	if c.hist == nil {
		c.hist = &histogramCells{make(bitmap, a.g.words()), make([]*histogramCell, a.g.n)}
	}
	for i := range r.has.steps {
		h := r.hist[i]
		if h == nil {
			continue
		}
		c.hist.has.set(i)
		if c.hist.at[i] == nil {
			if !c.floats.has(i) { // else there is no answer whatever comes
				if err := a.limits.reserve(3 * h.Bytes()); err != nil { // each sum has what it lost beside it
					return err
				}
				c.hist.at[i] = a.newHistogramCell(h)
			}
			continue
		}
		if err := c.hist.at[i].add(h); err != nil {
			c.hist.at[i].mixed = c.floats.has(i)
			a.note(annotations.NewMixedExponentialCustomHistogramsWarning(metricName(r.labels()), a.pos))
		}
	}
	return nil
}

func (a *accumulator) newHistogramCell(h *histogram.Histogram) *histogramCell {
	c := &histogramCell{}
	c.hints.see(h)
	if a.op == parser.AVG {
		c.mean = newHistogramMean(h)
	} else {
		c.sum = histogram.NewSum(h)
	}
	return c
}

func (c *histogramCell) add(h *histogram.Histogram) error {
	if c.invalid {
		return nil
	}
	c.hints.see(h)
	var err error
	if c.mean != nil {
		err = c.mean.add(h)
	} else {
		err = c.sum.Add(h)
	}
	c.invalid = err != nil
	return err
}

// finish makes a row of each group that has values.
func (a *accumulator) finish(e *evaluator, by *grouping) matrix {
	out := by.groups[:0]
	for at, c := range a.groups {
		if c == nil {
			continue
		}
		r := row{identity: by.groups[at].identity, vals: c.sum, has: c.floats}
		a.finishFloats(c)
		if c.hist != nil {
			a.finishHistograms(c, &r)
		}
		if !r.has.empty() {
			out = append(out, r)
		}
	}
	e.notes.Merge(a.notes)
	return out
}

func (a *accumulator) finishFloats(c *cells) {
	switch a.op {
	case parser.SUM:
		for i := range c.sum {
			c.sum[i] += c.lost[i]
		}
	case parser.AVG:
		for i := range c.floats.steps {
			m := mean{kahan: kahan{c.sum[i], c.lost[i]}, n: c.n[i], incremental: c.incremental.has(i)}
			c.sum[i] = m.value()
		}
	case parser.GROUP:
		for i := range c.sum {
			c.sum[i] = 1
		}
	case parser.STDVAR, parser.STDDEV:
		for i := range c.floats.steps {
			c.sum[i] = c.squares[i] / c.n[i]
			if a.op == parser.STDDEV {
				c.sum[i] = math.Sqrt(c.sum[i])
			}
		}
	}
}

// finishHistograms puts histograms into the row. Steps that have floats as well have nothing.
func (a *accumulator) finishHistograms(c *cells, r *row) {
	for i := range c.hist.has.steps {
		cell := c.hist.at[i]
		if c.floats.has(i) {
			r.has.unset(i)
			if cell == nil || !cell.invalid || cell.mixed {
				a.note(annotations.NewMixedFloatsHistogramsAggWarning(a.pos))
			}
			continue
		}
		sum := cell.sum
		if cell.mean != nil {
			sum = cell.mean.sum
		}
		if sum.Reconciled {
			a.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(a.pos, annotations.HistogramAgg))
		}
		if cell.invalid {
			continue
		}
		if cell.hints.collide() {
			a.note(annotations.NewHistogramCounterResetCollisionWarning(a.pos, annotations.HistogramAgg))
		}
		if cell.mean != nil {
			r.putHistogram(i, cell.mean.result().Compact())
		} else {
			r.putHistogram(i, sum.Result().Compact())
		}
	}
}
