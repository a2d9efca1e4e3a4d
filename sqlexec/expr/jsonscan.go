package expr

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"varve/engine/jsontext"
)

// descend follows the members at the beginning of a path through a document, without making its values, and returns the
// value they lead to with the rest of the path. found is false when there is none, sure when the decoder has to look:
// what the walk refuses the decoder may take, such as deeper nesting.
func (p jsonPath) descend(doc []byte) (part []byte, rest jsonPath, found, sure bool) {
	for len(p) > 0 && p[0].kind == '.' {
		r := jsontext.Reader{}
		r.Reset(doc)
		if r.Peek() != jsontext.Object {
			return nil, nil, false, r.Skip() && r.End()
		}
		var at []byte
		for r.Enter(jsontext.Object); r.Member(); {
			wanted := string(r.Key) == p[0].name
			if part := r.Raw(); wanted {
				at = part
			}
		}
		if !r.End() {
			return nil, nil, false, false
		}
		if at == nil {
			return nil, nil, false, true
		}
		doc, p, sure = at, p[1:], true
	}
	return doc, p, true, sure
}

// find is the first value that a path leads to in a document.
func (p jsonPath) find(doc []byte) (x any, found bool) {
	part, rest, found, sure := p.descend(doc)
	switch {
	case !sure:
		part, rest = doc, p
	case !found:
		return nil, false
	}
	if sure {
		if x, plain := plainValue(part); plain {
			return rest.first(x)
		}
	}
	if x, found = decodeJSON(part); !found {
		return nil, false
	}
	return rest.first(x)
}

// plainValue is the value of a part of a document that was scanned, when it takes no decoder: a number, a string
// without escapes, true, false or null.
func plainValue(part []byte) (x any, ok bool) {
	switch part[0] {
	case '{', '[', ' ', '\n', '\t', '\r':
		return nil, false
	case '"':
		text := part[1 : len(part)-1]
		return string(text), bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text)
	case 't', 'f':
		return part[0] == 't', true
	case 'n':
		return nil, true
	}
	return json.Number(part), true
}
