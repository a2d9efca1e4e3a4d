package value

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON appends a value as compact JSON with keys in order. Floats always have a point or an exponent (infinities are
// null), timestamps are RFC 3339 in UTC, regular expressions their text, and bad UTF-8 becomes U+FFFD.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case NullKind:
		return append(dst, "null"...)
	case BoolKind:
		return strconv.AppendBool(dst, v.Bool())
	case IntKind:
		return strconv.AppendInt(dst, v.Int(), 10)
	case FloatKind:
		return AppendFloat(dst, v.Float())
	case StringKind:
		return AppendQuoted(dst, v.Str())
	case TimestampKind:
		dst = AppendTime(append(dst, '"'), v.Nanos())
		return append(dst, '"')
	case RegexKind:
		return AppendQuoted(dst, v.Regex().Source)
	case ArrayKind:
		dst = append(dst, '[')
		for i, item := range v.Array().items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, item)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i := range v.Object().members {
		m := &v.Object().members[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendQuoted(dst, m.Key), ':')
		dst = AppendJSON(dst, m.Value)
	}
	return append(dst, '}')
}

// AppendJSONIndent is AppendJSON over several lines, two blanks a level; empty containers stay on one.
func AppendJSONIndent(dst []byte, v Value) []byte { return appendIndent(dst, v, 1) }

func appendIndent(dst []byte, v Value, level int) []byte {
	switch {
	case v.kind == ArrayKind && v.Array().Len() > 0:
		dst = append(dst, '[')
		for i, item := range v.Array().items {
			dst = appendIndent(newLine(dst, i, level), item, level+1)
		}
		return append(newLine(dst, 0, level-1), ']')
	case v.kind == ObjectKind && v.Object().Len() > 0:
		dst = append(dst, '{')
		for i, m := range v.Object().members {
			dst = append(AppendQuoted(newLine(dst, i, level), m.Key), ": "...)
			dst = appendIndent(dst, m.Value, level+1)
		}
		return append(newLine(dst, 0, level-1), '}')
	}
	return AppendJSON(dst, v)
}

// newLine starts the line of the i-th member.
func newLine(dst []byte, i, level int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, "  "...)
	}
	return dst
}

// AppendFloat appends the shortest decimal text that reads back as x, with a point or an exponent: 5.0, 0.1, 1e+300 as
// 1e300. From 1e16 on and below 1e-5 it has an exponent. Infinities are null.
func AppendFloat(dst []byte, x float64) []byte {
	if math.IsInf(x, 0) {
		return append(dst, "null"...)
	}
	if abs := math.Abs(x); abs != 0 && (abs < 1e-5 || abs >= 1e16) {
		start := len(dst)
		dst = strconv.AppendFloat(dst, x, 'e', -1, 64)
		// The exponent has a sign and at least two digits: 1e+20, 1e-07.
		for i := start; i < len(dst); i++ {
			if dst[i] != 'e' {
				continue
			}
			i++
			tail := dst[i:]
			if tail[0] == '+' {
				tail = tail[1:]
			} else {
				i++
				tail = tail[1:]
			}
			if tail[0] == '0' {
				tail = tail[1:]
			}
			return append(dst[:i], tail...)
		}
		return dst
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, ".0"...)
}

// AppendTime appends an instant as RFC 3339 in UTC with Z and no, 3, 6 or 9 digits of the second's fraction.
func AppendTime(dst []byte, ns int64) []byte {
	layout := "2006-01-02T15:04:05Z"
	if frac := ns % 1e9; frac != 0 {
		switch {
		case frac%1e6 == 0:
			layout = "2006-01-02T15:04:05.000Z"
		case frac%1e3 == 0:
			layout = "2006-01-02T15:04:05.000000Z"
		default:
			layout = "2006-01-02T15:04:05.000000000Z"
		}
	}
	return time.Unix(0, ns).UTC().AppendFormat(dst, layout)
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends a string in JSON quotes.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
			dst = append(append(dst, s[from:i]...), "\uFFFD"...)
			i++
			from = i
			continue
		}
		dst = append(append(dst, s[from:i]...), '\\')
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\n':
			dst = append(dst, 'n')
		case '\r':
			dst = append(dst, 'r')
		case '\t':
			dst = append(dst, 't')
		case '\b':
			dst = append(dst, 'b')
		case '\f':
			dst = append(dst, 'f')
		default:
			dst = append(dst, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
