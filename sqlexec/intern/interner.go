package intern

import (
	"bytes"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"varve/engine/vector"
)

// Interner numbers the distinct values of one column in order of appearance; NULL is a value. One goroutine at a time.
type Interner struct {
	// Values holds the distinct values by number: Flat, with NULL where NULL was seen.
	Values *vector.Vector

	n       int
	kind    vector.Kind
	canon   func(b []byte) []byte // what bytes are compared as; nil: as they are
	numbers *Table                // fixed-width values; its numbers count without NULL
	at      []uint32              // number in Values of the table's number
	texts   textTable
	hashes  []uint64 // scratch, with the next two
	slots   []slot
	null    int64 // the number of NULL; -1: not seen

	// The last dictionary seen and the numbers of its codes, +1; 0 is not looked up yet.
	dict  *vector.Vector
	codes []uint32
}

// New is an interner of values of a type. canon, if not nil, maps bytes of equal values to equal bytes.
func New(t vector.Type, canon func([]byte) []byte) *Interner {
	in := &Interner{Values: &vector.Vector{Type: t}, kind: t.Kind(), canon: canon, null: -1}
	if in.kind == vector.Bytes {
		in.texts.init()
	} else {
		in.numbers = NewTable()
	}
	return in
}

// Len is the number of distinct values.
func (in *Interner) Len() int { return in.n }

// Null is the number of NULL; ok is false when it was not seen.
func (in *Interner) Null() (id uint32, ok bool) { return uint32(max(in.null, 0)), in.null >= 0 }

// Bytes is about the memory held.
func (in *Interner) Bytes() int64 {
	n := in.Values.Bytes64(in.n) + int64(len(in.codes)+len(in.at))*4 + int64(len(in.texts.slots))*16
	if in.numbers != nil {
		n += in.numbers.Bytes()
	}
	return n
}

// Intern writes the numbers of n rows of v, of any form, into ids.
func (in *Interner) Intern(v *vector.Vector, n int, ids []uint32) {
	switch {
	case n == 0:
	case v.Form == vector.Const:
		id := in.one(v, 0)
		for i := range ids[:n] {
			ids[i] = id
		}
	case v.Form == vector.Dict:
		in.dictionary(v, n, ids)
	case v.Valid != nil || in.kind == vector.Bool:
		for i := range n {
			ids[i] = in.one(v, i)
		}
	case in.kind == vector.Bytes:
		in.flatTexts(v, n, ids, nil)
	default:
		in.flatNumbers(v, n, ids)
	}
}

// flatNumbers looks up first what is known, with all misses overlapping.
func (in *Interner) flatNumbers(v *vector.Vector, n int, ids []uint32) {
	in.scratch(n)
	keys := in.hashes[:n]
	switch in.kind {
	case vector.Int64:
		for i, x := range v.Ints[:n] {
			keys[i] = uint64(x)
		}
	case vector.Uint64:
		copy(keys, v.Uints)
	default:
		for i, x := range v.Floats[:n] {
			keys[i] = floatKey(x)
		}
	}
	in.numbers.Known(keys, ids)
	for i, id := range ids[:n] {
		if id == Unknown {
			ids[i] = in.number(keys[i])
		} else {
			ids[i] = in.at[id]
		}
	}
}

// flatTexts looks rows up in passes, each of which does one kind of memory access for all rows: the cache misses of a
// pass overlap, where row by row each would wait for the one before. 2 million texts: 3 times faster.
// Hashes that are known already are given.
func (in *Interner) flatTexts(v *vector.Vector, n int, ids []uint32, hashes []uint64) {
	heap, views := v.Heap, v.Views[:n]
	if in.canon != nil || v.Valid != nil {
		for i := range views {
			ids[i] = in.one(v, i)
		}
		return
	}
	in.scratch(n)
	slots := in.slots[:n]
	if hashes == nil {
		hashes = in.hashes[:n]
		for i, w := range views {
			hashes[i] = xxhash.Sum64(heap[w.Off : w.Off+w.Len])
		}
	}
	t := &in.texts
	mask := uint64(len(t.slots) - 1)
	for i, h := range hashes {
		slots[i] = t.slots[h&mask]
	}
	text := in.Values.Heap
	for i, w := range views {
		b := heap[w.Off : w.Off+w.Len]
		if f := &slots[i]; f.tag == uint32(hashes[i]) && f.len == w.Len && f.id > 0 && bytes.Equal(text[f.off:f.off+f.len], b) {
			ids[i] = f.id - 1
			continue
		}
		ids[i] = in.find(hashes[i], b, b)
	}
}

func (in *Interner) scratch(n int) {
	if cap(in.hashes) < n {
		in.hashes, in.slots = make([]uint64, n), make([]slot, n)
	}
}

// dictionary looks every code up once.
func (in *Interner) dictionary(v *vector.Vector, n int, ids []uint32) {
	if in.dict != v.Values {
		in.dict = v.Values
		in.codes = append(in.codes[:0], make([]uint32, v.Values.Len())...)
	}
	if v.Valid == nil {
		for i, c := range v.Codes[:n] {
			id := in.codes[c]
			if id == 0 {
				id = in.one(v, i) + 1
				in.codes[c] = id
			}
			ids[i] = id - 1
		}
		return
	}
	for i, c := range v.Codes[:n] {
		if v.IsNull(i) {
			ids[i] = in.one(v, i)
			continue
		}
		if in.codes[c] == 0 {
			in.codes[c] = in.one(v, i) + 1
		}
		ids[i] = in.codes[c] - 1
	}
}

// one is the number of row i of a vector of any form.
func (in *Interner) one(v *vector.Vector, i int) uint32 {
	if v.IsNull(i) {
		if in.null < 0 {
			in.null = int64(in.n)
			in.Values.AppendNulls(in.n, 1)
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
	return in.text(v.Bytes(i))
}

func (in *Interner) number(x uint64) uint32 {
	id, fresh := in.numbers.Find(x)
	if !fresh {
		return in.at[id]
	}
	in.at = append(in.at, uint32(in.n))
	switch in.kind {
	case vector.Bool:
		in.Values.Append(in.n, vector.ConstBool(x != 0), 0, 1)
		in.n++
		return uint32(in.n - 1)
	case vector.Int64:
		in.Values.Ints = append(in.Values.Ints, int64(x))
	case vector.Uint64:
		in.Values.Uints = append(in.Values.Uints, x)
	default:
		in.Values.Floats = append(in.Values.Floats, math.Float64frombits(x))
	}
	return in.valued()
}

// valued counts a value that was just appended to Values.
func (in *Interner) valued() uint32 {
	if v := in.Values; v.Valid != nil {
		if in.n>>6 == len(v.Valid) {
			v.Valid = append(v.Valid, 0)
		}
		v.Valid.Set(in.n)
	}
	in.n++
	return uint32(in.n - 1)
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

// slot is a place of a textTable: what the first look needs lies in one cache line.
type slot struct {
	tag      uint32 // lower half of the hash: also where the slot goes when the table grows
	id       uint32 // number + 1; 0 is a free place
	off, len uint32 // of what the text is compared as
}

// textTable finds texts by hash: open addressing, at most 5/8 full.
type textTable struct {
	slots []slot
	n     int
	keys  []vector.View // canonical texts by number, where they differ from the values
	heap  []byte
}

func (t *textTable) init() { t.slots = make([]slot, 64) }

func (in *Interner) text(b []byte) uint32 {
	key := b
	if in.canon != nil {
		key = in.canon(b)
	}
	return in.find(xxhash.Sum64(key), key, b)
}

// find is the number of text b with the given hash; key is what it is compared as.
func (in *Interner) find(h uint64, key, b []byte) uint32 {
	t := &in.texts
	tag := uint32(h)
	mask := uint64(len(t.slots) - 1)
	at := h & mask
	text := in.Values.Heap
	if in.canon != nil {
		text = t.heap
	}
	for {
		s := &t.slots[at]
		if s.id == 0 {
			break
		}
		if s.tag == tag && bytes.Equal(text[s.off:s.off+s.len], key) {
			return s.id - 1
		}
		at = (at + 1) & mask
	}
	v := in.Values
	v.Views, v.Heap = doubled(v.Views, 1), doubled(v.Heap, len(b))
	v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(b))})
	v.Heap = append(v.Heap, b...)
	if in.canon != nil {
		for len(t.keys) < in.n { // NULL has a number and no key
			t.keys = append(t.keys, vector.View{})
		}
		t.keys = append(t.keys, vector.View{Off: uint32(len(t.heap)), Len: uint32(len(key))})
		t.heap = append(t.heap, key...)
	}
	where := v.Views[in.n]
	if in.canon != nil {
		where = t.keys[in.n]
	}
	id := in.valued()
	t.slots[at] = slot{tag, id + 1, where.Off, where.Len}
	if t.n++; t.n*8 > len(t.slots)*5 {
		in.growTexts()
	}
	return id
}

// doubled makes room for n more elements by doubling: append grows large slices by a quarter, which copies each element
// four times.
func doubled[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, len(s)))
}

func (in *Interner) growTexts() {
	t := &in.texts
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		at := uint64(s.tag) & mask
		for t.slots[at].id != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}
