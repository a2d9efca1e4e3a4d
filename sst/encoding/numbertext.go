package encoding

import (
	"strconv"

	"varve/engine/vector"
)

// Number: decimal integers as integers (ID and payload of ints.go follow). Only texts that print back to the same bytes
// are encoded: no leading zeros, and no sign except a minus before a number other than zero.

// planNumbers appends the strings when all are of that form.
func planNumbers(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	e.texts = vector.Sized(e.texts, len(b.views))
	for i, w := range b.views {
		x, ok := parseNumber(b.heap[w.Off : w.Off+w.Len])
		if !ok {
			return dst, never
		}
		e.texts[i] = uint64(x)
	}
	out = e.appendInts(dst, e.texts, true)
	return out, len(out) - len(dst)
}

// parseNumber reads an integer of at most 18 digits.
func parseNumber(s []byte) (int64, bool) {
	negative := len(s) > 1 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && (len(s) > 1 || negative) {
		return 0, false
	}
	var x int64
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		x = x*10 + int64(c-'0')
	}
	if negative {
		x = -x
	}
	return x, true
}

func decodeNumbers(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	if d.decodeTexts(r, n); r.err == nil {
		printNumbers(v, d.texts)
	}
}

func pickNumbers(d *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool {
	if d.pickTexts(r, n, rows); r.err == nil {
		printNumbers(v, d.texts)
	}
	return true
}

func printNumbers(v *vector.Vector, numbers []uint64) {
	v.Views = vector.Sized(v.Views, len(numbers))
	heap := v.Heap[:0]
	for i, x := range numbers {
		from := len(heap)
		heap = strconv.AppendInt(heap, int64(x), 10)
		v.Views[i] = vector.View{Off: uint32(from), Len: uint32(len(heap) - from)}
	}
	v.Heap = heap
}

func keepNumber(d *Decoder, r *reader, n int, s []byte, keep vector.Bitmap) bool {
	x, ok := parseNumber(s)
	return d.keepText(r, n, uint64(x), ok, keep)
}

// keepText compares the integers that strings are kept as with x. None passes unless that is the integer of the string.
func (d *Decoder) keepText(r *reader, n int, x uint64, ok bool, keep vector.Bitmap) bool {
	if r.err != nil {
		return false
	}
	if !ok {
		r.b = nil
		clear(keep)
		return true
	}
	if d.decodeTexts(r, n); r.err != nil {
		return false
	}
	for w := range keep {
		var m uint64
		for i, v := range d.texts[w*64 : min(w*64+64, n)] {
			m |= vector.Bit(v == x) << i
		}
		keep[w] &= m
	}
	return true
}
