package expr

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"varve/engine/convert"
	"varve/engine/jsontext"
	"varve/engine/vector"
)

// descend follows the members at the beginning of a path through a document, without making its values, and returns the
// value they lead to with the rest of the path. found is false when there is none, sure when the decoder has to look:
// what the walk refuses the decoder may take, such as deeper nesting.
func (p jsonPath) descend(doc []byte) (part []byte, rest jsonPath, found, sure bool) {
	if part, found, sure = p.plain(doc); sure {
		return part, nil, found, true
	}
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
		return p.decoded(doc)
	case !found:
		return nil, false
	}
	return rest.value(part)
}

// written is the first value that a path leads to in a document, in its compact form; the documents of a column of JSON
// and texts that would be cast to it are walked alike. sure is false when the decoder has to look.
func (p jsonPath) written(doc []byte) (m []byte, found, sure bool) {
	part, rest, found, sure := p.descend(doc)
	if !sure || !found {
		return nil, false, sure
	}
	if len(rest) > 0 {
		return nil, false, false
	}
	m, ok := convert.CompactJSON(part)
	return m, true, ok
}

// value finds the value at the rest of a path in a part of a document that was scanned.
func (p jsonPath) value(part []byte) (x any, found bool) {
	if x, plain := plainValue(part); plain {
		return p.first(x)
	}
	return p.decoded(part)
}

// decoded is find by the decoder.
func (p jsonPath) decoded(doc []byte) (x any, found bool) {
	if x, found = decodeJSON(doc); !found {
		return nil, false
	}
	return p.first(x)
}

// lookup finds the value at a path in row i of documents; no path leads to nothing.
type lookup func(path jsonPath, ok bool, docs *vector.Vector, i int) (x any, found bool, err error)

// inJSON looks in JSON.
func inJSON(path jsonPath, ok bool, docs *vector.Vector, i int) (any, bool, error) {
	if !ok {
		return nil, false, nil
	}
	x, found := path.find(docs.Bytes(i))
	return x, found, nil
}

// inText looks in texts that would be cast to JSON first: the walk to the value reads the whole document, and so sees
// that it is one. The cast decodes a document and writes it again, unless its keys are sorted.
func inText(path jsonPath, ok bool, docs *vector.Vector, i int) (any, bool, error) {
	doc := docs.Bytes(i)
	if ok {
		part, rest, found, sure := path.descend(doc)
		switch {
		case sure && !found:
			return nil, false, nil
		case sure:
			x, found := rest.value(part)
			return x, found, nil
		}
	}
	compact, valid := convert.CompactJSON(doc)
	if !valid {
		return nil, false, castError(docs, i, vector.JSONType)
	}
	if !ok {
		return nil, false, nil
	}
	x, found := path.find(compact)
	return x, found, nil
}

// lookupIn chooses how to look in documents by a path: a cast of texts to JSON is left out where each row has a path.
func lookupIn(args []Expr) ([]Expr, lookup) {
	cast, ok := args[0].(*Cast)
	if !ok || cast.Try || cast.Arg.Type() != str || !IsConst(args[1]) || args[1].Nullable() {
		return args, inJSON
	}
	return []Expr{cast.Arg, args[1]}, inText
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
