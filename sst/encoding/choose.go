package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Encoder encodes blocks. It keeps scratch memory between them. One goroutine at a time.
type Encoder struct {
	values, deltas, deltas2, highs, texts []uint64
	signed                                []int64
	positions, codes, sharedCodes         []uint32
	slots                                 [4 * maxLocalInts]uint16
	packed, heap, block                   []byte
	local                                 *Dictionary
	dense                                 vector.Vector
	rows                                  []uint32
	templates                             *templater
	nested                                bool // encodes the streams of templates
	textual                               bool // the strings at hand are text
}

// NewEncoder is an encoder without memory yet.
func NewEncoder() *Encoder {
	return &Encoder{local: NewDictionary(MaxRows/4, MaxHeap)}
}

// SharedCodes are the codes of the block that was encoded last, of its valid rows, when it went by the part's
// dictionary; empty otherwise.
func (e *Encoder) SharedCodes() []uint32 { return e.sharedCodes }

// LocalValues are the distinct values of the block that was encoded last, when that was as Local strings.
func (e *Encoder) LocalValues() (views []vector.View, heap []byte) {
	return e.local.Views, e.local.Heap
}

// Append appends the encoded block: n rows of the Flat vector v, at most MaxRows. shared is the part's dictionary of
// the column, which new values are added to; nil: none.
func (e *Encoder) Append(dst []byte, v *vector.Vector, n int, shared *Dictionary) []byte {
	mark := len(dst)
	e.sharedCodes = e.sharedCodes[:0]
	if e.templates != nil {
		e.templates.parsed = false
	}
	if v.Valid != nil && !v.Valid.All(n) {
		count := vector.Bitmap(v.Valid[:vector.Words(n)]).Count()
		if count == 0 {
			return append(dst, byte(Null), 0)
		}
		e.rows = vector.Bitmap(v.Valid[:vector.Words(n)]).AppendRows(e.rows[:0])
		from := *v
		from.Valid = nil
		e.dense.Gather(&from, e.rows)
		dst = append(dst, 0, flagValid)
		dst = appendValid(dst, v.Valid, n)
		v, n = &e.dense, count
	} else {
		dst = append(dst, 0, 0)
	}
	// The encodings put their ID in front; it belongs into the head.
	at := len(dst)
	dst = e.appendValues(dst, v, n, shared)
	dst[mark] = dst[at]
	copy(dst[at:], dst[at+1:])
	return dst[:len(dst)-1]
}

func (e *Encoder) appendValues(dst []byte, v *vector.Vector, n int, shared *Dictionary) []byte {
	switch v.Type.Kind() {
	case vector.Bool:
		return e.appendBools(dst, v.Bools, n)
	case vector.Int64:
		e.texts = grow(e.texts, n)
		for i, x := range v.Ints[:n] {
			e.texts[i] = uint64(x)
		}
		return e.appendInts(dst, e.texts, true)
	case vector.Uint64:
		e.texts = append(e.texts[:0], v.Uints[:n]...)
		return e.appendInts(dst, e.texts, false)
	case vector.Float64:
		return e.appendFloats(dst, v.Floats[:n], v.Type.ID == vector.TypeFloat32)
	}
	e.textual = v.Type.ID == vector.TypeString || v.Type.ID == vector.TypeJSON || v.Type.ID == vector.TypeList
	return e.appendStrings(dst, v.Views[:n], v.Heap, shared)
}

// Validity: section of bits, ceil(n/8) bytes.
func appendValid(dst []byte, valid vector.Bitmap, n int) []byte {
	return appendSection(dst, bitBytes(nil, valid, n), savePlain)
}

// bitBytes appends n bits as bytes.
func bitBytes(dst []byte, b vector.Bitmap, n int) []byte {
	mark := len(dst)
	for _, w := range b[:vector.Words(n)] {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	dst = dst[:mark+(n+7)/8]
	if tail := n & 7; tail != 0 {
		dst[len(dst)-1] &= 1<<tail - 1
	}
	return dst
}

// Booleans: Constant: 1B. Plain: section of bits.
func (e *Encoder) appendBools(dst []byte, v vector.Bitmap, n int) []byte {
	e.packed = bitBytes(e.packed[:0], v, n)
	ones := 0
	for i := range n {
		ones += int(v[i>>6] >> (i & 63) & 1)
	}
	if ones == 0 || ones == n {
		return append(dst, byte(Constant), byte(bit(ones > 0)))
	}
	return appendSection(append(dst, byte(Plain)), e.packed, saveCodes)
}

// Decoder decodes blocks. It keeps scratch memory between them. One goroutine at a time.
type Decoder struct {
	positions    []uint32
	highs, ints  []uint64
	lows         []uint64 // of picked
	texts        []uint64
	packed, bits []byte
	templates    *Templates
	hits         vector.Bitmap // rows that pass a condition
	passes       vector.Bitmap // codes that pass it
	narrows      narrows
	picked       []uint32 // exceptions that may pass a condition
}

// Decode decodes a block of n rows of type t into v, whose buffers are used again: v is Flat, Const or Dict
// afterwards. Dictionaries are never used again, so a dictionary is known by its pointer. shared is the part's
// dictionary of the column, if it has one.
func (d *Decoder) Decode(v *vector.Vector, src []byte, t vector.Type, n int, shared *vector.Vector) error {
	if n < 0 || n > MaxRows {
		return malformed("block of %d rows", n)
	}
	reset(v, t)
	r := reader{b: src}
	id, flags := ID(r.byte()), r.byte()
	if flags&^flagValid != 0 {
		r.fail("flags %#x", flags)
	}
	if id == Null {
		if r.err == nil && len(r.b) > 0 {
			r.fail("%d bytes too many", len(r.b))
		}
		*v = *vector.ConstNull(t)
		return r.err
	}
	rows := n
	var valid vector.Bitmap
	if flags&flagValid != 0 {
		valid = d.decodeBits(&r, n)
		if r.err != nil {
			return r.err
		}
		n = valid.Count()
	}
	d.decodeValues(&r, id, v, n, shared)
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	if r.err != nil {
		return r.err
	}
	if valid != nil {
		spread(v, valid, n, rows)
	}
	return nil
}

// decodeBits reads a section of n bits.
func (d *Decoder) decodeBits(r *reader, n int) vector.Bitmap {
	size := (n + 7) / 8
	b := r.section(grow(d.bits, size), size)
	if r.err != nil {
		return nil
	}
	if len(b) != size || n&7 != 0 && b[size-1]>>(n&7) != 0 {
		r.fail("%d bytes for %d bits", len(b), n)
		return nil
	}
	words := vector.MakeBitmap(n)
	for i := range words {
		var w [8]byte
		copy(w[:], b[i*8:])
		words[i] = binary.LittleEndian.Uint64(w[:])
	}
	return words
}

func (d *Decoder) decodeValues(r *reader, id ID, v *vector.Vector, n int, shared *vector.Vector) {
	if id == Constant { // strings tell by themselves
		v.Form, n = vector.Const, 1
	}
	switch v.Type.Kind() {
	case vector.Bool:
		d.decodeBools(r, id, v, n)
	case vector.Int64:
		if id == Local {
			values := &vector.Vector{Type: v.Type}
			decodeLocalInts(d, r, &values.Ints, v, n)
			v.Form, v.Values = vector.Dict, values
			return
		}
		v.Ints = grow(v.Ints, n)
		decodeInts(d, r, id, v.Ints)
	case vector.Uint64:
		if id == Local {
			values := &vector.Vector{Type: v.Type}
			decodeLocalInts(d, r, &values.Uints, v, n)
			v.Form, v.Values = vector.Dict, values
			return
		}
		v.Uints = grow(v.Uints, n)
		decodeInts(d, r, id, v.Uints)
	case vector.Float64:
		v.Floats = grow(v.Floats, n)
		d.decodeFloats(r, id, v.Floats)
	default:
		d.decodeStrings(r, id, v, n, shared)
	}
}

func (d *Decoder) decodeBools(r *reader, id ID, v *vector.Vector, n int) {
	switch id {
	case Constant:
		v.Bools = grow(v.Bools, vector.Words(n))
		clear(v.Bools)
		if r.byte() != 0 {
			v.Bools.Fill(n)
		}
	case Plain:
		v.Bools = d.decodeBits(r, n)
	default:
		r.fail("%s is no encoding of booleans", id)
	}
}

// spread puts the count values of v onto the valid ones of n rows. Going backwards, no value is overwritten before it
// has moved.
func spread(v *vector.Vector, valid vector.Bitmap, count, n int) {
	v.Valid = valid
	switch {
	case v.Form == vector.Const:
		spreadConst(v, n)
	case v.Form == vector.Dict:
		v.Codes = spreadSlice(v.Codes, valid, count, n)
	case v.Type.Kind() == vector.Bool:
		bools := vector.MakeBitmap(n)
		k := 0
		for i := range n {
			if valid.Get(i) {
				if v.Bools.Get(k) {
					bools.Set(i)
				}
				k++
			}
		}
		v.Bools = bools
	case v.Type.Kind() == vector.Int64:
		v.Ints = spreadSlice(v.Ints, valid, count, n)
	case v.Type.Kind() == vector.Uint64:
		v.Uints = spreadSlice(v.Uints, valid, count, n)
	case v.Type.Kind() == vector.Float64:
		v.Floats = spreadSlice(v.Floats, valid, count, n)
	default:
		v.Views = spreadSlice(v.Views, valid, count, n)
	}
}

// spreadConst makes a Const vector Flat.
func spreadConst(v *vector.Vector, n int) {
	v.Form = vector.Flat
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bools.Get(0) {
			v.Bools = append(v.Bools[:0], v.Valid...)
			return
		}
		v.Bools = vector.MakeBitmap(n)
	case vector.Int64:
		v.Ints = repeat(v.Ints, n)
	case vector.Uint64:
		v.Uints = repeat(v.Uints, n)
	case vector.Float64:
		v.Floats = repeat(v.Floats, n)
	default:
		v.Views = repeat(v.Views, n)
	}
}

func repeat[T any](s []T, n int) []T {
	x := s[0]
	s = grow(s, n)
	for i := range s {
		s[i] = x
	}
	return s
}

func spreadSlice[T any](s []T, valid vector.Bitmap, count, n int) []T {
	if cap(s) < n {
		s = append(make([]T, 0, n), s...)
	}
	s = s[:n]
	var zero T
	for i := n - 1; i >= 0; i-- {
		if valid[i>>6]>>(i&63)&1 != 0 {
			count--
			s[i] = s[count]
		} else {
			s[i] = zero
		}
	}
	return s
}
