package result

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"time"

	"varve/engine/convert"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// cell appends the value of row i as JSON text. The choice of the function is made once per column of a batch.
type cell func(dst []byte, i int) []byte

// jsonCell is how the values of v are written: numbers in full precision, timestamps as integers of their unit,
// floats that are not finite as null, BINARY as an array of byte numbers, JSON as it is, DECIMAL and INTERVAL as text.
func jsonCell(v *vector.Vector) cell {
	write := valueCell(v)
	if v.Valid == nil {
		return write
	}
	return func(dst []byte, i int) []byte {
		if v.IsNull(i) {
			return append(dst, "null"...)
		}
		return write(dst, i)
	}
}

// Texts says which values are written as texts where a format has another form for them.
type Texts struct {
	Times TimeFormat // of csv, json and table
	// NonFinite are floats that are not finite, of service_v1: "NaN", "inf" and "-inf" instead of null, which could be
	// NULL.
	NonFinite bool
}

// ParseTexts reads the parameters time_format, whose times are in the request's zone, and non_finite.
func ParseTexts(timeFormat, nonFinite string, zone *time.Location) (t Texts, err error) {
	if nonFinite != "" && nonFinite != "text" {
		return t, status.New(status.InvalidArguments,
			"Invalid request parameter: non_finite %q is not supported: use text, or leave it out", nonFinite)
	}
	t.NonFinite = nonFinite != ""
	t.Times, err = ParseTimeFormat(timeFormat, zone)
	return t, err
}

// json is jsonCell, with floats as the request wants them.
func (t Texts) json(v *vector.Vector) cell {
	if !t.NonFinite || v.Type.Kind() != vector.Float64 {
		return jsonCell(v)
	}
	return func(dst []byte, i int) []byte {
		switch f := v.Float(i); {
		case v.IsNull(i):
			return append(dst, "null"...)
		case math.IsNaN(f) || math.IsInf(f, 0):
			return append(convert.AppendFloat(append(dst, '"'), f, 64), '"')
		default:
			return jsontext.AppendFloat(dst, f)
		}
	}
}

func valueCell(v *vector.Vector) cell {
	flat := v.Form == vector.Flat
	switch v.Type.Kind() {
	case vector.Bool:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, v.Bool(i)) }
	case vector.Int64:
		if flat {
			ints := v.Ints
			return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, ints[i], 10) }
		}
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, v.Int(i), 10) }
	case vector.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, v.Uint(i), 10) }
	case vector.Float64:
		if flat {
			floats := v.Floats
			return func(dst []byte, i int) []byte { return jsontext.AppendFloat(dst, floats[i]) }
		}
		return func(dst []byte, i int) []byte { return jsontext.AppendFloat(dst, v.Float(i)) }
	}
	switch v.Type.ID {
	case vector.TypeNull:
		return func(dst []byte, _ int) []byte { return append(dst, "null"...) }
	case vector.TypeBinary:
		return func(dst []byte, i int) []byte { return appendByteNumbers(dst, v.Bytes(i)) }
	case vector.TypeJSON, vector.TypeList:
		return func(dst []byte, i int) []byte { return append(dst, v.Bytes(i)...) }
	case vector.TypeDecimal:
		return func(dst []byte, i int) []byte {
			return append(appendDecimal(append(dst, '"'), v.Bytes(i), v.Type.Scale), '"')
		}
	case vector.TypeInterval:
		return func(dst []byte, i int) []byte { return append(expr.AppendText(append(dst, '"'), v, i), '"') }
	}
	if flat {
		views, heap := v.Views, v.Heap
		return func(dst []byte, i int) []byte {
			w := views[i]
			return jsontext.AppendString(dst, heap[w.Off:w.Off+w.Len])
		}
	}
	return func(dst []byte, i int) []byte { return jsontext.AppendString(dst, v.Bytes(i)) }
}

// appendRow appends [cell,cell,...].
func appendRow(dst []byte, cells []cell, i int) []byte {
	dst = append(dst, '[')
	for c, write := range cells {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, i)
	}
	return append(dst, ']')
}

// cellsOf chooses the functions of all columns of a batch, reusing into.
func cellsOf(b *vector.Batch, into []cell, choose func(*vector.Vector) cell) []cell {
	into = into[:0]
	for _, v := range b.Cols {
		into = append(into, choose(v))
	}
	return into
}

func appendByteNumbers(dst, b []byte) []byte {
	dst = append(dst, '[')
	for i, x := range b {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(x), 10)
	}
	return append(dst, ']')
}

// appendDecimal appends the number of 16 bytes, little endian two's complement, with scale digits after the point.
func appendDecimal(dst, b []byte, scale uint8) []byte {
	if len(b) != 16 {
		return dst
	}
	lo, hi := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	if int64(hi) < 0 {
		dst = append(dst, '-')
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	var digits []byte
	if hi == 0 {
		digits = strconv.AppendUint(nil, lo, 10)
	} else {
		n := new(big.Int).SetUint64(hi)
		digits = n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(lo)).Append(nil, 10)
	}
	s := int(scale)
	for len(digits) <= s {
		digits = append([]byte{'0'}, digits...)
	}
	dst = append(dst, digits[:len(digits)-s]...)
	if s > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-s:]...)
	}
	return dst
}
