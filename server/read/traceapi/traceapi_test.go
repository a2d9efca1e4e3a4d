package traceapi

import (
	"math"
	"strings"
	"testing"

	"varve/engine/vector"
)

// TestSpansHaveABound: one span more than there may be is an error.
func TestSpansHaveABound(t *testing.T) {
	b := newBuilder(&layout{})
	b.spans = maxSpans
	if err := b.add(&row{}); err == nil || !strings.Contains(err.Error(), "more than 100000 spans") {
		t.Error(err)
	}
}

// TestTraceTagConditions: which values of a column a text means.
func TestTraceTagConditions(t *testing.T) {
	for _, c := range []struct {
		typ        vector.Type
		text, want string
	}{
		{vector.StringType, `it's "x"`, `"a.b" = 'it''s "x"'`},
		{vector.StringType, "1", `"a.b" = '1'`},
		{vector.JSONType, "[1]", `CAST("a.b" AS STRING) = '[1]'`},
		{vector.BoolType, "true", `"a.b" = true`},
		{vector.BoolType, "TRUE OR 1=1", ""},
		{vector.Int64Type, "-7", `"a.b" = CAST('-7' AS BIGINT)`},
		{vector.Int64Type, "7.5", ""},
		{vector.Int64Type, "9223372036854775808", ""},
		{vector.Uint64Type, "18446744073709551615", `"a.b" = CAST('18446744073709551615' AS BIGINT UNSIGNED)`},
		{vector.FloatType, "1e300", `"a.b" = CAST('1e+300' AS DOUBLE)`},
		{vector.FloatType, "NaN", ""},
		{vector.FloatType, "1e999", ""},
		{vector.Type{ID: vector.TypeBinary}, "x", ""},
		{vector.Timestamp(9), "1", ""},
	} {
		if got := equals("a.b", c.typ, c.text); got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.typ, c.text, got, c.want)
		}
	}
}

// TestTraceFloats: what JSON has no number for is text.
func TestTraceFloats(t *testing.T) {
	var l tagList
	l.float("a", math.Inf(1))
	l.float("b", 2)
	if got, want := string(l.text),
		`{"key":"a","type":"string","value":"+Inf"},{"key":"b","type":"float64","value":2.0}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
