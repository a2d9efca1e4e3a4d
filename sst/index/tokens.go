package index

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"varve/engine/filter"
	"varve/engine/vector"
)

// TokenKind says which tokens a filter holds.
type TokenKind uint8

// The kinds; written to disk, never changed.
const (
	WordTokens  TokenKind = 1 // the words of all values (filter.AppendWords)
	ValueTokens TokenKind = 2 // the values themselves, numbers as 8 bytes little endian
	GramTokens  TokenKind = 3 // the words, and of long ones the grams (grams.go)
)

// maxTokens bounds the distinct tokens of one block; a block with more has no filter.
const maxTokens = 1 << 21

// Tokens gathers the distinct tokens of one block, as hashes. It reuses its memory between blocks. One goroutine at a
// time.
type Tokens struct {
	hashSet
	kind   TokenKind
	grams  hashSet
	words  []uint64 // bit i%64 of word i/64: byte i of the heap at hand is an ASCII letter or digit
	folded []byte
	parts  [][]byte
}

// Reset empties the set for tokens of a kind.
func (t *Tokens) Reset(k TokenKind) {
	t.reset()
	if t.kind = k; k == GramTokens {
		t.grams.reset()
	} else {
		t.grams.list = t.grams.list[:0]
	}
}

// Len is the number of distinct tokens.
func (t *Tokens) Len() int { return len(t.list) }

// Hash is the hash of a token of a kind. It is part of the file format: docs/format/part.md.
func Hash(k TokenKind, token []byte) uint64 {
	h := uint64(len(token)) ^ uint64(k)<<56
	for len(token) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(token))
		token = token[8:]
	}
	if len(token) > 0 {
		var last [8]byte
		copy(last[:], token)
		h = mix(h, binary.LittleEndian.Uint64(last[:]))
	}
	return finish(h)
}

func mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	return hi ^ lo
}

// finish returns the hash that the state h ends in; never 0.
func finish(h uint64) uint64 {
	h = mix(h, 0xA0761D6478BD642F)
	return h | vector.Bit(h == 0)
}

// AddColumn adds the tokens of n rows of a Flat vector of strings or integers.
func (t *Tokens) AddColumn(v *vector.Vector, n int) {
	switch v.Type.Kind() {
	case vector.Bytes:
		t.AddStrings(v.Views[:n], v.Heap)
	case vector.Int64:
		for _, x := range v.Ints[:n] {
			t.add(hashNumber(uint64(x)))
		}
	case vector.Uint64:
		for _, x := range v.Uints[:n] {
			t.add(hashNumber(x))
		}
	}
}

// hashNumber is Hash of a value token of 8 bytes.
func hashNumber(x uint64) uint64 { return finish(mix(8^uint64(ValueTokens)<<56, x)) }

// AddStrings adds the tokens of the strings.
func (t *Tokens) AddStrings(views []vector.View, heap []byte) {
	if t.kind == ValueTokens {
		for _, w := range views {
			t.add(Hash(ValueTokens, heap[w.Off:w.Off+w.Len]))
		}
		return
	}
	wide := t.mark(heap)
	for _, w := range views {
		from, to := int(w.Off), int(w.Off+w.Len)
		if wide && !ASCII(heap[from:to]) {
			t.addWide(heap[from:to])
			continue
		}
		t.addWords(heap, from, to)
	}
}

// AddDigits adds strings that are one word each: lower-case hex digits.
func (t *Tokens) AddDigits(views []vector.View, heap []byte) {
	for _, w := range views {
		t.addWord(heap, int(w.Off), int(w.Off+w.Len))
	}
}

// mark fills words for the bytes of span and reports whether any is not ASCII.
func (t *Tokens) mark(span []byte) (wide bool) {
	if n := len(span)/64 + 1; cap(t.words) < n {
		t.words = make([]uint64, n+n/4)
	} else {
		t.words = t.words[:n]
	}
	words := t.words[:len(span)/64+1]
	var high uint64
	full := len(span) / 64
	for w := range full {
		c := span[w*64 : w*64+64 : w*64+64]
		var m uint64
		for i := 0; i < 64; i += 8 {
			x := binary.LittleEndian.Uint64(c[i:])
			high |= x
			m |= wordBytes(x) << i
		}
		words[w] = m
	}
	var tail [64]byte
	copy(tail[:], span[full*64:])
	var m uint64
	for i := 0; i < 64; i += 8 {
		x := binary.LittleEndian.Uint64(tail[i:])
		high |= x
		m |= wordBytes(x) << i
	}
	words[full] = m
	return high&0x8080808080808080 != 0
}

// wordBytes sets bit i where byte i of x is an ASCII letter or digit.
func wordBytes(x uint64) uint64 {
	const ones = 0x0101010101010101
	low := x & (0x7F * ones)
	small := low | 0x20*ones // letters as small ones; digits stay
	digit := (low + (0x80-'0')*ones) &^ (low + (0x7F-'9')*ones)
	letter := (small + (0x80-'a')*ones) &^ (small + (0x7F-'z')*ones)
	return ((digit | letter) &^ x & (0x80 * ones)) >> 7 * 0x0102040810204080 >> 56
}

// addWords adds the words of the ASCII text span[from:to], whose bits are in words.
func (t *Tokens) addWords(span []byte, from, to int) {
	words := t.words
	var octets [4]int // where the numbers of an address begin
	numbers, last := 0, -2
	for at := from; at < to; {
		m := words[at>>6] >> (at & 63)
		if m == 0 {
			at = (at | 63) + 1
			continue
		}
		at += bits.TrailingZeros64(m)
		start := at
		for at < to { // the shift fills up with zeros, so a run ends at the word's end at the latest
			n := bits.TrailingZeros64(^(words[at>>6] >> (at & 63)))
			at += n
			if n == 0 || at&63 != 0 {
				break
			}
		}
		at = min(at, to)
		if start >= to {
			return
		}
		t.addWord(span, start, at)
		if at-start > 3 || !digits(span[start:at]) {
			numbers = 0
			continue
		}
		if start != last+1 || span[last] != '.' {
			numbers = 0
		}
		if numbers == 4 {
			copy(octets[:], octets[1:])
			numbers = 3
		}
		octets[numbers], last = start, at
		if numbers++; numbers == 4 {
			t.add(hashFolded(span, octets[0], at))
		}
	}
}

func digits(s []byte) bool {
	for _, c := range s {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

// hashFolded is the hash of the word token span[from:to], which holds ASCII letters, digits and dots only: setting bit
// 5 makes letters small and leaves the others.
func hashFolded(span []byte, from, to int) uint64 {
	const fold = 0x2020202020202020
	h := uint64(to-from) ^ uint64(WordTokens)<<56
	for ; to-from >= 8; from += 8 {
		h = mix(h, binary.LittleEndian.Uint64(span[from:])|fold)
	}
	if n := to - from; n > 0 {
		var x uint64
		if from+8 <= len(span) {
			x = binary.LittleEndian.Uint64(span[from:])
		} else {
			for i, c := range span[from:to] {
				x |= uint64(c) << (8 * i)
			}
		}
		mask := uint64(1)<<(8*n) - 1
		h = mix(h, (x|fold)&mask)
	}
	return finish(h)
}

// addWide adds the words of a text that is not ASCII, and those of its folded and of its lower-cased form.
func (t *Tokens) addWide(text []byte) {
	t.parts = filter.AppendWords(t.parts[:0], text, filter.ClosedEdge, filter.ClosedEdge)
	t.folded = filter.AppendFold(t.folded[:0], text)
	t.parts = filter.AppendWords(t.parts, t.folded, filter.ClosedEdge, filter.ClosedEdge)
	t.parts = filter.AppendWords(t.parts, bytes.ToLower(text), filter.ClosedEdge, filter.ClosedEdge)
	for _, w := range t.parts {
		if t.kind == GramTokens && len(w) >= GramText && wholly(w) {
			t.addWord(w, 0, len(w))
		} else {
			t.add(Hash(WordTokens, w))
		}
	}
}

// ASCII reports whether no byte is beyond it.
func ASCII(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if binary.LittleEndian.Uint64(b)&0x8080808080808080 != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
