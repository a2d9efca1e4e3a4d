package file

import (
	"strings"
	"time"
)

// Bind puts the range of a statement in place of :from and :to, which are times in ms. Texts, quoted names and comments
// stay as they are.
func Bind(text string, from, to int64) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '\'' || c == '"' || c == '`':
			n := quoted(text[i:], c)
			b.WriteString(text[i : i+n])
			i += n
		case (c == 'e' || c == 'E') && strings.HasPrefix(text[i+1:], "'") && (i == 0 || !wordByte(text[i-1])):
			n := 1 + escaped(text[i+1:])
			b.WriteString(text[i : i+n])
			i += n
		case c == '$':
			n := dollars(text[i:])
			b.WriteString(text[i : i+n])
			i += n
		case strings.HasPrefix(text[i:], "--"):
			n := until(text[i:], "\n")
			b.WriteString(text[i : i+n])
			i += n
		case strings.HasPrefix(text[i:], "/*"):
			n := until(text[i:], "*/")
			b.WriteString(text[i : i+n])
			i += n
		case strings.HasPrefix(text[i:], "::"):
			b.WriteString("::")
			i += 2
		case c == ':':
			n, at := parameter(text[i:], from, to)
			b.WriteString(at)
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// parameter returns the bytes of the parameter that a text begins with, and what stands for it.
func parameter(text string, from, to int64) (n int, value string) {
	for _, p := range [...]struct {
		name string
		ms   int64
	}{{":from", from}, {":to", to}} {
		rest, ok := strings.CutPrefix(text, p.name)
		if ok && (rest == "" || !wordByte(rest[0])) {
			at := time.UnixMilli(p.ms).UTC().Format("2006-01-02T15:04:05.000Z")
			return len(p.name), "'" + at + "'::TIMESTAMP(3)"
		}
	}
	return 1, text[:1]
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// quoted is the length of the quoted text that text begins with: a doubled quote stands for one.
func quoted(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] == quote {
			if i+1 < len(text) && text[i+1] == quote {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(text)
}

// escaped is the length of the quoted text that text begins with, in which a backslash escapes what follows.
func escaped(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] != '\'':
		case i+1 < len(text) && text[i+1] == '\'':
			i++
		default:
			return i + 1
		}
	}
	return len(text)
}

// dollars is the length of the text between dollars, as $$text$$ or $tag$text$tag$, that text begins with; of a dollar
// that begins none, 1.
func dollars(text string) int {
	n := 1
	for n < len(text) && wordByte(text[n]) && (n > 1 || text[n] < '0' || text[n] > '9') {
		n++
	}
	if n == len(text) || text[n] != '$' {
		return 1
	}
	n++
	return n + until(text[n:], text[:n])
}

// until is the length of text up to the end of mark; without it, of all.
func until(text, mark string) int {
	if i := strings.Index(text, mark); i >= 0 {
		return i + len(mark)
	}
	return len(text)
}
