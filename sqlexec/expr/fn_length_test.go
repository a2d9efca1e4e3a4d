package expr

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"varve/engine/vector"
)

// TestLengths: the characters of texts are those that package utf8 counts, whether they are ASCII, lie close together
// or apart, or are NULL.
func TestLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	pieces := []string{"a", "~", "\x00", "\x7f", "é", "€", "🙂", "\xff", "\x80", "\xe2\x82"}
	for n := range 131 {
		for ascii := range 2 {
			for apart := range 2 {
				v, valid := &vector.Vector{Type: vector.StringType}, vector.MakeBitmap(n)
				for i := range n {
					var s []byte
					for range r.IntN(40) {
						s = append(s, pieces[r.IntN([]int{len(pieces), 4}[ascii])]...)
					}
					v.PushBytes(s)
					v.Heap = append(v.Heap, make([]byte, apart*r.IntN(100))...)
					if r.IntN(4) > 0 {
						valid.Set(i)
					}
				}
				for _, valid := range []vector.Bitmap{nil, valid} {
					lengthsAre(t, n, v, valid)
				}
			}
		}
	}
}

// lengthsAre holds the lengths of n texts to those of package utf8.
func lengthsAre(t *testing.T, n int, v *vector.Vector, valid vector.Bitmap) {
	t.Helper()
	var bits, characters vector.Vector
	if err := byteLengths(8)(n, []*vector.Vector{v}, valid, &bits); err != nil {
		t.Fatal(err)
	}
	if err := characterLengths(n, []*vector.Vector{v}, valid, &characters); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if valid != nil && !valid.Get(i) {
			continue
		}
		b := v.Bytes(i)
		if got, want := bits.Ints[i], int64(8*len(b)); got != want {
			t.Errorf("%q has %d bits, want %d", b, got, want)
		}
		if got, want := characters.Ints[i], int64(utf8.RuneCount(b)); got != want {
			t.Errorf("%q has %d characters, want %d", b, got, want)
		}
	}
}
