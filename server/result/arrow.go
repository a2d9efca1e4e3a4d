package result

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// arrowStream writes a result as an Arrow IPC stream: the schema, a record batch for each batch of rows, the end mark.
// Strings are Utf8, JSON is Utf8 with the extension arrow.json, times have no zone (they are UTC), the rest has Arrow's
// type of the same name.
type arrowStream struct {
	schema *arrow.Schema
	w      *ipc.Writer
	buf    []byte // what the writer wrote and Results has not taken yet
}

func newArrowStream(fields []vector.Field, f Format) *arrowStream {
	s := &arrowStream{}
	list := make([]arrow.Field, len(fields))
	for i, f := range fields {
		list[i] = arrow.Field{Name: f.Name, Type: arrowType(f.Type), Nullable: true}
		if f.Type.ID == vector.TypeJSON {
			list[i].Metadata = arrow.NewMetadata([]string{"ARROW:extension:name", "ARROW:extension:metadata"},
				[]string{"arrow.json", ""})
		}
	}
	s.schema = arrow.NewSchema(list, nil)
	options := []ipc.Option{ipc.WithSchema(s.schema)}
	switch f {
	case ArrowZstd:
		options = append(options, ipc.WithZstd())
	case ArrowLZ4:
		options = append(options, ipc.WithLZ4())
	}
	s.w = ipc.NewWriter(s, options...)
	return s
}

// Write takes the bytes of the stream.
func (s *arrowStream) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}

// take appends the bytes since the last call to dst.
func (s *arrowStream) take(dst []byte) []byte {
	dst = append(dst, s.buf...)
	s.buf = s.buf[:0]
	return dst
}

// rows writes rows [from, to) of a batch.
func (s *arrowStream) rows(b *vector.Batch, from, to int) error {
	columns, n := make([]arrow.Array, len(b.Cols)), to-from
	numbers := make([]uint32, 0, n)
	for i := from; i < to && from > 0; i++ {
		numbers = append(numbers, uint32(i))
	}
	for c, v := range b.Cols {
		if from > 0 {
			all := v
			v = &vector.Vector{}
			v.Gather(all, numbers)
		}
		data := arrowData(v, n, s.schema.Field(c).Type)
		columns[c] = array.MakeFromData(data)
		defer columns[c].Release()
		data.Release()
	}
	r := array.NewRecordBatch(s.schema, columns, int64(n))
	defer r.Release()
	return s.w.Write(r)
}

func arrowType(t vector.Type) arrow.DataType {
	unit := [...]arrow.TimeUnit{0: arrow.Second, 3: arrow.Millisecond, 6: arrow.Microsecond, 9: arrow.Nanosecond}
	switch t.ID {
	case vector.TypeNull:
		return arrow.Null
	case vector.TypeBool:
		return arrow.FixedWidthTypes.Boolean
	case vector.TypeInt8:
		return arrow.PrimitiveTypes.Int8
	case vector.TypeInt16:
		return arrow.PrimitiveTypes.Int16
	case vector.TypeInt32:
		return arrow.PrimitiveTypes.Int32
	case vector.TypeInt64:
		return arrow.PrimitiveTypes.Int64
	case vector.TypeUint8:
		return arrow.PrimitiveTypes.Uint8
	case vector.TypeUint16:
		return arrow.PrimitiveTypes.Uint16
	case vector.TypeUint32:
		return arrow.PrimitiveTypes.Uint32
	case vector.TypeUint64:
		return arrow.PrimitiveTypes.Uint64
	case vector.TypeFloat32:
		return arrow.PrimitiveTypes.Float32
	case vector.TypeFloat64:
		return arrow.PrimitiveTypes.Float64
	case vector.TypeBinary:
		return arrow.BinaryTypes.Binary
	case vector.TypeDate:
		return arrow.FixedWidthTypes.Date32
	case vector.TypeTimestamp:
		return &arrow.TimestampType{Unit: unit[t.Precision]}
	case vector.TypeTime:
		if t.Precision <= 3 {
			return &arrow.Time32Type{Unit: unit[t.Precision]}
		}
		return &arrow.Time64Type{Unit: unit[t.Precision]}
	case vector.TypeDuration:
		return &arrow.DurationType{Unit: unit[t.Precision]}
	case vector.TypeInterval:
		return arrow.FixedWidthTypes.MonthDayNanoInterval
	case vector.TypeDecimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case vector.TypeList:
		return arrow.ListOf(arrowType(t.Elem()))
	}
	return arrow.BinaryTypes.String
}

// arrowData lays n rows of a column out in Arrow's form.
func arrowData(v *vector.Vector, n int, t arrow.DataType) *array.Data {
	if t == arrow.Null {
		return array.NewData(t, n, []*memory.Buffer{nil}, nil, n, 0)
	}
	valid, nulls := arrowValid(v, n)
	switch {
	case v.Type.ID == vector.TypeList:
		offsets, elements := listData(v, n)
		defer elements.Release()
		return array.NewData(t, n, []*memory.Buffer{valid, offsets}, []arrow.ArrayData{elements}, nulls, 0)
	case v.Type.Kind() != vector.Bytes, v.Type.ID == vector.TypeDecimal, v.Type.ID == vector.TypeInterval:
		return array.NewData(t, n, []*memory.Buffer{valid, fixedData(v, n)}, nil, nulls, 0)
	}
	offsets, bytes := textData(v, n)
	return array.NewData(t, n, []*memory.Buffer{valid, offsets, bytes}, nil, nulls, 0)
}

// arrowValid is the bitmap of the rows that have a value, nil if all have, and the number of NULLs.
func arrowValid(v *vector.Vector, n int) (*memory.Buffer, int) {
	if v.Valid == nil {
		return nil, 0
	}
	bits := vector.MakeBitmap(n)
	for i := range n {
		if !v.IsNull(i) {
			bits.Set(i)
		}
	}
	return memory.NewBufferBytes(words(bits)), n - bits.Count()
}

func words(b vector.Bitmap) []byte {
	out := make([]byte, 0, 8*len(b))
	for _, w := range b {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

// fixedData is the values of a type of fixed width, in Arrow's width. The value of a NULL means nothing, but is zero,
// so that it does not show what was in memory.
func fixedData(v *vector.Vector, n int) *memory.Buffer {
	if v.Type.Kind() == vector.Bool {
		bits := vector.MakeBitmap(n)
		for i := range n {
			if !v.IsNull(i) && v.Bool(i) {
				bits.Set(i)
			}
		}
		return memory.NewBufferBytes(words(bits))
	}
	width := fixedWidth(v.Type)
	out := make([]byte, 0, n*width)
	for i := range n {
		if v.IsNull(i) {
			out = append(out, make([]byte, width)...)
			continue
		}
		var x uint64
		switch v.Type.Kind() {
		case vector.Int64:
			x = uint64(v.Int(i))
		case vector.Uint64:
			x = v.Uint(i)
		case vector.Float64:
			if x = math.Float64bits(v.Float(i)); width == 4 {
				x = uint64(math.Float32bits(float32(v.Float(i))))
			}
		default: // 16 bytes, little endian as Arrow's
			out = append(append(out, v.Bytes(i)...), make([]byte, width-len(v.Bytes(i)))...)
			continue
		}
		for b := range width {
			out = append(out, byte(x>>(8*b)))
		}
	}
	return memory.NewBufferBytes(out)
}

// fixedWidth is the size of a value in Arrow, in bytes.
func fixedWidth(t vector.Type) int {
	switch t.ID {
	case vector.TypeInt8, vector.TypeUint8:
		return 1
	case vector.TypeInt16, vector.TypeUint16:
		return 2
	case vector.TypeInt32, vector.TypeUint32, vector.TypeFloat32, vector.TypeDate:
		return 4
	case vector.TypeInterval, vector.TypeDecimal:
		return 16
	case vector.TypeTime:
		if t.Precision <= 3 {
			return 4
		}
	}
	return 8
}

// textData is the offsets and bytes of strings. A batch is far below the 2 GiB that offsets of 32 bits reach.
func textData(v *vector.Vector, n int) (offsets, bytes *memory.Buffer) {
	ends, heap := make([]byte, 4, 4*n+4), []byte(nil)
	for i := range n {
		if !v.IsNull(i) {
			heap = append(heap, v.Bytes(i)...)
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(len(heap)))
	}
	return memory.NewBufferBytes(ends), memory.NewBufferBytes(heap)
}

// listData is the offsets and elements of lists.
func listData(v *vector.Vector, n int) (offsets *memory.Buffer, elements *array.Data) {
	ends, count := make([]byte, 4, 4*n+4), 0
	all := &vector.Vector{Type: v.Type.Elem()}
	for i := range n {
		if !v.IsNull(i) {
			count += expr.AppendElements(all, count, v.Bytes(i))
		}
		ends = binary.LittleEndian.AppendUint32(ends, uint32(count))
	}
	return memory.NewBufferBytes(ends), arrowData(all, count, arrowType(all.Type))
}
