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

// TestKeepFirst: the first rows of all keys in an order come through, whatever the order, the workers, and the number
// of keys; of few keys little else does.
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
					first, err := KeepFirst(First{Keys: cols[:n], N: 1}, order, typesOf(specs), nil)
					if err != nil {
						t.Fatal(err)
					}
					want := firstOfEach(run(t, Pipeline{Stream{Source: newMixed(b, 500)}, sortOf()}, 1), n)
					through := run(t, Pipeline{Stream{Source: newMixed(b, 500), Ops: []Operator{first}}, sortOf()},
						workers)
					if most := 2 * workers * len(want); len(want) < maxFirst/2 && len(through) > most {
						t.Errorf("%d rows of %d keys come through, want at most %d", len(through), len(want), most)
					}
					sameRows(t, "first rows", firstOfEach(through, n), want)
				})
			}
		}
	}
}

// TestKeepFirstSeveral: the first n rows of all keys come through, and those equal to the last of them where ties
// count; else the order tells which.
func TestKeepFirstSeveral(t *testing.T) {
	r := newRand(12)
	specs := []spec{{vector.StringType, 25, true}, {vector.StringType, 6, true}, {vector.Int64Type, 60, true}}
	types := typesOf(append(slices.Clone(specs), spec{vector.Int64Type, 0, false}))
	b := randomTable(r, 2*maxFirst, specs...)
	numbers := &vector.Vector{Type: vector.Int64Type}
	for i := range b.N {
		numbers.Ints = append(numbers.Ints, int64(i))
	}
	b.Cols = append(b.Cols, numbers)
	cols := columns(append(specs, spec{vector.Int64Type, b.N, false})...)
	for _, n := range []int{1, 2, 3, 10, 64, 2000} {
		for _, desc := range []bool{false, true} {
			for _, ties := range []bool{false, true} {
				order := []expr.SortKey{{Expr: cols[0]}, {Expr: cols[1], Desc: desc, NullsFirst: true},
					{Expr: cols[2], Desc: desc}}
				all := append(slices.Clone(order), expr.SortKey{Expr: cols[3]})
				sorted := func(workers int, ops ...Operator) [][]string {
					sink, err := Sort(all, types, nil)
					if err != nil {
						t.Fatal(err)
					}
					return run(t, Pipeline{Stream{Source: newMixed(b, 300), Ops: ops}, sink}, workers)
				}
				want := severalOfEach(sorted(1), n, ties)
				for workers := 1; workers <= 2; workers++ {
					first, err := KeepFirst(First{Keys: cols[:1], N: n, Ties: ties}, order, types, nil)
					if err != nil {
						t.Fatal(err)
					}
					got := severalOfEach(sorted(workers, first), n, ties)
					if !ties { // rows that are equal in the order may stand for each other
						got, want = without(got, 3), without(want, 3)
					}
					sameRows(t, fmt.Sprintf("first %d, falling %v, ties %v, %d workers", n, desc, ties, workers), got,
						want)
				}
			}
		}
	}
}

// severalOfEach keeps the first n rows of each run of rows that are equal in the first column, and those equal to the
// last of them in the first three.
func severalOfEach(rows [][]string, n int, ties bool) (out [][]string) {
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to][0] == rows[from][0] {
			if to-from < n || ties && slices.Equal(rows[to][:3], rows[from+n-1][:3]) {
				out = append(out, rows[to])
			}
			to++
		}
		from = to
	}
	return out
}

// without returns rows without the columns from the k-th on.
func without(rows [][]string, k int) (out [][]string) {
	for _, r := range rows {
		out = append(out, r[:min(k, len(r))])
	}
	return out
}

// TestKeepFirstOfNothing: no rows come of none.
func TestKeepFirstOfNothing(t *testing.T) {
	specs := []spec{{vector.StringType, 3, true}}
	cols := columns(specs...)
	first, err := KeepFirst(First{Keys: cols, N: 1}, nil, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	sink, err := Sort([]expr.SortKey{{Expr: cols[0]}}, typesOf(specs), nil)
	if err != nil {
		t.Fatal(err)
	}
	none := Stream{Source: newMixed(randomTable(newRand(1), 0, specs...), 10), Ops: []Operator{first}}
	if rows := run(t, Pipeline{none, sink}, 2); len(rows) != 0 {
		t.Errorf("rows out of nothing: %q", rows)
	}
}
