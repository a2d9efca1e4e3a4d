package encoding

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// XOR floats: first value 8B | nibbles, one for each later value | bytes
//
// A value is the one before with some bits turned. The nibble is the number of bytes from the lowest to the highest
// that differ; unless that is 0 or 8, a byte with the number of equal bytes below them precedes them.

// xorSample is the number of values from which the size of all is estimated.
const xorSample = 64

// leastXOR is the size that a sample suggests, less an eighth. To find out the exact size is to write the floats.
func leastXOR(_ *Encoder, b *floatBlock) int {
	v := b.values
	if b.runs < 2 {
		return never
	}
	n, size := min(xorSample, len(v)-1), 0
	for i := range n {
		at := uint(1 + i*(len(v)-1)/n)
		if at-1 >= uint(len(v)) || at >= uint(len(v)) {
			break // it never does, which the compiler does not see
		}
		_, kept := turned(math.Float64bits(v[at]) ^ math.Float64bits(v[at-1]))
		size += kept
		if kept > 0 && kept < 8 {
			size++
		}
	}
	size = (len(v) - 1) * size / n
	return 8 + len(v)/2 + size - size/8 + len(v)*floatCost
}

// turned returns how many bytes of a difference are 0 below the lowest that is not, and how many there are from that to
// the highest.
func turned(diff uint64) (skip, kept int) {
	if diff == 0 {
		return 0, 0
	}
	skip = bits.TrailingZeros64(diff) / 8
	return skip, 8 - bits.LeadingZeros64(diff)/8 - skip
}

// planXOR appends the floats.
func planXOR(_ *Encoder, dst []byte, b *floatBlock) (out []byte, cost int) {
	v, mark := b.values, len(dst)
	if len(v) == 0 {
		return dst, never
	}
	last := math.Float64bits(v[0])
	dst = binary.LittleEndian.AppendUint64(dst, last)
	at := len(dst)
	dst = append(dst, make([]byte, len(v)/2)...)
	for i, f := range v[1:] {
		x := math.Float64bits(f)
		diff := x ^ last
		last = x
		if diff == 0 {
			continue
		}
		skip, kept := turned(diff)
		dst[at+i/2] |= byte(kept) << (i % 2 * 4)
		if kept < 8 {
			dst = append(dst, byte(skip))
		}
		diff >>= skip * 8
		for range kept {
			dst = append(dst, byte(diff))
			diff >>= 8
		}
	}
	return dst, len(dst) - mark + len(v)*floatCost
}

func decodeXOR(_ *Decoder, r *reader, dst []float64) {
	if len(dst) == 0 {
		return
	}
	last := r.uint64()
	nibbles := r.take(len(dst) / 2)
	if r.err != nil {
		return
	}
	dst[0] = math.Float64frombits(last)
	b := r.b
	for i := range dst[1:] {
		kept := int(nibbles[i/2]>>(i%2*4)) & 15
		if kept > 0 {
			skip := 0
			if kept < 8 {
				if len(b) == 0 {
					r.fail("ends early")
					return
				}
				skip, b = int(b[0]), b[1:]
			}
			if kept+skip > 8 || kept > len(b) {
				r.fail("difference of %d bytes, shifted by %d, %d left", kept, skip, len(b))
				return
			}
			var diff uint64
			for j, c := range b[:kept] {
				diff |= uint64(c) << (8 * j)
			}
			b = b[kept:]
			last ^= diff << (8 * skip)
		}
		dst[i+1] = math.Float64frombits(last)
	}
	r.b = b
}
