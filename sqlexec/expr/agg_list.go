package expr

import (
	"bytes"
	"math"

	"github.com/axiomhq/hyperloglog"

	"varve/engine/status"
	"varve/engine/vector"
)

// sketches is approx_distinct: HyperLogLog with 2^14 registers, exact for few values.
type sketches struct {
	s   []*hyperloglog.Sketch
	key []byte
}

func (s *sketches) Grow(n int) {
	for len(s.s) < n {
		s.s = append(s.s, hyperloglog.New14())
	}
}

func (s *sketches) Bytes() int64 { return int64(len(s.s)) * 4096 }

func (s *sketches) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	eachRow(n, args[0], keep, func(i int) {
		s.key = AppendKey(s.key[:0], args[0], i)
		s.s[groups[i]].Insert(s.key)
	})
	return nil
}

func (s *sketches) Merge(o Accumulator, to []uint32) error {
	for from, k := range o.(*sketches).s {
		if err := s.s[to[from]].Merge(k); err != nil {
			return execError("approx_distinct: %v", err)
		}
	}
	return nil
}

func (s *sketches) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: vector.Uint64Type}
	for _, k := range s.s[:n] {
		v.Uints = append(v.Uints, k.Estimate())
	}
	return v, nil
}

// lists is array_agg and string_agg: the values of each group, by the order keys or as they come.
type lists struct {
	heed
	a     *Agg
	sep   string
	text  bool
	nulls bool
	items [][]listItem
	size  int64
}

type listItem struct {
	key  []byte
	data []byte
}

func (l *lists) Grow(n int)   { l.items = grown(l.items, n) }
func (l *lists) Bytes() int64 { return l.size + int64(24*cap(l.items)) }

func (l *lists) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	look := v
	if l.nulls {
		look = nil
	}
	eachRow(n, look, keep, func(i int) {
		var it listItem
		for k, o := range l.a.Order {
			it.key = AppendSortKey(it.key, args[1+k], i, o.Desc, o.NullsFirst)
		}
		if l.text {
			it.data = append(it.data, v.Bytes(i)...)
		} else {
			it.data = AppendJSON(nil, v, i)
		}
		l.size += int64(len(it.key)+len(it.data)) + 48
		l.items[groups[i]] = append(l.items[groups[i]], it)
	})
	return nil
}

func (l *lists) Merge(o Accumulator, to []uint32) error {
	other := o.(*lists)
	for from, items := range other.items {
		if err := l.did(len(items) + 1); err != nil {
			return err
		}
		l.items[to[from]] = append(l.items[to[from]], items...)
	}
	l.size += other.size
	return nil
}

func (l *lists) Result(n int) (*vector.Vector, error) {
	l.Grow(n)
	v := &vector.Vector{Type: l.a.T}
	for g, items := range l.items[:n] {
		if len(items) == 0 {
			v.AppendNulls(g, 1)
			continue
		}
		if err := l.did(len(items)); err != nil {
			return nil, err
		}
		if len(l.a.Order) > 0 {
			if err := sortStable(items, func(a, b listItem) int { return bytes.Compare(a.key, b.key) }, l.did); err != nil {
				return nil, err
			}
		}
		sep := l.sep
		at := len(v.Heap)
		if !l.text {
			sep = ","
			v.Heap = append(v.Heap, '[')
		}
		for i, it := range items {
			if i > 0 {
				v.Heap = append(v.Heap, sep...)
			}
			v.Heap = append(v.Heap, it.data...)
			if i%heedRows == 0 {
				if err := l.did(heedRows); err != nil {
					return nil, err
				}
			}
		}
		if !l.text {
			v.Heap = append(v.Heap, ']')
		}
		if len(v.Heap) > math.MaxUint32 {
			return nil, status.New(status.RuntimeResourcesExhausted, "%s makes more than %d MiB of text", l.a.Name, math.MaxUint32>>20)
		}
		v.Views = append(v.Views, vector.View{Off: uint32(at), Len: uint32(len(v.Heap) - at)})
		if v.Valid != nil {
			v.Valid = growBit(v.Valid, g)
		}
	}
	return v, nil
}
