package expr

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"varve/engine/vector"
)

// jsonStep is one step of a path: a member, an element, or all.
type jsonStep struct {
	name  string
	index int
	kind  byte // '.' member, '[' element, '*' all, 'l' last
}

// parsePath reads a.b.c, $.a.b, a:b, a["b"], [0], [last], [*], .*; ok is false for anything else.
func parsePath(p string) (steps []jsonStep, ok bool) {
	p = strings.TrimPrefix(strings.TrimSpace(p), "$")
	for len(p) > 0 {
		switch {
		case p[0] == '.' || p[0] == ':':
			p = p[1:]
			if p == "" {
				return nil, false
			}
		case p[0] == '[':
			end := strings.IndexByte(p, ']')
			if end < 0 {
				return nil, false
			}
			in := strings.TrimSpace(p[1:end])
			p = p[end+1:]
			switch n, err := strconv.Atoi(in); {
			case err == nil:
				steps = append(steps, jsonStep{index: n, kind: '['})
			case in == "*":
				steps = append(steps, jsonStep{kind: '*'})
			case in == "last":
				steps = append(steps, jsonStep{kind: 'l'})
			case len(in) >= 2 && (in[0] == '"' || in[0] == '\'') && in[len(in)-1] == in[0]:
				steps = append(steps, jsonStep{name: in[1 : len(in)-1], kind: '.'})
			default:
				return nil, false
			}
			continue
		}
		end := strings.IndexAny(p, ".:[")
		if end < 0 {
			end = len(p)
		}
		name := p[:end]
		p = p[end:]
		switch {
		case name == "*":
			steps = append(steps, jsonStep{kind: '*'})
		case len(name) >= 2 && name[0] == '"' && name[len(name)-1] == '"':
			steps = append(steps, jsonStep{name: name[1 : len(name)-1], kind: '.'})
		case name == "" || strings.ContainsAny(name, "?()@ "):
			return nil, false
		default:
			steps = append(steps, jsonStep{name: name, kind: '.'})
		}
	}
	return steps, true
}

// walkPath gives the first value at a path.
func walkPath(x any, steps []jsonStep) (any, bool) {
	for i, s := range steps {
		switch s.kind {
		case '.':
			m, ok := x.(map[string]any)
			if !ok {
				return nil, false
			}
			if x, ok = m[s.name]; !ok {
				return nil, false
			}
		case '[', 'l':
			list, ok := x.([]any)
			k := s.index
			if s.kind == 'l' {
				k = len(list) - 1
			}
			if !ok || k < 0 || k >= len(list) {
				return nil, false
			}
			x = list[k]
		default:
			var all []any
			switch v := x.(type) {
			case []any:
				all = v
			case map[string]any:
				keys := make([]string, 0, len(v))
				for k := range v {
					keys = append(keys, k)
				}
				sort.Strings(keys)
				for _, k := range keys {
					all = append(all, v[k])
				}
			}
			for _, v := range all {
				if r, ok := walkPath(v, steps[i+1:]); ok {
					return r, true
				}
			}
			return nil, false
		}
	}
	return x, true
}

func decodeJSON(b []byte) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return nil, false
	}
	return x, true
}

// jsonGet registers a function of (json, path) that sets row i of out from the value found, or gives false for NULL.
func jsonGet(name string, result vector.Type, set func(x any, out *vector.Vector, i int) bool) {
	simple(2, sig{vector.JSONType, str}, result, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		last, steps, ok := "", []jsonStep(nil), true
		for i := range n {
			if valid == nil || valid.Get(i) {
				if p := a[1].Str(i); i == 0 || p != last {
					last = strings.Clone(p)
					steps, ok = parsePath(last)
				}
				if ok {
					if x, found := decodeJSON(a[0].Bytes(i)); found {
						if x, found = walkPath(x, steps); found && set(x, out, i) {
							if out.Valid != nil {
								out.Valid = growBit(out.Valid, i)
							}
							continue
						}
					}
				}
			}
			out.AppendNulls(i, 1)
		}
		return nil
	}, name)
}

func init() {
	simple(1, sig{str}, vector.JSONType, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			var b []byte
			if valid == nil || valid.Get(i) {
				var ok bool
				if b, ok = compactJSON(a[0].Bytes(i)); !ok {
					return execError("parse_json: '%s' is not JSON", a[0].Bytes(i))
				}
			}
			pushBytes(out, b)
		}
		return nil
	}, "parse_json")
	simple(1, sig{vector.JSONType}, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
		if b, ok := compactJSON(a[0].Bytes(i)); ok {
			return append(dst, b...)
		}
		return append(dst, a[0].Bytes(i)...)
	}), "json_to_string")
	jsonGet("json_get_int", i64, func(x any, out *vector.Vector, _ int) bool {
		switch x := x.(type) {
		case bool:
			out.Ints = append(out.Ints, int64(b2i(x)))
			return true
		case json.Number:
			n, err := x.Int64()
			if err == nil {
				out.Ints = append(out.Ints, n)
			}
			return err == nil
		}
		return false
	})
	jsonGet("json_get_float", f64, func(x any, out *vector.Vector, _ int) bool {
		switch x := x.(type) {
		case bool:
			out.Floats = append(out.Floats, float64(b2i(x)))
			return true
		case json.Number:
			f, err := x.Float64()
			if err == nil {
				out.Floats = append(out.Floats, f)
			}
			return err == nil
		}
		return false
	})
	jsonGet("json_get_bool", flag, func(x any, out *vector.Vector, i int) bool {
		b, ok := x.(bool)
		return ok && appendBool(out, i, b)
	})
	text := func(x any, out *vector.Vector, _ int) bool {
		switch x := x.(type) {
		case string:
			pushBytes(out, []byte(x))
		case json.Number:
			pushBytes(out, []byte(x.String()))
		case bool:
			pushBytes(out, strconv.AppendBool(nil, x))
		default:
			return false
		}
		return true
	}
	jsonGet("json_get_string", str, text)
	jsonGet("json_get", str, func(x any, out *vector.Vector, i int) bool {
		if text(x, out, i) {
			return true
		}
		b, err := marshalJSON(x)
		if x == nil || err != nil {
			return false
		}
		pushBytes(out, b)
		return true
	})
	jsonGet("json_get_object", vector.JSONType, func(x any, out *vector.Vector, _ int) bool {
		m, ok := x.(map[string]any)
		if !ok {
			return false
		}
		b, err := marshalJSON(m)
		if err == nil {
			pushBytes(out, b)
		}
		return err == nil
	})
	simple(2, sig{vector.JSONType, str}, flag, mapBool(func(a []*vector.Vector, i int) bool {
		x, ok := decodeJSON(a[0].Bytes(i))
		steps, fine := parsePath(a[1].Str(i))
		if ok && fine {
			_, ok = walkPath(x, steps)
		}
		return ok && fine
	}), "json_path_exists")
	for name, is := range map[string]func(x any) bool{
		"null": func(x any) bool { return x == nil }, "bool": func(x any) bool { _, ok := x.(bool); return ok },
		"int":    func(x any) bool { n, ok := x.(json.Number); return ok && !strings.ContainsAny(n.String(), ".eE") },
		"float":  func(x any) bool { n, ok := x.(json.Number); return ok && strings.ContainsAny(n.String(), ".eE") },
		"string": func(x any) bool { _, ok := x.(string); return ok }, "object": func(x any) bool { _, ok := x.(map[string]any); return ok },
		"array": func(x any) bool { _, ok := x.([]any); return ok },
	} {
		simple(1, sig{vector.JSONType}, flag, mapBool(func(a []*vector.Vector, i int) bool {
			x, ok := decodeJSON(a[0].Bytes(i))
			return ok && is(x)
		}), "json_is_"+name)
	}
	simple(1, sig{vector.JSONType}, vector.List(str), maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		x, _ := decodeJSON(a[0].Bytes(i)) // malformed: nil, which is no object
		m, ok := x.(map[string]any)
		if !ok {
			return nil, false
		}
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b, err := marshalJSON(keys)
		return b, err == nil
	}), "json_object_keys")
	registerLists()
}

// registerLists: lists are JSON arrays in memory.
func registerLists() {
	register(&Function{lazy: true, max: -1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		t, err := commonOf("array", args)
		if err != nil {
			return nil, t, nil, err
		}
		if t == vector.NullType {
			t = i64
		}
		args, err = c.castAll(args, t)
		return args, vector.List(t), func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				at := len(out.Heap)
				out.Heap = append(out.Heap, '[')
				for k, v := range a {
					if k > 0 {
						out.Heap = append(out.Heap, ',')
					}
					out.Heap = AppendJSON(out.Heap, v, i)
				}
				out.Heap = append(out.Heap, ']')
				out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
			}
			return nil
		}, err
	}}, "make_array", "array")
	items := func(b []byte) []json.RawMessage {
		var list []json.RawMessage
		if json.Unmarshal(b, &list) != nil {
			return nil
		}
		return list
	}
	list := func(c *Context, name string, args []Expr) error {
		if t := args[0].Type(); t.ID != vector.TypeList {
			return planError("function '%s' takes a list, found %s", name, t)
		}
		return nil
	}
	register(&Function{min: 2, max: 2, makesNull: true, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := list(c, "array_element", args); err != nil {
			return nil, str, nil, err
		}
		idx, err := c.Cast(args[1], i64, false)
		if err != nil {
			return nil, str, nil, err
		}
		elem := args[0].Type().Elem()
		return []Expr{args[0], idx}, elem, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid == nil || valid.Get(i) {
					all := items(a[0].Bytes(i))
					k := a[1].Ints[i]
					if k < 0 {
						k = int64(len(all)) + k + 1
					}
					if k >= 1 && k <= int64(len(all)) && appendFromJSON(out, elem, i, all[k-1]) {
						if out.Valid != nil {
							out.Valid = growBit(out.Valid, i)
						}
						continue
					}
				}
				out.AppendNulls(i, 1)
			}
			return nil
		}, nil
	}}, "array_element", "array_extract", "list_element")
	register(&Function{min: 1, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return args[:1], i64, mapInt(func(a []*vector.Vector, i int) int64 { return int64(len(items(a[0].Bytes(i)))) }), list(c, "array_length", args)
	}}, "array_length", "cardinality", "list_length")
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := list(c, "array_contains", args); err != nil {
			return nil, flag, nil, err
		}
		x, err := c.Cast(args[1], args[0].Type().Elem(), false)
		return []Expr{args[0], x}, flag, mapBool(func(a []*vector.Vector, i int) bool {
			want := AppendJSON(nil, a[1], i)
			for _, m := range items(a[0].Bytes(i)) {
				if bytes.Equal(m, want) {
					return true
				}
			}
			return false
		}), err
	}}, "array_contains", "array_has", "list_contains")
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return args, str, mapText(func(dst []byte, a []*vector.Vector, i int) []byte {
			some := false
			for _, m := range items(a[0].Bytes(i)) {
				if string(m) == "null" {
					continue
				}
				if some {
					dst = append(dst, a[1].Bytes(i)...)
				}
				some = true
				var s string
				if json.Unmarshal(m, &s) == nil {
					dst = append(dst, s...)
				} else {
					dst = append(dst, m...)
				}
			}
			return dst
		}), list(c, "array_to_string", args)
	}}, "array_to_string", "array_join", "list_to_string")
	simple(2, sig{str, str}, vector.List(str), maybeText(func(a []*vector.Vector, i int) ([]byte, bool) {
		b, err := marshalJSON(strings.Split(a[0].Str(i), a[1].Str(i)))
		return b, err == nil
	}), "string_to_array")
}

// AppendJSON appends row i as JSON, as answers print it: NaN and infinities are null, whole floats keep a fraction.
func AppendJSON(dst []byte, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, "null"...)
	}
	switch v.Type.ID {
	case vector.TypeFloat32, vector.TypeFloat64:
		f := v.Float(i)
		if f-f != 0 {
			return append(dst, "null"...)
		}
		return AppendFloat(dst, f, 64)
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
	b, err := marshalJSON(string(AppendText(nil, v, i)))
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// appendFromJSON appends an element of a list to a vector of the element's type; false for null.
func appendFromJSON(out *vector.Vector, t vector.Type, i int, m []byte) bool {
	switch t.Kind() {
	case vector.Bool:
		return string(m) != "null" && appendBool(out, i, string(m) == "true")
	case vector.Int64:
		n, err := strconv.ParseInt(string(m), 10, 64)
		if err == nil {
			out.Ints = append(out.Ints, n)
		}
		return err == nil
	case vector.Uint64:
		n, err := strconv.ParseUint(string(m), 10, 64)
		if err == nil {
			out.Uints = append(out.Uints, n)
		}
		return err == nil
	case vector.Float64:
		f, err := strconv.ParseFloat(string(m), 64)
		if err == nil {
			out.Floats = append(out.Floats, f)
		}
		return err == nil
	}
	if string(m) == "null" {
		return false
	}
	var s string
	if json.Unmarshal(m, &s) != nil {
		s = string(m)
	}
	pushBytes(out, []byte(s))
	return true
}
