package expr

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/vector"
)

func init() {
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
				if err := makeRoom(out, joined(a, 0, i)); err != nil {
					return err
				}
				at := len(out.Heap)
				out.Heap = append(out.Heap, '[')
				for k, v := range a {
					if k > 0 {
						out.Heap = append(out.Heap, ',')
					}
					out.Heap = AppendJSON(out.Heap, v, i)
				}
				out.Heap = append(out.Heap, ']')
				if err := endText(out, at); err != nil {
					return err
				}
			}
			return nil
		}, err
	}}, "make_array", "array")
	register(&Function{min: 1, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return args[:1], i64, mapInt(func(a []*vector.Vector, i int) int64 { return int64(itemCount(a[0].Bytes(i))) }), c.isList("array_length", args)
	}}, "array_length", "cardinality", "list_length")
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := c.isListWith("array_contains", args, args[1]); err != nil {
			return nil, flag, nil, err
		}
		x, err := c.Cast(args[1], args[0].Type().Elem(), false)
		return []Expr{args[0], x}, flag, mapBool(func(a []*vector.Vector, i int) bool {
			return indexOf(a[0].Bytes(i), AppendJSON(nil, a[1], i)) >= 0
		}), err
	}}, "array_contains", "array_has", "list_contains")
	register(&Function{min: 2, max: 3, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := c.isList("array_to_string", args); err != nil {
			return nil, str, nil, err
		}
		texts, err := c.castAll(args[1:], str)
		return append([]Expr{args[0]}, texts...), str, boundedText(listText, func(dst []byte, a []*vector.Vector, i int) []byte {
			some := false
			for _, m := range elements(a[0].Bytes(i)) {
				null := string(m) == "null"
				if null && len(a) == 2 {
					continue
				}
				if some {
					dst = append(dst, a[1].Bytes(i)...)
				}
				some = true
				var s string
				if null {
					dst = append(dst, a[2].Bytes(i)...)
				} else if json.Unmarshal(m, &s) == nil {
					dst = append(dst, s...)
				} else {
					dst = append(dst, m...)
				}
			}
			return dst
		}), err
	}}, "array_to_string", "array_join", "list_to_string")
	registerListChanges()
	pieces := func(a []*vector.Vector, i int) int64 {
		return int64(2*len(a[0].Bytes(i)) + itemBytes*(strings.Count(a[0].Str(i), a[1].Str(i))+1))
	}
	simple(2, sig{str, str}, vector.List(str), mapWork(pieces, func(dst []byte, a []*vector.Vector, i int) []byte {
		b, err := convert.MarshalJSON(strings.Split(a[0].Str(i), a[1].Str(i)))
		if err != nil { // texts are always JSON
			panic("expr: a list of texts is no JSON: " + err.Error())
		}
		return append(dst, b...)
	}), "string_to_array", "string_split", "str_split")
}

// listText is the most bytes of the text of row i: the elements of a list with a text between any two, and one for NULL.
func listText(a []*vector.Vector, i int) int64 {
	list, between := a[0].Bytes(i), 0
	for _, v := range a[1:] {
		between = max(between, len(v.Bytes(i)))
	}
	size := func(count int) int64 { return int64(len(list)) + product(int64(count), int64(between)) }
	if n := size(bytes.Count(list, []byte(",")) + 1); n <= maxText {
		return n
	}
	return size(itemCount(list))
}

// itemBytes is what an element of a list takes while a function looks at it, beside its text.
const itemBytes = 32

// listWork is the most bytes that lists take while they are made into one.
func listWork(a []*vector.Vector, i int) (n int64) {
	for _, v := range a {
		if v.Type.Kind() == vector.Bytes && !v.IsNull(i) {
			n += int64(len(v.Bytes(i)) + itemBytes*(bytes.Count(v.Bytes(i), []byte(","))+1))
		}
	}
	return n
}

// mapList is mapText for functions of lists, whose elements are looked at one by one.
func mapList(f func(dst []byte, a []*vector.Vector, i int) []byte) kernel {
	return mapWork(listWork, f)
}

// mapWork is mapText for functions that take memory while they make a text: work says how much.
func mapWork(work func(a []*vector.Vector, i int) int64, f func(dst []byte, a []*vector.Vector, i int) []byte) kernel {
	return func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			at := len(out.Heap)
			if valid == nil || valid.Get(i) {
				if err := checkHeap(out, work(a, i)); err != nil {
					return err
				}
				out.Heap = f(out.Heap, a, i)
			}
			if err := endText(out, at); err != nil {
				return err
			}
		}
		return nil
	}
}

// listOf registers a function that makes a list of the elements of its first argument, which is a list, and of further
// arguments of the element's type.
func listOf(args int, change func(dst, list []json.RawMessage, a []*vector.Vector, i int) []json.RawMessage, names ...string) {
	register(&Function{min: args, max: args, bind: func(c *Context, given []Expr) ([]Expr, vector.Type, kernel, error) {
		var err error
		if args > 1 {
			err = c.isListWith(names[0], given, given[1])
		} else {
			err = c.isList(names[0], given)
		}
		if err != nil {
			return nil, str, nil, err
		}
		t := given[0].Type()
		rest, err := c.castAll(given[1:], t.Elem())
		return append(given[:1:1], rest...), t, mapList(func(b []byte, a []*vector.Vector, i int) []byte {
			return appendItems(b, change(nil, items(a[0].Bytes(i)), a, i))
		}), err
	}}, names...)
}

func appendItems(dst []byte, list []json.RawMessage) []byte {
	dst = append(dst, '[')
	for i, m := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, m...)
	}
	return append(dst, ']')
}

// registerListChanges: functions that give another list.
func registerListChanges() {
	listOf(1, func(dst, list []json.RawMessage, _ []*vector.Vector, _ int) []json.RawMessage {
		seen := map[string]bool{}
		for _, m := range list {
			if !seen[string(m)] {
				seen[string(m)] = true
				dst = append(dst, m)
			}
		}
		return dst
	}, "array_distinct", "list_distinct")
	listOf(1, func(dst, list []json.RawMessage, _ []*vector.Vector, _ int) []json.RawMessage {
		slices.Reverse(list)
		return append(dst, list...)
	}, "array_reverse", "list_reverse")
	listOf(2, func(dst, list []json.RawMessage, a []*vector.Vector, i int) []json.RawMessage {
		out := AppendJSON(nil, a[1], i)
		return append(dst, slices.DeleteFunc(list, func(m json.RawMessage) bool { return bytes.Equal(m, out) })...)
	}, "array_remove_all", "list_remove_all")
	register(&Function{min: 1, max: 3, bind: bindListSort}, "array_sort", "list_sort")
	register(&Function{min: 2, max: 2, makesNull: true, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := c.isListWith("array_position", args, args[1]); err != nil {
			return nil, i64, nil, err
		}
		x, err := c.Cast(args[1], args[0].Type().Elem(), false)
		return []Expr{args[0], x}, vector.Uint64Type, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
			for i := range n {
				at := -1
				if valid == nil || valid.Get(i) {
					at = indexOf(a[0].Bytes(i), AppendJSON(nil, a[1], i))
				}
				if at < 0 {
					out.AppendNulls(i, 1)
					continue
				}
				out.Uints = append(out.Uints, uint64(at)+1)
				if out.Valid != nil {
					out.Valid = out.Valid.With(i)
				}
			}
			return nil
		}, err
	}}, "array_position", "list_position", "array_indexof")
}

// bindListSort binds array_sort(list [, 'ASC'|'DESC' [, 'NULLS FIRST'|'NULLS LAST']]). NULLs come first if nothing is said.
func bindListSort(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	if err := c.isList("array_sort", args); err != nil {
		return nil, str, nil, err
	}
	words := []string{"ASC", "NULLS FIRST"}
	for i, e := range args[1:] {
		k, ok := e.(*Const)
		if !ok || !k.Value.Type.IsText() || k.Value.IsNull(0) {
			return nil, str, nil, planError("function 'array_sort' takes its order as a constant text")
		}
		words[i] = strings.ToUpper(k.Value.Str(0))
	}
	if words[0] != "ASC" && words[0] != "DESC" || words[1] != "NULLS FIRST" && words[1] != "NULLS LAST" {
		return nil, str, nil, planError("function 'array_sort' orders 'ASC' or 'DESC' and 'NULLS FIRST' or 'NULLS LAST', found '%s' and '%s'", words[0], words[1])
	}
	elem := args[0].Type().Elem()
	return args[:1], args[0].Type(), mapList(func(dst []byte, a []*vector.Vector, i int) []byte {
		list := items(a[0].Bytes(i))
		type entry struct {
			key  []byte
			item json.RawMessage
		}
		entries := make([]entry, len(list))
		for k, m := range list {
			v := &vector.Vector{Type: elem}
			if !appendFromJSON(v, elem, 0, m) {
				v.AppendNulls(0, 1)
			}
			entries[k] = entry{appendElementKey(nil, v, 0, words[0] == "DESC", words[1] == "NULLS FIRST"), m}
		}
		slices.SortStableFunc(entries, func(x, y entry) int { return bytes.Compare(x.key, y.key) })
		for k, e := range entries {
			list[k] = e.item
		}
		return appendItems(dst, list)
	}), nil
}

// appendFromJSON appends an element of a list to a vector of the element's type; false for null.
func appendFromJSON(out *vector.Vector, t vector.Type, i int, m []byte) bool {
	switch t.Kind() {
	case vector.Bool:
		if string(m) == "null" {
			return false
		}
		out.PushBool(i, string(m) == "true")
		return true
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
	if t.ID == vector.TypeJSON || t.ID == vector.TypeList {
		out.PushBytes(m)
		return true
	}
	var s string
	if json.Unmarshal(m, &s) != nil {
		s = string(m)
	}
	switch t.ID {
	case vector.TypeDecimal, vector.TypeInterval: // written as their texts
		return convert.Between(vector.StringType, t)(vector.ConstString(s), 0, out)
	case vector.TypeBinary: // in hex
		b, err := hex.DecodeString(s)
		if err == nil {
			out.PushBytes(b)
		}
		return err == nil
	}
	out.PushBytes([]byte(s))
	return true
}
