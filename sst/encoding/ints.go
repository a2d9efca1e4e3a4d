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

// planFrame finds the cheapest frame for v.
func planFrame[T int64 | uint64](v []T) frame {
	if len(v) == 0 {
		return frame{}
	}
	lo, hi := v[0], v[0]
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
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

// lowBase gives a base near the low end of most values when the least one lies far below them.
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
	best.size += 10
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

// decodeFrame fills dst.
func decodeFrame[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	base, width := T(r.uint64()), int(r.byte())
	count := r.count(len(dst), "exceptions")
	if width != packWidth(width) || width > 64 {
		r.fail("width %d", width)
	}
	body := r.take(packedSize(len(dst), width))
	if r.err != nil {
		return
	}
	unpack(dst, body, base, width)
	if count == 0 {
		return
	}
	if width >= 64 {
		r.fail("exceptions of width %d", width)
		return
	}
	d.readExceptions(r, count)
	if r.err != nil {
		return
	}
	for i, p := range d.positions {
		if int(p) >= len(dst) {
			r.fail("exception at row %d of %d", p, len(dst))
			return
		}
		dst[p] += T(d.highs[i] << width)
	}
}

// readExceptions reads the positions and high parts of a frame's exceptions.
func (d *Decoder) readExceptions(r *reader, count int) {
	pw, hw := int(r.byte()), int(r.byte())
	if pw > 32 || hw != packWidth(hw) || hw > 64 {
		r.fail("exception widths %d, %d", pw, hw)
		return
	}
	positions, highs := r.take(packedSize(count, pw)), r.take(packedSize(count, hw))
	if r.err != nil {
		return
	}
	d.positions, d.highs = grow(d.positions, count), grow(d.highs, count)
	unpack(d.positions, positions, 0, pw)
	unpack(d.highs, highs, 0, hw)
}

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
	if best.size > 32 {
		if p, id2 := e.planDeltas(v); p.size < best.size {
			id, best, plan = id2, p, p
		}
	}
	if runs <= len(v)/4 && runs*6 < best.size {
		return e.appendRuns(append(dst, byte(Runs)), v, signed)
	}
	if best.width >= 4 && id == Packed {
		if out, ok := e.appendLocalInts(dst, v, signed, best.size); ok {
			return out
		}
	}
	dst = append(dst, byte(id))
	switch id {
	case Packed:
		mark := len(dst)
		dst = e.appendFrame(dst, v, plan)
		binary.LittleEndian.PutUint64(dst[mark:], flip(plan.base, signed))
		return dst
	case Delta:
		dst = binary.LittleEndian.AppendUint64(dst, flip(v[0], signed))
		return e.appendFrame(dst, e.deltas, plan)
	}
	dst = binary.LittleEndian.AppendUint64(dst, flip(v[0], signed))
	dst = binary.LittleEndian.AppendUint64(dst, v[1]-v[0])
	return e.appendFrame(dst, e.deltas2, plan)
}

func flip(x uint64, signed bool) uint64 {
	if signed {
		return x ^ 1<<63
	}
	return x
}

func countRuns(v []uint64) int {
	runs := 1
	for i := 1; i < len(v); i++ {
		if v[i] != v[i-1] {
			runs++
		}
	}
	return runs
}

// planDeltas plans differences and differences of differences, as signed numbers around zero.
func (e *Encoder) planDeltas(v []uint64) (frame, ID) {
	e.deltas = grow(e.deltas, len(v)-1)
	for i := range e.deltas {
		e.deltas[i] = v[i+1] - v[i]
	}
	best := planSigned(e, e.deltas)
	best.size += 8
	// Second differences pay when the first are wide and change slowly; a look at a few tells.
	if len(v) < 16 || best.width < 4 {
		return best, Delta
	}
	e.deltas2 = grow(e.deltas2, len(e.deltas)-1)
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

// planSigned plans a frame for differences: they are signed, so the least one may lie below zero.
func planSigned(e *Encoder, v []uint64) frame {
	e.signed = grow(e.signed, len(v))
	for i, x := range v {
		e.signed[i] = int64(x)
	}
	return planFrame(e.signed)
}

// Delta: first value 8B | packed differences. DeltaTwo: first value 8B | first difference 8B | packed.
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

// Runs: number of runs | packed values | packed lengths.
func (e *Encoder) appendRuns(dst []byte, v []uint64, signed bool) []byte {
	e.deltas, e.deltas2 = e.deltas[:0], e.deltas2[:0]
	from := 0
	for i := 1; i <= len(v); i++ {
		if i == len(v) || v[i] != v[from] {
			e.deltas = append(e.deltas, flip(v[from], signed))
			e.deltas2 = append(e.deltas2, uint64(i-from))
			from = i
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(e.deltas)))
	plan := planFrame(e.deltas)
	if signed {
		plan = planSigned(e, e.deltas)
	}
	dst = e.appendFrame(dst, e.deltas, plan)
	return e.appendFrame(dst, e.deltas2, planFrame(e.deltas2))
}

func decodeRuns[T int64 | uint64](d *Decoder, r *reader, dst []T) {
	n := r.count(len(dst), "runs")
	if r.err != nil {
		return
	}
	values, lengths := make([]T, n), make([]uint64, n)
	decodeFrame(d, r, values)
	decodeFrame(d, r, lengths)
	if r.err != nil {
		return
	}
	rest := dst
	for i, l := range lengths {
		if l > uint64(len(rest)) {
			r.fail("runs are longer than the block")
			return
		}
		x := values[i]
		for j := range rest[:l] {
			rest[j] = x
		}
		rest = rest[l:]
	}
	if len(rest) > 0 {
		r.fail("runs are %d rows short", len(rest))
	}
}

// maxLocalInts is the largest dictionary of integers: a wider code is hardly narrower than the packed number.
const maxLocalInts = 256

// Local integers: number of values | packed values, rising | codes.
func (e *Encoder) appendLocalInts(dst []byte, v []uint64, signed bool, size int) ([]byte, bool) {
	values := e.distinct(v)
	if values == nil {
		return dst, false
	}
	width := lenOf(uint64(len(values) - 1))
	if packedSize(len(v), width)+len(values)*4+16 >= size {
		return dst, false
	}
	slices.Sort(values)
	e.codes = grow(e.codes, len(v))
	for i, x := range v {
		c, _ := slices.BinarySearch(values, x)
		e.codes[i] = uint32(c)
	}
	if signed {
		for i := range values {
			values[i] ^= 1 << 63
		}
	}
	dst = append(dst, byte(Local))
	dst = binary.AppendUvarint(dst, uint64(len(values)))
	plan := planFrame(values)
	if signed {
		plan = planSigned(e, values)
	}
	dst = e.appendFrame(dst, values, plan)
	return e.appendCodes(dst, e.codes), true
}

// distinct gives the distinct values when they are at most maxLocalInts.
func (e *Encoder) distinct(v []uint64) []uint64 {
	const slots = 4 * maxLocalInts
	table := &e.slots
	clear(table[:])
	values := e.values[:0]
	for _, x := range v {
		h := x * 0x9E3779B97F4A7C15 >> 54 // 10 bits
		for {
			c := table[h]
			if c == 0 {
				if len(values) == maxLocalInts {
					e.values = values
					return nil
				}
				values = append(values, x)
				table[h] = uint16(len(values))
				break
			}
			if values[c-1] == x {
				break
			}
			h = (h + 1) % slots
		}
	}
	e.values = values
	return values
}

func decodeLocalInts[T int64 | uint64](d *Decoder, r *reader, values *[]T, v *vector.Vector, n int) {
	k := r.count(maxLocalInts, "values")
	if r.err != nil {
		return
	}
	*values = make([]T, k)
	decodeFrame(d, r, *values)
	v.Codes = grow(v.Codes, n)
	d.decodeCodes(r, v.Codes, k)
}

// decodeInts fills out, which holds n values, by the encoding id.
func decodeInts[T int64 | uint64](d *Decoder, r *reader, id ID, out []T) {
	switch id {
	case Constant:
		x := T(r.uint64())
		for i := range out {
			out[i] = x
		}
	case Packed:
		if len(out) > 0 {
			decodeFrame(d, r, out)
		}
	case Delta:
		decodeDelta(d, r, out)
	case DeltaTwo:
		decodeDeltaTwo(d, r, out)
	case Runs:
		decodeRuns(d, r, out)
	default:
		r.fail("%s is no encoding of integers", id)
	}
}
