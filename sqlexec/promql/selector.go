package promql

import (
	"sort"

	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

func keepName(int) bool { return false }

// instantSource makes rows of an instant selector: at each step the last sample of the look-back.
func (e *evaluator) instantSource(vs *selectorNode, g grid) (*sampleRows, error) {
	c := clockOf(g, vs.at, vs.offset)
	first, last := c.bounds()
	if vs.smoothed {
		last += e.lookback
	}
	set, err := e.open(vs, first-e.lookback+1, last)
	if err != nil {
		return nil, err
	}
	src := &sampleRows{set: set, dropName: keepName}
	if vs.smoothed {
		pos := vs.pos
		src.kernel = func(w *worker, s Samples, out *row) error {
			w.smooth(&s, c, pos, out)
			return nil
		}
		return src, nil
	}
	counts := vs.counts
	src.kernel = func(w *worker, s Samples, out *row) error {
		w.spans = windowSpans(w.spans, s.T, c, e.lookback, 0)
		if s.H == nil {
			lastFloats(out.vals, out.has, w.spans, s.V)
			return nil
		}
		for i, sp := range w.spans {
			if sp.lo < sp.hi && !s.stale(int(sp.hi)-1) {
				out.set(i, &s, int(sp.hi)-1, counts)
			}
		}
		return nil
	}
	return src, nil
}

// lastFloats sets each step with a non-empty window to the last value in the window, except for staleness markers.
func lastFloats(vals []float64, has bitmap, spans []span, v []float64) {
	for i, sp := range spans {
		if sp.lo == sp.hi {
			continue
		}
		if x := v[sp.hi-1]; !isStale(x) {
			vals[i] = x
			has.set(i)
		}
	}
}

// selector evaluates an instant selector.
func (e *evaluator) selector(vs *selectorNode, g grid) (nodeMatrix, error) {
	src, err := e.instantSource(vs, g)
	if err != nil {
		return nil, err
	}
	return e.rows(src, g)
}

// sampleTimes makes rows of the times, or of the start times, of the samples that an instant selector finds.
func (e *evaluator) sampleTimes(vs *selectorNode, g grid, starts bool) (nodeMatrix, error) {
	c := clockOf(g, vs.at, vs.offset)
	first, last := c.bounds()
	set, err := e.open(vs, first-e.lookback+1, last)
	if err != nil {
		return nil, err
	}
	src := &sampleRows{set: set, dropName: func(int) bool { return true }}
	src.kernel = func(w *worker, s Samples, out *row) error {
		w.spans = windowSpans(w.spans, s.T, c, e.lookback, 0)
		times := s.T
		if starts {
			times = s.ST
		}
		for i, sp := range w.spans {
			switch at := int(sp.hi) - 1; {
			case sp.lo == sp.hi || s.stale(at):
			case times == nil:
				out.put(i, 0)
			default:
				out.put(i, float64(times[at])/1000)
			}
		}
		return nil
	}
	return e.rows(src, g)
}

// rawSeries is a series of a result as it is stored.
type rawSeries struct {
	labels Labels
	Samples
}

// raw evaluates a range selector that is the whole query: the samples as they are, without markers.
func (e *evaluator) raw(n *rangeNode, g grid, r *Result) error {
	vs := n.selector
	c := clockOf(g, vs.at, vs.offset)
	to := c.at(0)
	from := to - n.rangeMS
	start, end := from+1, to
	if vs.anchored || vs.smoothed {
		start -= e.lookback
	}
	if vs.smoothed {
		end += e.lookback
	}
	set, err := e.open(vs, start, end)
	if err != nil {
		return err
	}
	return set.Scan(e.ctx, 0, set.Len(), func(i int, s Samples) error {
		own := rawSeries{labels: set.Labels(i)}
		for k, t := range s.T {
			if s.stale(k) {
				continue
			}
			own.T, own.V = append(own.T, t), append(own.V, s.V[k])
			if s.H != nil {
				own.H = append(own.H, s.H[k])
			}
		}
		if vs.anchored || vs.smoothed {
			if own.H != nil {
				return execution("%s modifier is not supported with histograms", modifier(vs))
			}
			own.T, own.V = extend(own.T, own.V, from, to, vs.smoothed)
		}
		if len(own.T) == 0 {
			return nil
		}
		e.limits.read.Add(int64(len(s.T)))
		r.samples = append(r.samples, own)
		if err := e.ctx.Err(); err != nil {
			return err
		}
		bytes := int64(len(own.T))*16 + int64(len(own.labels))*labelBytes
		for _, h := range own.H {
			if h != nil {
				bytes += h.Bytes()
			}
		}
		if err := e.limits.reserve(bytes); err != nil {
			return err
		}
		return e.limits.hold(int64(len(own.T)))
	})
}

func modifier(vs *selectorNode) string {
	if vs.anchored {
		return "anchored"
	}
	return "smoothed"
}

// extend puts samples on both edges of a window: with smoothed on the line between the neighbours, else the last one
// before.
func extend(ts []int64, vs []float64, from, to int64, smoothed bool) ([]int64, []float64) {
	e := edgesOf(ts, from, to, smoothed)
	if !e.ok {
		return nil, nil
	}
	left, right := e.values(ts, vs, from, to, smoothed, false)
	outT, outV := []int64{from}, []float64{left}
	for i := range ts {
		if i >= e.first && i <= e.last && ts[i] > from && ts[i] < to {
			outT, outV = append(outT, ts[i]), append(outV, vs[i])
		}
	}
	return append(outT, to), append(outV, right)
}

// edges are the samples that stand for the edges of an anchored or smoothed window.
type edges struct {
	first, last int
	ok          bool
}

// edgesOf finds the edges. The first is the last sample at or before the start, if there is one. The last, when
// smoothed, is the first sample at or after the end.
func edgesOf(ts []int64, from, to int64, smoothed bool) edges {
	if len(ts) == 0 {
		return edges{}
	}
	last := len(ts) - 1
	e := edges{first: max(0, sort.Search(last, func(i int) bool { return ts[i] > from })-1), last: last}
	if smoothed {
		e.last = sort.Search(last, func(i int) bool { return ts[i] >= to })
	}
	e.ok = ts[e.last] > from
	return e
}

// values are the values at both edges.
func (e edges) values(ts []int64, vs []float64, from, to int64, smoothed, counter bool) (left, right float64) {
	left, right = vs[e.first], vs[e.last]
	if smoothed && ts[e.first] < from {
		left = between(ts, vs, e.first, from, counter)
	}
	if smoothed && e.last > 0 && ts[e.last] > to {
		right = between(ts, vs, e.last-1, to, counter)
	}
	return left, right
}

// between is the value at a time between samples i and i+1. A counter that was reset between them began at zero.
func between(ts []int64, vs []float64, i int, at int64, counter bool) float64 {
	a, b := vs[i], vs[i+1]
	if counter && b < a {
		a = 0
	}
	return a + (b-a)*float64(at-ts[i])/float64(ts[i+1]-ts[i])
}

// smooth fills the row of a smoothed instant selector: the sample at the step, or the line between its neighbours in
// the look-back to both sides, or the last one before.
func (w *worker) smooth(s *Samples, c clock, pos posrange.PositionRange, out *row) {
	look := w.e.lookback
	w.split.take(s, false)
	p := &w.split
	floats := windowSpans(nil, p.ft, c, look, look)
	hists := windowSpans(nil, p.ht, c, look, look)
	for i := range c.g.n {
		f, h := floats[i], hists[i]
		at := c.at(i)
		switch {
		case f.lo < f.hi && h.lo < h.hi:
			w.note(annotations.NewMixedFloatsHistogramsWarning(metricName(w.series.labels()), pos))
		case f.lo < f.hi:
			ts, vs := p.ft[f.lo:f.hi], p.fv[f.lo:f.hi]
			switch k := sort.Search(len(ts), func(i int) bool { return ts[i] >= at }); {
			case k < len(ts) && ts[k] == at:
				out.put(i, vs[k])
			case k > 0 && k < len(ts):
				out.put(i, between(ts, vs, k-1, at, false))
			case k > 0:
				out.put(i, vs[k-1])
			}
		case h.lo < h.hi:
			if v := w.smoothHistogram(p.ht[h.lo:h.hi], p.h[h.lo:h.hi], at, pos); v != nil {
				out.putHistogram(i, v)
			}
		}
	}
}

func (w *worker) smoothHistogram(ts []int64, hs []*histogram.Histogram, at int64,
	pos posrange.PositionRange) *histogram.Histogram {
	k := sort.Search(len(ts), func(i int) bool { return ts[i] >= at })
	switch {
	case k < len(ts) && ts[k] == at:
		return hs[k]
	case k > 0 && k < len(ts):
		counter := hs[k-1].Hint != histogram.Gauge || hs[k].Hint != histogram.Gauge
		h, err := w.betweenHistograms(ts, hs, k-1, at, counter, pos)
		if err != nil {
			w.note(annotations.NewMixedExponentialCustomHistogramsWarning(metricName(w.series.labels()), pos))
			return nil
		}
		return h
	case k > 0:
		return hs[k-1].WithHint(histogram.UnknownReset)
	}
	return nil
}

// betweenHistograms is between for histograms.
func (w *worker) betweenHistograms(ts []int64, hs []*histogram.Histogram, i int, at int64, counter bool,
	pos posrange.PositionRange) (*histogram.Histogram, error) {
	a, b := hs[i], hs[i+1]
	switch {
	case at == ts[i]:
		return a, nil
	case at == ts[i+1]:
		return b, nil
	}
	part := float64(at-ts[i]) / float64(ts[i+1]-ts[i])
	if counter && a.Custom() == b.Custom() && b.ResetSince(a) {
		return b.Clone().Scale(part), nil
	}
	sum := histogram.NewSum(b)
	if err := sum.Subtract(a); err != nil {
		return nil, err
	}
	if sum.Reconciled {
		w.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(pos, annotations.HistogramSub))
		sum.Reconciled = false
	}
	sum.Scale(part)
	err := sum.Add(a)
	if sum.Reconciled {
		w.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(pos, annotations.HistogramAdd))
	}
	return sum.Result(), err
}
