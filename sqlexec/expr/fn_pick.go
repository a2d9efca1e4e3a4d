package expr

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"varve/engine/convert"
	"varve/engine/vector"
)

// registerPicks registers the functions that put a text into another one, choose among texts, or write numbers for
// readers.
func registerPicks() {
	// overlay(s PLACING t FROM a [FOR n]): t takes the place of n characters of s from a on; n is t's length if not
	// given.
	simple(3, sig{str, str, i64, i64}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		s, t, from := a[0].Bytes(i), a[1].Bytes(i), max(a[2].Ints[i]-1, 0)
		n := int64(utf8.RuneCount(t))
		if len(a) > 3 {
			n = max(a[3].Ints[i], 0)
		}
		head := byteAt(s, from)
		rest := s[head:]
		return append(append(append(dst, s[:head]...), t...), rest[byteAt(rest, n):]...)
	}), "overlay")
	// insert(s, a, n, t): as overlay, but a place outside of s leaves s as it is, and n < 0 takes all the rest.
	simple(4, sig{str, i64, i64, str}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		s, at, n, t := a[0].Bytes(i), a[1].Ints[i], a[2].Ints[i], a[3].Bytes(i)
		if at < 1 || at > int64(utf8.RuneCount(s)) {
			return append(dst, s...)
		}
		head := byteAt(s, at-1)
		rest := s[head:]
		if n < 0 {
			n = int64(len(rest))
		}
		return append(append(append(dst, s[:head]...), t...), rest[byteAt(rest, n):]...)
	}), "insert")
	register(&Function{lazy: true, makesNull: true, min: 2, max: -1, bind: bindElt}, "elt")
	register(&Function{lazy: true, min: 2, max: -1, bind: bindField}, "field")
	simple(1, sig{f64, i64}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		digits := int64(0)
		if len(a) > 1 {
			digits = min(max(a[1].Ints[i], 0), 30)
		}
		return appendGrouped(dst, a[0].Floats[i], int(digits))
	}), "format")
}

// bindElt binds elt(n, s1, s2, ..): the n-th text; NULL if it does not exist.
func bindElt(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	n, err := c.integer("elt", args[0])
	if err != nil {
		return nil, str, nil, err
	}
	texts, err := c.castAll(args[1:], str)
	return append([]Expr{n}, texts...), str, chooser(func(a []*vector.Vector, i int) int {
		if a[0].IsNull(i) || a[0].Ints[i] < 1 || a[0].Ints[i] >= int64(len(a)) || a[a[0].Ints[i]].IsNull(i) {
			return -1
		}
		return int(a[0].Ints[i])
	}), err
}

// bindField binds field(x, x1, x2, ..): the number of the first argument that equals x; 0 when none does or x is NULL.
func bindField(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	t, err := commonOf("field", args)
	if err != nil {
		return nil, i64, nil, err
	}
	args, err = c.castAll(args, t)
	return args, i64, mapInt(func(a []*vector.Vector, i int) int64 {
		for k, v := range a[1:] {
			if !a[0].IsNull(i) && !v.IsNull(i) && Compare(a[0], i, v, i) == 0 {
				return int64(k + 1)
			}
		}
		return 0
	}), err
}

// integer casts an argument that counts something to Int64. Floats and texts are an error.
func (c *Context) integer(name string, e Expr) (Expr, error) {
	if t := e.Type(); !t.IsInteger() && t != vector.NullType {
		return nil, planError("function '%s' takes an integer, found %s", name, t)
	}
	return c.Cast(e, i64, false)
}

// appendGrouped appends a number with a comma between thousands and so many digits after the point: 1,234.50. Halves
// are rounded away from zero.
func appendGrouped(dst []byte, f float64, digits int) []byte {
	if f-f != 0 {
		return convert.AppendFloat(dst, f, 64)
	}
	if p := math.Pow(10, float64(digits)); math.Abs(f*p) < 1<<52 {
		f = math.Round(f*p) / p
	}
	text := strconv.AppendFloat(nil, math.Abs(f), 'f', digits, 64)
	if f < 0 && bytes.ContainsAny(text, "123456789") {
		dst = append(dst, '-')
	}
	whole := bytes.IndexByte(text, '.')
	if whole < 0 {
		whole = len(text)
	}
	for i, d := range text[:whole] {
		if i > 0 && (whole-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, d)
	}
	return append(dst, text[whole:]...)
}
