package expr

import (
	"github.com/dgryski/go-metro"

	"varve/engine/vector"
)

// sketches is approx_distinct: HyperLogLog with 2^14 registers, nearly exact for few values.
type sketches struct {
	s    []sketch
	held int64 // bytes of the tables and registers of all
	key  []byte
	// hashes are those of the rows of a batch, or of the distinct values of its vector.
	hashes []uint64
}

// hashSeed and the key of a value are part of the written form of states: hll_merge takes those of older programs.
const hashSeed = 1337

func (s *sketches) Grow(n int) { s.s = vector.Extended(s.s, n) }

func (s *sketches) Bytes() int64 {
	return int64(cap(s.s))*sketchSize + int64(8*cap(s.hashes)) + s.held
}

// hash is the hash of a value.
func (s *sketches) hash(v *vector.Vector, i int) uint64 {
	s.key = AppendKey(s.key[:0], v, i)
	return metro.Hash64(s.key, hashSeed)
}

func (s *sketches) Add(n int, groups []uint32, args []*vector.Vector, keep vector.Bitmap) error {
	v := args[0]
	if v.Form == vector.Dict && v.Values.Len() <= n {
		s.hashes = vector.Sized(s.hashes, v.Values.Len())
		for code := range s.hashes {
			s.hashes[code] = s.hash(v.Values, code)
		}
		eachRow(n, v, keep, func(i int) { s.held += s.s[groups[i]].insert(s.hashes[v.Codes[i]]) })
		return nil
	}
	// All hashes first: then no row's place in a table waits for the hash of the row before.
	s.hashes = vector.Sized(s.hashes, n)
	hashes, of := s.hashes, s.s
	eachRow(n, v, keep, func(i int) { hashes[i] = s.hash(v, i) })
	grown := int64(0)
	eachRow(n, v, keep, func(i int) { grown += of[groups[i]].insert(hashes[i]) })
	s.held += grown
	return nil
}

func (s *sketches) Merge(o Accumulator, from, to []uint32) error {
	other := o.(*sketches)
	for i, g := range to {
		s.held += s.s[g].merge(&other.s[from[i]])
	}
	return nil
}

func (s *sketches) Result(n int) (*vector.Vector, error) {
	s.Grow(n)
	v := &vector.Vector{Type: vector.Uint64Type, Uints: make([]uint64, n)}
	for g := range n {
		var err error
		if v.Uints[g], err = s.s[g].estimate(); err != nil {
			return nil, execError("approx_distinct: %v", err)
		}
	}
	return v, nil
}
