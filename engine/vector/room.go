//go:build !purego

package vector

import (
	"strings"
	"unsafe"
)

// Room is an empty slice with room for n values, whose memory is not cleared. Clearing takes some 0.2 to 0.4 s for a
// gigabyte (256 MiB: 46 ms against 3) and cannot be interrupted, longer than a cancelled query may go on; writing the
// values takes the same time bit by bit. That is all it buys: sorts and joins take within 2 % the same time without it.
// The build tag purego leaves it out.
func Room[T uint32 | uint64 | int64 | float64 | View | byte](n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	var b strings.Builder // the only type that can give such memory away
	b.Grow(n * int(unsafe.Sizeof(zero)))
	b.WriteByte(0) // an empty string has no address
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.StringData(b.String()))), n)[:0]
}
