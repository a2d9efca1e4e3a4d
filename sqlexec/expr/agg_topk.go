package expr

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"

	"varve/engine/vector"
)

// topValues is approx_top_k(x, k): a list of the k most frequent values, the most frequent first. Counts are exact as
// long as a group has few values; later the rare ones are forgotten, and a value that is new afterwards begins with the
// greatest forgotten count.
type topValues struct {
	cancellation
	t      vector.Type
	k      int
	groups []topGroup
	key    []byte
	size   int64
}

type topGroup struct {
	at    map[string]int // key of a value -> its place in list
	list  []topValue
	floor int64 // the greatest count that was forgotten
}

type topValue struct {
	key   string
	json  []byte
	count int64
}

// mostTop is the greatest k, and keptTop the number of values of a group that are counted at least.
const (
	mostTop = 10_000
	keptTop = 4096
)

// topBytes estimates the memory of a value besides its bytes, topGroupBytes the memory of a group with a value: a small
// map.
const (
	topBytes      = 120
	topGroupBytes = 320
)

func (s *topValues) Grow(n int)   { s.groups = vector.Extended(s.groups, n) }
func (s *topValues) Bytes() int64 { return s.size + int64(48*cap(s.groups)) }

func (s *topValues) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	eachRow(n, v, keep, func(i int) {
		g := &s.groups[groups[i]]
		s.key = AppendKey(s.key[:0], v, i)
		if at, ok := g.at[string(s.key)]; ok {
			g.list[at].count++
			return
		}
		s.enter(g, topValue{string(s.key), jsonOf(v, i), 1 + g.floor})
	})
	return nil
}

// enter adds a value that is not there.
func (s *topValues) enter(g *topGroup, v topValue) {
	if len(g.list) >= 2*max(keptTop, s.k) {
		s.forget(g)
	}
	if g.at == nil {
		g.at = map[string]int{}
		s.size += topGroupBytes
	}
	g.at[v.key] = len(g.list)
	g.list = append(g.list, v)
	s.size += int64(len(v.key)+len(v.json)) + topBytes
}

// forget keeps the more frequent half of a group's values.
func (s *topValues) forget(g *topGroup) {
	g.sort()
	half := len(g.list) / 2
	for _, v := range g.list[half:] {
		s.size -= int64(len(v.key)+len(v.json)) + topBytes
	}
	g.floor = max(g.floor, g.list[half].count)
	clear(g.list[half:])
	g.list = g.list[:half]
	clear(g.at)
	for i, v := range g.list {
		g.at[v.key] = i
	}
}

// sort puts the most frequent value first. The places in at hold no more.
func (g *topGroup) sort() {
	slices.SortFunc(g.list, func(a, b topValue) int {
		return cmp.Or(cmp.Compare(b.count, a.count), bytes.Compare(a.json, b.json))
	})
}

func (s *topValues) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*topValues)
	for i, g := range to {
		a, b := &s.groups[g], &other.groups[from[i]]
		if err := s.did(len(b.list) + 1); err != nil {
			return err
		}
		for _, v := range b.list {
			if at, ok := a.at[v.key]; ok {
				a.list[at].count += v.count
				continue
			}
			v.count += a.floor
			s.enter(a, v)
		}
		a.floor += b.floor
	}
	return nil
}

func (s *topValues) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	out := &vector.Vector{Type: s.t}
	for i := range s.groups[:n] {
		g := &s.groups[i]
		if err := s.did(len(g.list) + 1); err != nil {
			return nil, err
		}
		if len(g.list) == 0 {
			out.AppendNulls(i, 1)
			continue
		}
		g.sort()
		for at, v := range g.list {
			g.at[v.key] = at
		}
		var list []byte
		for _, v := range g.list[:min(s.k, len(g.list))] {
			list = append(append(list, ",["[vector.Bit(list == nil)]), v.json...)
		}
		out.PushBytes(append(list, ']'))
		if out.Valid != nil {
			out.Valid = out.Valid.With(i)
		}
	}
	return out, nil
}

func appendCount(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func init() {
	aggregates["approx_top_k"] = func(_ *Context, a *Agg) error {
		if err := a.need(2, 2); err != nil {
			return err
		}
		k, err := a.constant(1)
		if err != nil {
			return err
		}
		if k < 1 || k > mostTop || k != float64(int(k)) {
			return planError("aggregate 'approx_top_k' takes an integer from 1 to %d, found %v", mostTop, k)
		}
		a.Args, a.params, a.T = a.Args[:1:1], []float64{k}, vector.List(a.Args[0].Type())
		a.make = func() Accumulator { return &topValues{t: a.T, k: int(k)} }
		return nil
	}
}
