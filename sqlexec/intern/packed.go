package intern

import (
	"encoding/binary"

	"varve/engine/vector"
)

// packable is the length up to which texts of the sixteen characters from '-' to '<' are packed: addresses of version
// 4, numbers, dates and times. Half a byte for each character and one for the length make a key that is the text: a
// table of such keys has nothing to compare in the heap, which for many distinct values is a second miss of the cache a
// row.
const packable = 15

const (
	ones    = 0x0101010101010101
	lowest  = '-' * ones
	upper   = 0xF0 * ones // high halves that are zero if a character is at most 15 above the lowest one
	letters = 0x40 * ones // bits of letters, and of no character that is packed
)

// pack is the key of a text of n bytes, at most packable, of which a and b are the first 16, anything after its end; 0
// if it has none. The first byte below the lowest character wraps, so what it takes from the next one does not matter.
func pack(a, b uint64, n uint32) uint64 {
	m := &masks[n]
	a, b = (a-lowest)&m.a, (b-lowest)&m.b
	if (a|b)&upper != 0 {
		return 0
	}
	return nibbles(a) | nibbles(b)<<32 | uint64(n)<<60
}

// nibbles moves the lower halves of the eight bytes of x together; the upper ones are zeros.
func nibbles(x uint64) uint64 {
	x = (x | x>>4) & 0x00FF00FF00FF00FF
	x = (x | x>>8) & 0x0000FFFF0000FFFF
	return (x | x>>16) & 0xFFFFFFFF
}

// packAll makes the keys and hashes of texts and reports whether all of them have a key; it stops at the first one that
// has none. What lies under a NULL is not read.
func packAll(keys, hashes []uint64, views []vector.View, heap []byte, valid vector.Bitmap) bool {
	keys, hashes = keys[:len(views)], hashes[:len(views)]
	for i, v := range views {
		if valid != nil && !valid.Get(i) {
			hashes[i] = 0
			continue
		}
		if v.Len > packable {
			return false
		}
		var a, b uint64
		if at := heap[v.Off:]; len(at) >= 16 {
			a, b = binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
		} else {
			w := wordsOf(heap, v.Off, v.Len)
			a, b = w.a, w.b
		}
		key := pack(a, b, v.Len)
		if key == 0 {
			return false
		}
		keys[i], hashes[i] = key, mix(key)
	}
	return true
}
