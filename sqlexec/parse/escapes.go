package parse

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escaped reads E'..' with backslash escapes; the offset is at the opening quote. Escapes are those of one character,
// bytes as one to three octal digits or x and one or two of hex, and characters as u and four or U and eight of hex.
func (l *lexer) escaped() (string, error) {
	var text strings.Builder
	for i := l.off + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\'' && i+1 < len(l.src) && l.src[i+1] == '\'':
			text.WriteByte('\'')
			i++
		case c == '\'':
			if !utf8.ValidString(text.String()) {
				return "", syntaxError(l.src, Pos(l.off), "escapes of bytes do not make valid UTF-8")
			}
			l.off = i + 1
			return text.String(), nil
		case c == '\\' && i+1 < len(l.src):
			n, err := l.escape(&text, i)
			if err != nil {
				return "", err
			}
			i += n - 1
		default:
			text.WriteByte(c)
		}
	}
	return "", syntaxError(l.src, Pos(l.off), "unterminated string literal")
}

// escape appends what the escape at an offset stands for; n is its length.
func (l *lexer) escape(text *strings.Builder, at int) (n int, err error) {
	switch c := l.src[at+1]; c {
	case 'n', 't', 'r', 'b', 'f':
		text.WriteByte("\n\t\r\b\f"[strings.IndexByte("ntrbf", c)])
	case '0', '1', '2', '3', '4', '5', '6', '7':
		code, digits := l.code(at+1, 3, 8)
		if byte(code) == 0 {
			return 0, syntaxError(l.src, Pos(at), "a text cannot have the character U+0000")
		}
		text.WriteByte(byte(code))
		return 1 + digits, nil
	case 'x':
		code, digits := l.code(at+2, 2, 16)
		if digits == 0 {
			text.WriteByte('x')
			break
		}
		if code == 0 {
			return 0, syntaxError(l.src, Pos(at), "a text cannot have the character U+0000")
		}
		text.WriteByte(byte(code))
		return 2 + digits, nil
	case 'u', 'U':
		return l.character(text, at)
	default:
		text.WriteByte(c)
	}
	return 2, nil
}

// code reads at most most digits of a base.
func (l *lexer) code(at, most, base int) (code uint64, digits int) {
	for digits < most && at+digits < len(l.src) {
		one, err := strconv.ParseUint(l.src[at+digits:at+digits+1], base, 8)
		if err != nil {
			break
		}
		code, digits = code*uint64(base)+one, digits+1
	}
	return code, digits
}

// character appends the character of \uXXXX or \UXXXXXXXX, or of two that are the halves of one.
func (l *lexer) character(text *strings.Builder, at int) (n int, err error) {
	one, n := l.unicode(at)
	if n == 0 {
		return 0, syntaxError(l.src, Pos(at), "invalid escape: \\u needs 4 digits of hex, \\U 8")
	}
	if utf16.IsSurrogate(one) {
		if second, more := l.unicode(at + n); more > 0 {
			if both := utf16.DecodeRune(one, second); both != utf8.RuneError {
				text.WriteRune(both)
				return n + more, nil
			}
		}
	}
	if one == 0 || !utf8.ValidRune(one) {
		return 0, syntaxError(l.src, Pos(at), "invalid escape: there is no such character")
	}
	text.WriteRune(one)
	return n, nil
}

// unicode reads \uXXXX or \UXXXXXXXX; n is its length, 0: there is none.
func (l *lexer) unicode(at int) (r rune, n int) {
	if at+1 >= len(l.src) || l.src[at] != '\\' {
		return 0, 0
	}
	want := 4
	switch l.src[at+1] {
	case 'u':
	case 'U':
		want = 8
	default:
		return 0, 0
	}
	code, digits := l.code(at+2, want, 16)
	if digits != want {
		return 0, 0
	}
	return rune(min(code, utf8.MaxRune+1)), 2 + want
}
