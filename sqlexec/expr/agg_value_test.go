package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestExtremes: least and greatest of every fixed-width type are those of a plain loop over sort keys, with NULL, with
// rows that do not count, and with NaN, which is greater than every number.
func TestExtremes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for _, typ := range []vector.Type{vector.Int64Type, vector.Uint64Type, vector.FloatType} {
		for form := range 4 {
			const n, groups = 500, 40
			v, keep, ids := &vector.Vector{Type: typ}, vector.Bitmap(nil), make([]uint32, n)
			if form&2 != 0 {
				keep = vector.MakeBitmap(n)
			}
			for i := range n {
				ids[i] = uint32(r.IntN(groups))
				if keep != nil && r.IntN(3) > 0 {
					keep.Set(i)
				}
				x := float64(r.IntN(50) - 25)
				if r.IntN(8) == 0 {
					x = special[r.IntN(len(special))]
				}
				one := map[vector.Kind]*vector.Vector{
					vector.Int64:  vector.ConstInt(typ, int64(r.IntN(99)-50)),
					vector.Uint64: vector.ConstUint(typ, r.Uint64()), vector.Float64: vector.ConstFloat(typ, x),
				}[typ.Kind()]
				if form&1 != 0 && r.IntN(4) == 0 {
					one = vector.ConstNull(typ)
				}
				v.Append(i, one, 0, 1)
			}
			for name, desc := range map[string]bool{"min": false, "max": true} {
				acc := bind(t, name, false, &Column{T: typ, Null: true}).New()
				acc.Grow(groups)
				if err := acc.Add(n, ids, []*vector.Vector{v}, keep); err != nil {
					t.Fatal(err)
				}
				got, err := acc.Result(groups)
				if err != nil {
					t.Fatal(err)
				}
				for g := range uint32(groups) {
					want, best := "NULL", ""
					for i := range n {
						if ids[i] != g || v.IsNull(i) || keep != nil && !keep.Get(i) {
							continue
						}
						if key := string(AppendSortKey(nil, v, i, desc, false)); best == "" || key < best {
							best, want = key, fmt.Sprintf("%x", AppendSortKey(nil, v, i, false, false))
						}
					}
					is := "NULL"
					if !got.IsNull(int(g)) {
						is = fmt.Sprintf("%x", AppendSortKey(nil, got, int(g), false, false))
					}
					if is != want {
						t.Errorf("%s of %s, form %d, group %d: got %s, want %s", name, typ, form, g, is, want)
					}
				}
			}
		}
	}
}
