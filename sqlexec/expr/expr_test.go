package expr

import (
	"fmt"
	"testing"
	"time"

	"varve/engine/convert"
	"varve/engine/vector"
)

func lit(x any) Expr {
	switch x := x.(type) {
	case nil:
		return Null(vector.NullType)
	case int:
		return Int(int64(x))
	case float64:
		return &Const{Value: vector.ConstFloat(vector.FloatType, x)}
	case string:
		return Text(x)
	case bool:
		return &Const{Value: vector.ConstBool(x)}
	case Expr:
		return x
	}
	panic(fmt.Sprintf("literal %T", x))
}

func ts(t *testing.T, s string) Expr {
	t.Helper()
	x, err := convert.ParseTime(s, vector.Timestamp(3), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return &Const{Value: vector.ConstInt(vector.Timestamp(3), x)}
}

// TestConstants binds calls of constants, which folds them.
func TestConstants(t *testing.T) {
	c := &Context{Now: time.Unix(0, 0)}
	at := ts(t, "2024-01-31T10:20:30.5")
	for _, k := range []struct {
		want string
		name string
		args []any
	}{
		{"3", "/", []any{7, 2}}, {"-3", "/", []any{-7, 2}}, {"-1", "%", []any{-7, 3}}, {"3.5", "/", []any{7.0, 2}},
		{"NULL", "+", []any{1, nil}}, {"false", "and", []any{false, nil}}, {"NULL", "and", []any{true, nil}},
		{"true", "or", []any{nil, true}},
		{"true", "is not distinct from", []any{nil, nil}}, {"false", "=", []any{"a", "b"}},
		{"true", "<", []any{1, 1.5}},
		{"b", "coalesce", []any{nil, "b"}}, {"NULL", "nullif", []any{2, 2}}, {"2", "greatest", []any{1, nil, 2}},
		{"x", "if", []any{true, "x", "y"}},
		{"ab", "||", []any{"a", "b"}}, {"a1", "concat", []any{"a", nil, 1}},
		{"a-b", "concat_ws", []any{"-", "a", nil, "b"}},
		{"ell", "substr", []any{"hello", 2, 3}}, {"lo", "right", []any{"hello", 2}},
		{"00a", "lpad", []any{"a", 3, "0"}}, {"c", "split_part", []any{"a,b,c", ",", 3}},
		{"true", "like", []any{"hello", "h%o"}}, {"true", "~", []any{"hello", "l+o$"}},
		{"X-X", "regexp_replace", []any{"a-b", "[a-z]", "X", "g"}},
		{"2024-01-31T10:20:00", "date_trunc", []any{"minute", at}},
		{"2024-01-01T00:00:00", "date_trunc", []any{"quarter", at}},
		{"2024-01-29T00:00:00", "date_trunc", []any{"week", at}},
		{"2024-01-31T10:20:00", "date_bin", []any{"5 minutes", at}},
		{"31", "date_part", []any{"day", at}}, {"2024-02-29T10:20:30.500", "date_add", []any{at, "1 month"}},
		{"1706696430", "to_unixtime", []any{at}},
		{"2024/01/31", "date_format", []any{at, "%Y/%m/%d"}}, {"PT1.5S", "-", []any{ts(t, "2024-01-31T10:20:32"), at}},
		{"2.35", "round", []any{2.345001, 2}}, {"8.0", "power", []any{2, 3}}, {"2.0", "log", []any{100}},
		{"-128", "negate", []any{128}},
		{"900150983cd24fb0d6963f7d28e17f72", "md5", []any{"abc"}},
		{"true", "matches_term", []any{"an error!", "error"}}, {"7", "json_get_int", []any{`{"a":{"b":7}}`, "a.b"}},
	} {
		args := make([]Expr, len(k.args))
		for i, a := range k.args {
			args[i] = lit(a)
		}
		e, err := c.Call(k.name, args...)
		if err != nil {
			t.Errorf("%s%v: %v", k.name, k.args, err)
			continue
		}
		got := "NULL"
		if v := e.(*Const).Value; !v.IsNull(0) {
			got = string(AppendText(nil, v, 0))
		}
		if got != k.want {
			t.Errorf("%s%v = %s, want %s", k.name, k.args, got, k.want)
		}
	}
}

func TestErrors(t *testing.T) {
	c := &Context{}
	for _, k := range []struct {
		name string
		args []Expr
	}{
		{"/", []Expr{Int(1), Int(0)}}, {"no_such", nil}, {"upper", nil}, {"+", []Expr{Text("a"), lit(true)}},
		{"and", []Expr{Int(1), lit(true)}},
		{"~", []Expr{Text("a"), Text("(")}}, {"date_trunc", []Expr{Text("eon"), ts(t, "2024-01-01")}},
	} {
		if e, err := c.Call(k.name, k.args...); err == nil {
			t.Errorf("%s%v = %v, want an error", k.name, k.args, e)
		}
	}
	if _, err := c.Cast(Text("0.5"), vector.Int32Type, false); err == nil {
		t.Error("'0.5'::INT gave no error")
	}
	if e, err := c.Cast(Text("x"), vector.Int32Type, true); err != nil || !e.(*Const).Value.IsNull(0) {
		t.Errorf("TRY_CAST('x' AS INT) = %v, %v", e, err)
	}
}

// TestForms holds that every form of argument has the same answer: flat, constant, dictionary, with NULL.
func TestForms(t *testing.T) {
	c := &Context{}
	values := &vector.Vector{Type: vector.StringType}
	for i, s := range []string{"a", "bb", "ccc"} {
		values.Append(i, vector.ConstString(s), 0, 1)
	}
	dict := &vector.Vector{Type: vector.StringType, Form: vector.Dict, Values: values, Codes: []uint32{2, 0, 1, 0},
		Valid: vector.Bitmap{0b1011}}
	col := &Column{Index: 0, Name: "s", T: vector.StringType, Null: true}
	up, err := c.Call("upper", col)
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Call("length", up)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Call("+", n, Int(1))
	if err != nil {
		t.Fatal(err)
	}
	when, err := c.Call("=", n, Int(1))
	if err != nil {
		t.Fatal(err)
	}
	choice, err := c.Case([]Expr{when}, []Expr{up}, Text("long"))
	if err != nil {
		t.Fatal(err)
	}
	in, err := c.In(col, []Expr{Text("bb"), Text("ccc")}, false)
	if err != nil {
		t.Fatal(err)
	}
	some, err := c.Call("regexp_extract", col, Text("^[^a]+")) // NULL for a value, so that values alone do not tell
	if err != nil {
		t.Fatal(err)
	}
	p, err := Compile([]Expr{sum, choice, in, some})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []*vector.Vector{dict, dict.Flatten(4)} {
		out := make([]*vector.Vector, 4)
		if err := p.Eval(&vector.Batch{N: 4, Cols: []*vector.Vector{v}}, out); err != nil {
			t.Fatal(err)
		}
		want := [][]string{{"4", "2", "NULL", "2"}, {"long", "A", "long", "A"}, {"true", "false", "NULL", "false"},
			{"ccc", "NULL", "NULL", "NULL"}}
		for k := range out {
			for i := range 4 {
				got := "NULL"
				if !out[k].IsNull(i) {
					got = string(AppendText(nil, out[k], i))
				}
				if got != want[k][i] {
					t.Errorf("form %d, expression %d, row %d: got %s, want %s", v.Form, k, i, got, want[k][i])
				}
			}
		}
	}
}
