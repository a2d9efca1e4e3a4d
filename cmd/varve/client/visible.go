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
	return string(AppendVisible(nil, []byte(s), ""))
}

// AppendVisible appends a text as Visible shows it, but for the control characters of keep, which stay as they are.
func AppendVisible(dst, text []byte, keep string) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		if c >= ' ' && c < 0x7f {
			dst = append(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size <= 1, r == 0x7f, r < ' ' && strings.IndexByte("\n\t\r"+keep, c) < 0:
			dst = append(dst, `\x`...)
			dst = append(dst, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		case !Steers(r) || r < ' ' && strings.IndexByte(keep, c) >= 0:
			dst = append(dst, text[i:i+size]...)
		case r < ' ':
			dst = append(dst, '\\', "tn  r"[c-'\t'])
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += size
	}
	return dst
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
