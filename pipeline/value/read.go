package value

import (
	"fmt"
	"slices"
	"strings"
)

// MaxDepth is how deep containers of a JSON text may nest.
const MaxDepth = 128

// JSONOptions say how to read a JSON text. The zero value reads everything.
type JSONOptions struct {
	// Shallow, if not 0, is the number of levels of containers that become containers; deeper ones stay as their text.
	Shallow int
}

// JSONFault says why and where a text is not JSON. The zero value is: no fault. Its text is made only when asked for.
type JSONFault struct {
	what   faultKind
	offset int
}

type faultKind uint8

const (
	noFault faultKind = iota
	endOfValue
	endOfObject
	endOfArray
	endOfString
	wantValue
	wantWord
	wantKey
	wantColon
	wantCommaOrBrace
	wantCommaOrBracket
	badTrailing
	badEscape
	badControl
	badSurrogate
	badNumber
	bigNumber
	tooDeep
	trailingComma
)

var faultTexts = [...]string{
	endOfValue:         "EOF while parsing a value",
	endOfObject:        "EOF while parsing an object",
	endOfArray:         "EOF while parsing a list",
	endOfString:        "EOF while parsing a string",
	wantValue:          "expected value",
	wantWord:           "expected ident",
	wantKey:            "key must be a string",
	wantColon:          "expected `:`",
	wantCommaOrBrace:   "expected `,` or `}`",
	wantCommaOrBracket: "expected `,` or `]`",
	badTrailing:        "trailing characters",
	badEscape:          "invalid escape",
	badControl:         "control character (\\u0000-\\u001F) found while parsing a string",
	badSurrogate:       "lone leading surrogate in hex escape",
	badNumber:          "invalid number",
	bigNumber:          "number out of range",
	tooDeep:            "recursion limit exceeded",
	trailingComma:      "trailing comma",
}

// Failed reports whether there is a fault.
func (f JSONFault) Failed() bool { return f.what != noFault }

// In is the message of a fault in a text: "<why> at line L column C", columns in bytes from 1.
func (f JSONFault) In(text string) string {
	before := text[:min(f.offset, len(text))]
	line := 1 + strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	column := f.offset - start + 1
	if f.offset >= len(text) {
		column = len(text) - start
	}
	return fmt.Sprintf("%s at line %d column %d", faultTexts[f.what], line, column)
}

// jsonReader is the scratch of reading: members of the objects and items of the arrays that are still open.
type jsonReader struct {
	members  []Member
	prefixes []uint64 // the first eight bytes of each key of members, as a number that compares like the bytes
	items    []Value
	order    []uint32
}

// jsonText is a text being read.
type jsonText struct {
	*jsonReader
	arena   *Arena
	text    string
	at      int
	shallow int
	fault   faultKind
}

// ReadJSON reads one JSON value. Strings without escapes are views of the text; everything else is in the arena.
// Numbers without fraction and exponent are integers if they fit 64 bits with sign; all other numbers are floats,
// correctly rounded. Of equal keys the last one counts. Bytes that are not UTF-8 stay in strings unchanged.
func ReadJSON(a *Arena, text string, o JSONOptions) (Value, JSONFault) {
	t := jsonText{arena: a, text: text, shallow: MaxDepth + 1}
	if o.Shallow > 0 {
		t.shallow = o.Shallow
	}
	if a != nil {
		t.jsonReader = &a.json
	} else {
		t.jsonReader = new(jsonReader)
	}
	t.members, t.prefixes, t.items = t.members[:0], t.prefixes[:0], t.items[:0]
	t.blanks()
	v := t.value(1)
	if t.fault == noFault {
		if t.blanks(); t.at < len(text) {
			t.fault = badTrailing
		}
	}
	if t.fault != noFault {
		return Value{}, JSONFault{t.fault, t.at}
	}
	return v, JSONFault{}
}

func (t *jsonText) fail(f faultKind) Value {
	if t.fault == noFault {
		t.fault = f
	}
	return Value{}
}

// blanks skips white space.
func (t *jsonText) blanks() {
	s, i := t.text, t.at
	for i < len(s) && s[i] <= ' ' && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	t.at = i
}

// value reads the value that starts at the place, a container at the given level.
func (t *jsonText) value(level int) Value {
	if t.at >= len(t.text) {
		return t.fail(endOfValue)
	}
	switch c := t.text[t.at]; c {
	case '"':
		return String(t.string())
	case '{', '[':
		if level > MaxDepth {
			return t.fail(tooDeep)
		}
		if level > t.shallow {
			start := t.at
			t.skipContainer(level)
			return String(t.text[start:t.at])
		}
		if c == '{' {
			return t.object(level)
		}
		return t.array(level)
	case 't':
		return t.word("true", Bool(true))
	case 'f':
		return t.word("false", Bool(false))
	case 'n':
		return t.word("null", Value{})
	default:
		if c == '-' || c-'0' <= 9 {
			return t.number()
		}
		return t.fail(wantValue)
	}
}

func (t *jsonText) word(w string, v Value) Value {
	for i := range len(w) {
		if t.at >= len(t.text) {
			return t.fail(endOfValue)
		}
		if t.text[t.at] != w[i] {
			return t.fail(wantWord)
		}
		t.at++
	}
	return v
}

// skipContainer goes past a container that stays text.
func (t *jsonText) skipContainer(level int) {
	members, items := len(t.members), len(t.items)
	shallow := t.shallow
	t.shallow = MaxDepth + 1
	if t.text[t.at] == '{' {
		t.object(level)
	} else {
		t.array(level)
	}
	t.shallow = shallow
	t.members, t.prefixes, t.items = t.members[:members], t.prefixes[:members], t.items[:items]
}

func (t *jsonText) array(level int) Value {
	base := len(t.items)
	t.at++
	t.blanks()
	if t.at < len(t.text) && t.text[t.at] == ']' {
		t.at++
		return t.arena.Array(0).Of()
	}
	for {
		v := t.value(level + 1)
		if t.fault != noFault {
			if t.fault == endOfValue {
				t.fault = endOfArray
			}
			return Value{}
		}
		t.items = append(t.items, v)
		t.blanks()
		if t.at >= len(t.text) {
			return t.fail(endOfArray)
		}
		c := t.text[t.at]
		if c == ']' {
			t.at++
			break
		}
		if c != ',' {
			return t.fail(wantCommaOrBracket)
		}
		t.at++
		if t.blanks(); t.at < len(t.text) && t.text[t.at] == ']' {
			return t.fail(trailingComma)
		}
	}
	l := t.arena.Array(len(t.items) - base)
	l.items = append(l.items, t.items[base:]...)
	for _, item := range l.items {
		l.adopt(item)
	}
	t.items = t.items[:base]
	return l.Of()
}

func (t *jsonText) object(level int) Value {
	base, sorted, last := len(t.members), true, uint64(0)
	t.at++
	t.blanks()
	if t.at < len(t.text) && t.text[t.at] == '}' {
		t.at++
		return t.arena.Object(0).Of()
	}
	for {
		if t.at >= len(t.text) {
			return t.fail(endOfObject)
		}
		if t.text[t.at] != '"' {
			return t.fail(wantKey)
		}
		key := t.string()
		if t.fault != noFault {
			return Value{}
		}
		t.blanks()
		if t.at >= len(t.text) {
			return t.fail(endOfObject)
		}
		if t.text[t.at] != ':' {
			return t.fail(wantColon)
		}
		t.at++
		t.blanks()
		v := t.value(level + 1)
		if t.fault != noFault {
			return Value{}
		}
		p := prefix(key)
		if n := len(t.members); n > base && (p < last || p == last && key <= t.members[n-1].Key) {
			sorted = false
		}
		last = p
		t.members = append(t.members, Member{key, v})
		t.prefixes = append(t.prefixes, p)
		t.blanks()
		if t.at >= len(t.text) {
			return t.fail(endOfObject)
		}
		c := t.text[t.at]
		if c == '}' {
			t.at++
			break
		}
		if c != ',' {
			return t.fail(wantCommaOrBrace)
		}
		t.at++
		if t.blanks(); t.at < len(t.text) && t.text[t.at] == '}' {
			return t.fail(trailingComma)
		}
	}
	return t.endObject(base, sorted).Of()
}

// endObject makes the object of the members from base on.
func (t *jsonText) endObject(base int, sorted bool) *Object {
	members, prefixes := t.members[base:], t.prefixes[base:]
	o := t.arena.Object(len(members) + spareFields)
	if sorted {
		o.members = append(o.members, members...)
	} else {
		order := t.order[:0]
		for i := range members {
			order = append(order, uint32(i))
		}
		sortMembers(order, members, prefixes)
		for i, at := range order {
			if i+1 < len(order) && members[order[i+1]].Key == members[at].Key {
				continue
			}
			o.members = append(o.members, members[at])
		}
		t.order = order
	}
	for i := range o.members {
		o.adopt(o.members[i].Value)
	}
	t.members, t.prefixes = t.members[:base], t.prefixes[:base]
	return o
}

// sortMembers orders the positions of members by key, equal keys as they stood.
func sortMembers(order []uint32, members []Member, prefixes []uint64) {
	less := func(x, y uint32) bool {
		if prefixes[x] != prefixes[y] {
			return prefixes[x] < prefixes[y]
		}
		return members[x].Key < members[y].Key
	}
	if len(order) > 48 {
		slices.SortStableFunc(order, func(x, y uint32) int {
			switch {
			case less(x, y):
				return -1
			case less(y, x):
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(order); i++ {
		at := order[i]
		j := i
		for ; j > 0 && less(at, order[j-1]); j-- {
			order[j] = order[j-1]
		}
		order[j] = at
	}
}

// prefix is the first eight bytes of a key as a number that compares like them, short keys padded with zeros.
func prefix(s string) uint64 {
	if len(s) >= 8 {
		return uint64(s[7]) | uint64(s[6])<<8 | uint64(s[5])<<16 | uint64(s[4])<<24 |
			uint64(s[3])<<32 | uint64(s[2])<<40 | uint64(s[1])<<48 | uint64(s[0])<<56
	}
	var p uint64
	for i := range len(s) {
		p |= uint64(s[i]) << (56 - 8*i)
	}
	return p
}
