package index

import (
	"encoding/binary"
)

// Grams find what is within a word. A gram is six neighbouring characters of a word of ASCII letters and digits, as
// small letters. Of each window of seven neighbouring grams, which span twelve characters, the gram of the least order
// is in the filter. A text of twelve and more characters has whole windows, and so has every word that holds it: the
// grams that are chosen of the text are all among those of the word. Random ids have a chosen gram for every four
// characters.
const (
	gramSize   = 6
	gramWindow = 7
	// GramText is the least length of a text that grams find within words.
	GramText = gramSize + gramWindow - 1
	// wholeWord is the length up to which words are also tokens of GramTokens. A longer one has 14 windows and more,
	// so at least two grams, mostly four: they show its absence as surely as a token.
	wholeWord = 24
	// gramHashes is the number of bits of a gram. A lookup mostly asks for several grams, so that few bits do.
	gramHashes = 3
)

// gramAt is the gram at span[at:], its letters small.
func gramAt(span []byte, at int) uint64 {
	const fold, mask = 0x202020202020, 1<<(8*gramSize) - 1
	if at+8 <= len(span) {
		return (binary.LittleEndian.Uint64(span[at:]) | fold) & mask
	}
	var x uint64
	for i, c := range span[at : at+gramSize] {
		x |= uint64(c) << (8 * i)
	}
	return x | fold
}

// gramOrder orders grams: as hashes do, so that no character is preferred.
func gramOrder(gram uint64) uint64 { return (gram ^ gram>>23) * 0x9E3779B97F4A7C15 }

// hashGram is the hash of a gram.
func hashGram(gram uint64) uint64 { return finish(mix(gramSize^uint64(GramTokens)<<56, gram)) }

// eachGram calls f with the hashes of the chosen grams of the word span[from:to]; equal ones may come again.
func eachGram(span []byte, from, to int, f func(h uint64)) {
	var orders [gramWindow]uint64 // of the last grams, that at place i in i%gramWindow
	least, at := uint64(0), -1    // of the window, and its place
	for i := from; i+gramSize <= to; i++ {
		o := gramOrder(gramAt(span, i))
		orders[i%gramWindow] = o
		changed := true
		switch {
		case at < 0 || o <= least:
			least, at = o, i
		case i-at >= gramWindow: // the least has left the window
			least, at = o, i
			for k := i - gramWindow + 1; k < i; k++ {
				if orders[k%gramWindow] < least {
					least, at = orders[k%gramWindow], k
				}
			}
		default:
			changed = false
		}
		if whole := i - from + 1 - gramWindow; whole == 0 || whole > 0 && changed {
			f(hashGram(gramAt(span, at)))
		}
	}
}

// AppendGrams appends the hashes of the grams that a filter of GramTokens holds, if a word of its block holds text:
// ASCII letters and digits, in any case. Texts shorter than GramText have none.
func AppendGrams(dst []uint64, text []byte) []uint64 {
	eachGram(text, 0, len(text), func(h uint64) { dst = append(dst, h) })
	return dst
}

// InGrams reports whether a word is in filters of GramTokens by its grams alone.
func InGrams(word []byte) bool { return len(word) > wholeWord && wholly(word) }

// wholly reports whether a text is nothing but ASCII letters and digits.
func wholly(text []byte) bool {
	for ; len(text) >= 8; text = text[8:] {
		if wordBytes(binary.LittleEndian.Uint64(text)) != 0xFF {
			return false
		}
	}
	var last [8]byte
	copy(last[:], text)
	return wordBytes(binary.LittleEndian.Uint64(last[:])) == 1<<len(text)-1
}

// MayHoldGrams is false if the filter, of GramTokens, lacks one of the grams.
func MayHoldGrams(f []byte, grams []uint64) bool {
	body := f[filterHead:]
	for _, h := range grams {
		if !bitsSet(body, h, gramHashes) {
			return false
		}
	}
	return true
}

// bitsSet reports whether the bits of a hash are set.
func bitsSet(body []byte, h uint64, hashes int) bool {
	m := uint64(len(body)) * 8
	a, b := uint32(h), uint32(h>>32)|1
	for range hashes {
		i := uint64(a) * m >> 32
		if body[i>>3]>>(i&7)&1 == 0 {
			return false
		}
		a += b
	}
	return true
}

// setBits sets the bits of hashes.
func setBits(body []byte, list []uint64, hashes int) {
	m := uint64(len(body)) * 8
	for _, h := range list {
		a, b := uint32(h), uint32(h>>32)|1
		for range hashes {
			i := uint64(a) * m >> 32
			body[i>>3] |= 1 << (i & 7)
			a += b
		}
	}
}

// hashSet is distinct hashes, none of them 0.
type hashSet struct {
	list  []uint64 // in the order in which they came
	slots []uint64 // the same by hash; 0: free
}

// minSlots is the number of slots of an empty set.
const minSlots = 1 << 12

// reset empties the set.
func (s *hashSet) reset() {
	if len(s.slots) == 0 || len(s.slots) > minSlots && len(s.list)*8 < len(s.slots) {
		s.slots = make([]uint64, max(minSlots, len(s.slots)/4)) // what is large stays in no cache
	} else {
		clear(s.slots)
	}
	s.list = s.list[:0]
}

// add adds a hash and reports whether it is new.
func (s *hashSet) add(h uint64) bool {
	mask := uint64(len(s.slots) - 1)
	at := h & mask
	for s.slots[at] != 0 {
		if s.slots[at] == h {
			return false
		}
		at = (at + 1) & mask
	}
	s.slots[at] = h
	s.list = append(s.list, h)
	if len(s.list)*4 > len(s.slots)*3 {
		s.rehash()
	}
	return true
}

func (s *hashSet) rehash() {
	s.slots = make([]uint64, 2*len(s.slots))
	mask := uint64(len(s.slots) - 1)
	for _, h := range s.list {
		at := h & mask
		for s.slots[at] != 0 {
			at = (at + 1) & mask
		}
		s.slots[at] = h
	}
}

// addWord adds the word span[from:to] of ASCII letters and digits.
func (t *Tokens) addWord(span []byte, from, to int) {
	if t.kind != GramTokens || to-from < GramText {
		t.add(hashFolded(span, from, to))
		return
	}
	if to-from > wholeWord || t.add(hashFolded(span, from, to)) {
		eachGram(span, from, to, func(h uint64) { t.grams.add(h) })
	}
}
