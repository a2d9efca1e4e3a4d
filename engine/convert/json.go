package convert

import (
	"encoding/json"
	"io"
	"strings"

	"varve/engine/jsontext"
	"varve/engine/vector"
)

// CompactJSON is JSON text without blanks, keys sorted; ok is false when it is none.
func CompactJSON(src []byte) ([]byte, bool) {
	if settled(src) {
		return src, true
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

// AppendString appends a text as a JSON string in the form that MarshalJSON gives it.
func AppendString(dst, text []byte) []byte {
	if !settledText(text) {
		b, err := MarshalJSON(string(text))
		if err != nil { // any text is a JSON string
			panic("convert: a text is no JSON: " + err.Error())
		}
		return append(dst, b...)
	}
	return jsontext.AppendString(dst, text)
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
