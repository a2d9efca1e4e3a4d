package metricsapi

import (
	"encoding/binary"
	"math"
	"math/bits"

	"varve/server/protowire"
)

const (
	chunkSamples = 120 // the most samples of a chunk
	xorEncoding  = 1   // number of the encoding
)

// appendXORChunk appends a chunk of samples as a field of a series.
func appendXORChunk(dst []byte, times []int64, values []float64) []byte {
	chunk := protowire.Begin(&dst, 2)
	if times[0] != 0 {
		dst = protowire.AppendVarint(dst, 1, uint64(times[0]))
	}
	if last := times[len(times)-1]; last != 0 {
		dst = protowire.AppendVarint(dst, 2, uint64(last))
	}
	dst = protowire.AppendVarint(dst, 3, xorEncoding)
	data := protowire.Begin(&dst, 4)
	dst = protowire.End(appendXOR(dst, times, values), data)
	return protowire.End(dst, chunk)
}

// appendXOR appends samples in the XOR encoding, at most 65,535: their number in two bytes, big endian; the first time
// as a varint and the first value whole; the distance of the second time from the first; of each later time the
// difference of its distance to the distance before; of each later value the bits that differ from the value before.
func appendXOR(dst []byte, times []int64, values []float64) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(times)))
	w := bitWriter{b: dst, leading: unset}
	var distance int64
	for i, t := range times {
		v := math.Float64bits(values[i])
		switch i {
		case 0:
			w.b = binary.BigEndian.AppendUint64(binary.AppendVarint(w.b, t), v)
			continue
		case 1:
			distance = t - times[0]
			w.b = binary.AppendUvarint(w.b, uint64(distance))
		default:
			next := t - times[i-1]
			w.distance(next - distance)
			distance = next
		}
		w.value(v, math.Float64bits(values[i-1]))
	}
	return w.b
}

// unset is the number of leading zeros before any were written.
const unset = 0xff

// bitWriter appends bits, the highest of a number first.
type bitWriter struct {
	b    []byte
	free int // bits of the last byte that are not written yet

	leading, trailing int // zero bits at the ends of the last difference that was written with their numbers
}

func (w *bitWriter) bits(x uint64, n int) {
	for n > 0 {
		if w.free == 0 {
			w.b, w.free = append(w.b, 0), 8
		}
		k := min(n, w.free)
		w.b[len(w.b)-1] |= byte(x>>(n-k)<<(64-k)>>(64-k)) << (w.free - k)
		w.free -= k
		n -= k
	}
}

// distance writes how much a distance of times differs from the one before.
func (w *bitWriter) distance(d int64) {
	within := func(n int) bool { return -(1<<(n-1)-1) <= d && d <= 1<<(n-1) }
	switch {
	case d == 0:
		w.bits(0, 1)
	case within(14):
		w.bits(0b10, 2)
		w.bits(uint64(d), 14)
	case within(17):
		w.bits(0b110, 3)
		w.bits(uint64(d), 17)
	case within(20):
		w.bits(0b1110, 4)
		w.bits(uint64(d), 20)
	default:
		w.bits(0b1111, 4)
		w.bits(uint64(d), 64)
	}
}

// value writes the bits of a value that differ from those of the one before.
func (w *bitWriter) value(v, before uint64) {
	x := v ^ before
	if x == 0 {
		w.bits(0, 1)
		return
	}
	leading, trailing := min(bits.LeadingZeros64(x), 31), bits.TrailingZeros64(x)
	if w.leading != unset && leading >= w.leading && trailing >= w.trailing {
		w.bits(0b10, 2)
		w.bits(x>>w.trailing, 64-w.leading-w.trailing)
		return
	}
	w.leading, w.trailing = leading, trailing
	width := 64 - leading - trailing
	w.bits(0b11, 2)
	w.bits(uint64(leading), 5)
	w.bits(uint64(width), 6) // 64 is written as 0
	w.bits(x>>trailing, width)
}
