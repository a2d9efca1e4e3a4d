package flatten

import (
	"bytes"
	"slices"
	"strconv"

	"varve/engine/jsontext"
)

// jsonText writes values as compact JSON text: keys of objects in byte order, of a repeated key the last, floats with a
// fraction or exponent, only what must be escaped is.
type jsonText struct {
	members []member // of the objects being written, innermost last
	keys    []byte   // their keys, unescaped
	sorted  []byte   // an object being put in order
}

// member is one key of an object being written. Its text in the output, key and value without comma, is from:to.
type member struct {
	key, keyEnd int // in keys
	from, to    int
}

// release releases memory that has grown for an outlier.
func (t *jsonText) release() {
	if cap(t.keys)+cap(t.sorted) > maxSpareScratch || cap(t.members) > maxSpareScratch/32 {
		*t = jsonText{}
	}
}

// reset forgets what a failed value left.
func (t *jsonText) reset() { t.members, t.keys = t.members[:0], t.keys[:0] }

// appendJSON appends the value at i as compact text. nesting is that of the value if it is an object or array.
func (d *Decoder) appendJSON(dst []byte, i, nesting int) (text []byte, end int, f fault) {
	b := d.buf
	switch c := b[i]; c {
	case '"':
		return d.appendJSONString(dst, i+1)
	case '{':
		return d.appendJSONObject(dst, i, nesting)
	case '[':
		return d.appendJSONArray(dst, i, nesting)
	case 't', 'f', 'n':
		word := literals[c>>3&3]
		end, ok := jsontext.Word(b, i, word)
		if !ok {
			return dst, end, badSyntax
		}
		return append(dst, word...), end, fine
	default:
		end, kind, n, x := jsontext.ParseNumber(b, i)
		switch kind {
		case jsontext.Int:
			return strconv.AppendInt(dst, n, 10), end, fine
		case jsontext.Float:
			return jsontext.AppendFloat(dst, x), end, fine
		}
		return dst, end, numberFault[kind]
	}
}

// appendJSONArray appends the array at i.
func (d *Decoder) appendJSONArray(dst []byte, i, nesting int) (text []byte, end int, f fault) {
	if nesting > maxNesting {
		return dst, i, badNesting
	}
	b := d.buf
	dst = append(dst, '[')
	i = d.blank(i + 1)
	if b[i] == ']' {
		return append(dst, ']'), i + 1, fine
	}
	for {
		if dst, i, f = d.appendJSON(dst, i, nesting+1); f != fine {
			return dst, i, f
		}
		i = d.blank(i)
		switch b[i] {
		case ',':
			dst = append(dst, ',')
			i = d.blank(i + 1)
		case ']':
			return append(dst, ']'), i + 1, fine
		default:
			return dst, i, badSyntax
		}
	}
}

// appendJSONObject appends the object at i.
func (d *Decoder) appendJSONObject(dst []byte, i, nesting int) (text []byte, end int, f fault) {
	if nesting > maxNesting {
		return dst, i, badNesting
	}
	b, t := d.buf, &d.text
	start, first, firstKey := len(dst), len(t.members), len(t.keys)
	dst = append(dst, '{')
	i = d.blank(i + 1)
	if b[i] == '}' {
		return append(dst, '}'), i + 1, fine
	}
	rising := true
	for {
		if b[i] != '"' {
			return dst, i, badSyntax
		}
		m := member{key: len(t.keys), from: len(dst)}
		var ok bool
		if t.keys, i, ok = jsontext.Unescape(t.keys, b, i+1); !ok {
			return dst, i, badSyntax
		}
		m.keyEnd = len(t.keys)
		if k := len(t.members); k > first &&
			string(t.keys[t.members[k-1].key:t.members[k-1].keyEnd]) >= string(t.keys[m.key:]) {
			rising = false
		}
		dst = append(jsontext.AppendString(dst, t.keys[m.key:]), ':')
		if i = d.blank(i); b[i] != ':' {
			return dst, i, badSyntax
		}
		t.members = append(t.members, m)
		if dst, i, f = d.appendJSON(dst, d.blank(i+1), nesting+1); f != fine {
			return dst, i, f
		}
		t.members[len(t.members)-1].to = len(dst)
		i = d.blank(i)
		if b[i] == ',' {
			dst = append(dst, ',')
			i = d.blank(i + 1)
			continue
		}
		if b[i] != '}' {
			return dst, i, badSyntax
		}
		if !rising {
			dst = t.reorder(dst, start+1, first)
		}
		t.members, t.keys = t.members[:first], t.keys[:firstKey]
		return append(dst, '}'), i + 1, fine
	}
}

// reorder rewrites the members from first on, whose text begins at start and ends the output, in byte order of their
// keys; of equal keys the last stays.
func (t *jsonText) reorder(dst []byte, start, first int) []byte {
	ms := t.members[first:]
	slices.SortStableFunc(ms, func(x, y member) int {
		return bytes.Compare(t.keys[x.key:x.keyEnd], t.keys[y.key:y.keyEnd])
	})
	t.sorted = t.sorted[:0]
	for k, m := range ms {
		if k+1 < len(ms) && string(t.keys[m.key:m.keyEnd]) == string(t.keys[ms[k+1].key:ms[k+1].keyEnd]) {
			continue
		}
		if len(t.sorted) > 0 {
			t.sorted = append(t.sorted, ',')
		}
		t.sorted = append(t.sorted, dst[m.from:m.to]...)
	}
	return append(dst[:start], t.sorted...)
}

// appendJSONString appends the string that goes on at i, quoted.
func (d *Decoder) appendJSONString(dst []byte, i int) (text []byte, end int, f fault) {
	b := d.buf
	j := jsontext.Plain(b, i)
	if b[j] == '"' {
		dst = append(dst, '"')
		return append(dst, b[i:j+1]...), j + 1, fine
	}
	var ok bool
	d.scratch, end, ok = jsontext.Unescape(d.scratch[:0], b, i)
	if !ok {
		return dst, end, badSyntax
	}
	return jsontext.AppendString(dst, d.scratch), end, fine
}
