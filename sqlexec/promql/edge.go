package promql

import (
	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// edgeFloat is the change of floats between the edges of an anchored or smoothed window: nothing is extrapolated.
func (k *kernel) edgeFloat(i int, w *window, counter bool) windowValue {
	from, to := k.from(i), k.to(i)
	e := edgesOf(w.ft, from, to, k.smooth)
	if !e.ok || k.smooth && w.ft[e.first] > to {
		return windowValue{}
	}
	left, right := e.values(w.ft, w.fv, from, to, k.smooth, counter)
	change := right - left
	if counter {
		// Resets at the edges are in the values there.
		first, last := e.first, e.last
		if w.ft[first] <= from {
			first++
		}
		if w.ft[last] >= to {
			last--
		}
		prev := left
		for j := first; j <= last; j++ {
			if w.fv[j] < prev {
				change += prev
			}
			prev = w.fv[j]
		}
		if right < prev {
			change += prev
		}
	}
	return float(change)
}

// edgeHistogram is edgeFloat for histograms.
func (k *kernel) edgeHistogram(i int, w *window, counter, perSecond bool) windowValue {
	from, to := k.from(i), k.to(i)
	e := edgesOf(w.ht, from, to, k.smooth)
	if !e.ok || k.smooth && w.ht[e.first] > to {
		return windowValue{}
	}
	custom := w.h[e.first].Custom()
	for _, h := range w.h[e.first : e.last+1] {
		if h.Custom() != custom {
			k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.matrixPos))
			return windowValue{}
		}
		if counter && h.Hint == histogram.Gauge {
			k.note(annotations.NewNativeHistogramNotCounterWarning(k.metric(), k.matrixPos))
		}
	}
	left, right := k.edgeHistograms(e, w, from, to, counter)
	if !counter && (left.Hint != histogram.Gauge || right.Hint != histogram.Gauge) {
		k.note(annotations.NewNativeHistogramNotGaugeWarning(k.metric(), k.matrixPos))
	}
	sum := histogram.NewSum(right)
	if !k.combine(sum, left, annotations.HistogramSub) {
		return windowValue{}
	}
	if counter && !k.edgeResets(sum, e, w, left, right, from) {
		return windowValue{}
	}
	out := sum.Result()
	if perSecond {
		out.Divide(float64(k.rangeMS) / 1000)
	}
	out.Hint = histogram.Gauge
	return windowValue{ok: true, h: out.Compact()}
}

// edgeHistograms are the histograms at both edges.
func (k *kernel) edgeHistograms(e edges, w *window, from, to int64, counter bool) (left, right *histogram.Histogram) {
	left, right = w.h[e.first], w.h[e.last]
	// The layouts fit, as the caller has checked: there is no error.
	if k.smooth && w.ht[e.first] < from {
		left, _ = k.w.betweenHistograms(w.ht, w.h, e.first, from, counter, k.matrixPos)
	}
	if k.smooth && e.last > 0 && w.ht[e.last] > to {
		right, _ = k.w.betweenHistograms(w.ht, w.h, e.last-1, to, counter, k.matrixPos)
	}
	return left, right
}

// edgeResets adds the counts that resets inside the window removed. It sums these counts first, because the width of a
// zero bucket depends on the histograms that are added to each other.
func (k *kernel) edgeResets(sum *histogram.Sum, e edges, w *window, left, right *histogram.Histogram, from int64) bool {
	first, last := e.first+1, e.last-1
	prev := left
	if k.smooth && w.ht[e.first] < from && w.h[e.first+1].ResetSince(w.h[e.first]) {
		prev = w.h[e.first+1] // the value at the edge knows of this reset
		first++
	}
	if first > last+1 {
		return true
	}
	var lost *histogram.Sum // nil: nothing
	lose := func(h *histogram.Histogram) bool {
		if lost == nil {
			lost = histogram.NewSum(h)
			return true
		}
		return k.combine(lost, h, annotations.HistogramAdd)
	}
	for _, h := range w.h[first : last+1] {
		if h.ResetSince(prev) && !lose(prev) {
			return false
		}
		prev = h
	}
	if right.ResetSince(prev) && !lose(prev) {
		return false
	}
	return lost == nil || k.combine(sum, lost.Result(), annotations.HistogramAdd)
}
