package encoding

import (
	"encoding/binary"
	"slices"

	"varve/engine/vector"
)

// Repeat: number of stretches | packed lengths (frame.go) | packed shifts | first value 8B | packed steps |
// packed changes.
//
// A stretch ends where the next value is less: the times of a series rise, and those of the next begin anew. The value
// at a place of a stretch is a change of the value of the stretch before at that place plus the shift, if there is one.
// The others are steps from the value in front. Series that were scraped together have the same times, and their
// changes take no bytes; the shift of a series that begins later or earlier is not 0.

// What the writer of repeats weighs besides bytes.
const (
	// minStretch is the mean length of stretches from which they are tried.
	minStretch = 8
	// stretchCost is what the time to begin a stretch is worth, in bytes.
	stretchCost = 4
	// firstStretches is the number of values whose stretches tell whether the others are looked at.
	firstStretches = 256
	// shiftSample is the number of changes that two shifts are compared by.
	shiftSample = 16
)

// repeatPlan is a plan for encoding values as the stretches of e.stretches.
type repeatPlan struct{ lengths, shifts, steps, changes frame }

func leastRepeat(_ *Encoder, b *intBlock) int {
	if b.runs < 2 || len(b.values) < 2*minStretch {
		return never
	}
	return 4*frameHead + 9 + 2*stretchCost
}

func planRepeat(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	if b.frame().size <= smallFrame || !e.planStretches(b.values) {
		return dst, never
	}
	p := repeatPlan{lengths: planFrame(e.stretches), shifts: planSigned(e, e.shifts), steps: planSigned(e, e.steps)}
	p.changes = planSigned(e, e.changes)
	b.repeat = p
	return dst, p.lengths.size + p.shifts.size + p.steps.size + p.changes.size + 9 + len(e.stretches)*stretchCost
}

// planStretches finds the stretches of v with their shifts, steps and changes; false: they are too short, or there is
// one.
func (e *Encoder) planStretches(v []uint64) bool {
	first := min(len(v), firstStretches)
	e.stretches = appendStretches(e.stretches[:0], v[:first])
	if len(e.stretches) > first/minStretch {
		return false
	}
	e.stretches = appendStretches(e.stretches[:0], v)
	if n := len(e.stretches); n < 2 || n > len(v)/minStretch {
		return false
	}
	e.shifts, e.steps, e.changes = e.shifts[:0], e.steps[:0], e.changes[:0]
	var before []uint64
	at := 0
	for _, l := range e.stretches {
		s := v[at : at+int(l)]
		shift := shiftOf(before, s)
		e.shifts = append(e.shifts, uint64(shift))
		from, to := overlap(len(before), len(s), shift)
		for j := range s[:from] {
			e.steps = append(e.steps, s[j]-v[at+j-1])
		}
		if same := s[from:to]; len(same) > 0 {
			old := before[from+shift:][:len(same)]
			for j, x := range same {
				e.changes = append(e.changes, x-old[j])
			}
		}
		for j := max(to, 1-at); j < len(s); j++ {
			e.steps = append(e.steps, s[j]-v[at+j-1])
		}
		before, at = s, at+len(s)
	}
	return true
}

// appendStretches appends the lengths of the stretches of v.
func appendStretches(dst, v []uint64) []uint64 {
	from := 0
	for i := 1; i < len(v); i++ {
		if v[i] < v[i-1] {
			dst = append(dst, uint64(i-from))
			from = i
		}
	}
	return append(dst, uint64(len(v)-from))
}

// overlap returns the places of a stretch that the stretch before has values for.
func overlap(before, length, shift int) (from, to int) {
	from = min(max(0, -shift), length)
	return from, max(from, min(length, before-shift))
}

// shiftOf chooses the shift of a stretch: where its first value stands in the stretch before, or the other way round,
// if the changes are smaller then than without a shift.
func shiftOf(before, s []uint64) int {
	if len(before) == 0 {
		return 0
	}
	at, _ := slices.BinarySearch(before, s[0])
	if at == 0 {
		at, _ = slices.BinarySearch(s, before[0])
		at = -at
	}
	if at != 0 && changeBits(before, s, at) < changeBits(before, s, 0) {
		return at
	}
	return 0
}

// changeBits is about the number of bits of some changes at a shift; what has to be a step counts as a long one.
func changeBits(before, s []uint64, shift int) (sum int) {
	for i := range shiftSample {
		j := i * len(s) / shiftSample
		if k := j + shift; k < 0 || k >= len(before) {
			sum += 16
		} else {
			sum += lenOf(max(s[j], before[k]) - min(s[j], before[k]))
		}
	}
	return sum
}

func appendRepeat(e *Encoder, dst []byte, b *intBlock) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(e.stretches)))
	dst = e.appendFrame(dst, e.stretches, b.repeat.lengths)
	dst = e.appendFrame(dst, e.shifts, b.repeat.shifts)
	dst = binary.LittleEndian.AppendUint64(dst, flip(b.values[0], b.signed))
	dst = e.appendFrame(dst, e.steps, b.repeat.steps)
	return e.appendFrame(dst, e.changes, b.repeat.changes)
}

func decodeRepeat[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	n := r.count(len(dst), "stretches")
	if r.err != nil {
		return
	}
	d.lengths, d.shifts = vector.Sized(d.lengths, n), vector.Sized(d.shifts, n)
	decodeFrame(d, r, d.lengths)
	decodeFrame(d, r, d.shifts)
	first := T(r.uint64())
	steps, changes, ok := countRepeats(d.lengths, d.shifts, len(dst))
	if !ok {
		r.fail("stretches do not fill %d rows", len(dst))
	}
	if r.err != nil {
		return
	}
	d.runs = vector.Sized(d.runs, steps+changes)
	decodeFrame(d, r, d.runs[:steps])
	decodeFrame(d, r, d.runs[steps:])
	if r.err != nil {
		return
	}
	fillRepeats(dst, first, d.lengths, d.shifts, d.runs[:steps], d.runs[steps:])
}

// countRepeats returns the number of steps and of changes of stretches that have n rows together, each at least one;
// false: they have more or fewer, or a shift is longer than a block, or the first is not 0.
func countRepeats(lengths []uint64, shifts []int64, n int) (steps, changes int, ok bool) {
	before, left := 0, n
	for i, l := range lengths {
		shift := shifts[i]
		if l == 0 || l > uint64(left) || shift < -MaxRows || shift > MaxRows || i == 0 && shift != 0 {
			return 0, 0, false
		}
		from, to := overlap(before, int(l), int(shift))
		changes += to - from
		left, before = left-int(l), int(l)
	}
	return n - changes - 1, changes, n > 0 && left == 0
}

// fillRepeats fills dst with the values of stretches that countRepeats has counted.
func fillRepeats[T int64 | uint64](dst []T, first T, lengths []uint64, shifts []int64, steps, changes []uint64) {
	dst[0] = first
	last, at := first, 0
	var before []T
	for i, l := range lengths {
		s := dst[at : at+int(l)]
		from, to := overlap(len(before), len(s), int(shifts[i]))
		ahead := s[:from]
		if i == 0 {
			from, to = 1, 1
		}
		last, steps = step(ahead, last, steps)
		same := s[from:to]
		if len(same) > 0 {
			old, change := before[from+int(shifts[i]):], changes
			old, change = old[:len(same)], change[:len(same)]
			for j := range same {
				same[j] = old[j] + T(change[j])
			}
			last = same[len(same)-1]
		}
		changes = changes[len(same):]
		last, steps = step(s[to:], last, steps)
		before, at = s, at+len(s)
	}
}

// step fills dst with the values behind last, and returns the last of them and the steps that are left.
func step[T int64 | uint64](dst []T, last T, steps []uint64) (T, []uint64) {
	now := steps[:len(dst)]
	for j, x := range now {
		last += T(x)
		dst[j] = last
	}
	return last, steps[len(dst):]
}
