package filter

import (
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
)

// randomAnd draws a conjunction over columns 0..3 of small integers, with choices down to some depth.
func randomAnd(r *rand.Rand, depth int) (and And) {
	for range 1 + r.IntN(3) {
		if depth > 0 && r.IntN(2) == 0 {
			var c Cond
			c.Op = AnyOf
			for range r.IntN(4) {
				c.Any = append(c.Any, randomAnd(r, depth-1))
			}
			and = append(and, c)
			continue
		}
		op := []Op{Equal, NotEqual, Less, GreaterEqual, IsNull, IsNotNull}[r.IntN(6)]
		c := Cond{Column: schema.ColumnID(r.IntN(4)), Op: op}
		if op != IsNull && op != IsNotNull {
			c.Args, c.NArgs = &vector.Vector{Type: vector.Int64Type, Ints: []int64{r.Int64N(10)}}, 1
		}
		and = append(and, c)
	}
	return and
}

func (a And) holds(values []any) bool {
	return !slices.ContainsFunc(a, func(c Cond) bool {
		if c.Op == AnyOf {
			return !slices.ContainsFunc(c.Any, func(and And) bool { return and.holds(values) })
		}
		var args []any
		if c.Args != nil {
			args = []any{c.Args.Int(0)}
		}
		return !passes(c.Op, values[c.Column], args)
	})
}

func TestChoices(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		and := randomAnd(r, 3)
		p, err := Compile(and)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // the same program on several batches
			n := 1 + r.IntN(200)
			values := make([][]any, 4)
			columns := make([]*vector.Vector, 4)
			for c := range columns {
				values[c] = make([]any, n)
				for i := range n {
					if r.IntN(5) > 0 {
						values[c][i] = r.Int64N(10)
					}
				}
				columns[c] = vectorOf(vector.Int64Type, values[c])
			}
			keep := vector.MakeBitmap(n)
			keep.Fill(n)
			p.Eval(n, func(id schema.ColumnID) *vector.Vector { return columns[id] }, keep)
			for i := range n {
				row := []any{values[0][i], values[1][i], values[2][i], values[3][i]}
				if want := and.holds(row); keep.Get(i) != want {
					t.Fatalf("seed %d: %v passes %t, want %t", seed, row, keep.Get(i), want)
				}
			}
		}
	}
}

// TestJudgeTree: a verdict made of exact ones of single rows is what the row says; Some stays Some unless others
// decide.
func TestJudgeTree(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 4))
		p, err := Compile(And{{Op: AnyOf, Any: []And{randomAnd(r, 2), randomAnd(r, 2)}}})
		if err != nil {
			t.Fatal(err)
		}
		truth, known := map[*Test]bool{}, map[*Test]bool{}
		unknown := false
		of := func(t *Test) bool {
			if _, drawn := truth[t]; !drawn {
				truth[t], known[t] = r.IntN(2) == 0, r.IntN(3) > 0
			}
			return truth[t]
		}
		choice := p.Conds[0]
		if n := choice.Most(func(t *Test) int { of(t); return 1 }); n > 1 {
			t.Fatal("a figure that no leaf has")
		}
		keep := vector.Bitmap{1}
		if err := choice.Keep(keep, func(t *Test, keep vector.Bitmap) error {
			if !of(t) {
				clear(keep)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		mapped, err := Map(choice, func(t *Test) (Verdict, error) {
			switch {
			case !known[t]:
				unknown = true
				return Some, nil
			case truth[t]:
				return All, nil
			}
			return None, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		verdict := mapped.Judge(func(v Verdict) Verdict { return v })
		if passed := keep[0] == 1; verdict == None && passed || verdict == All && !passed ||
			verdict == Some && !unknown {
			t.Fatalf("seed %d: verdict %d, the row passes: %t", seed, verdict, passed)
		}
	}
}
