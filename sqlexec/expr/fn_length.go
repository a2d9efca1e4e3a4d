package expr

import (
	"encoding/binary"
	"unicode/utf8"

	"varve/engine/vector"
)

// byteLengths is a kernel that gives the number of bytes of a text, times a factor, without a look at the text.
func byteLengths(factor int64) kernel {
	return func(n int, a []*vector.Vector, _ vector.Bitmap, out *vector.Vector) error {
		out.Ints = vector.Sized(out.Ints, n)
		lengths := out.Ints
		for i, v := range a[0].Views[:len(lengths)] {
			lengths[i] = int64(v.Len) * factor
		}
		return nil
	}
}

// characterLengths is a kernel that gives the number of characters of a text; a byte that is no UTF-8 counts as one.
func characterLengths(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	out.Ints = vector.Sized(out.Ints, n)
	lengths, heap := out.Ints, a[0].Heap
	for i, v := range a[0].Views[:len(lengths)] {
		if valid != nil && !valid.Get(i) {
			lengths[i] = 0
			continue
		}
		lengths[i] = int64(characters(heap[v.Off : v.Off+v.Len]))
	}
	return nil
}

// highBits are the bits of eight bytes that ASCII leaves free.
const highBits = 0x8080808080808080

// characters is utf8.RuneCount, for texts of ASCII eight bytes at a time: 2 ns for a path of 20 bytes, against 10.
func characters(s []byte) int {
	some := uint64(0)
	for rest := s; ; rest = rest[8:] {
		if len(rest) < 8 {
			for _, c := range rest {
				some |= uint64(c)
			}
			break
		}
		some |= binary.LittleEndian.Uint64(rest) & highBits
	}
	if some&highBits == 0 {
		return len(s)
	}
	return utf8.RuneCount(s)
}
