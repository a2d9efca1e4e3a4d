package index

import (
	"fmt"
	"math"
)

// Filter: kind 1B | hashes 1B | bits, a multiple of 8 bytes
//
// A Bloom filter: token h sets the bits a, a+b, a+2b, ... of the m bits, each as the high half of a 32-bit number
// times m, where a is the low and b the high half of h. A gram sets gramHashes of them.
const filterHead = 2

// DefaultRate is the share of blocks without the token that a filter does not refute.
const DefaultRate = 0.02

// AppendFilter appends the filter of the tokens, with the given rate of false positives; nothing when there are too
// many of them.
func (t *Tokens) AppendFilter(dst []byte, rate float64) []byte {
	if len(t.list)+len(t.grams.list) > maxTokens {
		return dst
	}
	rate = bounded(rate)
	perToken := math.Log2(1/rate) / math.Ln2
	hashes := Hashes(rate)
	words := int(float64(len(t.list))*perToken+float64(len(t.grams.list))*gramHashes/math.Ln2)/64 + 1
	dst = append(dst, byte(t.kind), byte(hashes))
	at := len(dst)
	dst = append(dst, make([]byte, 8*words)...)
	setBits(dst[at:], t.list, hashes)
	setBits(dst[at:], t.grams.list, gramHashes)
	return dst
}

// bounded is a rate that filters can have.
func bounded(rate float64) float64 { return min(max(rate, 1e-4), 0.5) }

// Hashes is the number of bits of a token in a filter of a rate.
func Hashes(rate float64) int { return max(1, int(math.Round(math.Log2(1/bounded(rate))))) }

// HashesOf is the number of bits of a token in a filter.
func HashesOf(f []byte) int { return int(f[1]) }

// Within reports whether the filter may contain all the tokens. For the tokens of its own block it must, which is how a
// check finds a wrong filter.
func (t *Tokens) Within(f []byte) bool {
	for _, h := range t.list {
		if !MayHold(f, h) {
			return false
		}
	}
	return len(t.grams.list) == 0 || MayHoldGrams(f, t.grams.list)
}

// maxHashes bounds the number of hashes of a filter.
const maxHashes = 16

// KindOf is the kind of a filter's tokens; 0 when it is none that this program knows, and then it refutes nothing.
func KindOf(f []byte) TokenKind {
	if len(f) <= filterHead || (len(f)-filterHead)%8 != 0 || f[1] == 0 || f[1] > maxHashes {
		return 0
	}
	if k := TokenKind(f[0]); k == WordTokens || k == ValueTokens || k == GramTokens {
		return k
	}
	return 0
}

// MayHold is false if the filter, whose kind is known, shows that the block does not contain the token with this hash.
func MayHold(f []byte, h uint64) bool {
	return bitsSet(f[filterHead:], h, int(f[1]))
}

// Describe says in words what a filter is, for dumps.
func Describe(f []byte) string {
	k := KindOf(f)
	if k == 0 {
		return "of an unknown kind"
	}
	return fmt.Sprintf("%s, %d bits, %d a token", [...]string{WordTokens: "words", ValueTokens: "values",
		GramTokens: "words and grams"}[k],
		(len(f)-filterHead)*8, f[1])
}
