package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Decoder decodes blocks. It keeps scratch memory between them. One goroutine at a time.
type Decoder struct {
	reader        reader // a field, because a local one would move to the heap
	codes         []uint32
	positions     []uint32
	ranks         []uint32 // of rows that are picked, among those that are not NULL
	highs, ints   []uint64
	lows          []uint64 // of picked
	values        []uint64 // of a dictionary of integers within another encoding
	texts         []uint64
	runs, lengths []uint64 // values of runs, and how many rows each has
	shifts        []int64  // of stretches
	packed, bits  []byte
	templates     *Templates
	member        bool          // decodes the streams of templates
	hits          vector.Bitmap // rows that pass a condition
	passes        vector.Bitmap // codes that pass it
	bytePasses    [256]uint8    // the same as bytes, of codes of at most 8 bits
	narrows       narrows
	picked        []uint32 // exceptions that may pass a condition
}

// read begins to read src.
func (d *Decoder) read(src []byte) *reader {
	d.reader = reader{b: src}
	return &d.reader
}

// Decode decodes a block of n rows of type t into v and reuses its buffers. v is then Flat, Const or Dict. Dictionaries
// are never reused, so that a dictionary is identified by its pointer. shared is the part's dictionary of the column,
// if it has one.
func (d *Decoder) Decode(v *vector.Vector, src []byte, t vector.Type, n int, shared *vector.Vector) error {
	if n < 0 || n > MaxRows {
		return malformed("block of %d rows", n)
	}
	reset(v, t)
	r := d.read(src)
	id, flags := ID(r.byte()), r.byte()
	if flags&^flagValid != 0 {
		r.fail("flags %#x", flags)
	}
	if id == Null {
		r.end()
		*v = *vector.ConstNull(t)
		return r.err
	}
	rows := n
	var valid vector.Bitmap
	if flags&flagValid != 0 {
		valid = d.decodeBits(r, n)
		if r.err != nil {
			return r.err
		}
		n = valid.Count()
	}
	d.decodeValues(r, id, v, n, shared)
	r.end()
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
	b := r.section(vector.Sized(d.bits, size), size)
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
	s := id.scheme()
	if s.single { // one value is read; decodeConstantString reads its own length and does not look at n
		v.Form, n = vector.Const, 1
	}
	switch kind := v.Type.Kind(); {
	case kind == vector.Bool && s.bools != nil:
		s.bools(d, r, v, n)
	case (kind == vector.Int64 || kind == vector.Uint64) && s.column != nil:
		s.column(d, r, v, n)
	case kind == vector.Int64 && s.signed != nil:
		v.Ints = vector.Sized(v.Ints, n)
		s.signed(d, r, v.Ints)
	case kind == vector.Uint64 && s.unsigned != nil:
		v.Uints = vector.Sized(v.Uints, n)
		s.unsigned(d, r, v.Uints)
	case kind == vector.Float64 && s.floats != nil:
		v.Floats = vector.Sized(v.Floats, n)
		s.floats(d, r, v.Floats)
	case kind == vector.Bytes && s.strings != nil:
		s.strings(d, r, v, n, shared)
	default:
		r.fail("%s is not an encoding of %s", id, v.Type)
	}
}

// decodeUints fills dst with integers by the encoding id.
func (d *Decoder) decodeUints(r *reader, id ID, dst []uint64) {
	decode := id.scheme().unsigned
	if decode == nil {
		r.fail("%s is not an encoding of integers", id)
		return
	}
	decode(d, r, dst)
}

// decodeTexts reads n integers, with their ID in front, that stand for other values.
func (d *Decoder) decodeTexts(r *reader, n int) {
	d.texts = vector.Sized(d.texts, n)
	d.decodeUints(r, ID(r.byte()), d.texts)
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
		v.Ints = spreadOne(v.Ints, n)
	case vector.Uint64:
		v.Uints = spreadOne(v.Uints, n)
	case vector.Float64:
		v.Floats = spreadOne(v.Floats, n)
	default:
		v.Views = spreadOne(v.Views, n)
	}
}

func spreadOne[T any](s []T, n int) []T {
	x := s[0]
	s = vector.Sized(s, n)
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
