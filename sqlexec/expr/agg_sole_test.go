package expr

import (
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestSoleGroup: rows without keys add up to what the same rows do in a group that is found by looking at each.
func TestSoleGroup(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 131 {
		floats := &vector.Vector{Type: f64}
		ints := &vector.Vector{Type: i64}
		for range n {
			floats.Floats = append(floats.Floats, float64(r.IntN(1<<20))/8)
			ints.Ints = append(ints.Ints, int64(r.Uint64()>>r.IntN(60)))
		}
		for _, c := range []struct {
			name string
			make func() Accumulator
			v    *vector.Vector
		}{
			{"mean", func() Accumulator { return &moments{finish: func(m *moment) float64 { return m.mean }} }, floats},
			{"sum of floats", func() Accumulator { return &floatSums{} }, floats},
			{"sum of integers", func() Accumulator { return newIntegerSums(i64) }, ints},
			{"count", func() Accumulator { return &counts{args: 1} }, ints},
		} {
			sole, other := c.make(), c.make()
			sole.Grow(2)
			other.Grow(2)
			for i := range n { // one by one: no sum has company
				if err := other.Add(1, []uint32{0}, []*vector.Vector{c.v.Slice(i, i+1)}, nil); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := sole.Add(n, SoleGroup(n), []*vector.Vector{c.v}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := other.Merge(copyOf(t, c.make(), c.v, n), []uint32{0}, []uint32{0}); err != nil {
				t.Fatal(err)
			}
			a, aerr := sole.Result(1)
			b, berr := other.Result(1)
			if (aerr != nil) != (berr != nil) || aerr == nil && Compare(a, 0, b, 0) != 0 && !a.IsNull(0) {
				t.Errorf("%s of %d rows: %v, %v, one by one %v, %v", c.name, n, a, aerr, b, berr)
			}
		}
	}
	for i, g := range zeroGroups {
		if g != 0 {
			t.Fatalf("row %d of the sole group has group %d", i, g)
		}
	}
}

// copyOf is an accumulator with the rows of v in a group that is not the sole one.
func copyOf(t *testing.T, acc Accumulator, v *vector.Vector, n int) Accumulator {
	t.Helper()
	acc.Grow(2)
	for i := range n {
		if err := acc.Add(1, []uint32{0}, []*vector.Vector{v.Slice(i, i+1)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return acc
}

// TestSumFloats: four sums give what one gives, whatever is in them.
func TestSumFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 131 {
		x, want := make([]float64, n), 0.0
		for i := range x {
			x[i] = float64(r.IntN(1 << 30))
			want += x[i]
		}
		if got := sumFloats(x); got != want {
			t.Errorf("%d floats: %g, want %g", n, got, want)
		}
		if n > 0 {
			for special, is := range map[float64]func(float64) bool{
				math.Inf(1): func(x float64) bool { return math.IsInf(x, 1) }, math.NaN(): math.IsNaN} {
				x[r.IntN(n)] = special
				if got := sumFloats(x); !is(got) {
					t.Errorf("%d floats with %g: %g", n, special, got)
				}
				x = make([]float64, n)
			}
		}
	}
}
