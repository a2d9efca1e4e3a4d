package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	compare "varve/engine/filter"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestReach: what is told of the first keys of numbers is the k'th best of all values so far, as soon as there are so
// many.
func TestReach(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 12))
	floats := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for round := range 300 {
		typ := []vector.Type{vector.Int64Type, vector.Uint64Type, vector.FloatType, vector.Timestamp(3)}[r.IntN(4)]
		k, desc := 1+r.IntN(40), r.IntN(2) == 0
		var told *vector.Vector
		reach := newReach(expr.SortKey{Expr: &expr.Column{T: typ}, Desc: desc}, k, func(v *vector.Vector) { told = v })
		all := &vector.Vector{Type: typ}
		n := 0
		for range 1 + r.IntN(6) {
			v := &vector.Vector{Type: typ}
			var rows []uint32
			for i := range 1 + r.IntN(30) {
				var one *vector.Vector
				switch typ.Kind() {
				case vector.Int64:
					one = vector.ConstInt(typ, int64(r.Uint64())>>r.IntN(64))
				case vector.Uint64:
					one = vector.ConstUint(typ, r.Uint64()>>r.IntN(64))
				default:
					one = vector.ConstFloat(typ, []float64{r.NormFloat64(), floats[r.IntN(len(floats))]}[r.IntN(2)])
				}
				if r.IntN(8) == 0 {
					one = vector.ConstNull(typ)
				}
				v.Append(i, one, 0, 1)
				if r.IntN(3) > 0 {
					rows = append(rows, uint32(i))
				}
			}
			reach.note(v, rows)
			for _, row := range rows {
				if !v.IsNull(int(row)) {
					all.Append(n, v, int(row), int(row)+1)
					n++
				}
			}
			if (told != nil) != (n >= k) {
				t.Fatalf("round %d: of %d rows %d are wanted, told is %v", round, n, k, told)
			}
			if told == nil {
				continue
			}
			order := make([]int, n)
			for i := range order {
				order[i] = i
			}
			slices.SortFunc(order, func(a, b int) int {
				if desc {
					a, b = b, a
				}
				return compare.Compare(all, a, all, b)
			})
			if compare.Compare(all, order[k-1], told, 0) != 0 {
				t.Fatalf("round %d: the %d'th of %d %s is told as %s", round, k, n, typ, fmt.Sprint(told))
			}
		}
	}
	var nobody *reachBound
	nobody.note(nil, nil)
	nobody.take(nil, 0)
	if _, ok := nobody.most(); ok {
		t.Error("a reach that nobody asks for reaches somewhere")
	}
}
