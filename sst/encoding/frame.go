package encoding

import (
	"encoding/binary"
	"slices"

	"varve/engine/vector"
)

// Packed integers: frame of reference with patches.
//
//	base 8B | width 1B | exceptions | n x width bits | [position width 1B, high width 1B | positions | high parts]
//
// A value is base + low bits; an exception adds its high part << width. Sums wrap, so a base above the least value
// only makes exceptions of what lies below it.

// frame is a plan for packing values.
type frame struct {
	base       uint64
	width      int
	exceptions int
	high       int // bits of the longest high part
	size       int // bytes of the payload
}

// frameHead is about the size of a frame of no bits.
const frameHead = 10

// planFrame finds the cheapest frame for v.
func planFrame[T int64 | uint64](v []T) frame {
	if len(v) == 0 {
		return frame{}
	}
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return planBetween(v, lo, hi)
}

// planBetween is planFrame of values, at least one, from lo to hi.
func planBetween[T int64 | uint64](v []T, lo, hi T) frame {
	best := planWidth(v, lo, lenOf(uint64(hi-lo)))
	if best.width > 4 {
		if low, ok := lowBase(v, lo, best.width); ok {
			if p := planWidth(v, low, 64); p.size < best.size {
				best = p
			}
		}
	}
	return best
}

// planSigned plans a frame for differences: they are signed, so the least one may be negative.
func planSigned(e *Encoder, v []uint64) frame {
	e.signed = vector.Sized(e.signed, len(v))
	for i, x := range v {
		e.signed[i] = int64(x)
	}
	return planFrame(e.signed)
}

// lowBase returns a base near the low end of most values if the least value is far below them.
func lowBase[T int64 | uint64](v []T, lo T, width int) (T, bool) {
	var sample [64]T
	n := min(len(v), len(sample))
	for i := range n {
		sample[i] = v[i*len(v)/n]
	}
	slices.Sort(sample[:n])
	low, high := sample[n/32], sample[n-1-n/32]
	spread := uint64(high - low)
	low -= min(T(spread/4+1), low-lo) // values just below the sample's low end are no exceptions
	return low, lenOf(spread)+2 <= width && lenOf(uint64(low-lo)) > lenOf(spread)
}

// planWidth finds the cheapest width for a base; longest is the largest length that v[i]-base can have.
func planWidth[T int64 | uint64](v []T, base T, longest int) frame {
	var lengths [65]int
	for _, x := range v {
		lengths[lenOf(uint64(x-base))]++
	}
	for longest > 0 && lengths[longest] == 0 {
		longest--
	}
	position := lenOf(uint64(len(v) - 1))
	best := frame{base: uint64(base), size: 1 << 62}
	over := 0
	for w := longest; w >= 0; w-- {
		width := packWidth(w)
		high := packWidth(longest - w)
		size := packedSize(len(v), width)
		if over > 0 {
			size += packedSize(over, position) + packedSize(over, high) + 2
		}
		if size < best.size && over <= len(v)/8 && (over == 0 || w == width) {
			best.width, best.exceptions, best.high, best.size = width, over, high, size
		}
		over += lengths[w]
	}
	if best.exceptions == 0 {
		best.high = 0
	}
	best.size += frameHead
	return best
}

// appendFrame packs v by a plan.
func (e *Encoder) appendFrame(dst []byte, v []uint64, f frame) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, f.base)
	dst = append(dst, byte(f.width))
	dst = binary.AppendUvarint(dst, uint64(f.exceptions))
	dst = appendBits(dst, v, f.base, f.width)
	if f.exceptions == 0 {
		return dst
	}
	positions, highs := e.positions[:0], e.highs[:0]
	for i, x := range v {
		if h := (x - f.base) >> f.width; h != 0 {
			positions = append(positions, uint32(i))
			highs = append(highs, h)
		}
	}
	e.positions, e.highs = positions, highs
	width := lenOf(uint64(len(v) - 1))
	dst = append(dst, byte(width), byte(f.high))
	dst = appendBits(dst, positions, 0, width)
	return appendBits(dst, highs, 0, f.high)
}

// packedFrame is an encoded frame; its exceptions follow it.
type packedFrame struct {
	base       uint64
	width      int
	exceptions int
	body       []byte
}

// frame reads a frame of n values up to its exceptions.
func (r *reader) frame(n int) (f packedFrame) {
	f.base, f.width = r.uint64(), int(r.byte())
	f.exceptions = r.count(n, "exceptions")
	if f.width != packWidth(f.width) || f.width > 64 || f.exceptions > 0 && f.width == 64 {
		r.fail("width %d", f.width)
	}
	f.body = r.take(packedSize(n, f.width))
	return f
}

// decodeFrame fills dst.
func decodeFrame[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	f := r.frame(len(dst))
	if r.err != nil {
		return
	}
	unpack(dst, f.body, T(f.base), f.width)
	if f.exceptions == 0 {
		return
	}
	d.readExceptions(r, f.exceptions)
	if r.err != nil {
		return
	}
	for i, p := range d.positions {
		if int(p) >= len(dst) {
			r.fail("exception at row %d of %d", p, len(dst))
			return
		}
		dst[p] += T(d.highs[i] << f.width)
	}
}

// readExceptions reads the positions and high parts of a frame's exceptions.
func (d *Decoder) readExceptions(r *reader, count int) {
	positions, pw, highs, hw := r.exceptions(count)
	if r.err != nil {
		return
	}
	d.positions, d.highs = vector.Sized(d.positions, count), vector.Sized(d.highs, count)
	unpack(d.positions, positions, 0, pw)
	unpack(d.highs, highs, 0, hw)
}

// exceptions returns the packed positions and high parts of a frame's exceptions with their widths.
func (r *reader) exceptions(count int) (positions []byte, pw int, highs []byte, hw int) {
	pw, hw = int(r.byte()), int(r.byte())
	if pw > 32 || hw != packWidth(hw) || hw > 64 {
		r.fail("exception widths %d, %d", pw, hw)
		return nil, 0, nil, 0
	}
	positions, highs = r.take(packedSize(count, pw)), r.take(packedSize(count, hw))
	return positions, pw, highs, hw
}
