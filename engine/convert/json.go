package convert

import (
	"encoding/json"
	"io"
	"strings"
)

// CompactJSON is JSON text without blanks, keys sorted; ok is false when it is none.
func CompactJSON(src []byte) ([]byte, bool) {
	if settled(src) {
		return src, true
	}
	return decodedJSON(src)
}

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
