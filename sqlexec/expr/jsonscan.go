package expr

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// jsonScan walks over a JSON document without making its values. What it is not sure of, escaped names among it, it leaves to
// the decoder.
type jsonScan struct {
	b []byte
	i int
}

// maxScanDepth bounds values inside each other; deeper ones are for the decoder, which has a bound of its own.
const maxScanDepth = 256

// descend follows the members at the beginning of a path through a document and gives the value they lead to, with the rest of
// the path. found is false when there is none, sure when the decoder has to look.
func (p jsonPath) descend(doc []byte) (part []byte, rest jsonPath, found, sure bool) {
	for len(p) > 0 && p[0].kind == '.' {
		s := jsonScan{b: doc}
		s.blank()
		if s.i == len(doc) {
			return nil, nil, false, false
		}
		if doc[s.i] != '{' {
			return nil, nil, false, s.value(0) && s.end()
		}
		from, to, ok := s.member(p[0].name)
		if !ok || !s.end() {
			return nil, nil, false, false
		}
		if to == 0 {
			return nil, nil, false, true
		}
		doc, p, sure = doc[from:to], p[1:], true
	}
	return doc, p, true, sure
}

// find gives the first value that a path leads to in a document.
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

// plainValue is the value of a part of a document that was scanned, when it takes no decoder: a number, a string without
// escapes, true, false or null.
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

// member reads the object that begins here and gives where the value of a member lies, the last one of that name; to is 0 when
// there is none.
func (s *jsonScan) member(name string) (from, to int, ok bool) {
	s.i++
	for first := true; ; first = false {
		s.blank()
		if s.take('}') {
			return from, to, true
		}
		if !first && !s.take(',') {
			return 0, 0, false
		}
		s.blank()
		begin := s.i + 1
		if !s.text() || bytes.IndexByte(s.b[begin:s.i-1], '\\') >= 0 {
			return 0, 0, false
		}
		key := s.b[begin : s.i-1]
		s.blank()
		if !s.take(':') {
			return 0, 0, false
		}
		s.blank()
		at := s.i
		if !s.value(1) {
			return 0, 0, false
		}
		if string(key) == name {
			from, to = at, s.i
		}
	}
}

// value goes past a value.
func (s *jsonScan) value(depth int) bool {
	if s.i == len(s.b) || depth > maxScanDepth {
		return false
	}
	switch c := s.b[s.i]; c {
	case '"':
		return s.text()
	case '{', '[':
		return s.list(depth, c == '{')
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

// list goes past an array or an object.
func (s *jsonScan) list(depth int, object bool) bool {
	last := byte(']')
	if object {
		last = '}'
	}
	s.i++
	for first := true; ; first = false {
		s.blank()
		if s.take(last) {
			return true
		}
		if !first && !s.take(',') {
			return false
		}
		s.blank()
		if object {
			if !s.text() {
				return false
			}
			s.blank()
			if !s.take(':') {
				return false
			}
			s.blank()
		}
		if !s.value(depth + 1) {
			return false
		}
	}
}

// plainText are the bytes of a string that stand for themselves.
var plainText = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return plain
}()

// text goes past a string.
func (s *jsonScan) text() bool {
	if !s.take('"') {
		return false
	}
	i, b := s.i, s.b
	for {
		for i < len(b) && plainText[b[i]] {
			i++
		}
		if i+1 < len(b) && b[i] == '\\' {
			n := escaped(b[i+1:])
			if n == 0 {
				return false
			}
			i += 1 + n
			continue
		}
		s.i = min(i+1, len(b))
		return i < len(b) && b[i] == '"'
	}
}

// escaped is the length of what stands behind a backslash; 0: it is no escape.
func escaped(b []byte) int {
	switch {
	case strings.IndexByte(`"\/bfnrt`, b[0]) >= 0:
		return 1
	case b[0] != 'u' || len(b) < 5:
		return 0
	}
	for _, c := range b[1:5] {
		if c|0x20 < 'a' && c-'0' > 9 || c|0x20 > 'f' {
			return 0
		}
	}
	return 5
}

func (s *jsonScan) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

// number goes past a number.
func (s *jsonScan) number() bool {
	s.take('-')
	from := s.i
	if !s.digits() || s.b[from] == '0' && s.i > from+1 {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

// digits goes past digits, at least one.
func (s *jsonScan) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}

func (s *jsonScan) blank() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\n' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

func (s *jsonScan) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// end reports whether nothing is left but blanks.
func (s *jsonScan) end() bool {
	s.blank()
	return s.i == len(s.b)
}
