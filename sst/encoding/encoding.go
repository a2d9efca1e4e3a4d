// Package encoding encodes and decodes one block of one column.
//
// An encoded block is
//
//	+-------------+----------+------------+---------+
//	| encoding 1B | flags 1B | [validity] | payload |
//	+-------------+----------+------------+---------+
//
// It contains neither its type nor its number of rows: the reader knows both. Flag bit 0: a validity section follows,
// and the payload holds the values of the valid rows only. The head of each encoding's file draws it. Numbers inside
// payloads are unsigned varints unless said otherwise; bulk data is little endian.
//
// Encoder.Append analyses the values once and takes the encoding of the lowest cost: bytes, and bytes for the time to
// read them (choose.go; the files of the kinds of values say how they weigh the two). scheme.go has the table of
// encodings.
// Every decoder checks its input: any bytes give values or an error that wraps ErrMalformed, and take no more memory
// than rows and input justify.
package encoding

import (
	"encoding/binary"
	"errors"
	"fmt"

	"varve/engine/vector"
)

// ID names an encoding; written to disk, never changed.
type ID uint8

// The encodings.
const (
	Null     ID = 1  // every row is NULL; no payload
	Constant ID = 2  // one value for all valid rows
	Plain    ID = 3  // floats: 8 bytes each; booleans: bits; bytes: lengths and heap
	Packed   ID = 4  // integers: frame of reference, bit packed, patched
	Delta    ID = 5  // integers: differences, packed
	DeltaTwo ID = 6  // integers: differences of differences, packed
	Runs     ID = 7  // integers: values and lengths of runs
	Local    ID = 8  // integers, bytes: dictionary of this block, then codes
	Shared   ID = 9  // bytes: codes into the part's dictionary of the column
	Decimal  ID = 10 // floats: integers scaled by a power of ten, with exceptions
	XOR      ID = 11 // floats: bits against the value before
	Hex      ID = 12 // bytes: lower-case hex of one length, optionally with dashes as UUIDs have them
	IPv4     ID = 13 // bytes: dotted IPv4 addresses
	Number   ID = 14 // bytes: decimal integers
	Template ID = 15 // bytes: log text as templates and variables
	TimeText ID = 16 // bytes: ISO timestamps of one shape
	Repeat   ID = 17 // integers: stretches that rise, as changes of the stretch before
	Grouped  ID = 18 // integers: differences, packed in groups
)

// ErrMalformed is wrapped by every error of a decoder.
var ErrMalformed = errors.New("malformed block")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

const flagValid = 1

// MaxRows is the largest number of rows of a block.
const MaxRows = 1 << 16

// MaxHeap is the largest number of bytes that the strings of a block may take together.
const MaxHeap = 1 << 28

// reader walks over encoded bytes. The first error sticks, and every later read gives zeros.
type reader struct {
	b       []byte
	err     error
	inPlace bool // the section read last lies in the source
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = malformed(format, args...)
	}
	r.b = nil
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail("ends early")
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *reader) uvarint() uint64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail("bad varint")
		return 0
	}
	r.b = r.b[n:]
	return x
}

// count reads a number of things, which is at most limit.
func (r *reader) count(limit int, what string) int {
	x := r.uvarint()
	if x > uint64(limit) {
		r.fail("%d %s, at most %d", x, what, limit)
		return 0
	}
	return int(x)
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail("%d bytes wanted, %d left", n, len(r.b))
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) uint64() uint64 {
	b := r.take(8)
	if b == nil {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// end holds that nothing is left.
func (r *reader) end() {
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d unexpected bytes at the end", len(r.b))
	}
}

// Description is the content of a block's head, for dumps.
type Description struct {
	Encoding ID
	Nulls    bool
	Bytes    int
}

// Describe reads the head of an encoded block.
func Describe(src []byte) (Description, error) {
	if len(src) < 2 {
		return Description{}, malformed("%d bytes", len(src))
	}
	return Description{Encoding: ID(src[0]), Nulls: src[1]&flagValid != 0, Bytes: len(src)}, nil
}

// reset makes v an empty Flat vector of type t.
func reset(v *vector.Vector, t vector.Type) {
	v.Type, v.Form, v.Values, v.Valid = t, vector.Flat, nil, nil
}

// AppendUints appends any number of unsigned integers: count, then blocks of at most MaxRows, each behind its length.
// The indexes of a part keep their numbers so.
func (e *Encoder) AppendUints(dst []byte, v []uint64) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	for len(v) > 0 {
		n := min(len(v), MaxRows)
		e.texts = append(e.texts[:0], v[:n]...)
		e.block = e.appendInts(e.block[:0], e.texts, false)
		dst = binary.AppendUvarint(dst, uint64(len(e.block)))
		dst = append(dst, e.block...)
		v = v[n:]
	}
	return dst
}

// Uints reads what AppendUints wrote, at most limit numbers, and gives the bytes that follow.
func (d *Decoder) Uints(src []byte, limit int) (v []uint64, rest []byte, err error) {
	r := reader{b: src}
	n := r.count(limit, "numbers")
	for r.err == nil && len(v) < n {
		k := min(n-len(v), MaxRows)
		block := d.read(r.take(r.count(len(r.b), "bytes")))
		if r.err != nil {
			break
		}
		d.decodeTexts(block, k)
		if block.err != nil {
			return nil, nil, block.err
		}
		v = append(v, d.texts...)
	}
	return v, r.b, r.err
}

// AppendVector appends n values of any type behind their encoded length.
func (e *Encoder) AppendVector(dst []byte, v *vector.Vector, n int) []byte {
	e.block = e.Append(e.block[:0], v, n, nil)
	dst = binary.AppendUvarint(dst, uint64(len(e.block)))
	return append(dst, e.block...)
}

// Vector reads what AppendVector wrote, as a Flat vector, and gives the bytes that follow.
func (d *Decoder) Vector(src []byte, t vector.Type, n int) (v *vector.Vector, rest []byte, err error) {
	r := reader{b: src}
	block := r.take(r.count(len(r.b), "bytes"))
	if r.err != nil {
		return nil, nil, r.err
	}
	v = &vector.Vector{}
	if err := d.Decode(v, block, t, n, nil); err != nil {
		return nil, nil, err
	}
	return v.Flatten(n), r.b, nil
}
