package encoding

import (
	"encoding/binary"
	"slices"

	"varve/engine/vector"
)

// Local integers: number of values | packed values, rising (frame.go) | codes (codes.go).

// maxLocalInts is the largest dictionary of integers: a wider code is hardly narrower than the packed number.
const maxLocalInts = 256

// leastLocalInts: two distinct values at least.
func leastLocalInts(_ *Encoder, b *intBlock) int {
	if b.runs < 2 {
		return never
	}
	return b.localCost(2)
}

// localCost is about the most that a dictionary of so many values takes with its codes, which may be compressed.
func (b *intBlock) localCost(values int) int {
	width := max(4, (lenOf(b.hi-b.lo)+7)/8)
	return packedSize(len(b.values), lenOf(uint64(values-1))) + values*width + 16
}

// planLocalInts plans a dictionary where packed numbers are not narrow.
func planLocalInts(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	if b.frame().width < minLocalWidth {
		return dst, never
	}
	values := e.distinct(b.values)
	if values == nil {
		return dst, never
	}
	return dst, b.localCost(len(values))
}

// appendLocalInts encodes by the dictionary that planLocalInts has left in e.values, and the codes in e.codes.
func appendLocalInts(e *Encoder, dst []byte, b *intBlock) []byte {
	values := e.values
	e.sorted = append(e.sorted[:0], values...)
	slices.Sort(e.sorted)
	var rank [maxLocalInts]uint32 // of the values in order of appearance
	for i := range rank[:min(len(values), len(rank))] {
		at, _ := slices.BinarySearch(e.sorted, values[i])
		rank[i] = uint32(at)
	}
	for i, c := range e.codes {
		e.codes[i] = rank[c%maxLocalInts]
	}
	values = e.sorted
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

// distinct returns the distinct values in order of appearance when they are at most maxLocalInts, and leaves the
// position of each value among them in e.codes.
func (e *Encoder) distinct(v []uint64) []uint64 {
	const slots = 4 * maxLocalInts
	table := &e.slots
	clear(table[:])
	e.codes = vector.Sized(e.codes, len(v))
	codes, values := e.codes[:len(v)], e.values[:0]
	last, code := uint64(0), uint32(0)
	for i, x := range v {
		if x == last && i > 0 {
			codes[i] = code
			continue
		}
		h := x * 0x9E3779B97F4A7C15 >> 54 // 10 bits
		for {
			c := table[h]
			if c == 0 {
				if len(values) == maxLocalInts {
					e.values = values
					return nil
				}
				values = append(values, x)
				c = uint16(len(values))
				table[h] = c
			}
			if values[c-1] == x {
				last, code = x, uint32(c-1)
				break
			}
			h = (h + 1) % slots
		}
		codes[i] = code
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
func decodeLocalColumn(d *Decoder, r *reader, v *vector.Vector, n int) {
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
	if r.err != nil || k < 0 { // it never is, which the compiler does not see
		return values
	}
	values = vector.Sized(values, k)
	decodeFrame(d, r, values)
	d.decodeCodes(r, codes, k)
	return values
}
