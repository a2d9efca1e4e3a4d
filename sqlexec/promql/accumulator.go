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
	limits *queryLimits
	pos    posrange.PositionRange
	chunks []*cellChunk // chunk k has the groups from k*each on; nil: none of them has a value
	each   int
	notes  annotations.Annotations
}

// cellChunk holds some groups, group by group, with the steps of each. An array that the operator does not need is nil.
type cellChunk struct {
	floats      bitmap    // steps with floats
	sum, lost   []float64 // lost: of sum and avg
	squares, n  []float64
	incremental bitmap            // avg: steps whose sum would have overflown
	hist        []*histogramCells // by group; nil: none has any
}

// cells is one group. The content of sum depends on the operator: it is the mean for stddev and stdvar.
type cells struct {
	floats                bitmap
	sum, lost, squares, n []float64
	incremental           bitmap
	hist                  *histogramCells // nil: none
}

// chunkCells is about the number of steps of all groups in a chunk.
const chunkCells = 4096

// histogramCells is the histograms of a group.
type histogramCells struct {
	has bitmap // steps with histograms that count
	at  []*histogramCell
}

// histogramCell is the histograms of a group at a step.
type histogramCell struct {
	sum     *histogram.Sum
	mean    *histogramMean
	hints   hints
	invalid bool // exponential and custom buckets met: nothing that follows counts
	mixed   bool // there were floats before that
}

// newAccumulator makes one for so many groups; 0: it is not known how many.
func newAccumulator(op parser.ItemType, g grid, l *queryLimits, pos posrange.PositionRange, groups int) *accumulator {
	each := max(1, chunkCells/g.n)
	if groups > 0 {
		each = min(each, groups)
	}
	return &accumulator{op: op, g: g, limits: l, pos: pos, each: each}
}

func (a *accumulator) note(err error) { a.notes.Add(err) }

// group is the cells of a group, made if need be.
func (a *accumulator) group(at int32) (cells, error) {
	k := int(at) / a.each
	for k >= len(a.chunks) {
		a.chunks = append(a.chunks, nil)
	}
	if a.chunks[k] == nil {
		if err := a.addChunk(k); err != nil {
			return cells{}, err
		}
	}
	return a.chunks[k].group(int(at)%a.each, a.g), nil
}

// addChunk makes a chunk of empty groups.
func (a *accumulator) addChunk(k int) error {
	arrays, bitmaps := 1, 1
	switch a.op {
	case parser.SUM:
		arrays = 2
	case parser.AVG:
		arrays, bitmaps = 3, 2
	case parser.STDDEV, parser.STDVAR:
		arrays = 3
	}
	values, words := a.each*a.g.n, a.each*a.g.words()
	if err := a.limits.reserve(8 * int64(arrays*values+bitmaps*words)); err != nil {
		return err
	}
	c := &cellChunk{floats: make(bitmap, words), sum: make([]float64, values)}
	switch a.op {
	case parser.SUM:
		c.lost = make([]float64, values)
	case parser.AVG:
		c.lost, c.n, c.incremental = make([]float64, values), make([]float64, values), make(bitmap, words)
	case parser.STDDEV, parser.STDVAR:
		c.squares, c.n = make([]float64, values), make([]float64, values)
	}
	a.chunks[k] = c
	return nil
}

// group is the i'th group.
func (c *cellChunk) group(i int, g grid) cells {
	out := cells{
		floats: part(c.floats, i, g.words()), incremental: part(c.incremental, i, g.words()),
		sum: part(c.sum, i, g.n), lost: part(c.lost, i, g.n), squares: part(c.squares, i, g.n), n: part(c.n, i, g.n),
	}
	if c.hist != nil {
		out.hist = c.hist[i]
	}
	return out
}

// part is the i'th of the parts of a list that have n each; nil of none.
func part[S ~[]T, T any](list S, i, n int) S {
	if list == nil {
		return nil
	}
	return list[i*n : i*n+n : i*n+n]
}

// histograms are those of a group, made if need be.
func (a *accumulator) histograms(at int32) *histogramCells {
	c := a.chunks[int(at)/a.each]
	if c.hist == nil {
		c.hist = make([]*histogramCells, a.each)
	}
	h := &c.hist[int(at)%a.each]
	if *h == nil {
		*h = &histogramCells{make(bitmap, a.g.words()), make([]*histogramCell, a.g.n)}
	}
	return *h
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
		if err := a.addHistograms(at, &c, r); err != nil {
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
func (a *accumulator) addHistograms(at int32, c *cells, r *row) error {
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
	c.hist = a.histograms(at)
	for i := range r.has.steps {
		h := r.histogram(i)
		if h == nil {
			continue
		}
		c.hist.has.set(i)
		if c.hist.at[i] == nil {
			if !c.floats.has(i) { // otherwise there is no answer, whatever follows
				if err := a.limits.reserve(3 * h.Bytes()); err != nil { // each sum keeps its lost part beside it
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
func (a *accumulator) finish(e *evaluator, by *grouping) (nodeMatrix, error) {
	if err := e.limits.reserve(int64(len(by.groups)) * rowBytes); err != nil {
		return nil, err
	}
	out := make(nodeMatrix, 0, len(by.groups))
	for at, id := range by.groups {
		if at%askSeries == 0 && e.ctx.Err() != nil {
			return nil, e.ctx.Err()
		}
		k := at / a.each
		if k >= len(a.chunks) || a.chunks[k] == nil {
			continue
		}
		c := a.chunks[k].group(at%a.each, a.g)
		r := row{identity: id, vals: c.sum, has: c.floats}
		a.finishFloats(&c)
		if c.hist != nil {
			a.finishHistograms(&c, &r)
		}
		if !r.has.empty() {
			out = append(out, r)
		}
	}
	e.notes.Merge(a.notes)
	return out, nil
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
