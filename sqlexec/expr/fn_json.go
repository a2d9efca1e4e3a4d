package expr

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/jsontext"
	"varve/engine/vector"
)

func decodeJSON(b []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return nil, false
	}
	return x, true
}

// decodedBytes is about the memory of a document's values: of each member, and of each object and array beside its
// members.
func decodedBytes(doc []byte) int64 {
	const value, object, array = 96, 384, 64
	if len(doc) <= shortDocument { // the most that as many bytes may take
		return value + (2+object)*int64(len(doc))
	}
	count := func(c string) int64 { return int64(bytes.Count(doc, []byte(c))) }
	return 2*int64(len(doc)) + value*(count(",")+1) + object*count("{") + array*count("[")
}

// shortDocument is the length up to which the members of a document are not counted.
const shortDocument = 256

// decodes declares that functions decode the document that is their first argument, which is work to be counted.
func decodes(names ...string) {
	for _, n := range names {
		functions[n].work = func(a []*vector.Vector, i int) int64 { return decodedBytes(a[0].Bytes(i)) }
	}
}

// compacts is decodes for a function that writes the document in its compact form: a compact document is not decoded.
func compacts(f *Function) {
	f.work = func(a []*vector.Vector, i int) int64 {
		if a[0].Type.Kind() != vector.Bytes || convert.IsCompactJSON(a[0].Bytes(i)) {
			return 0
		}
		return decodedBytes(a[0].Bytes(i))
	}
}

// registerJSONGet registers a function of (json, path) that sets row i of out from the value found, or gives false for
// NULL.
func registerJSONGet(name string, result vector.Type, set func(x any, out *vector.Vector, i int) bool) {
	registerJSONPart(name, result, jsonSetter{value: set})
}

// registerJSONPart is registerJSONGet for a function that perhaps takes values as they are written.
func registerJSONPart(name string, result vector.Type, set jsonSetter) {
	bind := simpleBind(sig{vector.JSONType, str}, result, name, nil)
	register(&Function{min: 2, max: 2, makesNull: true,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, _, _, err := bind(c, args)
			if err != nil {
				return nil, result, nil, err
			}
			args, look := lookupIn(args)
			return args, result, jsonGetKernel(look, set), nil
		}}, name)
	decodes(name)
}

func jsonGetKernel(look lookup, set jsonSetter) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		last, path, ok := "", jsonPath(nil), true
		for i := range n {
			if valid == nil || valid.Get(i) {
				if p := a[1].Str(i); i == 0 || p != last {
					last = strings.Clone(p)
					path, ok = parsePath(last)
				}
				set, err := set.at(path, ok, look, a[0], out, i)
				if err != nil {
					return err
				}
				if set {
					if out.Valid != nil {
						out.Valid = out.Valid.With(i)
					}
					continue
				}
			}
			out.AppendNulls(i, 1)
		}
		return nil
	}
}

// at sets row i of out from the value at a path in a document.
func (s *jsonSetter) at(path jsonPath, ok bool, look lookup, docs, out *vector.Vector, i int) (set bool, err error) {
	if ok && s.part != nil {
		switch part, found, sure := path.plain(docs.Bytes(i)); {
		case sure && !found:
			return false, nil
		case sure && s.part(part, out):
			return true, nil
		}
	}
	x, found, err := look(path, ok, docs, i)
	return err == nil && found && s.value(x, out, i), err
}

func init() {
	simple(1, sig{str}, vector.JSONType,
		func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				var b []byte
				if valid == nil || valid.Get(i) {
					var ok bool
					if b, ok = convert.CompactJSON(a[0].Bytes(i)); !ok {
						return execError("parse_json: '%s' is not JSON", a[0].Bytes(i))
					}
				}
				if err := pushText(out, b); err != nil {
					return err
				}
			}
			return nil
		}, "parse_json")
	simple(1, sig{vector.JSONType}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		if b, ok := convert.CompactJSON(a[0].Bytes(i)); ok {
			return append(dst, b...)
		}
		return append(dst, a[0].Bytes(i)...)
	}), "json_to_string")
	registerJSONPart("json_get_int", i64, jsonSetter{intValue, intPart})
	registerJSONPart("json_get_float", f64, jsonSetter{floatValue, floatPart})
	registerJSONGet("json_get_bool", flag, func(x any, out *vector.Vector, i int) bool {
		b, ok := x.(bool)
		if ok {
			out.PushBool(i, b)
		}
		return ok
	})
	registerJSONPart("json_get_string", str, jsonSetter{textValue, textPart})
	registerJSONPart("json_get", str, jsonSetter{func(x any, out *vector.Vector, i int) bool {
		if textValue(x, out, i) {
			return true
		}
		b, err := convert.MarshalJSON(x)
		if x == nil || err != nil {
			return false
		}
		out.PushBytes(b)
		return true
	}, textPart})
	registerJSONGet("json_get_object", vector.JSONType, func(x any, out *vector.Vector, _ int) bool {
		m, ok := x.(map[string]any)
		if !ok {
			return false
		}
		b, err := convert.MarshalJSON(m)
		if err == nil {
			out.PushBytes(b)
		}
		return err == nil
	})
	for name, is := range map[string]func(x any) bool{
		"null": func(x any) bool { return x == nil }, "bool": func(x any) bool { _, ok := x.(bool); return ok },
		"int":    func(x any) bool { n, ok := x.(json.Number); return ok && !strings.ContainsAny(n.String(), ".eE") },
		"float":  func(x any) bool { n, ok := x.(json.Number); return ok && strings.ContainsAny(n.String(), ".eE") },
		"string": func(x any) bool { _, ok := x.(string); return ok },
		"object": func(x any) bool { _, ok := x.(map[string]any); return ok },
		"array":  func(x any) bool { _, ok := x.([]any); return ok },
	} {
		simple(1, sig{vector.JSONType}, flag, mapBool(func(a []*vector.Vector, i int) bool {
			x, ok := decodeJSON(a[0].Bytes(i))
			return ok && is(x)
		}), "json_is_"+name)
		decodes("json_is_" + name)
	}
	simple(1, sig{vector.JSONType}, vector.List(str), maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		x, _ := decodeJSON(a[0].Bytes(i)) // malformed: nil, which is not an object
		m, ok := x.(map[string]any)
		if !ok {
			return nil, false
		}
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b, err := convert.MarshalJSON(keys)
		return b, err == nil
	}), "json_object_keys")
	decodes("json_object_keys")
	compacts(functions["parse_json"])
	compacts(functions["json_to_string"])
	registerPaths()
}

// AppendJSON appends row i as JSON, as answers print it: NaN and infinities are null, whole floats keep a fraction.
func AppendJSON(dst []byte, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	switch v.Type.ID {
	case vector.TypeFloat32, vector.TypeFloat64:
		return jsontext.AppendFloat(dst, v.Float(i))
	case vector.TypeJSON, vector.TypeList:
		return append(dst, v.Bytes(i)...)
	case vector.TypeBool:
		return strconv.AppendBool(dst, v.Bool(i))
	}
	switch v.Type.Kind() {
	case vector.Int64:
		return strconv.AppendInt(dst, v.Int(i), 10)
	case vector.Uint64:
		return strconv.AppendUint(dst, v.Uint(i), 10)
	}
	if v.Type.IsText() {
		return convert.AppendString(dst, v.Bytes(i))
	}
	return convert.AppendString(dst, AppendText(nil, v, i))
}

// jsonOf is row i of v as JSON.
func jsonOf(v *vector.Vector, i int) []byte { return AppendJSON(nil, v, i) }

// JSONSize is about the most bytes that AppendJSON appends for row i of v.
func JSONSize(v *vector.Vector, i int) int64 {
	const number = 128 // decimals and intervals are the longest
	if v.Type.Kind() != vector.Bytes || v.IsNull(i) {
		return number
	}
	text := v.Bytes(i)
	switch {
	case v.Type.IsText():
		return int64(convert.StringSize(text))
	case v.Type.ID == vector.TypeJSON || v.Type.ID == vector.TypeList:
		return int64(len(text))
	}
	return number + 2*int64(len(text)) // in hex
}

// jsonSizes is the sum of the sizes of the arguments from one on as JSON.
func jsonSizes(args []*vector.Vector, from, i int) (bytes int64) {
	for _, v := range args[from:] {
		bytes += JSONSize(v, i)
	}
	return bytes
}

// itemWork is the work of functions of a list that write the arguments behind it as JSON, to look for them or to add
// them.
func itemWork(a []*vector.Vector, i int) int64 { return jsonSizes(a, 1, i) }
