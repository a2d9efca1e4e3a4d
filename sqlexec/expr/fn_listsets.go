package expr

import (
	"bytes"
	"encoding/json"
	"slices"

	"varve/engine/vector"
)

func init() {
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if err := c.isListOf("array_prepend", args[1:], args[0]); err != nil {
			return nil, str, nil, err
		}
		t := args[1].Type()
		x, err := c.Cast(args[0], t.Elem(), false)
		return []Expr{args[1], x}, t, mapList(func(dst []byte, a []*vector.Vector, i int) []byte {
			return appendItems(dst, append([]json.RawMessage{AppendJSON(nil, a[1], i)}, items(a[0].Bytes(i))...))
		}), err
	}}, "array_prepend", "list_prepend", "array_push_front")
	listOf(2, func(dst, list []json.RawMessage, a []*vector.Vector, i int) []json.RawMessage {
		out := AppendJSON(nil, a[1], i)
		at := slices.IndexFunc(list, func(m json.RawMessage) bool { return bytes.Equal(m, out) })
		if at < 0 {
			return append(dst, list...)
		}
		return append(append(dst, list[:at]...), list[at+1:]...)
	}, "array_remove", "list_remove")
	replace := func(most int) func(dst, list []json.RawMessage, a []*vector.Vector, i int) []json.RawMessage {
		return func(dst, list []json.RawMessage, a []*vector.Vector, i int) []json.RawMessage {
			from, to, left := AppendJSON(nil, a[1], i), AppendJSON(nil, a[2], i), most
			for _, m := range list {
				if left != 0 && bytes.Equal(m, from) {
					m, left = to, left-1
				}
				dst = append(dst, m)
			}
			return dst
		}
	}
	listOf(3, replace(1), "array_replace", "list_replace")
	listOf(3, replace(-1), "array_replace_all", "list_replace_all")
	listOf(1, func(dst, list []json.RawMessage, _ []*vector.Vector, _ int) []json.RawMessage {
		return append(dst, list[min(1, len(list)):]...)
	}, "array_pop_front", "list_pop_front")
	listOf(1, func(dst, list []json.RawMessage, _ []*vector.Vector, _ int) []json.RawMessage {
		return append(dst, list[:max(len(list)-1, 0)]...)
	}, "array_pop_back", "list_pop_back")
	ofLists(func(dst, a, b []json.RawMessage) []json.RawMessage { return append(append(dst, a...), b...) }, "array_concat", "array_cat", "list_concat", "list_cat")
	ofLists(func(dst, a, b []json.RawMessage) []json.RawMessage {
		return distinctOf(dst, append(a, b...), nil, false)
	}, "array_union", "list_union")
	ofLists(func(dst, a, b []json.RawMessage) []json.RawMessage { return distinctOf(dst, a, b, true) }, "array_intersect", "list_intersect")
	ofLists(func(dst, a, b []json.RawMessage) []json.RawMessage { return distinctOf(dst, a, b, false) }, "array_except", "list_except")
	hasOf := func(name string, all bool) *Function {
		return &Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, _, err := c.sameLists(name, args)
			return args, flag, mapBool(func(a []*vector.Vector, i int) bool {
				have, want := setOf(items(a[0].Bytes(i))), items(a[1].Bytes(i))
				for _, m := range want {
					if have[string(m)] != all {
						return !all
					}
				}
				return all
			}), err
		}}
	}
	register(hasOf("array_has_all", true), "array_has_all", "list_has_all")
	register(hasOf("array_has_any", false), "array_has_any", "list_has_any")
	register(&Function{min: 3, max: 3, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		if args[0].Type().IsText() {
			return bindTextSlice(c, args)
		}
		if err := c.isList("array_slice", args); err != nil {
			return nil, str, nil, err
		}
		from, err := c.place("array_slice", args[1])
		if err != nil {
			return nil, str, nil, err
		}
		to, err := c.place("array_slice", args[2])
		return []Expr{args[0], from, to}, args[0].Type(), mapList(func(dst []byte, a []*vector.Vector, i int) []byte {
			list := items(a[0].Bytes(i))
			from, to := placeIn(list, a[1].Ints[i]), placeIn(list, a[2].Ints[i])
			from, to = max(from, 1), min(to, int64(len(list)))
			return appendItems(dst, list[from-1:max(to, from-1)])
		}), err
	}}, "array_slice", "list_slice")
	extreme := func(greatest bool, names ...string) {
		register(&Function{min: 1, max: 1, makesNull: true, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			return c.bindListExtreme(names[0], args, greatest)
		}}, names...)
	}
	extreme(true, "array_max", "list_max")
	extreme(false, "array_min", "list_min")
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return args, flag, mapBool(func(a []*vector.Vector, i int) bool { return len(items(a[0].Bytes(i))) == 0 }), c.isList("empty", args)
	}}, "empty", "array_empty", "list_empty")
}

// placeIn is a place in a list from 1; negative ones count from its end. It may lie outside.
func placeIn(list []json.RawMessage, at int64) int64 {
	if at < 0 {
		return max(int64(len(list))+at+1, 0)
	}
	return min(at, int64(len(list))+1)
}

// sameLists casts two lists to one type of elements.
func (c *Context) sameLists(name string, args []Expr) ([]Expr, vector.Type, error) {
	for i := range args {
		var err error
		if other := args[1-i].Type(); other.ID == vector.TypeList && args[i].Type().ID == vector.TypeJSON {
			args[i], err = c.elementsOf(args[i], other.Elem())
		} else {
			err = c.isList(name, args[i:])
		}
		if err != nil {
			return nil, str, err
		}
	}
	if a, b := args[0].Type(), args[1].Type(); a != b {
		return nil, str, planError("function '%s' takes lists of one type, found %s and %s", name, a, b)
	}
	return args, args[0].Type(), nil
}

// ofLists registers a function that makes a list of two of its type.
func ofLists(make func(dst, a, b []json.RawMessage) []json.RawMessage, names ...string) {
	register(&Function{min: 2, max: 2, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		args, t, err := c.sameLists(names[0], args)
		return args, t, mapList(func(dst []byte, a []*vector.Vector, i int) []byte {
			return appendItems(dst, make(nil, items(a[0].Bytes(i)), items(a[1].Bytes(i))))
		}), err
	}}, names...)
}

func setOf(list []json.RawMessage) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, m := range list {
		set[string(m)] = true
	}
	return set
}

// distinctOf appends each element of list once that is in other, or that is not.
func distinctOf(dst, list, other []json.RawMessage, in bool) []json.RawMessage {
	others, seen := setOf(other), map[string]bool{}
	for _, m := range list {
		if others[string(m)] == in && !seen[string(m)] {
			seen[string(m)] = true
			dst = append(dst, m)
		}
	}
	return dst
}

// bindListExtreme binds array_max and array_min: the greatest or least element that is not NULL.
func (c *Context) bindListExtreme(name string, args []Expr, greatest bool) ([]Expr, vector.Type, kernel, error) {
	if err := c.isList(name, args); err != nil {
		return nil, str, nil, err
	}
	elem := args[0].Type().Elem()
	return args, elem, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		for i := range n {
			var best json.RawMessage
			var bestKey []byte
			if valid == nil || valid.Get(i) {
				for _, m := range items(a[0].Bytes(i)) {
					v := &vector.Vector{Type: elem}
					if !appendFromJSON(v, elem, 0, m) {
						continue
					}
					if key := appendElementKey(nil, v, 0, greatest, false); best == nil || bytes.Compare(key, bestKey) < 0 {
						best, bestKey = m, key
					}
				}
			}
			if best == nil || !appendFromJSON(out, elem, i, best) {
				out.AppendNulls(i, 1)
			} else if out.Valid != nil {
				out.Valid = growBit(out.Valid, i)
			}
		}
		return nil
	}, nil
}
