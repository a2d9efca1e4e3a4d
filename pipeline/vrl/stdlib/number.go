package stdlib

import (
	"math"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// numberFunctions compute with numbers, write and read them.
var numberFunctions = []vrl.Function{
	{Name: "abs", Params: []vrl.Param{arg("value", vrl.Number)}, ReturnsFor: sameNumber, Run: abs},
	{Name: "ceil", Params: roundParams, ReturnsFor: sameNumber, Run: rounded(math.Ceil)},
	{Name: "floor", Params: roundParams, ReturnsFor: sameNumber, Run: rounded(math.Floor)},
	{Name: "round", Params: roundParams, ReturnsFor: sameNumber, Run: rounded(math.Round)},
	{Name: "mod", Params: []vrl.Param{arg("value", vrl.Number), arg("modulus", vrl.Number)},
		Fails:      vrl.UnlessConst("modulus", func(v value.Value) bool { return v.IsNumber() && v.Number() != 0 }),
		ReturnsFor: modType, Run: mod},
	{Name: "format_int", Params: []vrl.Param{arg("value", vrl.Integer), with("base", vrl.Integer, value.Int(10))},
		Fails: vrl.Always, Returns: vrl.Of(vrl.String), Run: formatInt},
	{Name: "format_number", Params: []vrl.Param{arg("value", vrl.Number), opt("scale", vrl.Integer),
		text("decimal_separator", "."), opt("grouping_separator", vrl.String)},
		Returns: vrl.Of(vrl.String), Run: formatNumber},
	{Name: "parse_int", Params: []vrl.Param{arg("value", vrl.String), opt("base", vrl.Integer)}, Fails: vrl.Always,
		Returns: vrl.Of(vrl.Integer), Run: parseInt},
	{Name: "parse_float", Params: stringParam, Fails: vrl.Always, Returns: vrl.Of(vrl.Float),
		Run: func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
			return parseFloatText(f, args[0])
		}},
}

var roundParams = []vrl.Param{arg("value", vrl.Number), with("precision", vrl.Integer, value.Int(0))}

// sameNumber is the type of results that are of the type of the argument.
func sameNumber(c *vrl.Call) vrl.Type {
	if t := c.Type("value").Only(vrl.Number); !t.Never() {
		return t
	}
	return vrl.Of(vrl.Number)
}

func abs(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	if v := args[0]; v.Kind() == value.IntKind {
		return value.Int(max(v.Int(), -v.Int())), nil
	}
	return value.Float(math.Abs(args[0].Float())), nil
}

// rounded makes a rounding function: floats are rounded at a decimal place, integers stay.
func rounded(round func(float64) float64) vrl.Run {
	return func(_ *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		v := args[0]
		if v.Kind() == value.IntKind {
			return v, nil
		}
		scale := 1.0
		if places := args[1].Int(); places != 0 {
			scale = math.Pow(10, float64(min(max(places, -400), 400)))
		}
		x := round(v.Float()*scale) / scale
		if math.IsNaN(x) || math.IsInf(x, 0) { // more places than a float has, or fewer than it needs
			if args[1].Int() < 0 {
				return value.Float(0), nil
			}
			return v, nil
		}
		return value.Float(x), nil
	}
}

func modType(c *vrl.Call) vrl.Type {
	a, b := c.Type("value").Only(vrl.Number), c.Type("modulus").Only(vrl.Number)
	switch {
	case a.Is(vrl.Integer) && b.Is(vrl.Integer):
		return vrl.Of(vrl.Integer)
	case a.Is(vrl.Float) || b.Is(vrl.Float):
		return vrl.Of(vrl.Float)
	}
	return vrl.Of(vrl.Number)
}

func mod(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	a, b := args[0], args[1]
	if b.Number() == 0 {
		return f.Fail("can't divide by zero")
	}
	if a.Kind() == value.IntKind && b.Kind() == value.IntKind {
		return value.Int(a.Int() % b.Int()), nil
	}
	x := math.Mod(a.Number(), b.Number())
	if math.IsNaN(x) {
		return f.Fail("operation would produce NaN")
	}
	return value.Float(x), nil
}

func formatInt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	base := args[1].Int()
	if base < 2 || base > 36 {
		return f.Fail("invalid base %s: must be between 2 and 36 (inclusive)", args[1])
	}
	return f.Arena.End(strconv.AppendInt(f.Arena.Begin(), args[0].Int(), int(base))), nil
}

// maxScale bounds the digits after the point.
const maxScale = 1024

func formatNumber(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	var buffer [64]byte
	digits := string(appendScalar(buffer[:0], args[0]))
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	b := append(f.Arena.Begin(), sign...)
	if args[3].IsNull() || args[3].Str() == "" || !isDigitRune(rune(whole[0])) {
		b = append(b, whole...)
	} else {
		for i := range len(whole) {
			if i > 0 && (len(whole)-i)%3 == 0 {
				b = append(b, args[3].Str()...)
			}
			b = append(b, whole[i])
		}
	}
	if !args[1].IsNull() {
		scale := args[1].Int()
		if scale > maxScale {
			f.Arena.End(b[:0])
			return f.Fail("scale %s is larger than %s", args[1], value.Int(maxScale))
		}
		scale = max(scale, 0)
		if int64(len(fraction)) > scale {
			fraction = fraction[:scale]
		} else {
			fraction += strings.Repeat("0", int(scale)-len(fraction))
		}
	}
	if fraction != "" {
		b = append(append(b, args[2].Str()...), fraction...)
	}
	return f.Arena.End(b), nil
}

func parseInt(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
	s, base := args[0].Str(), int64(10)
	switch {
	case !args[1].IsNull():
		if base = args[1].Int(); base < 2 || base > 36 {
			return f.Fail("invalid base %s: must be between 2 and 36 (inclusive)", args[1])
		}
	case s == "":
		return f.Fail("value is empty")
	case strings.HasPrefix(s, "0b"):
		s, base = s[2:], 2
	case strings.HasPrefix(s, "0o"):
		s, base = s[2:], 8
	case strings.HasPrefix(s, "0x"):
		s, base = s[2:], 16
	case s[0] == '0':
		base = 8
	}
	if s == "" {
		return f.Fail("could not parse integer: cannot parse integer from empty string")
	}
	n, err := strconv.ParseInt(s, int(base), 64)
	if err != nil {
		why := "invalid digit found in string"
		if number, ok := err.(*strconv.NumError); ok && number.Err == strconv.ErrRange {
			if why = "number too large to fit in target type"; s[0] == '-' {
				why = "number too small to fit in target type"
			}
		}
		return f.Fail("could not parse integer: %s", value.String(why))
	}
	return value.Int(n), nil
}
