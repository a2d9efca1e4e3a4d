package encoding

import (
	"strconv"

	"varve/engine/vector"
)

// Number: decimal integers as integers (ID and payload of ints.go follow). Only what prints back to the same bytes counts:
// no leading zeros, no signs but a minus before a number that is not zero.

func (e *Encoder) appendNumbers(dst []byte, views []vector.View, heap []byte) ([]byte, bool) {
	e.texts = grow(e.texts, len(views))
	for i, w := range views {
		x, ok := parseNumber(heap[w.Off : w.Off+w.Len])
		if !ok {
			return dst, false
		}
		e.texts[i] = uint64(x)
	}
	return e.appendInts(append(dst, byte(Number)), e.texts, true), true
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

func (d *Decoder) decodeNumbers(r *reader, v *vector.Vector, n int) {
	d.decodeTexts(r, n)
	if r.err != nil {
		return
	}
	v.Views = grow(v.Views, n)
	heap := v.Heap[:0]
	for i, x := range d.texts {
		from := len(heap)
		heap = strconv.AppendInt(heap, int64(x), 10)
		v.Views[i] = vector.View{Off: uint32(from), Len: uint32(len(heap) - from)}
	}
	v.Heap = heap
}

// decodeTexts reads the integers behind n strings.
func (d *Decoder) decodeTexts(r *reader, n int) {
	d.texts = grow(d.texts, n)
	d.decodeTextsBy(r, ID(r.byte()), n)
}

func (d *Decoder) decodeTextsBy(r *reader, id ID, n int) {
	if id != Local {
		decodeInts(d, r, id, d.texts)
		return
	}
	var local vector.Vector
	decodeLocalInts(d, r, &local.Uints, &local, n)
	if r.err != nil {
		return
	}
	for i, c := range local.Codes {
		d.texts[i] = local.Uints[c]
	}
}

// KeepNumber takes the rows whose string is not s out of keep, comparing the integers that addresses, numbers and times
// are kept as. ok is false, and nothing has happened, when the block of n rows is otherwise or has NULLs.
func (d *Decoder) KeepNumber(src []byte, n int, s []byte, keep vector.Bitmap) (ok bool, err error) {
	if len(src) < 2 || src[1] != 0 || n < 0 || n > MaxRows {
		return false, nil
	}
	var x uint64
	found := false
	r := reader{b: src[2:]}
	switch ID(src[0]) {
	case TimeText:
		shape := readShape(&r)
		var t int64
		t, found = shape.parse(s)
		x = uint64(t)
	case IPv4:
		var a uint32
		a, found = parseIPv4(s)
		x = uint64(a)
	case Number:
		var i int64
		i, found = parseNumber(s)
		x = uint64(i)
	default:
		return false, nil
	}
	if !found && r.err == nil {
		clear(keep)
		return true, nil
	}
	d.decodeTexts(&r, n)
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes too many", len(r.b))
	}
	if r.err != nil {
		return false, r.err
	}
	for w := range keep {
		var m uint64
		for i, v := range d.texts[w*64 : min(w*64+64, n)] {
			m |= uint64(bit(v == x)) << i
		}
		keep[w] &= m
	}
	return true, nil
}
