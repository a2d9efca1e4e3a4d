package value

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainEnd is the first byte from i on that a JSON string does not hold as it is: a quote, a backslash, a control
// character, or the end of the text.
func plainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote := w ^ 0x22*lowBits
		back := w ^ 0x5c*lowBits
		// A byte is 0 when the subtraction borrows into its high bit and it had none; below 0x20 likewise.
		hit := ((quote - lowBits) &^ quote) | ((back - lowBits) &^ back) | ((w - 0x20*lowBits) &^ w)
		if hit &= highBits; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// string reads the string that starts at the place.
func (t *jsonText) string() string {
	start := t.at + 1
	end := plainEnd(t.text, start)
	if end < len(t.text) && t.text[end] == '"' {
		t.at = end + 1
		return t.text[start:end]
	}
	return t.escaped(start, end)
}

// escaped reads a string that has escapes, the first at end.
func (t *jsonText) escaped(start, end int) string {
	b := append(t.arena.Begin(), t.text[start:end]...)
	for {
		if end >= len(t.text) {
			t.at = end
			t.fail(endOfString)
			break
		}
		if c := t.text[end]; c == '"' {
			t.at = end + 1
			break
		} else if c != '\\' {
			t.at = end
			t.fail(badControl)
			break
		}
		var ok bool
		if b, end, ok = t.escape(b, end+1); !ok {
			break
		}
		next := plainEnd(t.text, end)
		b = append(b, t.text[end:next]...)
		end = next
	}
	return t.arena.End(b).Str()
}

// escape reads what follows a backslash.
func (t *jsonText) escape(b []byte, i int) (out []byte, next int, ok bool) {
	if i >= len(t.text) {
		t.at = i
		t.fail(endOfString)
		return b, i, false
	}
	switch c := t.text[i]; c {
	case '"', '\\', '/':
		return append(b, c), i + 1, true
	case 'n':
		return append(b, '\n'), i + 1, true
	case 'r':
		return append(b, '\r'), i + 1, true
	case 't':
		return append(b, '\t'), i + 1, true
	case 'b':
		return append(b, '\b'), i + 1, true
	case 'f':
		return append(b, '\f'), i + 1, true
	case 'u':
		r, ok := t.hex4(i + 1)
		if !ok {
			return b, i, false
		}
		i += 5
		if utf16.IsSurrogate(r) {
			var low rune
			if i+1 < len(t.text) && t.text[i] == '\\' && t.text[i+1] == 'u' {
				if low, ok = t.hex4(i + 2); !ok {
					return b, i, false
				}
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				t.at = i
				t.fail(badSurrogate)
				return b, i, false
			}
			i += 6
		}
		return utf8.AppendRune(b, r), i, true
	}
	t.at = i
	t.fail(badEscape)
	return b, i, false
}

func (t *jsonText) hex4(i int) (r rune, ok bool) {
	for end := i + 4; i < end; i++ {
		if i >= len(t.text) {
			t.at = i
			t.fail(endOfString)
			return 0, false
		}
		d := strings.IndexByte("0123456789abcdef", t.text[i]|0x20)
		if c := t.text[i]; c-'0' <= 9 {
			d = int(c - '0')
		} else if d < 10 {
			t.at = i
			t.fail(badEscape)
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number reads the number that starts at the place.
func (t *jsonText) number() Value {
	s, start := t.text, t.at
	i := start
	negative := s[i] == '-'
	if negative {
		i++
	}
	digits := i
	var n uint64
	for i < len(s) && s[i]-'0' <= 9 {
		n = n*10 + uint64(s[i]-'0') // wraps beyond 19 digits, looked at below
		i++
	}
	count := i - digits
	if count == 0 || count > 1 && s[digits] == '0' {
		t.at = min(digits+min(count, 1), len(s))
		if t.at == len(s) {
			return t.fail(endOfValue)
		}
		return t.fail(badNumber)
	}
	if i >= len(s) || s[i] != '.' && s[i]|0x20 != 'e' {
		t.at = i
		if count <= 18 || count == 19 && (n <= 1<<63-1 || negative && n == 1<<63) {
			if negative {
				return Int(-int64(n))
			}
			return Int(int64(n))
		}
		return t.slowFloat(start, i)
	}
	point := 0 // digits after the point
	if s[i] == '.' {
		from := i + 1
		for i = from; i < len(s) && s[i]-'0' <= 9; i++ {
			n = n*10 + uint64(s[i]-'0')
		}
		if point = i - from; point == 0 {
			return t.cutNumber(i)
		}
		count += point
	}
	exponent := 0
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		minus := i < len(s) && s[i] == '-'
		if minus || i < len(s) && s[i] == '+' {
			i++
		}
		from := i
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			exponent = min(exponent*10+int(s[i]-'0'), 1<<20)
		}
		if i == from {
			return t.cutNumber(i)
		}
		if minus {
			exponent = -exponent
		}
	}
	t.at = i
	exponent -= point
	if count > 19 || n > 1<<53 || exponent < -22 || exponent > 22 {
		return t.slowFloat(start, i)
	}
	// Both are exact, so the one operation rounds once.
	x := float64(n)
	if exponent < 0 {
		x /= pow10[-exponent]
	} else {
		x *= pow10[exponent]
	}
	if negative {
		x = -x
	}
	return Float(x)
}

func (t *jsonText) cutNumber(i int) Value {
	t.at = i
	if i >= len(t.text) {
		return t.fail(endOfValue)
	}
	return t.fail(badNumber)
}

func (t *jsonText) slowFloat(start, end int) Value {
	x, err := strconv.ParseFloat(t.text[start:end], 64)
	if err != nil {
		return t.fail(bigNumber)
	}
	return Float(x)
}
