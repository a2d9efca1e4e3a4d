package intern

import (
	"encoding/binary"
	"math"
	"slices"

	"varve/engine/vector"
)

// Interner numbers the distinct values of one column in order of appearance; NULL is a value, too. One goroutine at a
// time.
type Interner struct {
	// Values holds the distinct values by number: Flat, with NULL where NULL was seen.
	Values *vector.Vector

	n       int
	kind    vector.Kind
	canon   func(b []byte) uint64 // what texts are compared as; nil: as they are
	numbers *Table                // fixed-width values; texts that have a key
	small   direct                // of these the small ones of the column
	texts   textTable
	own     probe
	all     []uint32 // 0, 1, 2, ..
	null    int64    // the number of NULL; -1: not seen
	sink    uint32   // keeps loads that only touch memory

	// The last dictionary seen and the numbers of its codes, +1; 0 is not looked up yet.
	dict  *vector.Vector
	codes []uint32
}

// New is an interner of values of a type. canon, if not nil, maps bytes of equal values, and only these, to one number.
func New(t vector.Type, canon func([]byte) uint64) *Interner {
	in := &Interner{Values: &vector.Vector{Type: t}, kind: t.Kind(), canon: canon, null: -1, numbers: NewTable()}
	if in.words() {
		in.texts.init()
	}
	return in
}

// words reports whether values are texts that are compared as they are.
func (in *Interner) words() bool { return in.kind == vector.Bytes && in.canon == nil }

// stagger makes the tables and slices of shard k grow at a different number of values from the other shards, which have
// about as many values. Otherwise all of them would grow within one batch, for longer than a cancelled query may
// continue.
func (in *Interner) stagger(k int) {
	in.texts.fill = staggeredFill - 8 + k
	in.numbers.fill = staggeredFill + k
	switch in.kind {
	case vector.Int64:
		in.Values.Ints = make([]int64, 0, firstSlots+firstSlots/Shards*k)
	case vector.Uint64:
		in.Values.Uints = make([]uint64, 0, firstSlots+firstSlots/Shards*k)
	case vector.Float64:
		in.Values.Floats = make([]float64, 0, firstSlots+firstSlots/Shards*k)
	case vector.Bytes:
		in.Values.Views = make([]vector.View, 0, firstSlots+firstSlots/Shards*k)
		in.Values.Heap = make([]byte, 0, 16*(firstSlots+firstSlots/Shards*k))
	}
}

// Len is the number of distinct values.
func (in *Interner) Len() int { return in.n }

// Null is the number of NULL; ok is false when it was not seen.
func (in *Interner) Null() (id uint32, ok bool) { return uint32(max(in.null, 0)), in.null >= 0 }

// Bytes is about the memory held.
func (in *Interner) Bytes() int64 {
	return in.Values.Bytes64(in.n) + int64(cap(in.Values.Heap)-len(in.Values.Heap)) +
		int64(len(in.codes)+len(in.small.ids)+len(in.all))*4 + in.texts.bytes() + in.numbers.Bytes() + in.own.bytes()
}

// Moves is how many bytes Intern takes for a while, and some of them for good, to make room for so many rows with so
// many bytes of texts: 0 where there is room.
func (in *Interner) Moves(rows int, texts int64) int64 {
	have := int64(len(in.Values.Heap))
	if texts += int64(rows) * (header + inline); texts <= int64(cap(in.Values.Heap))-have {
		return 0
	}
	return have + max(texts, moreHeap(have))
}

// Intern writes the numbers of n rows of v, of any form, into ids.
func (in *Interner) Intern(v *vector.Vector, n int, ids []uint32) {
	ids = ids[:n]
	switch {
	case n == 0:
	case v.Form == vector.Const:
		fill(ids, in.one(v, 0))
	case v.Form == vector.Dict:
		in.dictionary(v, ids)
	default:
		known := 0
		if in.kind == vector.Int64 && v.Valid == nil {
			known = in.small.known(v.Ints[:n], ids)
			known += in.runs(v.Ints[known:n], ids[known:])
		}
		if known == n {
			return
		}
		for len(in.all) < n {
			in.all = append(in.all, uint32(len(in.all)))
		}
		in.own.load(v, n, in.canon)
		in.lookup(&in.own, in.all[known:n], ids)
	}
}

func fill(ids []uint32, id uint32) {
	for i := range ids {
		ids[i] = id
	}
}

// touched is the number of rows whose slots are touched before they are looked up: their cache lines stay in the
// first-level cache until then.
const touched = 256

// lookup writes the numbers of some rows of a probe into ids.
func (in *Interner) lookup(p *probe, rows, ids []uint32) {
	for len(rows) > 0 {
		some := rows[:min(touched, len(rows))]
		rows = rows[len(some):]
		if p.texts {
			in.lookupTexts(p, some, ids)
		} else {
			in.lookupNumbers(p, some, ids)
		}
	}
}

func (in *Interner) lookupTexts(p *probe, rows, ids []uint32) {
	t, v := &in.texts, p.v
	var found [touched]uint32
	if t.bytes()+int64(len(in.Values.Heap)) > inCache/Shards {
		in.sink += uint32(t.touch(p.hashes, rows))
		in.sink += uint32(t.candidates(found[:], p.hashes, rows, v.Views, in.Values.Heap))
	}
	if p.mixed && in.numbers.Bytes() > inCache/Shards {
		in.sink += in.numbers.touch(p.hashes, rows)
	}
	for i, r := range rows {
		if v.Valid != nil && !v.Valid.Get(int(r)) {
			ids[r] = in.nullID()
			continue
		}
		if p.mixed && p.keys[r] != 0 {
			ids[r] = in.number(p.keys[r], p.hashes[r], v, int(r))
			continue
		}
		w, hash, view := &p.words[r], p.hashes[r], v.Views[r]
		b := v.Heap[view.Off : view.Off+view.Len]
		if off := found[i]; off != 0 {
			if id, ok := equal(in.Values.Heap[off-1:], w, b); ok {
				ids[r] = id
				continue
			}
		}
		ids[r] = in.text(w, hash, b)
	}
}

// text is the number of a text with its words and hash.
func (in *Interner) text(w *words, hash uint64, b []byte) uint32 {
	v := in.Values
	id, known, free := in.texts.find(w, hash, b, v.Heap)
	if known {
		return id
	}
	v.Heap = roomier(v.Heap, header+len(b)+inline)
	in.texts.take(free, hash, len(v.Heap))
	v.Heap = binary.LittleEndian.AppendUint64(v.Heap, uint64(len(b))<<32|uint64(in.n))
	return in.appendText(b)
}

func (in *Interner) appendText(b []byte) uint32 {
	v := in.Values
	v.Views, v.Heap = vector.Doubled(v.Views, 1), roomier(v.Heap, len(b))
	v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(b))})
	v.Heap = append(v.Heap, b...)
	return in.valued()
}

func (in *Interner) lookupNumbers(p *probe, rows, ids []uint32) {
	t := in.numbers
	if t.Bytes() > inCache/Shards {
		in.sink += t.touch(p.hashes, rows)
	}
	v := p.v
	for _, r := range rows {
		if v.Valid != nil && !v.Valid.Get(int(r)) {
			ids[r] = in.nullID()
			continue
		}
		key, hash := p.keys[r], p.hashes[r]
		s := &t.slots[hash>>t.shift]
		if s.key == key && s.id != 0 {
			ids[r] = s.id - 1
			continue
		}
		ids[r] = in.number(key, hash, v, int(r))
	}
}

// number is the number of the value of row r of v, which has that key.
func (in *Interner) number(key, hash uint64, v *vector.Vector, r int) uint32 {
	id, fresh := in.numbers.find(key, hash, uint32(in.n))
	if fresh {
		in.appendNumber(key, v, r)
	}
	return id
}

// appendNumber adds the value of row r of v, whose key is new.
func (in *Interner) appendNumber(key uint64, v *vector.Vector, r int) {
	switch in.kind {
	case vector.Bool:
		in.Values.Append(in.n, vector.ConstBool(key != 0), 0, 1)
		in.n++
		return
	case vector.Int64:
		in.appendInt(int64(key))
		return
	case vector.Uint64:
		in.Values.Uints = append(vector.Doubled(in.Values.Uints, 1), key)
	case vector.Float64:
		in.Values.Floats = append(vector.Doubled(in.Values.Floats, 1), math.Float64frombits(key))
	default:
		in.appendText(v.Bytes(r))
		return
	}
	in.valued()
}

// appendInt adds an integer that is new.
func (in *Interner) appendInt(x int64) {
	in.Values.Ints = append(vector.Doubled(in.Values.Ints, 1), x)
	in.small.add(x, uint32(in.n))
	in.valued()
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

func (in *Interner) nullID() uint32 {
	if in.null < 0 {
		in.null = int64(in.n)
		in.Values.AppendNulls(in.n, 1)
		in.n++
	}
	return uint32(in.null)
}

// dictionary looks every code up once.
func (in *Interner) dictionary(v *vector.Vector, ids []uint32) {
	if in.dict != v.Values {
		in.dict = v.Values
		in.codes = zeros(in.codes, v.Values.Len())
	}
	codes := v.Codes[:len(ids)]
	if v.Valid == nil && mapCodes(ids, codes, in.codes) {
		return
	}
	for i, c := range codes {
		if v.IsNull(i) {
			ids[i] = in.nullID()
			continue
		}
		if in.codes[c] == 0 {
			in.codes[c] = in.one(v, i) + 1
		}
		ids[i] = in.codes[c] - 1
	}
}

// zeros returns n zeros, in the memory of s where it is large enough.
func zeros(s []uint32, n int) []uint32 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}

// mapCodes writes the numbers of codes and reports whether all of them are known; numbers holds each number plus one.
func mapCodes(ids, codes, numbers []uint32) bool {
	ids = ids[:len(codes)]
	unknown := uint32(0)
	for i, c := range codes {
		id := numbers[c] - 1
		ids[i] = id
		unknown = max(unknown, id)
	}
	return unknown != 1<<32-1
}

// one is the number of row i of a vector of any form.
func (in *Interner) one(v *vector.Vector, i int) uint32 {
	if v.IsNull(i) {
		return in.nullID()
	}
	var key uint64
	if in.words() {
		b := v.Bytes(i)
		w := wordsOf(b, 0, uint32(len(b)))
		var hash uint64
		if key, hash = w.keyAndHash(uint32(len(b))); key == 0 {
			return in.text(&w, hash, b)
		}
	} else {
		key = keyOf(v, i, in.canon)
	}
	return in.number(key, mix(key), v, i)
}

// doubledHeap is the size up to which the texts have room for as much again when they grow, and a quarter from there
// on: what has been moved is in memory twice meanwhile.
const doubledHeap = 8 << 20

// moreHeap is by how much a heap of so many bytes grows at least.
func moreHeap(have int64) int64 {
	if have > doubledHeap {
		return have / 4
	}
	return have
}

// roomier makes room for n more bytes of texts.
func roomier(heap []byte, n int) []byte {
	if cap(heap)-len(heap) >= n {
		return heap
	}
	return slices.Grow(heap, max(n, int(moreHeap(int64(len(heap))))))
}
