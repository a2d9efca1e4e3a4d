package value

import (
	"strconv"
	"time"

	"varve/engine/jsontext"
)

// AppendJSON appends a value as compact JSON with keys in order. Floats always have a point or an exponent (infinities
// are null), timestamps are RFC 3339 in UTC, regular expressions their text, and bad UTF-8 becomes U+FFFD.
func AppendJSON(dst []byte, v Value) []byte {
	switch v.kind {
	case NullKind:
		return append(dst, "null"...)
	case BoolKind:
		return strconv.AppendBool(dst, v.Bool())
	case IntKind:
		return strconv.AppendInt(dst, v.Int(), 10)
	case FloatKind:
		return jsontext.AppendFloat(dst, v.Float())
	case StringKind:
		return jsontext.AppendString(dst, v.Str())
	case TimestampKind:
		dst = AppendTime(append(dst, '"'), v.Nanos())
		return append(dst, '"')
	case RegexKind:
		return jsontext.AppendString(dst, v.Regex().Source)
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
		dst = append(jsontext.AppendString(dst, m.Key), ':')
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
			dst = append(jsontext.AppendString(newLine(dst, i, level), m.Key), ": "...)
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
