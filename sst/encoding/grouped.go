package encoding

import (
	"encoding/binary"

	"varve/engine/vector"
)

// Grouped: first value 8B | exceptions | width of each group 1B | packed bases (frame.go) | bits of each group |
// [position width 1B, high width 1B | positions | high parts].
//
// The differences of neighbours are packed in groups of groupSize, each with a base and a width of its own: the series
// of a block differ in how much their values change. A difference is base + low bits; an exception, such as the step
// from one series to the next, adds its high part << width. High parts are signed, as zigzag numbers.

// What the writer of groups weighs besides bytes.
const (
	// groupSize is the number of differences of a group; the last has fewer.
	groupSize = 128
	// groupCost is what reading a group takes longer than as many packed numbers, in bytes.
	groupCost = 6
	// exceptionBits is about what an exception takes, while the widths are chosen.
	exceptionBits = 32
)

// groupPlan is a plan for packing e.deltas in groups of e.widths and e.bases.
type groupPlan struct {
	bases      frame
	exceptions int
	high       int // bits of the longest high part
	size       int // bytes of the payload
}

func leastGrouped(_ *Encoder, b *intBlock) int {
	n := len(b.values) - 1
	if b.runs < 2 || n < 2*groupSize {
		return never
	}
	return frameHead + 9 + groupsOf(n)*(1+groupCost)
}

func groupsOf(n int) int { return (n + groupSize - 1) / groupSize }

func planGrouped(e *Encoder, dst []byte, b *intBlock) (out []byte, cost int) {
	if !b.planDeltas(e) || b.delta.width < 4 {
		return dst, never
	}
	b.groups = e.planGroups(e.deltas)
	return dst, b.groups.size + len(e.widths)*groupCost
}

// planGroups finds the cheapest base and width of each group.
func (e *Encoder) planGroups(d []uint64) (p groupPlan) {
	e.widths, e.bases = e.widths[:0], e.bases[:0]
	bits := 0
	for rest := d; len(rest) > 0; {
		g := rest[:min(groupSize, len(rest))]
		rest = rest[len(g):]
		base, width := planGroup(g)
		e.widths, e.bases = append(e.widths, byte(width)), append(e.bases, uint64(base))
		bits += packedSize(len(g), width)
		for _, x := range g {
			if h := highOf(x, uint64(base), width); h != 0 {
				p.exceptions++
				p.high = max(p.high, lenOf(h))
			}
		}
	}
	p.bases, p.high = planSigned(e, e.bases), packWidth(p.high)
	p.size = 9 + p.bases.size + len(e.widths) + bits
	if p.exceptions > 0 {
		p.size += 2 + packedSize(p.exceptions, positionWidth(len(d))) + packedSize(p.exceptions, p.high)
	}
	return p
}

// positionWidth is the width of the position of one of n values.
func positionWidth(n int) int { return lenOf(uint64(n - 1)) }

// highOf is what an exception adds to the low bits of a group, as a zigzag number; 0: the value is none.
func highOf(x, base uint64, width int) uint64 {
	if width == 64 {
		return 0
	}
	h := int64(x-base) >> width
	return uint64(h<<1) ^ uint64(h>>63)
}

// planGroup finds the cheapest base and width of a group, by the least values: a few of them may be steps down.
func planGroup(d []uint64) (base int64, width int) {
	var least [4]int64
	for i, x := range d {
		v := int64(x)
		if i < len(least) || v < least[len(least)-1] {
			at := min(i, len(least)-1)
			for ; at > 0 && least[at-1] > v; at-- {
				least[at] = least[at-1]
			}
			least[at] = v
		}
	}
	best := 1 << 62
	for _, k := range [...]int{0, 1, len(least) - 1} {
		if k >= len(d) || k > 0 && least[k] == least[0] {
			break
		}
		if w, bits := groupWidth(d, least[k]); bits < best {
			base, width, best = least[k], w, bits
		}
	}
	return base, width
}

// groupWidth finds the cheapest width of a group with a base; values below the base are exceptions.
func groupWidth(d []uint64, base int64) (width, bits int) {
	var lengths [65]int
	below := 0
	for _, x := range d {
		if int64(x) < base {
			below++
			continue
		}
		lengths[lenOf(x-uint64(base))]++
	}
	width, bits = 64, 1<<62
	over := below
	for w := len(lengths) - 1; w >= 0; w-- {
		if cost := w*len(d) + over*exceptionBits; cost < bits && w == packWidth(w) && (w < 64 || over == 0) {
			width, bits = w, cost
		}
		over += lengths[w]
	}
	return width, bits
}

func appendGrouped(e *Encoder, dst []byte, b *intBlock) []byte {
	p := b.groups
	dst = binary.LittleEndian.AppendUint64(dst, flip(b.values[0], b.signed))
	dst = binary.AppendUvarint(dst, uint64(p.exceptions))
	dst = append(dst, e.widths...)
	dst = e.appendFrame(dst, e.bases, p.bases)
	positions, highs := e.positions[:0], e.highs[:0]
	rest := e.deltas
	for i, width := range e.widths {
		g, base := rest[:min(groupSize, len(rest))], e.bases[i]
		dst = appendBits(dst, g, base, int(width))
		if p.exceptions > 0 {
			for j, x := range g {
				if h := highOf(x, base, int(width)); h != 0 {
					positions, highs = append(positions, uint32(i*groupSize+j)), append(highs, h)
				}
			}
		}
		rest = rest[len(g):]
	}
	e.positions, e.highs = positions, highs
	if p.exceptions == 0 {
		return dst
	}
	width := positionWidth(len(e.deltas))
	dst = append(dst, byte(width), byte(p.high))
	dst = appendBits(dst, positions, 0, width)
	return appendBits(dst, highs, 0, p.high)
}

func decodeGrouped[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	if len(dst) < 2 {
		r.fail("grouped differences of %d rows", len(dst))
		return
	}
	last := T(r.uint64())
	dst[0] = last
	dst = dst[1:]
	exceptions := r.count(len(dst), "exceptions")
	widths := r.take(groupsOf(len(dst)))
	d.lengths = vector.Sized(d.lengths, len(widths))
	decodeFrame(d, r, d.lengths)
	readGroups(r, dst, widths, d.lengths)
	if exceptions > 0 {
		d.readExceptions(r, exceptions)
	}
	if r.err != nil {
		return
	}
	if exceptions > 0 {
		for i, p := range d.positions {
			if int(p) >= len(dst) {
				r.fail("exception at row %d of %d", p, len(dst))
				return
			}
			h := d.highs[i]
			dst[p] += T(h>>1^-(h&1)) << widths[p/groupSize]
		}
	}
	for i, x := range dst {
		last += x
		dst[i] = last
	}
}

// readGroups fills dst with the groups' differences but for what exceptions add.
func readGroups[T int64 | uint64](r *reader, dst []T, widths []byte, bases []uint64) {
	size := 0
	for i, w := range widths {
		if int(w) != packWidth(int(w)) || w > 64 {
			r.fail("width %d", w)
			return
		}
		size += packedSize(min(groupSize, len(dst)-i*groupSize), int(w))
	}
	bits := r.take(size)
	if r.err != nil {
		return
	}
	for i, w := range widths {
		g := dst[:min(groupSize, len(dst))]
		unpack(g, bits, T(bases[i]), int(w))
		dst, bits = dst[len(g):], bits[packedSize(len(g), int(w)):]
	}
}
