package flatten

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// The functions here read tokens from padded text: at its end lies a zero byte and padBytes of slack, so no loop looks
// for the end. A failed read gives the index of the byte that does not fit; at the text's end that is the zero byte,
// by which "cut short" and "wrong" are told apart.

const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	quotes  = ones * '"'
	slashes = ones * '\\'
	blanks  = ones * ' '
)

// plain is the index of the first byte from i on that is a quote, a backslash or a control character.
func plain(b []byte, i int) int {
	for {
		w := binary.LittleEndian.Uint64(b[i:])
		// A byte equal to c is zero after xor, and only zero borrows; a byte under 0x20 borrows when 0x20 is taken. What
		// a borrow spills over lies above the first hit.
		m := (((w ^ quotes) - ones) | ((w ^ slashes) - ones) | (w - blanks)) &^ w & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
}

// unescape appends text from i, inside a string, up to its closing quote, and gives the index after that. A half of a
// surrogate pair reads as U+FFFD.
func unescape(dst, b []byte, i int) (text []byte, end int, ok bool) {
	for {
		j := plain(b, i)
		dst = append(dst, b[i:j]...)
		if b[j] == '"' {
			return dst, j + 1, true
		}
		if b[j] != '\\' {
			return dst, j, false
		}
		c := escapes[b[j+1]]
		i = j + 2
		if c != 0 {
			dst = append(dst, c)
			continue
		}
		if b[j+1] != 'u' {
			return dst, j + 1, false
		}
		var r rune
		if r, i, ok = unicode(b, i); !ok {
			return dst, i, false
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// escapes maps the letter after a backslash to what it stands for; 0: none, or u.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unicode reads the four digits after \u and, for the first half of a pair, the second half.
func unicode(b []byte, i int) (r rune, end int, ok bool) {
	r, i, ok = hex4(b, i)
	if !ok || r < 0xD800 || r > 0xDFFF {
		return r, i, ok
	}
	if r < 0xDC00 && b[i] == '\\' && b[i+1] == 'u' {
		if low, end, ok := hex4(b, i+2); ok && low >= 0xDC00 && low <= 0xDFFF {
			return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, end, true
		}
	}
	return utf8.RuneError, i, true
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte, i int) (r rune, end int, ok bool) {
	for range 4 {
		c := b[i]
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

// numberKind says what number read.
type numberKind uint8

const (
	badNumber numberKind = iota
	bigNumber            // beyond float64
	intNumber
	floatNumber
)

// number reads a number. Literals within 64 signed bits without point or exponent are integers, all others floats.
func number(b []byte, i int) (end int, kind numberKind, n int64, x float64) {
	start := i
	neg := b[i] == '-'
	if neg {
		i++
	}
	first := i
	var mant uint64
	c := b[i] - '0'
	if c == 0 {
		i++
	} else {
		for ; c <= 9; c = b[i] - '0' {
			mant = mant*10 + uint64(c)
			i++
		}
	}
	digits := i - first
	if digits == 0 {
		return i, badNumber, 0, 0
	}
	if b[i] == '.' || b[i]|0x20 == 'e' {
		return float(b, start, i, mant, digits)
	}
	// 19 digits fit 64 bits without a sign.
	if digits <= 19 && mant <= math.MaxInt64 {
		n = int64(mant)
		if neg {
			n = -n
		}
		return i, intNumber, n, 0
	}
	if neg && digits <= 19 && mant == 1<<63 {
		return i, intNumber, math.MinInt64, 0
	}
	return slowFloat(b, start, i)
}

// float reads on from the point or exponent at i.
func float(b []byte, start, i int, mant uint64, digits int) (end int, kind numberKind, n int64, x float64) {
	exp := 0
	if b[i] == '.' {
		i++
		first := i
		for c := b[i] - '0'; c <= 9; c = b[i] - '0' {
			mant = mant*10 + uint64(c)
			i++
		}
		if i == first {
			return i, badNumber, 0, 0
		}
		exp = first - i
		digits += i - first
	}
	if b[i]|0x20 == 'e' {
		i++
		minus := b[i] == '-'
		if minus || b[i] == '+' {
			i++
		}
		first, e := i, 0
		for c := b[i] - '0'; c <= 9; c = b[i] - '0' {
			if e < 1e6 {
				e = e*10 + int(c)
			}
			i++
		}
		if i == first {
			return i, badNumber, 0, 0
		}
		if minus {
			e = -e
		}
		exp += e
	}
	// A mantissa of 53 bits and a power of ten up to 22 are both exact floats, so one operation rounds right.
	if digits > 19 || mant >= 1<<53 || exp < -22 || exp > 22 {
		return slowFloat(b, start, i)
	}
	x = float64(mant)
	if exp < 0 {
		x /= powersOfTen[-exp]
	} else {
		x *= powersOfTen[exp]
	}
	if b[start] == '-' {
		x = -x
	}
	return i, floatNumber, 0, x
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// slowFloat reads a number whose form is right.
func slowFloat(b []byte, start, end int) (int, numberKind, int64, float64) {
	x, err := strconv.ParseFloat(view(b[start:end]), 64)
	if err != nil || math.IsInf(x, 0) {
		return end, bigNumber, 0, 0
	}
	return end, floatNumber, 0, x
}

// literal compares the word at i and gives the index after it, or the index of the byte that differs.
func literal(b []byte, i int, word string) (end int, ok bool) {
	for k := range len(word) {
		if b[i+k] != word[k] {
			return i + k, false
		}
	}
	return i + len(word), true
}

// view is b as a string without a copy: valid until b changes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// fault says why text is not a value.
type fault uint8

const (
	fine       fault = iota
	odd              // well formed so far, but a case for the general reader
	notAnEntry       // well formed, but no entry where only entries may stand
	badSyntax
	badNesting
	badRange
)

// String is the reason as error texts show it.
func (f fault) String() string {
	switch f {
	case badNesting:
		return "nesting is deeper than " + strconv.Itoa(maxNesting)
	case badRange:
		return "number out of range"
	}
	return "unexpected character"
}

// blank skips blanks between tokens; line ends are such only in a stream.
func (d *Decoder) blank(i int) int {
	for {
		switch d.buf[i] {
		case ' ', '\t', '\r':
		case '\n':
			if !d.newlines {
				return i
			}
		default:
			return i
		}
		i++
	}
}

// skip reads the value at i and gives the index after it. nesting is that of the value if it is an object or array.
func (d *Decoder) skip(i, nesting int) (end int, f fault) {
	b := d.buf
	switch c := b[i]; c {
	case '"':
		return skipString(b, i+1)
	case '{', '[':
		return d.skipNested(i, nesting)
	case 't', 'f', 'n':
		end, ok := literal(b, i, literals[c>>3&3])
		if !ok {
			return end, badSyntax
		}
		return end, fine
	default:
		end, kind, _, _ := number(b, i)
		return end, numberFault[kind]
	}
}

// literals by two bits in which their first letters differ.
var literals = [4]string{'t' >> 3 & 3: "true", 'f' >> 3 & 3: "false", 'n' >> 3 & 3: "null"}

var numberFault = [...]fault{badNumber: badSyntax, bigNumber: badRange, intNumber: fine, floatNumber: fine}

// skipString reads on from inside a string.
func skipString(b []byte, i int) (end int, f fault) {
	for {
		i = plain(b, i)
		if b[i] == '"' {
			return i + 1, fine
		}
		if b[i] != '\\' {
			return i, badSyntax
		}
		if escapes[b[i+1]] != 0 {
			i += 2
			continue
		}
		if b[i+1] != 'u' {
			return i + 1, badSyntax
		}
		var ok bool
		if _, i, ok = hex4(b, i+2); !ok {
			return i, badSyntax
		}
	}
}

// skipNested reads the object or array at i.
func (d *Decoder) skipNested(i, nesting int) (end int, f fault) {
	if nesting > maxNesting {
		return i, badNesting
	}
	b := d.buf
	object := b[i] == '{'
	closing := b[i] + 2 // ] and } follow two after [ and {
	i = d.blank(i + 1)
	if b[i] == closing {
		return i + 1, fine
	}
	for {
		if object {
			if b[i] != '"' {
				return i, badSyntax
			}
			if i, f = skipString(b, i+1); f != fine {
				return i, f
			}
			if i = d.blank(i); b[i] != ':' {
				return i, badSyntax
			}
			i = d.blank(i + 1)
		}
		if i, f = d.skip(i, nesting+1); f != fine {
			return i, f
		}
		i = d.blank(i)
		switch b[i] {
		case ',':
			i = d.blank(i + 1)
		case closing:
			return i + 1, fine
		default:
			return i, badSyntax
		}
	}
}
