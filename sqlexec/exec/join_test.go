package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// nestedLoops is a join by hand: keys are the first columns of both sides, less than keeps pairs whose next columns
// are less on the probe side.
func nestedLoops(kind JoinKind, probe, build *vector.Batch, keys int, residual, nullEqual bool) [][]string {
	l, r := showRows(probe), showRows(build)
	match := func(i, j int) bool {
		for k := range keys {
			if probe.Cols[k].IsNull(i) || build.Cols[k].IsNull(j) {
				if nullEqual && probe.Cols[k].IsNull(i) && build.Cols[k].IsNull(j) {
					continue
				}
				return false
			}
			if l[i][k] != r[j][k] {
				return false
			}
		}
		a, b := probe.Cols[keys], build.Cols[keys]
		return !residual || !a.IsNull(i) && !b.IsNull(j) && a.Int(i) < b.Int(j)
	}
	var out [][]string
	partnered := make([]bool, len(r))
	nulls := func(n int) []string { return slices.Repeat([]string{"NULL"}, n) }
	for i := range l {
		found := false
		for j := range r {
			if !match(i, j) {
				continue
			}
			found, partnered[j] = true, true
			if kind.pairs() {
				out = append(out, slices.Concat(l[i], r[j]))
			}
		}
		switch {
		case kind == Semi && found, kind == Anti && !found:
			out = append(out, l[i])
		case (kind == Outer || kind == FullOuter) && !found:
			out = append(out, slices.Concat(l[i], nulls(len(build.Cols))))
		}
	}
	for j := range r {
		switch {
		case kind == BuildSemi && partnered[j], kind == BuildAnti && !partnered[j]:
			out = append(out, r[j])
		case (kind == BuildOuter || kind == FullOuter) && !partnered[j]:
			out = append(out, slices.Concat(nulls(len(probe.Cols)), r[j]))
		}
	}
	return out
}

// TestJoin holds every kind of join to nested loops: no key, one of each type, two; with and without a further
// condition.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	sets := [][]spec{nil, {{vector.StringType, 9, true}, {vector.FloatType, 9, true}}}
	for _, k := range keyTypes {
		sets = append(sets, []spec{{k, 30, true}})
	}
	for _, set := range sets {
		specs := append(append([]spec{}, set...), spec{vector.Int64Type, 40, true})
		for _, sizes := range [][2]int{{0, 0}, {0, 50}, {50, 0}, {400, 1}, {70, 300}, {2100, 10}} {
			probe, build := randomTable(r, sizes[0], specs...), randomTable(r, sizes[1], specs...)
			for kind := Inner; kind <= BuildAnti; kind++ {
				for flags := range 4 {
					name := fmt.Sprintf("kind %d, keys %v, %v rows, flags %d", kind, typesOf(set), sizes, flags)
					residual, nullEqual := flags&1 != 0, flags&2 != 0
					want := nestedLoops(kind, probe, build, len(set), residual, nullEqual)
					got := runJoin(t, kind, probe, build, specs, len(set), residual, nullEqual)
					sameRows(t, name, sorted(got), sorted(want))
				}
			}
		}
	}
}

func runJoin(t testing.TB, kind JoinKind, probe, build *vector.Batch, specs []spec, keys int, residual,
	nullEqual bool) [][]string {
	t.Helper()
	cols := columns(specs...)
	js := JoinSpec{Kind: kind, Probe: cols[:keys], Build: cols[:keys], NullEqual: nullEqual,
		ProbeTypes: typesOf(specs), BuildTypes: typesOf(specs), Budget: NewBudget(0)}
	if residual {
		right := &expr.Column{Index: len(specs) + keys, T: vector.Int64Type, Null: true}
		js.Residual = call(t, "<", cols[keys], right)
	}
	j, err := NewJoin(js)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Pipeline{Stream{Source: newMixed(build, 90)}, j.Build()}).Run(context.Background(), 2); err != nil {
		t.Fatal(err)
	}
	return run(t, Pipeline{Stream{Source: newMixed(probe, 110), Ops: []Operator{j.Probe()}}, &collector{}}, 2)
}
