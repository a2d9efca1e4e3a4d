// Package jsonwire reads JSON in place, for protocols whose bodies are JSON of a known shape: objects and arrays are walked, texts
// without escapes are sub-slices of the body. No tree, no reflection; what the caller has no use for is skipped, and checked like the rest.
//
//	r := jsonwire.Of(body)
//	for r.Enter(jsonwire.Object); r.Member(); {
//		switch string(r.Key) {
//		case "name":
//			name = r.String()
//		default:
//			r.Skip()
//		}
//	}
//	if r.End(); r.Err() != nil { ... }
//
// After an error nothing moves any more: loops end, texts are empty. Text is taken to be UTF-8, which the caller checks once for a body.
package jsonwire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
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

// Err says why the text is not what was asked for.
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
			return r.fail("%s stands where %s is wanted", got, k)
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

// next moves to what stands in the object or array that closes with a bracket.
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
		r.key = unescape(r.key[:0], r.Key)
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
	r.texts = unescape(r.texts, r.in[from:end])
	return r.texts[at:len(r.texts):len(r.texts)]
}

// AppendString appends the string that follows.
func (r *Reader) AppendString(dst []byte) []byte {
	if k := r.Peek(); k != String {
		r.wrong(k, String)
		return dst
	}
	from, end, plain := r.quoted()
	switch {
	case r.err != nil:
		return dst
	case plain:
		return append(dst, r.in[from:end]...)
	}
	return unescape(dst, r.in[from:end])
}

func (r *Reader) wrong(got, want Kind) {
	if got == None {
		r.unexpected()
	} else {
		r.fail("%s stands where %s is wanted", got, want)
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

// Plain takes the value that follows as text: a string without its quotes, anything else as it is written. ok is false for null.
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

// Skip goes past the value that follows. False: there is none.
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

// skipMember goes past a member, whose key nobody asks for.
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
	if len(r.in)-r.p < len(w) || string(r.in[r.p:r.p+len(w)]) != w {
		return r.unexpected()
	}
	r.p += len(w)
	return true
}

// number goes past a number and checks its form and range.
func (r *Reader) number() {
	from, p, in := r.p, r.p, r.in
	if in[p] == '-' {
		p++
	}
	digits := func() bool {
		begin := p
		for p < len(in) && in[p]-'0' <= 9 {
			p++
		}
		return p > begin
	}
	if p < len(in) && in[p] == '0' {
		p++
	} else if !digits() {
		r.p = p
		r.unexpected()
		return
	}
	whole := p - from
	if p < len(in) && in[p] == '.' {
		p++
		if !digits() {
			r.p = p
			r.unexpected()
			return
		}
	}
	exponent := false
	if p < len(in) && in[p]|' ' == 'e' {
		exponent = true
		if p++; p < len(in) && (in[p] == '+' || in[p] == '-') {
			p++
		}
		if !digits() {
			r.p = p
			r.unexpected()
			return
		}
	}
	r.p = p
	if exponent || whole > 300 {
		if _, err := strconv.ParseFloat(string(in[from:p]), 64); err != nil {
			r.p = from
			r.fail("number out of range")
		}
	}
}

const (
	ones    = 0x0101010101010101
	highs   = 0x8080808080808080
	quotes  = ones * '"'
	slashes = ones * '\\'
	blanks  = ones * ' '
)

// ordinary is the place of the first byte from p on that is a quote, a backslash or a control character.
func ordinary(in []byte, p int) int {
	for ; p+8 <= len(in); p += 8 {
		w := binary.LittleEndian.Uint64(in[p:])
		// Of a byte that is equal the exclusive or is zero, and only zero borrows; what a borrow spills over lies above the first hit.
		if m := (((w ^ quotes) - ones) | ((w ^ slashes) - ones) | (w - blanks)) &^ w & highs; m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
	}
	for p < len(in) && in[p] != '"' && in[p] != '\\' && in[p] >= ' ' {
		p++
	}
	return p
}

// quoted goes past a string and checks its escapes. plain: it has none.
func (r *Reader) quoted() (from, end int, plain bool) {
	from, plain = r.p+1, true
	for r.p = ordinary(r.in, from); r.p < len(r.in); r.p = ordinary(r.in, r.p) {
		switch r.in[r.p] {
		case '"':
			r.p++
			return from, r.p - 1, plain
		case '\\':
			plain = false
			r.p++
			if r.p == len(r.in) {
				r.unexpected()
				return from, from, true
			}
			if r.in[r.p] == 'u' {
				if _, ok := hex4(r.in[r.p+1:]); !ok {
					r.unexpected()
					return from, from, true
				}
				r.p += 4
			} else if escapes[r.in[r.p]] == 0 {
				r.unexpected()
				return from, from, true
			}
			r.p++
		default:
			r.unexpected()
			return from, from, true
		}
	}
	r.unexpected()
	return from, from, true
}

// escapes maps the letter after a backslash to what it stands for; 0: none, or u.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends the text of a string whose escapes were checked. Half of a surrogate pair reads as U+FFFD.
func unescape(dst, in []byte) []byte {
	for p := 0; ; {
		next := ordinary(in, p)
		dst = append(dst, in[p:next]...)
		if next == len(in) {
			return dst
		}
		if c := escapes[in[next+1]]; c != 0 {
			dst = append(dst, c)
			p = next + 2
			continue
		}
		x, _ := hex4(in[next+2:])
		p = next + 6
		if utf16.IsSurrogate(x) {
			low, ok := rune(0), false
			if len(in) >= p+6 && in[p] == '\\' && in[p+1] == 'u' {
				low, ok = hex4(in[p+2:])
			}
			if x = utf16.DecodeRune(x, low); ok && x != utf8.RuneError {
				p += 6
			}
		}
		dst = utf8.AppendRune(dst, x)
	}
}

// hex4 reads four hexadecimal digits.
func hex4(in []byte) (x rune, ok bool) {
	if len(in) < 4 {
		return 0, false
	}
	for _, c := range in[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|' '-'a' < 6:
			c = c | ' ' - 'a' + 10
		default:
			return 0, false
		}
		x = x<<4 | rune(c)
	}
	return x, true
}
