package logql

import (
	"cmp"
	"context"
	"math"

	"varve/sqlexec/logql/syntax"
)

// sample is a value at a time, ns.
type sample struct {
	at    int64
	value float64
}

// window is the samples of a series in (end-interval, end], sorted by time.
type window struct {
	samples       []sample
	end, interval int64 // ns
}

// overTime is the value of an aggregation over a window that has samples.
func overTime(ctx context.Context, op syntax.RangeOp, w window, param float64, scratch *[]float64) float64 {
	s := w.samples
	seconds := float64(w.interval) / 1e9
	switch op {
	case syntax.OpCountOverTime:
		return float64(len(s))
	case syntax.OpRate, syntax.OpBytesRate:
		return sum(s) / seconds
	case syntax.OpSumOverTime, syntax.OpBytesOverTime:
		return sum(s)
	case syntax.OpAvgOverTime:
		return mean(s)
	case syntax.OpMaxOverTime:
		return extreme(s, func(a, b float64) bool { return a > b })
	case syntax.OpMinOverTime:
		return extreme(s, func(a, b float64) bool { return a < b })
	case syntax.OpFirstOverTime:
		return s[0].value
	case syntax.OpLastOverTime:
		return s[len(s)-1].value
	case syntax.OpStddevOverTime:
		return math.Sqrt(variance(s))
	case syntax.OpStdvarOverTime:
		return variance(s)
	case syntax.OpQuantileOverTime:
		return quantile(ctx, s, param, scratch)
	case syntax.OpRateCounter:
		return rateCounter(w)
	}
	return math.NaN()
}

func sum(s []sample) (total float64) {
	for i := range s {
		total += s[i].value
	}
	return total
}

// mean is computed one sample after the other, so that sums do not overflow.
func mean(s []sample) (m float64) {
	for i := range s {
		count := float64(i + 1)
		v := s[i].value
		if math.IsInf(m, 0) {
			if math.IsInf(v, 0) && (m > 0) == (v > 0) {
				continue // the mean stays as it is
			}
			if !math.IsInf(v, 0) && !math.IsNaN(v) {
				continue
			}
		}
		m += v/count - m/count
	}
	return m
}

// extreme is the value that is before all others; NaN counts only if there is nothing else.
func extreme(s []sample, before func(a, b float64) bool) float64 {
	best := s[0].value
	for i := range s {
		if v := s[i].value; before(v, best) || math.IsNaN(best) {
			best = v
		}
	}
	return best
}

// variance is that of all values, by one pass.
func variance(s []sample) float64 {
	var aux, count, m float64
	for i := range s {
		count++
		delta := s[i].value - m
		m += delta / count
		aux += delta * (s[i].value - m)
	}
	return aux / count
}

// quantile interpolates between the two values that are nearest to the rank.
func quantile(ctx context.Context, s []sample, q float64, scratch *[]float64) float64 {
	switch {
	case math.IsNaN(q):
		return math.NaN()
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	}
	values := (*scratch)[:0]
	for i := range s {
		values = append(values, s[i].value)
	}
	*scratch = values
	if Sort(ctx, values, cmp.Compare[float64]) != nil { // NaN first
		return math.NaN() // nobody asks any more
	}
	rank := q * float64(len(values)-1)
	lower := max(0, int(math.Floor(rank)))
	upper := min(len(values)-1, lower+1)
	weight := rank - math.Floor(rank)
	return values[lower]*(1-weight) + values[upper]*weight
}

// rateCounter is the increase of a counter a second. The increase between the first and the last sample is extended to
// the ends of the window as far as the average distance of samples allows, and never to values below zero.
func rateCounter(w window) float64 {
	s := w.samples
	if len(s) < 2 {
		return math.NaN()
	}
	first, last := s[0], s[len(s)-1]
	increase, before := last.value-first.value, first.value
	for _, x := range s[1:] {
		if x.value < before {
			increase += before
		}
		before = x.value
	}
	toStart := float64(first.at-(w.end-w.interval)) / 1e9
	toEnd := float64(w.end-last.at) / 1e9
	sampled := float64(last.at-first.at) / 1e9
	average := sampled / float64(len(s)-1)
	if increase > 0 && first.value >= 0 {
		toStart = min(toStart, sampled*(first.value/increase)) // the counter was zero by then
	}
	extended := sampled
	for _, gap := range [...]float64{toStart, toEnd} {
		if gap < average*1.1 {
			extended += gap
		} else {
			extended += average / 2
		}
	}
	return increase * (extended / sampled) / (float64(w.interval) / 1e9)
}
