package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"

	"varve/engine/jsontext"
	"varve/server/protowire"
)

// transcoder makes the protobuf message of a request in JSON, in one pass over its bytes. So one decoder reads requests
// of both encodings. Unknown members, and null, are passed over.
type transcoder struct {
	in  jsontext.Reader
	err error // of a member; the reader has its own

	scratch []byte
	hold    func(bytes int64) error // called with the size of the message, before it takes that memory
	told    int                     // the size up to which hold was called
}

// holdStep is by how many bytes the message grows before hold is called again.
const holdStep = 256 << 10

// transcode appends the message of a body.
func (t *transcoder) transcode(dst, body []byte, m *message) ([]byte, error) {
	t.in.Reset(body)
	if t.in.Peek() != jsontext.None || len(bytes.TrimSpace(body)) > 0 {
		dst = t.message(dst, m)
		t.in.End()
	}
	if t.err == nil {
		t.err = t.in.Err()
	}
	return dst, t.err
}

func (t *transcoder) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("at byte %d: "+format, append([]any{t.in.Offset() + 1}, args...)...)
	}
}

// goOn reports whether there was no error; it makes sure that hold knows of the message.
func (t *transcoder) goOn(dst []byte) bool {
	if len(dst) >= t.told && t.err == nil {
		t.told = len(dst) + holdStep
		t.err = t.hold(int64(t.told))
	}
	t.in.Forget()
	return t.err == nil
}

// message appends the fields of an object.
func (t *transcoder) message(dst []byte, m *message) []byte {
	for t.in.Enter(jsontext.Object); t.in.Member() && t.goOn(dst); {
		f := m.fields[string(t.in.Key)]
		switch kind := t.in.Peek(); {
		case f == nil || kind == jsontext.Null:
			t.in.Skip()
		case f.repeated:
			for t.in.Enter(jsontext.Array); t.in.Element() && t.goOn(dst); {
				dst = t.value(dst, f)
			}
		default:
			dst = t.value(dst, f)
		}
	}
	return dst
}

// value appends a field.
func (t *transcoder) value(dst []byte, f *field) []byte {
	if f.double > 0 {
		return t.integerOrDouble(dst, f)
	}
	switch f.kind {
	case isMessage:
		at := protowire.Begin(&dst, f.number)
		return protowire.End(t.message(dst, f.message), at)
	case isText:
		return protowire.AppendBytes(dst, f.number, t.in.String())
	case isHex:
		var err error
		if t.scratch, err = hex.AppendDecode(t.scratch[:0], t.in.String()); err != nil {
			t.fail("an id is not in hexadecimal digits: %v", err)
		}
		return protowire.AppendBytes(dst, f.number, t.scratch)
	case isBase64:
		return protowire.AppendBytes(dst, f.number, t.base64())
	case isDouble:
		return protowire.AppendDouble(dst, f.number, t.double())
	case isFixed64:
		return protowire.AppendFixed64(dst, f.number, t.integer())
	case isFixed32:
		return protowire.AppendFixed32(dst, f.number, uint32(t.integer()))
	case isZigzag:
		x := int64(t.integer())
		return protowire.AppendVarint(dst, f.number, uint64(x<<1^x>>63))
	case isEnum:
		return protowire.AppendVarint(dst, f.number, t.enum(f))
	case isBool:
		if t.in.Peek() != jsontext.Bool {
			t.fail("expected true or false")
		}
		is := uint64(0)
		if string(t.in.Raw()) == "true" {
			is = 1
		}
		return protowire.AppendVarint(dst, f.number, is)
	}
	return protowire.AppendVarint(dst, f.number, t.integer())
}

// base64 is bytes, in the usual alphabet or that of URLs, padded or not.
func (t *transcoder) base64() []byte {
	text := bytes.TrimRight(t.in.String(), "=")
	encoding := base64.RawStdEncoding
	if bytes.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	var err error
	if t.scratch, err = encoding.AppendDecode(t.scratch[:0], text); err != nil {
		t.fail("bytes are not in base64: %v", err)
	}
	return t.scratch
}

// number is the text of a number, which may be in quotes.
func (t *transcoder) number() []byte {
	if kind := t.in.Peek(); kind != jsontext.Number && kind != jsontext.String {
		t.fail("expected a number")
	}
	text, _ := t.in.Plain()
	return text
}

func (t *transcoder) double() float64 {
	digits := t.number()
	x, err := strconv.ParseFloat(string(digits), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // past the range it is an infinity
		t.fail("%.40q is not a number", digits)
	}
	return x
}

// integer is an integer of 64 bits, with or without a sign.
func (t *transcoder) integer() uint64 {
	digits := t.number()
	if n := len(digits); n > 0 && n < 20 { // 19 digits fit
		var x uint64
		for i, c := range digits {
			if c -= '0'; c > 9 {
				break
			}
			if x = 10*x + uint64(c); i == n-1 {
				return x
			}
		}
	}
	if x, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
		return uint64(x)
	}
	if x, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
		return x
	}
	if x, err := strconv.ParseFloat(string(digits), 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
		return uint64(int64(x))
	}
	t.fail("%.40q is not an integer of 64 bits", digits)
	return 0
}

// integerOrDouble appends an integer that fits 64 bits with a sign, and any other number as the double of its message:
// senders of JSON write integers of any size.
func (t *transcoder) integerOrDouble(dst []byte, f *field) []byte {
	digits := t.number()
	x, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		y, err := strconv.ParseFloat(string(digits), 64) // of too many digits: an infinity, and an error
		switch {
		case math.IsNaN(y) || err == nil && math.IsInf(y, 0) || err != nil && !errors.Is(err, strconv.ErrRange):
			t.fail("%.40q is not a number", digits)
		case y != math.Trunc(y) || y < -1<<63 || y >= 1<<63:
			return protowire.AppendDouble(dst, f.double, y)
		}
		x = int64(y)
	}
	if f.kind == isFixed64 {
		return protowire.AppendFixed64(dst, f.number, uint64(x))
	}
	return protowire.AppendVarint(dst, f.number, uint64(x))
}

// enum is a number, or a name.
func (t *transcoder) enum(f *field) uint64 {
	if t.in.Peek() != jsontext.String {
		return t.integer()
	}
	name := t.in.String()
	for i, known := range f.names {
		if known == string(name) {
			return uint64(i)
		}
	}
	x, err := strconv.ParseUint(string(name), 10, 31)
	if err != nil {
		t.fail("%.80q is none of the names that there are", name)
	}
	return x
}
