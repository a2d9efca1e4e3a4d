package expr

import (
	"github.com/axiomhq/hyperloglog"

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

func (s *sketches) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*sketches)
	for i, g := range to {
		if err := s.s[g].Merge(other.s[from[i]]); err != nil {
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
