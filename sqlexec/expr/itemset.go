package expr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"

	"varve/engine/vector"
)

// Functions that hold the elements of a list side by side are counted before they do, by what an element takes at most.
const (
	// itemBytes: the place of its text.
	itemBytes = 32
	// setItemBytes: that and up to four numbers of the set's table.
	setItemBytes = itemBytes + 4*4
	// sortItemBytes: its place and that of its key, both once more while they are merged, and the key of a number in a
	// buffer that grows.
	sortItemBytes = 2*(itemBytes+16) + 32
)

// listWork is the memory that the elements of the lists among a function's arguments take side by side.
func listWork(elementBytes int64) func(a []*vector.Vector, i int) int64 {
	return func(a []*vector.Vector, i int) (n int64) {
		for _, v := range a {
			if v.Type.ID == vector.TypeList && !v.IsNull(i) {
				list := v.Bytes(i)
				n += int64(len(list)) + elementBytes*int64(bytes.Count(list, []byte(","))+1)
			}
		}
		return n
	}
}

// sortWork is the memory that sorting a list takes: its elements and their keys, in which texts are written once more.
func sortWork(a []*vector.Vector, i int) int64 {
	return listWork(sortItemBytes)(a, i) + 2*int64(len(a[0].Bytes(i)))
}

// items are the elements of a list side by side.
func items(list []byte) []json.RawMessage {
	all := make([]json.RawMessage, 0, ItemCount(list))
	for _, m := range listItems(list) {
		all = append(all, m)
	}
	return all
}

// itemSet is a set of elements. Their texts are those of the lists that they are of.
type itemSet struct {
	seed  maphash.Seed
	items []json.RawMessage
	slots []uint32 // by hash: the place in items from 1; 0: free. A power of two, at least twice as many as items.
}

// newItemSet makes a set of up to most elements.
func newItemSet(most int) *itemSet {
	return &itemSet{seed: maphash.MakeSeed(), items: make([]json.RawMessage, 0, most),
		slots: make([]uint32, 2<<bits.Len(uint(most)))}
}

// itemSetOf is the set of a list's elements.
func itemSetOf(list []byte) *itemSet {
	s := newItemSet(ItemCount(list))
	for _, m := range listItems(list) {
		s.add(m)
	}
	return s
}

// slot is where an element is, or would be.
func (s *itemSet) slot(m []byte) *uint32 {
	mask := uint64(len(s.slots) - 1)
	for at := maphash.Bytes(s.seed, m) & mask; ; at = (at + 1) & mask {
		if k := s.slots[at]; k == 0 || bytes.Equal(s.items[k-1], m) {
			return &s.slots[at]
		}
	}
}

func (s *itemSet) has(m []byte) bool { return *s.slot(m) != 0 }

// add reports whether the element was not there.
func (s *itemSet) add(m []byte) bool {
	at := s.slot(m)
	if *at != 0 {
		return false
	}
	s.items = append(s.items, m)
	*at = uint32(len(s.items))
	return true
}

// bindListSort binds array_sort(list [, 'ASC'|'DESC' [, 'NULLS FIRST'|'NULLS LAST']]). NULLs come first if nothing is
// said.
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
		return nil, str, nil,
			planError(
				"function 'array_sort' orders 'ASC' or 'DESC' and 'NULLS FIRST' or 'NULLS LAST', found '%s' and '%s'",
				words[0], words[1])
	}
	elem, cancelled := args[0].Type().Elem(), c.cancelled()
	return args[:1], args[0].Type(), mapListCancellable(func(w *listWriter, a []*vector.Vector, i int) error {
		return writeSorted(w, a[0].Bytes(i), elem, words[0] == "DESC", words[1] == "NULLS FIRST",
			cancellation{cancelled: cancelled})
	}), nil
}

// sortItem is an element that is sorted, with its key.
type sortItem struct {
	place uint32 // in the list
	from  uint32 // of the key, among all keys
	to    uint32
	item  json.RawMessage
}

// writeSorted writes a list's elements in order.
func writeSorted(w *listWriter, list []byte, elem vector.Type, desc, nullsFirst bool, h cancellation) error {
	all := make([]sortItem, 0, ItemCount(list))
	var keys []byte
	v := &vector.Vector{}
	for k, m := range listItems(list) {
		if v.Reset(elem); !appendFromJSON(v, elem, 0, m) {
			v.AppendNulls(0, 1)
		}
		from := len(keys)
		keys = appendElementKey(keys, v, 0, desc, nullsFirst)
		all = append(all, sortItem{uint32(k), uint32(from), uint32(len(keys)), m})
		if err := h.did(1); err != nil {
			return err
		}
	}
	compare := func(x, y sortItem) int {
		return cmp.Or(bytes.Compare(keys[x.from:x.to], keys[y.from:y.to]), cmp.Compare(x.place, y.place))
	}
	if len(all) <= sortRun {
		slices.SortFunc(all, compare)
	} else if err := sortStable(all, compare, h.did); err != nil {
		return err
	}
	for _, x := range all {
		w.add(x.item)
	}
	return nil
}
