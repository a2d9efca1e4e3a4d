package filter

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Words are what token filters are made of. A word of a text is
//
//   - a longest run of ASCII letters and digits;
//   - a longest run of other letters and digits that are not Han;
//   - two Han characters side by side (a run of n has n-1 such words): Han text has no blanks;
//   - four numbers of one to three digits with single dots between them, besides the numbers themselves: an address.
//
// Words are compared folded (AppendFold). So every condition that implies a whole word of a text, with or without
// regard to case, implies a word of its filter.

// Edge describes the characters before and after a text that was found inside another text.
type Edge uint8

// The edges.
const (
	OpenEdge   Edge = iota // anything may be there
	ASCIIEdge              // no ASCII letter or digit
	ClosedEdge             // no letter or digit of any kind, or nothing at all
)

// wordClass says which run a character belongs to.
type wordClass uint8

const (
	noWord wordClass = iota
	asciiWord
	wideWord
	hanWord
)

// asciiClass[c] is asciiWord for letters and digits.
var asciiClass = func() (t [utf8.RuneSelf]wordClass) {
	for c := range t {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			t[c] = asciiWord
		}
	}
	return t
}()

// classOf is the class of the character at the beginning of text, and its length.
func classOf(text []byte) (wordClass, int) {
	if text[0] < utf8.RuneSelf {
		return asciiClass[text[0]], 1
	}
	r, size := utf8.DecodeRune(text)
	switch {
	case unicode.Is(unicode.Han, r):
		return hanWord, size
	case unicode.IsLetter(r) || unicode.IsDigit(r):
		return wideWord, size
	}
	return noWord, size
}

// AppendWords appends the words that any text holds, folded, that holds the given one between such edges. With closed
// edges they are all the words of the text itself.
func AppendWords(dst [][]byte, text []byte, left, right Edge) [][]byte {
	text = wholeRunes(text, left, right)
	var address [4]int // where the numbers of an address begin
	numbers, last := 0, -2
	for at := 0; at < len(text); {
		class, size := classOf(text[at:])
		if class == noWord {
			at += size
			continue
		}
		from := at
		var before int // the character before the last one
		for before = at; at < len(text); {
			c, size := classOf(text[at:])
			if c != class {
				break
			}
			if class == hanWord && at > from {
				dst = append(dst, AppendFold(nil, text[before:at+size]))
			}
			before = at
			at += size
		}
		if class == hanWord || from == 0 && !holds(left, class) || at == len(text) && !holds(right, class) {
			numbers = 0
			continue
		}
		dst = append(dst, AppendFold(nil, text[from:at]))
		if class != asciiWord || !octet(text[from:at]) {
			numbers = 0
			continue
		}
		if from != last+1 || text[last] != '.' {
			numbers = 0
		}
		if numbers == 4 {
			copy(address[:], address[1:])
			numbers = 3
		}
		address[numbers], last = from, at
		if numbers++; numbers == 4 {
			dst = append(dst, bytes.Clone(text[address[0]:at]))
		}
	}
	return dst
}

// holds reports whether a run of the class ends at such an edge.
func holds(e Edge, c wordClass) bool { return e == ClosedEdge || e == ASCIIEdge && c == asciiWord }

// octet reports whether the word is a number of at most three digits.
func octet(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(word) <= 3
}

// wholeRunes cuts the parts of characters off that an open edge may have left: as the end or the beginning of a
// character they mean something else than alone.
func wholeRunes(text []byte, left, right Edge) []byte {
	if left == OpenEdge {
		for len(text) > 0 && !utf8.RuneStart(text[0]) {
			text = text[1:]
		}
	}
	if right == OpenEdge {
		for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
			if utf8.RuneStart(text[i]) {
				if !utf8.FullRune(text[i:]) {
					text = text[:i]
				}
				break
			}
		}
	}
	return text
}
