package expr

import (
	"bytes"
	"encoding/binary"
	"math"

	"varve/engine/convert"
	"varve/engine/vector"
)

// AppendKey appends row i of v so that equal values, and only these, give equal bytes: NULL is 0x00, everything else
// begins with 0x01. -0 equals 0, NaN equals NaN. Strings carry their length, so keys of several columns can be joined.
func AppendKey(dst []byte, v *vector.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch v.Type.Kind() {
	case vector.Bool:
		if v.Bool(i) {
			return append(dst, 1)
		}
		return append(dst, 0)
	case vector.Int64:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int(i)))
	case vector.Uint64:
		return binary.LittleEndian.AppendUint64(dst, v.Uint(i))
	case vector.Float64:
		return binary.LittleEndian.AppendUint64(dst, floatBits(v.Float(i)))
	}
	b := v.Bytes(i)
	if v.Type.ID == vector.TypeInterval {
		b = binary.LittleEndian.AppendUint64(nil, uint64(IntervalLength(b)))
	}
	dst = binary.AppendUvarint(dst, uint64(len(b)))
	return append(dst, b...)
}

// floatBits are the bits of f with one form of zero and of NaN.
func floatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// IntervalLength is an interval as nanoseconds with months of 30 days, for comparison: '6 years' = '72 months'.
func IntervalLength(b []byte) int64 {
	m, d, ns := convert.Interval(b)
	return (int64(m)*30+int64(d))*86400e9 + ns
}

// AppendSortKey appends row i of v so that bytes compare as the order wants: NULLs by nullsFirst, desc turned round.
func AppendSortKey(dst []byte, v *vector.Vector, i int, desc, nullsFirst bool) []byte {
	if v.IsNull(i) {
		if nullsFirst {
			return append(dst, 0)
		}
		return append(dst, 2)
	}
	dst = append(dst, 1)
	at := len(dst)
	switch v.Type.Kind() {
	case vector.Bool:
		dst = append(dst, 0)
		if v.Bool(i) {
			dst[at] = 1
		}
	case vector.Int64:
		dst = binary.BigEndian.AppendUint64(dst, uint64(v.Int(i))^1<<63)
	case vector.Uint64:
		dst = binary.BigEndian.AppendUint64(dst, v.Uint(i))
	case vector.Float64:
		dst = binary.BigEndian.AppendUint64(dst, SortableFloat(v.Float(i)))
	default:
		dst = appendSortableBytes(dst, v, i)
	}
	if desc {
		for k := at; k < len(dst); k++ {
			dst[k] = ^dst[k]
		}
	}
	return dst
}

// SortableFloat is a number that orders as floats do: -inf .. -0 = 0 .. inf, NaN.
func SortableFloat(f float64) uint64 {
	u := floatBits(f)
	if u>>63 != 0 && f == f {
		return ^u
	}
	return u | 1<<63
}

// FloatOfSortable is the float with such a number.
func FloatOfSortable(u uint64) float64 {
	if u>>63 == 0 {
		return math.Float64frombits(^u)
	}
	return math.Float64frombits(u ^ 1<<63)
}

// appendSortableBytes ends strings with 0x00 0x00 and writes 0x00 inside them as 0x00 0x01.
func appendSortableBytes(dst []byte, v *vector.Vector, i int) []byte {
	b := v.Bytes(i)
	switch v.Type.ID {
	case vector.TypeInterval:
		return binary.BigEndian.AppendUint64(dst, uint64(IntervalLength(b))^1<<63)
	case vector.TypeDecimal:
		if len(b) == 16 {
			dst = binary.BigEndian.AppendUint64(dst, binary.LittleEndian.Uint64(b[8:])^1<<63)
			return binary.BigEndian.AppendUint64(dst, binary.LittleEndian.Uint64(b))
		}
	}
	for {
		k := bytes.IndexByte(b, 0)
		if k < 0 {
			break
		}
		dst = append(append(dst, b[:k]...), 0, 1)
		b = b[k+1:]
	}
	return append(append(dst, b...), 0, 0)
}

// Compare orders two values of one type that are not NULL: NaN is greater than every number and equal to itself.
func Compare(a *vector.Vector, i int, b *vector.Vector, j int) int {
	switch a.Type.Kind() {
	case vector.Bool:
		x, y := a.Bool(i), b.Bool(j)
		switch {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	case vector.Int64:
		return order(a.Int(i), b.Int(j))
	case vector.Uint64:
		return order(a.Uint(i), b.Uint(j))
	case vector.Float64:
		return order(SortableFloat(a.Float(i)), SortableFloat(b.Float(j)))
	}
	switch a.Type.ID {
	case vector.TypeInterval:
		return order(IntervalLength(a.Bytes(i)), IntervalLength(b.Bytes(j)))
	case vector.TypeDecimal:
		return convert.DecimalInt(a.Bytes(i)).Cmp(convert.DecimalInt(b.Bytes(j)))
	}
	return bytes.Compare(a.Bytes(i), b.Bytes(j))
}

func order[T int64 | uint64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}
