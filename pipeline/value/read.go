package value

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// Failed says whether there is a fault.
func (f JSONFault) Failed() bool { return f.what != noFault }

// Offset is the byte at which reading ended.
func (f JSONFault) Offset() int { return f.offset }

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

// ReadJSON reads one JSON value. Strings without escapes are views of the text, all else is of the arena. Numbers without
// fraction and exponent are integers when 64 bits with sign hold them, all others floats, correctly rounded. Of equal keys
// the last one counts. Bytes that are not UTF-8 stay in strings as they are.
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

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// plainEnd is the first byte from i on that a JSON string does not hold as it is: a quote, a backslash, a control
// character, or the end of the text.
func plainEnd(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote := w ^ 0x22*lowBits
		back := w ^ 0x5c*lowBits
		// A byte is 0 when the subtraction borrows into its high bit and it had none; below 0x20 likewise.
		hit := ((quote - lowBits) &^ quote) | ((back - lowBits) &^ back) | ((w - 0x20*lowBits) &^ w)
		if hit &= highBits; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' || c < 0x20 {
			return i
		}
	}
	return i
}

// string reads the string that starts at the place.
func (t *jsonText) string() string {
	start := t.at + 1
	end := plainEnd(t.text, start)
	if end < len(t.text) && t.text[end] == '"' {
		t.at = end + 1
		return t.text[start:end]
	}
	return t.escaped(start, end)
}

// escaped reads a string that has escapes, the first at end.
func (t *jsonText) escaped(start, end int) string {
	b := append(t.arena.Begin(), t.text[start:end]...)
	for {
		if end >= len(t.text) {
			t.at = end
			t.fail(endOfString)
			break
		}
		if c := t.text[end]; c == '"' {
			t.at = end + 1
			break
		} else if c != '\\' {
			t.at = end
			t.fail(badControl)
			break
		}
		var ok bool
		if b, end, ok = t.escape(b, end+1); !ok {
			break
		}
		next := plainEnd(t.text, end)
		b = append(b, t.text[end:next]...)
		end = next
	}
	return t.arena.End(b).Str()
}

// escape reads what follows a backslash.
func (t *jsonText) escape(b []byte, i int) (out []byte, next int, ok bool) {
	if i >= len(t.text) {
		t.at = i
		t.fail(endOfString)
		return b, i, false
	}
	switch c := t.text[i]; c {
	case '"', '\\', '/':
		return append(b, c), i + 1, true
	case 'n':
		return append(b, '\n'), i + 1, true
	case 'r':
		return append(b, '\r'), i + 1, true
	case 't':
		return append(b, '\t'), i + 1, true
	case 'b':
		return append(b, '\b'), i + 1, true
	case 'f':
		return append(b, '\f'), i + 1, true
	case 'u':
		r, ok := t.hex4(i + 1)
		if !ok {
			return b, i, false
		}
		i += 5
		if utf16.IsSurrogate(r) {
			var low rune
			if i+1 < len(t.text) && t.text[i] == '\\' && t.text[i+1] == 'u' {
				if low, ok = t.hex4(i + 2); !ok {
					return b, i, false
				}
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				t.at = i
				t.fail(badSurrogate)
				return b, i, false
			}
			i += 6
		}
		return utf8.AppendRune(b, r), i, true
	}
	t.at = i
	t.fail(badEscape)
	return b, i, false
}

func (t *jsonText) hex4(i int) (r rune, ok bool) {
	for end := i + 4; i < end; i++ {
		if i >= len(t.text) {
			t.at = i
			t.fail(endOfString)
			return 0, false
		}
		d := strings.IndexByte(hexDigits, t.text[i]|0x20)
		if c := t.text[i]; c-'0' <= 9 {
			d = int(c - '0')
		} else if d < 10 {
			t.at = i
			t.fail(badEscape)
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// pow10 holds the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// number reads the number that starts at the place.
func (t *jsonText) number() Value {
	s, start := t.text, t.at
	i := start
	negative := s[i] == '-'
	if negative {
		i++
	}
	digits := i
	var n uint64
	for i < len(s) && s[i]-'0' <= 9 {
		n = n*10 + uint64(s[i]-'0') // wraps beyond 19 digits, looked at below
		i++
	}
	count := i - digits
	if count == 0 || count > 1 && s[digits] == '0' {
		t.at = min(digits+min(count, 1), len(s))
		if t.at == len(s) {
			return t.fail(endOfValue)
		}
		return t.fail(badNumber)
	}
	if i >= len(s) || s[i] != '.' && s[i]|0x20 != 'e' {
		t.at = i
		if count <= 18 || count == 19 && (n <= 1<<63-1 || negative && n == 1<<63) {
			if negative {
				return Int(-int64(n))
			}
			return Int(int64(n))
		}
		return t.slowFloat(start, i)
	}
	point := 0 // digits after the point
	if s[i] == '.' {
		from := i + 1
		for i = from; i < len(s) && s[i]-'0' <= 9; i++ {
			n = n*10 + uint64(s[i]-'0')
		}
		if point = i - from; point == 0 {
			return t.cutNumber(i)
		}
		count += point
	}
	exponent := 0
	if i < len(s) && s[i]|0x20 == 'e' {
		i++
		minus := i < len(s) && s[i] == '-'
		if minus || i < len(s) && s[i] == '+' {
			i++
		}
		from := i
		for ; i < len(s) && s[i]-'0' <= 9; i++ {
			exponent = min(exponent*10+int(s[i]-'0'), 1<<20)
		}
		if i == from {
			return t.cutNumber(i)
		}
		if minus {
			exponent = -exponent
		}
	}
	t.at = i
	exponent -= point
	if count > 19 || n > 1<<53 || exponent < -22 || exponent > 22 {
		return t.slowFloat(start, i)
	}
	// Both are exact, so the one operation rounds once.
	x := float64(n)
	if exponent < 0 {
		x /= pow10[-exponent]
	} else {
		x *= pow10[exponent]
	}
	if negative {
		x = -x
	}
	return Float(x)
}

func (t *jsonText) cutNumber(i int) Value {
	t.at = i
	if i >= len(t.text) {
		return t.fail(endOfValue)
	}
	return t.fail(badNumber)
}

func (t *jsonText) slowFloat(start, end int) Value {
	x, err := strconv.ParseFloat(t.text[start:end], 64)
	if err != nil {
		return t.fail(bigNumber)
	}
	return Float(x)
}
