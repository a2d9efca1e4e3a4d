package promql

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// aggregate evaluates an aggregation.
func (e *evaluator) aggregate(n *parser.AggregateExpr, g grid) (matrix, error) {
	names := append([]string{}, n.Grouping...)
	slices.Sort(names)
	by := &grouping{names: names, without: n.Without, index: map[labelsKey]int32{}}
	switch n.Op {
	case parser.COUNT_VALUES:
		return e.countValues(n, by, g)
	case parser.TOPK, parser.BOTTOMK, parser.LIMITK, parser.LIMIT_RATIO:
		return e.aggregateK(n, by, g)
	case parser.QUANTILE:
		return e.aggregateQuantile(n, by, g)
	}
	return e.fold(n, by, g)
}

// grouping maps rows to groups.
type grouping struct {
	names   []string
	without bool
	index   map[labelsKey]int32 // of the labels that rows of a group share
	groups  matrix              // without values until they are finished
	key     []byte
	bytes   int64 // of groups that are not counted yet
}

// of is the group of a row, made if need be.
func (b *grouping) of(ls Labels, dropName bool) int32 {
	b.key = b.key[:0]
	switch {
	case b.without:
		for _, l := range ls {
			if l.Name != NameLabel && !slices.Contains(b.names, l.Name) {
				b.key = appendKeyLabel(b.key, l)
			}
		}
	default:
		b.key = ls.appendKeyOf(b.key, b.names, false)
	}
	key := keyOf(b.key)
	at, ok := b.index[key]
	if !ok {
		at = int32(len(b.groups))
		b.index[key] = at
		b.groups = append(b.groups, row{identity: identity{own: b.labels(ls)}})
		b.bytes += groupBytes + int64(labelBytes*len(b.groups[at].own))
	}
	b.groups[at].dropName = b.groups[at].dropName || dropName
	return at
}

// groupBytes is about the memory of a group besides its labels, while the lists grow.
const groupBytes = rowBytes + 80

// count takes the memory of the groups made since it was called last.
func (b *grouping) count(l *limits) error {
	bytes := b.bytes
	b.bytes = 0
	return l.reserve(bytes)
}

func (b *grouping) labels(ls Labels) Labels {
	if b.without {
		return ls.drop(append(slices.Clone(b.names), NameLabel)...)
	}
	return ls.keep(b.names)
}

// fold evaluates the aggregations that take rows one by one: rows are added to their group as they are read, and the
// rows of the argument never exist together.
func (e *evaluator) fold(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	src, m, err := e.rowsOrSource(n.Expr, by, g)
	if err != nil {
		return nil, err
	}
	pos := n.Expr.PositionRange()
	if src == nil {
		acc := newAccumulator(n.Op, g, e.limits, pos)
		for i := range m {
			if err := acc.add(by.of(m[i].labels(), m[i].dropName), &m[i]); err != nil {
				return nil, err
			}
			if i%chunkRows == 0 {
				if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
					return nil, err
				}
			}
		}
		return acc.finish(e, by), nil
	}
	// Groups are numbered before the scan, so that workers do not meet.
	if err := e.limits.reserve(int64(src.set.Len()) * 4); err != nil {
		return nil, err
	}
	group := make([]int32, src.set.Len())
	for i := range group {
		group[i] = by.of(src.set.Labels(i), src.dropName(i))
		if i%chunkRows == chunkRows-1 || i == len(group)-1 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
	}
	accs := make([]*accumulator, e.workersFor(src, g))
	for k := range accs {
		accs[k] = newAccumulator(n.Op, g, e.limits, pos)
	}
	err = e.scan(src, g, false, func(k, i int, r *row) error { return accs[k].add(group[i], r) })
	if err != nil {
		return nil, err
	}
	for _, other := range accs[1:] { // in the order of the series, so that sums repeat
		accs[0].merge(other)
	}
	return accs[0].finish(e, by), nil
}

// rowsOrSource is the source of the rows of a node that reads series and is needed here only, with the labels that groups have,
// else its rows.
func (e *evaluator) rowsOrSource(x parser.Expr, by *grouping, g grid) (*source, matrix, error) {
	_, shared := e.shared[unwrap(x)]
	if !shared && (g.n == 1 || !e.same[x]) {
		switch n := unwrap(x).(type) {
		case *parser.VectorSelector:
			e.wantLabels(n, by)
			src, err := e.instantSource(n, g)
			return src, nil, err
		case *parser.Call:
			if fn := rangeFuncs[n.Func.Name]; fn != nil && n.Func.Name != "absent_over_time" {
				for _, arg := range n.Args {
					if m, ok := unwrap(arg).(*parser.MatrixSelector); ok {
						e.wantLabels(m.VectorSelector.(*parser.VectorSelector), by)
					}
				}
				src, err := e.callSource(n, fn, g)
				return src, nil, err
			}
		}
	}
	m, err := e.eval(x, g)
	return nil, m, err
}

// wantLabels has a selector read no labels but those of groups.
func (e *evaluator) wantLabels(vs *parser.VectorSelector, by *grouping) {
	if !by.without {
		e.labels[vs] = by.names
	}
}

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

// countValues counts how often each value occurs, the value being a label of the answer.
func (e *evaluator) countValues(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	label := unwrap(n.Param).(*parser.StringLiteral).Val
	if !validLabelName(label) {
		return nil, execution("invalid label name %s", n.Param)
	}
	if !by.without && !slices.Contains(by.names, label) {
		by.names = append(by.names, label)
		slices.Sort(by.names)
	}
	m, err := e.eval(n.Expr, g)
	if err != nil {
		return nil, err
	}
	acc := newAccumulator(parser.COUNT, g, e.limits, n.Expr.PositionRange())
	texts := map[float64]string{}
	for i := range m {
		for step := range m[i].has.steps {
			var text string
			if h := m[i].histogram(step); h != nil {
				text = h.String()
			} else {
				text = valueText(texts, m[i].vals[step])
			}
			at := by.of(m[i].labels().with(label, text), false)
			if group := &by.groups[at]; group.text == 0 {
				group.text = int64(len(text))
				if err := e.limits.reserve(group.text); err != nil {
					return nil, err
				}
			}
			c, err := acc.group(at)
			if err != nil {
				return nil, err
			}
			c.sum[step]++
			c.floats.set(step)
		}
		if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
			return nil, err
		}
	}
	return acc.finish(e, by), nil
}

func valueText(known map[float64]string, v float64) string {
	text, ok := known[v]
	if !ok {
		text = strconv.FormatFloat(v, 'f', -1, 64)
		known[v] = text
	}
	return text
}

// aggregateQuantile sorts the values of each group at each step.
func (e *evaluator) aggregateQuantile(n *parser.AggregateExpr, by *grouping, g grid) (matrix, error) {
	qs, err := e.values(n.Param, g)
	if err != nil {
		return nil, err
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, q := range qs {
		if math.IsNaN(q) {
			e.note(annotations.NewInvalidQuantileWarning(q, n.Param.PositionRange()))
			continue
		}
		low, high = min(low, q), max(high, q)
	}
	if high > 1 {
		e.note(annotations.NewInvalidQuantileWarning(high, n.Param.PositionRange()))
	}
	if low < 0 {
		e.note(annotations.NewInvalidQuantileWarning(low, n.Param.PositionRange()))
	}
	m, err := e.eval(n.Expr, g)
	if err != nil {
		return nil, err
	}
	members, err := e.membersOf(m, by)
	if err != nil {
		return nil, err
	}
	a := newArena(e.limits, g)
	out := make(matrix, 0, len(members))
	var v []float64
	for at, rows := range members {
		r, err := a.row()
		if err != nil {
			return nil, err
		}
		r.identity = by.groups[at].identity
		for i := range g.n {
			v = v[:0]
			for _, k := range rows {
				switch {
				case !m[k].has.has(i):
				case m[k].histogram(i) != nil:
					e.note(annotations.NewHistogramIgnoredInAggregationInfo("quantile", n.Expr.PositionRange()))
				default:
					v = append(v, m[k].vals[i])
				}
			}
			if len(v) > 0 {
				r.put(i, quantile(qs[i], v))
			}
		}
		if !r.has.empty() {
			out = append(out, r)
		}
		if err := e.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// memberBytes is about the memory of a row in the list of its group, while that grows.
const memberBytes = 24

// membersOf lists the rows of each group.
func (e *evaluator) membersOf(m matrix, by *grouping) ([][]int, error) {
	if err := e.limits.reserve(int64(len(m)) * memberBytes); err != nil {
		return nil, err
	}
	var out [][]int
	for i := range m {
		if i%chunkRows == 0 {
			if err := cmp.Or(e.ctx.Err(), by.count(e.limits)); err != nil {
				return nil, err
			}
		}
		at := by.of(m[i].labels(), m[i].dropName)
		if int(at) == len(out) {
			out = append(out, nil)
		}
		out[at] = append(out[at], i)
	}
	return out, nil
}
