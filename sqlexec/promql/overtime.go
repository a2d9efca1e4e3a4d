package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/util/annotations"

	"varve/sqlexec/promql/histogram"
)

// kahan is a sum and what its additions lost (Neumaier's form).
type kahan struct{ sum, lost float64 }

// add adds a value.
func (s kahan) add(v float64) kahan {
	if next := s.plus(v); next.lost == next.lost {
		return next
	}
	return s.addBeyond(v)
}

// plus is add as loops have it, without a call or a branch on which operand is the greater: what is lost is NaN from
// there on where the sum, or what it loses, is not finite.
func (s kahan) plus(v float64) kahan {
	t := s.sum + v
	b := t - s.sum
	return kahan{t, s.lost + ((s.sum - (t - b)) + (v - b))}
}

// addBeyond adds where the sum, or what it loses, is not finite.
func (s kahan) addBeyond(v float64) kahan {
	t := s.sum + v
	switch {
	case math.IsInf(t, 0):
		return kahan{t, 0}
	case math.Abs(s.sum) >= math.Abs(v):
		return kahan{t, s.lost + ((s.sum - t) + v)}
	}
	return kahan{t, s.lost + ((v - t) + s.sum)}
}

func (s kahan) value() float64 { return s.sum + s.lost }

// mean is an average that does not overflow: a sum until that would be infinite, then a mean that is corrected by each
// value.
type mean struct {
	kahan
	n           float64
	incremental bool
}

func (m *mean) add(v float64) {
	m.n++
	if m.n == 1 {
		m.kahan = kahan{sum: v}
		return
	}
	if !m.incremental {
		next := m.kahan.add(v)
		if !math.IsInf(next.sum, 0) {
			m.kahan = next
			return
		}
		m.incremental = true
		m.sum /= m.n - 1
		m.lost /= m.n - 1
	}
	q := (m.n - 1) / m.n
	m.kahan = kahan{q * m.sum, q * m.lost}.add(v / m.n)
}

func (m *mean) value() float64 {
	if m.incremental {
		return m.kahan.value()
	}
	return m.sum/m.n + m.lost/m.n
}

func sumOf(v []float64) float64 {
	var s kahan
	for _, x := range v {
		s = s.plus(x)
	}
	if s.lost == s.lost {
		return s.value()
	}
	s = kahan{}
	for _, x := range v {
		s = s.add(x)
	}
	return s.value()
}

func meanOf(v []float64) float64 {
	var m mean
	for _, x := range v {
		m.add(x)
	}
	return m.value()
}

// greater and less say whether a value takes the place of the best so far; any number takes that of NaN.
func greater(v, best float64) bool { return v > best || best != best }
func less(v, best float64) bool    { return v < best || best != best }

// eachWindow computes a function of the values of each window that is not empty.
func eachWindow(k *kernel, spans []span, v []float64, out *row, f func(v []float64) float64) {
	for i, sp := range spans {
		if !k.w.goOn(int(sp.hi - sp.lo)) {
			return
		}
		if sp.lo < sp.hi {
			out.put(i, f(v[sp.lo:sp.hi]))
		}
	}
}

func sumFloats(k *kernel, spans []span, _ []int64, v []float64, out *row) {
	eachWindow(k, spans, v, out, sumOf)
}

func avgFloats(k *kernel, spans []span, _ []int64, v []float64, out *row) {
	eachWindow(k, spans, v, out, meanOf)
}

func countFloats(_ *kernel, spans []span, _ []int64, _ []float64, out *row) {
	for i, sp := range spans {
		if sp.lo < sp.hi {
			out.put(i, float64(sp.hi-sp.lo))
		}
	}
}

func lastWindowFloats(_ *kernel, spans []span, _ []int64, v []float64, out *row) {
	for i, sp := range spans {
		if sp.lo < sp.hi {
			out.put(i, v[sp.hi-1])
		}
	}
}

func minFloats(k *kernel, spans []span, _ []int64, v []float64, out *row) {
	slidingBest(k.w, spans, v, out, -1)
}

func maxFloats(k *kernel, spans []span, _ []int64, v []float64, out *row) {
	slidingBest(k.w, spans, v, out, 1)
}

// slidingBest gives the greatest value of each window, with sign -1 the least. It keeps the candidates of the window in
// a queue: each is greater than those behind it, so the front is the best, and each sample comes in and goes out once.
func slidingBest(w *worker, spans []span, v []float64, out *row, sign float64) {
	queue := w.queue[:0]
	head, seen := 0, 0
	for i, sp := range spans {
		if sp.lo == sp.hi {
			continue
		}
		if int(sp.lo) >= seen { // nothing in the queue is of the window
			queue, head, seen = queue[:0], 0, int(sp.lo)
		}
		for ; seen < int(sp.hi); seen++ {
			x := sign * v[seen]
			for len(queue) > head {
				if last := sign * v[queue[len(queue)-1]]; x < last || x != x && last == last {
					break
				}
				queue = queue[:len(queue)-1]
			}
			queue = append(queue, int32(seen))
		}
		for queue[head] < sp.lo {
			head++
		}
		out.put(i, v[queue[head]])
	}
	w.queue = queue
}

// noteIgnored reports histograms beside floats that a function of floats leaves out.
func (k *kernel) noteIgnored(w *window) {
	if len(w.ht) > 0 {
		k.note(annotations.NewHistogramIgnoredInMixedRangeInfo(k.metric(), k.matrixPos))
	}
}

// floatsOnly is a window function that looks at floats and leaves out histograms.
func floatsOnly(f func(k *kernel, i int, w *window) float64) func(k *kernel, i int, w *window) windowValue {
	return func(k *kernel, i int, w *window) windowValue {
		if len(w.ft) == 0 {
			return windowValue{}
		}
		k.noteIgnored(w)
		return float(f(k, i, w))
	}
}

// sumOverTime adds floats or histograms.
func sumOverTime(k *kernel, _ int, w *window) windowValue {
	switch {
	case w.mixed():
		k.note(annotations.NewMixedFloatsHistogramsWarning(k.metric(), k.matrixPos))
		return windowValue{}
	case len(w.ft) > 0:
		return float(sumOf(w.fv))
	}
	sum := histogram.NewSum(w.h[0])
	for _, h := range w.h[1:] {
		if err := sum.Add(h); err != nil {
			k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.matrixPos))
			return windowValue{}
		}
	}
	k.noteSum(sum.Reconciled, w.h)
	return windowValue{ok: true, h: sum.Result()}
}

// avgOverTime is the mean of floats or histograms.
func avgOverTime(k *kernel, _ int, w *window) windowValue {
	switch {
	case w.mixed():
		k.note(annotations.NewMixedFloatsHistogramsWarning(k.metric(), k.matrixPos))
		return windowValue{}
	case len(w.ft) > 0:
		return float(meanOf(w.fv))
	}
	m := newHistogramMean(w.h[0])
	for _, h := range w.h[1:] {
		if err := m.add(h); err != nil {
			k.note(annotations.NewMixedExponentialCustomHistogramsWarning(k.metric(), k.matrixPos))
			return windowValue{}
		}
	}
	k.noteSum(m.sum.Reconciled, w.h)
	return windowValue{ok: true, h: m.result()}
}

// noteSum reports how histograms were changed so that they could be added.
func (k *kernel) noteSum(reconciled bool, hs []*histogram.Histogram) {
	var seen hints
	for _, h := range hs {
		seen.see(h)
	}
	if seen.collide() {
		k.note(annotations.NewHistogramCounterResetCollisionWarning(k.matrixPos, annotations.HistogramAgg))
	}
	if reconciled {
		k.note(annotations.NewMismatchedCustomBucketsHistogramsInfo(k.matrixPos, annotations.HistogramAgg))
	}
}

// hints is which hints were seen.
type hints uint8

func (s *hints) see(h *histogram.Histogram) { *s |= 1 << h.Hint }

// collide reports whether some histograms had a counter reset and others had none.
func (s hints) collide() bool {
	const both = 1<<histogram.CounterReset | 1<<histogram.NoReset
	return s&both == both
}

// histogramMean is mean for histograms.
type histogramMean struct {
	sum         *histogram.Sum
	n           float64
	incremental bool
}

func newHistogramMean(h *histogram.Histogram) *histogramMean {
	return &histogramMean{sum: histogram.NewSum(h), n: 1}
}

func (m *histogramMean) add(h *histogram.Histogram) error {
	m.n++
	if !m.incremental {
		next := m.sum.Clone()
		if err := next.Add(h); err != nil {
			return err
		}
		if !next.Overflow() {
			m.sum = next
			return nil
		}
		m.incremental = true
		m.sum.Divide(m.n - 1)
	}
	m.sum.Scale((m.n - 1) / m.n)
	return m.sum.Add(h.Clone().Divide(m.n))
}

func (m *histogramMean) result() *histogram.Histogram {
	if !m.incremental {
		m.sum.Divide(m.n)
	}
	return m.sum.Result()
}

func countOverTime(_ *kernel, _ int, w *window) windowValue {
	return float(float64(len(w.ft) + len(w.ht)))
}

func presentOverTime(*kernel, int, *window) windowValue { return float(1) }

// firstIsFloat reports whether the first sample of a window is a float, and lastIsFloat the same of the last one.
func (w *window) firstIsFloat() bool {
	return len(w.ht) == 0 || len(w.ft) > 0 && w.ft[0] < w.ht[0]
}

func (w *window) lastIsFloat() bool {
	return len(w.ht) == 0 || len(w.ft) > 0 && w.ft[len(w.ft)-1] > w.ht[len(w.ht)-1]
}

func firstOverTime(_ *kernel, _ int, w *window) windowValue {
	if w.firstIsFloat() {
		return float(w.fv[0])
	}
	return windowValue{ok: true, h: w.h[0]}
}

func lastOverTime(_ *kernel, _ int, w *window) windowValue {
	if w.lastIsFloat() {
		return float(w.fv[len(w.fv)-1])
	}
	return windowValue{ok: true, h: w.h[len(w.h)-1]}
}

func tsOfFirst(_ *kernel, _ int, w *window) windowValue {
	if w.firstIsFloat() {
		return float(float64(w.ft[0]) / 1000)
	}
	return float(float64(w.ht[0]) / 1000)
}

func tsOfLast(_ *kernel, _ int, w *window) windowValue {
	if w.lastIsFloat() {
		return float(float64(w.ft[len(w.ft)-1]) / 1000)
	}
	return float(float64(w.ht[len(w.ht)-1]) / 1000)
}

// extremeOverTime is the smallest or largest float.
func extremeOverTime(better func(v, best float64) bool) func(k *kernel, i int, w *window) windowValue {
	return floatsOnly(func(_ *kernel, _ int, w *window) float64 {
		best := w.fv[0]
		for _, v := range w.fv[1:] {
			if better(v, best) {
				best = v
			}
		}
		return best
	})
}

// tsOfExtreme is the time of the smallest or largest float, the last of equal ones.
func tsOfExtreme(better func(v, best float64) bool) func(k *kernel, i int, w *window) windowValue {
	return floatsOnly(func(_ *kernel, _ int, w *window) float64 {
		best := 0
		for i, v := range w.fv {
			if better(v, w.fv[best]) || v == w.fv[best] {
				best = i
			}
		}
		return float64(w.ft[best]) / 1000
	})
}

func varianceOverTime(root bool) func(k *kernel, i int, w *window) windowValue {
	return floatsOnly(func(_ *kernel, _ int, w *window) float64 {
		var n float64
		var mean, squares kahan
		for _, v := range w.fv {
			n++
			delta := v - mean.value()
			mean = mean.add(delta / n)
			squares = squares.add(delta * (v - mean.value()))
		}
		variance := squares.value() / n
		if root {
			return math.Sqrt(variance)
		}
		return variance
	})
}

// quantileOverTime is the quantile of floats.
func quantileOverTime(k *kernel, i int, w *window) windowValue {
	if len(w.ft) == 0 {
		return windowValue{}
	}
	q := k.args[0][i]
	if math.IsNaN(q) || q < 0 || q > 1 {
		k.note(annotations.NewInvalidQuantileWarning(q, k.matrixPos))
	}
	k.noteIgnored(w)
	k.w.scratch = append(k.w.scratch[:0], w.fv...)
	return float(quantile(q, k.w.scratch))
}

// sortedWindow is the size up to which the window of a quantile is kept sorted as it moves; larger ones are sorted
// anew.
const sortedWindow = 512

// quantileFloats keeps the window sorted: a sample that comes in or goes out moves those above it.
func quantileFloats(k *kernel, spans []span, _ []int64, v []float64, out *row) {
	window := k.w.scratch[:0]
	have := span{}
	for i, sp := range spans {
		if sp.lo == sp.hi {
			continue
		}
		q := k.args[0][i]
		if math.IsNaN(q) || q < 0 || q > 1 {
			k.note(annotations.NewInvalidQuantileWarning(q, k.matrixPos))
		}
		if sp.lo >= have.hi || sp.hi-sp.lo > sortedWindow || (sp.lo-have.lo)+(sp.hi-have.hi) > (sp.hi-sp.lo)/2 {
			if !k.w.goOn(10 * int(sp.hi-sp.lo)) {
				return
			}
			window = append(window[:0], v[sp.lo:sp.hi]...)
			slices.Sort(window)
		} else {
			for _, x := range v[have.lo:sp.lo] {
				at, _ := slices.BinarySearch(window, x)
				window = slices.Delete(window, at, at+1)
			}
			for _, x := range v[have.hi:sp.hi] {
				at, _ := slices.BinarySearch(window, x)
				window = slices.Insert(window, at, x)
			}
		}
		have = sp
		out.put(i, quantileOfSorted(q, window))
	}
	k.w.scratch = window
}

// madOverTime is the median of the distances from the median.
func madOverTime(k *kernel, i int, w *window) windowValue {
	return floatsOnly(func(k *kernel, _ int, w *window) float64 {
		if slices.ContainsFunc(w.fv, math.IsNaN) {
			return math.NaN()
		}
		v := append(k.w.scratch[:0], w.fv...)
		k.w.scratch = v
		median := quantile(0.5, v)
		for i := range v {
			v[i] = math.Abs(v[i] - median)
		}
		return quantile(0.5, v)
	})(k, i, w)
}

// quantile sorts the values, NaN first, and interpolates between the two next to the rank.
func quantile(q float64, v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return quantileOfSorted(q, v)
}

func quantileOfSorted(q float64, v []float64) float64 {
	switch {
	case math.IsNaN(q):
		return math.NaN()
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	}
	rank := q * float64(len(v)-1)
	lower := math.Floor(rank)
	upper := math.Min(float64(len(v)-1), lower+1)
	weight := rank - lower
	return v[int(lower)]*(1-weight) + v[int(upper)]*weight
}
