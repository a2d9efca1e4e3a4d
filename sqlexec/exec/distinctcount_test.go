package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
			p := Pipeline{Stream{Source: Values(&vector.Batch{N: n, Cols: []*vector.Vector{v}})}, sink}
			src, err := p.Run(context.Background(), 2)
			if err != nil {
				t.Fatal(err)
			}
			var b vector.Batch
			if ok, err := src.Reader(0).Next(&b); !ok || err != nil || b.N != 1 ||
				b.Cols[0].Int(0) != int64(len(seen)) {
				t.Errorf("distinct %d, nulls %v: %d rows, want one of %d: %v", distinct, nulls, b.N, len(seen), err)
			}
		}
	}
}

// TestCountDistinctByKeys holds counts by keys, of few groups and of many, with NULLs among keys and values, by one
// worker and by several, against a map. Groups are one, up to 64, more, or so many that they are shared: the second of
// the keys has as many values as there are rows.
func TestCountDistinctByKeys(t *testing.T) {
	r := newRand(11)
	for i, counted := range keyTypes {
		for _, n := range []int{0, 1, 65, 700, 3000} {
			one, many := spec{keyTypes[(i+3)%len(keyTypes)], 9, true},
				spec{keyTypes[(i+5)%len(keyTypes)], max(1, n), true}
			b := randomTable(r, n, one, many, spec{counted, max(1, n), true})
			for _, keys := range [][]int{{0}, {1}, {0, 1}} {
				for workers := 1; workers <= 3; workers++ {
					checkCounts(t, b, keys, workers)
				}
			}
		}
	}
}

// checkCounts counts the distinct values of the last column of b by some others, and those of rows whose first key is
// NULL.
func checkCounts(t *testing.T, b *vector.Batch, keys []int, workers int) {
	t.Helper()
	some := &vector.Batch{N: b.N}
	var by []expr.Expr
	for i, k := range append(slices.Clone(keys), 2) {
		some.Cols = append(some.Cols, b.Cols[k])
		by = append(by, &expr.Column{Index: i, T: b.Cols[k].Type, Null: true})
	}
	x := by[len(keys)]
	sink, err := Aggregate(by[:len(keys)],
		[]*expr.Agg{aggregateOf(t, "count", true, nil, x), aggregateOf(t, "count", true, call(t, "is null", by[0]), x)},
		NewBudget(0))
	if err != nil {
		t.Fatal(err)
	}
	rows := run(t, Pipeline{Stream{Source: newMixed(some, 700)}, sink}, workers)
	want := distinctTexts(some, len(keys))
	if len(rows) != len(want) {
		t.Errorf("%s, %d rows, %d workers: %d groups, want %d", sink, b.N, workers, len(rows), len(want))
	}
	for _, row := range rows {
		key := strings.Join(row[:len(keys)], "|")
		filtered := 0
		if row[0] == "NULL" {
			filtered = len(want[key])
		}
		if got := row[len(keys):]; want[key] == nil ||
			!slices.Equal(got, []string{fmt.Sprint(len(want[key])), fmt.Sprint(filtered)}) {
			t.Fatalf("%s, %d rows, %d workers: %s values of %s, want %d, %d with the filter", sink, b.N, workers, got,
				key, len(want[key]), filtered)
		}
	}
}

// distinctTexts are the distinct values of the last column by the texts of the keys.
func distinctTexts(b *vector.Batch, keys int) map[string]map[string]bool {
	groups := map[string]map[string]bool{}
	for i := range b.N {
		var key []string
		for _, v := range b.Cols[:keys] {
			key = append(key, show(v, i))
		}
		k := strings.Join(key, "|")
		if groups[k] == nil {
			groups[k] = map[string]bool{}
		}
		if v := b.Cols[len(b.Cols)-1]; !v.IsNull(i) {
			groups[k][show(v, i)] = true
		}
	}
	return groups
}
