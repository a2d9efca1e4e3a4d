package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"varve/server/protowire"
)

// transcoder makes the message of a request in JSON, in one pass over its bytes: what the protocol says of requests is then decoded once,
// whatever their encoding. Members that are not known, and null, are passed over.
type transcoder struct {
	in   []byte
	at   int
	text []byte // scratch: text without escapes

	hold func(bytes int64) error // told what the message takes, before it takes that
	told int
}

// holdStep is how often hold is told.
const holdStep = 256 << 10

// maxJSONDepth bounds how deep JSON nests: an array in a value takes four levels.
const maxJSONDepth = 4*maxDepth + 16

// transcode appends the message of a body.
func (t *transcoder) transcode(dst, body []byte, m *message) (out []byte, err error) {
	t.in, t.at = body, 0
	if t.space(); t.at == len(t.in) {
		return dst, nil
	}
	if dst, err = t.message(dst, m, 0); err != nil {
		return dst, err
	}
	if t.space(); t.at < len(t.in) {
		return dst, t.fault("something follows the request")
	}
	return dst, nil
}

func (t *transcoder) fault(format string, args ...any) error {
	return fmt.Errorf("at byte %d: "+format, append([]any{t.at}, args...)...)
}

func (t *transcoder) space() {
	for t.at < len(t.in) && (t.in[t.at] == ' ' || t.in[t.at] == '\n' || t.in[t.at] == '\r' || t.in[t.at] == '\t') {
		t.at++
	}
}

// room makes sure that hold knows of the message.
func (t *transcoder) room(dst []byte) error {
	if len(dst) < t.told {
		return nil
	}
	t.told = len(dst) + holdStep
	return t.hold(int64(t.told))
}

// next is the byte that follows blanks; 0: there is none.
func (t *transcoder) next() byte {
	if t.at < len(t.in) && t.in[t.at] > ' ' {
		return t.in[t.at]
	}
	if t.space(); t.at == len(t.in) {
		return 0
	}
	return t.in[t.at]
}

func (t *transcoder) expect(c byte) error {
	if t.next() != c {
		return t.fault("%q is wanted", string(c))
	}
	t.at++
	return nil
}

// more moves to the next member or item; false: the container ends. first tells that none came before.
func (t *transcoder) more(first bool, closing byte) (bool, error) {
	switch c := t.next(); {
	case c == closing:
		t.at++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		t.at++
		return true, nil
	}
	return false, t.fault("a comma or %q is wanted", string(closing))
}

// message appends the fields of an object.
func (t *transcoder) message(dst []byte, m *message, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return dst, t.fault("it nests deeper than %d levels", maxJSONDepth)
	}
	if err := t.expect('{'); err != nil {
		return dst, err
	}
	for first := true; ; first = false {
		if ok, err := t.more(first, '}'); !ok {
			return dst, err
		}
		if err := t.room(dst); err != nil {
			return dst, err
		}
		name, err := t.string()
		if err != nil {
			return dst, err
		}
		f := m.fields[string(name)]
		if err := t.expect(':'); err != nil {
			return dst, err
		}
		switch {
		case t.next() == 'n':
			err = t.skip(depth + 1)
		case f == nil:
			err = t.skip(depth + 1)
		case f.repeated:
			dst, err = t.items(dst, f, depth+1)
		default:
			dst, err = t.value(dst, f, depth+1)
		}
		if err != nil {
			return dst, err
		}
	}
}

func (t *transcoder) items(dst []byte, f *field, depth int) ([]byte, error) {
	if err := t.expect('['); err != nil {
		return dst, err
	}
	for first := true; ; first = false {
		ok, err := t.more(first, ']')
		if ok {
			err = t.room(dst)
		}
		if ok && err == nil {
			dst, err = t.value(dst, f, depth)
		}
		if !ok || err != nil {
			return dst, err
		}
	}
}

// value appends a field.
func (t *transcoder) value(dst []byte, f *field, depth int) ([]byte, error) {
	switch f.kind {
	case isMessage:
		at := protowire.Begin(&dst, f.number)
		dst, err := t.message(dst, f.message, depth)
		return protowire.End(dst, at), err
	case isBool:
		switch {
		case bytes.HasPrefix(t.in[t.at:], []byte("true")):
			t.at += 4
			return protowire.AppendVarint(dst, f.number, 1), nil
		case bytes.HasPrefix(t.in[t.at:], []byte("false")):
			t.at += 5
			return protowire.AppendVarint(dst, f.number, 0), nil
		}
		return dst, t.fault("true or false is wanted")
	case isDouble:
		x, err := t.double()
		return protowire.AppendDouble(dst, f.number, x), err
	case isInt, isZigzag, isFixed64, isFixed32:
		x, err := t.integer()
		switch f.kind {
		case isZigzag:
			x = x<<1 ^ uint64(int64(x)>>63)
		case isFixed64:
			return protowire.AppendFixed64(dst, f.number, x), err
		case isFixed32:
			return protowire.AppendFixed32(dst, f.number, uint32(x)), err
		}
		return protowire.AppendVarint(dst, f.number, x), err
	case isEnum:
		x, err := t.enum(f)
		return protowire.AppendVarint(dst, f.number, x), err
	}
	text, err := t.string()
	if err != nil {
		return dst, err
	}
	switch f.kind {
	case isHex:
		t.text, err = hex.AppendDecode(t.text[:0], text)
		text = t.text
	case isBase64:
		text, err = t.base64(text)
	}
	if err != nil {
		return dst, t.fault("%v", err)
	}
	return protowire.AppendBytes(dst, f.number, text), nil
}

// base64 decodes bytes, in the usual alphabet or that of URLs, padded or not.
func (t *transcoder) base64(text []byte) ([]byte, error) {
	text = bytes.TrimRight(text, "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	return encoding.AppendDecode(nil, text)
}

// number is the text of a number, which may be in quotes.
func (t *transcoder) number() ([]byte, error) {
	if t.next() == '"' {
		return t.string()
	}
	from := t.at
	for t.at < len(t.in) && (t.in[t.at]-'0' <= 9 || t.in[t.at] == '-' || t.in[t.at] == '+' || t.in[t.at] == '.' || t.in[t.at]|0x20 == 'e') {
		t.at++
	}
	if t.at == from {
		return nil, t.fault("a number is wanted")
	}
	return t.in[from:t.at], nil
}

func (t *transcoder) double() (float64, error) {
	digits, err := t.number()
	if err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(string(digits), 64)
	if err != nil {
		return 0, t.fault("%.40q is no number", digits)
	}
	return x, nil
}

// integer reads an integer of 64 bits, with or without a sign.
func (t *transcoder) integer() (uint64, error) {
	digits, err := t.number()
	if err != nil {
		return 0, err
	}
	if n := len(digits); n > 0 && n < 20 { // 19 digits fit
		var x uint64
		for i, c := range digits {
			if c -= '0'; c > 9 {
				break
			}
			if x = 10*x + uint64(c); i == n-1 {
				return x, nil
			}
		}
	}
	if x, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		return uint64(x), nil
	}
	if x, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
		return x, nil
	}
	if x, err := strconv.ParseFloat(string(digits), 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
		return uint64(int64(x)), nil
	}
	return 0, t.fault("%.40q is no integer of 64 bits", digits)
}

func (t *transcoder) enum(f *field) (uint64, error) {
	if t.next() != '"' {
		return t.integer()
	}
	name, err := t.string()
	if err != nil {
		return 0, err
	}
	for i, known := range f.names {
		if known == string(name) {
			return uint64(i), nil
		}
	}
	if x, err := strconv.ParseUint(string(name), 10, 31); err == nil {
		return x, nil
	}
	return 0, t.fault("%.80q is none of the names there are", name)
}

// string reads a text in quotes. It is good until the next.
func (t *transcoder) string() ([]byte, error) {
	if err := t.expect('"'); err != nil {
		return nil, err
	}
	from := t.at
	end := bytes.IndexByte(t.in[from:], '"')
	if end < 0 {
		return nil, t.fault("a text does not end")
	}
	if text := t.in[from : from+end]; bytes.IndexByte(text, '\\') < 0 {
		t.at += end + 1
		return text, nil
	}
	t.text = t.text[:0]
	for t.at < len(t.in) {
		switch c := t.in[t.at]; c {
		case '"':
			t.at++
			return t.text, nil
		case '\\':
			if err := t.escape(); err != nil {
				return nil, err
			}
		default:
			t.text = append(t.text, c)
			t.at++
		}
	}
	return nil, t.fault("a text does not end")
}

// escape reads what a backslash begins.
func (t *transcoder) escape() error {
	if t.at+1 == len(t.in) {
		return t.fault("a text does not end")
	}
	c := t.in[t.at+1]
	if c == 'u' {
		r, ok := t.unicode()
		if !ok {
			return t.fault("\\u is followed by four hexadecimal digits")
		}
		if utf16.IsSurrogate(r) {
			low, ok := t.unicode()
			if r = utf16.DecodeRune(r, low); ok && r == utf8.RuneError {
				t.at -= 6 // not the other half
			}
		}
		t.text = utf8.AppendRune(t.text, r)
		return nil
	}
	at := bytes.IndexByte([]byte(`"\/bfnrt`), c)
	if at < 0 {
		return t.fault("%q follows a backslash", string(c))
	}
	t.text = append(t.text, "\"\\/\b\f\n\r\t"[at])
	t.at += 2
	return nil
}

// unicode reads \u and four digits; false: they are not there.
func (t *transcoder) unicode() (rune, bool) {
	if rest := t.in[t.at:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if x, err := strconv.ParseUint(string(rest[2:6]), 16, 16); err == nil {
			t.at += 6
			return rune(x), true
		}
	}
	return 0, false
}

// skip passes over a value.
func (t *transcoder) skip(depth int) (err error) {
	if depth > maxJSONDepth {
		return t.fault("it nests deeper than %d levels", maxJSONDepth)
	}
	c := t.next()
	switch c {
	case '"':
		_, err = t.string()
		return err
	case '{', '[':
		t.at++
		for first := true; ; first = false {
			ok, err := t.more(first, c+2) // ] and } follow two after [ and {
			if ok && c == '{' {
				if _, err = t.string(); err == nil {
					err = t.expect(':')
				}
			}
			if ok && err == nil {
				err = t.skip(depth + 1)
			}
			if !ok || err != nil {
				return err
			}
		}
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(t.in[t.at:], []byte(word)) {
			t.at += len(word)
			return nil
		}
	}
	_, err = t.number()
	return err
}
