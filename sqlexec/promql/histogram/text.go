package histogram

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// String is the form that count_values shows: {count:3, sum:4.5, [-1,1]:1, (1,2]:2}.
func (h *Histogram) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "{count:%g, sum:%g", h.Count, h.Sum)
	for _, iv := range h.whole() {
		if iv.Count == 0 {
			continue
		}
		open, end := byte('('), byte(')')
		if iv.LowerInclusive {
			open = '['
		}
		if iv.UpperInclusive {
			end = ']'
		}
		fmt.Fprintf(&b, ", %c%g,%g%c:%v", open, iv.Lower, iv.Upper, end, iv.Count)
	}
	b.WriteByte('}')
	return b.String()
}

// whole are the intervals of all buckets, none of them cut at the zero bucket.
func (h *Histogram) whole() []Interval {
	var out []Interval
	for i := len(h.Negative) - 1; i >= 0; i-- {
		out = append(out, h.negative(h.Negative[i]))
	}
	if h.ZeroCount != 0 {
		out = append(out, h.zero())
	}
	for _, b := range h.Positive {
		out = append(out, h.positive(b))
	}
	return out
}

// AppendJSON appends the form of the metrics API: count and sum as strings and the populated buckets, each as
// [rule, lower, upper, count] with rule 0 for open on the left, 1 open on the right, 2 open, 3 closed.
func (h *Histogram) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"count":`...)
	dst = AppendNumber(dst, h.Count)
	dst = append(dst, `,"sum":`...)
	dst = AppendNumber(dst, h.Sum)
	sep := `,"buckets":[[`
	for _, iv := range h.Intervals(nil) {
		if iv.Count == 0 {
			continue
		}
		rule := byte('2')
		switch {
		case iv.LowerInclusive && iv.UpperInclusive:
			rule = '3'
		case iv.LowerInclusive:
			rule = '1'
		case iv.UpperInclusive:
			rule = '0'
		}
		dst = append(dst, sep...)
		dst = append(dst, rule, ',')
		dst = append(AppendNumber(dst, iv.Lower), ',')
		dst = append(AppendNumber(dst, iv.Upper), ',')
		dst = append(AppendNumber(dst, iv.Count), ']')
		sep = ",["
	}
	if sep == ",[" {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendNumber appends a value as the metrics API writes it: a string with the shortest decimal that reads back, plain
// where 1e-6 <= |v| < 1e21.
func AppendNumber(dst []byte, v float64) []byte {
	dst = append(dst, '"')
	if n := int64(v); float64(n) == v && n > -1<<53 && n < 1<<53 && (n != 0 || !math.Signbit(v)) {
		dst = strconv.AppendInt(dst, n, 10)
	} else {
		format := byte('f')
		if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
			format = 'e'
		}
		dst = strconv.AppendFloat(dst, v, format, -1, 64)
	}
	return append(dst, '"')
}
