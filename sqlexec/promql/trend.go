package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/util/annotations"
)

// regression is the line through floats by least squares: its slope a second and its value at a time.
func regression(ts []int64, v []float64, at int64) (slope, value float64) {
	if len(v) == 1 || !slices.ContainsFunc(v, func(x float64) bool { return x != v[0] }) {
		if math.IsInf(v[0], 0) {
			return math.NaN(), math.NaN()
		}
		return 0, v[0]
	}
	x, y, xy, xx := lineSums(ts, v, at)
	n := float64(len(v))
	slope = (xy.value() - x.value()*y.value()/n) / (xx.value() - x.value()*x.value()/n)
	return slope, y.value()/n - slope*x.value()/n
}

// lineSums sums times, in seconds from at, and values, their products, and the squares of the times.
func lineSums(ts []int64, v []float64, at int64) (x, y, xy, xx kahan) {
	for i := range v {
		seconds := float64(ts[i]-at) / 1000
		x, y = x.plus(seconds), y.plus(v[i])
		xy, xx = xy.plus(seconds*v[i]), xx.plus(seconds*seconds)
	}
	if lost := x.lost + y.lost + xy.lost + xx.lost; lost == lost {
		return x, y, xy, xx
	}
	x, y, xy, xx = kahan{}, kahan{}, kahan{}, kahan{}
	for i := range v {
		seconds := float64(ts[i]-at) / 1000
		x, y = x.add(seconds), y.add(v[i])
		xy, xx = xy.add(seconds*v[i]), xx.add(seconds*seconds)
	}
	return x, y, xy, xx
}

// twoFloats is a window function that needs two floats.
func twoFloats(f func(k *kernel, i int, w *window) float64) func(k *kernel, i int, w *window) windowValue {
	return func(k *kernel, i int, w *window) windowValue {
		if len(w.ft) > 0 && len(w.ht) > 0 {
			k.note(annotations.NewHistogramIgnoredInMixedRangeInfo(k.metric(), k.matrixPos))
		}
		if len(w.ft) < 2 {
			return windowValue{}
		}
		return float(f(k, i, w))
	}
}

var deriv = twoFloats(func(_ *kernel, _ int, w *window) float64 {
	slope, _ := regression(w.ft, w.fv, w.ft[0]) // near to the values: fewer digits are lost
	return slope
})

var predictLinear = twoFloats(func(k *kernel, i int, w *window) float64 {
	slope, value := regression(w.ft, w.fv, k.g.at(i))
	return slope*k.args[0][i] + value
})

// doubleSmoothing smooths values and their trend exponentially; newer ones weigh more the larger both factors are.
var doubleSmoothing = twoFloats(func(k *kernel, i int, w *window) float64 {
	factor, trendFactor := k.args[0][i], k.args[1][i]
	level, before := w.fv[0], 0.0
	trend := w.fv[1] - w.fv[0]
	for j, v := range w.fv[1:] {
		if j > 0 {
			trend = trendFactor*(level-before) + (1-trendFactor)*trend
		}
		before, level = level, factor*v+(1-factor)*(level+trend)
	}
	return level
})

// checkSmoothing refuses factors that smooth nothing.
func checkSmoothing(args [][]float64) error {
	for k, name := range []string{"smoothing", "trend"} {
		for _, v := range args[k] {
			if v <= 0 || v >= 1 {
				letter := [...]string{"sf", "tf"}[k]
				return execution("invalid %s factor. Expected: 0 < %s < 1, got: %f", name, letter, v)
			}
		}
	}
	return nil
}

// walk visits the samples of a window in the order of time. With anchored the first is the last one at or before the
// window's start; nothing is visited when no sample lies after that.
func (k *kernel) walk(i int, w *window, visit func(float bool, at int)) {
	f, h := 0, 0
	if k.anchored {
		from := k.from(i)
		if w.last() <= from {
			return
		}
		for f < len(w.ft) && w.ft[f] <= from {
			f++
		}
		for h < len(w.ht) && w.ht[h] <= from {
			h++
		}
		switch {
		case f > 0 && (h == 0 || w.ft[f-1] > w.ht[h-1]):
			f--
		case h > 0:
			h--
		}
	}
	for f < len(w.ft) || h < len(w.ht) {
		if h == len(w.ht) || f < len(w.ft) && w.ft[f] < w.ht[h] {
			visit(true, f)
			f++
		} else {
			visit(false, h)
			h++
		}
	}
}

// last is the time of the last sample.
func (w *window) last() int64 {
	if w.lastIsFloat() {
		return w.ft[len(w.ft)-1]
	}
	return w.ht[len(w.ht)-1]
}

// compare counts the pairs of neighbours in a window that differ in some way; a float beside a histogram always does.
func (k *kernel) compare(i int, w *window, floats, hists func(a, b int) bool) windowValue {
	count, seen := 0.0, false
	var wasFloat bool
	var prev int
	k.walk(i, w, func(isFloat bool, at int) {
		if seen && (isFloat != wasFloat || isFloat && floats(prev, at) || !isFloat && hists(prev, at)) {
			count++
		}
		seen, wasFloat, prev = true, isFloat, at
	})
	if !seen {
		return windowValue{}
	}
	return float(count)
}

func resets(k *kernel, i int, w *window) windowValue {
	return k.compare(i, w,
		func(a, b int) bool {
			return w.fv[b] < w.fv[a] || w.fst != nil && startReset(w.fst[a], w.ft[a], w.fst[b], w.ft[b])
		},
		func(a, b int) bool {
			return w.hst != nil && startReset(w.hst[a], w.ht[a], w.hst[b], w.ht[b]) || w.h[b].ResetSince(w.h[a])
		})
}

func changes(k *kernel, i int, w *window) windowValue {
	return k.compare(i, w,
		func(a, b int) bool {
			return w.fv[a] != w.fv[b] && !(math.IsNaN(w.fv[a]) && math.IsNaN(w.fv[b]))
		},
		func(a, b int) bool { return !w.h[b].Equal(w.h[a]) })
}
