package intern

import (
	"math"

	"varve/engine/vector"
)

// probe is a Flat vector made ready for a look-up: what rows are compared as and their hashes. Rows that are NULL have
// some key, which is not looked at. It keeps its memory from vector to vector.
type probe struct {
	v      *vector.Vector
	texts  bool // they are compared as words
	mixed  bool // only some of the texts have a key
	hashes []uint64
	words  []words  // of texts
	keys   []uint64 // of everything else, also of texts that all have one; 0: of a text that has none
}

// bytes is the memory held.
func (p *probe) bytes() int64 {
	return int64(cap(p.hashes)+cap(p.keys))*8 + int64(cap(p.words))*wordsBytes
}

// load makes the keys and hashes of n rows.
func (p *probe) load(v *vector.Vector, n int, canon func([]byte) uint64) {
	p.v = v
	p.hashes = vector.Sized(p.hashes, n)
	p.keys = vector.Sized(p.keys, n)
	if v.Type.Kind() == vector.Bytes && canon == nil {
		if p.texts = !packAll(p.keys, p.hashes, v.Views[:n], v.Heap, v.Valid); p.texts {
			p.words = vector.Sized(p.words, n)
			p.mixed = load(p.words, p.keys, p.hashes, v.Views[:n], v.Heap, v.Valid)
		}
		return
	}
	switch v.Type.Kind() {
	case vector.Int64:
		for i, x := range v.Ints[:n] {
			p.keys[i] = uint64(x)
		}
	case vector.Uint64:
		copy(p.keys, v.Uints)
	default:
		for i := range p.keys {
			p.keys[i] = keyOf(v, i, canon)
		}
	}
	hashes := p.hashes[:len(p.keys)]
	for i, x := range p.keys {
		hashes[i] = mix(x)
	}
}

// keyOf is what row i of a vector of any form is compared as, NULL aside: not for texts without canon.
func keyOf(v *vector.Vector, i int, canon func([]byte) uint64) uint64 {
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return 1
		}
		return 0
	case vector.Int64:
		return uint64(v.Int(i))
	case vector.Uint64:
		return v.Uint(i)
	case vector.Float64:
		return FloatKey(v.Float(i))
	}
	if v.IsNull(i) {
		return 0 // there may be no bytes to read
	}
	return canon(v.Bytes(i))
}

// FloatKey are the bits of f with one form of zero and of NaN.
func FloatKey(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}
