package parse

import (
	"strings"
	"unicode/utf8"
)

// Place returns the line and column of a position, both from 1. Columns count characters.
func Place(src string, at Pos) (line, column int) {
	head := src[:min(int(at), len(src))]
	line = strings.Count(head, "\n") + 1
	return line, utf8.RuneCountInString(head[strings.LastIndexByte(head, '\n')+1:]) + 1
}

// tokenLength is how many characters the token at a position has, 0 at the end of the text. It is for marks below a text
// that may be no SQL at all: a quote that is not closed goes to the end of its line.
func tokenLength(src string, at Pos) int {
	rest := src[min(int(at), len(src)):]
	if line := strings.IndexByte(rest, '\n'); line >= 0 {
		rest = rest[:line]
	}
	if rest == "" {
		return 0
	}
	end := 0
	switch c := rest[0]; {
	case c == '\'' || c == '"' || c == '`':
		if end = strings.IndexByte(rest[1:], c) + 2; end == 1 {
			end = len(rest)
		}
	case isWordStart(c) || isDigit(c):
		for end < len(rest) && (isWordStart(rest[end]) || isDigit(rest[end])) {
			end++
		}
	default:
		if end = operatorLength(rest); end == 0 {
			return 1
		}
	}
	return utf8.RuneCountInString(rest[:end])
}
