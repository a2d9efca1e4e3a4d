package client

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Steers reports whether a character may do something to a terminal instead of being seen: control characters, and
// those that turn the direction of the text around them.
func Steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e ||
		r == 0x200f || r == 0x061c || r == 0x2028 || r == 0x2029
}

// Visible shows control characters, and bytes that are no UTF-8, as they are written in strings of programs: a terminal
// is not to be steered by what comes from elsewhere.
func Visible(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, Steers) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				fmt.Fprintf(&b, `\x%02x`, s[i])
				continue
			}
		}
		switch {
		case !Steers(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Line is an error as one line that steers no terminal: its text may be a server's.
func Line(err error) string {
	return Visible(strings.ReplaceAll(strings.TrimSpace(sayFiles(err)), "\n", "; "))
}

// EscapedJSON writes the characters that JSON leaves as they are and that steer a terminal in the other way it has for
// them. Ends of lines between values stay.
func EscapedJSON(text []byte) []byte {
	steers := func(r rune) bool { return Steers(r) && r != '\n' }
	s := string(text)
	if utf8.ValidString(s) && strings.IndexFunc(s, steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return []byte(b.String())
}
