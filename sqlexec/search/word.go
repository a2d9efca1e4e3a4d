package search

import (
	"regexp"
	"strings"
	"unicode"
)

// piece is a word, a phrase or a regular expression as it was typed.
type piece struct {
	// 'w' word, 'q' phrase in quotes, 'p' beginning of a word, '~' part of a word, 'r' regular expression, 'i' one in
	// any case
	kind byte
	text string
	at   int
	end  int
}

// Where a word ends besides at blanks and at a closing parenthesis that it did not open.
const (
	alone   = ""   // nowhere
	inList  = ","  // at a comma
	inRange = ".." // at two dots that something follows
)

// piece reads a piece.
func (p *parser) piece(stop string) (piece, error) {
	if p.peek(0) == '/' {
		if found, ok := p.regex(stop); ok {
			return found, nil
		}
	}
	at, part := p.at, p.peek(0) == '~' && !p.ends(p.at+1, stop)
	if part {
		p.at++
		if stop == inRange {
			stop = alone
		}
	}
	var found piece
	var err error
	if p.peek(0) == '"' {
		found, err = p.phrase()
	} else {
		found = p.word(stop)
	}
	if part {
		found.kind, found.at = '~', at
	}
	return found, err
}

// ends reports whether a word ends before the character at a place.
func (p *parser) ends(at int, stop string) bool {
	if at >= len(p.src) || blank(p.src[at]) || p.src[at] == ')' {
		return true
	}
	switch stop {
	case inList:
		return p.src[at] == ','
	case inRange:
		return p.src[at] == '.' && at+1 < len(p.src) && p.src[at+1] == '.' && !p.ends(at+2, alone)
	}
	return false
}

// phrase reads a text in quotes.
func (p *parser) phrase() (piece, error) {
	start := p.at
	var b strings.Builder
	for p.at++; p.at < len(p.src); p.at++ {
		switch r := p.src[p.at]; {
		case r == '"':
			p.at++
			return piece{kind: 'q', text: b.String(), at: start, end: p.at}, nil
		case r == '\\' && p.at+1 < len(p.src):
			p.at++
			b.WriteRune(p.src[p.at])
		default:
			b.WriteRune(r)
		}
	}
	return piece{}, p.fail(start, len(p.src)-start, "this quote is not closed")
}

// word reads up to a blank. Parentheses that it opens are its own. A star at its end that was not escaped makes it the
// beginning of a word.
func (p *parser) word(stop string) piece {
	found := piece{kind: 'w', at: p.at}
	var b strings.Builder
	open, star := 0, false
	for ; p.at < len(p.src); p.at++ {
		r := p.src[p.at]
		if open == 0 && p.at > found.at && p.ends(p.at, stop) || blank(r) || open == 0 && r == ')' {
			break
		}
		star = r == '*'
		switch r {
		case '(':
			open++
		case ')':
			open--
		case '\\':
			if p.at+1 < len(p.src) {
				p.at++
				r = p.src[p.at]
			}
		}
		b.WriteRune(r)
	}
	found.text, found.end = b.String(), p.at
	if star {
		found.kind, found.text = 'p', strings.TrimSuffix(found.text, "*")
	}
	return found
}

// regex reads a regular expression. Text that begins like one but does not end is plain text.
func (p *parser) regex(stop string) (piece, bool) {
	var b strings.Builder
	for i := p.at + 1; i < len(p.src); i++ {
		switch r := p.src[i]; {
		case r == '\\' && i+1 < len(p.src):
			if i++; p.src[i] != '/' {
				b.WriteRune('\\')
			}
			b.WriteRune(p.src[i])
		case r != '/':
			b.WriteRune(r)
		default:
			found := piece{kind: 'r', text: b.String(), at: p.at, end: i + 1}
			if found.end < len(p.src) && p.src[found.end] == 'i' {
				found.kind = 'i'
				found.end++
			}
			if b.Len() == 0 || !p.ends(found.end, stop) {
				return piece{}, false
			}
			p.at = found.end
			return found, true
		}
	}
	return piece{}, false
}

// fieldName reads a name and the colon after it; without a colon, ok is false and nothing is read.
func (p *parser) fieldName() (name piece, ok bool) {
	var b strings.Builder
	for i := p.at; i < len(p.src); i++ {
		r := p.src[i]
		switch {
		case r == '\\' && i+1 < len(p.src):
			i++
			b.WriteRune(p.src[i])
		case r == ':' && i > p.at:
			name = piece{kind: 'w', text: b.String(), at: p.at, end: i}
			if next := i + 1; next < len(p.src) &&
				(p.src[next] == ':' || p.src[next] == '/' && next+1 < len(p.src) && p.src[next+1] == '/') {
				return piece{}, false
			}
			p.at = i + 1
			return name, true
		case unicode.IsLetter(r) || r == '_' || r == '@',
			i > p.at && (unicode.IsNumber(r) || strings.ContainsRune(".-$#", r)):
			b.WriteRune(r)
		default:
			return piece{}, false
		}
	}
	return piece{}, false
}

// beginning is the regular expression of words that begin with a text. Before a letter that is not ASCII no boundary is
// asked for: the expression language knows only boundaries of ASCII words.
func beginning(s string) string {
	if s != "" && (s[0] == '_' || s[0] >= '0' && s[0] <= '9' || s[0] >= 'a' && s[0] <= 'z' ||
		s[0] >= 'A' && s[0] <= 'Z') {
		return `\b` + regexp.QuoteMeta(s)
	}
	return regexp.QuoteMeta(s)
}
