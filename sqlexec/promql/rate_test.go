package promql

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCounterFloats: rates of a whole series are those of its windows one by one, bit by bit: of samples that come
// evenly and not, of windows of all sizes, with resets, counters near zero, and values that are not finite.
func TestCounterFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), -5, 1e308}
	for round := range 4000 {
		n := 1 + r.IntN(60)
		ts, v := make([]int64, n), make([]float64, n)
		at, value := int64(0), float64(r.IntN(3))*1000
		for i := range ts {
			if at += 15_000; round%3 == 0 {
				at += r.Int64N(1000) - 500
			}
			if value += r.Float64() * 100; r.IntN(12) == 0 {
				value = r.Float64() * 10
			}
			if ts[i], v[i] = at, value; round%5 == 0 && r.IntN(6) == 0 {
				v[i] = odd[r.IntN(len(odd))]
			}
		}
		perSecond := round%2 == 0
		c := &rangeCall{rangeFunc: functions["increase"].over, rangeMS: 15_000 * (1 + r.Int64N(20)),
			clock: clock{grid{0, 1, 1 + r.IntN(70)}, r.Int64N(60_000), r.Int64N(4) * 7500}}
		k := &kernel{rangeCall: c, w: &worker{}}
		spans := windowSpans(nil, ts, c.clock, c.rangeMS, 0)
		out := row{vals: make([]float64, c.g.n), has: make(bitmap, c.g.words())}
		counterFloats(perSecond)(k, spans, ts, v, &out)
		for i, sp := range spans {
			want := windowValue{}
			if sp.lo < sp.hi {
				want = k.rateFloat(i, &window{ft: ts[sp.lo:sp.hi], fv: v[sp.lo:sp.hi]}, true, perSecond)
			}
			if out.has.has(i) != want.ok || want.ok && !sameBits(out.vals[i], want.v) {
				t.Fatalf("round %d, step %d, times %v, values %v, range %d, %v: %v %v, want %v %v", round, i,
					ts[sp.lo:sp.hi], v[sp.lo:sp.hi], c.rangeMS, c.clock, out.has.has(i), out.vals[i], want.ok, want.v)
			}
		}
	}
}
