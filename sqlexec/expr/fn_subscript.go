package expr

import (
	"math"
	"unicode/utf8"

	"varve/engine/vector"
)

// bindElement binds list[n], which counts from 1 and from the end for n < 0, text[n], which is a character, and json[n]
// and json['key'], which are json -> n and json -> 'key'.
func bindElement(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	switch t := args[0].Type(); {
	case t.ID == vector.TypeJSON:
		return bindPick(vector.JSONType)(c, args)
	case t.IsText():
		return bindTextSlice(c, []Expr{args[0], args[1], args[1]})
	}
	if err := c.isList("array_element", args); err != nil {
		return nil, str, nil, err
	}
	place, err := c.place("array_element", args[1])
	if err != nil {
		return nil, str, nil, err
	}
	elem := args[0].Type().Elem()
	return []Expr{args[0], place}, elem,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid == nil || valid.Get(i) {
					place := a[1].Ints[i]
					if place > 0 {
						place--
					} else if place == 0 {
						place = math.MaxInt64 // element 0 does not exist
					}
					if m, ok := itemAt(a[0].Bytes(i), place); ok && appendFromJSON(out, elem, i, m) {
						if out.Valid != nil {
							out.Valid = out.Valid.With(i)
						}
						continue
					}
				}
				out.AppendNulls(i, 1)
			}
			return nil
		}, nil
}

// place is a subscript as Int64.
func (c *Context) place(name string, e Expr) (Expr, error) {
	if t := e.Type(); !t.IsInteger() && t != vector.NullType {
		return nil, planError("function '%s' takes an integer as place, found %s", name, t)
	}
	return c.Cast(e, i64, false)
}

// bindTextSlice binds text[from:to]: the characters at these places, which count from 1 and from the end where they are
// negative.
func bindTextSlice(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	out := []Expr{args[0], nil, nil}
	for i := 1; i < 3; i++ {
		var err error
		if out[i], err = c.place("array_slice", args[i]); err != nil {
			return nil, str, nil, err
		}
	}
	return out, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		s := a[0].Bytes(i)
		from, to := a[1].Ints[i], a[2].Ints[i]
		if from < 0 || to < 0 {
			n := int64(utf8.RuneCount(s))
			from, to = fromEnd(from, n), fromEnd(to, n)
		}
		from = max(from, 1)
		if to < from {
			return dst
		}
		begin := byteAt(s, from-1)
		return append(dst, s[begin:begin+byteAt(s[begin:], to-from+1)]...)
	}), nil
}

// fromEnd is a place of n that counts from the end where it is negative.
func fromEnd(at, n int64) int64 {
	if at < 0 {
		return at + n + 1
	}
	return at
}

func init() {
	register(&Function{min: 2, max: 2, makesNull: true, bind: bindElement}, "array_element", "array_extract",
		"list_element", "list_extract")
}
