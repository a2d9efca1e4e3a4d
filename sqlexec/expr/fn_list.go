package expr

import (
	"bytes"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"

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
				if err := makeRoom(out, jsonSizes(a, 0, i)+int64(len(a)+1)); err != nil {
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
		return args[:1], i64, mapInt(func(a []*vector.Vector, i int) int64 { return int64(ItemCount(a[0].Bytes(i))) }),
			c.isList("array_length", args)
	}}, "array_length", "cardinality", "list_length")
	register(&Function{min: 2, max: 2, work: itemWork,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
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
		return append([]Expr{args[0]}, texts...), str,
			boundedText(listText, func(dst []byte, a []*vector.Vector, i int) []byte {
				some := false
				for _, m := range listItems(a[0].Bytes(i)) {
					null := string(m) == "null"
					if null && len(a) == 2 {
						continue
					}
					if some {
						dst = append(dst, a[1].Bytes(i)...)
					}
					some = true
					if null {
						dst = append(dst, a[2].Bytes(i)...)
					} else {
						dst = append(dst, itemText(m)...)
					}
				}
				return dst
			}), err
	}}, "array_to_string", "array_join", "list_to_string")
	registerListChanges()
	registerSplits()
}

// registerSplits registers the functions that make a list of the pieces of a text.
func registerSplits() {
	simple(2, sig{str, str}, vector.List(str), mapList(func(w *listWriter, a []*vector.Vector, i int) {
		addPieces(w, bytes.SplitSeq(a[0].Bytes(i), a[1].Bytes(i)), nil, false)
	}), "string_split", "str_split")

	// A separator that is NULL parts the characters, an empty one nothing. Pieces that equal the third text are NULL.
	toArray := mapList(func(w *listWriter, a []*vector.Vector, i int) {
		var pieces iter.Seq[[]byte]
		switch s := a[0].Bytes(i); {
		case a[1].IsNull(i):
			pieces = bytes.SplitSeq(s, nil)
		case len(a[1].Bytes(i)) == 0:
			pieces = slices.Values([][]byte{s})
		default:
			pieces = bytes.SplitSeq(s, a[1].Bytes(i))
		}
		if len(a) > 2 && !a[2].IsNull(i) {
			addPieces(w, pieces, a[2].Bytes(i), true)
		} else {
			addPieces(w, pieces, nil, false)
		}
	})
	register(&Function{lazy: true, makesNull: true, min: 2, max: 3,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			args, err := c.castAll(args, str)
			return args, vector.List(str), func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
				valid := vector.MakeBitmap(n)
				for i := range n {
					if !a[0].IsNull(i) {
						valid.Set(i)
					}
				}
				out.Valid = valid
				return toArray(n, a, valid, out)
			}, err
		}}, "string_to_array", "string_to_list")
}

// addPieces adds texts to a list; with nulls, those that equal null are NULL.
func addPieces(w *listWriter, pieces iter.Seq[[]byte], null []byte, nulls bool) {
	for piece := range pieces {
		if nulls && bytes.Equal(piece, null) {
			w.add([]byte("null"))
			continue
		}
		w.addText(piece)
	}
}

// listText is the most bytes of the text of row i: the elements of a list with a text between any two, and one for
// NULL.
func listText(a []*vector.Vector, i int) int64 {
	list, between := a[0].Bytes(i), 0
	for _, v := range a[1:] {
		between = max(between, len(v.Bytes(i)))
	}
	size := func(count int) int64 { return int64(len(list)) + product(int64(count), int64(between)) }
	if n := size(bytes.Count(list, []byte(",")) + 1); n <= maxText {
		return n
	}
	return size(ItemCount(list))
}

// listOf registers a function that makes a list of the elements of its first argument, which is a list, and of further
// arguments of the element's type.
func listOf(args int, write func(w *listWriter, list []byte, a []*vector.Vector, i int), names ...string) {
	registerListOf(&Function{min: args, max: args, work: itemWork}, write, names...)
}

// heldListOf is listOf for a function that holds the elements side by side, which take so many bytes each.
func heldListOf(elementBytes int64, write func(w *listWriter, list []byte, a []*vector.Vector, i int),
	names ...string) {
	registerListOf(&Function{min: 1, max: 1, work: listWork(elementBytes)}, write, names...)
}

func registerListOf(f *Function, write func(w *listWriter, list []byte, a []*vector.Vector, i int), names ...string) {
	f.bind = func(c *Context, given []Expr) ([]Expr, vector.Type, kernel, error) {
		var err error
		if len(given) > 1 {
			err = c.isListWith(names[0], given, given[1])
		} else {
			err = c.isList(names[0], given)
		}
		if err != nil {
			return nil, str, nil, err
		}
		t := given[0].Type()
		rest, err := c.castAll(given[1:], t.Elem())
		return append(given[:1:1], rest...), t, mapList(func(w *listWriter, a []*vector.Vector, i int) {
			write(w, a[0].Bytes(i), a, i)
		}), err
	}
	register(f, names...)
}

// registerListChanges registers the functions that give another list.
func registerListChanges() {
	heldListOf(setItemBytes, func(w *listWriter, list []byte, _ []*vector.Vector, _ int) {
		seen := newItemSet(ItemCount(list))
		for _, m := range listItems(list) {
			if seen.add(m) {
				w.add(m)
			}
		}
	}, "array_distinct", "list_distinct")
	heldListOf(itemBytes, func(w *listWriter, list []byte, _ []*vector.Vector, _ int) {
		for _, m := range slices.Backward(items(list)) {
			w.add(m)
		}
	}, "array_reverse", "list_reverse")
	listOf(2, func(w *listWriter, list []byte, a []*vector.Vector, i int) {
		out := AppendJSON(nil, a[1], i)
		for _, m := range listItems(list) {
			if !bytes.Equal(m, out) {
				w.add(m)
			}
		}
	}, "array_remove_all", "list_remove_all")
	register(&Function{min: 1, max: 3, work: sortWork, bind: bindListSort}, "array_sort", "list_sort")
	register(&Function{min: 2, max: 2, makesNull: true, work: itemWork,
		bind: func(c *Context, args []Expr) ([]Expr, vector.Type, kernel, error) {
			if err := c.isListWith("array_position", args, args[1]); err != nil {
				return nil, i64, nil, err
			}
			x, err := c.Cast(args[1], args[0].Type().Elem(), false)
			return []Expr{args[0], x}, vector.Uint64Type,
				func(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
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
	s := itemText(m)
	switch t.ID {
	case vector.TypeDecimal, vector.TypeInterval: // written as their texts
		return convert.Between(vector.StringType, t)(vector.ConstString(string(s)), 0, out)
	case vector.TypeBinary: // in hex
		b, err := hex.DecodeString(string(s))
		if err == nil {
			out.PushBytes(b)
		}
		return err == nil
	}
	out.PushBytes(s)
	return true
}
