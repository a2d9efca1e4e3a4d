package stdlib

import (
	"math/bits"
	"strconv"
	"strings"

	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// unitFunctions read quantities with units.
var unitFunctions = []vrl.Function{
	{Name: "parse_duration", Params: []vrl.Param{arg("value", vrl.String),
		word("unit", "", "ns", "us", "µs", "ms", "cs", "ds", "s", "m", "h", "d", "w")},
		Fails: vrl.Always, Returns: vrl.Of(vrl.Float), Compile: compileParseDuration},
	{Name: "parse_bytes", Params: []vrl.Param{arg("value", vrl.String), arg("unit", vrl.String),
		word("base", "2", "2", "10")},
		Fails: vrl.Always, Returns: vrl.Of(vrl.Float), Compile: compileParseBytes},
}

// durationUnits are the nanoseconds of each unit of time.
var durationUnits = map[string]uint64{"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "cs": 1e7, "ds": 1e8,
	"s": 1e9, "m": 60e9, "h": 3600e9, "d": 86400e9, "w": 604800e9}

// binaryUnits and decimalUnits are the bytes of each unit of size.
var binaryUnits, decimalUnits = byteUnits()

func byteUnits() (binary, decimal map[string]uint64) {
	binary, decimal = map[string]uint64{"B": 1}, map[string]uint64{"B": 1}
	two, ten := uint64(1), uint64(1)
	for i, prefix := range []string{"k", "M", "G", "T", "P", "E"} {
		two, ten = two<<10, ten*1000
		names := []string{prefix}
		if i == 0 {
			names = append(names, "K")
		}
		for _, p := range names {
			binary[p+"iB"], binary[p+"B"], decimal[p+"B"] = two, two, ten
		}
	}
	return binary, decimal
}

func compileParseDuration(c *vrl.Call) (vrl.Run, error) {
	unit, _ := c.Const("unit")
	size := durationUnits[unit.Str()]
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		x, bad, ok := quantity(args[0].Str(), durationUnits, size, true)
		switch {
		case bad != "":
			return f.Fail("unknown duration unit: '%s'", value.String(bad))
		case !ok:
			return f.Fail("unable to parse duration: '%s'", args[0])
		}
		return value.Float(x), nil
	}, nil
}

func compileParseBytes(c *vrl.Call) (vrl.Run, error) {
	units := binaryUnits
	if base, _ := c.Const("base"); base.Str() == "10" {
		units = decimalUnits
	}
	return func(f *vrl.Frame, args []value.Value) (value.Value, *vrl.Failure) {
		size, known := units[args[1].Str()]
		if !known {
			return f.Fail("unknown unit format: '%s'", args[1])
		}
		x, _, ok := quantity(args[0].Str(), units, size, false)
		if !ok {
			return f.Fail("unable to parse bytes: 'invalid digit found in string'")
		}
		return value.Float(x), nil
	}, nil
}

// quantity reads numbers with units, such as "1h 30m", and gives their sum in units of the given size. There may be one
// part only unless many. bad is a unit that nobody knows.
func quantity(s string, units map[string]uint64, size uint64, many bool) (sum float64, bad string, ok bool) {
	s = strings.TrimSpace(s)
	for parts := 0; s != "" || parts == 0; parts++ {
		if parts > 0 && !many {
			return 0, "", false
		}
		number, rest := s[:numberEnd(s)], strings.TrimLeft(s[numberEnd(s):], " ")
		end := unitEnd(rest)
		if number == "" || number[len(number)-1] == '.' || end == 0 {
			return 0, "", false
		}
		unit, known := units[rest[:end]]
		if !known {
			return 0, rest[:end], false
		}
		x, ok := scaled(number, unit, size)
		if !ok {
			return 0, "", false
		}
		if sum += x; sum > maxQuantity {
			return 0, "", false
		}
		s = strings.TrimLeft(rest[end:], " ")
	}
	return sum, "", true
}

// maxQuantity bounds quantities: 96 bits, as in the decimals of the reference.
const maxQuantity = 1<<96 - 1

// numberEnd is where digits with at most one point end.
func numberEnd(s string) int {
	point := false
	for i := range len(s) {
		switch {
		case s[i] == '.' && !point:
			point = true
		case s[i]-'0' > 9:
			return i
		}
	}
	return len(s)
}

// unitEnd is where the letters of a unit end.
func unitEnd(s string) int {
	for i, r := range s {
		if (r|0x20 < 'a' || r|0x20 > 'z') && r != 'µ' && r != 'μ' {
			return i
		}
	}
	return len(s)
}

// scaled is number*unit/size, exactly rounded when the digits fit into 64 bits.
func scaled(number string, unit, size uint64) (x float64, ok bool) {
	whole, fraction, _ := strings.Cut(number, ".")
	fraction = strings.TrimRight(fraction, "0")
	if digits := whole + fraction; len(digits) <= 18 {
		n := uint64(0)
		for i := range len(digits) {
			n = n*10 + uint64(digits[i]-'0')
		}
		scale := uint64(1)
		for range fraction {
			scale *= 10
		}
		hi, product := bits.Mul64(n, unit)
		over, divisor := bits.Mul64(scale, size)
		if hi == 0 && over == 0 {
			d := gcd(product, divisor)
			return float64(product/d) / float64(divisor/d), true
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	return x * (float64(unit) / float64(size)), err == nil
}

// gcd is the greatest common divisor; b is not 0.
func gcd(a, b uint64) uint64 {
	for a != 0 {
		a, b = b%a, a
	}
	return b
}
