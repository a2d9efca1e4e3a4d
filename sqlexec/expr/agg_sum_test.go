package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestIntegerSums adds batches of narrow and of wide values, to one group and to several, with and without NULL, in two
// accumulators that are merged, beside sums without bounds.
func TestIntegerSums(t *testing.T) {
	values := map[string]func(r *rand.Rand) int64{
		"narrow": func(r *rand.Rand) int64 { return int64(int32(r.Uint32())) },
		"edges": func(r *rand.Rand) int64 {
			return []int64{math.MinInt32, math.MaxInt32, math.MaxInt32 + 1}[r.IntN(3)]
		},
		"wide":     func(r *rand.Rand) int64 { return int64(r.Uint64()) },
		"extremes": func(r *rand.Rand) int64 { return []int64{math.MinInt64, math.MaxInt64, -1, 1}[r.IntN(4)] },
	}
	for first := range values {
		for then := range values {
			t.Run(first+" then "+then, func(t *testing.T) {
				for seed := range uint64(30) {
					checkIntegerSums[int64](t, rand.New(rand.NewPCG(seed, 1)), vector.Int64Type, values[first],
						values[then])
					checkIntegerSums[uint64](t, rand.New(rand.NewPCG(seed, 2)), vector.Uint64Type, values[first],
						values[then])
				}
			})
		}
	}
}

func checkIntegerSums[T int64 | uint64](t *testing.T, r *rand.Rand, of vector.Type, draws ...func(r *rand.Rand) int64) {
	t.Helper()
	groups := 1 + r.IntN(3)
	want := make([]*big.Int, groups)
	accs := [2]*integerSums[T]{}
	all := make([]uint32, groups)
	for g := range want {
		want[g], all[g] = new(big.Int), uint32(g)
	}
	for i := range accs {
		accs[i] = &integerSums[T]{t: of, of: integers[T]}
		accs[i].Grow(groups)
	}
	for _, draw := range draws {
		for _, acc := range accs {
			n := 1 + r.IntN(130)
			v := &vector.Vector{Type: of}
			x := make([]T, vector.Size)
			ids := make([]uint32, n)
			if r.IntN(3) == 0 {
				v.Valid = vector.MakeBitmap(n)
			}
			for i := range n {
				x[i], ids[i] = T(draw(r)), uint32(r.IntN(groups))
				if v.Valid != nil && r.IntN(2) == 0 {
					continue
				}
				if v.Valid != nil {
					v.Valid.Set(i)
				}
				want[ids[i]].Add(want[ids[i]], bigOf(x[i]))
			}
			*integers[T](v) = x
			if err := acc.Add(n, ids, []*vector.Vector{v}, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := accs[0].Merge(accs[1], all, all); err != nil {
		t.Fatal(err)
	}
	fits := true
	for _, w := range want {
		fits = fits && bigOf(T(lowBits(w))).Cmp(w) == 0
	}
	got, err := accs[0].Result(groups)
	if fits != (err == nil) {
		t.Fatalf("sums %v: error %v", want, err)
	}
	for g := range want {
		if fits && bigOf((*integers[T](got))[g]).Cmp(want[g]) != 0 {
			t.Fatalf("group %d: got %d, want %v", g, (*integers[T](got))[g], want[g])
		}
	}
}

func bigOf[T int64 | uint64](x T) *big.Int {
	if x < 0 {
		return big.NewInt(int64(x))
	}
	return new(big.Int).SetUint64(uint64(x))
}

// lowBits is x modulo 2^64.
func lowBits(x *big.Int) uint64 {
	return new(big.Int).And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}
