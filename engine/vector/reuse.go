package vector

import "slices"

// Functions that make room in slices, here and in the packages above: Sized for scratch that is overwritten each time,
// Extended for slices that grow and keep their content.

// Sized is n elements of any content, in the memory of s where it is large enough.
func Sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Doubled is s with room for n more elements. It doubles: append grows large slices by a quarter, which copies each
// element four times.
func Doubled[T any](s []T, n int) []T {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, len(s)))
}

// Extended is s with n elements at least, those past its length zero. It doubles.
func Extended[T any](s []T, n int) []T {
	old := len(s)
	if n <= old {
		return s
	}
	s = Doubled(s, n-old)[:n]
	clear(s[old:])
	return s
}

// Emptied is an empty set over n rows, in the memory of b where it is large enough.
func (b Bitmap) Emptied(n int) Bitmap {
	b = Sized(b, Words(n))
	clear(b)
	return b
}

// With is b with row i, which may be past its end.
func (b Bitmap) With(i int) Bitmap {
	for i>>6 >= len(b) {
		b = append(b, 0)
	}
	b.Set(i)
	return b
}

// PushBool appends a value to a Flat vector of i booleans.
func (v *Vector) PushBool(i int, x bool) {
	for len(v.Bools) <= i>>6 {
		v.Bools = append(v.Bools, 0)
	}
	if x {
		v.Bools.Set(i)
	}
}

// PushBytes appends a string to a Flat vector of strings.
func (v *Vector) PushBytes(s []byte) {
	v.Views = append(v.Views, View{Off: uint32(len(v.Heap)), Len: uint32(len(s))})
	v.Heap = append(v.Heap, s...)
}
