package encoding

import (
	"encoding/binary"
	"slices"

	"varve/engine/vector"
)

// Local integers: number of values | packed values, rising (frame.go) | codes (codes.go).

// maxLocalInts is the largest dictionary of integers: a wider code is hardly narrower than the packed number.
const maxLocalInts = 256

// planLocalInts plans a dictionary where packed numbers are the cheapest so far and not narrow.
func planLocalInts(e *Encoder, b *intBlock) (cost int, ok bool) {
	if b.id != Packed || b.packed.width < minLocalWidth {
		return 0, false
	}
	values := e.distinct(b.values)
	if values == nil {
		return 0, false
	}
	return packedSize(len(b.values), lenOf(uint64(len(values)-1))) + len(values)*4 + 16, true
}

// appendLocalInts encodes by the dictionary that planLocalInts has left in e.values.
func (e *Encoder) appendLocalInts(dst []byte, b *intBlock) []byte {
	values := e.values
	slices.Sort(values)
	e.codes = vector.Sized(e.codes, len(b.values))
	for i, x := range b.values {
		c, _ := slices.BinarySearch(values, x)
		e.codes[i] = uint32(c)
	}
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	plan := planFrame(values)
	if b.signed {
		for i := range values {
			values[i] ^= 1 << 63
		}
		plan = planSigned(e, values)
	}
	dst = e.appendFrame(dst, values, plan)
	return e.appendCodes(dst, e.codes)
}

// distinct returns the distinct values when they are at most maxLocalInts.
func (e *Encoder) distinct(v []uint64) []uint64 {
	const slots = 4 * maxLocalInts
	table := &e.slots
	clear(table[:])
	values := e.values[:0]
	for _, x := range v {
		h := x * 0x9E3779B97F4A7C15 >> 54 // 10 bits
		for {
			c := table[h]
			if c == 0 {
				if len(values) == maxLocalInts {
					e.values = values
					return nil
				}
				values = append(values, x)
				table[h] = uint16(len(values))
				break
			}
			if values[c-1] == x {
				break
			}
			h = (h + 1) % slots
		}
	}
	e.values = values
	return values
}

// decodeLocalInts fills dst with integers that other encodings keep.
func decodeLocalInts(d *Decoder, r *reader, dst []uint64) {
	d.codes = vector.Sized(d.codes, len(dst))
	d.values = readLocalInts(d, r, d.values, d.codes)
	if r.err != nil {
		return
	}
	values, codes := d.values, d.codes[:len(dst)]
	for i := range dst {
		dst[i] = values[codes[i]]
	}
}

// decodeLocalColumn makes v codes into values.
func (d *Decoder) decodeLocalColumn(r *reader, v *vector.Vector, n int) {
	v.Form, v.Values, v.Codes = vector.Dict, &vector.Vector{Type: v.Type}, vector.Sized(v.Codes, n)
	if v.Type.Kind() == vector.Int64 {
		v.Values.Ints = readLocalInts[int64](d, r, nil, v.Codes)
	} else {
		v.Values.Uints = readLocalInts[uint64](d, r, nil, v.Codes)
	}
}

// readLocalInts fills codes and returns the values that they stand for, in the memory of values if it is large enough.
func readLocalInts[T int64 | uint64](d *Decoder, r *reader, values []T, codes []uint32) []T {
	k := r.count(maxLocalInts, "values")
	if r.err != nil {
		return values
	}
	values = vector.Sized(values, k)
	decodeFrame(d, r, values)
	d.decodeCodes(r, codes, k)
	return values
}
