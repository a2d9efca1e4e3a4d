package jsontext

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Kind is what a value is.
type Kind uint8

// The kinds.
const (
	None Kind = iota // no value stands here
	Object
	Array
	String
	Number
	Bool
	Null
)

func (k Kind) String() string {
	return [...]string{"nothing", "an object", "an array", "a string", "a number", "a boolean", "null"}[k]
}

// maxNesting bounds the nesting of values.
const maxNesting = 128

// maxPlainNumber is how long a number without exponent may be that certainly lies within the range of floats, which end
// at 1.8e308.
const maxPlainNumber = 300

// Reader walks a text. One goroutine at a time.
type Reader struct {
	in    []byte
	p     int
	first bool // nothing was read yet of the object or array that was entered last
	depth int
	err   error
	key   []byte // scratch
	texts []byte // of strings with escapes, since Forget

	// Key is that of the member in hand, until the next Member.
	Key []byte
}

// Of walks a text.
func Of(text []byte) *Reader { return &Reader{in: text} }

// Reset begins with another text and keeps the scratch.
func (r *Reader) Reset(text []byte) {
	*r = Reader{in: text, key: r.key[:0], texts: r.texts[:0]}
}

// Forget lets the room of texts given so far be used again.
func (r *Reader) Forget() { r.texts = r.texts[:0] }

// Mark is how far texts go that were given so far; ForgetTo lets the room of those given later be used again.
func (r *Reader) Mark() int { return len(r.texts) }

// ForgetTo is Forget for the texts given since a Mark.
func (r *Reader) ForgetTo(mark int) { r.texts = r.texts[:mark] }

// Held is the memory of the scratch.
func (r *Reader) Held() int { return cap(r.key) + cap(r.texts) }

// KeptKey is Key, good until Forget.
func (r *Reader) KeptKey() []byte {
	if len(r.key) == 0 || len(r.Key) == 0 || &r.Key[0] != &r.key[0] {
		return r.Key
	}
	at := len(r.texts)
	r.texts = append(r.texts, r.Key...)
	return r.texts[at:len(r.texts):len(r.texts)]
}

// Err returns the reason why the text did not have the expected form.
func (r *Reader) Err() error { return r.err }

// Offset is the place in the text of what was not read yet.
func (r *Reader) Offset() int { return r.p }

// Text is the text that is read.
func (r *Reader) Text() []byte { return r.in }

func (r *Reader) fail(format string, args ...any) bool {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: "+format, append([]any{r.p + 1}, args...)...)
	}
	return false
}

func (r *Reader) unexpected() bool {
	if r.p >= len(r.in) {
		return r.fail("the text ends early")
	}
	return r.fail("unexpected character %q", rune(r.in[r.p]))
}

// blank skips blanks.
func (r *Reader) blank() {
	for r.p < len(r.in) {
		switch r.in[r.p] {
		case ' ', '\t', '\r', '\n':
			r.p++
		default:
			return
		}
	}
}

// Peek is the kind of the value that follows.
func (r *Reader) Peek() Kind {
	if r.err != nil {
		return None
	}
	if r.blank(); r.p == len(r.in) {
		return None
	}
	switch c := r.in[r.p]; {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == '-' || c-'0' <= 9:
		return Number
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	}
	return None
}

// Enter begins an object or an array, which must follow.
func (r *Reader) Enter(k Kind) bool {
	if got := r.Peek(); got != k {
		if r.err == nil && got != None {
			return r.fail("found %s, expected %s", got, k)
		}
		return r.err == nil && r.unexpected()
	}
	if r.depth++; r.depth > maxNesting {
		return r.fail("nesting is deeper than %d", maxNesting)
	}
	r.p++
	r.first = true
	return true
}

// next moves to the next element of an object or array that ends with the given bracket.
func (r *Reader) next(closing byte) bool {
	if r.err != nil {
		return false
	}
	r.blank()
	switch {
	case r.p == len(r.in):
		return r.unexpected()
	case r.in[r.p] == closing:
		r.p++
		r.depth--
		r.first = false
		return false
	case r.first:
		r.first = false
		return true
	case r.in[r.p] != ',':
		return r.unexpected()
	}
	r.p++
	r.blank()
	return true
}

// Member moves to the next member of the object in hand: its value follows. False: that was the last.
func (r *Reader) Member() bool {
	if !r.next('}') {
		return false
	}
	if r.p == len(r.in) || r.in[r.p] != '"' {
		return r.unexpected()
	}
	from, end, plain := r.quoted()
	if r.err != nil {
		return false
	}
	if r.Key = r.in[from:end]; !plain {
		r.key, _, _ = Unescape(r.key[:0], r.in, from)
		r.Key = r.key
	}
	if r.blank(); r.p == len(r.in) || r.in[r.p] != ':' {
		return r.unexpected()
	}
	r.p++
	return true
}

// Element moves to the next element of the array in hand: it follows. False: that was the last.
func (r *Reader) Element() bool { return r.next(']') }

// Past skips blanks and the bytes of a set, for bodies of several values. False: that was the last.
func (r *Reader) Past(set string) bool {
	if r.err != nil {
		return false
	}
	for r.blank(); r.p < len(r.in) && strings.IndexByte(set, r.in[r.p]) >= 0; r.blank() {
		r.p++
	}
	return r.p < len(r.in)
}

// End wants nothing but blanks to follow.
func (r *Reader) End() bool {
	if r.err != nil {
		return false
	}
	r.blank()
	return r.p == len(r.in) || r.unexpected()
}

// String takes the string that follows. The text is good until Forget.
func (r *Reader) String() []byte {
	if k := r.Peek(); k != String {
		r.wrong(k, String)
		return nil
	}
	from, end, plain := r.quoted()
	if r.err != nil || plain {
		return r.in[from:end]
	}
	at := len(r.texts)
	r.texts, _, _ = Unescape(r.texts, r.in, from)
	return r.texts[at:len(r.texts):len(r.texts)]
}

func (r *Reader) wrong(got, want Kind) {
	if got == None {
		r.unexpected()
	} else {
		r.fail("found %s, expected %s", got, want)
	}
}

// Raw takes the value that follows as it is written.
func (r *Reader) Raw() []byte {
	r.blank()
	from := r.p
	if !r.Skip() {
		return nil
	}
	return r.in[from:r.p]
}

// Plain takes the value that follows as text: a string without its quotes, anything else as it is written. ok is false
// for null.
func (r *Reader) Plain() (text []byte, ok bool) {
	switch r.Peek() {
	case String:
		return r.String(), r.err == nil
	case Null:
		r.Skip()
		return nil, false
	}
	text = r.Raw()
	return text, r.err == nil
}

// Skip skips the next value; false if there is none.
func (r *Reader) Skip() bool {
	switch r.Peek() {
	case Object:
		for r.Enter(Object); r.skipMember(); {
		}
	case Array:
		for r.Enter(Array); r.Element(); {
			r.Skip()
		}
	case String:
		r.quoted()
	case Number:
		r.number()
	case Bool:
		if r.in[r.p] == 't' {
			return r.word("true")
		}
		return r.word("false")
	case Null:
		return r.word("null")
	default:
		return r.err == nil && r.unexpected()
	}
	return r.err == nil
}

// skipMember skips a member whose key is not wanted.
func (r *Reader) skipMember() bool {
	if !r.next('}') {
		return false
	}
	if r.p == len(r.in) || r.in[r.p] != '"' {
		return r.unexpected()
	}
	if r.quoted(); r.err != nil {
		return false
	}
	if r.blank(); r.p == len(r.in) || r.in[r.p] != ':' {
		return r.unexpected()
	}
	r.p++
	return r.Skip()
}

func (r *Reader) word(w string) bool {
	end, ok := Word(r.in, r.p, w)
	if !ok {
		return r.unexpected()
	}
	r.p = end
	return true
}

// number goes past a number and checks its form and range.
func (r *Reader) number() {
	from := r.p
	end, ok := NumberEnd(r.in, from)
	if r.p = end; !ok {
		r.unexpected()
		return
	}
	if end-from > maxPlainNumber || bytes.ContainsAny(r.in[from:end], "eE") {
		if _, err := strconv.ParseFloat(string(r.in[from:end]), 64); err != nil {
			r.p = from
			r.fail("number out of range")
		}
	}
}

// quoted goes past a string and checks its escapes. plain: it has none.
func (r *Reader) quoted() (from, end int, plain bool) {
	from = r.p + 1
	if r.p = Plain(r.in, from); r.p < len(r.in) && r.in[r.p] == '"' {
		r.p++
		return from, r.p - 1, true
	}
	var ok bool
	if r.p, ok = StringEnd(r.in, r.p); !ok {
		r.unexpected()
		return from, from, true
	}
	return from, r.p - 1, false
}
