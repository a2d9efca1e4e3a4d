package promql

import (
	"slices"
	"strings"

	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// counterSuffixes end the names of counters.
var counterSuffixes = []string{"_total", "_sum", "_count", "_bucket"}

// noteCounter reports a metric that does not look like a counter although its floats were treated as one.
func (k *kernel) noteCounter(out *row) {
	name := k.metric()
	if name == "" || name == k.w.lastName || out.floats().empty() ||
		slices.ContainsFunc(counterSuffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
		return
	}
	k.w.lastName = name
	k.note(annotations.NewPossibleNonCounterInfo(name, k.matrixPos))
}

// extrapolation holds how far a window reaches beyond its samples. Times in seconds.
type extrapolation struct {
	toStart, toEnd float64 // from the first sample back to the window's start, from the last one to its end
	sampled        float64 // from the first sample to the last
	average        float64 // between two samples; 0 for one sample
}

func newExtrapolation(first, last, from, to int64, n int) extrapolation {
	x := extrapolation{toStart: float64(first-from) / 1000, toEnd: float64(to-last) / 1000,
		sampled: float64(last-first) / 1000}
	if n > 1 {
		x.average = x.sampled / float64(n-1)
	}
	return x
}

// limitStart bounds how far the samples stand for the time before them: to the window's start where a sample could have
// been missed by little (1.1 intervals), else half an interval; and for a counter not beyond the time at which it would
// have been zero.
func (x *extrapolation) limitStart(counter bool, first, increase float64) {
	if x.toStart >= x.average*1.1 {
		x.toStart = x.average / 2
	}
	if counter && increase > 0 && first >= 0 {
		x.toStart = min(x.toStart, x.sampled*(first/increase))
	}
}

// factor is by how much the change between the samples is raised to stand for the whole window.
func (x *extrapolation) factor() float64 {
	if x.toEnd >= x.average*1.1 {
		x.toEnd = x.average / 2
	}
	if x.sampled == 0 {
		return 1
	}
	return (x.sampled + x.toStart + x.toEnd) / x.sampled
}

// counterFloats computes rate and increase of a series of floats: resets are found once for the series, so each window
// costs its two ends and the resets inside it.
func counterFloats(perSecond bool) func(k *kernel, spans []span, ts []int64, v []float64, out *row) {
	return func(k *kernel, spans []span, ts []int64, v []float64, out *row) {
		resets := resetsOf(v)
		next := 0 // the first reset after the window's first sample
		divisor := 1.0
		var shape windowShape
		var reach windowReach
		if perSecond {
			divisor = float64(k.rangeMS) / 1000
		}
		for i, sp := range spans {
			if sp.hi-sp.lo < 2 {
				continue
			}
			first, last := int(sp.lo), int(sp.hi)-1
			increase := v[last] - v[first]
			for next < len(resets) && int(resets[next]) <= first {
				next++
			}
			for _, at := range resets[next:] {
				if int(at) > last {
					break
				}
				increase += v[at-1]
			}
			s := windowShape{ts[first] - k.from(i), ts[last] - ts[first], k.to(i) - ts[last], last - first + 1}
			if s != shape {
				shape = s
				reach.of(s, divisor)
			}
			factor := reach.factor
			if increase > 0 && v[first] >= 0 && (v[first] < increase || reach.beyond) {
				factor = reach.counterFactor(v[first], increase, divisor)
			}
			out.vals[i] = increase * factor
			out.has.set(i)
		}
	}
}

// windowShape is where the samples of a window lie in it, in ms: from the start of the window to the first, from there
// to the last, from there to the end; and their number. Windows of a series that is scraped evenly mostly have one.
type windowShape struct {
	before, sampled, after int64
	n                      int
}

// windowReach is what the shape of a window says of its extrapolation.
type windowReach struct {
	extrapolation
	factor float64 // of a change that is not bounded by the time at which the counter was zero
	beyond bool    // the samples stand for more time before them than lies between them
}

func (r *windowReach) of(s windowShape, divisor float64) {
	r.extrapolation = newExtrapolation(s.before, s.before+s.sampled, 0, s.before+s.sampled+s.after, s.n)
	x := r.extrapolation
	x.limitStart(false, 0, 0)
	r.beyond = !(x.toStart <= x.sampled)
	r.factor = x.factor() / divisor
}

// counterFactor is the factor of a change whose first sample may be nearer to zero than the samples reach. It need not
// be asked where that is at least the change, unless they reach beyond: the counter was zero a whole window before.
func (r *windowReach) counterFactor(first, increase, divisor float64) float64 {
	x := r.extrapolation
	x.limitStart(true, first, increase)
	return x.factor() / divisor
}

// resetsOf finds the samples that are lower than the one before.
func resetsOf(v []float64) (at []int32) {
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1] {
			at = append(at, int32(i))
		}
	}
	return at
}

// rateWindow computes rate, increase and delta of any window.
func rateWindow(counter, perSecond bool) func(k *kernel, i int, w *window) windowValue {
	return func(k *kernel, i int, w *window) windowValue {
		if w.mixed() {
			k.note(annotations.NewMixedFloatsHistogramsWarning(k.metric(), k.matrixPos))
			return windowValue{}
		}
		var a windowValue
		switch {
		case (k.anchored || k.smooth) && len(w.ht) > 0:
			return k.edgeHistogram(i, w, counter, perSecond)
		case k.anchored || k.smooth:
			a = k.edgeFloat(i, w, counter)
		case len(w.ht) > 0:
			return k.rateHistogram(i, w, counter, perSecond)
		default:
			return k.rateFloat(i, w, counter, perSecond)
		}
		if perSecond {
			a.v /= float64(k.rangeMS) / 1000
		}
		return a
	}
}

// rateFloat is the change of floats, extrapolated. Start times tell of resets that values do not show, and of the time
// at which a counter was zero.
func (k *kernel) rateFloat(i int, w *window, counter, perSecond bool) windowValue {
	n := len(w.ft)
	change := w.fv[n-1] - w.fv[0]
	if counter {
		overlap := false
		for j := 1; j < n; j++ {
			reset := false
			if w.fst != nil {
				reset = startReset(w.fst[j-1], w.ft[j-1], w.fst[j], w.ft[j])
				overlap = overlap || startOverlap(w.fst[j-1], w.ft[j-1], w.fst[j])
			}
			if reset || w.fv[j] < w.fv[j-1] {
				change += w.fv[j-1]
			}
		}
		if overlap {
			k.note(annotations.NewStartTimeOverlapWarning(k.metric(), k.matrixPos))
		}
	}
	x := newExtrapolation(w.ft[0], w.ft[n-1], k.from(i), k.to(i), n)
	switch {
	case counter && w.fst != nil && startInside(w.fst[0], k.from(i), w.ft[0]):
		x.toStart, x.sampled = 0, float64(w.ft[n-1]-w.fst[0])/1000
		change += w.fv[0]
	case n < 2:
		return windowValue{}
	default:
		x.limitStart(counter, w.fv[0], change)
	}
	factor := x.factor()
	if perSecond {
		factor /= float64(k.rangeMS) / 1000
	}
	return float(change * factor)
}

// startInside reports whether a series began between the start of the window and its first sample.
func startInside(start, from, first int64) bool { return start != 0 && start > from && start < first }

// startReset reports whether start times tell of a reset between two samples. A start time that is not known (0), not
// before its sample, or within the time that the sample before covers, says nothing. One that equals the time of the
// sample before is a reset of a delta, but for cumulative series that do not know when they began.
func startReset(prevStart, prev, start, at int64) bool {
	switch {
	case prevStart == start || start == 0 || start >= at || start < prev:
		return false
	case start > prev:
		return true
	}
	return prevStart != 0 && prevStart < prev
}

// startOverlap reports whether a sample claims time that the one before covers.
func startOverlap(prevStart, prev, start int64) bool {
	return start != 0 && start < prev && start != prevStart
}

// rateHistogram is rateFloat for histograms.
func (k *kernel) rateHistogram(i int, w *window, counter, perSecond bool) windowValue {
	n := len(w.ht)
	var change *histogram.Histogram
	if n > 1 {
		if change = k.histogramChange(w, counter); change == nil {
			return windowValue{}
		}
	}
	x := newExtrapolation(w.ht[0], w.ht[n-1], k.from(i), k.to(i), n)
	switch {
	case counter && w.hst != nil && startInside(w.hst[0], k.from(i), w.ht[0]):
		x.toStart, x.sampled = 0, float64(w.ht[n-1]-w.hst[0])/1000
		if change == nil {
			change = w.h[0].Clone()
			break
		}
		sum := histogram.NewSum(change)
		if !k.combine(sum, w.h[0], annotations.HistogramAdd) {
			return windowValue{}
		}
		change = sum.Result()
	case n < 2:
		return windowValue{}
	default:
		x.limitStart(counter, w.h[0].Count, change.Count)
	}
	factor := x.factor()
	if perSecond {
		factor /= float64(k.rangeMS) / 1000
	}
	return windowValue{ok: true, h: change.Scale(factor)}
}

// combine adds or subtracts a histogram and records notes about the result.
func (k *kernel) combine(sum *histogram.Sum, h *histogram.Histogram, op annotations.HistogramOperation) bool {
	do := sum.Add
	if op == annotations.HistogramSub {
		do = sum.Subtract
	}
	if err := do(h); err != nil {
		k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.matrixPos))
		return false
	}
	if sum.Reconciled {
		k.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(k.matrixPos, op))
		sum.Reconciled = false
	}
	return true
}

// histogramChange returns the last histogram minus the first, plus the counts that resets removed; nil if the layouts
// do not fit.
func (k *kernel) histogramChange(w *window, counter bool) *histogram.Histogram {
	n := len(w.h)
	first, last := w.h[0], w.h[n-1]
	if counter && slices.ContainsFunc(w.h, func(h *histogram.Histogram) bool { return h.Hint == histogram.Gauge }) {
		k.note(annotations.NewNativeHistogramNotCounterWarning(k.metric(), k.matrixPos))
	}
	resetAt := func(j int) bool {
		return w.hst != nil && startReset(w.hst[j-1], w.ht[j-1], w.hst[j], w.ht[j])
	}
	prev := first
	if counter && (resetAt(1) || w.h[1].ResetSince(first)) {
		// The layout of a first sample that does not count must not matter.
		prev = &histogram.Histogram{Schema: w.h[1].Schema, Bounds: w.h[1].Bounds}
	}
	mixed := last.Custom() != prev.Custom()
	if counter {
		for _, h := range w.h[1 : n-1] {
			mixed = mixed || h.Custom() != prev.Custom()
		}
	}
	if mixed {
		k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.matrixPos))
		return nil
	}
	sum := histogram.NewSum(last)
	sum.Reduce(prev.Schema) // before zero buckets meet: they widen to bounds of the coarsest schema
	if counter {
		for _, h := range w.h[1 : n-1] {
			sum.Reduce(h.Schema)
		}
	}
	if !k.combine(sum, prev, annotations.HistogramSub) {
		return nil
	}
	if counter {
		overlap := false
		for j := 1; j < n; j++ {
			if w.hst != nil && startOverlap(w.hst[j-1], w.ht[j-1], w.hst[j]) {
				overlap = true
			}
			if (resetAt(j) || w.h[j].ResetSince(prev)) && !k.combine(sum, prev, annotations.HistogramAdd) {
				return nil
			}
			prev = w.h[j]
		}
		if overlap {
			k.note(annotations.NewStartTimeOverlapWarning(k.metric(), k.matrixPos))
		}
	} else if first.Hint != histogram.Gauge || last.Hint != histogram.Gauge {
		k.note(annotations.NewNativeHistogramNotGaugeWarning(k.metric(), k.matrixPos))
	}
	out := sum.Result().Compact()
	out.Hint = histogram.Gauge
	return out
}

// lastTwo computes irate and idelta from the last two samples.
func lastTwo(counter bool) func(k *kernel, i int, w *window) windowValue {
	return func(k *kernel, i int, w *window) windowValue {
		nf, nh := len(w.ft), len(w.ht)
		if nf+nh < 2 {
			return windowValue{}
		}
		switch floatLast := nf > 0 && (nh == 0 || w.ft[nf-1] > w.ht[nh-1]); {
		case floatLast && nf > 1 && (nh == 0 || w.ft[nf-2] > w.ht[nh-1]):
			return k.lastTwoFloats(w, counter)
		case !floatLast && nh > 1 && (nf == 0 || w.ht[nh-2] > w.ft[nf-1]):
			return k.lastTwoHistograms(w, counter)
		}
		k.note(annotations.NewMixedFloatsHistogramsWarning(k.metric(), k.argsPos))
		return windowValue{}
	}
}

func (k *kernel) lastTwoFloats(w *window, counter bool) windowValue {
	b := len(w.ft) - 1
	a := b - 1
	change := w.fv[b] - w.fv[a]
	reset := w.fst != nil && startReset(w.fst[a], w.ft[a], w.fst[b], w.ft[b])
	if counter && (reset || w.fv[b] < w.fv[a]) {
		change = w.fv[b]
	}
	if counter {
		change /= float64(w.ft[b]-w.ft[a]) / 1000
	}
	return float(change)
}

func (k *kernel) lastTwoHistograms(w *window, counter bool) windowValue {
	b := len(w.ht) - 1
	a := b - 1
	from, to := w.h[a], w.h[b]
	gauges := from.Hint == histogram.Gauge && to.Hint == histogram.Gauge
	switch {
	case counter && (from.Hint == histogram.Gauge || to.Hint == histogram.Gauge):
		k.note(annotations.NewNativeHistogramNotCounterWarning(k.metric(), k.argsPos))
	case !counter && !gauges:
		k.note(annotations.NewNativeHistogramNotGaugeWarning(k.metric(), k.argsPos))
	}
	out := to.Clone()
	reset := w.hst != nil && startReset(w.hst[a], w.ht[a], w.hst[b], w.ht[b])
	if !counter || !reset && !to.ResetSince(from) {
		sum := histogram.NewSum(to)
		if err := sum.Subtract(from); err != nil {
			k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.argsPos))
			return windowValue{}
		}
		if sum.Reconciled {
			k.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(k.argsPos, annotations.HistogramSub))
		}
		out = sum.Result()
	}
	out.Hint = histogram.Gauge
	out.Compact()
	if counter {
		out.Divide(float64(w.ht[b]-w.ht[a]) / 1000)
	}
	return windowValue{ok: true, h: out}
}
