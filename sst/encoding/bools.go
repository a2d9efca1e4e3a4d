package encoding

import "varve/engine/vector"

// Booleans: Constant: 1B. Plain: section of bits.

func (e *Encoder) appendBools(dst []byte, v vector.Bitmap, n int) []byte {
	e.packed = bitBytes(e.packed[:0], v, n)
	ones := 0
	for i := range n {
		ones += int(v[i>>6] >> (i & 63) & 1)
	}
	if ones == 0 || ones == n {
		return append(dst, byte(Constant), byte(vector.Bit(ones > 0)))
	}
	return appendSection(append(dst, byte(Plain)), e.packed, saveCodes)
}

func decodeConstantBools(_ *Decoder, r *reader, v *vector.Vector, n int) {
	v.Bools = vector.Sized(v.Bools, vector.Words(n))
	clear(v.Bools)
	if r.byte() != 0 {
		v.Bools.Fill(n)
	}
}

func decodePlainBools(d *Decoder, r *reader, v *vector.Vector, n int) { v.Bools = d.decodeBits(r, n) }
