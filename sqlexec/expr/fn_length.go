package expr

import (
	"encoding/binary"
	"math"
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
// Where all texts of a batch are ASCII, which takes 1 ns a row to see, these are their bytes.
func characterLengths(n int, a []*vector.Vector, valid vector.Bitmap, out *vector.Vector) error {
	out.Ints = vector.Sized(out.Ints, n)
	lengths, views, heap := out.Ints, a[0].Views[:n], a[0].Heap
	if texts := heapOf(views, heap); texts != nil && ascii(texts) {
		return byteLengths(1)(n, a, valid, out)
	}
	for i, v := range views {
		lengths[i] = 0
		if valid == nil || valid.Get(i) {
			lengths[i] = int64(utf8.RuneCount(heap[v.Off : v.Off+v.Len]))
		}
	}
	return nil
}

// heapOf is the part of a heap in which texts lie; nil where they take less than half of it.
func heapOf(views []vector.View, heap []byte) []byte {
	from, to, bytes := uint32(math.MaxUint32), uint32(0), uint64(0)
	for _, v := range views {
		if v.Len > 0 {
			from, to = min(from, v.Off), max(to, v.Off+v.Len)
			bytes += uint64(v.Len)
		}
	}
	if uint64(to) > uint64(len(heap)) || from > to || uint64(to-from) > 2*bytes {
		return nil
	}
	return heap[from:to]
}

// highBits are the bits of eight bytes that ASCII leaves free.
const highBits = 0x8080808080808080

// ascii reports whether all bytes are ASCII.
func ascii(s []byte) bool {
	some := uint64(0)
	for ; len(s) >= 32; s = s[32:] {
		b := (*[32]byte)(s)
		some |= binary.LittleEndian.Uint64(b[0:8]) | binary.LittleEndian.Uint64(b[8:16]) |
			binary.LittleEndian.Uint64(b[16:24]) | binary.LittleEndian.Uint64(b[24:32])
	}
	for _, c := range s {
		some |= uint64(c)
	}
	return some&highBits == 0
}
