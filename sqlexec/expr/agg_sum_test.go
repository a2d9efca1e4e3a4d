package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestSumsOfPartialStates adds numbers near the ends of 64 bits in several states, which are merged in any order, and compares
// with sums of any size: a sum that fits is exact whatever it was on the way, one that does not is an error.
func TestSumsOfPartialStates(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	ends := []int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1, -1, 0}
	fit, unfit := 0, 0
	for range 3000 {
		agg, want := bind(t, "sum", false, &Column{Name: "x", T: i64, Null: true}), new(big.Int)
		total := agg.New()
		total.Grow(1)
		for range 1 + r.IntN(3) {
			part, v := agg.New(), &vector.Vector{Type: i64}
			part.Grow(1)
			n := 1 + r.IntN(4)
			for i := range n {
				if r.IntN(5) == 0 {
					v.AppendNulls(i, 1)
					continue
				}
				x := ends[r.IntN(len(ends))]
				v.Append(i, vector.ConstInt(i64, x), 0, 1)
				want.Add(want, big.NewInt(x))
			}
			if err := part.Add(n, make([]uint32, n), []*vector.Vector{v}, nil); err != nil {
				t.Fatal(err)
			}
			if err := total.Merge(part, []uint32{0}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := total.Result(1)
		if want.IsInt64() != (err == nil) {
			t.Fatalf("a sum of %s gives the error %v", want, err)
		}
		if err != nil {
			unfit++
			continue
		}
		if fit++; !got.IsNull(0) && got.Int(0) != want.Int64() {
			t.Fatalf("got %d, want %s", got.Int(0), want)
		}
	}
	if fit < 100 || unfit < 100 {
		t.Fatalf("%d sums fit, %d do not: the test tries too few", fit, unfit)
	}
}
