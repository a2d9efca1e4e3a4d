package lineproto

import (
	"bytes"
	"math"
	"strconv"
)

// Where a byte of a token has a meaning of its own.
const (
	inMeasurement = 1 << iota // a backslash escapes a comma and a blank
	inKey                     // in keys and values of tags, keys of fields: an equals sign as well
)

// special says in which tokens a byte has a meaning of its own.
var special = [256]uint8{',': inMeasurement | inKey, ' ': inMeasurement | inKey, '\n': inMeasurement | inKey,
	'\\': inMeasurement | inKey, '=': inKey}

// token reads a token from p up to a separator: raw as it is written, and text without escapes, which is good until the
// next call. A backslash before a byte that needs no escape is a byte of the token.
func (d *decoder) token(in []byte, p int, where uint8) (raw, text []byte, end int) {
	begin := p
	if p = skipOrdinary(in, p, where); p == len(in) || in[p] != '\\' {
		return in[begin:p], in[begin:p], p
	}
	d.buf = append(d.buf[:0], in[begin:p]...)
	for p < len(in) {
		c := in[p]
		if c == '\\' {
			if p++; p < len(in) && in[p] != '\n' && in[p] != '\\' && special[in[p]]&where != 0 {
				d.buf = append(d.buf, in[p])
				p++
			} else {
				d.buf = append(d.buf, c)
			}
			continue
		}
		if special[c]&where != 0 {
			break
		}
		d.buf = append(d.buf, c)
		p++
	}
	return in[begin:p], d.buf, p
}

// skipOrdinary skips the bytes of a token that have no meaning of their own.
func skipOrdinary(in []byte, p int, where uint8) int {
	for p < len(in) && special[in[p]]&where == 0 {
		p++
	}
	return p
}

func skipSpaces(in []byte, p int) int {
	for p < len(in) && in[p] == ' ' {
		p++
	}
	return p
}

// atEnd reports whether a line ends at p.
func atEnd(in []byte, p int) bool {
	return p >= len(in) || in[p] == '\n' || in[p] == '\r' && (p+1 == len(in) || in[p+1] == '\n')
}

// value reads the value of a field from p on, and checks that the next field, the time or the next line may begin where
// it ends. A text is in d.text until the next value, any other value in bits.
func (d *decoder) value(in []byte, p int) (k kind, bits uint64, end int, err error) {
	if p == len(in) {
		return 0, 0, 0, errNoFieldValue
	}
	switch c := in[p]; {
	case c-'0' <= 9 || c == '-' || c == '.' || c == '+':
		k, bits, end, err = number(in, p)
	case c == '"':
		k = text
		d.text, end, err = d.quoted(in, p+1)
	case c == ',' || c == ' ' || atEnd(in, p):
		return 0, 0, 0, errNoFieldValue
	default:
		k = booleans
		bits, end, err = boolean(in, p)
	}
	if err == nil && end < len(in) && in[end] != ',' && in[end] != ' ' && !atEnd(in, end) {
		err = errValue
	}
	return k, bits, end, err
}

// number reads a number: an integer with i, one without a sign with u, else a float.
func number(in []byte, p int) (k kind, bits uint64, end int, err error) {
	begin := p
	if in[p] == '-' || in[p] == '+' {
		p++
	}
	first := p
	var n uint64
	for p < len(in) && in[p]-'0' <= 9 {
		n = n*10 + uint64(in[p]-'0')
		p++
	}
	digits, mark := p-first, byte(0)
	if p < len(in) && (digits > 0 || in[p] == '.') {
		mark = in[p]
	}
	var x float64
	switch mark {
	case 'i':
		if digits > safeDigits {
			whole, err := strconv.ParseInt(string(in[begin:p]), 10, 64)
			if err != nil {
				return 0, 0, 0, errInteger
			}
			return integers, uint64(whole), p + 1, nil
		}
		if in[begin] == '-' {
			n = -n
		}
		return integers, n, p + 1, nil
	case 'u':
		if n, err = strconv.ParseUint(string(in[begin:p]), 10, 64); err != nil {
			return 0, 0, 0, errUnsigned
		}
		return unsigned, n, p + 1, nil
	case '.':
		p++
		whole := p
		for p < len(in) && in[p]-'0' <= 9 {
			n = n*10 + uint64(in[p]-'0')
			p++
		}
		fraction := p - whole
		if digits += fraction; digits == 0 || digits > exactDigits || p < len(in) && in[p]|' ' == 'e' {
			return slowFloat(in, begin)
		}
		x = float64(n) / powers[fraction]
	case 'e', 'E':
		return slowFloat(in, begin)
	default:
		if digits == 0 || digits > exactDigits {
			return slowFloat(in, begin)
		}
		x = float64(n)
	}
	if in[begin] == '-' {
		x = -x
	}
	return floats, math.Float64bits(x), p, nil
}

// safeDigits is the number of decimal digits that always fit an int64.
const safeDigits = 18

// exactDigits is the number of decimal digits that a float holds exactly. Divided by a power of ten that a float also
// holds exactly, they give the nearest float.
const exactDigits = 15

var powers = [exactDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
	1e15}

// slowFloat reads a float of any form.
func slowFloat(in []byte, p int) (k kind, bits uint64, end int, err error) {
	begin := p
	for p < len(in) && (in[p]-'0' <= 9 || in[p] == '.' || in[p] == '-' || in[p] == '+' || in[p]|' ' == 'e') {
		p++
	}
	x, perr := strconv.ParseFloat(string(in[begin:p]), 64)
	switch {
	case perr != nil && math.IsInf(x, 0):
		return 0, 0, 0, errRange
	case perr != nil:
		return 0, 0, 0, errValue
	}
	return floats, math.Float64bits(x), p, nil
}

// parseInt reads a whole number, of digits and perhaps a minus.
func parseInt(text []byte) (int64, bool) {
	if len(text) > safeDigits {
		x, err := strconv.ParseInt(string(text), 10, 64)
		return x, err == nil
	}
	digits, negative := bytes.CutPrefix(text, []byte{'-'})
	var x int64
	for _, c := range digits {
		x = x*10 + int64(c-'0')
	}
	if negative {
		x = -x
	}
	return x, len(digits) > 0
}

// boolean reads one of the forms of true and false.
func boolean(in []byte, p int) (bit uint64, end int, err error) {
	end = p
	for end < len(in) && in[end]|' ' >= 'a' && in[end]|' ' <= 'z' {
		end++
	}
	switch string(in[p:end]) {
	case "t", "T", "true", "True", "TRUE":
		return 1, end, nil
	case "f", "F", "false", "False", "FALSE":
		return 0, end, nil
	case "NaN", "nan", "NAN", "Inf", "inf", "INF", "Infinity", "infinity":
		return 0, 0, errNotANumber
	}
	return 0, 0, errValue
}

// quoted reads a string from behind its opening quote on: backslashes escape quotes and backslashes, before other bytes
// they are bytes of the string.
func (d *decoder) quoted(in []byte, p int) (text []byte, end int, err error) {
	n := bytes.IndexByte(in[p:], '"')
	if n < 0 {
		return nil, 0, errQuote
	}
	if text = in[p : p+n]; bytes.IndexByte(text, '\\') < 0 {
		return text, p + n + 1, nil
	}
	d.buf = d.buf[:0]
	for p < len(in) && in[p] != '"' {
		if in[p] == '\\' && p+1 < len(in) && (in[p+1] == '"' || in[p+1] == '\\') {
			p++
		}
		d.buf = append(d.buf, in[p])
		p++
	}
	if p == len(in) {
		return nil, 0, errQuote
	}
	return d.buf, p + 1, nil
}
