package vector

import (
	"math/bits"
	"slices"
)

// Bitmap is a set of rows: row i is bit i%64 of word i/64; bits past the last row are zero.
type Bitmap []uint64

// Bit is 1 for true and 0 for false. It compiles to one conditional set: no branch.
func Bit(b bool) uint64 {
	var x uint64
	if b {
		x = 1
	}
	return x
}

// Words is the number of words that n rows need.
func Words(n int) int { return (n + 63) / 64 }

// MakeBitmap is an empty set over n rows.
func MakeBitmap(n int) Bitmap { return make(Bitmap, Words(n)) }

// Get reports whether row i is in the set.
func (b Bitmap) Get(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set puts row i into the set.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear takes row i out of the set.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

// Count is the number of rows in the set.
func (b Bitmap) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Fill makes b the set of all of the first n rows, clearing the tail bits. It needs len(b) >= Words(n).
func (b Bitmap) Fill(n int) {
	whole, rest := b[:n>>6], b[n>>6:]
	for i := range whole {
		whole[i] = ^uint64(0)
	}
	clear(rest)
	if tail := uint(n) & 63; tail != 0 {
		rest[0] = 1<<tail - 1
	}
}

// And keeps the rows that are in both; nil o means all rows.
func (b Bitmap) And(o Bitmap) {
	if o == nil {
		return
	}
	o = o[:len(b)]
	for i := range b {
		b[i] &= o[i]
	}
}

// Or adds the bits of o, which has as many words.
func (b Bitmap) Or(o Bitmap) {
	o = o[:len(b)]
	for i := range b {
		b[i] |= o[i]
	}
}

// All reports whether all of the first n rows are in the set.
func (b Bitmap) All(n int) bool {
	full := n >> 6
	for _, w := range b[:full] {
		if w != ^uint64(0) {
			return false
		}
	}
	tail := uint(n) & 63
	return tail == 0 || b[full]&(1<<tail-1) == 1<<tail-1
}

// AppendRows appends the numbers of the rows in the set, rising.
func (b Bitmap) AppendRows(dst []uint32) []uint32 {
	// rows are written four at a time, and those beyond a word's last one again: how many they are is no branch
	const step = 4
	n := len(dst)
	dst = slices.Grow(dst, b.Count()+step)
	dst = dst[:cap(dst)]
	for w, m := range b {
		if m == 0 {
			continue
		}
		base, at := uint32(w)<<6, n
		n += bits.OnesCount64(m)
		for ; m != 0; at += step {
			d := (*[step]uint32)(dst[at:])
			for i := range d {
				d[i] = base + uint32(bits.TrailingZeros64(m))
				m &= m - 1
			}
		}
	}
	return dst[:n]
}

// resize returns a bitmap of Words(n) words that keeps the first min(n, old) rows; new bits are zero.
func (b Bitmap) resize(n int) Bitmap {
	w := Words(n)
	for len(b) < w {
		b = append(b, 0)
	}
	b = b[:w]
	if tail := uint(n) & 63; tail != 0 {
		b[w-1] &= 1<<tail - 1
	}
	return b
}

// Slice is rows [from, to) of b. It shares whole words and copies when the first or the last must be cut, so that tail
// bits are zero.
func (b Bitmap) Slice(from, to int) Bitmap {
	if b == nil {
		return nil
	}
	if from&63 != 0 {
		return Bitmap(nil).appendBits(0, b, from, to-from)
	}
	s := b[from>>6 : Words(to)]
	if tail := uint(to) & 63; tail != 0 && len(s) > 0 && s[len(s)-1]>>tail != 0 {
		s = append(Bitmap(nil), s...)
		s[len(s)-1] &= 1<<tail - 1
	}
	return s
}

// appendBits appends n bits of src, starting at bit off, to b, which already has at bits. A nil src stands for all
// ones.
func (b Bitmap) appendBits(at int, src Bitmap, off, n int) Bitmap {
	b = b.resize(at + n)
	shift := uint(at) & 63
	for to := b[at>>6:]; n > 0 && len(to) > 0; to = to[1:] {
		step := min(64, n)
		var m uint64 = ^uint64(0)
		if src != nil {
			m = src.word(off)
		}
		if step < 64 {
			m &= 1<<uint(step) - 1
		}
		to[0] |= m << shift
		if shift != 0 && int(shift)+step > 64 && len(to) > 1 {
			to[1] |= m >> (64 - shift)
		}
		off, n = off+step, n-step
	}
	return b
}

// word is the 64 bits beginning at bit off; bits past the end read as zero.
func (b Bitmap) word(off int) uint64 {
	i, shift := off>>6, uint(off)&63
	m := b[i] >> shift
	if shift != 0 && i+1 < len(b) {
		m |= b[i+1] << (64 - shift)
	}
	return m
}
