package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Delta: first value 8B | packed differences (frame.go).
//
// DeltaTwo: first value 8B | first difference 8B | packed differences of differences.

// appendDelta encodes v as e.deltas, which planDeltas has filled.
func (e *Encoder) appendDelta(dst []byte, v []uint64, plan frame, signed bool) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, byte(Delta)), flip(v[0], signed))
	return e.appendFrame(dst, e.deltas, plan)
}

// appendDeltaTwo encodes v as e.deltas2, which planDeltas has filled.
func (e *Encoder) appendDeltaTwo(dst []byte, v []uint64, plan frame, signed bool) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, byte(DeltaTwo)), flip(v[0], signed))
	dst = binary.LittleEndian.AppendUint64(dst, v[1]-v[0])
	return e.appendFrame(dst, e.deltas2, plan)
}

// planDeltas plans differences and differences of differences, as signed numbers around zero.
func (e *Encoder) planDeltas(v []uint64) (frame, ID) {
	e.deltas = vector.Sized(e.deltas, len(v)-1)
	for i := range e.deltas {
		e.deltas[i] = v[i+1] - v[i]
	}
	best := planSigned(e, e.deltas)
	best.size += 8
	// Second differences pay when the first are wide and change slowly; a look at a few tells.
	if len(v) < 16 || best.width < 4 {
		return best, Delta
	}
	e.deltas2 = vector.Sized(e.deltas2, len(e.deltas)-1)
	for i := range e.deltas2 {
		e.deltas2[i] = e.deltas[i+1] - e.deltas[i]
	}
	second := planSigned(e, e.deltas2)
	second.size += 16
	if second.size < best.size {
		return second, DeltaTwo
	}
	return best, Delta
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
