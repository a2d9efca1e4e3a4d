package jsontext

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is the input of tokens. The functions here take a position in it and return the position after the token, or the
// position of the first byte that does not fit. The length of the text as a result means that the text ends too early.
type Text interface{ string | []byte }

const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	quotes  = ones * '"'
	slashes = ones * '\\'
	blanks  = ones * ' '
)

// Plain returns the position of the first byte from i on that a string cannot contain unescaped: a quote, a backslash
// or a control character; without one, the length of the text.
func Plain[T Text](s T, i int) int {
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		// A byte equal to c is zero after xor, and only zero borrows; a byte under 0x20 borrows when 0x20 is taken.
		// What a borrow spills over lies above the first hit.
		if m := (((w ^ quotes) - ones) | ((w ^ slashes) - ones) | (w - blanks)) &^ w & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for i < len(s) && plainASCII(s[i]) {
		i++
	}
	return i
}

func plainASCII(c byte) bool { return c != '"' && c != '\\' && c >= ' ' }

// StringEnd goes past the rest of a string from i on, with its closing quote.
func StringEnd[T Text](s T, i int) (end int, ok bool) {
	for {
		i = Plain(s, i)
		if i >= len(s) || s[i] != '\\' {
			break
		}
		i++
		if i < len(s) && escapes[s[i]] != 0 {
			i++
			continue
		}
		if i >= len(s) || s[i] != 'u' {
			return i, false
		}
		if _, i, ok = Hex4(s, i+1); !ok {
			return i, false
		}
	}
	if i >= len(s) || s[i] != '"' {
		return i, false
	}
	return i + 1, true
}

// Unescape appends the text of the rest of a string from i on, and moves past its closing quote. Half of a surrogate
// pair reads as U+FFFD.
func Unescape[T Text](dst []byte, s T, i int) (text []byte, end int, ok bool) {
	for {
		j := Plain(s, i)
		dst = append(dst, s[i:j]...)
		if j < len(s) && s[j] == '"' {
			return dst, j + 1, true
		}
		if j >= len(s) || s[j] != '\\' {
			return dst, j, false
		}
		// Most escapes are of one letter: they are not worth a call.
		if j+1 < len(s) && escapes[s[j+1]] != 0 {
			dst = append(dst, escapes[s[j+1]])
			i = j + 2
			continue
		}
		var r rune
		if r, i, ok = Escape(s, j+1); !ok {
			return dst, i, false
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// Unquote reads a string that fills all of m. The result points into m if the string has no escapes, and otherwise into
// new memory. Each byte that is not UTF-8 reads as U+FFFD.
func Unquote(m []byte) (text []byte, ok bool) {
	if len(m) < 2 || m[0] != '"' {
		return nil, false
	}
	end := Plain(m, 1)
	if end == len(m)-1 && m[end] == '"' {
		text, ok = m[1:end], true
	} else if text, end, ok = Unescape(nil, m, 1); end != len(m) {
		return nil, false
	}
	if ok && !utf8.Valid(text) {
		text = []byte(string([]rune(string(text))))
	}
	return text, ok
}

// escapes maps the letter after a backslash to its meaning; 0 for u and for letters without a meaning.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Escape reads the part of an escape after the backslash: a letter, or the digits of a character or of a pair of
// surrogates. Half of a pair without its other half is read as itself.
func Escape[T Text](s T, i int) (r rune, end int, ok bool) {
	if i >= len(s) {
		return 0, i, false
	}
	if c := escapes[s[i]]; c != 0 {
		return rune(c), i + 1, true
	}
	if s[i] != 'u' {
		return 0, i, false
	}
	r, i, ok = Hex4(s, i+1)
	if ok && utf16.IsSurrogate(r) && i+1 < len(s) && s[i] == '\\' && s[i+1] == 'u' {
		low, end, ok := Hex4(s, i+2)
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return pair, end, true
		}
	}
	return r, i, ok
}

// Hex4 reads four hexadecimal digits.
func Hex4[T Text](s T, i int) (r rune, end int, ok bool) {
	for range 4 {
		if i >= len(s) {
			return 0, i, false
		}
		c := s[i]
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, i, false
		}
		r = r<<4 | rune(c)
		i++
	}
	return r, i, true
}

// Word goes past a word.
func Word[T Text](s T, i int, word string) (end int, ok bool) {
	for k := range len(word) {
		if i+k >= len(s) || s[i+k] != word[k] {
			return i + k, false
		}
	}
	return i + len(word), true
}

// NumberEnd goes past a number of any size.
func NumberEnd[T Text](s T, i int) (end int, ok bool) {
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if i, ok = digits(s, i); !ok {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		if i, ok = digits(s, i+1); !ok {
			return i, false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		if i, ok = digits(s, i); !ok {
			return i, false
		}
	}
	return i, true
}

// digits skips at least one digit.
func digits[T Text](s T, i int) (end int, ok bool) {
	from := i
	for i < len(s) && s[i]-'0' <= 9 {
		i++
	}
	return i, i > from
}

// NumberKind says what ParseNumber read.
type NumberKind uint8

// The kinds of numbers.
const (
	NoNumber NumberKind = iota
	TooBig              // beyond float64
	Int
	Float
)

// ParseNumber reads a number. Without point and exponent and within 64 signed bits it is an integer, else a float,
// rounded once.
func ParseNumber[T Text](s T, i int) (end int, kind NumberKind, n int64, x float64) {
	start := i
	neg := i < len(s) && s[i] == '-'
	if neg {
		i++
	}
	first := i
	var mant uint64
	if i < len(s) && s[i] == '0' {
		i++
	} else {
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			mant = mant*10 + uint64(s[i]-'0')
		}
	}
	count := i - first
	if count == 0 {
		return i, NoNumber, 0, 0
	}
	if i < len(s) && (s[i] == '.' || s[i]|0x20 == 'e') {
		return parseFloat(s, start, i, mant, count)
	}
	// 19 digits fit 64 bits without a sign.
	if count <= 19 && mant <= math.MaxInt64 {
		n = int64(mant)
		if neg {
			n = -n
		}
		return i, Int, n, 0
	}
	if neg && count <= 19 && mant == 1<<63 {
		return i, Int, math.MinInt64, 0
	}
	return slowFloat(s, start, i)
}

// parseFloat reads on from the point or exponent at i, behind a mantissa of so many digits.
func parseFloat[T Text](s T, start, i int, mant uint64, count int) (end int, kind NumberKind, n int64, x float64) {
	exp := 0
	if s[i] == '.' {
		i++
		first := i
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			mant = mant*10 + uint64(s[i]-'0')
		}
		if i == first {
			return i, NoNumber, 0, 0
		}
		exp = first - i
		count += i - first
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		minus := i < len(s) && s[i] == '-'
		if minus || i < len(s) && s[i] == '+' {
			i++
		}
		first, e := i, 0
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			if e < 1e6 {
				e = e*10 + int(s[i]-'0')
			}
		}
		if i == first {
			return i, NoNumber, 0, 0
		}
		if minus {
			e = -e
		}
		exp += e
	}
	// A mantissa of 53 bits and a power of ten up to 22 are both exact floats, so one operation rounds right.
	if count > 19 || mant >= 1<<53 || exp < -22 || exp > 22 {
		return slowFloat(s, start, i)
	}
	x = float64(mant)
	if exp < 0 {
		x /= powersOfTen[-exp]
	} else {
		x *= powersOfTen[exp]
	}
	if s[start] == '-' {
		x = -x
	}
	return i, Float, 0, x
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// slowFloat reads a number whose form is right.
func slowFloat[T Text](s T, start, end int) (int, NumberKind, int64, float64) {
	x, err := strconv.ParseFloat(string(s[start:end]), 64)
	if err != nil || math.IsInf(x, 0) {
		return end, TooBig, 0, 0
	}
	return end, Float, 0, x
}
