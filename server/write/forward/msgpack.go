package forward

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"varve/engine/jsontext"
)

// kind is what a value of MessagePack is.
type kind uint8

const (
	none kind = iota // the end, or an error
	null
	boolean
	integer
	unsigned
	float
	text
	binaries
	array
	object
	extension
)

// item is a value, or the head of an array or object: n is the number of their elements or pairs, which follow.
type item struct {
	kind  kind
	n     int
	i     int64 // of integer, boolean and the type of extension
	u     uint64
	f     float64
	bytes []byte // of text, binaries and extension
}

// maxDepth bounds how deep values nest.
const maxDepth = 64

var (
	errCut   = errors.New("the message ends inside a value")
	errDepth = fmt.Errorf("the message nests deeper than %d values", maxDepth)
	errKey   = errors.New("the name of a field is not text")
	errType  = errors.New("no value begins with the byte 0xc1")
)

// shape returns what the first byte of a value says: its kind, how many bytes of a number follow the byte, and the
// number that the byte itself holds.
func shape(c byte) (k kind, width, n int) {
	switch {
	case c < 0x80:
		return integer, 0, int(c)
	case c < 0x90:
		return object, 0, int(c & 15)
	case c < 0xa0:
		return array, 0, int(c & 15)
	case c < 0xc0:
		return text, 0, int(c & 31)
	case c >= 0xe0:
		return integer, 0, int(int8(c))
	}
	s := shapes[c-0xc0]
	return s.kind, s.width, s.n
}

// shapes are the shapes of the first bytes 0xc0 to 0xdf.
var shapes = [32]struct {
	kind     kind
	width, n int
}{
	{null, 0, 0}, {}, {boolean, 0, 0}, {boolean, 0, 1},
	{binaries, 1, 0}, {binaries, 2, 0}, {binaries, 4, 0}, {extension, 1, 0}, {extension, 2, 0}, {extension, 4, 0},
	{float, 4, 0}, {float, 8, 0}, {unsigned, 1, 0}, {unsigned, 2, 0}, {unsigned, 4, 0}, {unsigned, 8, 0},
	{integer, 1, 0}, {integer, 2, 0}, {integer, 4, 0}, {integer, 8, 0},
	{extension, 0, 1}, {extension, 0, 2}, {extension, 0, 4}, {extension, 0, 8}, {extension, 0, 16},
	{text, 1, 0}, {text, 2, 0}, {text, 4, 0}, {array, 2, 0}, {array, 4, 0}, {object, 2, 0}, {object, 4, 0},
}

// number reads a big-endian number of 1, 2, 4 or 8 bytes.
func number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

// reader reads values.
type reader struct {
	b   []byte
	p   int
	err error
}

func (r *reader) fail(err error) item {
	if r.err == nil {
		r.err = err
	}
	r.p = len(r.b)
	return item{}
}

// take takes n bytes; nil: there are fewer.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)-r.p) {
		r.fail(errCut)
		return nil
	}
	from := r.p
	r.p += int(n)
	return r.b[from:r.p:r.p]
}

// next reads a value, or the head of one.
func (r *reader) next() item {
	if r.p >= len(r.b) {
		return r.fail(errCut)
	}
	c := r.b[r.p]
	r.p++
	k, width, n := shape(c)
	if k == none {
		return r.fail(errType)
	}
	x := uint64(n)
	if width > 0 {
		b := r.take(uint64(width))
		if b == nil {
			return item{}
		}
		x = number(b)
	}
	v := item{kind: k}
	switch k {
	case boolean:
		v.i = int64(n)
	case unsigned:
		v.u = x
	case integer:
		v.i = signed(x, width, n)
	case float:
		if v.f = math.Float64frombits(x); width == 4 {
			v.f = float64(math.Float32frombits(uint32(x)))
		}
	case text, binaries:
		v.bytes = r.take(x)
	case extension:
		if b := r.take(1); b != nil {
			v.i = int64(int8(b[0]))
		}
		v.bytes = r.take(x)
	case array, object:
		if v.n = int(x); x > uint64(len(r.b)-r.p) { // an element has at least a byte
			return r.fail(errCut)
		}
	}
	if r.err != nil {
		return item{}
	}
	return v
}

func signed(x uint64, width, n int) int64 {
	switch width {
	case 0:
		return int64(n)
	case 1:
		return int64(int8(x))
	case 2:
		return int64(int16(x))
	case 4:
		return int64(int32(x))
	}
	return int64(x)
}

// skip passes over a value, and gives its bytes.
func (r *reader) skip() []byte {
	from := r.p
	for left := 1; left > 0 && r.err == nil; left-- {
		switch v := r.next(); v.kind {
		case array:
			left += v.n
		case object:
			left += 2 * v.n
		}
	}
	return r.b[from:r.p:r.p]
}

// pass passes over the value at p, however wrong its content; false: nobody knows where it ends.
func (r *reader) pass(p int) bool {
	r.p, r.err = p, nil
	r.skip()
	return r.err == nil
}

// appendValue appends the next value as JSON. Bytes are text; extensions, and numbers that JSON does not have, are
// null.
func (r *reader) appendValue(dst []byte, depth int) []byte {
	if depth > maxDepth {
		r.fail(errDepth)
		return dst
	}
	switch v := r.next(); v.kind {
	case boolean:
		return strconv.AppendBool(dst, v.i == 1)
	case integer:
		return strconv.AppendInt(dst, v.i, 10)
	case unsigned:
		return strconv.AppendUint(dst, v.u, 10)
	case float:
		if math.IsNaN(v.f) || math.IsInf(v.f, 0) {
			return append(dst, "null"...)
		}
		return jsontext.AppendFloat(dst, v.f)
	case text, binaries:
		return jsontext.AppendString(dst, v.bytes)
	case array:
		dst = append(dst, '[')
		for i := 0; i < v.n && r.err == nil; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = r.appendValue(dst, depth+1)
		}
		return append(dst, ']')
	case object:
		dst = append(dst, '{')
		for i := 0; i < v.n && r.err == nil; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = jsontext.AppendString(dst, r.key())
			dst = r.appendValue(append(dst, ':'), depth+1)
		}
		return append(dst, '}')
	default:
		return append(dst, "null"...)
	}
}

// key reads the name of a pair: text; other values are named as they are written in JSON.
func (r *reader) key() []byte {
	from := r.p
	switch v := r.next(); v.kind {
	case text, binaries, none:
		return v.bytes
	case array, object:
		r.fail(errKey)
		return nil
	}
	r.p = from
	return r.appendValue(nil, maxDepth)
}
