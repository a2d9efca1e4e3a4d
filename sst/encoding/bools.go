package encoding

import (
	"math/bits"

	"varve/engine/vector"
)

// Booleans: Constant: 1B. Plain: section of bits.

// boolBlock is a block of booleans that is encoded.
type boolBlock struct {
	values  vector.Bitmap
	n, ones int
}

// appendBools encodes n booleans, with the ID in front.
func (e *Encoder) appendBools(dst []byte, v vector.Bitmap, n int) []byte {
	e.bools.analyse(v, n)
	dst = boolWriters.append(e, dst, &e.bools)
	e.bools.values = nil
	return dst
}

func (b *boolBlock) analyse(v vector.Bitmap, n int) {
	*b = boolBlock{values: v, n: n}
	for _, w := range v {
		if n < 64 {
			w &= 1<<max(n, 0) - 1
		}
		b.ones += bits.OnesCount64(w)
		n -= 64
	}
}

// leastConstantBools: no values are equal, too.
func leastConstantBools(_ *Encoder, b *boolBlock) int {
	if b.ones > 0 && b.ones < b.n {
		return never
	}
	return 1
}

func planConstantBools(_ *Encoder, dst []byte, _ *boolBlock) ([]byte, int) { return dst, 1 }

func appendConstantBools(_ *Encoder, dst []byte, b *boolBlock) []byte {
	return append(dst, byte(vector.Bit(b.ones > 0)))
}

// leastPlainBools is the size of the bits uncompressed, with the head of their section.
func leastPlainBools(_ *Encoder, b *boolBlock) int { return 1 + (b.n+7)/8 }

func planPlainBools(e *Encoder, dst []byte, b *boolBlock) ([]byte, int) {
	return dst, leastPlainBools(e, b)
}

func appendPlainBools(e *Encoder, dst []byte, b *boolBlock) []byte {
	e.packed = bitBytes(e.packed[:0], b.values, b.n)
	return appendSection(dst, e.packed, saveCodes)
}

func decodeConstantBools(_ *Decoder, r *reader, v *vector.Vector, n int) {
	v.Bools = vector.Sized(v.Bools, vector.Words(n))
	clear(v.Bools)
	if r.byte() != 0 {
		v.Bools.Fill(n)
	}
}

func decodePlainBools(d *Decoder, r *reader, v *vector.Vector, n int) { v.Bools = d.decodeBits(r, n) }
