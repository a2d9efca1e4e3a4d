package sst

import (
	"fmt"
	"math"
	"strconv"

	"varve/engine/vector"
)

// caster gives n rows of v, of a column's type when it was written, under the type it has now. dst is memory to use.
type caster func(dst, v *vector.Vector, t vector.Type, n int) *vector.Vector

// castOf finds the way from one type to another: among numbers, between timestamps of different precision, between
// byte strings, and from scalars to text and back. A value that does not fit reads as NULL.
func castOf(from, to vector.Type) (caster, error) {
	switch {
	case from.Kind() == to.Kind() && from.Kind() != vector.Float64 && (fits(from, to) || from.Kind() == vector.Bytes && to.Kind() == vector.Bytes && plainBytes(from) && plainBytes(to)):
		return rename, nil
	case from.UnitsPerSecond() > 0 && from.ID == to.ID:
		return castUnits, nil
	case scalar(from) && scalar(to):
		return castValues, nil
	}
	return nil, fmt.Errorf("%s is not readable as %s", from, to)
}

// plainBytes: types whose bytes are what they mean.
func plainBytes(t vector.Type) bool {
	return t.ID == vector.TypeString || t.ID == vector.TypeBinary || t.ID == vector.TypeJSON
}

// fits tells whether every value of an integer type is one of the other.
func fits(from, to vector.Type) bool {
	lo, hi, ok := integerBounds(from)
	low, high, ok2 := integerBounds(to)
	return ok && ok2 && from.Kind() == to.Kind() && low <= lo && hi <= high
}

// integerBounds are the bounds of an integer type.
func integerBounds(t vector.Type) (lo float64, hi float64, ok bool) {
	switch t.ID {
	case vector.TypeInt8:
		return math.MinInt8, math.MaxInt8, true
	case vector.TypeInt16:
		return math.MinInt16, math.MaxInt16, true
	case vector.TypeInt32:
		return math.MinInt32, math.MaxInt32, true
	case vector.TypeInt64:
		return math.MinInt64, math.MaxInt64, true
	case vector.TypeUint8:
		return 0, math.MaxUint8, true
	case vector.TypeUint16:
		return 0, math.MaxUint16, true
	case vector.TypeUint32:
		return 0, math.MaxUint32, true
	case vector.TypeUint64:
		return 0, math.MaxUint64, true
	}
	return 0, 0, false
}

func scalar(t vector.Type) bool {
	return t.IsInteger() || t.Kind() == vector.Float64 || t.ID == vector.TypeString || t.ID == vector.TypeBool
}

// rename gives the same values under another type of the same kind.
func rename(dst, v *vector.Vector, t vector.Type, _ int) *vector.Vector {
	*dst = *v
	dst.Type = t
	if v.Form == vector.Dict {
		values := *v.Values
		values.Type = t
		dst.Values = &values
	}
	return dst
}

// castUnits scales times from one precision to another: down by floor; what overflows is NULL.
func castUnits(dst, v *vector.Vector, t vector.Type, n int) *vector.Vector {
	from, to := v.Type.UnitsPerSecond(), t.UnitsPerSecond()
	dst.Reset(t)
	for i := range n {
		if v.IsNull(i) {
			dst.AppendNulls(i, 1)
			continue
		}
		x, ok := v.Int(i), true
		if to > from {
			k := to / from
			ok = x <= math.MaxInt64/k && x >= math.MinInt64/k
			x *= k
		} else if k := from / to; x%k < 0 {
			x = x/k - 1
		} else {
			x /= k
		}
		if !ok {
			dst.AppendNulls(i, 1)
			continue
		}
		dst.Append(i, vector.ConstInt(t, x), 0, 1)
	}
	return dst
}

// castValues goes value by value over their text or number.
func castValues(dst, v *vector.Vector, t vector.Type, n int) *vector.Vector {
	dst.Reset(t)
	for i := range n {
		if v.IsNull(i) {
			dst.AppendNulls(i, 1)
			continue
		}
		if one := castOne(v, i, t); one != nil {
			dst.Append(i, one, 0, 1)
		} else {
			dst.AppendNulls(i, 1)
		}
	}
	return dst
}

// castOne gives row i as a Const of type t; nil when it does not fit.
func castOne(v *vector.Vector, i int, t vector.Type) *vector.Vector {
	text := valueText(v, i)
	switch t.Kind() {
	case vector.Bytes:
		return vector.ConstString(text)
	case vector.Bool:
		switch text {
		case "true", "1":
			return vector.ConstBool(true)
		case "false", "0":
			return vector.ConstBool(false)
		}
		return nil
	case vector.Float64:
		x, err := strconv.ParseFloat(boolText(text), 64)
		if err != nil {
			return nil
		}
		if t.ID == vector.TypeFloat32 {
			x = float64(float32(x))
		}
		return vector.ConstFloat(t, x)
	}
	text = boolText(text)
	if v.Type.Kind() == vector.Float64 { // truncates toward zero
		x := math.Trunc(v.Float(i))
		if !(math.Abs(x) < 1<<63) && !(t.Kind() == vector.Uint64 && x >= 0 && x < 1<<64) {
			return nil
		}
		text = strconv.FormatFloat(x, 'f', 0, 64)
	}
	lo, hi, _ := integerBounds(t)
	if t.Kind() == vector.Int64 {
		x, err := strconv.ParseInt(text, 10, 64)
		if err != nil || float64(x) < lo || float64(x) > hi {
			return nil
		}
		return vector.ConstInt(t, x)
	}
	x, err := strconv.ParseUint(text, 10, 64)
	if err != nil || float64(x) > hi {
		return nil
	}
	return vector.ConstUint(t, x)
}

func boolText(text string) string {
	switch text {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	return text
}

// valueText is the text of a value as CAST to STRING gives it.
func valueText(v *vector.Vector, i int) string {
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.FormatBool(v.Bool(i))
	case vector.Int64:
		return strconv.FormatInt(v.Int(i), 10)
	case vector.Uint64:
		return strconv.FormatUint(v.Uint(i), 10)
	case vector.Float64:
		return floatText(v.Float(i), v.Type)
	}
	return string(v.Bytes(i))
}

// floatText: shortest form that reads back, whole numbers keep .0 (sql.md 3.2).
func floatText(x float64, t vector.Type) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	bits := 64
	if t.ID == vector.TypeFloat32 {
		bits = 32
	}
	if a := math.Abs(x); a != 0 && (a < 1e-5 || a >= 1e16) {
		s := strconv.FormatFloat(x, 'e', -1, bits)
		return cleanExponent(s)
	}
	s := strconv.FormatFloat(x, 'f', -1, bits)
	for i := range len(s) {
		if s[i] == '.' {
			return s
		}
	}
	return s + ".0"
}

// cleanExponent takes the plus sign and the leading zero out of an exponent: 1e+20 is 1e20, 1e-07 is 1e-7.
func cleanExponent(s string) string {
	for i := range len(s) {
		if s[i] != 'e' {
			continue
		}
		sign, digits := "", s[i+1:]
		if digits[0] == '-' {
			sign = "-"
		}
		digits = digits[1:]
		if digits[0] == '0' && len(digits) > 1 {
			digits = digits[1:]
		}
		return s[:i+1] + sign + digits
	}
	return s
}
