package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/vector"
)

// formColumns are arguments of all kinds: what stands in them is chosen so that many functions take it.
func formColumns(r *rand.Rand, n int) (cols []*Column, flat []*vector.Vector) {
	texts := []string{"", "a", "ab cd", "2024-05-06 07:08:09", "10.0.3.7", `{"a": {"b": [1, "x"]}}`, "grüße", "-17",
		"3.5", "x,y,z", "1 hour", "%d"}
	add := func(t vector.Type, null bool, value func() *vector.Vector) {
		v := &vector.Vector{Type: t}
		for i := range n {
			if null && r.IntN(5) == 0 {
				v.AppendNulls(i, 1)
			} else {
				v.Append(i, value(), 0, 1)
			}
		}
		cols = append(cols, &Column{Index: len(cols), Name: fmt.Sprint("c", len(cols)), T: t, Null: null})
		flat = append(flat, v)
	}
	for _, null := range []bool{false, true} {
		add(vector.StringType, null, func() *vector.Vector { return vector.ConstString(texts[r.IntN(len(texts))]) })
		add(vector.Int64Type, null, func() *vector.Vector {
			return vector.ConstInt(vector.Int64Type,
				[]int64{0, 1, 2, 3, -1, 60, math.MaxInt64, math.MinInt64}[r.IntN(8)])
		})
		add(vector.FloatType, null, func() *vector.Vector {
			return vector.ConstFloat(vector.FloatType,
				[]float64{0, 0.5, -2, 1e300, math.NaN(), math.Inf(-1)}[r.IntN(6)])
		})
		add(vector.BoolType, null, func() *vector.Vector { return vector.ConstBool(r.IntN(2) == 0) })
		add(vector.Timestamp(3), null, func() *vector.Vector {
			return vector.ConstInt(vector.Timestamp(3), []int64{0, 1_700_000_000_000, -5, 86_399_999}[r.IntN(4)])
		})
		add(vector.JSONType, null, func() *vector.Vector {
			return vector.ConstBytes(vector.JSONType,
				[]byte([]string{`{"a":{"b":[1,"x"]}}`, `[1,2,3]`, `null`, `"s"`}[r.IntN(4)]))
		})
		add(vector.List(vector.StringType), null, func() *vector.Vector {
			return vector.ConstBytes(vector.List(vector.StringType),
				[]byte([]string{`["a","b"]`, `[]`, `["b",null]`}[r.IntN(3)]))
		})
	}
	return cols, flat
}

// formConstants are arguments that are the same in every row.
var formConstants = []Expr{Text("a"), Text("[a-z]+"), Text("second"), Text("%Y-%m-%d"), Text("$.a.b"), Text("UTC"),
	Int(0), Int(1), Int(2), Int(-1),
	&Const{Value: vector.ConstFloat(vector.FloatType, 0.5)}, &Const{Value: vector.ConstNull(vector.StringType)}}

// TestFunctionForms calls every function with random arguments: dictionaries and constants give what the same values
// give row by row, and nothing panics. What fails in one form fails, or is never asked for, in the other.
func TestFunctionForms(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	const n = 40
	cols, flat := formColumns(r, n)
	forms := &vector.Batch{N: n}
	for _, v := range flat {
		if v.Type.Kind() == vector.Bytes {
			v = asDictOf(v, n)
		}
		forms.Cols = append(forms.Cols, v)
	}
	rows := make([]*vector.Batch, n)
	for i := range rows {
		rows[i] = &vector.Batch{N: 1}
		for _, v := range flat {
			x := &vector.Vector{Type: v.Type}
			x.Append(0, v, i, i+1)
			rows[i].Cols = append(rows[i].Cols, x)
		}
	}
	for _, name := range Names() {
		f := functions[name]
		if f.volatile {
			continue
		}
		bound := 0
		for try := 0; try < 4000 && bound < 30; try++ {
			args := make([]Expr, f.min+r.IntN(2))
			if f.max >= 0 && len(args) > f.max {
				args = args[:f.max]
			}
			for i := range args {
				if args[i] = cols[r.IntN(len(cols))]; r.IntN(3) == 0 {
					args[i] = formConstants[r.IntN(len(formConstants))]
				}
			}
			e, err := (&Context{}).Call(name, args...)
			if err != nil {
				continue
			}
			bound++
			checkForms(t, e, forms, rows)
		}
	}
}

// checkForms computes an expression over whole columns of some forms, and row by row.
func checkForms(t *testing.T, e Expr, forms *vector.Batch, rows []*vector.Batch) {
	t.Helper()
	one, err := CompileWithin([]Expr{e}, &smallMemory{limit: 4 << 20}) // series between far numbers end early
	if err != nil {
		t.Fatalf("%s: %v", e, err)
	}
	want, fails := make([]string, len(rows)), false
	out := make([]*vector.Vector, 1)
	for i, row := range rows {
		if err := one.Eval(row, out); err != nil {
			fails = true
			break
		}
		want[i] = formText(out[0], 0)
	}
	for range 2 { // with fresh scratch, then with what the first left
		err = one.Eval(forms, out)
		if (err != nil) != fails {
			t.Errorf("%s: rows fail: %v, the batch: %v", e, fails, err)
			return
		}
		for i := 0; i < len(rows) && err == nil; i++ {
			if got := formText(out[0], i); got != want[i] {
				t.Errorf("%s, row %d: %s, alone %s", e, i, got, want[i])
				return
			}
		}
	}
}

func formText(v *vector.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	return string(AppendText(nil, v, i))
}

// asDictOf is asDict for any type of bytes.
func asDictOf(v *vector.Vector, n int) *vector.Vector {
	d := asDict(v, n)
	d.Values.Type = v.Type
	return d
}
