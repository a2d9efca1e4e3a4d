package flatten

import "bytes"

// mendSurrogates replaces halves of surrogate pairs, which sonic refuses, by \ufffd, in a copy.
func mendSurrogates(text []byte) []byte {
	owned := false
	for i := bytes.Index(text, []byte(`\u`)); i >= 0; {
		n, size := 2, 2
		if !escaped(text, i) {
			b := append(text[i+2:min(i+14, len(text)):min(i+14, len(text))], make([]byte, padBytes)...)
			if r, end, ok := unicode(b, 0); ok && r == 0xFFFD {
				if !owned {
					text, owned = bytes.Clone(text), true
				}
				copy(text[i:], `\ufffd`)
				size = 6
			} else if ok {
				size = 2 + end
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
