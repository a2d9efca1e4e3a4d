package flatten

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bytedance/sonic/utf8"

	"varve/engine/jsontext"
	"varve/engine/schema"
)

// Members reads single JSON objects, such as the lines of a file. It finds the members with some names and leaves their
// types to the caller. Like the predictive reader, it remembers the last key at each position and compares bytes. One
// goroutine at a time.
type Members struct {
	names  map[string]int
	raw    []bool // nil: none is
	places []keyAt
	d      Decoder // its buffer is the object's text
}

// keyAt is the key at a place of the last objects: its text with quotes and colon, and its number among the names; -1:
// none of them.
type keyAt struct {
	text []byte
	name int
}

// Cell is the value of a name in an object. The text of a Given cell is the content of a string, or any other value as
// written; the text of a raw name is the value as written, also for strings.
type Cell struct {
	State    CellState
	Off, End int // of its text
}

// CellState distinguishes an absent member from a null member.
type CellState uint8

// The states of a cell.
const (
	Absent CellState = iota
	Null
	Given
)

// errNoObject is the error of a text that is another value.
var errNoObject = errors.New("every line must hold one JSON object")

// NewMembers makes a reader of the members with the names. raw[k]: the text of name k is JSON; nil: that of none is.
func NewMembers(names []string, raw []bool) *Members {
	m := &Members{names: map[string]int{}, raw: raw, d: Decoder{input: input{newlines: true}}}
	for k, name := range names {
		m.names[name] = k
	}
	return m
}

// Pad appends the zeros that Read needs behind a text.
func Pad(text []byte) []byte { return append(text, make([]byte, padBytes)...) }

// Read sets the cells of an object, one for each name, and appends their text to dst. text comes from Pad. Of several
// members with the same name the last counts.
func (m *Members) Read(text []byte, cells []Cell, dst []byte) ([]byte, error) {
	clear(cells)
	n := len(text) - padBytes
	b, d := text, &m.d
	d.buf = text
	defer func() { d.buf = nil }()
	valid := utf8.Validate(b[:n])
	i := d.blank(0)
	if b[i] != '{' {
		if end, f := d.skip(i, 1); f == fine && d.blank(end) == n {
			return dst, errNoObject
		}
		return dst, broken(badSyntax, i)
	}
	i = d.blank(i + 1)
	for place := 0; b[i] != '}' || place > 0; place++ {
		name, next, f := m.key(i, place)
		if f != fine {
			return dst, broken(f, next)
		}
		if i = d.blank(next); name < 0 {
			i, f = d.skip(i, 2)
		} else {
			from := len(dst)
			cells[name], dst, i, f = m.value(i, dst, m.raw != nil && m.raw[name])
			if !valid && f == fine && !utf8.Validate(dst[from:]) {
				return dst, errors.New("a string is not UTF-8")
			}
		}
		if f != fine {
			return dst, broken(f, i)
		}
		if i = d.blank(i); b[i] == '}' {
			break
		}
		if b[i] != ',' {
			return dst, broken(badSyntax, i)
		}
		i = d.blank(i + 1)
	}
	if i = d.blank(i + 1); i != n {
		return dst, broken(badSyntax, i)
	}
	return dst, nil
}

func broken(f fault, i int) error { return fmt.Errorf("invalid JSON at byte %d: %s", i+1, f) }

// key reads the key at i with its colon, and gives the number of its name.
func (m *Members) key(i, place int) (name, end int, f fault) {
	b, d := m.d.buf, &m.d
	if place < len(m.places) {
		if p := &m.places[place]; len(p.text) > 0 && bytes.HasPrefix(b[i:], p.text) {
			return p.name, i + len(p.text), fine
		}
	}
	if b[i] != '"' {
		return -1, i, badSyntax
	}
	start := i
	key, end, ok := jsontext.Unescape(d.scratch[:0], b, i+1)
	d.scratch = key
	if !ok {
		return -1, end, badSyntax
	}
	plainly := end-i == len(key)+2
	if i = d.blank(end); b[i] != ':' {
		return -1, i, badSyntax
	}
	name, ok = m.names[string(key)]
	if !ok {
		name = -1
	}
	if plainly && place < schema.MaxColumns {
		for len(m.places) <= place {
			m.places = append(m.places, keyAt{name: -1})
		}
		p := &m.places[place]
		p.text, p.name = append(p.text[:0], b[start:i+1]...), name
	}
	return name, i + 1, fine
}

// value reads the value at i and appends its text; raw: as it is written.
func (m *Members) value(i int, dst []byte, raw bool) (c Cell, text []byte, end int, f fault) {
	b, off := m.d.buf, len(dst)
	switch {
	case b[i] == '"' && !raw:
		j := jsontext.Plain(b, i+1)
		if b[j] == '"' {
			dst, end = append(dst, b[i+1:j]...), j+1
			break
		}
		var ok bool
		if dst, end, ok = jsontext.Unescape(dst, b, i+1); !ok {
			return c, dst, end, badSyntax
		}
	case b[i] == 'n':
		if end, ok := jsontext.Word(b, i, "null"); !ok {
			return c, dst, end, badSyntax
		}
		return Cell{State: Null}, dst, i + 4, fine
	default:
		if end, f = m.d.skip(i, 2); f == badRange && (b[i] == '-' || b[i]-'0' < 10) {
			f = fine // the caller's type may take it, or says so better
		}
		if f != fine {
			return c, dst, end, f
		}
		dst = append(dst, b[i:end]...)
	}
	return Cell{Given, off, len(dst)}, dst, end, fine
}
