package expr

import (
	"bytes"

	"varve/engine/convert"
	"varve/engine/vector"
)

// isList checks that the first argument of a function is a list; NULL becomes one, and JSON a list of what its arrays
// hold.
func (c *Context) isList(name string, args []Expr) error {
	return c.isListOf(name, args, Null(vector.JSONType))
}

// isListOf is isList for a function that compares elements with x: elements of JSON become values of a type that
// compares with x.
func (c *Context) isListOf(name string, args []Expr, x Expr) error {
	switch t := args[0].Type(); t.ID {
	case vector.TypeNull:
		args[0] = Null(vector.List(i64))
	case vector.TypeJSON:
		elem := x.Type()
		switch {
		case elem.IsNumber():
			elem = f64
		case elem == vector.NullType:
			elem = vector.JSONType
		}
		var err error
		args[0], err = c.elementsOf(args[0], elem)
		return err
	case vector.TypeList:
	default:
		return planError("function '%s' takes a list, found %s", name, t)
	}
	return nil
}

// isListWith is isListOf where x becomes an element's type: numbers widen to one that has both.
func (c *Context) isListWith(name string, args []Expr, x Expr) error {
	if err := c.isListOf(name, args, x); err != nil {
		return err
	}
	elem := args[0].Type().Elem()
	if !elem.IsNumber() || !x.Type().IsNumber() {
		return nil
	}
	wide, _ := common(elem, x.Type(), false, false)
	var err error
	args[0], err = c.relist(args[0], wide)
	return err
}

// relist makes a list with elements of a type that its own widen to.
func (c *Context) relist(list Expr, elem vector.Type) (Expr, error) {
	if list.Type().Elem() == elem {
		return list, nil
	}
	j, err := c.Cast(list, vector.JSONType, false)
	if err != nil {
		return nil, err
	}
	return c.elementsOf(j, elem)
}

// hollow reports whether a list is a constant without an element that has a value: it may be a list of anything.
func hollow(e Expr) bool {
	k, ok := e.(*Const)
	if !ok || k.Value.IsNull(0) {
		return ok
	}
	for _, m := range listItems(k.Value.Bytes(0)) {
		if string(m) != "null" {
			return false
		}
	}
	return true
}

// elementsOf is Elements with constants computed.
func (c *Context) elementsOf(e Expr, elem vector.Type) (Expr, error) {
	return c.fold(Elements(e, elem))
}

// Elements returns a JSON array as the list of its elements of type elem; elements of another type become NULL. The
// result is NULL if the value is not an array.
func Elements(e Expr, elem vector.Type) Expr {
	return &Call{Fn: elementsFunction, Args: []Expr{e}, T: vector.List(elem),
		k: maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
			return appendElementsOf(nil, a[0].Bytes(i), elem, false)
		})}
}

var elementsFunction = &Function{Name: "elements", makesNull: true, min: 1, max: 1}

// listConverter is the cast of JSON arrays to a type of lists.
func listConverter(to vector.Type) convert.Func {
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		list, ok := appendElementsOf(nil, v.Bytes(i), to.Elem(), true)
		if ok {
			out.PushBytes(list)
		}
		return ok
	}
}

// appendElementsOf writes the elements of a JSON array as a list of a type's values. An element that is not of the type
// is NULL, or with strict makes the array none.
func appendElementsOf(dst, array []byte, elem vector.Type, strict bool) ([]byte, bool) {
	if !isArray(array) {
		return dst, false
	}
	if elem.ID == vector.TypeJSON {
		return append(dst, array...), true
	}
	dst = append(dst, '[')
	v := &vector.Vector{}
	for k, m := range listItems(array) {
		if k > 0 {
			dst = append(dst, ',')
		}
		v.Reset(elem)
		switch {
		case appendFromJSON(v, elem, 0, m):
		case strict && string(m) != "null":
			return dst, false
		default:
			v.AppendNulls(0, 1)
		}
		dst = AppendJSON(dst, v, 0)
	}
	return append(dst, ']'), true
}

func isArray(b []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("[")) }

// appendElementKey is AppendSortKey for elements of lists. JSON orders by kind (booleans, numbers, texts, arrays,
// objects), numbers by their values.
func appendElementKey(dst []byte, v *vector.Vector, i int, desc, nullsFirst bool) []byte {
	if v.Type.ID != vector.TypeJSON || v.IsNull(i) {
		return AppendSortKey(dst, v, i, desc, nullsFirst)
	}
	m := v.Bytes(i)
	kind, as := int64(0), vector.BoolType
	switch m[0] {
	case '"':
		kind, as = 2, str
	case '[':
		kind, as = 3, str
	case '{':
		kind, as = 4, str
	case 't', 'f':
	default:
		kind, as = 1, f64
	}
	dst = AppendSortKey(dst, vector.ConstInt(i64, kind), 0, desc, nullsFirst)
	value := &vector.Vector{Type: as}
	if !appendFromJSON(value, as, 0, m) {
		value.AppendNulls(0, 1)
	}
	return AppendSortKey(dst, value, 0, desc, nullsFirst)
}
