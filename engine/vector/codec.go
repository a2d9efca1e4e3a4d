package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"unsafe"
)

// The batch codec: a batch with its fields in one self-describing piece, as the log records it. Little endian; drawn in
// docs/format/batch.md.
//
//	version 1B = 1 | rows u32 | columns u16 | column*
//	column: name length u16 | name | type id, precision, scale 3B | form 1B | flags 1B | validity | values
//
// Flag bit 0: validity words follow, Words(rows) (one for Const). Values are plain slices of the kind's width; strings
// are lengths u32 each, then heap length u32 and heap. Dict: count u32, the values as a Flat column body, then codes.
const codecVersion = 1

const flagValid = 1

// Bounds of what a decoder believes.
const (
	maxCodecRows    = 1 << 28
	maxCodecColumns = 1<<16 - 1
)

// ErrCodec is wrapped by every error of DecodeBatch.
var ErrCodec = errors.New("malformed batch")

// AppendBatch appends the encoded batch to dst. Names are at most 65,535 bytes.
func AppendBatch(dst []byte, fields []Field, b *Batch) []byte {
	dst, _ = AppendBatchApart(dst, nil, math.MaxInt, fields, b)
	return dst
}

// Apart is a piece of an encoded batch that was not copied: it belongs after the first At bytes of the rest.
type Apart struct {
	At   int
	Text []byte
}

// AppendBatchApart is AppendBatch without the strings of columns that have so many bytes of them, back to back, or
// more: they are appended to apart.
func AppendBatchApart(dst []byte, apart []Apart, least int, fields []Field, b *Batch) ([]byte, []Apart) {
	if len(fields) > maxCodecColumns || b.N > maxCodecRows {
		panic("vector: batch is larger than the codec's bounds; writers check before")
	}
	dst = append(dst, codecVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(b.N))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(fields)))
	for i, f := range fields {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(f.Name)))
		dst = append(dst, f.Name...)
		v := b.Cols[i]
		if text := v.backToBack(b.N, least); text != nil {
			dst = appendLengths(appendForm(dst, v, b.N), v.Views[:b.N])
			apart = append(apart, Apart{len(dst), text})
			continue
		}
		dst = appendColumn(dst, v, b.N)
	}
	return dst, apart
}

// backToBack is the strings of the first n rows, if they have so many bytes and lie back to back; nil: they do not.
func (v *Vector) backToBack(n, least int) []byte {
	if v.Type.Kind() != Bytes || v.Form != Flat || len(v.Heap) < least {
		return nil
	}
	start, end := uint32(0), uint32(0)
	for _, w := range v.Views[:n] {
		switch {
		case w.Len == 0: // NULL lies anywhere
			continue
		case start == end:
			start = w.Off
		case w.Off != end:
			return nil
		}
		end = w.Off + w.Len
	}
	if text := v.Heap[start:end]; len(text) >= least {
		return text
	}
	return nil
}

// appendForm appends type, form and validity of n rows.
func appendForm(dst []byte, v *Vector, n int) []byte {
	var flags byte
	if v.Valid != nil {
		flags = flagValid
	}
	dst = append(dst, byte(v.Type.ID), v.Type.Precision, v.Type.Scale, byte(v.Form), flags)
	if v.Valid != nil {
		dst = appendBits(dst, v.Valid, n)
	}
	return dst
}

// appendColumn appends type, form, validity and values of n rows.
func appendColumn(dst []byte, v *Vector, n int) []byte {
	if v.Form == Const {
		n = 1
	}
	dst = appendForm(dst, v, n)
	if v.Form == Dict {
		count := v.Values.Len()
		dst = binary.LittleEndian.AppendUint32(dst, uint32(count))
		dst = appendValues(dst, v.Values, count)
		return appendRaw(dst, v.Codes[:n])
	}
	return appendValues(dst, v, n)
}

// Len is the number of values of a Flat vector that is not of BOOLEAN; dictionaries are never BOOLEAN.
func (v *Vector) Len() int { return v.rows() }

func appendValues(dst []byte, v *Vector, n int) []byte {
	switch v.Type.Kind() {
	case Bool:
		return appendBits(dst, v.Bools, n)
	case Int64:
		return appendRaw(dst, v.Ints[:n])
	case Uint64:
		return appendRaw(dst, v.Uints[:n])
	case Float64:
		return appendRaw(dst, v.Floats[:n])
	}
	return appendPacked(appendLengths(dst, v.Views[:n]), v.Views[:n], v.Heap)
}

// appendLengths appends the lengths of strings, and that of all.
func appendLengths(dst []byte, views []View) []byte {
	size := 0
	for _, w := range views {
		dst = binary.LittleEndian.AppendUint32(dst, w.Len)
		size += int(w.Len)
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(size))
}

// appendBits appends the first n bits as whole words. Bits past them are written as zero whatever they are: the decoder
// refuses others, and nothing that was acknowledged may be refused.
func appendBits(dst []byte, b Bitmap, n int) []byte {
	dst = appendRaw(dst, b[:Words(n)])
	if tail := uint(n) & 63; tail != 0 {
		last := dst[len(dst)-8:]
		binary.LittleEndian.PutUint64(last, binary.LittleEndian.Uint64(last)&(1<<tail-1))
	}
	return dst
}

// appendPacked appends the strings, in one copy if they lie back to back.
func appendPacked(dst []byte, views []View, heap []byte) []byte {
	for i := 0; i < len(views); {
		start, end := views[i].Off, views[i].Off+views[i].Len
		for i++; i < len(views) && views[i].Off == end; i++ {
			end += views[i].Len
		}
		dst = append(dst, heap[start:end]...)
	}
	return dst
}

// DecodeBatch reads what AppendBatch wrote. Strings of the result point into src; numbers are copied. Every length is
// checked: malformed input gives an error that wraps ErrCodec and allocates no more than a small multiple of src.
func DecodeBatch(src []byte) ([]Field, *Batch, error) {
	r := &codecReader{src: src}
	if v := r.u8(); r.err == nil && v != codecVersion {
		return nil, nil, fmt.Errorf("%w: version %d, this program reads version %d", ErrCodec, v, codecVersion)
	}
	n, columns := int(r.u32()), int(r.u16())
	if r.err == nil && n > maxCodecRows {
		return nil, nil, fmt.Errorf("%w: %d rows", ErrCodec, n)
	}
	fields, b := []Field(nil), &Batch{N: n}
	for range columns {
		if r.err != nil {
			break
		}
		name := string(r.take(int(r.u16())))
		v := r.column(n)
		fields = append(fields, Field{name, v.Type})
		b.Cols = append(b.Cols, v)
	}
	if r.err == nil && len(r.src) != 0 {
		r.fail("%d bytes after the last column", len(r.src))
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return fields, b, nil
}

type codecReader struct {
	src []byte
	err error
}

func (r *codecReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrCodec, fmt.Sprintf(format, args...))
	}
	r.src = nil
}

func (r *codecReader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.src) {
		r.fail("%d bytes wanted, %d left", n, len(r.src))
		return nil
	}
	b := r.src[:n:n]
	r.src = r.src[n:]
	return b
}

func (r *codecReader) u8() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *codecReader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *codecReader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *codecReader) column(n int) *Vector {
	head := r.take(5)
	if head == nil {
		return &Vector{}
	}
	v := &Vector{Type: Type{TypeID(head[0]), head[1], head[2]}, Form: Form(head[3])}
	if !v.Type.Known() || v.Form > Dict || head[4]&^flagValid != 0 {
		r.fail("column type %d.%d, form %d, flags %d", head[0], head[1], head[3], head[4])
		return v
	}
	if v.Form == Const {
		n = 1
	}
	if head[4]&flagValid != 0 {
		v.Valid = Bitmap(readRaw[uint64](r, Words(n)))
		if tail := uint(n) & 63; tail != 0 && r.err == nil && v.Valid[len(v.Valid)-1]>>tail != 0 {
			r.fail("validity past the last row")
		}
	}
	if v.Form != Dict {
		r.values(v, n)
		return v
	}
	v.Values = &Vector{Type: v.Type}
	count := int(r.u32())
	if v.Type.Kind() == Bool {
		r.fail("dictionary of booleans")
		return v
	}
	r.values(v.Values, count)
	v.Codes = readRaw[uint32](r, n)
	for _, c := range v.Codes {
		if int(c) >= count && count > 0 || count == 0 && c != 0 {
			r.fail("code %d of a dictionary of %d", c, count)
			break
		}
	}
	if count == 0 && n > 0 && r.err == nil && (v.Valid == nil || v.Valid.Count() > 0) {
		r.fail("values of an empty dictionary")
	}
	return v
}

func (r *codecReader) values(v *Vector, n int) {
	switch v.Type.Kind() {
	case Bool:
		v.Bools = Bitmap(readRaw[uint64](r, Words(n)))
		if tail := uint(n) & 63; tail != 0 && r.err == nil && v.Bools[len(v.Bools)-1]>>tail != 0 {
			r.fail("values past the last row")
		}
	case Int64:
		v.Ints = readRaw[int64](r, n)
	case Uint64:
		v.Uints = readRaw[uint64](r, n)
	case Float64:
		v.Floats = readRaw[float64](r, n)
	default:
		r.strings(v, n)
	}
}

func (r *codecReader) strings(v *Vector, n int) {
	lengths := r.take(bound(n, 4))
	size := r.u32()
	v.Heap = r.take(int(size))
	if r.err != nil {
		return
	}
	v.Views = make([]View, n)
	var off uint64
	for i := range v.Views {
		l := binary.LittleEndian.Uint32(lengths[4*i:])
		v.Views[i] = View{uint32(off), l}
		off += uint64(l)
		if off > uint64(size) {
			break
		}
	}
	if off != uint64(size) {
		r.fail("strings of %d bytes in a heap of %d", off, size)
	}
}

// bound is n*width, or -1 when that overflows: take refuses it.
func bound(n, width int) int {
	hi, lo := bits.Mul64(uint64(n), uint64(width))
	if n < 0 || hi != 0 || lo > 1<<40 {
		return -1
	}
	return int(lo)
}

// number lists the types whose values the codec writes as they are in memory.
type number interface {
	uint32 | uint64 | int64 | float64
}

// appendRaw appends the elements little endian: a plain copy on machines of that order.
func appendRaw[S ~[]T, T number](dst []byte, s S) []byte {
	if len(s) == 0 {
		return dst
	}
	if littleEndian {
		width := int(unsafe.Sizeof(s[0]))
		return append(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*width)...)
	}
	for _, x := range s {
		if unsafe.Sizeof(x) == 4 {
			dst = binary.LittleEndian.AppendUint32(dst, *(*uint32)(unsafe.Pointer(&x)))
		} else {
			dst = binary.LittleEndian.AppendUint64(dst, *(*uint64)(unsafe.Pointer(&x)))
		}
	}
	return dst
}

func readRaw[T number](r *codecReader, n int) []T {
	var zero T
	width := int(unsafe.Sizeof(zero))
	b := r.take(bound(n, width))
	if r.err != nil {
		return nil
	}
	s := make([]T, n)
	if n == 0 {
		return s
	}
	if littleEndian {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n*width), b)
		return s
	}
	for i := range s {
		if width == 4 {
			*(*uint32)(unsafe.Pointer(&s[i])) = binary.LittleEndian.Uint32(b[4*i:])
		} else {
			*(*uint64)(unsafe.Pointer(&s[i])) = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return s
}

var littleEndian = func() bool {
	x := uint16(1)
	return *(*byte)(unsafe.Pointer(&x)) == 1
}()
