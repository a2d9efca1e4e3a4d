// Package parse turns SQL text into statements: a lexer with positions, recursive descent for statements, and
// precedence climbing for expressions. It knows the grammar only; the binder checks names, types and values.
//
// # Limits
//
// Text longer than MaxText, nesting deeper than maxDepth, operator chains longer than maxChain, and statements past the
// bounds of limits.go are errors. So time and memory are proportional to the length of any input.
package parse

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/engine/status"
)

// MaxText is the longest text that is parsed: the body limit of the HTTP front.
const MaxText = 64 << 20

// Pos is a byte offset into the text of a request.
type Pos int32

type tokenKind uint8

const (
	tokEOF       tokenKind = iota
	tokWord                // unquoted: an identifier or a keyword; text is folded to lower case
	tokQuoted              // "x" or `x`; quote tells which; text is without quotes
	tokString              // 'x'; text is the value
	tokNumber              // text as written
	tokSpan                // numbers and units of time without a blank, 1h30m; text as written
	tokHex                 // x'ff'; text is the digits
	tokOp                  // punctuation and operators
	tokParameter           // $1; text is the number
)

// token is one lexical unit. [pos, end) is its place in the text.
type token struct {
	kind     tokenKind
	quote    byte // of tokQuoted
	pos, end Pos
	text     string
}

// lexer cuts src into tokens on demand; its only state is the offset, so a parser can go back by setting it.
type lexer struct {
	src  string
	off  int
	nest bool // comments nest, as clients of the wire protocol write them
}

// syntaxError is InvalidSyntax with the place in line and column, both from 1; columns count characters.
func syntaxError(src string, at Pos, format string, args ...any) *status.Error {
	line, column := Place(src, at)
	return status.New(status.InvalidSyntax, "Invalid SQL syntax: %s at line %d, column %d",
		fmt.Sprintf(format, args...), line, column).
		At(line, column, tokenLength(src, at))
}

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// skipSpace moves past blanks and comments.
func (l *lexer) skipSpace() error {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v':
			l.off++
		case c == '-' && strings.HasPrefix(l.src[l.off:], "--"):
			end := strings.IndexByte(l.src[l.off:], '\n')
			if end < 0 {
				l.off = len(l.src)
				return nil
			}
			l.off += end + 1
		case c == '/' && strings.HasPrefix(l.src[l.off:], "/*"):
			end := l.endOfComment()
			if end < 0 {
				return syntaxError(l.src, Pos(l.off), "comment without its end")
			}
			l.off = end
		case c == 0xC2 && strings.HasPrefix(l.src[l.off:], "\u00a0"): // no-break space, from copied text
			l.off += 2
		default:
			return nil
		}
	}
	return nil
}

// endOfComment is the offset behind the comment that begins here; -1: it does not end.
func (l *lexer) endOfComment() int {
	at := l.off + 2
	for depth := 1; depth > 0; {
		star := strings.IndexByte(l.src[at:], '*')
		if star < 0 {
			return -1
		}
		switch star += at; {
		case l.nest && star > at && l.src[star-1] == '/':
			at, depth = star+1, depth+1
		case star+1 < len(l.src) && l.src[star+1] == '/':
			at, depth = star+2, depth-1
		default:
			at = star + 1
		}
	}
	return at
}

// next returns the next token; at the end of the text, tokEOF for ever.
func (l *lexer) next() (token, error) {
	if err := l.skipSpace(); err != nil {
		return token{}, err
	}
	start := l.off
	if start >= len(l.src) {
		return token{kind: tokEOF, pos: Pos(start), end: Pos(start)}, nil
	}
	t := token{pos: Pos(start)}
	c := l.src[start]
	var err error
	switch {
	case c == '\'':
		t.kind = tokString
		t.text, err = l.quoted('\'')
	case c == '$' && strings.HasPrefix(l.src[start:], "$$"):
		t.kind = tokString
		t.text, err = l.dollars()
	case c == '$' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		t.kind = tokParameter
		l.off++
		for l.off < len(l.src) && isDigit(l.src[l.off]) {
			l.off++
		}
		t.text = l.src[start+1 : l.off]
	case c == '$':
		var ok bool
		t.kind = tokString
		if t.text, ok, err = l.tagged(); !ok {
			err = l.operator()
		}
	case c == '"' || c == '`':
		t.kind, t.quote = tokQuoted, c
		t.text, err = l.quoted(c)
		if err == nil && t.text == "" && c == '`' {
			err = syntaxError(l.src, t.pos, "empty identifier")
		}
	case (c == 'x' || c == 'X') && start+1 < len(l.src) && l.src[start+1] == '\'':
		l.off++
		t.kind = tokHex
		t.text, err = l.quoted('\'')
	case (c == 'e' || c == 'E') && start+1 < len(l.src) && l.src[start+1] == '\'':
		l.off++
		t.kind = tokString
		t.text, err = l.escaped()
	case isDigit(c) || c == '.' && start+1 < len(l.src) && isDigit(l.src[start+1]):
		t.kind = tokNumber
		if t.text, err = l.number(); err == nil && l.span() {
			t.kind, t.text = tokSpan, l.src[start:l.off]
		}
	case isWordStart(c):
		t.kind = tokWord
		if err = l.word(); err == nil {
			t.text = strings.ToLower(l.src[start:l.off])
		}
	default:
		t.kind = tokOp
		err = l.operator()
		t.text = l.src[start:l.off]
	}
	t.end = Pos(l.off)
	return t, err
}

// quoted reads a quoted text whose quote is doubled inside; the offset is at the opening quote.
func (l *lexer) quoted(q byte) (string, error) {
	open := l.off
	from := open + 1
	var text strings.Builder
	for {
		n := strings.IndexByte(l.src[from:], q)
		if n < 0 {
			what := "quoted identifier"
			if q == '\'' {
				what = "string literal"
			}
			return "", syntaxError(l.src, Pos(open), "unterminated %s", what)
		}
		end := from + n
		if end+1 < len(l.src) && l.src[end+1] == q {
			text.WriteString(l.src[from : end+1])
			from = end + 2
			continue
		}
		l.off = end + 1
		if text.Len() == 0 {
			return l.src[from:end], nil
		}
		text.WriteString(l.src[from:end])
		return text.String(), nil
	}
}

// dollars reads $$text$$, without escapes inside; the offset is at the first dollar.
func (l *lexer) dollars() (string, error) {
	from := l.off + 2
	n := strings.Index(l.src[from:], "$$")
	if n < 0 {
		return "", syntaxError(l.src, Pos(l.off), "unterminated string literal")
	}
	l.off = from + n + 2
	return l.src[from : from+n], nil
}

// digits moves past digits; an underscore may stand between two of them.
func (l *lexer) digits() {
	for l.off < len(l.src) && isDigit(l.src[l.off]) {
		l.off++
		if l.off+1 < len(l.src) && l.src[l.off] == '_' && isDigit(l.src[l.off+1]) {
			l.off++
		}
	}
}

// number reads 12, 1.5, .5, 1e3, 1_000 and 0xff and gives it as plain digits; a point needs a digit after it unless
// nothing that could be a name follows. A name may not follow at once.
func (l *lexer) number() (text string, err error) {
	start := l.off
	if l.off++; l.src[start] == '0' && l.off < len(l.src) && l.src[l.off]|0x20 == 'x' {
		l.off++
		return l.hexNumber(start)
	}
	l.off = start
	l.decimal()
	if text = l.src[start:l.off]; strings.IndexByte(text, '_') >= 0 {
		text = strings.ReplaceAll(text, "_", "")
	}
	if l.atSpan() {
		return text, nil
	}
	return text, l.endNumber(start)
}

// atSpan reports whether a unit of time follows a number at once.
func (l *lexer) atSpan() bool {
	at := *l
	return at.span()
}

// span moves past a unit of time that directly follows a number, and past the rest of the span: h30m after 1. False if
// there is none.
func (l *lexer) span() bool {
	off := l.off
	for {
		from := off
		for off < len(l.src) && (l.src[off]|0x20 >= 'a' && l.src[off]|0x20 <= 'z') {
			off++
		}
		if !intervalUnits[strings.ToLower(l.src[from:off])] {
			return false
		}
		if off == len(l.src) || !isWordStart(l.src[off]) && !isDigit(l.src[off]) {
			l.off = off
			return true
		}
		for from = off; off < len(l.src) && isDigit(l.src[off]); {
			off++
		}
		if from == off {
			return false
		}
	}
}

// hexNumber reads the digits of a number after its 0x.
func (l *lexer) hexNumber(start int) (text string, err error) {
	from := l.off
	for l.off < len(l.src) && strings.IndexByte("0123456789abcdefABCDEF_", l.src[l.off]) >= 0 {
		l.off++
	}
	if err := l.endNumber(start); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(l.src[from:l.off], "_", ""), 16, 64)
	if err != nil {
		return "", syntaxError(l.src, Pos(start), "number %s has no digits or more than 64 bits", l.src[start:l.off])
	}
	return strconv.FormatUint(n, 10), nil
}

// endNumber is an error where a name follows a number at once: 1kg is neither a number nor one with an alias.
func (l *lexer) endNumber(start int) error {
	if l.off >= len(l.src) || l.src[l.off] >= utf8.RuneSelf || !isWordStart(l.src[l.off]) {
		return nil
	}
	end := l.off
	for end < len(l.src) && (isWordStart(l.src[end]) || isDigit(l.src[end])) {
		end++
	}
	return syntaxError(l.src, Pos(start), "%s is not a number", l.src[start:end])
}

// decimal moves past the digits, the fraction and the exponent of a number.
func (l *lexer) decimal() {
	l.digits()
	if l.off < len(l.src) && l.src[l.off] == '.' &&
		!(l.off+1 < len(l.src) && (isWordStart(l.src[l.off+1]) || l.src[l.off+1] == '.')) {
		l.off++
		l.digits()
	}
	if l.off < len(l.src) && l.src[l.off]|0x20 == 'e' {
		exp := l.off + 1
		if exp < len(l.src) && (l.src[exp] == '+' || l.src[exp] == '-') {
			exp++
		}
		if exp < len(l.src) && isDigit(l.src[exp]) {
			l.off = exp
			l.digits()
		}
	}
}

// word reads letters, digits, _ @ # $; two @ in a row are the operator and end the word.
func (l *lexer) word() error {
	start := l.off
	for l.off < len(l.src) {
		c := l.src[l.off]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(l.src[l.off:])
			if r == utf8.RuneError && size <= 1 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				if l.off > start {
					return nil
				}
				return syntaxError(l.src, Pos(l.off), "unexpected character %q", r)
			}
			l.off += size
		case isWordStart(c) || isDigit(c) || c == '#' || c == '$':
			l.off++
		case c == '@' && !strings.HasPrefix(l.src[l.off:], "@@"):
			l.off++
		default:
			return nil
		}
	}
	return nil
}

// operators are those of more than one character, longer ones first.
var operators = []string{
	"!~~*", "!~~", "~~*", "~~", "!~*", "<=>", "->>", "!~", "~*", "<=", ">=", "<>", "!=", "==", "::", "||", "<<", ">>",
	"@@", "->", "=>", ":=", "**", "//",
}

func (l *lexer) operator() error {
	n := operatorLength(l.src[l.off:])
	if n == 0 {
		r, _ := utf8.DecodeRuneInString(l.src[l.off:])
		return syntaxError(l.src, Pos(l.off), "unexpected character %q", r)
	}
	l.off += n
	return nil
}

// operatorLength is the length of the operator that a text begins with, which is not empty; 0: it begins with none.
func operatorLength(text string) int {
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return len(op)
		}
	}
	if strings.IndexByte("+-*/%^&|~<>=(),.;[]{}:!?@", text[0]) < 0 {
		return 0
	}
	return 1
}
