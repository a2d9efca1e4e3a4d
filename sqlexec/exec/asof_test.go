package exec

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestAsof joins two sides that come in small pieces, which are gone once the next one is asked for, beside a loop over
// all pairs.
func TestAsof(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	specs := []spec{{vector.Int64Type, 6, false}, {vector.Int64Type, 1 << 20, false}, {vector.StringType, 500, true}}
	// side makes rows that are sorted by key, then by time.
	side := func(n int) *vector.Batch {
		b := &vector.Batch{N: n, Cols: []*vector.Vector{{Type: specs[0].t}, {Type: specs[1].t}, {Type: specs[2].t}}}
		at := int64(0)
		for i := range n {
			at += 1 + r.Int64N(5)
			b.Cols[0].Append(i, vector.ConstInt(vector.Int64Type, int64(i*6/n)), 0, 1)
			b.Cols[1].Append(i, vector.ConstInt(vector.Int64Type, at%(int64(n)*3/6+1)), 0, 1)
			b.Cols[2].Append(i, constant(vector.StringType, r.IntN(500)), 0, 1)
		}
		return sortedByKeyAndTime(b)
	}
	for _, c := range []struct {
		left, right, step int
		strict, outer     bool
	}{{200, 3000, 17, false, true}, {3000, 200, 40, true, true}, {1000, 1000, 1, true, false},
		{50, 4000, 300, false, false}, {10, 0, 5, false, true}} {
		left, right := side(c.left), side(c.right)
		cols := columns(specs...)
		s := Asof(t.Context(), AsofSpec{LKeys: cols[:1], RKeys: cols[:1], LTime: cols[1], RTime: cols[1],
			Strict: c.strict, Outer: c.outer, Right: []vector.Type{specs[0].t, specs[1].t, specs[2].t}},
			Stream{Source: newMixed(left, c.step)}, Stream{Source: newMixed(right, c.step)}, nil)
		got := readAll(t, s)
		var want [][]string
		l, all := showRows(left), showRows(right)
		for i := range left.N {
			partner := -1
			for k := range right.N {
				lt, rt := left.Cols[1].Int(i), right.Cols[1].Int(k)
				if left.Cols[0].Int(i) == right.Cols[0].Int(k) && (rt < lt || rt == lt && !c.strict) {
					partner = k
				}
			}
			switch {
			case partner >= 0:
				want = append(want, append(l[i][:len(l[i]):len(l[i])], all[partner]...))
			case c.outer:
				want = append(want, append(l[i][:len(l[i]):len(l[i])], "NULL", "NULL", "NULL"))
			}
		}
		sameRows(t, fmt.Sprintf("%+v", c), sorted(got), sorted(want))
	}
}

// sortedByKeyAndTime is the rows of a batch in the order of the first two columns.
func sortedByKeyAndTime(b *vector.Batch) *vector.Batch {
	order := make([]uint32, b.N)
	for i := range order {
		order[i] = uint32(i)
	}
	key := func(i uint32) string {
		return string(expr.AppendSortKey(expr.AppendSortKey(nil, b.Cols[0], int(i), false, false), b.Cols[1], int(i),
			false, false))
	}
	slices.SortStableFunc(order, func(x, y uint32) int { return cmp.Compare(key(x), key(y)) })
	return copied(b, order)
}
