//go:build !purego

package vector

import (
	"strings"
	"unsafe"
)

// Room returns an empty slice with room for n values, whose memory is not cleared. Clearing takes some 0.2 to 0.4 s for
// a gigabyte (256 MiB: 46 ms against 3) and cannot be interrupted, which is longer than a cancelled query may continue;
// writing the values takes the same time in small steps. Room brings no other gain: sorts and joins take the same time
// without it, within 2 %. The build tag purego leaves it out.
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
