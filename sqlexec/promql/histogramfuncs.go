package promql

import (
	"math"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// histogramGroup is one histogram: the rows of its classic buckets, or the row that has it natively, or both, at
// different steps.
type histogramGroup struct {
	labels Labels // without the bucket's
	name   string // of the metric
	bounds []float64
	rows   []int // of the bounds
	native int   // -1: none
}

// histogramCall is a call of a function over histograms.
type histogramCall struct {
	e       *evaluator
	g       grid
	m       nodeMatrix
	groups  []histogramGroup
	pos     posrange.PositionRange // of the vector
	buckets []bucket
}

// overHistograms evaluates the arguments of a function over histograms: a vector and scalars, which may be quantiles.
func (e *evaluator) overHistograms(vector node, scalars []node, quantiles bool, g grid) (*histogramCall,
	[][]float64, error) {
	args := make([][]float64, len(scalars))
	for i, arg := range scalars {
		var err error
		if args[i], err = e.values(arg, g); err != nil {
			return nil, nil, err
		}
		if !quantiles {
			continue
		}
		for _, q := range args[i] {
			if math.IsNaN(q) || q < 0 || q > 1 {
				e.note(annotations.NewInvalidQuantileWarning(q, arg.base().pos))
			}
		}
	}
	m, err := e.eval(vector, g)
	if err != nil {
		return nil, nil, err
	}
	c := &histogramCall{e: e, g: g, m: m, pos: vector.base().pos}
	return c, args, c.findGroups()
}

func (e *evaluator) histogramFraction(n *callNode, g grid) (nodeMatrix, error) {
	c, args, err := e.overHistograms(n.args[2], n.args[:2], false, g)
	if err != nil {
		return nil, err
	}
	return c.rows(c.fraction(args[0], args[1]), same)
}

func (e *evaluator) histogramQuantile(n *callNode, g grid) (nodeMatrix, error) {
	c, args, err := e.overHistograms(n.args[1], n.args[:1], true, g)
	if err != nil {
		return nil, err
	}
	return c.rows(c.quantile(args[0]), same)
}

// histogramQuantiles has a row of each histogram for each quantile, with the quantile as a label.
func (e *evaluator) histogramQuantiles(n *callNode, g grid) (nodeMatrix, error) {
	c, args, err := e.overHistograms(n.args[0], n.args[2:], true, g)
	if err != nil {
		return nil, err
	}
	label := text(n.args[1])
	var out nodeMatrix
	for _, q := range args {
		part, err := c.rows(c.quantile(q), func(ls Labels, i int) Labels {
			value := "NaN"
			if !math.IsNaN(q[i]) {
				value = labels.FormatOpenMetricsFloat(q[i])
			}
			return ls.with(label, value)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
	}
	if e.instant {
		return out, nil
	}
	return e.join(out, g)
}

func same(ls Labels, _ int) Labels { return ls }

// findGroups puts the rows of each histogram together. Rows with a bucket's label that is no number are left out.
func (c *histogramCall) findGroups() error {
	index := map[labelsKey]int{}
	var text []byte
	find := func(ls Labels) *histogramGroup {
		text = ls.appendKey(text[:0])
		key := keyOf(text)
		at, ok := index[key]
		if !ok {
			at = len(c.groups)
			index[key] = at
			c.groups = append(c.groups, histogramGroup{labels: ls, name: metricName(ls), native: -1})
		}
		return &c.groups[at]
	}
	return c.e.eachRow(c.m, func(i int) error {
		r, made := &c.m[i], len(c.groups)
		ls := r.labels()
		if !r.floats().empty() {
			le := ls.Get(bucketLabel)
			bound, err := strconv.ParseFloat(le, 64)
			if err != nil {
				c.e.note(annotations.NewBadBucketLabelWarning(metricName(ls), le, c.pos))
			} else {
				group := find(ls.drop(bucketLabel))
				group.bounds, group.rows = append(group.bounds, bound), append(group.rows, i)
			}
		}
		if r.hist != nil {
			find(ls).native = i
		}
		bytes := int64(bucketRowBytes)
		for _, group := range c.groups[made:] {
			bytes += histogramGroupBytes + setBytes(group.labels)
		}
		return c.e.limits.reserve(bytes)
	})
}

// histogramGroupBytes is the approximate memory of a group without its labels, while the lists grow; bucketRowBytes is
// the memory of a row in it.
const histogramGroupBytes, bucketRowBytes = 300, 32

// estimate makes a value of a histogram at a step, either of its buckets or of the native one.
type estimate struct {
	classic func(group *histogramGroup, i int, b []bucket) float64
	native  func(group *histogramGroup, i int, h *histogram.Histogram) float64
}

// rows makes the rows of all groups; label is the label set of a step.
func (c *histogramCall) rows(est estimate, label func(ls Labels, i int) Labels) (nodeMatrix, error) {
	a := newArena(c.e.limits, c.g)
	out := make(nodeMatrix, 0, len(c.groups))
	for at := range c.groups {
		group := &c.groups[at]
		var known nodeMatrix // of this group, by label set
		for i := range c.g.n {
			v, ok := c.value(group, i, est)
			if !ok {
				continue
			}
			ls := label(group.labels, i)
			k := 0
			for k < len(known) && !known[k].labels().Equal(ls) {
				k++
			}
			if k == len(known) {
				r, err := a.named(ls, true)
				if err != nil {
					return nil, err
				}
				known = append(known, r)
			}
			known[k].put(i, v)
		}
		out = append(out, known...)
		if err := c.e.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// value is the estimate of a group at a step. Where both kinds of histogram are there nothing is answered.
func (c *histogramCall) value(group *histogramGroup, i int, est estimate) (float64, bool) {
	b := c.buckets[:0]
	for k, at := range group.rows {
		if r := &c.m[at]; r.has.has(i) && r.histogram(i) == nil {
			b = append(b, bucket{group.bounds[k], r.vals[i]})
		}
	}
	c.buckets = b
	var h *histogram.Histogram
	if group.native >= 0 && c.m[group.native].has.has(i) {
		h = c.m[group.native].histogram(i)
	}
	switch {
	case h != nil && len(b) > 0:
		c.e.note(annotations.NewMixedClassicNativeHistogramsWarning(group.name, c.pos))
		return 0, false
	case h != nil:
		return est.native(group, i, h), true
	case len(b) > 0:
		return est.classic(group, i, b), true
	}
	return 0, false
}

func (c *histogramCall) quantile(q []float64) estimate {
	return estimate{
		classic: func(group *histogramGroup, i int, b []bucket) float64 {
			v, f := bucketQuantile(q[i], b)
			if f.any {
				c.e.note(annotations.NewHistogramQuantileForcedMonotonicityInfo(group.name, c.pos, c.g.at(i), f.low,
					f.high, f.maxDiff))
			}
			return v
		},
		native: func(group *histogramGroup, i int, h *histogram.Histogram) float64 {
			v, skew := h.Quantile(q[i])
			switch skew {
			case histogram.OnlyNaN:
				c.e.note(annotations.NewNativeHistogramQuantileNaNResultInfo(group.name, c.pos))
			case histogram.SkewedHigh:
				c.e.note(annotations.NewNativeHistogramQuantileNaNSkewInfo(group.name, c.pos))
			}
			return v
		},
	}
}

func (c *histogramCall) fraction(lower, upper []float64) estimate {
	return estimate{
		classic: func(_ *histogramGroup, i int, b []bucket) float64 { return bucketFraction(lower[i], upper[i], b) },
		native: func(group *histogramGroup, i int, h *histogram.Histogram) float64 {
			v, skew := h.Fraction(lower[i], upper[i])
			if skew != histogram.NoSkew {
				c.e.note(annotations.NewNativeHistogramFractionNaNsInfo(group.name, c.pos))
			}
			return v
		},
	}
}
