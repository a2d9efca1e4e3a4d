package expr

import (
	"bytes"
	"math"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/vector"
)

// objects is json_object_agg(key, value): an object of all pairs of a group; of equal keys the last one counts, by the
// order keys or as rows come.
type objects struct{ lists }

// Add keeps pairs as items that are sorted by the key, then by the order keys. The data of an item is the pair as it is
// written.
func (o *objects) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	var err error
	eachRow(n, nil, keep, func(i int) {
		if args[0].IsNull(i) {
			err = execError("%s: a key is NULL", o.a.Name)
			return
		}
		c := o.open()
		it := listItem{group: groups[i], off: uint32(len(c.heap))}
		c.heap = AppendSortKey(c.heap, args[0], i, false, false)
		for k, by := range o.a.Order {
			c.heap = AppendSortKey(c.heap, args[2+k], i, by.Desc, by.NullsFirst)
		}
		it.key = uint32(len(c.heap)) - it.off
		c.heap = append(convert.AppendString(c.heap, args[0].Bytes(i)), ':')
		c.heap = AppendJSON(c.heap, args[1], i)
		it.data = uint32(len(c.heap)) - it.off - it.key
		c.items = append(c.items, it)
		o.rows++
	})
	return err
}

// Merge takes the pairs of another over.
func (o *objects) Merge(other Accumulator, from, to []uint32) error {
	return o.lists.Merge(&other.(*objects).lists, from, to)
}

// Result writes each group's pairs in the order of their keys.
func (o *objects) Result(n int) (*vector.Vector, error) {
	o.Grow(n)
	size := o.written(",") + n
	if size > math.MaxUint32 {
		return nil, status.New(status.RuntimeResourcesExhausted, "%s makes more than %d MiB of text", o.a.Name,
			math.MaxUint32>>20)
	}
	refs, starts, err := o.byGroup()
	if err != nil {
		return nil, err
	}
	out := &vector.Vector{Type: vector.JSONType, Heap: vector.Room[byte](size + 2)}
	for g := range n {
		pairs := refs[starts[g]:starts[g+1]]
		if len(pairs) == 0 {
			out.AppendNulls(g, 1)
			continue
		}
		if err := sortStable(pairs, func(a, b itemRef) int { return bytes.Compare(o.key(a), o.key(b)) }, o.did); err !=
			nil {
			return nil, err
		}
		at := len(out.Heap)
		for i, r := range pairs {
			if i+1 < len(pairs) && bytes.HasPrefix(o.data(pairs[i+1]), nameOf(o.data(r))) {
				continue
			}
			out.Heap = append(out.Heap, ",{"[vector.Bit(len(out.Heap) == at)])
			out.Heap = append(out.Heap, o.data(r)...)
		}
		out.Heap = append(out.Heap, '}')
		out.Views = append(out.Views, vector.View{Off: uint32(at), Len: uint32(len(out.Heap) - at)})
		if out.Valid != nil {
			out.Valid = out.Valid.With(g)
		}
	}
	return out, nil
}

// nameOf returns the name of a pair as it is written, with the colon after it.
func nameOf(pair []byte) []byte {
	for i := 1; ; i++ {
		switch pair[i] {
		case '\\':
			i++
		case '"':
			return pair[:i+2]
		}
	}
}

func init() {
	aggregates["json_agg"] = func(_ *Context, a *Agg) error {
		if err := a.need(1, 1); err != nil {
			return err
		}
		a.T = vector.JSONType
		a.make = func() Accumulator { return &lists{a: a, nulls: true} }
		return nil
	}
	aggregates["json_object_agg"] = func(c *Context, a *Agg) error {
		if err := a.need(2, 2); err != nil {
			return err
		}
		key, err := c.Cast(a.Args[0], str, false)
		a.Args, a.T = append([]Expr{key}, a.Args[1:]...), vector.JSONType
		a.make = func() Accumulator { return &objects{lists{a: a}} }
		return err
	}
}
