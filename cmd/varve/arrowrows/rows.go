// Package arrowrows reads Arrow streams and files as batches of package vector.
package arrowrows

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/rowfile"
)

// Fields are the columns of an Arrow schema.
func Fields(s *arrow.Schema) ([]vector.Field, error) {
	fields := make([]vector.Field, s.NumFields())
	for i, f := range s.Fields() {
		t, err := typeOf(f)
		if err != nil {
			return nil, err
		}
		fields[i] = vector.Field{Name: f.Name, Type: t}
	}
	return fields, nil
}

// plain are the types that have no parameters.
var plain = map[arrow.Type]vector.Type{
	arrow.NULL: vector.NullType, arrow.BOOL: vector.BoolType,
	arrow.INT8: vector.Int8Type, arrow.INT16: vector.Int16Type, arrow.INT32: vector.Int32Type,
	arrow.INT64: vector.Int64Type,
	arrow.UINT8: vector.Uint8Type, arrow.UINT16: vector.Uint16Type, arrow.UINT32: vector.Uint32Type,
	arrow.UINT64:  vector.Uint64Type,
	arrow.FLOAT32: vector.Float32Type, arrow.FLOAT64: vector.FloatType,
	arrow.STRING: vector.StringType, arrow.BINARY: vector.BinaryType, arrow.DATE32: vector.DateType,
	arrow.INTERVAL_MONTH_DAY_NANO: vector.Interval,
	arrow.LARGE_STRING:            vector.StringType, arrow.STRING_VIEW: vector.StringType,
	arrow.LARGE_BINARY: vector.BinaryType,
	arrow.BINARY_VIEW:  vector.BinaryType, arrow.FIXED_SIZE_BINARY: vector.BinaryType, arrow.DATE64: vector.DateType,
	// Nested values are JSON text: that is what text formats and Parquet keep of them.
	arrow.LIST: vector.JSONType, arrow.LARGE_LIST: vector.JSONType, arrow.FIXED_SIZE_LIST: vector.JSONType,
	arrow.STRUCT: vector.JSONType, arrow.MAP: vector.JSONType,
}

// typeOf is the type of a column.
func typeOf(f arrow.Field) (vector.Type, error) {
	switch t := f.Type.(type) {
	case *arrow.TimestampType:
		return vector.Timestamp(digits[t.Unit]), nil
	case *arrow.Time32Type:
		return vector.Type{ID: vector.TypeTime, Precision: digits[t.Unit]}, nil
	case *arrow.Time64Type:
		return vector.Type{ID: vector.TypeTime, Precision: digits[t.Unit]}, nil
	case *arrow.DurationType:
		return vector.Duration(digits[t.Unit]), nil
	case *arrow.Decimal128Type:
		return vector.Type{ID: vector.TypeDecimal, Precision: uint8(t.Precision), Scale: uint8(t.Scale)}, nil
	case *arrow.DictionaryType:
		if t.ValueType.ID() == arrow.STRING || t.ValueType.ID() == arrow.LARGE_STRING {
			return vector.StringType, nil
		}
	}
	t, known := plain[f.Type.ID()]
	if !known {
		return t, fmt.Errorf("column %q: this program does not read the type %s", f.Name, f.Type)
	}
	if name, _ := f.Metadata.GetValue("ARROW:extension:name"); name == "arrow.json" {
		return vector.JSONType, nil
	}
	return t, nil
}

// digits are those of fractions of a second.
var digits = map[arrow.TimeUnit]uint8{arrow.Second: 0, arrow.Millisecond: 3, arrow.Microsecond: 6, arrow.Nanosecond: 9}

// Batch shows the rows of a record batch as columns of ours. They share its memory.
func Batch(r arrow.RecordBatch, fields []vector.Field) (*vector.Batch, error) {
	b := &vector.Batch{N: int(r.NumRows())}
	for i, f := range fields {
		v, err := vectorOf(r.Column(i), f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		b.Cols = append(b.Cols, v)
	}
	return b, nil
}

// vectorOf shows a column.
func vectorOf(a arrow.Array, t vector.Type) (*vector.Vector, error) {
	v := &vector.Vector{Type: t}
	if t.ID == vector.TypeNull {
		return vector.ConstNull(t), nil
	}
	if a.NullN() > 0 {
		v.Valid = vector.MakeBitmap(a.Len())
		for i := range a.Len() {
			if a.IsValid(i) {
				v.Valid.Set(i)
			}
		}
	}
	switch a := a.(type) {
	case *array.Boolean:
		v.Bools = vector.MakeBitmap(a.Len())
		for i := range a.Len() {
			if a.Value(i) {
				v.Bools.Set(i)
			}
		}
	case *array.Int8:
		v.Ints = widened[int64](a.Int8Values())
	case *array.Int16:
		v.Ints = widened[int64](a.Int16Values())
	case *array.Int32:
		v.Ints = widened[int64](a.Int32Values())
	case *array.Int64:
		v.Ints = a.Int64Values()
	case *array.Date32:
		v.Ints = widened[int64](a.Date32Values())
	case *array.Date64:
		v.Ints = widened[int64](a.Date64Values())
		const dayMS = 86400000
		for i, ms := range v.Ints {
			v.Ints[i] = (ms - (ms%dayMS+dayMS)%dayMS) / dayMS
		}
	case *array.Timestamp:
		v.Ints = widened[int64](a.TimestampValues())
	case *array.Time32:
		v.Ints = widened[int64](a.Time32Values())
	case *array.Time64:
		v.Ints = widened[int64](a.Time64Values())
	case *array.Duration:
		v.Ints = widened[int64](a.DurationValues())
	case *array.Uint8:
		v.Uints = widened[uint64](a.Uint8Values())
	case *array.Uint16:
		v.Uints = widened[uint64](a.Uint16Values())
	case *array.Uint32:
		v.Uints = widened[uint64](a.Uint32Values())
	case *array.Uint64:
		v.Uints = a.Uint64Values()
	case *array.Float32:
		v.Floats = widened[float64](a.Float32Values())
	case *array.Float64:
		v.Floats = a.Float64Values()
	default:
		return v, bytesOf(v, a)
	}
	return v, nil
}

// widened are numbers in the width that we compute with.
func widened[To int64 | uint64 | float64,
	From ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~float32](from []From) []To {
	to := make([]To, len(from))
	for i, x := range from {
		to[i] = To(x)
	}
	return to
}

// bytesOf shows a column of values that are kept as bytes.
func bytesOf(v *vector.Vector, a arrow.Array) error {
	switch a := a.(type) {
	case *array.String:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.Binary:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.LargeString:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.StringView:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.LargeBinary:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.BinaryView:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.FixedSizeBinary:
		for i := range a.Len() {
			push(v, a.Value(i))
		}
	case *array.Dictionary, array.ListLike, *array.Struct:
		for i := range a.Len() {
			push(v, a.ValueStr(i))
		}
	case *array.Decimal128, *array.MonthDayNanoInterval:
		// Both are 16 bytes in Arrow as with us.
		const width = 16
		data := a.Data()
		if len(data.Buffers()) < 2 || data.Buffers()[1] == nil {
			v.Views = make([]vector.View, a.Len()) // no row has a value
			return nil
		}
		v.Heap = data.Buffers()[1].Bytes()
		for i := range a.Len() {
			v.Views = append(v.Views, vector.View{Off: uint32((data.Offset() + i) * width), Len: width})
		}
	default:
		return fmt.Errorf("this program does not read the type %s", a.DataType())
	}
	return nil
}

// push appends a value.
func push[T string | []byte](v *vector.Vector, x T) {
	off := uint32(len(v.Heap))
	v.Heap = append(v.Heap, x...)
	v.Views = append(v.Views, vector.View{Off: off, Len: uint32(len(x))})
}

// Times is how timestamps stand in the text of rows: in UTC, with as many digits as they need.
func Times() rowfile.Times {
	layout, err := timefmt.Compile("%Y-%m-%dT%H:%M:%S%.fZ")
	if err != nil {
		panic(fmt.Sprintf("the layout of times: %v", err))
	}
	return rowfile.Times{Timestamp: layout}
}
