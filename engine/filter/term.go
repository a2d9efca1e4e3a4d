package filter

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// Word is a compiled matches_term argument (sql.md 13): the term must occur byte for byte at a place where it is a
// whole word. Safe for concurrent use.
type Word struct {
	term        []byte
	kind        termKind
	left, right bool // the term begins, ends with a letter or digit: a neighbour on that side can spoil a hit
}

type termKind uint8

const (
	asciiTerm termKind = iota // neighbours that spoil: ASCII letters and digits
	wideTerm                  // any letter or digit
	hanTerm                   // none: plain substring
)

// NewTerm compiles a term. It keeps term.
func NewTerm(term []byte) *Word {
	t := &Word{term: term}
	for i := 0; i < len(term); {
		r, size := utf8.DecodeRune(term[i:])
		if unicode.Is(unicode.Han, r) {
			t.kind = hanTerm
			return t
		}
		if r >= utf8.RuneSelf {
			t.kind = wideTerm
		}
		i += size
	}
	if len(term) > 0 {
		first, _ := utf8.DecodeRune(term)
		last, _ := utf8.DecodeLastRune(term)
		t.left, t.right = t.spoils(first), t.spoils(last)
	}
	return t
}

// spoils reports whether r is a character that words of the term's kind consist of.
func (t *Word) spoils(r rune) bool {
	if t.kind == asciiTerm {
		return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// within reports whether a part of a text certainly brings the term in: with its neighbours, which are unknown where
// the part is neither the first nor the last.
func (t *Word) within(part []byte, first, last bool) bool {
	if len(t.term) == 0 || t.kind == hanTerm {
		return false
	}
	if !first && len(part) > 0 { // a known character of the part stands for the previous character
		_, size := utf8.DecodeRune(part)
		return len(part) > size && t.in(part, size, last)
	}
	return t.in(part, 0, last)
}

// Match reports whether the text holds the term. The empty term matches only the empty text.
func (t *Word) Match(text []byte) bool {
	if len(t.term) == 0 {
		return len(text) == 0
	}
	if t.kind == hanTerm {
		return bytes.Contains(text, t.term)
	}
	return t.in(text, 0, true)
}

// in looks for the term from a place on. last: nothing follows the text; else what follows is unknown and spoils.
func (t *Word) in(text []byte, from int, last bool) bool {
	for at := from; ; at++ {
		i := bytes.Index(text[at:], t.term)
		if i < 0 {
			return false
		}
		at += i
		if t.left && at > 0 {
			if r, _ := utf8.DecodeLastRune(text[:at]); t.spoils(r) {
				continue
			}
		}
		end := at + len(t.term)
		if t.right && end == len(text) && !last {
			continue
		}
		if t.right && end < len(text) {
			if r, _ := utf8.DecodeRune(text[end:]); t.spoils(r) {
				continue
			}
		}
		return true
	}
}
