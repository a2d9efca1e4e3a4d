package expr

import (
	"bytes"

	"varve/engine/vector"
)

// nths is nth_value(x, n): the n-th value of each group by the order keys, or as the rows come; from the end for n < 0.
// NULL when there are fewer rows. Without order keys and for n > 0 it keeps n rows of a group, else all.
type nths struct {
	cancellation
	n      int64
	order  []SortKey
	log    valueLog
	groups [][]nthItem
	size   int64
}

type nthItem struct {
	key   []byte
	value itemRef
}

// nthBytes is the memory of an item, and of its other place while they are sorted.
const nthBytes = 64

func (s *nths) Grow(n int)   { s.groups = vector.Extended(s.groups, n) }
func (s *nths) Bytes() int64 { return s.size + s.log.size + int64(24*cap(s.groups)) }

func (s *nths) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, nil, keep, func(i int) {
		var key []byte
		for k, o := range s.order {
			key = AppendSortKey(key, args[1+k], i, o.Desc, o.NullsFirst)
		}
		s.put(groups[i], key, args[0], i)
	})
	return nil
}

func (s *nths) put(g uint32, key []byte, v *vector.Vector, i int) {
	if len(s.order) == 0 && s.n > 0 && int64(len(s.groups[g])) >= s.n {
		return
	}
	before := cap(s.groups[g])
	s.groups[g] = append(s.groups[g], nthItem{key, s.log.add(v, i)})
	s.size += int64(cap(key)) + nthBytes*int64(cap(s.groups[g])-before)
}

func (s *nths) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*nths)
	for i, k := range from {
		list := other.groups[k]
		if err := s.did(len(list) + 1); err != nil {
			return err
		}
		for _, it := range list {
			s.put(to[i], it.key, &other.log.chunks[it.value.chunk].v, int(it.value.item))
		}
	}
	return nil
}

func (s *nths) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	out := &vector.Vector{Type: s.log.t}
	for g, list := range s.groups[:n] {
		if err := s.did(len(list) + 1); err != nil {
			return nil, err
		}
		if err := sortStable(list, func(a, b nthItem) int { return bytes.Compare(a.key, b.key) }, s.did); err != nil {
			return nil, err
		}
		at := s.n - 1
		if s.n < 0 {
			at = int64(len(list)) + s.n
		}
		if at < 0 || at >= int64(len(list)) {
			out.AppendNulls(g, 1)
			continue
		}
		value := list[at].value
		out.Append(g, &s.log.chunks[value.chunk].v, int(value.item), int(value.item)+1)
	}
	return out, nil
}

func init() {
	aggregates["nth_value"] = func(_ *Context, a *Agg) error {
		if err := a.need(2, 2); err != nil {
			return err
		}
		k, ok := a.Args[1].(*Const)
		if !ok || k.Value.IsNull(0) || k.Value.Type != i64 || k.Value.Int(0) == 0 {
			return planError("aggregate 'nth_value' takes an integer other than 0 as its second argument")
		}
		n := k.Value.Int(0)
		a.Args = a.Args[:1:1]
		a.params = []float64{float64(n)}
		a.T = a.Args[0].Type()
		a.keeps = keepsValues
		a.make = func() Accumulator { return &nths{n: n, order: a.Order, log: valueLog{t: a.T}} }
		return nil
	}
}
