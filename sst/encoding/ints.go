package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Integers: Constant: 8B. Packed (frame.go), Delta and DeltaTwo (delta.go), Runs (runs.go), Local (localints.go),
// Repeat (repeat.go), Grouped (grouped.go).

// What the writers of integers weigh besides bytes. On log fields (access, nested and system logs, blocks of 8,192
// rows) the choice ends within 0.2 % of the fewest bytes that any of these would take.
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
	runs   int    // of equal values; 0: there are none
	lo, hi uint64 // the least and the greatest value

	// The plans, of size 0 until a writer asks for them.
	packed, delta, deltaTwo frame
	run                     runPlan
	repeat                  repeatPlan
	groups                  groupPlan
}

// analyse makes b the block of values that are given as 64-bit patterns. It changes v.
func (b *intBlock) analyse(v []uint64, signed bool) {
	*b = intBlock{values: v, signed: signed}
	b.runs, b.lo, b.hi = survey(v, flip(0, signed))
}

// survey turns some bits of all values, counts the runs of equal ones and finds the least and the greatest.
func survey(v []uint64, turn uint64) (runs int, lo, hi uint64) {
	if len(v) == 0 {
		return 0, 0, 0
	}
	last := v[0] ^ turn
	lo, hi, runs = last, last, 1
	for i, x := range v {
		x ^= turn
		v[i] = x
		lo, hi = min(lo, x), max(hi, x)
		runs += int(vector.Bit(x != last))
		last = x
	}
	return runs, lo, hi
}

// appendInts encodes integers, the values of an Int64 or Uint64 column as 64-bit patterns, with the ID in front. It
// changes v.
func (e *Encoder) appendInts(dst []byte, v []uint64, signed bool) []byte {
	e.ints.analyse(v, signed)
	return intWriters.append(e, dst, &e.ints)
}

// frame is the plan of the values as they are.
func (b *intBlock) frame() frame {
	if b.packed.size == 0 && b.runs > 0 {
		b.packed = planBetween(b.values, b.lo, b.hi)
	}
	return b.packed
}

func leastConstant(_ *Encoder, b *intBlock) int {
	if b.runs != 1 {
		return never
	}
	return 8
}

func planConstant(_ *Encoder, dst []byte, _ *intBlock) ([]byte, int) { return dst, 8 }

func appendConstant(_ *Encoder, dst []byte, b *intBlock) []byte {
	return binary.LittleEndian.AppendUint64(dst, flip(b.lo, b.signed))
}

// leastPacked: no values take no bytes.
func leastPacked(_ *Encoder, b *intBlock) int {
	if b.runs == 0 {
		return 0
	}
	return frameHead
}

func planPacked(_ *Encoder, dst []byte, b *intBlock) ([]byte, int) { return dst, b.frame().size }

func appendPacked(e *Encoder, dst []byte, b *intBlock) []byte {
	if b.runs == 0 {
		return dst
	}
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
