package tail

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// steers reports whether a character may do something to a terminal instead of being seen: control characters, and those that
// turn the direction of the text around them.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c || r == 0x2028 || r == 0x2029
}

// escaped shows control characters, and bytes that are no UTF-8, as they are written in strings of programs.
func escaped(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, steers) < 0 {
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
		case !steers(r):
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

// escapedJSON writes the characters that JSON leaves as they are and that steer a terminal in the other way it has for them.
func escapedJSON(text []byte) []byte {
	s := string(text)
	if strings.IndexFunc(s, steers) < 0 {
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
