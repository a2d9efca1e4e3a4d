package expr

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"

	"varve/engine/vector"
)

func init() {
	withElement(1, 0, "array_append", "list_append", "array_push_back")
	withElement(0, 1, "array_prepend", "list_prepend", "array_push_front")
	listOf(2, func(w *listWriter, list []byte, a []*vector.Vector, i int) {
		out, found := AppendJSON(nil, a[1], i), false
		for _, m := range listItems(list) {
			if found || !bytes.Equal(m, out) {
				w.add(m)
			} else {
				found = true
			}
		}
	}, "array_remove", "list_remove")
	replace := func(most int) func(w *listWriter, list []byte, a []*vector.Vector, i int) {
		return func(w *listWriter, list []byte, a []*vector.Vector, i int) {
			from, to, left := AppendJSON(nil, a[1], i), AppendJSON(nil, a[2], i), most
			for _, m := range listItems(list) {
				if left != 0 && bytes.Equal(m, from) {
					m, left = to, left-1
				}
				w.add(m)
			}
		}
	}
	listOf(3, replace(1), "array_replace", "list_replace")
	listOf(3, replace(-1), "array_replace_all", "list_replace_all")
	listOf(1, func(w *listWriter, list []byte, _ []*vector.Vector, _ int) {
		w.addPlaces(list, 2, math.MaxInt64)
	}, "array_pop_front", "list_pop_front")
	listOf(1, func(w *listWriter, list []byte, _ []*vector.Vector, _ int) {
		w.addPlaces(list, 1, int64(ItemCount(list))-1)
	}, "array_pop_back", "list_pop_back")
	register(&Function{lazy: true, makesNull: true, min: 2, max: -1, bind: bindListConcat}, "array_concat", "array_cat",
		"list_concat", "list_cat")
	ofLists(func(w *listWriter, a, b []byte) {
		seen := newItemSet(ItemCount(a) + ItemCount(b))
		for _, list := range [][]byte{a, b} {
			for _, m := range listItems(list) {
				if seen.add(m) {
					w.add(m)
				}
			}
		}
	}, "array_union", "list_union")
	ofLists(func(w *listWriter, a, b []byte) { addDistinct(w, a, itemSetOf(b), true) }, "array_intersect",
		"list_intersect")
	ofLists(func(w *listWriter, a, b []byte) { addDistinct(w, a, itemSetOf(b), false) }, "array_except", "list_except")
	hasOf := func(name string, all bool) *Function {
		return &Function{min: 2, max: 2, work: listWork(setItemBytes),
			bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
				args, _, err := c.sameLists(name, args)
				return args, flag, mapBool(func(a []*vector.Vector, i int) bool {
					have := itemSetOf(a[0].Bytes(i))
					for _, m := range listItems(a[1].Bytes(i)) {
						if have.has(m) != all {
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
		return []Expr{args[0], from, to}, args[0].Type(), mapList(func(w *listWriter, a []*vector.Vector, i int) {
			list, from, to := a[0].Bytes(i), a[1].Ints[i], a[2].Ints[i]
			if from < 0 || to < 0 {
				n := int64(ItemCount(list))
				from, to = fromEnd(from, n), fromEnd(to, n)
			}
			w.addPlaces(list, from, to)
		}), err
	}}, "array_slice", "list_slice")
	extreme := func(greatest bool, names ...string) {
		register(&Function{min: 1, max: 1, makesNull: true,
			bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
				return c.bindListExtreme(names[0], args, greatest)
			}}, names...)
	}
	extreme(true, "array_max", "list_max")
	extreme(false, "array_min", "list_min")
	register(&Function{min: 1, max: 1, bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
		return args, flag, mapBool(func(a []*vector.Vector, i int) bool { return ItemCount(a[0].Bytes(i)) == 0 }),
			c.isList("empty", args)
	}}, "empty", "array_empty", "list_empty")
}

// withElement registers a function of a list and a value, which becomes its last or first element, NULL too. NULL as
// list is empty.
func withElement(value, list int, names ...string) {
	register(&Function{lazy: true, min: 2, max: 2, work: itemWork,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args = []Expr{args[list], args[value]}
			if args[0].Type() == vector.NullType && args[1].Type() != vector.NullType {
				args[0] = Null(vector.List(args[1].Type()))
			}
			if args[0].Type().ID == vector.TypeList && args[1].Type() != vector.NullType && hollow(args[0]) {
				var err error
				if args[0], err = c.relist(args[0], args[1].Type()); err != nil {
					return nil, str, nil, err
				}
			}
			if err := c.isListWith(names[0], args, args[1]); err != nil {
				return nil, str, nil, err
			}
			t := args[0].Type()
			x, err := c.Cast(args[1], t.Elem(), false)
			return []Expr{args[0], x}, t, mapList(func(w *listWriter, a []*vector.Vector, i int) {
				element := AppendJSON(nil, a[1], i)
				if value == 0 {
					w.add(element)
				}
				if !a[0].IsNull(i) {
					w.addAll(a[0].Bytes(i))
				}
				if value != 0 {
					w.add(element)
				}
			}), err
		}}, names...)
}

// bindListConcat binds array_concat(list, ..), which leaves NULLs out; it is NULL where all are.
func bindListConcat(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
	for range 2 { // the second time all become what the first found
		for k := 1; k < len(args); k++ {
			pair, _, err := c.sameLists("array_concat", []Expr{args[0], args[k]})
			if err != nil {
				return nil, str, nil, err
			}
			args[0], args[k] = pair[0], pair[1]
		}
	}
	join := mapList(func(w *listWriter, a []*vector.Vector, i int) {
		for _, v := range a {
			if !v.IsNull(i) {
				w.addAll(v.Bytes(i))
			}
		}
	})
	return args, args[0].Type(), func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		if err := join(n, a, valid, out); err != nil {
			return err
		}
		for i := range n {
			if slices.ContainsFunc(a, func(v *vector.Vector) bool { return !v.IsNull(i) }) {
				continue
			}
			if out.Valid == nil {
				out.Valid = vector.MakeBitmap(n)
				out.Valid.Fill(n)
			}
			out.Valid.Clear(i)
		}
		return nil
	}, nil
}

// addPlaces writes the elements at the places from to to, from 1, of a list.
func (w *listWriter) addPlaces(list []byte, from, to int64) {
	for k, m := range listItems(list) {
		if place := int64(k) + 1; place > to {
			return
		} else if place >= from {
			w.add(m)
		}
	}
}

// Lists casts two lists to a common type of elements; name is the name of the function, for errors.
func (c *Context) Lists(name string, a, b Expr) (Expr, Expr, error) {
	pair, _, err := c.sameLists(name, []Expr{a, b})
	if err != nil {
		return nil, nil, err
	}
	return pair[0], pair[1], nil
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
	a, b := args[0].Type().Elem(), args[1].Type().Elem()
	wide := a
	switch {
	case a == b:
		return args, args[0].Type(), nil
	case a.IsNumber() && b.IsNumber():
		wide, _ = common(a, b, false, false)
	case hollow(args[0]):
		wide = b
	case !hollow(args[1]):
		return nil, str, planError("'%s' takes lists of one type, found %s and %s", name, args[0].Type(),
			args[1].Type())
	}
	for i := range args {
		var err error
		if args[i], err = c.relist(args[i], wide); err != nil {
			return nil, str, err
		}
	}
	return args, vector.List(wide), nil
}

// ofLists registers a function that makes a list of two of its type, whose elements it holds as sets.
func ofLists(write func(w *listWriter, a, b []byte), names ...string) {
	register(&Function{min: 2, max: 2, work: listWork(setItemBytes),
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, t, err := c.sameLists(names[0], args)
			return args, t, mapList(func(w *listWriter, a []*vector.Vector, i int) {
				write(w, a[0].Bytes(i), a[1].Bytes(i))
			}), err
		}}, names...)
}

// addDistinct writes each element of list once that is in others, or that is not.
func addDistinct(w *listWriter, list []byte, others *itemSet, in bool) {
	seen := newItemSet(ItemCount(list))
	for _, m := range listItems(list) {
		if others.has(m) == in && seen.add(m) {
			w.add(m)
		}
	}
}

// bindListExtreme binds array_max and array_min: the greatest or least element that is not NULL.
func (c *Context) bindListExtreme(name string, args []Expr, greatest bool) ([]Expr, vector.Type, kernel, error) {
	if err := c.isList(name, args); err != nil {
		return nil, str, nil, err
	}
	elem := args[0].Type().Elem()
	return args, elem, func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
		v := &vector.Vector{}
		var key, bestKey []byte
		for i := range n {
			var best json.RawMessage
			if valid == nil || valid.Get(i) {
				for _, m := range listItems(a[0].Bytes(i)) {
					if v.Reset(elem); !appendFromJSON(v, elem, 0, m) {
						continue
					}
					if key = appendElementKey(key[:0], v, 0, greatest, false); best == nil ||
						bytes.Compare(key, bestKey) < 0 {
						best, key, bestKey = m, bestKey, key
					}
				}
			}
			if best == nil || !appendFromJSON(out, elem, i, best) {
				out.AppendNulls(i, 1)
			} else if out.Valid != nil {
				out.Valid = out.Valid.With(i)
			}
		}
		return nil
	}, nil
}
