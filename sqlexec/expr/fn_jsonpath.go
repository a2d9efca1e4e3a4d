package expr

import (
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/vector"
)

// jsonPath is a path into a JSON document: a.b.c, $.a.b, a:b, a["b"], [0], [last], [last - 1], [1 to 3], [0, 2], [*],
// .*, ?(@.x > 1). A path may lead to several values.
type jsonPath []jsonStep

// jsonStep is one step of a path.
type jsonStep struct {
	kind   byte // '.' member, '[' elements, '*' all, '?' those that pass a test
	name   string
	ranges []jsonRange
	test   *jsonTest
}

// jsonRange is a range of elements, both ends included. An end that counts from the last element is negative: -1 is the
// last.
type jsonRange struct{ from, to int }

// maxPathDepth bounds parentheses inside each other in the tests of a path.
const maxPathDepth = 64

// parsePath reads a path; ok is false for anything else.
func parsePath(text string) (p jsonPath, ok bool) {
	r := &pathReader{s: strings.TrimPrefix(strings.TrimSpace(text), "$")}
	p, ok = r.steps(true)
	return p, ok && r.s == ""
}

// pathReader reads a path or a test from the front of s.
type pathReader struct {
	s     string
	depth int
}

func (r *pathReader) take(word string) bool {
	r.s = strings.TrimLeft(r.s, " \t\n\r")
	if !strings.HasPrefix(r.s, word) {
		return false
	}
	r.s = r.s[len(word):]
	return true
}

// steps reads as many steps as there are. bare: the first name needs no dot before it.
func (r *pathReader) steps(bare bool) (p jsonPath, ok bool) {
	for r.s != "" {
		switch {
		case r.s[0] == '.' || r.s[0] == ':':
			r.s = r.s[1:]
			if p, ok = r.member(p); !ok {
				return nil, false
			}
		case r.s[0] == '[':
			if p, ok = r.brackets(p); !ok {
				return nil, false
			}
		case strings.HasPrefix(strings.TrimLeft(r.s, " "), "?"):
			r.take("?")
			if !r.take("(") {
				return nil, false
			}
			t, ok := r.or()
			if !ok || !r.take(")") {
				return nil, false
			}
			p = append(p, jsonStep{kind: '?', test: t})
		case bare && len(p) == 0:
			if p, ok = r.member(p); !ok {
				return nil, false
			}
		default:
			return p, true
		}
	}
	return p, true
}

// member reads a name, a quoted name or a star.
func (r *pathReader) member(p jsonPath) (jsonPath, bool) {
	if r.s != "" && r.s[0] == '"' {
		name, ok := r.quoted()
		return append(p, jsonStep{kind: '.', name: name}), ok
	}
	end := strings.IndexAny(r.s, ".:[]?()@ =!<>&|,\"'")
	if end < 0 {
		end = len(r.s)
	}
	name := r.s[:end]
	r.s = r.s[end:]
	switch name {
	case "":
		return nil, false
	case "*":
		return append(p, jsonStep{kind: '*'}), true
	}
	return append(p, jsonStep{kind: '.', name: name}), true
}

// quoted reads a text in double or single quotes; a backslash takes the next character as it is.
func (r *pathReader) quoted() (string, bool) {
	var text strings.Builder
	for i := 1; i < len(r.s); i++ {
		switch c := r.s[i]; c {
		case r.s[0]:
			r.s = r.s[i+1:]
			return text.String(), true
		case '\\':
			if i++; i < len(r.s) {
				text.WriteByte(r.s[i])
			}
		default:
			text.WriteByte(c)
		}
	}
	return "", false
}

// brackets reads [*], ["name"] or a list of elements and ranges.
func (r *pathReader) brackets(p jsonPath) (jsonPath, bool) {
	r.s = r.s[1:]
	if r.take("*") {
		return append(p, jsonStep{kind: '*'}), r.take("]")
	}
	if r.s = strings.TrimLeft(r.s, " "); r.s != "" && (r.s[0] == '"' || r.s[0] == '\'') {
		name, ok := r.quoted()
		return append(p, jsonStep{kind: '.', name: name}), ok && r.take("]")
	}
	step := jsonStep{kind: '['}
	for {
		from, ok := r.element()
		if !ok {
			return nil, false
		}
		to := from
		if r.take("to") {
			if to, ok = r.element(); !ok {
				return nil, false
			}
		}
		step.ranges = append(step.ranges, jsonRange{from, to})
		if !r.take(",") {
			return append(p, step), r.take("]")
		}
	}
}

// element reads 3, last or last - 3.
func (r *pathReader) element() (int, bool) {
	if r.take("last") {
		if !r.take("-") {
			return -1, true
		}
		n, ok := r.number()
		return -1 - n, ok
	}
	return r.number()
}

func (r *pathReader) number() (int, bool) {
	r.s = strings.TrimLeft(r.s, " ")
	end := 0
	for end < len(r.s) && r.s[end] >= '0' && r.s[end] <= '9' {
		end++
	}
	n, err := strconv.ParseInt(r.s[:end], 10, 32)
	r.s = r.s[end:]
	return int(n), err == nil
}

// first is the first value that the path leads to.
func (p jsonPath) first(x any) (found any, ok bool) {
	p.each(x, func(v any) bool {
		found, ok = v, true
		return false
	})
	return found, ok
}

// each calls f for the values that the path leads to until it answers false; each reports whether it did not.
func (p jsonPath) each(x any, f func(any) bool) bool {
	if len(p) == 0 {
		return f(x)
	}
	s, rest := p[0], p[1:]
	switch s.kind {
	case '.':
		m, _ := x.(map[string]any) // nil for anything else
		v, ok := m[s.name]
		return !ok || rest.each(v, f)
	case '[':
		list, _ := x.([]any)
		for _, r := range s.ranges {
			for k := max(place(r.from, len(list)), 0); k <= min(place(r.to, len(list)), len(list)-1); k++ {
				if !rest.each(list[k], f) {
					return false
				}
			}
		}
	case '*':
		for _, v := range members(x) {
			if !rest.each(v, f) {
				return false
			}
		}
	default:
		candidates, ok := x.([]any)
		if !ok {
			candidates = []any{x}
		}
		for _, v := range candidates {
			if s.test.holds(v, v) && !rest.each(v, f) {
				return false
			}
		}
	}
	return true
}

// place is an element's number from the front.
func place(k, n int) int {
	if k < 0 {
		return n + k
	}
	return k
}

// members are the elements of a list or the values of an object, by their keys.
func members(x any) []any {
	switch x := x.(type) {
	case []any:
		return x
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		all := make([]any, len(keys))
		for i, k := range keys {
			all[i] = x[k]
		}
		return all
	}
	return nil
}

// jsonTest is a condition: a comparison, exists(path), or two conditions.
type jsonTest struct {
	op   string // && || ! == != < <= > >=, exists
	l, r *jsonTest
	x, y jsonOperand
}

// jsonOperand is a literal or a path that begins at the document ($) or at the value that is tested (@).
type jsonOperand struct {
	literal bool
	value   any
	root    bool
	path    jsonPath
}

func (r *pathReader) or() (*jsonTest, bool) {
	if r.depth++; r.depth > maxPathDepth {
		return nil, false
	}
	defer func() { r.depth-- }()
	l, ok := r.and()
	for ok && r.take("||") {
		var right *jsonTest
		right, ok = r.and()
		l = &jsonTest{op: "||", l: l, r: right}
	}
	return l, ok
}

func (r *pathReader) and() (*jsonTest, bool) {
	l, ok := r.condition()
	for ok && r.take("&&") {
		var right *jsonTest
		right, ok = r.condition()
		l = &jsonTest{op: "&&", l: l, r: right}
	}
	return l, ok
}

func (r *pathReader) condition() (*jsonTest, bool) {
	switch {
	case r.take("!"):
		if !r.take("(") {
			return nil, false
		}
		t, ok := r.or()
		return &jsonTest{op: "!", l: t}, ok && r.take(")")
	case r.take("exists"):
		if !r.take("(") {
			return nil, false
		}
		x, ok := r.operand()
		return &jsonTest{op: "exists", x: x}, ok && !x.literal && r.take(")")
	case r.take("("):
		t, ok := r.or()
		return t, ok && r.take(")")
	}
	x, ok := r.operand()
	if !ok {
		return nil, false
	}
	for _, op := range []string{"==", "!=", "<>", "<=", ">=", "<", ">"} {
		if r.take(op) {
			if op == "<>" {
				op = "!="
			}
			y, ok := r.operand()
			return &jsonTest{op: op, x: x, y: y}, ok
		}
	}
	return nil, false
}

func (r *pathReader) operand() (jsonOperand, bool) {
	switch {
	case r.take("$"):
		p, ok := r.steps(false)
		return jsonOperand{root: true, path: p}, ok
	case r.take("@"):
		p, ok := r.steps(false)
		return jsonOperand{path: p}, ok
	case r.take("true"):
		return jsonOperand{literal: true, value: true}, true
	case r.take("false"):
		return jsonOperand{literal: true, value: false}, true
	case r.take("null"):
		return jsonOperand{literal: true}, true
	case r.s != "" && (r.s[0] == '"' || r.s[0] == '\''):
		text, ok := r.quoted()
		return jsonOperand{literal: true, value: text}, ok
	}
	end := 0
	for end < len(r.s) && strings.IndexByte("+-.0123456789eE", r.s[end]) >= 0 {
		end++
	}
	_, err := strconv.ParseFloat(r.s[:end], 64)
	number := json.Number(r.s[:end])
	r.s = r.s[end:]
	return jsonOperand{literal: true, value: number}, err == nil
}

// each calls f for the operand's values until it answers false.
func (o *jsonOperand) each(root, at any, f func(any) bool) {
	switch {
	case o.literal:
		f(o.value)
	case o.root:
		o.path.each(root, f)
	default:
		o.path.each(at, f)
	}
}

// holds decides the condition. A comparison holds when it does for some pair of values of its sides.
func (t *jsonTest) holds(root, at any) bool {
	switch t.op {
	case "&&":
		return t.l.holds(root, at) && t.r.holds(root, at)
	case "||":
		return t.l.holds(root, at) || t.r.holds(root, at)
	case "!":
		return !t.l.holds(root, at)
	}
	found := false
	t.x.each(root, at, func(x any) bool {
		if t.op == "exists" {
			found = true
			return false
		}
		t.y.each(root, at, func(y any) bool {
			found = compareJSON(t.op, x, y)
			return !found
		})
		return !found
	})
	return found
}

// compareJSON compares two values of one kind; values of different kinds are neither equal, less nor greater.
func compareJSON(op string, x, y any) bool {
	d := 0
	switch a := x.(type) {
	case json.Number:
		b, ok := y.(json.Number)
		if !ok {
			return op == "!="
		}
		f, err1 := a.Float64()
		g, err2 := b.Float64()
		if err1 != nil || err2 != nil {
			return false
		}
		d = map[bool]int{true: -1}[f < g] + map[bool]int{true: 1}[f > g]
	case string:
		b, ok := y.(string)
		if !ok {
			return op == "!="
		}
		d = strings.Compare(a, b)
	case bool:
		b, ok := y.(bool)
		if !ok {
			return op == "!="
		}
		d = int(vector.Bit(a)) - int(vector.Bit(b))
	case nil:
		if y != nil {
			return op == "!="
		}
	default:
		return false
	}
	switch op {
	case "==":
		return d == 0
	case "!=":
		return d != 0
	case "<":
		return d < 0
	case "<=":
		return d <= 0
	case ">":
		return d > 0
	}
	return d >= 0
}

// parseTest reads a condition over a document: $.a == 1 && $.b[*] > 2.
func parseTest(text string) (*jsonTest, bool) {
	r := &pathReader{s: text}
	t, ok := r.or()
	return t, ok && strings.TrimSpace(r.s) == ""
}

// registerPaths registers json_path_exists, json_path_match and json_object. An invalid path gives NULL.
func registerPaths() {
	decide := func(test func(x any, text string) (bool, bool)) kernel {
		return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				if valid == nil || valid.Get(i) {
					if x, ok := decodeJSON(a[0].Bytes(i)); ok {
						if yes, ok := test(x, a[1].Str(i)); ok {
							out.PushBool(i, yes)
							if out.Valid != nil {
								out.Valid = out.Valid.With(i)
							}
							continue
						}
					}
				}
				out.AppendNulls(i, 1)
			}
			return nil
		}
	}
	simple(2, sig{vector.JSONType, str}, flag, decide(func(x any, text string) (bool, bool) {
		p, ok := parsePath(text)
		_, found := p.first(x)
		return ok && found, ok
	}), "json_path_exists")
	simple(2, sig{vector.JSONType, str}, flag, decide(func(x any, text string) (bool, bool) {
		t, ok := parseTest(text)
		return ok && t.holds(x, x), ok
	}), "json_path_match")
	decodes("json_path_exists", "json_path_match")
	register(&Function{lazy: true, max: -1, work: objectWork, bind: bindJSONObject}, "json_object")
}

// objectWork is the work of json_object: its values as JSON, then in several buffers as the object is put together.
func objectWork(a []*vector.Vector, i int) int64 { return 6 * jsonSizes(a, 0, i) }

// bindJSONObject binds json_object(key, value, ..): an object; of equal keys the last one counts.
func bindJSONObject(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if len(args)%2 != 0 {
		return nil, vector.JSONType, nil,
			planError("function 'json_object' takes pairs of a key and a value, found %d arguments", len(args))
	}
	out := append([]Expr(nil), args...)
	for i := 0; i < len(out); i += 2 {
		if t := out[i].Type(); !t.IsText() {
			return nil, vector.JSONType, nil, planError("function 'json_object' takes texts as keys, found %s", t)
		}
	}
	return out, vector.JSONType, func(n int, a []*vector.Vector, _ vector.Bitmap, v *vector.Vector) error {
		for i := range n {
			if err := makeRoom(v, objectBytes*int64(len(a))+jsonSizes(a, 0, i)); err != nil {
				return err
			}
			object := make(map[string]json.RawMessage, len(a)/2)
			for k := 0; k < len(a); k += 2 {
				if a[k].IsNull(i) {
					return execError("json_object: a key is NULL")
				}
				object[strings.Clone(a[k].Str(i))] = AppendJSON(nil, a[k+1], i)
			}
			b, err := convert.MarshalJSON(object)
			if err != nil {
				return execError("json_object: %v", err)
			}
			at := len(v.Heap)
			v.Heap = append(v.Heap, b...)
			if err := endText(v, at); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
