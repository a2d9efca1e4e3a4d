package filter

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"varve/engine/schema"
	"varve/engine/vector"
)

// TestPreparedOnce: a prepared conjunction decides what the conjunction does, for several goroutines at a time, and its
// expressions are compiled once.
func TestPreparedOnce(t *testing.T) {
	text := func(op Op, arg string) Cond {
		return Cond{Column: 1, Op: op, Args: vector.ConstString(arg).Flatten(1), NArgs: 1}
	}
	list := &vector.Vector{Type: vector.StringType}
	for i, s := range []string{"a1", "b22", "c333"} {
		list.Append(i, vector.ConstString(s), 0, 1)
	}
	conds := []And{
		{text(Regex, "[ab]+[0-9]*2")}, {text(NotRegex, "3$")}, {text(Like, "%a_2%")}, {text(ILike, "%B%1")},
		{text(Contains, "22")}, {text(Term, "b22")},
		{text(Equal, "a1")}, {text(Prefix, "c"), text(NotContains, "9")}, {{Column: 1, Op: In, Args: list, NArgs: 3}},
		{{Column: 1, Op: IsNotNull}},
		{{Op: AnyOf, Any: []And{{text(Regex, "1.*1")}, {text(Prefix, "b"), text(Regex, "[4-6]$")}}},
			text(NotEqual, "a11")},
	}
	r := rand.New(rand.NewPCG(1, 1))
	for at, and := range conds {
		ready, err := and.Prepare(nil)
		if err != nil {
			t.Fatal(err)
		}
		one, err := Compile(ready)
		if err != nil {
			t.Fatal(err)
		}
		two, err := Compile(ready)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := one.Conds[0], two.Conds[0]; a == b ||
			a.Kind == Leaf && (a.Leaf == b.Leaf || a.Leaf.memory == b.Leaf.memory) {
			t.Errorf("condition %d: two programs share scratch memory", at)
		} else if a.Kind == Leaf && a.Leaf.c != b.Leaf.c {
			t.Errorf("condition %d is compiled twice", at)
		}
		batches := make([]*vector.Vector, 20)
		for k := range batches {
			batches[k] = &vector.Vector{Type: vector.StringType}
			for i := range 200 {
				batches[k].Append(i, vector.ConstString(string(rune('a'+r.IntN(4)))+strconv.Itoa(r.IntN(400))), 0, 1)
			}
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				p, err := Compile(ready)
				if err != nil {
					t.Error(err)
					return
				}
				for _, v := range batches {
					want, got := vector.MakeBitmap(200), vector.MakeBitmap(200)
					want.Fill(200)
					got.Fill(200)
					col := func(schema.ColumnID) *vector.Vector { return v }
					if err := and.Eval(200, col, want); err != nil {
						t.Error(err)
					}
					if p.Eval(200, col, got); !slices.Equal(got, want) {
						t.Errorf("condition %d decides otherwise when it is prepared", at)
					}
				}
			})
		}
		wg.Wait()
	}
	// A condition that was changed after it was prepared counts as it is.
	ready, err := And{text(Regex, "a1")}.Prepare(nil)
	if err != nil {
		t.Fatal(err)
	}
	ready[0].Args = vector.ConstString("b2").Flatten(1)
	v, keep := vector.ConstString("b2").Flatten(1), vector.Bitmap{1}
	if err := ready.Eval(1, func(schema.ColumnID) *vector.Vector { return v }, keep); err != nil || keep[0] != 1 {
		t.Errorf("the expression of before decides: %v", err)
	}
	if _, err := (And{text(Regex, "(")}).Prepare(nil); err == nil {
		t.Error("a malformed expression is prepared")
	}
}

// BenchmarkCompilePiece is what each piece of a scan pays for its conditions.
func BenchmarkCompilePiece(b *testing.B) {
	and := And{{Column: 1, Op: Regex, Args: vector.ConstString("^/api/v[12]/orders/[0-9a-f]*77/").Flatten(1), NArgs: 1}}
	ready, err := and.Prepare(nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, a := range map[string]And{"as it is": and, "prepared": ready} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compile(a); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
