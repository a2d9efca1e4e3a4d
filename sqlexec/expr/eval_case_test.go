package expr

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// TestCaseOfNumbers: each row gets the number of the first condition that is true for it, NULL being none, or that of
// ELSE, in batches that all, some and no rows of take a branch of.
func TestCaseOfNumbers(t *testing.T) {
	number := func(typ vector.Type, x int) *Const {
		switch typ.Kind() {
		case vector.Uint64:
			return &Const{Value: vector.ConstUint(typ, uint64(x))}
		case vector.Float64:
			return &Const{Value: vector.ConstFloat(typ, float64(x)+0.5)}
		}
		return &Const{Value: vector.ConstInt(typ, int64(x))}
	}
	for _, typ := range []vector.Type{i64, vector.Uint64Type, f64} {
		e := &Case{T: typ, Else: number(typ, 9)}
		for i := range 2 {
			e.When = append(e.When, &Column{Index: i, T: flag, Null: true})
			e.Then = append(e.Then, number(typ, i))
		}
		p, err := Compile([]Expr{e})
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 7))
		for round := range 60 {
			b := &vector.Batch{N: 1 + r.IntN(200)}
			for range 2 {
				share, v := []int{0, 1, 5, 50, 99, 100}[r.IntN(6)], &vector.Vector{Type: flag}
				for row := range b.N {
					if round%3 == 0 && r.IntN(4) == 0 {
						v.AppendNulls(row, 1)
					} else {
						v.Append(row, vector.ConstBool(r.IntN(100) < share), 0, 1)
					}
				}
				b.Cols = append(b.Cols, v)
			}
			var got [1]*vector.Vector
			if err := p.Eval(b, got[:]); err != nil {
				t.Fatal(err)
			}
			flat := got[0].Flatten(b.N)
			for row := range b.N {
				want := number(typ, 9)
				for i := 1; i >= 0; i-- {
					if v := b.Cols[i]; !v.IsNull(row) && v.Bool(row) {
						want = number(typ, i)
					}
				}
				if flat.IsNull(row) || Compare(flat, row, want.Value, 0) != 0 {
					t.Fatalf("%s, round %d: row %d of %d differs from %s", typ, round, row, b.N, fmt.Sprint(want))
				}
			}
		}
	}
}
