package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestInterleave compares with rows appended one by one, for all kinds and forms, with and without NULL.
func TestInterleave(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, typ := range []Type{BoolType, Int64Type, Uint64Type, FloatType, StringType} {
		for round := range 60 {
			srcs := make([]*Vector, 1+r.IntN(4))
			sizes := make([]int, len(srcs))
			for i := range srcs {
				sizes[i] = 1 + r.IntN(150)
				srcs[i] = formOf(r, typ, sizes[i])
			}
			srcs = append(srcs, nil) // never picked
			got, want := &Vector{Type: typ}, &Vector{Type: typ}
			n := 0
			for range 1 + r.IntN(3) {
				var picks []Pick
				for range r.IntN(130) {
					s := r.IntN(len(srcs) - 1)
					p := Pick{uint32(s), uint32(r.IntN(sizes[s]))}
					want.Append(n+len(picks), srcs[s], int(p.Row), int(p.Row)+1)
					picks = append(picks, p)
				}
				got.Interleave(n, srcs, picks)
				n += len(picks)
			}
			for i := range n {
				if g, w := cell(got, i), cell(want, i); g != w {
					t.Fatalf("%s, round %d: row %d of %d is %s, want %s", typ, round, i, n, g, w)
				}
			}
		}
	}
}

// formOf is a random vector of n rows, of any form.
func formOf(r *rand.Rand, typ Type, n int) *Vector {
	flat := func(n int, nulls bool) *Vector {
		v := &Vector{Type: typ}
		for i := range n {
			one := ConstNull(typ)
			if !nulls || r.IntN(4) > 0 {
				switch typ.Kind() {
				case Bool:
					one = ConstBool(r.IntN(2) == 0)
				case Int64:
					one = ConstInt(typ, r.Int64())
				case Uint64:
					one = ConstUint(typ, r.Uint64())
				case Float64:
					one = &Vector{Type: typ, Form: Const, Floats: []float64{r.Float64()}}
				default:
					one = ConstString(fmt.Sprint(r.IntN(1000)))
				}
			}
			v.Append(i, one, 0, 1)
		}
		return v
	}
	switch r.IntN(4) {
	case 0:
		v := flat(1, r.IntN(2) == 0)
		v.Form = Const
		return v
	case 1:
		values := 1 + r.IntN(9)
		v := &Vector{Type: typ, Form: Dict, Values: flat(values, false)}
		for range n {
			v.Codes = append(v.Codes, uint32(r.IntN(values)))
		}
		return v
	}
	return flat(n, r.IntN(2) == 0)
}

func cell(v *Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	switch v.Type.Kind() {
	case Bool:
		return fmt.Sprint(v.Bool(i))
	case Int64:
		return fmt.Sprint(v.Int(i))
	case Uint64:
		return fmt.Sprint(v.Uint(i))
	case Float64:
		return fmt.Sprint(v.Float(i))
	}
	return v.Str(i)
}

// TestInterleaveAllocs: a few rows of a few sources take no memory once there is room for them.
func TestInterleaveAllocs(t *testing.T) {
	for _, typ := range []Type{Int64Type, Uint64Type, FloatType} {
		v := &Vector{Type: typ}
		src := &Vector{Type: typ, Ints: []int64{1, 2}, Uints: []uint64{1, 2}, Floats: []float64{1, 2}}
		srcs := []*Vector{src, nil, src, src}
		picks := []Pick{{0, 1}, {3, 0}}
		v.Interleave(0, srcs, picks)
		if n := testing.AllocsPerRun(100, func() {
			v.Ints, v.Uints, v.Floats = v.Ints[:0], v.Uints[:0], v.Floats[:0]
			v.Interleave(0, srcs, picks)
		}); n > 0 {
			t.Errorf("%s: %v allocations", typ, n)
		}
	}
}
