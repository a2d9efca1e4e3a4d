package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestCountDistinct counts few and many values, with and without NULL, on two workers.
func TestCountDistinct(t *testing.T) {
	for _, distinct := range []int{0, 1, 1000, 3 * shareGroups} {
		for _, nulls := range []bool{false, true} {
			r := rand.New(rand.NewPCG(1, uint64(distinct)))
			v, n, seen := &vector.Vector{Type: vector.StringType}, 0, map[string]bool{}
			for n < 2*distinct {
				if nulls && r.IntN(4) == 0 {
					v.AppendNulls(n, 1)
				} else {
					s := fmt.Sprint("client ", r.IntN(distinct))
					v.Append(n, vector.ConstString(s), 0, 1)
					seen[s] = true
				}
				n++
			}
			col := &expr.Column{T: v.Type, Null: true}
			a, err := (&expr.Context{}).Aggregate("count", []expr.Expr{col}, true, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			sink, err := Aggregate(nil, []*expr.Agg{a}, NewBudget(0))
			if err != nil {
				t.Fatal(err)
			}
			p := Pipeline{Source: Values(&vector.Batch{N: n, Cols: []*vector.Vector{v}}), Sink: sink}
			src, err := p.Run(context.Background(), 2)
			if err != nil {
				t.Fatal(err)
			}
			var b vector.Batch
			if ok, err := src.Reader(0).Next(&b); !ok || err != nil || b.N != 1 || b.Cols[0].Int(0) != int64(len(seen)) {
				t.Errorf("distinct %d, nulls %v: %d rows, want one of %d: %v", distinct, nulls, b.N, len(seen), err)
			}
		}
	}
}
