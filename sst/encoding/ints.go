package encoding

import (
	"encoding/binary"
	"math"
)

// Integers: the choice between Constant (8B), Packed (frame.go), Delta and DeltaTwo (delta.go), Runs (runs.go) and
// Local (localints.go).

// What the choice weighs besides bytes. On log fields (access, nested and system logs, blocks of 8,192 rows) it ends
// within 0.2 % of the fewest bytes that any of these would take.
const (
	// smallFrame is the size of a frame up to which differences are not planned: their own heads take 18 bytes and
	// more.
	smallFrame = 32
	// minRowsPerRun is the mean length from which runs are tried.
	minRowsPerRun = 2
	// runCost is what the time to read a run is worth, in bytes: runs of 2 rows take 2 ns a row, twice as long as
	// packed numbers; runs of 10 as long as those.
	runCost = 1
	// minLocalWidth is the width from which a dictionary is tried. The compressed codes of HTTP states take half the
	// bytes of numbers packed in 2 bits with exceptions, a part in a thousand of the rows, and three times as long to
	// read.
	minLocalWidth = 4
)

// intBlock is a block of integers that is encoded.
type intBlock struct {
	values []uint64 // 64-bit patterns in the order of the integers: the top bit of signed ones is turned
	signed bool
	runs   int
	id     ID  // the cheapest encoding so far
	cost   int // bytes of the payload, plus the value of the time to read it

	// What the encodings have planned.
	packed, delta, deltaTwo frame
	run                     runPlan
}

// intSchemes are the encodings of integers in the order in which they are planned; see scheme.planInts.
var intSchemes = [...]ID{Packed, Delta, DeltaTwo, Runs, Local}

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
		for i := range v {
			v[i] ^= 1 << 63
		}
	}
	b := &e.ints
	*b = intBlock{values: v, signed: signed, runs: runs, cost: math.MaxInt}
	for _, id := range intSchemes {
		if cost, ok := id.scheme().planInts(e, b); ok && cost < b.cost {
			b.id, b.cost = id, cost
		}
	}
	return b.id.scheme().appendInts(e, append(dst, byte(b.id)), b)
}

func planPacked(_ *Encoder, b *intBlock) (cost int, ok bool) {
	b.packed = planFrame(b.values)
	return b.packed.size, true
}

func (e *Encoder) appendPacked(dst []byte, b *intBlock) []byte {
	mark := len(dst)
	dst = e.appendFrame(dst, b.values, b.packed)
	binary.LittleEndian.PutUint64(dst[mark:], flip(b.packed.base, b.signed))
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
