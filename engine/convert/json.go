package convert

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/vector"
)

// CompactJSON is JSON text without blanks, keys sorted; ok is false when it is none.
func CompactJSON(src []byte) ([]byte, bool) {
	if settled(src) {
		return src, true
	}
	if doc, ok := ordered(src); ok {
		return doc, true
	}
	return decodedJSON(src)
}

// IsCompactJSON reports whether a text is as CompactJSON gives it, as far as can be seen without its values.
func IsCompactJSON(src []byte) bool { return settled(src) }

func decodedJSON(src []byte) ([]byte, bool) {
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF { // something follows
		return nil, false
	}
	b, err := MarshalJSON(x)
	return b, err == nil
}

// MarshalJSON is x as JSON text without blanks.
func MarshalJSON(x any) ([]byte, error) {
	var s strings.Builder
	e := json.NewEncoder(&s)
	e.SetEscapeHTML(false)
	if err := e.Encode(x); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSuffix(s.String(), "\n")), nil
}

// growSize is the size of a text from which on its memory is allocated once, before it is written.
const growSize = 4 << 10

// AppendString appends a text as a JSON string in the form that MarshalJSON gives it.
func AppendString(dst, text []byte) []byte {
	if len(text) >= growSize {
		dst = slices.Grow(dst, StringSize(text))
	}
	if settledText(text) {
		return jsontext.AppendString(dst, text)
	}
	dst = append(dst, '"')
	for {
		plain := settledPrefix(text)
		dst = jsontext.AppendEscaped(dst, text[:plain])
		if text = text[plain:]; len(text) == 0 {
			return append(dst, '"')
		}
		r, size := utf8.DecodeRune(text)
		switch r {
		case '\u2028':
			dst = append(dst, `\u2028`...)
		case '\u2029':
			dst = append(dst, `\u2029`...)
		default: // no UTF-8
			dst = append(dst, `\ufffd`...)
		}
		text = text[size:]
	}
}

// StringSize is the most bytes that AppendString appends for a text, quotes included.
func StringSize(text []byte) int {
	const escaped = len(`\u0000`)
	size := len(text) + len(`""`)
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			size++
		case c < ' ':
			size += escaped - 1
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
				size += escaped - n
			}
			i += n
			continue
		}
		i++
	}
	return size
}

// scalarParser reads the text of a JSON scalar as a value of a type; objects, arrays and null are none.
func scalarParser(to vector.Type) Func {
	parse := parser(to)
	return func(v *vector.Vector, i int, out *vector.Vector) bool {
		text := v.Bytes(i)
		if len(text) == 0 || text[0] != '"' {
			return string(text) != "null" && parse(v, i, out)
		}
		said, ok := jsontext.Unquote(text)
		return ok && parse(vector.ConstString(string(said)), i, out)
	}
}
