package vector

import (
	"slices"
	"unsafe"
)

// View is a byte string inside a heap. Pointer-free: nothing for the garbage collector to scan.
type View struct{ Off, Len uint32 }

// Form is how the values of a vector are laid out.
type Form uint8

// Flat: value i belongs to row i. Const: row 0 stands for all rows. Dict: Codes[i] is the position in Values.
const (
	Flat Form = iota
	Const
	Dict
)

// HeapRoom makes room for more bytes in the heap of a vector, or returns the reason why it cannot.
type HeapRoom interface {
	Grow(v *Vector, bytes int64) error
}

// Vector is one column of a batch. The slice that Type.Kind names holds the values; the others are empty. The batch has
// the number of rows. A switch on the kind at the start of a function picks the slice; the loop after it is plain.
type Vector struct {
	Type Type
	Form Form
	// Room, while the vector is built, is called before Heap outgrows its memory; nil: no call.
	Room HeapRoom
	// Valid holds the rows that have a value. nil: all. For Const only bit 0 counts. The value under a NULL is
	// defined (zero or stale) but has no meaning; a Dict code under a NULL is in range unless Values is empty.
	Valid  Bitmap
	Bools  Bitmap
	Ints   []int64
	Uints  []uint64
	Floats []float64
	Views  []View
	Heap   []byte   // what Views point into; may be shared, then never written through this vector
	Codes  []uint32 // Dict
	Values *Vector  // Dict: distinct values, Flat, without NULL. Shared and never changed
}

// ConstNull is the vector of type t that is NULL in every row.
func ConstNull(t Type) *Vector {
	v := &Vector{Type: t, Form: Const, Valid: Bitmap{0}}
	v.growZero(1)
	return v
}

// ConstInt is a Const vector of an Int64-kind type.
func ConstInt(t Type, x int64) *Vector { return &Vector{Type: t, Form: Const, Ints: []int64{x}} }

// ConstUint is a Const vector of a Uint64-kind type.
func ConstUint(t Type, x uint64) *Vector { return &Vector{Type: t, Form: Const, Uints: []uint64{x}} }

// ConstFloat is a Const vector of a Float64-kind type.
func ConstFloat(t Type, x float64) *Vector {
	return &Vector{Type: t, Form: Const, Floats: []float64{x}}
}

// ConstBool is a Const vector of BOOLEAN.
func ConstBool(x bool) *Vector {
	v := &Vector{Type: BoolType, Form: Const, Bools: Bitmap{0}}
	if x {
		v.Bools[0] = 1
	}
	return v
}

// ConstBytes is a Const vector of a Bytes-kind type. It keeps x.
func ConstBytes(t Type, x []byte) *Vector {
	return &Vector{Type: t, Form: Const, Views: []View{{0, uint32(len(x))}}, Heap: x}
}

// ConstString is a Const vector of STRING.
func ConstString(x string) *Vector { return ConstBytes(StringType, []byte(x)) }

// IsNull reports whether row i is NULL.
func (v *Vector) IsNull(i int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Form == Const {
		return v.Valid[0]&1 == 0
	}
	return !v.Valid.Get(i)
}

// HasNull reports whether any of the rows [from, to) is NULL.
func (v *Vector) HasNull(from, to int) bool {
	switch {
	case v.Valid == nil || from >= to:
		return false
	case v.Form == Const:
		return v.Valid[0]&1 == 0
	}
	for from < to {
		step := min(64-from&63, to-from)
		if ^v.Valid[from>>6]>>(uint(from)&63)<<(64-uint(step)) != 0 {
			return true
		}
		from += step
	}
	return false
}

// AllNull reports whether the rows [from, to) are all NULL.
func (v *Vector) AllNull(from, to int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Form == Const {
		return v.Valid[0]&1 == 0
	}
	for from < to {
		step := min(64-from&63, to-from)
		if v.Valid[from>>6]>>(uint(from)&63)<<(64-uint(step)) != 0 {
			return false
		}
		from += step
	}
	return true
}

// index maps row i to the vector and position that hold its value.
func (v *Vector) index(i int) (*Vector, int) {
	switch v.Form {
	case Const:
		return v, 0
	case Dict:
		return v.Values, int(v.Codes[i])
	}
	return v, i
}

// Int is the value of row i of an Int64-kind vector of any form. For single values; loops take the slice.
func (v *Vector) Int(i int) int64 { f, j := v.index(i); return f.Ints[j] }

// Uint is the value of row i of a Uint64-kind vector of any form.
func (v *Vector) Uint(i int) uint64 { f, j := v.index(i); return f.Uints[j] }

// Float is the value of row i of a Float64-kind vector of any form.
func (v *Vector) Float(i int) float64 { f, j := v.index(i); return f.Floats[j] }

// Bool is the value of row i of a Bool-kind vector of any form.
func (v *Vector) Bool(i int) bool { f, j := v.index(i); return f.Bools.Get(j) }

// Bytes is the value of row i of a Bytes-kind vector of any form. It points into the heap.
func (v *Vector) Bytes(i int) []byte {
	f, j := v.index(i)
	w := f.Views[j]
	return f.Heap[w.Off : w.Off+w.Len : w.Off+w.Len]
}

// Str is Bytes as a string that points into the heap: valid as long as the heap is not changed.
func (v *Vector) Str(i int) string {
	b := v.Bytes(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Reset makes v an empty Flat vector of type t that keeps its own buffers. Only for vectors whose heap is their own.
func (v *Vector) Reset(t Type) {
	v.Type, v.Form, v.Values = t, Flat, nil
	v.Valid = nil
	v.Bools, v.Ints, v.Uints, v.Floats = v.Bools[:0], v.Ints[:0], v.Uints[:0], v.Floats[:0]
	v.Views, v.Heap, v.Codes = v.Views[:0], v.Heap[:0], v.Codes[:0]
}

// growZero extends a Flat vector to m rows with zero values. Validity is not touched.
func (v *Vector) growZero(m int) {
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(m)
	case Int64:
		v.Ints = Extended(v.Ints, m)
	case Uint64:
		v.Uints = Extended(v.Uints, m)
	case Float64:
		v.Floats = Extended(v.Floats, m)
	default:
		v.Views = Extended(v.Views, m)
	}

}

// AppendNulls appends k NULLs to the Flat vector v that holds n rows.
func (v *Vector) AppendNulls(n, k int) {
	if k == 0 {
		return
	}
	if v.Valid == nil {
		v.Valid = MakeBitmap(n + k)
		v.Valid.Fill(n)
	}
	v.Valid = v.Valid.resize(n + k)
	v.growZero(n + k)
}

// Append appends rows [from, to) of src, of any form and of the same kind, to the Flat vector v that holds n rows.
// Strings are copied into v's heap.
func (v *Vector) Append(n int, src *Vector, from, to int) {
	if to <= from {
		return
	}
	k := to - from
	v.appendValid(n, src, from, k)
	if src.Form != Flat {
		v.appendIndexed(n, src, from, to)
		return
	}
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.appendBits(n, src.Bools, from, k)
	case Int64:
		v.Ints = append(v.Ints, src.Ints[from:to]...)
	case Uint64:
		v.Uints = append(v.Uints, src.Uints[from:to]...)
	case Float64:
		v.Floats = append(v.Floats, src.Floats[from:to]...)
	default:
		v.appendViews(src.Views[from:to], src.Heap)
	}
}

// appendViews copies strings: the whole span in one copy if they lie back to back, otherwise one by one.
func (v *Vector) appendViews(views []View, heap []byte) {
	packed := true
	end := views[0].Off
	for _, w := range views {
		if w.Off != end {
			packed = false
			break
		}
		end += w.Len
	}
	if packed {
		shift := uint32(len(v.Heap)) - views[0].Off
		v.Heap = append(v.Heap, heap[views[0].Off:end]...)
		for _, w := range views {
			v.Views = append(v.Views, View{w.Off + shift, w.Len})
		}
		return
	}
	for _, w := range views {
		v.Views = append(v.Views, View{uint32(len(v.Heap)), w.Len})
		v.Heap = append(v.Heap, heap[w.Off:w.Off+w.Len]...)
	}
}

func (v *Vector) appendValid(n int, src *Vector, from, k int) {
	if src.Valid == nil && v.Valid == nil {
		return
	}
	if v.Valid == nil {
		v.Valid = MakeBitmap(n)
		v.Valid.Fill(n)
	}
	if src.Form == Const && src.Valid != nil {
		if src.Valid[0]&1 == 0 {
			v.Valid = v.Valid.resize(n + k)
			return
		}
		v.Valid = v.Valid.appendBits(n, nil, 0, k)
		return
	}
	v.Valid = v.Valid.appendBits(n, src.Valid, from, k)
}

// appendIndexed appends the values of a Const or Dict vector; validity has been appended.
func (v *Vector) appendIndexed(n int, src *Vector, from, to int) {
	if src.Form == Dict && len(src.Codes) > 0 && src.Values.rows() == 0 {
		v.growZero(n + to - from)
		return
	}
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(n + to - from)
		for i := from; i < to; i++ {
			if src.Bool(i) {
				v.Bools.Set(n + i - from)
			}
		}
	case Int64:
		v.Ints = appendPicked(v.Ints, src, src.numbers().Ints, from, to)
	case Uint64:
		v.Uints = appendPicked(v.Uints, src, src.numbers().Uints, from, to)
	case Float64:
		v.Floats = appendPicked(v.Floats, src, src.numbers().Floats, from, to)
	default:
		v.appendStrings(src, from, to)
	}
}

// numbers is the vector that holds the values of a Const or Dict vector.
func (v *Vector) numbers() *Vector {
	if v.Form == Dict {
		return v.Values
	}
	return v
}

// appendPicked appends the values of rows [from, to) of a Const or Dict vector.
func appendPicked[T any](dst []T, src *Vector, values []T, from, to int) []T {
	dst = slices.Grow(dst, to-from)
	if src.Form == Const {
		for range to - from {
			dst = append(dst, values[0])
		}
		return dst
	}
	for _, c := range src.Codes[from:to] {
		dst = append(dst, values[c])
	}
	return dst
}

// appendStrings appends the strings of rows [from, to) of a Const or Dict vector. Rows of equal value share their bytes
// where copying the values once takes less than a copy for each row.
func (v *Vector) appendStrings(src *Vector, from, to int) {
	v.Views = slices.Grow(v.Views, to-from)
	if src.Form == Const {
		w := View{uint32(len(v.Heap)), src.Views[0].Len}
		v.Heap = append(v.Heap, src.Bytes(0)...)
		for range to - from {
			v.Views = append(v.Views, w)
		}
		return
	}
	codes, views, heap := src.Codes[from:to], src.Values.Views, src.Values.Heap
	size := 0
	for _, c := range codes {
		size += int(views[c].Len)
	}
	if len(heap) <= size {
		base := uint32(len(v.Heap))
		v.Heap = append(v.Heap, heap...)
		for _, c := range codes {
			v.Views = append(v.Views, View{base + views[c].Off, views[c].Len})
		}
		return
	}
	v.Heap = slices.Grow(v.Heap, size)
	for _, c := range codes {
		w := views[c]
		v.Views = append(v.Views, View{uint32(len(v.Heap)), w.Len})
		v.Heap = append(v.Heap, heap[w.Off:w.Off+w.Len]...)
	}
}

// rows is the number of values of a Flat vector, by its kind's slice; Bool vectors count whole words.
func (v *Vector) rows() int {
	switch v.Type.Kind() {
	case Bool:
		return len(v.Bools) * 64
	case Int64:
		return len(v.Ints)
	case Uint64:
		return len(v.Uints)
	case Float64:
		return len(v.Floats)
	}
	return len(v.Views)
}

// Gather makes v the rows of src with the given numbers, keeping src's form: Const stays Const, Dict stays Dict with
// the same Values, Flat strings share src's heap. v's own buffers are reused, so it panics where they are src's.
func (v *Vector) Gather(src *Vector, rows []uint32) {
	if v.Form == Const { // its slices belong to the vector it was gathered from
		*v = Vector{}
	}
	v.Type, v.Form, v.Values = src.Type, src.Form, src.Values
	v.Heap = src.Heap[:len(src.Heap):len(src.Heap)]
	if src.Form == Const {
		v.Valid, v.Bools, v.Ints, v.Uints, v.Floats, v.Views = src.Valid, src.Bools, src.Ints, src.Uints, src.Floats,
			src.Views
		return
	}
	v.Valid = gatherBits(v.Valid, src.Valid, rows)
	if src.Form == Dict {
		v.Codes = gather(v.Codes, src.Codes, rows)
		return
	}
	switch src.Type.Kind() {
	case Bool:
		v.Bools = gatherBits(v.Bools, src.Bools, rows)
	case Int64:
		v.Ints = gather(v.Ints, src.Ints, rows)
	case Uint64:
		v.Uints = gather(v.Uints, src.Uints, rows)
	case Float64:
		v.Floats = gather(v.Floats, src.Floats, rows)
	default:
		v.Views = gather(v.Views, src.Views, rows)
	}
}

func gather[T any](dst, src []T, rows []uint32) []T {
	if cap(dst) < len(rows) {
		dst = make([]T, len(rows), max(len(rows), min(2*cap(dst), Size)))
	}
	dst = dst[:len(rows)]
	if len(rows) > 0 && &dst[0] == &src[0] {
		panic("vector: a gather reads what it writes")
	}
	for i, r := range rows {
		dst[i] = src[r]
	}
	return dst
}

func gatherBits(dst, src Bitmap, rows []uint32) Bitmap {
	if src == nil {
		return nil
	}
	if w := Words(len(rows)); cap(dst) < w {
		dst = make(Bitmap, w, max(w, min(2*cap(dst), Size/64)))
	} else {
		dst = dst[:w]
		if w > 0 && &dst[0] == &src[0] {
			panic("vector: a gather reads what it writes")
		}
		clear(dst)
	}
	for i, r := range rows {
		dst[i>>6] |= (src[r>>6] >> (r & 63) & 1) << (uint(i) & 63)
	}
	return dst
}

// Slice is rows [from, to) of v without copying values; bitmaps are shared where from is a multiple of 64. Tail bits of
// the result are zero.
func (v *Vector) Slice(from, to int) *Vector {
	if v.Form == Const {
		return v
	}
	s := &Vector{Type: v.Type, Form: v.Form, Heap: v.Heap, Values: v.Values}
	s.Valid = v.Valid.Slice(from, to)
	if v.Form == Dict {
		s.Codes = v.Codes[from:to]
		return s
	}
	switch v.Type.Kind() {
	case Bool:
		s.Bools = v.Bools.Slice(from, to)
	case Int64:
		s.Ints = v.Ints[from:to]
	case Uint64:
		s.Uints = v.Uints[from:to]
	case Float64:
		s.Floats = v.Floats[from:to]
	default:
		s.Views = v.Views[from:to]
	}
	return s
}

// Flatten returns v as a Flat vector of n rows: v itself when it is one.
func (v *Vector) Flatten(n int) *Vector {
	if v.Form == Flat {
		return v
	}
	return v.FlattenInto(&Vector{}, n)
}

// FlattenInto is Flatten with the memory of f for a vector of another form.
func (v *Vector) FlattenInto(f *Vector, n int) *Vector {
	if v.Form == Flat {
		return v
	}
	f.Reset(v.Type)
	f.Append(0, v, 0, n)
	return f
}

// Bytes64 is about the memory that n rows of v take, heap included.
func (v *Vector) Bytes64(n int) int64 {
	b := int64(len(v.Valid)+len(v.Bools)+len(v.Ints)+len(v.Uints)+len(v.Floats)+len(v.Views)) * 8
	return b + int64(len(v.Heap)) + int64(len(v.Codes))*4
}

// Truncate cuts a Flat vector to its first n rows. The heap keeps the bytes of the other rows.
func (v *Vector) Truncate(n int) {
	if v.Valid != nil {
		v.Valid = v.Valid.resize(n)
	}
	switch v.Type.Kind() {
	case Bool:
		v.Bools = v.Bools.resize(n)
	case Int64:
		v.Ints = v.Ints[:n]
	case Uint64:
		v.Uints = v.Uints[:n]
	case Float64:
		v.Floats = v.Floats[:n]
	default:
		v.Views = v.Views[:n]
	}
}
