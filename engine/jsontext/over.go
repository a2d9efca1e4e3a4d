package jsontext

import "bytes"

// Over is where the value at i ends as its brackets and quotes tell, whatever else is wrong with it and however deep it
// is; -1: they do not tell.
func Over(b []byte, i int) int {
	depth := 0
	for from := i; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if i >= len(b) {
				return -1
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 || i+1 < len(b) && !ends(b[i+1]) {
				continue
			}
		}
		if depth == 0 {
			return i + 1
		} else if depth < 0 {
			return max(i, from+1)
		}
	}
	return -1
}

// ends reports whether a byte ends a number or a word before it.
func ends(c byte) bool {
	return c <= ' ' || c == ',' || c == '{' || c == '[' || c == '}' || c == ']' || c == '"'
}

// Next is where to read on behind the value at i, which is broken: where it ends as Over tells, or else, and where that
// is past its line, at the next line, if both lines begin with a member of an object, as those of whom each is an
// object do; -1: nobody can tell.
func Next(b []byte, i int) int {
	end := Over(b, i)
	n := bytes.IndexByte(b[i:], '\n')
	if n < 0 || end >= 0 && end <= i+n || !beginsLine(b, i) || !beginsLine(b, i+n+1) {
		return end
	}
	return i + n + 1
}

// beginsLine reports whether a line begins at i, with a member of an object.
func beginsLine(b []byte, i int) bool {
	return (i == 0 || b[i-1] == '\n') && bytes.HasPrefix(b[i:], []byte(`{"`))
}
