package stdlib

import (
	"math"
	"strconv"
	"strings"

	"varve/engine/timefmt"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
	"varve/pipeline/vrl/regex"
)

// coercionFunctions convert values from one type to another.
var coercionFunctions = []vrl.Function{
	{Name: "to_string", Params: []vrl.Param{arg("value", vrl.AnyValue)},
		Fails: vrl.If(vrl.Array | vrl.Object | vrl.Regex), Returns: vrl.Of(vrl.String), Run: toString},
	{Name: "to_int", Params: []vrl.Param{arg("value", vrl.AnyValue)},
		Fails: vrl.If(vrl.String | vrl.Array | vrl.Object | vrl.Regex), Returns: vrl.Of(vrl.Integer), Run: toInt},
	{Name: "to_float", Params: []vrl.Param{arg("value", vrl.AnyValue)},
		Fails: vrl.If(vrl.String | vrl.Array | vrl.Object | vrl.Regex), Returns: vrl.Of(vrl.Float), Run: toFloat},
	{Name: "to_bool", Params: []vrl.Param{arg("value", vrl.AnyValue)},
		Fails: vrl.If(vrl.String | vrl.Timestamp | vrl.Array | vrl.Object | vrl.Regex), Returns: vrl.Of(vrl.Boolean),
		Run: toBool},
	{Name: "to_regex", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Regex), Run: toRegex},
}

func toString(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v := args[0]
	switch v.Kind() {
	case value.StringKind:
		return v, nil
	case value.ArrayKind, value.ObjectKind, value.RegexKind:
		return f.Fail("unable to coerce %k into string", v)
	}
	return f.Arena.End(appendScalar(f.Arena.Begin(), v)), nil
}

// appendScalar appends a scalar as to_string writes it.
func appendScalar(dst []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.StringKind:
		return append(dst, v.Str()...)
	case value.IntKind:
		return strconv.AppendInt(dst, v.Int(), 10)
	case value.FloatKind:
		if x := v.Float(); math.IsInf(x, 0) {
			return append(dst, strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'f', -1, 64)), "+")...)
		}
		return strconv.AppendFloat(dst, v.Float(), 'f', -1, 64)
	case value.BoolKind:
		return strconv.AppendBool(dst, v.Bool())
	case value.TimestampKind:
		return value.AppendTime(dst, v.Nanos())
	case value.RegexKind:
		return append(dst, v.Regex().Source...)
	}
	return dst
}

func toInt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v := args[0]
	switch v.Kind() {
	case value.IntKind:
		return v, nil
	case value.FloatKind:
		return value.Int(saturated(v.Float())), nil
	case value.BoolKind:
		if v.Bool() {
			return value.Int(1), nil
		}
		return value.Int(0), nil
	case value.NullKind:
		return value.Int(0), nil
	case value.TimestampKind:
		return value.Int(timefmt.FloorDiv(v.Nanos(), 1e9)), nil
	case value.StringKind:
		n, why := decimal(v.Str())
		if why != "" {
			return f.Fail("Invalid integer %q: %s", v, value.String(why))
		}
		return value.Int(n), nil
	}
	return f.Fail("unable to coerce %k into integer", v)
}

// saturated is a float without its fraction, cut to the range of integers.
func saturated(x float64) int64 {
	switch {
	case x >= 1<<63:
		return math.MaxInt64
	case x < -1<<63:
		return math.MinInt64
	}
	return int64(x)
}

// decimal reads a whole text as an integer: digits with a sign or without. If it is none, why says so.
func decimal(s string) (n int64, why string) {
	digits, negative := s, false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative, digits = s[0] == '-', s[1:]
	}
	if s == "" {
		return 0, "cannot parse integer from empty string"
	}
	if digits == "" {
		return 0, "invalid digit found in string"
	}
	var u uint64
	overflow := false
	for i := range len(digits) {
		d := digits[i] - '0'
		if d > 9 {
			return 0, "invalid digit found in string"
		}
		if u > (math.MaxUint64-9)/10 {
			overflow = true
			continue
		}
		u = u*10 + uint64(d)
	}
	switch {
	case negative && (overflow || u > 1<<63):
		return 0, "number too small to fit in target type"
	case !negative && (overflow || u > math.MaxInt64):
		return 0, "number too large to fit in target type"
	case negative:
		return -int64(u), ""
	}
	return int64(u), ""
}

func toFloat(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v := args[0]
	switch v.Kind() {
	case value.FloatKind:
		return v, nil
	case value.IntKind:
		return value.Float(float64(v.Int())), nil
	case value.BoolKind:
		if v.Bool() {
			return value.Float(1), nil
		}
		return value.Float(0), nil
	case value.NullKind:
		return value.Float(0), nil
	case value.TimestampKind:
		ns := v.Nanos()
		seconds := timefmt.FloorDiv(ns, 1e9)
		return value.Float(float64(seconds) + float64(ns-seconds*1e9)/1e9), nil
	case value.StringKind:
		return parseFloatText(f, v)
	}
	return f.Fail("unable to coerce %k into float", v)
}

// parseFloatText reads a whole text as a float: decimal, with an exponent, or an infinity.
func parseFloatText(f *vrl.Frame, v value.Value) (value.Value, *vrl.Failure) {
	x, ok := floatOf(v.Str())
	if !ok {
		if v.Str() == "" {
			return f.Fail("Invalid floating point number %q: cannot parse float from empty string", v)
		}
		return f.Fail("Invalid floating point number %q: invalid float literal", v)
	}
	if math.IsNaN(x) {
		return f.Fail("Invalid floating point number %q: NaN number not supported", v)
	}
	return value.Float(x), nil
}

// floatOf reads a float in decimal form; Go's underscores, hexadecimal floats and the like are none. Beyond the range
// it is an infinity.
func floatOf(s string) (x float64, ok bool) {
	body := s
	if body != "" && (body[0] == '-' || body[0] == '+') {
		body = body[1:]
	}
	if body == "" {
		return 0, false
	}
	if body[0]|0x20 >= 'a' {
		switch strings.ToLower(body) {
		case "inf", "infinity":
			if s[0] == '-' {
				return math.Inf(-1), true
			}
			return math.Inf(1), true
		case "nan":
			return math.NaN(), true
		}
		return 0, false
	}
	for i := range len(body) {
		if c := body[i]; c-'0' > 9 && c != '.' && c|0x20 != 'e' && c != '+' && c != '-' {
			return 0, false
		}
	}
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil || math.IsInf(x, 0)
}

func toBool(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	v := args[0]
	switch v.Kind() {
	case value.BoolKind:
		return v, nil
	case value.IntKind:
		return value.Bool(v.Int() != 0), nil
	case value.FloatKind:
		return value.Bool(v.Float() != 0), nil
	case value.NullKind:
		return value.Bool(false), nil
	case value.StringKind:
		if b, ok := boolOf(v.Str()); ok {
			return value.Bool(b), nil
		}
		return f.Fail("Invalid boolean value %q", v)
	}
	return f.Fail("unable to coerce %k into boolean", v)
}

// boolOf reads the words of to_bool, in any letter case, and integers.
func boolOf(s string) (b, ok bool) {
	if len(s) <= len("false") {
		var lower [len("false")]byte
		n := copy(lower[:], s)
		for i := range n {
			if lower[i] >= 'A' && lower[i] <= 'Z' {
				lower[i] |= 0x20
			}
		}
		switch string(lower[:n]) {
		case "true", "t", "yes", "y":
			return true, true
		case "false", "f", "no", "n":
			return false, true
		}
	}
	n, why := decimal(s)
	return n != 0, why == ""
}

func toRegex(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	re, err := regex.Compile(args[0].Str())
	if err != nil {
		return f.FailErr(err)
	}
	return re.Of(), nil
}
