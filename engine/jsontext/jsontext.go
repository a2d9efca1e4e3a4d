// Package jsontext reads and writes JSON text. All readers of documents in the tree take their tokens from here and
// make trees or columns of them.
//
//	token.go      strings, escapes, numbers and words, in text or bytes
//	reader.go     a walk over a document in place
//	over.go       where a value ends, without reading what is in it
//	jsontext.go   strings and floats are written: of each there is one form, which stored texts and answers have in common
//
// # Reader
//
// The reader walks objects and arrays in place; texts without escapes are sub-slices of the document. It makes no tree
// and uses no reflection. Values that the caller skips are checked like the rest.
//
//	r := jsontext.Of(body)
//	for r.Enter(jsontext.Object); r.Member(); {
//		switch string(r.Key) {
//		case "name":
//			name = r.String()
//		default:
//			r.Skip()
//		}
//	}
//	if r.End(); r.Err() != nil { ... }
//
// After an error the reader does not move: loops end and texts are empty. The reader takes text to be UTF-8; the caller
// checks a body for that once.
package jsontext

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendString appends text in quotes. Only quotes, backslashes and control characters are escaped; what is not UTF-8
// becomes U+FFFD, byte by byte.
func AppendString[T string | []byte](dst []byte, text T) []byte {
	return append(AppendEscaped(append(dst, '"'), text), '"')
}

// AppendEscaped is AppendString without the quotes around the text.
func AppendEscaped[T string | []byte](dst []byte, text T) []byte {
	const hex = "0123456789abcdef"
	from, i := 0, 0
	for i+8 <= len(text) && allPlain(eight(text, i)) {
		i += 8
	}
	for ; i < len(text); i++ {
		c := text[i]
		if standsPlain[c] {
			continue
		}
		if c >= utf8.RuneSelf {
			if size := runeSize(text[i:]); size > 0 {
				i += size - 1
				continue
			}
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			if c >= utf8.RuneSelf {
				dst = append(dst, "\uFFFD"...)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, text[from:]...)
}

// eight are the bytes of text from i on as a word.
func eight[T string | []byte](text T, i int) uint64 {
	b := text[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 |
		uint64(b[6])<<48 | uint64(b[7])<<56
}

// allPlain reports whether eight bytes are plain.
func allPlain(x uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, escape := x^'"'*ones, x^'\\'*ones
	// The highest bit of a byte is set where it was, or where the byte is less than what is taken away from it.
	return (x|(x-' '*ones)|(quote-ones)|(escape-ones))&high == 0
}

// standsPlain are the bytes that stand for themselves in a JSON string, whatever is around them.
var standsPlain = func() (t [256]bool) {
	for b := range utf8.RuneSelf {
		t[b] = b >= ' ' && b != '"' && b != '\\'
	}
	return t
}()

// runeSize is the length of the character that text begins with; 0: it is none.
func runeSize[T string | []byte](text T) int {
	var head [utf8.UTFMax]byte
	r, size := utf8.DecodeRune(head[:copy(head[:], text)])
	if r == utf8.RuneError && size <= 1 {
		return 0
	}
	return size
}

// AppendFloat appends x as AppendDecimal does. JSON has no infinities and no NaN: they are null.
func AppendFloat(dst []byte, x float64) []byte {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return append(dst, "null"...)
	}
	return AppendDecimal(dst, x, 64)
}

// AppendDecimal appends the shortest decimal text that reads back as a finite float of so many bits and is seen to be
// one: 1.0, 0.00001, 1e-6, 1e16. From 1e16 on and below 1e-5 it has an exponent.
func AppendDecimal(dst []byte, x float64, bits int) []byte {
	start := len(dst)
	if a := math.Abs(x); a != 0 && (a < 1e-5 || a >= 1e16) {
		dst = strconv.AppendFloat(dst, x, 'e', -1, bits)
		// Go writes e+16 and e-07: the plus sign and the zero are removed.
		i := start + bytes.IndexByte(dst[start:], 'e') + 1
		sign, digits := dst[i:i+1], dst[i+1:]
		if sign[0] == '+' {
			sign = nil
		}
		if digits[0] == '0' {
			digits = digits[1:]
		}
		return append(dst[:i+len(sign)], digits...)
	}
	dst = strconv.AppendFloat(dst, x, 'f', -1, bits)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, '.', '0')
	}
	return dst
}
