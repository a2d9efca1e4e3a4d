// Package protowire reads and writes the wire format of protocol buffers in place: a message is a byte slice, its
// fields come one after the other, and texts and nested messages are sub-slices. It has no message types, uses no
// reflection and allocates nothing.
//
// A field is a key (number << 3 | kind, a varint) and a value: a varint, 4 or 8 bytes little endian, or a length and
// that many bytes. Groups, kinds three and four, are obsolete and refused.
package protowire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is how the value of a field is laid out.
type Kind uint8

// The kinds.
const (
	Varint  Kind = 0
	Fixed64 Kind = 1
	Bytes   Kind = 2
	Fixed32 Kind = 5
)

// Fields walks the fields of a message.
//
//	for f := protowire.Of(message); f.Next(); {
//		switch f.Number { ... }
//	}
//	if f.Err() != nil { ... }
type Fields struct {
	rest []byte
	size int // of the message
	err  error

	// Of the field in hand.
	Number int
	Kind   Kind
	Value  uint64 // of Varint, Fixed64 and Fixed32
	Bytes  []byte // of Bytes: lies in the message
}

// Of walks a message.
func Of(message []byte) Fields { return Fields{rest: message, size: len(message)} }

// Next moves to the next field; false: there is none, or what follows is no field, see Err.
func (f *Fields) Next() bool {
	// Nearly all fields are texts and messages of less than 16 KiB with a number below 16.
	if b := f.rest; len(b) > 2 && b[0]&0x87 == byte(Bytes) && b[0] > 7 && f.err == nil {
		size, n := int(b[1]), 2
		if size >= 0x80 {
			size, n = size&0x7f|int(b[2])<<7, 3
		}
		if (n == 2 || b[2] < 0x80) && size <= len(b)-n {
			f.Number, f.Kind, f.Bytes, f.rest = int(b[0]>>3), Bytes, b[n:n+size:n+size], b[n+size:]
			return true
		}
	}
	return f.next()
}

// next is Next for any field.
func (f *Fields) next() bool {
	if len(f.rest) == 0 || f.err != nil {
		return false
	}
	var key uint64
	if b := f.rest[0]; b < 0x80 {
		key, f.rest = uint64(b), f.rest[1:]
	} else if key = f.varint(); f.err != nil {
		return false
	}
	f.Number, f.Kind = int(key>>3), Kind(key&7)
	if f.Number < 1 || f.Number > maxNumber {
		return f.fail("field number %d", f.Number)
	}
	switch f.Kind {
	case Varint:
		f.Value = f.varint()
		return f.err == nil
	case Bytes:
		size := f.varint()
		if f.err != nil {
			return false
		}
		if size > uint64(len(f.rest)) {
			return f.fail("field %d has %d bytes, %d are left", f.Number, size, len(f.rest))
		}
		f.Bytes, f.rest = f.rest[:size:size], f.rest[size:]
		return true
	case Fixed64:
		if len(f.rest) < 8 {
			return f.fail("field %d is cut off", f.Number)
		}
		f.Value, f.rest = binary.LittleEndian.Uint64(f.rest), f.rest[8:]
		return true
	case Fixed32:
		if len(f.rest) < 4 {
			return f.fail("field %d is cut off", f.Number)
		}
		f.Value, f.rest = uint64(binary.LittleEndian.Uint32(f.rest)), f.rest[4:]
		return true
	}
	return f.fail("field %d is of wire type %d", f.Number, f.Kind)
}

// maxNumber is the largest number of a field.
const maxNumber = 1<<29 - 1

// Offset is the place in the message of what follows the field in hand.
func (f *Fields) Offset() int { return f.size - len(f.rest) }

// Err says why Next ended before the end of the message; nil: it did not.
func (f *Fields) Err() error { return f.err }

func (f *Fields) fail(format string, args ...any) bool {
	f.err = fmt.Errorf("at byte %d: "+format, append([]any{f.Offset()}, args...)...)
	return false
}

// varint takes a varint, also one with more bits than 64, as other readers do: the upper ones are dropped.
func (f *Fields) varint() uint64 {
	if len(f.rest) > 0 && f.rest[0] < 0x80 {
		x := uint64(f.rest[0])
		f.rest = f.rest[1:]
		return x
	}
	var x uint64
	for i, b := range f.rest {
		if i == 10 {
			break
		}
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			f.rest = f.rest[i+1:]
			return x
		}
	}
	f.fail("a varint does not end")
	return 0
}

// Is reports whether the field in hand has a number and a kind.
func (f *Fields) Is(number int, kind Kind) bool { return f.Number == number && f.Kind == kind }

// WrongKind is the error of a known field of another kind than it has: a message of something else.
func (f *Fields) WrongKind() error {
	return fmt.Errorf("at byte %d: field %d is of wire type %d", f.Offset(), f.Number, f.Kind)
}

// Double is the value of a Fixed64 field that is a double.
func (f *Fields) Double() float64 { return math.Float64frombits(f.Value) }

// Int is the value of a Varint field that is an int64 or an int32.
func (f *Fields) Int() int64 { return int64(f.Value) }

// Zigzag is the value of a Varint field that is an sint64 or an sint32.
func (f *Fields) Zigzag() int64 { return int64(f.Value>>1) ^ -int64(f.Value&1) }

// AppendUints appends the numbers of a repeated field in hand, packed or one by one. It stops when dst has one more
// than most: a number takes as little as a byte of the message, and eight bytes in dst.
func (f *Fields) AppendUints(dst []uint64, most int) ([]uint64, error) {
	if len(dst) > most {
		return dst, nil
	}
	if f.Kind == Varint {
		return append(dst, f.Value), nil
	}
	if f.Kind != Bytes {
		return dst, fmt.Errorf("field %d is of wire type %d, expected numbers", f.Number, f.Kind)
	}
	for p := Of(f.Bytes); len(p.rest) > 0 && len(dst) <= most; {
		x := p.varint()
		if p.err != nil {
			return dst, fmt.Errorf("field %d: %w", f.Number, p.err)
		}
		dst = append(dst, x)
	}
	return dst, nil
}

// AppendFixed64s appends the numbers of a repeated field of 8 bytes each in hand, packed or one by one.
func (f *Fields) AppendFixed64s(dst []uint64) ([]uint64, error) {
	if f.Kind == Fixed64 {
		return append(dst, f.Value), nil
	}
	if f.Kind != Bytes || len(f.Bytes)%8 != 0 {
		return dst, fmt.Errorf("field %d has %d bytes of wire type %d, expected numbers of 8 bytes", f.Number,
			len(f.Bytes), f.Kind)
	}
	for b := f.Bytes; len(b) > 0; b = b[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(b))
	}
	return dst, nil
}

// AppendDoubles appends the numbers of a repeated field of doubles in hand, packed or one by one.
func (f *Fields) AppendDoubles(dst []float64) ([]float64, error) {
	if f.Kind == Fixed64 {
		return append(dst, f.Double()), nil
	}
	if f.Kind != Bytes || len(f.Bytes)%8 != 0 {
		return dst, fmt.Errorf("field %d has %d bytes of wire type %d, expected doubles", f.Number, len(f.Bytes),
			f.Kind)
	}
	for b := f.Bytes; len(b) > 0; b = b[8:] {
		dst = append(dst, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
	return dst, nil
}

// AppendVarint appends a Varint field.
func AppendVarint(dst []byte, number int, x uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(number)<<3|uint64(Varint)), x)
}

// AppendFixed64 appends a Fixed64 field.
func AppendFixed64(dst []byte, number int, x uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(dst, uint64(number)<<3|uint64(Fixed64)), x)
}

// AppendFixed32 appends a Fixed32 field.
func AppendFixed32(dst []byte, number int, x uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.AppendUvarint(dst, uint64(number)<<3|uint64(Fixed32)), x)
}

// AppendDouble appends a Fixed64 field that is a double.
func AppendDouble(dst []byte, number int, x float64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(dst, uint64(number)<<3|uint64(Fixed64)),
		math.Float64bits(x))
}

// AppendBytes appends a Bytes field.
func AppendBytes[T []byte | string](dst []byte, number int, x T) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(number)<<3|uint64(Bytes)), uint64(len(x)))
	return append(dst, x...)
}

// AppendMessage appends a Bytes field that is a message, which fill appends.
func AppendMessage(dst []byte, number int, fill func(dst []byte) []byte) []byte {
	at := Begin(&dst, number)
	dst = fill(dst)
	return End(dst, at)
}

// lengthRoom is the room that Begin leaves for a length: End moves the message when it takes less.
const lengthRoom = 5

// Begin begins a Bytes field whose length is not known yet. What is appended until End is its value; End takes at.
func Begin(dst *[]byte, number int) (at int) {
	*dst = binary.AppendUvarint(*dst, uint64(number)<<3|uint64(Bytes))
	*dst = append(*dst, make([]byte, lengthRoom)...)
	return len(*dst)
}

// End ends the field that Begin began.
func End(dst []byte, at int) []byte {
	size := len(dst) - at
	var head [lengthRoom]byte
	n := binary.PutUvarint(head[:], uint64(size))
	copy(dst[at-lengthRoom:], head[:n])
	copy(dst[at-lengthRoom+n:], dst[at:])
	return dst[:len(dst)-lengthRoom+n]
}
