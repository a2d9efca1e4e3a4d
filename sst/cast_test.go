package sst

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestCast reads values of old types under new ones.
func TestCast(t *testing.T) {
	ints := func(t vector.Type, v ...int64) *vector.Vector { return &vector.Vector{Type: t, Ints: v} }
	texts := func(s ...string) *vector.Vector {
		v := &vector.Vector{Type: vector.StringType}
		for i, x := range s {
			v.Append(i, vector.ConstString(x), 0, 1)
		}
		return v
	}
	floats := func(v ...float64) *vector.Vector { return &vector.Vector{Type: vector.FloatType, Floats: v} }
	for _, c := range []struct {
		name string
		v    *vector.Vector
		n    int
		to   vector.Type
		want string
	}{
		{"wider", ints(vector.Int32Type, 1, -2), 2, vector.Int64Type, "[1 -2]"},
		{"narrower", ints(vector.Int64Type, 1, 300, -129), 3, vector.Int8Type, "[1 <nil> <nil>]"},
		{"to unsigned", ints(vector.Int64Type, 7, -1), 2, vector.Uint64Type, "[7 <nil>]"},
		{"to float", ints(vector.Int64Type, 7, -1), 2, vector.FloatType, "[7 -1]"},
		{"to text", ints(vector.Int64Type, 7, -1), 2, vector.StringType, "[7 -1]"},
		{"float to text", floats(1, 1.5, 1e20, 1e-7, math.NaN(), math.Inf(-1)), 6, vector.StringType, "[1.0 1.5 1e20 1e-7 NaN -inf]"},
		{"float to int", floats(1.9, -1.9, 1e30, math.NaN()), 4, vector.Int64Type, "[1 -1 <nil> <nil>]"},
		{"text to int", texts("12", "x", "-3", ""), 4, vector.Int64Type, "[12 <nil> -3 <nil>]"},
		{"text to float", texts("1.25", "x"), 2, vector.FloatType, "[1.25 <nil>]"},
		{"text to bool", texts("true", "0", "maybe"), 3, vector.BoolType, "[true false <nil>]"},
		{"bool to int", &vector.Vector{Type: vector.BoolType, Bools: vector.Bitmap{2}}, 2, vector.Int64Type, "[0 1]"},
		{"ms to s", ints(vector.Timestamp(3), 1999, -1, -1000), 3, vector.Timestamp(0), "[1 -1 -1]"},
		{"s to ns", ints(vector.Timestamp(0), 2, math.MaxInt64), 2, vector.Timestamp(9), "[2000000000 <nil>]"},
		{"text to binary", texts("ab"), 1, vector.BinaryType, "[ab]"},
		{"text in a dictionary", &vector.Vector{Type: vector.StringType, Form: vector.Dict, Codes: []uint32{1, 0, 1}, Values: texts("5", "no")}, 3, vector.Int64Type, "[<nil> 5 <nil>]"},
		{"constant", vector.ConstInt(vector.Int64Type, 3), 2, vector.StringType, "[3 3]"},
		{"NULL", vector.ConstNull(vector.Int64Type), 2, vector.StringType, "[<nil> <nil>]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cast, err := castOf(c.v.Type, c.to)
			if err != nil {
				t.Fatal(err)
			}
			out := cast(&vector.Vector{}, c.v, c.to, c.n)
			got := make([]any, c.n)
			for i := range got {
				got[i] = value(out, i)
			}
			if text := fmt.Sprint(got); text != c.want || out.Type != c.to {
				t.Errorf("%s of type %s, want %s", text, out.Type, c.want)
			}
		})
	}
	if _, err := castOf(vector.Timestamp(3), vector.BoolType); err == nil {
		t.Error("a timestamp reads as a boolean")
	}
}

// TestEvolvedScan filters and reads columns whose types changed since the part was written.
func TestEvolvedScan(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	model := newTable(r, 1, 3000, false)
	fs := vfs.NewMem()
	model.write(t, fs, "p", r, WriterOptions{MaxSeq: 99})
	p, err := Open(fs, "p", OpenOptions{Cache: NewCache(8 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	asText := bytesColumn
	asText.Type = vector.StringType
	asFloat := bytesColumn
	asFloat.Type = vector.FloatType
	for _, c := range []struct {
		column schema.Column
		cond   filter.Cond
		want   func(x int64) bool
	}{
		{asText, cond(asText, filter.Prefix, "-4"), func(x int64) bool { s := fmt.Sprint(x); return len(s) > 1 && s[:2] == "-4" }},
		{asFloat, cond(asFloat, filter.Greater, 250.5), func(x int64) bool { return x > 250 }},
	} {
		for range 3 {
			cursor, err := p.Run().Scan(&scan.Spec{Columns: []schema.Column{c.column}, TimeColumn: tsColumn, Time: scan.All, Filter: filter.And{c.cond}, FilterColumns: []schema.Column{c.column}})
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, w := range model.series[0].rows {
				if x := w[5].(int64); c.want(x) {
					want = append(want, fmt.Sprintf("%v|", x))
				}
			}
			compareLines(t, read(t, cursor), want)
		}
	}
	if s, ok := p.Run().Stat(asText); ok {
		t.Errorf("statistics under another type: %+v", s)
	}
}
