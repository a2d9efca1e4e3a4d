package convert

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"strings"

	"varve/engine/vector"
)

// DecimalInt is the unscaled value of a DECIMAL.
func DecimalInt(b []byte) *big.Int {
	hi, lo := int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b)
	n := new(big.Int).Lsh(big.NewInt(hi), 64)
	return n.Add(n, new(big.Int).SetUint64(lo))
}

// AppendDecimal appends the 16 bytes of an unscaled DECIMAL value; ok is false when it does not fit 38 digits.
func AppendDecimal(dst []byte, n *big.Int) ([]byte, bool) {
	if new(big.Int).Abs(n).Cmp(maxDecimal) > 0 {
		return dst, false
	}
	lo := new(big.Int).And(n, maxUint64)
	hi := new(big.Int).Rsh(n, 64)
	dst = binary.LittleEndian.AppendUint64(dst, lo.Uint64())
	return binary.LittleEndian.AppendUint64(dst, uint64(hi.Int64())), true
}

var (
	maxUint64  = new(big.Int).SetUint64(math.MaxUint64)
	maxDecimal = new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), big.NewInt(1))
)

// printDecimal prints 16 bytes two's complement with scale digits after the point.
func printDecimal(dst, b []byte, scale int) []byte {
	if len(b) != 16 {
		return append(dst, '0')
	}
	n := DecimalInt(b)
	text := new(big.Int).Abs(n).String()
	for len(text) <= scale {
		text = "0" + text
	}
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, text[:len(text)-scale]...)
	if scale > 0 {
		dst = append(append(dst, '.'), text[len(text)-scale:]...)
	}
	return dst
}

// PushDecimal appends a fraction as a DECIMAL of type t, rounded half away from zero; false when it has too many
// digits.
func PushDecimal(out *vector.Vector, r *big.Rat, t vector.Type) bool {
	n := new(big.Int).Mul(r.Num(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Scale)), nil))
	q, rest := new(big.Int).QuoRem(n, r.Denom(), new(big.Int))
	if rest.Abs(rest).Lsh(rest, 1).Cmp(r.Denom()) >= 0 { // half away from zero
		q.Add(q, big.NewInt(int64(n.Sign())))
	}
	if new(big.Int).Abs(q).Cmp(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil)) >= 0 {
		return false
	}
	b, ok := AppendDecimal(nil, q)
	if ok {
		out.PushBytes(b)
	}
	return ok
}

// decimalConverter converts from and to DECIMAL through exact fractions.
func decimalConverter(from, to vector.Type) Func {
	read := func(v *vector.Vector, i int) *big.Rat {
		switch v.Type.Kind() {
		case vector.Int64:
			return new(big.Rat).SetInt64(v.Int(i))
		case vector.Uint64:
			return new(big.Rat).SetUint64(v.Uint(i))
		case vector.Bool:
			return new(big.Rat).SetInt64(int64(Number(v, i)))
		case vector.Float64:
			r, _ := new(big.Rat).SetString(strconv.FormatFloat(v.Float(i), 'g', -1, 64)) // nil for NaN and infinities
			return r
		}
		r := new(big.Rat).SetInt(DecimalInt(v.Bytes(i)))
		return r.Quo(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(from.Scale)), nil)))
	}
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		r := read(v, i)
		if r == nil {
			return false
		}
		switch {
		case to.ID == vector.TypeDecimal:
			return PushDecimal(out, r, to)
		case to.Kind() == vector.Float64:
			f, _ := r.Float64()
			out.Floats = append(out.Floats, narrow(f, to))
			return true
		case to.ID == vector.TypeBool:
			out.PushBool(i, r.Sign() != 0)
			return true
		case to.IsInteger():
			q := new(big.Int).Quo(r.Num(), r.Denom())
			return parseInteger(q.String(), to, out)
		}
		return false
	}
}

// isDecimal reports whether a text is a decimal number of digits, with a point and an exponent of at most three digits
// if it likes: fractions, hexadecimal and other forms that package big reads are none.
func isDecimal(s string) bool {
	const longest = 400
	if len(s) > longest {
		return false
	}
	mantissa, exponent, scientific := s, "", false
	if at := strings.IndexAny(s, "eE"); at >= 0 {
		mantissa, exponent, scientific = s[:at], s[at+1:], true
	}
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	unsigned := func(s string) string { return strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-") }
	mantissa = unsigned(mantissa)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || !digits(whole+fraction) || len(s)-len(mantissa)-len(exponent) > 2 {
		return false
	}
	e := unsigned(exponent)
	return !scientific || e != "" && len(e) <= 3 && digits(e) && len(exponent)-len(e) <= 1
}
