package expr

import (
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestDeviationsTooLarge: the variance of finite values too far apart for it is infinite, that of others is not a
// number, in whatever order the values come and however they are merged.
func TestDeviationsTooLarge(t *testing.T) {
	const most = math.MaxFloat64
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{most, -most}, math.Inf(1)},
		{[]float64{most, -most, 0, 1, most, 3}, math.Inf(1)},
		{[]float64{most, 0, 0, 0}, math.Inf(1)},
		{[]float64{1e200, -1e200, 5}, math.Inf(1)},
		{[]float64{most, most, most}, 0},
		{[]float64{most, -most, math.Inf(1)}, math.NaN()},
		{[]float64{1, 2, math.Inf(-1)}, math.NaN()},
		{[]float64{most, math.NaN(), -most}, math.NaN()},
	} {
		for range 50 {
			r.Shuffle(len(c.values), func(i, j int) { c.values[i], c.values[j] = c.values[j], c.values[i] })
			cut := r.IntN(len(c.values) + 1)
			var got float64
			var states [2]Accumulator
			for i, part := range [][]float64{c.values[:cut], c.values[cut:]} {
				a := &moments{finish: func(m *moment) float64 { return m.deviations() / m.n }, square: true}
				a.Grow(1)
				v := &vector.Vector{Type: vector.FloatType, Floats: part}
				if err := a.Add(len(part), make([]uint32, len(part)), []*vector.Vector{v}, nil); err != nil {
					t.Fatal(err)
				}
				states[i] = a
			}
			if err := states[0].Merge(states[1], []uint32{0}, []uint32{0}); err != nil {
				t.Fatal(err)
			}
			v, err := states[0].Result(1)
			if err != nil {
				t.Fatal(err)
			}
			if got = v.Floats[0]; got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("%v, cut at %d: %v, want %v", c.values, cut, got, c.want)
			}
		}
	}
}
