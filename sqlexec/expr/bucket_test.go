package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestBucketsAgainstFloor compares the kernel with the definition, row by row: close and far times, rising or not,
// around zero, the origin and the ends of the range.
func TestBucketsAgainstFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for round := range 3000 {
		step, origin := 1+r.Int64N(1<<r.IntN(40)), int64(0)
		if round%3 == 0 {
			origin = r.Int64()>>r.IntN(64) - 1<<r.IntN(20)
		}
		b := binsOf(step, origin)
		n, at, spread := r.IntN(200), r.Int64()>>r.IntN(64)*(1-2*r.Int64N(2)), int64(1)<<r.IntN(45)
		if round%50 == 0 {
			at = []int64{math.MinInt64, math.MaxInt64 - spread}[r.IntN(2)]
		}
		v := &vector.Vector{Type: vector.Timestamp(3)}
		for range n {
			v.Ints = append(v.Ints, at+r.Int64N(spread))
			if round%2 == 0 {
				at += r.Int64N(spread)
			}
		}
		out := &vector.Vector{Type: v.Type}
		if err := b.kernel(n, []*vector.Vector{v}, nil, out); err != nil {
			t.Fatal(err)
		}
		for i, x := range v.Ints {
			d := new(big.Int).Sub(big.NewInt(x), big.NewInt(origin))
			rest := d.Mod(d, big.NewInt(step)).Int64() // not negative
			if got, want := out.Int(i), x-rest; got != want {
				t.Fatalf("bucket of %d, of length %d from %d, is %d, want %d (form %d)", x, step, origin, got, want,
					out.Form)
			}
		}
	}
}

func BenchmarkBuckets(b *testing.B) {
	for _, every := range []int64{1, 8, 1000} {
		b.Run(fmt.Sprintf("apart=%dms", every), func(b *testing.B) {
			v := &vector.Vector{Type: vector.Timestamp(3)}
			for i := range int64(vector.Size) {
				v.Ints = append(v.Ints, 1_700_000_000_000+i*every)
			}
			out, by := &vector.Vector{}, binsOf(60_000, 0)
			for b.Loop() {
				*out = vector.Vector{Ints: out.Ints[:0]}
				if err := by.kernel(vector.Size, []*vector.Vector{v}, nil, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Size, "ns/row")
		})
	}
}
