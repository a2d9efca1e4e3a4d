package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// kind is what a word is. Words of fixed text have their text as their kind.
type kind string

const (
	kindEnd        kind = "$end"
	kindIdentifier kind = "IDENTIFIER"
	kindString     kind = "STRING"
	kindNumber     kind = "NUMBER"
	kindDuration   kind = "DURATION"
	kindBytes      kind = "BYTES"
	kindRange      kind = "RANGE"
	kindFlag       kind = "PARSER_FLAG"
)

// word is one word of a query.
type word struct {
	kind kind
	text string        // name, content of a string, or digits as they stand
	num  float64       // value of a number; bytes of a size
	dur  time.Duration // of a duration or a range
	line int           // from 1
	col  int           // from 1, in characters
}

// keywords are words that are never names of labels.
var keywords = map[string]bool{
	"by": true, "without": true, "bool": true, "on": true, "ignoring": true, "group_left": true, "group_right": true,
	"and": true, "or": true, "unless": true, "json": true, "regexp": true, "unpack": true, "logfmt": true,
	"pattern": true, "label_format": true, "line_format": true, "decolorize": true, "drop": true, "keep": true,
	"unwrap": true, "offset": true,
}

// functions are words that are calls where a parenthesis or a clause follows, and names of labels elsewhere.
var functions = func() map[string]bool {
	m := map[string]bool{"ip": true, "bytes": true, "duration": true, "duration_seconds": true, "variants": true,
		"vector": true, "label_replace": true}
	for op := range rangeOps {
		m[string(op)] = true
	}
	for op := range vectorOps {
		m[string(op)] = true
	}
	return m
}()

// symbols are the words of punctuation, the longer ones first.
var symbols = []string{"|=", "|~", "|>", "!=", "!~", "!>", "=~", "==", ">=", "<=", "=", "|", "{", "}", "(", ")", ",",
	">", "<", "+", "-", "*", "/", "%", "^", "."}

// lexer cuts a query into words.
type lexer struct {
	src  string
	pos  int // next byte
	line int
	col  int
}

// advance moves over n bytes.
func (l *lexer) advance(n int) {
	for _, r := range l.src[l.pos : l.pos+n] {
		if r == '\n' {
			l.line, l.col = l.line+1, 1
		} else {
			l.col++
		}
	}
	l.pos += n
}

// fail returns an error at the lexer's place.
func (l *lexer) fail(format string, args ...any) error {
	return &Error{Line: l.line, Col: l.col, Message: fmt.Sprintf(format, args...)}
}

// words cuts the whole text; the last word is the end.
func (l *lexer) words() ([]word, error) {
	var all []word
	for {
		w, err := l.next()
		if err != nil {
			return nil, err
		}
		all = append(all, w)
		if w.kind == kindEnd {
			return all, nil
		}
	}
}

// skipBlank moves over blanks and comments.
func (l *lexer) skipBlank() {
	for l.pos < len(l.src) {
		rest := l.src[l.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			l.advance(1)
		case rest[0] == '#':
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				l.advance(n)
			} else {
				l.advance(len(rest))
			}
		default:
			return
		}
	}
}

// next cuts one word.
func (l *lexer) next() (word, error) {
	l.skipBlank()
	w := word{line: l.line, col: l.col}
	if l.pos == len(l.src) {
		w.kind = kindEnd
		return w, nil
	}
	rest := l.src[l.pos:]
	switch c := rest[0]; {
	case c == '"' || c == '`':
		return l.quoted(w, c)
	case c == '[':
		return l.window(w)
	case isDigit(c) || c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return l.number(w)
	case strings.HasPrefix(rest, "--"):
		n := 2 + nameLength(rest[2:], "-")
		w.kind, w.text = kindFlag, rest[:n]
		l.advance(n)
		return w, nil
	case c == '-':
		if n := durationLength(rest[1:]); n > 0 {
			if d, err := ParseDuration(rest[1 : 1+n]); err == nil {
				w.kind, w.text, w.dur = kindDuration, rest[:1+n], -d
				l.advance(1 + n)
				return w, nil
			}
		}
	}
	if n := nameLength(rest, ""); n > 0 {
		return l.name(w, rest[:n]), nil
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			w.kind, w.text = kind(s), s
			l.advance(len(s))
			return w, nil
		}
	}
	r, n := utf8.DecodeRuneInString(rest)
	if r == utf8.RuneError && n == 1 {
		return w, l.fail(invalidText)
	}
	return w, l.fail("syntax error: unexpected character %s", strconv.QuoteRune(r))
}

// invalidText is the error of a query that is no UTF-8. A string may hold other bytes by escapes such as \xff.
const invalidText = "invalid UTF-8 encoding"

// quoted cuts a string in double quotes or backquotes.
func (l *lexer) quoted(w word, quote byte) (word, error) {
	rest := l.src[l.pos:]
	n := 1
	for n < len(rest) && rest[n] != quote {
		if quote == '"' && rest[n] == '\\' {
			n++
		} else if quote == '"' && rest[n] == '\n' {
			break
		}
		n++
	}
	if n >= len(rest) || rest[n] != quote {
		return w, l.fail("literal not terminated")
	}
	n++
	if !utf8.ValidString(rest[:n]) {
		return w, l.fail(invalidText)
	}
	text := rest[1 : n-1] // a raw string keeps its bytes, carriage returns included
	if quote == '"' {
		var err error
		if text, err = strconv.Unquote(rest[:n]); err != nil {
			return w, l.fail("invalid string %s: %v", rest[:n], err)
		}
	}
	w.kind, w.text = kindString, text
	l.advance(n)
	return w, nil
}

// window cuts a range in brackets.
func (l *lexer) window(w word) (word, error) {
	rest := l.src[l.pos:]
	n := strings.IndexByte(rest, ']')
	if n < 0 {
		return w, l.fail("missing closing ']' in duration")
	}
	text := strings.TrimSpace(rest[1:n])
	d, err := ParseDuration(text)
	if err != nil {
		return w, l.fail("%v", err)
	}
	if d <= 0 {
		return w, l.fail("duration must be greater than 0: %q", text)
	}
	w.kind, w.text, w.dur = kindRange, rest[:n+1], d
	l.advance(n + 1)
	return w, nil
}

// number cuts a duration, a size in bytes or a number.
func (l *lexer) number(w word) (word, error) {
	rest := l.src[l.pos:]
	if n := durationLength(rest); n > 0 {
		if d, err := ParseDuration(rest[:n]); err == nil {
			w.kind, w.text, w.dur = kindDuration, rest[:n], d
			l.advance(n)
			return w, nil
		}
	}
	n := numberLength(rest)
	if letters := lettersLength(rest[n:]); letters > 0 {
		if size, err := ParseBytes(rest[:n+letters]); err == nil {
			w.kind, w.text, w.num = kindBytes, rest[:n+letters], float64(size)
			l.advance(n + letters)
			return w, nil
		}
	}
	v, err := strconv.ParseFloat(rest[:n], 64)
	if err != nil {
		return w, l.fail("unable to parse literal as a float: %v", err)
	}
	w.kind, w.text, w.num = kindNumber, rest[:n], v
	l.advance(n)
	return w, nil
}

// name makes a word of a name: a keyword or a function, in any case, or an identifier.
func (l *lexer) name(w word, text string) word {
	l.advance(len(text))
	w.kind, w.text = kindIdentifier, text
	if lower := strings.ToLower(text); keywords[lower] || functions[lower] && l.callFollows() {
		w.kind = kind(lower)
	}
	return w
}

// callFollows reports whether a parenthesis or a clause comes next.
func (l *lexer) callFollows() bool {
	ahead := *l
	ahead.skipBlank()
	rest := ahead.src[ahead.pos:]
	word := strings.ToLower(rest[:nameLength(rest, "")])
	return strings.HasPrefix(rest, "(") || word == "by" || word == "without"
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nameLength is the length of the name that s begins with; extra are further bytes that may stand in it.
func nameLength(s, extra string) int {
	for i, r := range s {
		letter := r == '_' || r < utf8.RuneSelf && unicode.IsLetter(r)
		if !letter && !(i > 0 && r < utf8.RuneSelf && isDigit(byte(r))) && !strings.ContainsRune(extra, r) {
			return i
		}
	}
	return len(s)
}

// numberLength is the length of the number that s begins with, at least 1.
func numberLength(s string) int {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		n := 2
		for n < len(s) && strings.IndexByte("0123456789abcdefABCDEF_", s[n]) >= 0 {
			n++
		}
		if n > 2 {
			return n
		}
	}
	n := digits(s)
	if n < len(s) && s[n] == '.' {
		n += 1 + digits(s[n+1:])
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		e := n + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if d := digits(s[e:]); d > 0 {
			n = e + d
		}
	}
	return max(n, 1)
}

// digits is the number of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// lettersLength is the number of letters that s begins with.
func lettersLength(s string) int {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z') {
		n++
	}
	return n
}

// durationLength is the length of what s begins with and may be a duration: digits and points with letters of units,
// ending in a letter. 0: it is none.
func durationLength(s string) int {
	n, unit := 0, false
	for n < len(s) {
		switch {
		case isDigit(s[n]) || s[n] == '.':
			n, unit = n+1, false
		case strings.IndexByte("nusmhdwy", s[n]) >= 0:
			n, unit = n+1, true
		case strings.HasPrefix(s[n:], "µ") || strings.HasPrefix(s[n:], "μ"):
			n, unit = n+2, true
		default:
			if !unit || nameLength(s[n:], "") > 0 {
				return 0
			}
			return n
		}
	}
	if !unit {
		return 0
	}
	return n
}
