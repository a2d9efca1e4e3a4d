package promql

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestKahanForms: the form of an addition that loops use is the one that asks which operand is the greater, bit by bit,
// and its loss is NaN where that form does more.
func TestKahanForms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	odd := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, -math.MaxFloat64,
		5e-324, 1}
	pick := func() float64 {
		switch r.IntN(6) {
		case 0:
			return odd[r.IntN(len(odd))]
		case 1:
			return math.Float64frombits(r.Uint64())
		}
		return math.Ldexp(r.NormFloat64(), r.IntN(60)-30)
	}
	same := func(a, b float64) bool { return a == b || a != a && b != b }
	for range 200_000 {
		s, v := kahan{pick(), pick()}, pick()
		got, want := s.plus(v), s.addBeyond(v)
		if got.lost == got.lost && (!same(got.sum, want.sum) || !same(got.lost, want.lost)) {
			t.Fatalf("%v plus %v: %v, want %v", s, v, got, want)
		}
		if got := s.add(v); !same(got.sum, want.sum) || !same(got.lost, want.lost) {
			t.Fatalf("%v and %v: %v, want %v", s, v, got, want)
		}
	}
	for range 20_000 {
		vs := make([]float64, 1+r.IntN(9))
		var want kahan
		for i := range vs {
			vs[i] = pick()
			want = want.addBeyond(vs[i])
		}
		if got := sumOf(vs); !same(got, want.value()) {
			t.Fatalf("sum of %v: %v, want %v", vs, got, want.value())
		}
	}
}
