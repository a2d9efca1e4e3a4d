package flatten

import (
	"bytes"
	"unicode/utf16"

	"varve/engine/jsontext"
)

// mendSurrogates replaces halves of surrogate pairs, which sonic refuses, by \ufffd, in a copy.
func mendSurrogates(text []byte) []byte {
	owned := false
	for i := bytes.Index(text, []byte(`\u`)); i >= 0; {
		n, size := 2, 2
		if !escaped(text, i) {
			if r, end, ok := jsontext.Escape(text, i+1); ok && utf16.IsSurrogate(r) {
				if !owned {
					text, owned = bytes.Clone(text), true
				}
				copy(text[i:], `\ufffd`)
				size = 6
			} else if ok {
				size = end - i
			}
			n = size
		}
		next := bytes.Index(text[i+n:], []byte(`\u`))
		if next < 0 {
			break
		}
		i += n + next
	}
	return text
}

// escaped reports whether the backslash at i is itself escaped.
func escaped(text []byte, i int) bool {
	n := 0
	for n < i && text[i-1-n] == '\\' {
		n++
	}
	return n&1 != 0
}
