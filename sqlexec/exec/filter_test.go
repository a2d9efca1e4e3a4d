package exec

import (
	"slices"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// TestFilterOfManyConditions compares chains of one to seven conditions, of which some keep every row of every batch,
// with the rows for which each condition is true.
func TestFilterOfManyConditions(t *testing.T) {
	r := newRand(11)
	for range 200 {
		var specs []spec
		for _, kind := range keyTypes {
			specs = append(specs, spec{kind, 1 + r.IntN(9), r.IntN(2) == 0})
		}
		table, cols := randomTable(r, 1+r.IntN(700), specs...), columns(specs...)
		var conds []expr.Expr
		for range 1 + r.IntN(7) {
			c := cols[r.IntN(len(cols))]
			switch r.IntN(3) {
			case 0: // keeps all, and cannot be folded
				conds = append(conds, call(t, "or", call(t, "is null", c), call(t, "is not null", c)))
			case 1:
				conds = append(conds, call(t, "or", call(t, "is null", c),
					call(t, "<>", c, &expr.Const{Value: constant(c.Type(), r.IntN(9))})))
			default:
				conds = append(conds, call(t, "<>", c, &expr.Const{Value: constant(c.Type(), r.IntN(9))}))
			}
		}
		keep, err := Filter(conds, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, Pipeline{Stream{Source: newMixed(table, 1+r.IntN(200)), Ops: []Operator{keep}}, &collector{}}, 1)
		sameRows(t, keep.String(), sorted(got), sorted(wherever(t, table, conds)))
	}
}

// wherever are the rows of a batch for which all conditions are true, each condition computed over all rows.
func wherever(t *testing.T, b *vector.Batch, conds []expr.Expr) [][]string {
	t.Helper()
	keep := make([]bool, b.N)
	for i := range keep {
		keep[i] = true
	}
	for _, c := range conds {
		out := make([]*vector.Vector, 1)
		if err := mustCompile([]expr.Expr{c}, nil).Eval(b, out); err != nil {
			t.Fatal(err)
		}
		for i := range keep {
			keep[i] = keep[i] && !out[0].IsNull(i) && out[0].Bool(i)
		}
	}
	rows := showRows(b)
	at := -1
	return slices.DeleteFunc(rows, func([]string) bool { at++; return !keep[at] })
}
