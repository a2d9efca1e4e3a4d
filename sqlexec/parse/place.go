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

// tokenLength is how many characters the token at a position has, 0 at the end of the text. It is for marks below a
// text that may be no SQL at all: a quote that is not closed goes to the end of its line.
func tokenLength(src string, at Pos) int {
	rest := line(src, at)
	return utf8.RuneCountInString(rest[:tokenEnd(rest)])
}

// nameLength is tokenLength for a name with all its parts, as schema.table is.
func nameLength(src string, at Pos) int {
	rest := line(src, at)
	end := tokenEnd(rest)
	for startsName(rest) && end+1 < len(rest) && rest[end] == '.' && startsName(rest[end+1:]) {
		end += 1 + tokenEnd(rest[end+1:])
	}
	return utf8.RuneCountInString(rest[:end])
}

// line returns the text from a position to the end of its line.
func line(src string, at Pos) string {
	rest := src[min(int(at), len(src)):]
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

func startsName(text string) bool {
	return text != "" && (text[0] == '"' || text[0] == '`' || isWordStart(text[0]))
}

// tokenEnd is where the token ends that a line begins with, bytes.
func tokenEnd(rest string) int {
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
			_, end = utf8.DecodeRuneInString(rest)
		}
	}
	return end
}
