package convert

import (
	"fmt"
	"math"
	"testing"

	"varve/engine/vector"
)

// TestAll converts columns of all forms.
func TestAll(t *testing.T) {
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
		{"narrower", ints(vector.Int64Type, 1, 300, -129), 3, vector.Int8Type, "[1 NULL NULL]"},
		{"to unsigned", ints(vector.Int64Type, 7, -1), 2, vector.Uint64Type, "[7 NULL]"},
		{"to float", ints(vector.Int64Type, 7, -1), 2, vector.FloatType, "[7.0 -1.0]"},
		{"to text", ints(vector.Int64Type, 7, -1), 2, vector.StringType, "[7 -1]"},
		{"float to text", floats(1, 1.5, 1e20, 1e-7, math.NaN(), math.Inf(-1)), 6, vector.StringType,
			"[1.0 1.5 1e20 1e-7 NaN -inf]"},
		{"float to int", floats(1.9, -1.9, 1e30, math.NaN()), 4, vector.Int64Type, "[1 -1 NULL NULL]"},
		{"text to int", texts("12", "x", "-3", ""), 4, vector.Int64Type, "[12 NULL -3 NULL]"},
		{"text to float", texts("1.25", "x"), 2, vector.FloatType, "[1.25 NULL]"},
		{"text to bool", texts("true", "0", "maybe"), 3, vector.BoolType, "[true false NULL]"},
		{"bool to int", &vector.Vector{Type: vector.BoolType, Bools: vector.Bitmap{2}}, 2, vector.Int64Type, "[0 1]"},
		{"ms to s", ints(vector.Timestamp(3), 1999, -1, -1000), 3, vector.Timestamp(0),
			"[1970-01-01T00:00:01 1969-12-31T23:59:59 1969-12-31T23:59:59]"},
		{"s to ns", ints(vector.Timestamp(0), 2, math.MaxInt64), 2, vector.Timestamp(9), "[1970-01-01T00:00:02 NULL]"},
		{"text to binary", texts("ab"), 1, vector.BinaryType, "[6162]"},
		{"text in a dictionary", &vector.Vector{Type: vector.StringType, Form: vector.Dict, Codes: []uint32{1, 0, 1},
			Values: texts("5", "no")}, 3, vector.Int64Type, "[NULL 5 NULL]"},
		{"constant", vector.ConstInt(vector.Int64Type, 3), 2, vector.StringType, "[3 3]"},
		{"NULL", vector.ConstNull(vector.Int64Type), 2, vector.StringType, "[NULL NULL]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := All(&vector.Vector{}, c.v, c.to, c.n)
			var got []string
			for i := range c.n {
				if out.IsNull(i) {
					got = append(got, "NULL")
				} else {
					got = append(got, string(AppendText(nil, out, i)))
				}
			}
			if text := fmt.Sprint(got); text != c.want || out.Type != c.to {
				t.Errorf("%s of type %s, want %s", text, out.Type, c.want)
			}
		})
	}
	if Possible(vector.Timestamp(3), vector.BoolType) {
		t.Error("a timestamp reads as a boolean")
	}
}

// TestIntervalLength: days and nanoseconds are added exactly, and whatever does not fit is refused.
func TestIntervalLength(t *testing.T) {
	const day = 86_400_000_000_000
	for _, c := range []struct {
		months, days int32
		ns, want     int64
		ok           bool
	}{
		{0, 1, -1, day - 1, true},
		{0, -2, 5, 5 - 2*day, true},
		{0, 106751, 85_636_854_775_807, math.MaxInt64, true},
		{0, 106751, 85_636_854_775_808, 0, false},
		{0, -106751, -85_636_854_775_808, math.MinInt64, true},
		{0, -106751, -85_636_854_775_809, 0, false},
		{0, 300_000, 0, 0, false},
		{0, -200_000, 0, 0, false},
		{1, 0, 0, 0, false},
	} {
		ns, ok := IntervalLength(AppendIntervalBytes(nil, c.months, c.days, c.ns))
		if ok != c.ok || ok && ns != c.want {
			t.Errorf("%d months %d days %d ns: %d %v", c.months, c.days, c.ns, ns, ok)
		}
	}
}
