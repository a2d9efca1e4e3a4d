package exec

import (
	"fmt"
	"slices"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// firstOfEach keeps the first row of each run of rows that are equal in the first n columns.
func firstOfEach(rows [][]string, n int) [][]string {
	return slices.CompactFunc(rows, func(a, b []string) bool { return slices.Equal(a[:n], b[:n]) })
}

// TestKeepFirst: the first rows of all keys in an order come through, whatever the order, the workers, and the number of
// keys; of few keys little else does.
func TestKeepFirst(t *testing.T) {
	r := newRand(11)
	for _, keys := range [][]spec{
		{{vector.StringType, 30, true}},
		{{vector.StringType, 20, true}, {vector.FloatType, 9, true}},
		{{vector.Int64Type, 3 * maxFirst, true}},
		{{vector.BoolType, 2, true}},
	} {
		specs := append(slices.Clone(keys), spec{vector.StringType, 40, true}, spec{vector.Int64Type, 1000, true})
		b := randomTable(r, 3*maxFirst, specs...)
		numbers := &vector.Vector{Type: vector.Int64Type} // tells rows apart that are equal otherwise
		for i := range b.N {
			numbers.Ints = append(numbers.Ints, int64(i))
		}
		b.Cols = append(b.Cols, numbers)
		specs = append(specs, spec{vector.Int64Type, b.N, false})
		cols, n := columns(specs...), len(keys)
		for _, desc := range []bool{false, true} {
			var order []expr.SortKey
			for i, c := range cols {
				order = append(order, expr.SortKey{Expr: c, Desc: desc == (i >= n), NullsFirst: i%2 == 0})
			}
			for workers := 1; workers <= 2; workers++ {
				t.Run(fmt.Sprintf("%v/%v/%d", typesOf(keys), desc, workers), func(t *testing.T) {
					sortOf := func() Sink {
						sink, err := Sort(order, typesOf(specs), nil)
						if err != nil {
							t.Fatal(err)
						}
						return sink
					}
					first, err := KeepFirst(cols[:n], order, typesOf(specs), nil)
					if err != nil {
						t.Fatal(err)
					}
					want := firstOfEach(run(t, Pipeline{Source: newMixed(b, 500), Sink: sortOf()}, 1), n)
					through := run(t, Pipeline{Source: newMixed(b, 500), Ops: []Operator{first}, Sink: sortOf()}, workers)
					if most := 2 * workers * len(want); len(want) < maxFirst/2 && len(through) > most {
						t.Errorf("%d rows of %d keys come through, want at most %d", len(through), len(want), most)
					}
					sameRows(t, "first rows", firstOfEach(through, n), want)
				})
			}
		}
	}
}

// TestKeepFirstOfNothing: no rows come of none.
func TestKeepFirstOfNothing(t *testing.T) {
	specs := []spec{{vector.StringType, 3, true}}
	cols := columns(specs...)
	first, err := KeepFirst(cols, nil, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := Sort([]expr.SortKey{{Expr: cols[0]}}, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	if rows := run(t, Pipeline{Source: newMixed(randomTable(newRand(1), 0, specs...), 10), Ops: []Operator{first}, Sink: sink}, 2); len(rows) != 0 {
		t.Errorf("rows out of nothing: %q", rows)
	}
}
