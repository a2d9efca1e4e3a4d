package exec

import (
	"bytes"
	"hash/maphash"
	"math"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// interner numbers the distinct values of one key column in order of appearance; NULL is a value.
type interner struct {
	kind    vector.Kind
	plain   bool       // bytes compare as they are
	numbers *table     // fixed-width values
	texts   *textTable // others
	n       uint32
	null    int64 // the number of NULL; -1: not seen
	key     []byte

	// The last dictionary seen and the numbers of its codes, +1; 0 is not looked up yet.
	values *vector.Vector
	codes  []uint32
}

func newInterner(t vector.Type) *interner {
	in := &interner{kind: t.Kind(), null: -1}
	if in.kind == vector.Bytes {
		in.texts = newTextTable()
		in.plain = t.ID != vector.TypeInterval && t.ID != vector.TypeDecimal
	} else {
		in.numbers = newTable()
	}
	return in
}

func (in *interner) bytes() int64 {
	n := int64(len(in.codes)) * 4
	if in.numbers != nil {
		return n + in.numbers.bytes()
	}
	return n + in.texts.bytes()
}

// intern writes the numbers of n rows.
func (in *interner) intern(v *vector.Vector, n int, ids []uint32) {
	switch {
	case v.Form == vector.Const:
		id := in.one(v, 0)
		for i := range ids[:n] {
			ids[i] = id
		}
	case v.Form == vector.Dict:
		in.dict(v, n, ids)
	case v.Valid != nil || in.kind == vector.Bool:
		for i := range n {
			ids[i] = in.one(v, i)
		}
	case in.kind == vector.Int64:
		for i, x := range v.Ints[:n] {
			ids[i] = in.number(uint64(x))
		}
	case in.kind == vector.Uint64:
		for i, x := range v.Uints[:n] {
			ids[i] = in.number(x)
		}
	case in.kind == vector.Float64:
		for i, x := range v.Floats[:n] {
			ids[i] = in.number(floatKey(x))
		}
	default:
		for i := range n {
			ids[i] = in.text(v, i)
		}
	}
}

// dict looks every code up once.
func (in *interner) dict(v *vector.Vector, n int, ids []uint32) {
	if in.values != v.Values {
		in.values = v.Values
		size := 0
		for _, c := range v.Codes[:n] {
			size = max(size, int(c)+1)
		}
		in.codes = make([]uint32, size)
	}
	for i, c := range v.Codes[:n] {
		if v.Valid != nil && v.IsNull(i) {
			ids[i] = in.one(v, i)
			continue
		}
		if int(c) >= len(in.codes) {
			in.codes = append(in.codes, make([]uint32, int(c)+1-len(in.codes))...)
		}
		if in.codes[c] == 0 {
			in.codes[c] = in.one(v, i) + 1
		}
		ids[i] = in.codes[c] - 1
	}
}

// one is the number of row i of a vector of any form.
func (in *interner) one(v *vector.Vector, i int) uint32 {
	if v.IsNull(i) {
		if in.null < 0 {
			in.null = int64(in.n)
			in.n++
		}
		return uint32(in.null)
	}
	switch in.kind {
	case vector.Bool:
		if v.Bool(i) {
			return in.number(1)
		}
		return in.number(0)
	case vector.Int64:
		return in.number(uint64(v.Int(i)))
	case vector.Uint64:
		return in.number(v.Uint(i))
	case vector.Float64:
		return in.number(floatKey(v.Float(i)))
	}
	return in.text(v, i)
}

func (in *interner) number(x uint64) uint32 {
	id, fresh := in.numbers.find(x, in.n)
	if fresh {
		in.n++
	}
	return id
}

func (in *interner) text(v *vector.Vector, i int) uint32 {
	b := v.Bytes(i)
	if !in.plain {
		in.key = expr.AppendKey(in.key[:0], v, i)
		b = in.key
	}
	id, fresh := in.texts.find(b, in.n)
	if fresh {
		in.n++
	}
	return id
}

// floatKey are the bits of f with one form of zero and of NaN.
func floatKey(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// table maps 64-bit keys to 32-bit numbers: open addressing, at most 5/8 full.
type table struct {
	keys []uint64
	vals []uint32 // number + 1; 0 is a free place
	n    int
	last int // of pairs: the numbers given out
}

func newTable() *table { return &table{keys: make([]uint64, 64), vals: make([]uint32, 64)} }

func (t *table) bytes() int64 { return int64(len(t.keys)) * 12 }

// mix spreads the bits of a key; the multiplier is 2^64 divided by the golden ratio.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	return x ^ x>>29
}

// find gives the number of a key; a new key gets the number next.
func (t *table) find(key uint64, next uint32) (id uint32, fresh bool) {
	mask := uint64(len(t.keys) - 1)
	at := mix(key) & mask
	for {
		switch v := t.vals[at]; {
		case v == 0:
			t.keys[at], t.vals[at] = key, next+1
			if t.n++; t.n*8 > len(t.keys)*5 {
				t.grow()
			}
			return next, true
		case t.keys[at] == key:
			return v - 1, false
		}
		at = (at + 1) & mask
	}
}

func (t *table) grow() {
	keys, vals := t.keys, t.vals
	t.keys, t.vals = make([]uint64, 2*len(keys)), make([]uint32, 2*len(vals))
	mask := uint64(len(t.keys) - 1)
	for i, v := range vals {
		if v == 0 {
			continue
		}
		at := mix(keys[i]) & mask
		for t.vals[at] != 0 {
			at = (at + 1) & mask
		}
		t.keys[at], t.vals[at] = keys[i], v
	}
}

// internPairs replaces ids by the numbers of the pairs (ids[i], part[i]).
func (t *table) internPairs(ids, part []uint32) {
	for i := range ids {
		id, fresh := t.find(uint64(ids[i])<<32|uint64(part[i]), uint32(t.last))
		if fresh {
			t.last++
		}
		ids[i] = id
	}
}

// textTable maps byte strings to 32-bit numbers: open addressing with a part of the hash beside the number, so that
// most probes touch one cache line; the strings lie one after the other in a heap.
type textTable struct {
	seed   maphash.Seed
	slots  []textSlot
	texts  []textRef
	heap   []byte
	filled int
}

type textSlot struct {
	hash uint32 // the upper half of the hash
	text uint32 // position in texts, +1; 0 is a free place
}

type textRef struct {
	hash     uint64
	off      int
	len, num uint32
}

func newTextTable() *textTable {
	return &textTable{seed: maphash.MakeSeed(), slots: make([]textSlot, 64)}
}

func (t *textTable) bytes() int64 {
	return int64(len(t.slots))*8 + int64(cap(t.texts))*24 + int64(cap(t.heap))
}

// find gives the number of a string; a new one, which is copied, gets the number next.
func (t *textTable) find(b []byte, next uint32) (num uint32, fresh bool) {
	h := maphash.Bytes(t.seed, b)
	mask := uint64(len(t.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.text == 0 {
			t.texts = append(t.texts, textRef{h, len(t.heap), uint32(len(b)), next})
			t.heap = append(t.heap, b...)
			*s = textSlot{uint32(h >> 32), uint32(len(t.texts))}
			if t.filled++; t.filled*8 > len(t.slots)*5 {
				t.grow()
			}
			return next, true
		}
		if s.hash != uint32(h>>32) {
			continue
		}
		if r := &t.texts[s.text-1]; int(r.len) == len(b) && bytes.Equal(t.heap[r.off:r.off+int(r.len)], b) {
			return r.num, false
		}
	}
}

func (t *textTable) grow() {
	t.slots = make([]textSlot, 4*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for i := range t.texts {
		h := t.texts[i].hash
		at := h & mask
		for t.slots[at].text != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = textSlot{uint32(h >> 32), uint32(i + 1)}
	}
}
