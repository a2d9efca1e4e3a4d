package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"varve/engine/vector"
)

// naive computes an expression for one row the way the contract tells it: NULL is nil. failed tells that the row makes
// the whole evaluation fail.
type naive struct {
	row    []any
	failed bool
}

func (n *naive) eval(e Expr) any {
	switch e := e.(type) {
	case *Column:
		return n.row[e.Index]
	case *Const:
		return valueAt(e.Value, 0)
	case *Cast:
		return n.cast(n.eval(e.Arg), e.To)
	case *Case:
		for i, w := range e.When {
			if n.eval(w) == true {
				return n.eval(e.Then[i])
			}
			if n.failed {
				return nil
			}
		}
		if e.Else != nil {
			return n.eval(e.Else)
		}
		return nil
	case *In:
		return n.in(e)
	case *Call:
		return n.call(e)
	}
	panic(fmt.Sprintf("naive: %T", e))
}

func (n *naive) in(e *In) any {
	x, unknown := n.eval(e.Arg), false
	var members []any
	for _, m := range e.List {
		members = append(members, n.eval(m))
	}
	if x == nil {
		return nil
	}
	for _, m := range members {
		if m == nil {
			unknown = true
		} else if naiveCompare(x, m) == 0 {
			return !e.Not
		}
	}
	if unknown {
		return nil
	}
	return e.Not
}

func (n *naive) call(e *Call) any {
	name := e.Fn.Name
	if name == "and" || name == "or" {
		var unknown bool
		for _, a := range e.Args {
			x := n.eval(a)
			if n.failed {
				return nil
			}
			if x == (name == "or") {
				return x
			}
			unknown = unknown || x == nil
		}
		if unknown {
			return nil
		}
		return name == "and"
	}
	var args []any
	null := false
	for _, a := range e.Args {
		x := n.eval(a)
		args = append(args, x)
		null = null || x == nil
	}
	if n.failed {
		return nil
	}
	switch name {
	case "is null":
		return args[0] == nil
	case "is not null":
		return args[0] != nil
	case "is true":
		return args[0] == true
	case "is not true":
		return args[0] != true
	case "is false":
		return args[0] == false
	case "is not false":
		return args[0] != false
	case "is distinct from", "is not distinct from":
		same := args[0] == nil && args[1] == nil || !null && naiveCompare(args[0], args[1]) == 0
		return same == (name == "is not distinct from")
	case "coalesce":
		for _, x := range args {
			if x != nil {
				return x
			}
		}
		return nil
	case "nullif": // bound as (a, a, b), the latter two in a common type
		if args[1] != nil && args[2] != nil && naiveCompare(args[1], args[2]) == 0 {
			return nil
		}
		return args[0]
	case "if":
		if args[0] == true {
			return args[1]
		}
		return args[2]
	case "greatest":
		var best any
		for _, x := range args {
			if x != nil && (best == nil || naiveCompare(x, best) > 0) {
				best = x
			}
		}
		return best
	case "concat":
		s := ""
		for _, x := range args {
			if x != nil {
				s += x.(string)
			}
		}
		return s
	}
	if null {
		return nil
	}
	return n.strict(name, args)
}

func (n *naive) strict(name string, args []any) any {
	x := args[0]
	var y any
	if len(args) > 1 {
		y = args[1]
	}
	switch name {
	case "not":
		return x != true
	case "=":
		return naiveCompare(x, y) == 0
	case "<>":
		return naiveCompare(x, y) != 0
	case "<":
		return naiveCompare(x, y) < 0
	case "<=":
		return naiveCompare(x, y) <= 0
	case ">":
		return naiveCompare(x, y) > 0
	case ">=":
		return naiveCompare(x, y) >= 0
	case "upper":
		return strings.ToUpper(x.(string))
	case "length":
		return int64(len(x.(string)))
	case "||":
		return x.(string) + y.(string)
	case "starts_with":
		return strings.HasPrefix(x.(string), y.(string))
	case "like": // patterns of the test are %text%
		return strings.Contains(x.(string), strings.Trim(y.(string), "%"))
	}
	switch x := x.(type) {
	case int64:
		y := y.(int64)
		switch name {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		case "/", "%":
			if y == 0 {
				n.failed = true
				return nil
			}
			if name == "/" {
				return x / y
			}
			return x % y
		}
	case float64:
		y := y.(float64)
		switch name {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		case "/":
			return x / y
		}
	}
	panic("naive: " + name)
}

func (n *naive) cast(x any, to vector.Type) any {
	switch y := x.(type) {
	case int64:
		switch to {
		case vector.FloatType:
			return float64(y)
		case vector.StringType:
			return fmt.Sprint(y)
		}
	}
	return x
}

// naiveCompare orders values of one type; NaN is greater than every number and equal to itself.
func naiveCompare(a, b any) int {
	switch x := a.(type) {
	case int64:
		y := b.(int64)
		return map[bool]int{true: -1}[x < y] + map[bool]int{true: 1}[x > y]
	case float64:
		y := b.(float64)
		switch {
		case x == y || x != x && y != y:
			return 0
		case y != y || x < y:
			return -1
		}
		return 1
	case string:
		return strings.Compare(x, b.(string))
	case bool:
		y := b.(bool)
		return map[bool]int{true: -1}[!x && y] + map[bool]int{true: 1}[x && !y]
	}
	panic(fmt.Sprintf("naive: comparison of %T", a))
}

// valueAt is row i of a vector; nil for NULL.
func valueAt(v *vector.Vector, i int) any {
	if v.IsNull(i) {
		return nil
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return v.Bool(i)
	case vector.Int64:
		return v.Int(i)
	case vector.Float64:
		return v.Float(i)
	}
	return string(v.Bytes(i))
}

// The columns of the test: one type in several forms.
var naiveColumns = []*Column{
	{0, "i", i64, true}, {1, "j", i64, false}, {2, "k", i64, true}, // k: constant in a batch
	{3, "f", f64, true}, {4, "g", f64, false},
	{5, "s", str, true}, {6, "t", str, false}, {7, "d", str, true}, // d: dictionary with NULL
	{8, "p", flag, true}, {9, "q", flag, false},
}

// randomBatch is n rows of the columns and the same rows as values.
func randomBatch(r *rand.Rand, n int) (*vector.Batch, [][]any) {
	ints := func() any { return int64(r.IntN(7) - 3) }
	floats := func() any {
		return []float64{0, math.Copysign(0, -1), 1, 2.5, -3, math.NaN(), math.Inf(1), math.Inf(-1)}[r.IntN(8)]
	}
	texts := func() any { return []string{"", "a", "ab", "abc", "ba", "b"}[r.IntN(6)] }
	bools := func() any { return r.IntN(2) == 0 }
	make := []func() any{ints, ints, ints, floats, floats, texts, texts, texts, bools, bools}
	rows := [][]any{}
	for range n {
		row := []any{}
		for k, c := range naiveColumns {
			if x := make[k](); c.Null && r.IntN(4) == 0 {
				row = append(row, nil)
			} else {
				row = append(row, x)
			}
		}
		rows = append(rows, row)
	}
	b := &vector.Batch{N: n}
	for k, c := range naiveColumns {
		v := &vector.Vector{Type: c.T}
		for i, row := range rows {
			if c.Name == "k" {
				row[k] = rows[0][k]
			}
			v.Append(i, constOf(c.T, row[k]), 0, 1)
		}
		switch c.Name {
		case "k":
			one := &vector.Vector{Type: c.T}
			one.Append(0, v, 0, 1)
			one.Form = vector.Const
			v = one
		case "t", "d":
			v = asDict(v, n)
		}
		b.Cols = append(b.Cols, v)
	}
	return b, rows
}

func constOf(t vector.Type, x any) *vector.Vector {
	switch x := x.(type) {
	case int64:
		return vector.ConstInt(t, x)
	case float64:
		return vector.ConstFloat(t, x)
	case string:
		return vector.ConstString(x)
	case bool:
		return vector.ConstBool(x)
	}
	return vector.ConstNull(t)
}

// asDict returns a Flat vector of texts as a dictionary.
func asDict(v *vector.Vector, n int) *vector.Vector {
	d := &vector.Vector{Type: v.Type, Form: vector.Dict, Valid: v.Valid, Values: &vector.Vector{Type: v.Type}}
	codes := map[string]uint32{}
	for i := range n {
		if v.IsNull(i) {
			d.Codes = append(d.Codes, 0)
			continue
		}
		s := string(v.Bytes(i))
		if _, ok := codes[s]; !ok {
			codes[s] = uint32(len(codes))
			d.Values.Append(len(codes)-1, vector.ConstString(s), 0, 1)
		}
		d.Codes = append(d.Codes, codes[s])
	}
	return d
}

// randomExpr makes an expression of a type; risky ones may divide by zero.
func randomExpr(t *testing.T, r *rand.Rand, want vector.Type, depth int, risky bool) Expr {
	t.Helper()
	c := &Context{}
	sub := func(w vector.Type) Expr { return randomExpr(t, r, w, depth-1, risky) }
	any3 := func() vector.Type { return []vector.Type{i64, f64, str}[r.IntN(3)] }
	var e Expr
	var err error
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(4) == 0 {
			b, _ := randomBatch(r, 1)
			for _, k := range naiveColumns {
				if k.T == want {
					v := &vector.Vector{Type: want}
					v.Append(0, b.Cols[k.Index], 0, 1)
					v.Form = vector.Const
					return &Const{Value: v}
				}
			}
		}
		for {
			if k := naiveColumns[r.IntN(len(naiveColumns))]; k.T == want {
				return k
			}
		}
	}
	switch shared := r.IntN(8); {
	case shared == 0:
		var otherwise Expr
		if r.IntN(2) == 0 {
			otherwise = sub(want)
		}
		e, err = c.Case([]Expr{sub(flag), sub(flag)}, []Expr{sub(want), sub(want)}, otherwise)
	case shared == 1:
		e, err = c.Call("coalesce", sub(want), sub(want))
	case shared == 2 && want != flag:
		e, err = c.Call([]string{"nullif", "greatest"}[r.IntN(2)], sub(want), sub(want))
	case shared == 3:
		e, err = c.Call("if", sub(flag), sub(want), sub(want))
	case want == i64:
		ops := []string{"+", "-", "*", "/", "%", "length"}
		switch op := ops[r.IntN(len(ops))]; op {
		case "length":
			e, err = c.Call(op, sub(str))
		case "/", "%":
			if !risky {
				op = "*"
			}
			e, err = c.Call(op, sub(i64), naiveColumns[r.IntN(2)])
		default:
			e, err = c.Call(op, sub(i64), sub(i64))
		}
	case want == f64:
		if r.IntN(3) == 0 {
			e, err = c.Cast(sub(i64), f64, false)
		} else {
			e, err = c.Call([]string{"+", "-", "*", "/"}[r.IntN(4)], sub(f64), sub(f64))
		}
	case want == str:
		switch r.IntN(3) {
		case 0:
			e, err = c.Call([]string{"||", "concat"}[r.IntN(2)], sub(str), sub(str))
		case 1:
			e, err = c.Call("upper", sub(str))
		default:
			e, err = c.Cast(sub(i64), str, false)
		}
	default:
		switch r.IntN(7) {
		case 0, 1:
			w := any3()
			e, err = c.Call([]string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)], sub(w), sub(w))
		case 2:
			e, err = c.Call([]string{"and", "or"}[r.IntN(2)], sub(flag), sub(flag), sub(flag))
		case 3:
			e, err = c.Call("not", sub(flag))
		case 4:
			e, err = c.Call([]string{"is null", "is not null", "is true", "is not true", "is false",
				"is not false"}[r.IntN(6)], sub(flag))
		case 5:
			w := any3()
			list := []Expr{sub(w)}
			for range r.IntN(12) {
				list = append(list, randomExpr(t, r, w, 0, false))
			}
			e, err = c.In(sub(w), list, r.IntN(2) == 0)
		default:
			op := []string{"is distinct from", "is not distinct from", "like", "starts_with"}[r.IntN(4)]
			second := sub(str)
			if op == "like" {
				second = Text("%a%")
			}
			e, err = c.Call(op, sub(str), second)
		}
	}
	if err != nil {
		t.Fatalf("%s of depth %d: %v", want, depth, err)
	}
	return e
}

// TestAgainstNaive computes random expressions over random rows in every form, and compares them with what they are row
// by row. A program is used for several batches, as buffers live on.
func TestAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	failed, computed := 0, 0
	for trial := range 1500 {
		e := randomExpr(t, r, []vector.Type{flag, flag, i64, f64, str}[r.IntN(5)], 1+r.IntN(4), trial%4 == 0)
		p, err := Compile([]Expr{e})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			n := 1 + r.IntN(131)
			b, rows := randomBatch(r, n)
			before := describe(b)
			out := make([]*vector.Vector, 1)
			err := p.Eval(b, out)
			if after := describe(b); before != after {
				t.Fatalf("%s changed its input:\n%s\n%s", e, before, after)
			}
			wantErr := false
			want := make([]any, n)
			for i, row := range rows {
				x := &naive{row: row}
				want[i] = x.eval(e)
				wantErr = wantErr || x.failed
			}
			if wantErr != (err != nil) {
				t.Fatalf("%s over %d rows: error %v, want one: %v", e, n, err, wantErr)
			}
			if wantErr {
				failed++
				continue
			}
			computed++
			checkTail(t, e, out[0], n)
			for i := range n {
				if got := valueAt(out[0], i); fmt.Sprint(got) != fmt.Sprint(want[i]) {
					t.Fatalf("%s, row %d of %d, %v: got %v, want %v", e, i, n, rows[i], got, want[i])
				}
			}
		}
	}
	if failed < 40 || computed < 3500 {
		t.Errorf("%d evaluations failed and %d did not: the test does not test what it should", failed, computed)
	}
}

// checkTail: bits past the last row are zero, and a dictionary has no NULL.
func checkTail(t *testing.T, e Expr, v *vector.Vector, n int) {
	t.Helper()
	if v.Type != e.Type() {
		t.Fatalf("%s gives %s, want %s", e, v.Type, e.Type())
	}
	if v.Form != vector.Flat {
		if v.Form == vector.Dict && v.Values.Valid != nil {
			t.Fatalf("%s gives a dictionary with NULL", e)
		}
		return
	}
	for _, b := range []vector.Bitmap{v.Valid, v.Bools} {
		if tail := uint(n) & 63; b != nil && tail != 0 && b[n>>6]>>tail != 0 {
			t.Fatalf("%s over %d rows sets bits behind the last row", e, n)
		}
	}
}

func describe(b *vector.Batch) string {
	var s strings.Builder
	for i := range b.N {
		for _, c := range b.Cols {
			fmt.Fprint(&s, valueAt(c, i), " ")
		}
	}
	return s.String()
}
