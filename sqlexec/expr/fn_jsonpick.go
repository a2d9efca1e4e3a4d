package expr

import (
	"strings"

	"varve/engine/convert"
	"varve/engine/jsontext"
	"varve/engine/vector"
)

// bindPick binds json -> x and json ->> x: the member of that name, the element at that place, from 0 and from the end
// for negative ones, or what a path that begins with $ leads to. As STRING it is the text of a value, and NULL for
// null.
func bindPick(result vector.Type) func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	return func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		doc, err := c.document("->", args[0])
		if err != nil {
			return nil, result, nil, err
		}
		finish := asJSON
		if result == str {
			finish = asText
		}
		switch t := args[1].Type(); {
		case t.IsInteger():
			at, err := c.Cast(args[1], i64, false)
			return []Expr{doc, at}, result, maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
				m, ok := itemAt(a[0].Bytes(i), a[1].Ints[i])
				if !ok {
					return nil, false
				}
				return finish(m)
			}), err
		case t.IsText(), t == vector.NullType:
			at, err := c.Cast(args[1], str, false)
			if err != nil {
				return nil, result, nil, err
			}
			args, look := lookupIn([]Expr{doc, at})
			return args, result, pickByName(look, finish), nil
		default:
			return nil, result, nil, planError("operator -> takes a name, a path or an integer, found %s", t)
		}
	}
}

// document checks that e is JSON, or a text of it.
func (c *Context) document(name string, e Expr) (Expr, error) {
	switch t := e.Type(); {
	case t.ID == vector.TypeJSON:
		return e, nil
	case t.IsText(), t == vector.NullType, t.ID == vector.TypeList:
		return c.Cast(e, vector.JSONType, false)
	default:
		return nil, planError("%s takes JSON, found %s", name, t)
	}
}

// pickByName finds members and what paths lead to.
func pickByName(look lookup, finish func(m []byte) ([]byte, bool)) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		last, path, ok := "", jsonPath(nil), false
		var failed error
		err := maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
			if name := a[1].Str(i); path == nil || name != last {
				last = strings.Clone(name)
				path, ok = jsonPath{{kind: '.', name: last}}, true
				if strings.HasPrefix(last, "$") {
					path, ok = parsePath(last)
				}
			}
			if ok {
				switch m, found, sure := path.written(a[0].Bytes(i)); {
				case sure && !found:
					return nil, false
				case sure:
					return finish(m)
				}
			}
			x, found, err := look(path, ok, a[0], i)
			if err != nil && failed == nil {
				failed = err
			}
			if !found {
				return nil, false
			}
			m, err := convert.MarshalJSON(x)
			if err != nil {
				return nil, false
			}
			return finish(m)
		})(n, a, valid, out)
		if failed != nil {
			return failed
		}
		return err
	}
}

func asJSON(m []byte) ([]byte, bool) { return m, true }

// asText is the text of a JSON value: of a string what it says, of others as they are written.
func asText(m []byte) ([]byte, bool) {
	switch {
	case string(m) == "null":
		return nil, false
	case m[0] == '"':
		return jsontext.Unquote(m)
	}
	return m, true
}

func init() {
	register(&Function{infix: "->", min: 2, max: 2, makesNull: true, bind: bindPick(vector.JSONType)}, "->")
	register(&Function{infix: "->>", min: 2, max: 2, makesNull: true, bind: bindPick(str)}, "->>")
	register(&Function{min: 2, max: 2, makesNull: true, bind: bindPick(vector.JSONType)}, "json_extract")
	register(&Function{min: 2, max: 2, makesNull: true, bind: bindPick(str)}, "json_extract_string")
	register(&Function{min: 1, max: 2, makesNull: true, bind: bindJSONLength}, "json_array_length")
	for _, name := range []string{"->", "->>", "json_extract", "json_extract_string"} {
		compacts(functions[name])
	}
}

// bindJSONLength binds json_array_length(json [, path]): 0 if the value is not an array, NULL if the path finds
// nothing.
func bindJSONLength(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	var doc Expr
	var err error
	if len(args) == 2 {
		doc, err = c.Call("json_extract", args...)
	} else {
		doc, err = c.document("function 'json_array_length'", args[0])
	}
	return []Expr{doc}, vector.Uint64Type,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				length := 0
				if valid == nil || valid.Get(i) {
					length = ItemCount(a[0].Bytes(i))
				}
				out.Uints = append(out.Uints, uint64(length))
			}
			return nil
		}, err
}
