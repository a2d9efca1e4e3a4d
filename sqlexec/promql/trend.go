package promql

import (
	"math"

	"github.com/prometheus/prometheus/util/annotations"
)

// trend finds lines through the floats of windows. What it sums of times serves the next window, too, if its samples
// lie at the same times as seen from the time in question: so do the windows of a step, and those of a series that is
// scraped evenly.
type trend struct {
	after   []int64   // ms from the time in question to the samples
	seconds []float64 // the same
	x, xx   kahan     // sums of them, and of their squares
}

// line is the line through floats by least squares: its slope a second and its value at a time.
func (l *trend) line(ts []int64, v []float64, at int64) (slope, value float64) {
	if alike(v) {
		if math.IsInf(v[0], 0) {
			return math.NaN(), math.NaN()
		}
		return 0, v[0]
	}
	l.times(ts, at)
	y, xy := l.sums(v)
	n, x, xx := float64(len(v)), l.x.value(), l.xx.value()
	slope = (xy.value() - x*y.value()/n) / (xx - x*x/n)
	return slope, y.value()/n - slope*x/n
}

// alike reports whether all values are equal.
func alike(v []float64) bool {
	for _, x := range v[1:] {
		if x != v[0] {
			return false
		}
	}
	return true
}

// times sums what depends on the times alone.
func (l *trend) times(ts []int64, at int64) {
	if l.fits(ts, at) {
		return
	}
	l.after, l.seconds, l.x, l.xx = l.after[:0], l.seconds[:0], kahan{}, kahan{}
	for _, t := range ts {
		s := float64(t-at) / 1000
		l.after, l.seconds = append(l.after, t-at), append(l.seconds, s)
		l.x, l.xx = l.x.add(s), l.xx.add(s*s)
	}
}

// fits reports whether the times are those of the window before.
func (l *trend) fits(ts []int64, at int64) bool {
	if len(ts) != len(l.after) {
		return false
	}
	for i, ms := range l.after {
		if ts[i]-at != ms {
			return false
		}
	}
	return true
}

// sums sums the values, and their products with the times.
func (l *trend) sums(v []float64) (y, xy kahan) {
	seconds := l.seconds[:len(v)]
	for i, x := range v {
		y, xy = y.plus(x), xy.plus(seconds[i]*x)
	}
	if lost := y.lost + xy.lost; lost == lost {
		return y, xy
	}
	y, xy = kahan{}, kahan{}
	for i, x := range v {
		y, xy = y.add(x), xy.add(seconds[i]*x)
	}
	return y, xy
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

var deriv = twoFloats(func(k *kernel, _ int, w *window) float64 {
	slope, _ := k.w.trend.line(w.ft, w.fv, w.ft[0]) // near to the values: fewer digits are lost
	return slope
})

var predictLinear = twoFloats(func(k *kernel, i int, w *window) float64 {
	slope, value := k.w.trend.line(w.ft, w.fv, k.g.at(i))
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
