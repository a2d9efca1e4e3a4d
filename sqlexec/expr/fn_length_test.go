package expr

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"varve/engine/vector"
)

// TestLengths: the characters of a text are those that package utf8 counts, for all tails, in any UTF-8 and in none.
func TestLengths(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	pieces := []string{"a", "~", "\x00", "\x7f", "é", "€", "🙂", "\xff", "\x80", "\xe2\x82"}
	for n := range 131 {
		for ascii := range 2 {
			var s []byte
			for len(s) < n {
				s = append(s, pieces[r.IntN([]int{len(pieces), 4}[ascii])]...)
			}
			if got, want := characters(s), utf8.RuneCount(s); got != want {
				t.Fatalf("%q has %d characters, want %d", s, got, want)
			}
		}
	}
}

// TestLengthKernels: NULL rows have some length, all others theirs.
func TestLengthKernels(t *testing.T) {
	v := &vector.Vector{Type: vector.StringType}
	for _, s := range []string{"", "abc", "é€", "0123456789é", "x"} {
		v.PushBytes([]byte(s))
	}
	v.Valid = vector.Bitmap{0b01111}
	var bytesOf, charactersOf vector.Vector
	if err := byteLengths(8)(5, []*vector.Vector{v}, v.Valid, &bytesOf); err != nil {
		t.Fatal(err)
	}
	if err := characterLengths(5, []*vector.Vector{v}, v.Valid, &charactersOf); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		b := v.Bytes(i)
		if got, want := bytesOf.Ints[i], int64(8*len(b)); got != want {
			t.Errorf("%q has %d bits, want %d", b, got, want)
		}
		if got, want := charactersOf.Ints[i], int64(len(bytes.Runes(b))); got != want {
			t.Errorf("%q has %d characters, want %d", b, got, want)
		}
	}
}
