package encoding

import (
	"strconv"

	"varve/engine/vector"
)

// IPv4 and Number: strings that are numbers, kept as integers (ID and payload of ints.go follow). Only what prints back
// to the same bytes counts: no leading zeros, no signs but a minus before a number that is not zero.

func (e *Encoder) appendIPv4(dst []byte, views []vector.View, heap []byte) ([]byte, bool) {
	e.texts = grow(e.texts, len(views))
	for i, w := range views {
		x, ok := parseIPv4(heap[w.Off : w.Off+w.Len])
		if !ok {
			return dst, false
		}
		e.texts[i] = uint64(x)
	}
	return e.appendInts(append(dst, byte(IPv4)), e.texts, false), true
}

func parseIPv4(s []byte) (uint32, bool) {
	if len(s) < 7 || len(s) > 15 {
		return 0, false
	}
	var x, part uint32
	digits, dots := 0, 0
	for _, c := range s {
		if c == '.' {
			if digits == 0 || dots == 3 {
				return 0, false
			}
			x = x<<8 | part
			part, digits = 0, 0
			dots++
			continue
		}
		if c < '0' || c > '9' || digits > 0 && part == 0 {
			return 0, false
		}
		part = part*10 + uint32(c-'0')
		if digits++; part > 255 {
			return 0, false
		}
	}
	return x<<8 | part, dots == 3 && digits > 0
}

func (d *Decoder) decodeIPv4(r *reader, v *vector.Vector, n int) {
	d.decodeTexts(r, n)
	if r.err != nil {
		return
	}
	v.Views = grow(v.Views, n)
	heap := v.Heap[:0]
	for i, x := range d.texts {
		from := len(heap)
		heap = appendAddress(heap, uint32(x))
		v.Views[i] = vector.View{Off: uint32(from), Len: uint32(len(heap) - from)}
	}
	v.Heap = heap
}

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
