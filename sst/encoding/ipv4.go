package encoding

import "varve/engine/vector"

// IPv4: dotted addresses as integers (ID and payload of ints.go follow). Only addresses that print back to the same
// bytes are encoded: no leading zeros.

// planIPv4 appends the strings when all are of that form.
func planIPv4(e *Encoder, dst []byte, b *textBlock) (out []byte, cost int) {
	e.texts = vector.Sized(e.texts, len(b.views))
	for i, w := range b.views {
		x, ok := parseIPv4(b.heap[w.Off : w.Off+w.Len])
		if !ok {
			return dst, never
		}
		e.texts[i] = uint64(x)
	}
	out = e.appendInts(dst, e.texts, false)
	return out, len(out) - len(dst)
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

func decodeIPv4(d *Decoder, r *reader, v *vector.Vector, n int, _ *vector.Vector) {
	if d.decodeTexts(r, n); r.err == nil {
		printAddresses(v, d.texts)
	}
}

func pickIPv4(d *Decoder, r *reader, v *vector.Vector, n int, rows []uint32) bool {
	if d.pickTexts(r, n, rows); r.err == nil {
		printAddresses(v, d.texts)
	}
	return true
}

func printAddresses(v *vector.Vector, addresses []uint64) {
	v.Views = vector.Sized(v.Views, len(addresses))
	heap := v.Heap[:0]
	for i, x := range addresses {
		from := len(heap)
		heap = appendAddress(heap, uint32(x))
		v.Views[i] = vector.View{Off: uint32(from), Len: uint32(len(heap) - from)}
	}
	v.Heap = heap
}

func keepIPv4(d *Decoder, r *reader, n int, s []byte, keep vector.Bitmap) bool {
	x, ok := parseIPv4(s)
	return d.keepText(r, n, uint64(x), ok, keep)
}
