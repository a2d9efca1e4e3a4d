//go:build purego

package vector

// Room is an empty slice with room for n values. Its memory is cleared: this build does without the trick of the other.
func Room[T uint32 | uint64 | int64 | float64 | View | byte](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, 0, n)
}
