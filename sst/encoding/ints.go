package encoding

import "encoding/binary"

// Integers: the choice among Constant (8B), Packed (frame.go), Delta and DeltaTwo (delta.go), Runs (runs.go) and Local
// (localints.go).

// What the choice weighs besides bytes. On log fields (access, nested and system logs, blocks of 8,192 rows) it ends
// within 0.2 % of the fewest bytes that any of these would take.
const (
	// smallFrame is the size up to which a frame is not worth the try of differences, whose own heads take 18 bytes and more.
	smallFrame = 32
	// minRowsPerRun is the mean length from which runs are tried.
	minRowsPerRun = 2
	// runCost is what the time to read a run is worth, in bytes: runs of 2 rows take 2 ns a row, twice as long as packed
	// numbers; runs of 10 as long as those.
	runCost = 1
	// minLocalWidth is the width from which a dictionary is tried. The compressed codes of HTTP states take half the bytes
	// of numbers packed in 2 bits with exceptions, a part in a thousand of the rows, and three times as long to read.
	minLocalWidth = 4
)

// appendInts encodes integers, the values of an Int64 or Uint64 column as 64-bit patterns, with the ID in front. It
// changes v.
func (e *Encoder) appendInts(dst []byte, v []uint64, signed bool) []byte {
	if len(v) == 0 {
		return append(dst, byte(Packed))
	}
	runs := countRuns(v)
	if runs == 1 {
		dst = append(dst, byte(Constant))
		return binary.LittleEndian.AppendUint64(dst, v[0])
	}
	if signed {
		// The order of signed numbers: with the top bit turned, packing sees them rise.
		for i := range v {
			v[i] ^= 1 << 63
		}
	}
	id, best := Packed, planFrame(v)
	plan := best
	if best.size > smallFrame {
		if p, id2 := e.planDeltas(v); p.size < best.size {
			id, best, plan = id2, p, p
		}
	}
	if runs <= len(v)/minRowsPerRun {
		if p := e.planRuns(v, signed); p.size+runs*runCost < best.size {
			return e.appendRuns(append(dst, byte(Runs)), p)
		}
	}
	if best.width >= minLocalWidth && id == Packed {
		if out, ok := e.appendLocalInts(dst, v, signed, best.size); ok {
			return out
		}
	}
	switch id {
	case Delta:
		return e.appendDelta(dst, v, plan, signed)
	case DeltaTwo:
		return e.appendDeltaTwo(dst, v, plan, signed)
	}
	dst = append(dst, byte(Packed))
	mark := len(dst)
	dst = e.appendFrame(dst, v, plan)
	binary.LittleEndian.PutUint64(dst[mark:], flip(plan.base, signed))
	return dst
}

func flip(x uint64, signed bool) uint64 {
	if signed {
		return x ^ 1<<63
	}
	return x
}

func decodeConstant[T int64 | uint64](_ *Decoder, r *reader, dst []T) {
	x := T(r.uint64())
	for i := range dst {
		dst[i] = x
	}
}

func decodePacked[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	if len(dst) > 0 {
		decodeFrame(d, r, dst)
	}
}
