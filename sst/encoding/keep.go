package encoding

import (
	"encoding/binary"
	"math/bits"

	"varve/engine/filter"
	"varve/engine/vector"
)

// keepInts compares the bits of packed integers as they lie. A block with many exceptions is better patched once and
// kept.
func keepInts(d *Decoder, r *reader, n int, in *filter.Interval, keep vector.Bitmap) bool {
	if len(r.b) > 9 {
		if count, _ := binary.Uvarint(r.b[9:]); count > uint64(n/manyExceptions) {
			return false
		}
	}
	hit := d.hitFrame(r, n, *in, keep)
	if r.err != nil {
		return false
	}
	take(keep, hit, in.Negate)
	return true
}

// manyExceptions: one row in so many. An exception takes as long as ten other rows; a decoded row, which has eight
// bytes in memory, takes as long as four.
const manyExceptions = 4

// take keeps the bits of keep that are also in hit or, if negated, that are not in hit.
func take(keep, hit vector.Bitmap, negate bool) {
	for w := range keep {
		if negate {
			keep[w] &^= hit[w]
		} else {
			keep[w] &= hit[w]
		}
	}
}

// hitFrame returns the rows of a frame (frame.go) that lie in an interval, Negate aside; of words of keep without a row
// it says nothing.
func (d *Decoder) hitFrame(r *reader, n int, in filter.Interval, keep vector.Bitmap) vector.Bitmap {
	f := r.frame(n)
	if r.err != nil {
		return nil
	}
	d.hits = append(d.hits[:0], make(vector.Bitmap, len(keep))...)
	// What is packed passes from first to last or, when that wraps around, does not pass between them.
	first := in.Least - f.base
	last := first + in.Span
	around := last < first
	if around {
		first, last = last+1, first-1
	}
	some := d.hitLows(keep, f.body, n, f.width, first, last)
	if f.exceptions > 0 {
		d.hitExceptions(r, f.body, n, f.width, f.exceptions, first, last, some)
	}
	if r.err != nil {
		return nil
	}
	if around {
		for w, m := range d.hits {
			d.hits[w] = ^m
		}
	}
	return d.hits
}

// hitLows sets the bits of the rows whose packed bits, of the given width, are from first to last, both included, for
// the words of keep that have rows; false if there are none.
func (d *Decoder) hitLows(keep vector.Bitmap, body []byte, n, width int, first, last uint64) bool {
	hit := d.hits
	most := uint64(1)<<width - 1 // 64: shifts to 0
	switch {
	case first > last || first > most:
		return false
	case first == 0 && last >= most:
		hit.Fill(n)
	case width <= 6:
		passes := uint64(0)
		for x := first; x <= min(last, most); x++ {
			passes |= 1 << x
		}
		hitNarrow(hit, keep, body, n, width, passes, d.narrows.ready(width, passes))
	default:
		hitRange(hit, keep, body, n, width, -first, last-first)
	}
	return true
}

// hitExceptions sets the bits of the exceptions of a frame whose values are from first to last, and clears the bits of
// the other exceptions; some reports whether there are bits to clear. Most conditions leave few exceptions, so that
// only their low bits and positions are read.
func (d *Decoder) hitExceptions(r *reader, body []byte, n, width, count int, first, last uint64, some bool) {
	positions, pw, highs, hw := r.exceptions(count)
	if r.err != nil {
		return
	}
	if some {
		d.positions = vector.Sized(d.positions, count)
		unpack(d.positions, positions, 0, pw)
		for _, p := range d.positions {
			if int(p) >= n {
				r.fail("exception at row %d of %d", p, n)
				return
			}
			d.hits[p>>6] &^= 1 << (p & 63)
		}
	}
	if first > last {
		return
	}
	d.highs, d.picked = vector.Sized(d.highs, count), vector.Sized(d.picked, count)
	unpack(d.highs, highs, 0, hw)
	from := first >> width << width
	picked := d.picked[:near(d.picked, d.highs, width, from, last-from)]
	d.positions, d.lows = vector.Sized(d.positions, len(picked)), vector.Sized(d.lows, len(picked))
	unpackAt(d.positions, positions, picked, pw)
	for _, p := range d.positions {
		if int(p) >= n {
			r.fail("exception at row %d of %d", p, n)
			return
		}
	}
	unpackAt(d.lows, body, d.positions, width)
	for i, p := range d.positions {
		if x := d.lows[i] + d.highs[picked[i]]<<(width&63); x-first <= last-first {
			d.hits[p>>6] |= 1 << (p & 63)
		}
	}
}

// near fills dst with the numbers of the high parts that, their low bits zero, lie within span above from, and gives
// how many they are. len(dst) is len(highs).
func near(dst []uint32, highs []uint64, width int, from, span uint64) (k int) {
	dst = dst[:len(highs)]
	for i, h := range highs {
		dst[k] = uint32(i)
		k += int(vector.Bit(h<<(width&63)-from <= span))
	}
	return k
}

// unpackAt fills dst with the packed values of rows, which rise and are packed in src.
func unpackAt[T word](dst []T, src []byte, rows []uint32, width int) {
	dst = dst[:len(rows)]
	if width == 0 {
		clear(dst)
		return
	}
	i := 0
	if width <= 56 && len(src) >= 8 && len(rows) > 0 {
		mask, w, whole := uint64(1)<<width-1, uint(width), uint(len(src)-8)
		for ; i < len(rows); i++ {
			at := uint(rows[i]) * w
			if at>>3 > whole {
				break
			}
			dst[i] = T(binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask)
		}
	}
	for ; i < len(rows); i++ {
		dst[i] = T(unpackOne(src, int(rows[i]), width))
	}
}

// unpackOne returns packed value i.
func unpackOne(src []byte, i, width int) uint64 {
	at := i * width
	from, shift := at>>3, uint(at&7)
	if width <= 56 && from+8 <= len(src) {
		return binary.LittleEndian.Uint64(src[from:]) >> shift & (1<<(width&63) - 1)
	}
	var b [16]byte
	copy(b[:], src[min(from, len(src)):])
	lo, hi := binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	return (lo>>shift | hi<<1<<(63-shift)) & (1<<width - 1)
}

// hitNarrow sets the bits of the rows whose value, of at most 6 bits, is in passes, for the words of keep that have
// rows. table, if given, does the same for several values at once.
func hitNarrow(hit, keep []uint64, src []byte, n, width int, passes uint64, table *[tableSize]uint8) {
	fours := valuesOfTable(width) == 4
	mask, w := uint64(1)<<width-1, uint(width)
	hit = hit[:len(keep)]
	for i, k := range keep {
		if k == 0 {
			continue
		}
		at := i * 8 * width // 64 values take 8 x width bytes
		var m uint64
		switch whole := i*64+64 <= n && at+8*width+8 <= len(src); {
		case whole && table != nil && fours:
			m = hitFours(src[at:], w, table)
		case whole && table != nil:
			m = hitTwos(src[at:], w, table)
		case whole:
			for j := 0; j < 64; j += 8 {
				x := binary.LittleEndian.Uint64(src[at:])
				m |= (passes>>(x&mask&63)&1 | passes>>(x>>(w&63)&mask&63)&1<<1 | passes>>(x>>(2*w&63)&mask&63)&1<<2 |
					passes>>(x>>(3*w&63)&mask&63)&1<<3 | passes>>(x>>(4*w&63)&mask&63)&1<<4 |
					passes>>(x>>(5*w&63)&mask&63)&1<<5 |
					passes>>(x>>(6*w&63)&mask&63)&1<<6 | passes>>(x>>(7*w&63)&mask&63)&1<<7) << (j & 63)
				at += width
			}
		default:
			for j := range min(64, n-i*64) {
				m |= passes >> unpackOne(src, i*64+j, width) & 1 << j
			}
		}
		hit[i] = m
	}
}

// fewRows is the number of rows of a word up to which they are tested one by one.
const fewRows = 8

// hitRange sets the bits of the rows whose value x has x + add <= span, for the words of keep that have rows.
func hitRange(hit, keep []uint64, src []byte, n, width int, add, span uint64) {
	mask := uint64(1)<<width - 1
	if width == 64 {
		mask = ^uint64(0)
	}
	hit = hit[:len(keep)]
	for i, k := range keep {
		if k == 0 {
			continue
		}
		at := uint(i * 64 * width)
		var m uint64
		switch {
		case bits.OnesCount64(k) <= fewRows:
			for ; k != 0; k &= k - 1 {
				j := bits.TrailingZeros64(k)
				m |= vector.Bit(unpackOne(src, i*64+j, width)+add <= span) << j
			}
		case i*64+64 <= n && int(at>>3)+8*width+8 <= len(src):
			w := uint(width)
			for j := 0; j < 64; j += 4 {
				x0 := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				x1 := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				x2 := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				x3 := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				m |= (vector.Bit(x0+add <= span) | vector.Bit(x1+add <= span)<<1 | vector.Bit(x2+add <= span)<<2 |
					vector.Bit(x3+add <= span)<<3) << (j & 63)
			}
		default:
			for j := range min(64, n-i*64) {
				m |= vector.Bit(unpackOne(src, i*64+j, width)+add <= span) << j
			}
		}
		hit[i] = m
	}
}

// Codes are the packed codes of a block without NULLs. They are not changed.
type Codes struct {
	body           []byte
	n, base, width int
	inflated       bool
}

// Inflated reports whether the codes were compressed in the block, so they have memory of their own, which it pays to
// keep.
func (c *Codes) Inflated() bool { return c.inflated }

// Bytes is the memory that they take.
func (c *Codes) Bytes() int64 { return int64(cap(c.body)) }

// maxCodeWidth is the width of codes up to which their packed bits are read directly: the width for the largest
// dictionary.
const maxCodeWidth = 16

// Codes finds the packed codes of the part's dictionary in a block of n rows. ok is false for any other block and for a
// block with NULLs. Decompressed codes are in new memory if keep is set; otherwise in the decoder's memory, until it
// decodes the next block.
func (d *Decoder) Codes(src []byte, n int, keep bool) (c Codes, ok bool, err error) {
	if len(src) < 3 || ID(src[0]) != Shared || src[1] != 0 || ID(src[2]) != packedCodes || n <= 0 || n > MaxRows {
		return c, false, nil
	}
	r := reader{b: src[3:]}
	first, w := r.uvarint(), r.byte()
	if r.err == nil && (first > 1<<31 || w > maxCodeWidth) {
		return c, false, nil // an error, or codes that are decoded as a whole
	}
	var scratch []byte
	if !keep {
		scratch = d.packed
	}
	body := r.section(scratch, packedSize(n, maxCodeWidth))
	if r.err == nil && len(body) != packedSize(n, int(w)) {
		r.fail("codes of %d bytes", len(body))
	}
	if r.err != nil {
		return c, false, r.err
	}
	if !r.inPlace && !keep {
		d.packed = body
	}
	return Codes{body, n, int(first), int(w), !r.inPlace}, true, nil
}

// KeepCodes removes the rows from keep whose code is not in passes. It reads the packed bits of the codes.
func (d *Decoder) KeepCodes(c *Codes, passes, keep vector.Bitmap) {
	// Codes run from base to base + 2^width - 1; those that the dictionary does not have pass nothing.
	d.passes = append(d.passes[:0], make(vector.Bitmap, vector.Words(1<<c.width))...)
	clear(d.bytePasses[:])
	for x := range 1 << c.width {
		if at := c.base + x; at>>6 < len(passes) && passes.Get(at) {
			d.passes.Set(x)
			d.bytePasses[uint8(x)] = 1
		}
	}
	d.hits = append(d.hits[:0], make(vector.Bitmap, len(keep))...)
	switch {
	case c.width <= 6:
		hitNarrow(d.hits, keep, c.body, c.n, c.width, d.passes[0], d.narrows.ready(c.width, d.passes[0]))
	case c.width <= 8:
		hitBytes(d.hits, keep, c.body, c.n, c.width, &d.bytePasses)
	default:
		hitCodes(d.hits, keep, c.body, c.n, c.width, d.passes)
	}
	take(keep, d.hits, false)
}

// hitBytes sets the bits of the rows whose value, of at most 8 bits, is in passes, for the words of keep that have
// rows. One load takes eight values: 0.5 ns a value against 1.1 one by one.
func hitBytes(hit, keep []uint64, src []byte, n, width int, passes *[256]uint8) {
	mask, w := uint64(1)<<width-1, uint(width)
	hit = hit[:len(keep)]
	for i, k := range keep {
		if k == 0 {
			continue
		}
		at := i * 8 * width // 64 values take 8 x width bytes
		var m uint64
		if i*64+64 <= n && at+8*width+8 <= len(src) {
			for j := 0; j < 64; j += 8 {
				x := binary.LittleEndian.Uint64(src[at:])
				m |= (uint64(passes[uint8(x&mask)]) | uint64(passes[uint8(x>>(w&63)&mask)])<<1 |
					uint64(passes[uint8(x>>(2*w&63)&mask)])<<2 | uint64(passes[uint8(x>>(3*w&63)&mask)])<<3 |
					uint64(passes[uint8(x>>(4*w&63)&mask)])<<4 | uint64(passes[uint8(x>>(5*w&63)&mask)])<<5 |
					uint64(passes[uint8(x>>(6*w&63)&mask)])<<6 | uint64(passes[uint8(x>>(7*w&63)&mask)])<<7) << (j & 63)
				at += width
			}
		} else {
			for j := range min(64, n-i*64) {
				m |= uint64(passes[uint8(unpackOne(src, i*64+j, width))]) << j
			}
		}
		hit[i] = m
	}
}

// hitCodes sets the bits of the rows whose value is in passes, for the words of keep that have rows.
func hitCodes(hit, keep []uint64, src []byte, n, width int, passes []uint64) {
	mask, w := uint64(1)<<width-1, uint(width)
	passes = passes[:(mask+64)>>6]
	hit = hit[:len(keep)]
	for i, k := range keep {
		if k == 0 {
			continue
		}
		at := uint(i * 64 * width)
		var m uint64
		if i*64+64 <= n && int(at>>3)+8*width+8 <= len(src) {
			for j := 0; j < 64; j += 2 {
				x := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				y := binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask
				at += w
				m |= (passes[x>>6]>>(x&63)&1 | passes[y>>6]>>(y&63)&1<<1) << (j & 63)
			}
		} else {
			for j := range min(64, n-i*64) {
				x := unpackOne(src, i*64+j, width)
				m |= passes[x>>6] >> (x & 63) & 1 << j
			}
		}
		hit[i] = m
	}
}

// PickCodes makes v the codes of some rows, which rise and are rows of the block: a vector of len(rows).
func (d *Decoder) PickCodes(v *vector.Vector, c *Codes, t vector.Type, shared *vector.Vector, rows []uint32) error {
	reset(v, t)
	v.Form, v.Values, v.Codes = vector.Dict, shared, vector.Sized(v.Codes, len(rows))
	unpackAt(v.Codes, c.body, rows, c.width)
	if c.base > 0 {
		for i := range v.Codes {
			v.Codes[i] += uint32(c.base)
		}
	}
	if size := shared.Len(); len(rows) > 0 && c.base+1<<c.width > size {
		if most := greatestOf(v.Codes); int(most) >= size {
			return malformed("code %d of %d", most, size)
		}
	}
	return nil
}
