package jsontext

import "bytes"

// Over returns the end of the value at i according to its brackets and quotes, whatever else is wrong with it and
// however deep it is; -1 if they do not show the end.
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

// Next returns the position to continue at after the broken value at i. It is the end of the value, if Over finds it.
// If that end is beyond the value's line, or Over finds none, it is the next line, provided that both lines begin with
// a member of an object, as lines with one object each do. -1 if no position is certain.
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
