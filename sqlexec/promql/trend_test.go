package promql

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// lineAlone is the line through the floats of a window, each sum made from the start.
func lineAlone(ts []int64, v []float64, at int64) (slope, value float64) {
	if alike(v) {
		if math.IsInf(v[0], 0) {
			return math.NaN(), math.NaN()
		}
		return 0, v[0]
	}
	var x, y, xy, xx kahan
	for i := range v {
		s := float64(ts[i]-at) / 1000
		x, y, xy, xx = x.addBeyond(s), y.addBeyond(v[i]), xy.addBeyond(s*v[i]), xx.addBeyond(s*s)
	}
	n := float64(len(v))
	slope = (xy.value() - x.value()*y.value()/n) / (xx.value() - x.value()*x.value()/n)
	return slope, y.value()/n - slope*x.value()/n
}

// TestTrendOfWindows: a line is the same bit by bit whatever window came before, of samples that come evenly and not,
// of values that are not finite as well.
func TestTrendOfWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 0, 7}
	var l trend
	for round := range 3000 {
		n := 1 + r.IntN(40)
		ts, v := make([]int64, n), make([]float64, n)
		at := int64(0)
		for i := range ts {
			if at += 15_000; round%3 == 0 {
				at += r.Int64N(1000)
			}
			ts[i], v[i] = at, r.NormFloat64()*100
			if round%5 == 0 && r.IntN(4) == 0 {
				v[i] = odd[r.IntN(len(odd))]
			}
		}
		for lo := 0; lo < n; lo += 1 + r.IntN(3) {
			hi := min(n, lo+1+r.IntN(9))
			slope, value := l.line(ts[lo:hi], v[lo:hi], ts[hi-1])
			wantSlope, wantValue := lineAlone(ts[lo:hi], v[lo:hi], ts[hi-1])
			if !sameBits(slope, wantSlope) || !sameBits(value, wantValue) {
				t.Fatalf("samples %v of %v: %v and %v, want %v and %v", ts[lo:hi], v[lo:hi], slope, value, wantSlope,
					wantValue)
			}
		}
	}
}

func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// TestSlidingBest: the greatest and the least value of windows that move, stand still, jump, and lie apart.
func TestSlidingBest(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for range 2000 {
		v := make([]float64, 1+r.IntN(60))
		for i := range v {
			if v[i] = float64(r.IntN(9)); r.IntN(6) == 0 {
				v[i] = math.NaN()
			}
		}
		var spans []span
		for lo, hi := 0, 0; hi < len(v); {
			lo, hi = min(len(v), lo+r.IntN(9)), min(len(v), hi+r.IntN(9))
			spans = append(spans, span{int32(min(lo, hi)), int32(hi)})
		}
		for sign, better := range map[float64]func(v, best float64) bool{1: greater, -1: less} {
			out := row{vals: make([]float64, len(spans)), has: make(bitmap, 1+len(spans)/64)}
			slidingBest(&worker{}, spans, v, &out, sign)
			for i, sp := range spans {
				if sp.lo == sp.hi {
					continue
				}
				want := v[sp.lo]
				for _, x := range v[sp.lo:sp.hi] {
					if better(x, want) {
						want = x
					}
				}
				if got := out.vals[i]; !sameBits(got, want) {
					t.Fatalf("sign %v, samples %v of %v: %v, want %v", sign, sp, v, got, want)
				}
			}
		}
	}
}

// BenchmarkTrend predicts from windows of 240 samples of series that are scraped together.
func BenchmarkTrend(b *testing.B) {
	const n = 240
	ts, v := make([]int64, n), make([]float64, n)
	for i := range ts {
		ts[i], v[i] = int64(i)*15_000, math.Sin(float64(i))*1e9
	}
	for name, line := range map[string]func([]int64, []float64, int64) (float64, float64){
		"alone": lineAlone, "windows": new(trend).line} {
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			for b.Loop() {
				line(ts, v, ts[n-1])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
		})
	}
}
