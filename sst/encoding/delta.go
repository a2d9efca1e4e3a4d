package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Delta: first value 8B | packed differences (frame.go).
//
// DeltaTwo: first value 8B | first difference 8B | packed differences of differences.

// leastDelta: one value has no differences.
func leastDelta(_ *Encoder, b *intBlock) int {
	if b.runs < 2 {
		return never
	}
	return frameHead + 8
}

// planDelta plans differences, as signed numbers around zero.
func planDelta(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	if !b.planDeltas(e) {
		return dst, never
	}
	return dst, b.delta.size + 8
}

// planDeltas plans the frame of the differences once; false: that of the values is small enough.
func (b *intBlock) planDeltas(e *Encoder) bool {
	if b.frame().size <= smallFrame {
		return false
	}
	if b.delta.size == 0 {
		e.deltas = differences(e.deltas, b.values)
		b.delta = planSigned(e, e.deltas)
	}
	return true
}

func appendDelta(e *Encoder, dst []byte, b *intBlock) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, flip(b.values[0], b.signed))
	return e.appendFrame(dst, e.deltas, b.delta)
}

func leastDeltaTwo(_ *Encoder, b *intBlock) int {
	if b.runs < 2 || len(b.values) < 16 {
		return never
	}
	return frameHead + 16
}

// planDeltaTwo plans differences of differences. They pay when the first ones are wide and change slowly.
func planDeltaTwo(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	if !b.planDeltas(e) || b.delta.width < 4 {
		return dst, never
	}
	e.deltas2 = differences(e.deltas2, e.deltas)
	b.deltaTwo = planSigned(e, e.deltas2)
	return dst, b.deltaTwo.size + 16
}

func appendDeltaTwo(e *Encoder, dst []byte, b *intBlock) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, flip(b.values[0], b.signed))
	dst = binary.LittleEndian.AppendUint64(dst, e.deltas[0])
	return e.appendFrame(dst, e.deltas2, b.deltaTwo)
}

// differences makes dst the differences of neighbours in v.
func differences(dst, v []uint64) []uint64 {
	if len(v) == 0 {
		return dst[:0]
	}
	dst = vector.Sized(dst, len(v)-1)
	for i := range dst {
		dst[i] = v[i+1] - v[i]
	}
	return dst
}

func decodeDelta[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	if len(dst) < 1 {
		r.fail("differences of no rows")
		return
	}
	first := T(r.uint64())
	decodeFrame(d, r, dst[1:])
	dst[0] = first
	for i := 1; i < len(dst); i++ {
		first += dst[i]
		dst[i] = first
	}
}

func decodeDeltaTwo[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	if len(dst) < 2 {
		r.fail("second differences of %d rows", len(dst))
		return
	}
	first, step := T(r.uint64()), T(r.uint64())
	decodeFrame(d, r, dst[2:])
	dst[0] = first
	first += step
	dst[1] = first
	for i := 2; i < len(dst); i++ {
		step += dst[i]
		first += step
		dst[i] = first
	}
}
