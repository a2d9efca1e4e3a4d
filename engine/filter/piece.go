package filter

// Piece is a part of a text that is known in part: either this text, or any number of these characters.
type Piece struct {
	Text  []byte
	Chars *CharSet
}

// CharSet is a set of bytes.
type CharSet [4]uint64

// Chars is the set of the bytes of s.
func Chars(s string) *CharSet {
	var c CharSet
	for i := range len(s) {
		c[s[i]>>6] |= 1 << (s[i] & 63)
	}
	return &c
}

// AllChars is the set of all bytes.
func AllChars() *CharSet { return &CharSet{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)} }

// Has tells whether the set has a byte.
func (c *CharSet) Has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }
