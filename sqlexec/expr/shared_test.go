package expr

import (
	"fmt"
	"slices"
	"testing"

	"varve/engine/vector"
)

// counted is a function of one BIGINT that doubles it and counts the rows that it computes; it fails on 13.
func counted(rows *int) func(e Expr) Expr {
	f := &Function{Name: "counted", min: 1, max: 1}
	return func(e Expr) Expr {
		return &Call{Fn: f, Args: []Expr{e}, T: i64,
			k: func(n int, args []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
				*rows += n
				for i, x := range args[0].Ints[:n] {
					if x == 13 && (valid == nil || valid.Get(i)) {
						return execError("13")
					}
					out.Ints = append(out.Ints, 2*x)
				}
				return nil
			}}
	}
}

// TestSharedParts: an expression in several places is computed once a batch, where it is computed at all, and every
// place gets its values, also when a branch looks at some rows only.
func TestSharedParts(t *testing.T) {
	c := &Context{}
	must := func(e Expr, err error) Expr {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	x, y := &Column{Index: 0, T: i64, Null: true}, &Column{Index: 1, T: i64, Null: true}
	var rows int
	f := counted(&rows)
	plus := func(a, b Expr) Expr { return must(c.Call("+", a, b)) }
	less := func(a, b Expr) Expr { return must(c.Call("<", a, b)) }
	few := less(x, Int(3)) // 3 of 100 rows
	const n = 100
	for _, k := range []struct {
		name string
		list []Expr
		rows int // computed, of a batch
		want []func(x, y int64) int64
	}{
		{"twice", []Expr{f(x), plus(f(x), Int(1))}, n, []func(x, y int64) int64{
			func(x, _ int64) int64 { return 2 * x }, func(x, _ int64) int64 { return 2*x + 1 }}},
		{"inside a larger one", []Expr{f(f(y)), f(f(y)), f(y)}, 2 * n, []func(x, y int64) int64{
			func(_, y int64) int64 { return 4 * y }, func(_, y int64) int64 { return 4 * y },
			func(_, y int64) int64 { return 2 * y }}},
		{"of other columns", []Expr{f(x), f(y)}, 2 * n, []func(x, y int64) int64{
			func(x, _ int64) int64 { return 2 * x }, func(_, y int64) int64 { return 2 * y }}},
		{"in a branch of few rows", []Expr{f(x), &Case{T: i64, When: []Expr{few}, Then: []Expr{f(x)}, Else: Int(0)},
			f(x)}, n + 3, []func(x, y int64) int64{
			func(x, _ int64) int64 { return 2 * x }, func(x, _ int64) int64 {
				if x < 3 {
					return 2 * x
				}
				return 0
			}, func(x, _ int64) int64 { return 2 * x }}},
		{"in two branches of few rows",
			[]Expr{&Case{T: i64, When: []Expr{few, less(x, Int(8))}, Then: []Expr{f(y), f(y)}, Else: Int(0)}, f(y)},
			n + 8, []func(x, y int64) int64{
				func(x, y int64) int64 {
					if x < 8 {
						return 2 * y
					}
					return 0
				}, func(_, y int64) int64 { return 2 * y }}},
		{"only in a branch that no row takes",
			[]Expr{&Case{T: i64, When: []Expr{less(x, Int(-1)), less(x, Int(-2))}, Then: []Expr{f(x), f(x)}, Else: x}},
			0, []func(x, y int64) int64{
				func(x, _ int64) int64 { return x }}},
	} {
		t.Run(k.name, func(t *testing.T) {
			p, err := Compile(k.list)
			if err != nil {
				t.Fatal(err)
			}
			out := make([]*vector.Vector, len(k.list))
			b := &vector.Batch{N: n, Cols: []*vector.Vector{{Type: i64}, {Type: i64}}}
			for round := range int64(3) { // the batch and its vectors are used again
				b.Cols[0].Ints, b.Cols[1].Ints = b.Cols[0].Ints[:0], b.Cols[1].Ints[:0]
				for i := range int64(n) {
					v := i
					if i >= 8 {
						v = i + 100*round + 20
					}
					b.Cols[0].Ints, b.Cols[1].Ints = append(b.Cols[0].Ints, v), append(b.Cols[1].Ints, 1000-i-round)
				}
				rows = 0
				if err := p.Eval(b, out); err != nil {
					t.Fatal(err)
				}
				if rows != k.rows {
					t.Errorf("it computes %d rows, want %d", rows, k.rows)
				}
				for e, want := range k.want {
					for i := range n {
						if got, want := out[e].Int(i), want(b.Cols[0].Ints[i], b.Cols[1].Ints[i]); got != want {
							t.Fatalf("round %d, expression %d, row %d: %d, want %d", round, e, i, got, want)
						}
					}
				}
			}
		})
	}
}

// TestSharedErrors: a shared expression fails where a row needs a value that fails, and only there.
func TestSharedErrors(t *testing.T) {
	x := &Column{Index: 0, T: i64}
	var rows int
	f := counted(&rows)
	c := &Context{}
	not13, err := c.Call("<>", x, Int(13))
	if err != nil {
		t.Fatal(err)
	}
	guarded := func() Expr { return &Case{T: i64, When: []Expr{not13}, Then: []Expr{f(x)}, Else: Int(-1)} }
	b := &vector.Batch{N: 3, Cols: []*vector.Vector{{Type: i64, Ints: []int64{12, 13, 14}}}}
	for _, k := range []struct {
		list []Expr
		want string
	}{
		{[]Expr{guarded(), guarded()}, "[24 -1 28] [24 -1 28]"},
		{[]Expr{guarded(), f(x)}, "13"},
	} {
		p, err := Compile(k.list)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]*vector.Vector, 2)
		got := ""
		if err := p.Eval(b, out); err != nil {
			got = err.Error()
		} else {
			got = fmt.Sprint(out[0].Flatten(3).Ints, out[1].Flatten(3).Ints)
		}
		if got != k.want {
			t.Errorf("%v gives %s, want %s", k.list, got, k.want)
		}
	}
}

// TestNumbering: what computes the same has one number, what does not has another, and what is volatile has none in
// common.
func TestNumbering(t *testing.T) {
	c := &Context{}
	call := func(name string, args ...Expr) Expr {
		t.Helper()
		e, err := c.Call(name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	x, s := &Column{Index: 0, T: i64}, &Column{Index: 1, T: str}
	list := &Column{Index: 2, T: vector.List(vector.Int64Type)}
	distinct := []Expr{
		call("+", x, Int(1)), call("+", x, Int(2)), call("-", x, Int(1)), call("+", &Column{Index: 3, T: i64}, Int(1)),
		call("upper", s), call("lower", s),
		&Cast{Arg: x, To: str}, &Cast{Arg: x, To: str, Try: true}, &Cast{Arg: x, To: f64},
		&In{Arg: x, List: []Expr{Int(1)}}, &In{Arg: x, List: []Expr{Int(1)}, Not: true},
		&Case{T: i64, When: []Expr{call("<", x, Int(1))}, Then: []Expr{x}}, call("~", s, Text("a")),
		call("~*", s, Text("a")),
		call("array_sort", list), call("array_sort", list, Text("DESC")), call("random"), call("random"),
	}
	n := newNumbering()
	var ids []int
	for _, e := range distinct {
		ids = append(ids, n.of(e))
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(distinct) {
		t.Errorf("%d expressions have the numbers %v", len(distinct), ids)
	}
	if n.of(call("+", x, Int(1))) != n.of(distinct[0]) ||
		n.of(call("array_sort", list, Text("DESC"))) != n.of(distinct[15]) {
		t.Error("the same expression has another number")
	}
}

// TestDeepExpressions: numbers take time in proportion to an expression, also to a deep one.
func TestDeepExpressions(t *testing.T) {
	c := &Context{}
	e := Expr(&Column{Index: 0, T: i64})
	for range 20_000 {
		var err error
		if e, err = c.Call("+", e, Int(1)); err != nil {
			t.Fatal(err)
		}
	}
	n := newNumbering()
	n.of(e)
	if n.next != 20_002 {
		t.Errorf("%d numbers", n.next)
	}
}

// BenchmarkShared computes an expression in four places, and four that differ.
func BenchmarkShared(b *testing.B) {
	c := &Context{}
	x := &Column{Index: 0, T: f64}
	batch := &vector.Batch{N: vector.Size, Cols: []*vector.Vector{{Type: f64, Floats: make([]float64, vector.Size)}}}
	for name, list := range map[string][]float64{"same": {1, 1, 1, 1}, "different": {1, 2, 3, 4}} {
		b.Run(name, func(b *testing.B) {
			var exprs []Expr
			for _, k := range list {
				e, err := c.Call("*", x, &Const{Value: vector.ConstFloat(f64, k)})
				if err == nil {
					e, err = c.Call("+", e, x)
				}
				if err != nil {
					b.Fatal(err)
				}
				exprs = append(exprs, e)
			}
			p, err := Compile(exprs)
			if err != nil {
				b.Fatal(err)
			}
			out := make([]*vector.Vector, len(exprs))
			for b.Loop() {
				if err := p.Eval(batch, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/vector.Size, "ns/row")
		})
	}
}
