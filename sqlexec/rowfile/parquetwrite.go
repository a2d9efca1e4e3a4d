package rowfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// A row group ends with the first batch past one of these bounds: it is what a writer keeps in memory.
const (
	groupRows  = 1 << 20
	groupBytes = 64 << 20
)

// pageBytes is about the size of a page.
const pageBytes = 1 << 20

// dictionaryBytes is the size of a text column's dictionary past which a row group keeps the texts themselves.
const dictionaryBytes = 1 << 20

// parquetWriter writes Parquet column by column.
type parquetWriter struct {
	w      *parquet.GenericWriter[any]
	fields []vector.Field
	values []parquet.Value
	heap   []byte // what values of the current column point into
	rows   int
	bytes  int64
}

func newParquetWriter(w io.Writer, fields []vector.Field, c Compression) (*parquetWriter, error) {
	codec, err := parquetCodec(c)
	if err != nil {
		return nil, err
	}
	group := orderedGroup{Group: parquet.Group{}}
	for _, f := range fields {
		group.Group[f.Name] = parquet.Optional(parquetNode(f.Type))
	}
	byName := map[string]int{}
	for i, f := range fields {
		byName[f.Name] = i
	}
	group.fields = group.Group.Fields()
	slices.SortFunc(group.fields, func(a, b parquet.Field) int {
		return cmp.Compare(byName[a.Name()], byName[b.Name()])
	})
	return &parquetWriter{
		w: parquet.NewGenericWriter[any](w, parquet.NewSchema("schema", group), parquet.Compression(codec),
			parquet.CreatedBy("varve", "1", ""),
			parquet.DictionaryMaxBytes(dictionaryBytes)),
		fields: fields, values: make([]parquet.Value, 0, vector.Size),
	}, nil
}

// orderedGroup is a group whose fields keep their order; the library's are in the order of their names.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

// Fields are the columns in the order they were given.
func (g orderedGroup) Fields() []parquet.Field { return g.fields }

func parquetCodec(c Compression) (compress.Codec, error) {
	switch c {
	case None:
		return &parquet.Uncompressed, nil
	case Auto, Zstd:
		return &parquet.Zstd, nil
	case Gzip:
		return &parquet.Gzip, nil
	case Snappy:
		return &parquet.Snappy, nil
	case Brotli:
		return &parquet.Brotli, nil
	}
	return nil, errors.New("files of format parquet are written with zstd, gzip, snappy, brotli or no compression")
}

// parquetNode is how a type is kept.
func parquetNode(t vector.Type) parquet.Node {
	switch t.ID {
	case vector.TypeBool:
		return parquet.Leaf(parquet.BooleanType)
	case vector.TypeInt8, vector.TypeInt16, vector.TypeInt32, vector.TypeInt64:
		return parquet.Int(8 << (t.ID - vector.TypeInt8))
	case vector.TypeUint8, vector.TypeUint16, vector.TypeUint32, vector.TypeUint64:
		return parquet.Uint(8 << (t.ID - vector.TypeUint8))
	case vector.TypeFloat32:
		return parquet.Leaf(parquet.FloatType)
	case vector.TypeFloat64:
		return parquet.Leaf(parquet.DoubleType)
	case vector.TypeBinary:
		return parquet.Leaf(parquet.ByteArrayType)
	case vector.TypeJSON:
		return parquet.JSON()
	case vector.TypeDate:
		return parquet.Date()
	case vector.TypeTimestamp:
		return parquet.TimestampAdjusted(timeUnit(t), true)
	case vector.TypeTime:
		return parquet.TimeAdjusted(timeUnit(t), false)
	case vector.TypeDuration:
		return parquet.Int(64)
	case vector.TypeDecimal:
		return parquet.Decimal(int(t.Scale), int(t.Precision), parquet.FixedLenByteArrayType(16))
	}
	return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
}

// timeUnit is the unit of a time; seconds become milliseconds.
func timeUnit(t vector.Type) parquet.TimeUnit {
	switch t.Precision {
	case 6:
		return parquet.Microsecond
	case 9:
		return parquet.Nanosecond
	}
	return parquet.Millisecond
}

// Write appends the rows of a batch and ends the row group when it is full.
func (p *parquetWriter) Write(b *vector.Batch) error {
	columns := p.w.ColumnWriters()
	for c, v := range b.Cols {
		if err := p.column(v, b.N, c); err != nil {
			return fmt.Errorf("column %q: %w", p.fields[c].Name, err)
		}
		size, err := writeValues(columns[c], p.values)
		if err != nil {
			return err
		}
		p.bytes += size
	}
	if p.rows += b.N; p.rows < groupRows && p.bytes < groupBytes {
		return nil
	}
	p.rows, p.bytes = 0, 0
	return p.w.Flush()
}

// writeValues hands values over in runs of about a page, which the library does not break up, and gives their size.
func writeValues(w *parquet.ColumnWriter, values []parquet.Value) (size int64, err error) {
	for len(values) > 0 {
		n, bytes := 0, int64(0)
		for n < len(values) && bytes < pageBytes {
			bytes += 8
			if k := values[n].Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				bytes += int64(len(values[n].ByteArray()))
			}
			n++
		}
		if _, err := w.WriteRowValues(values[:n]); err != nil {
			return 0, err
		}
		values, size = values[n:], size+bytes
	}
	return size, nil
}

// Close writes the last row group and the footer.
func (p *parquetWriter) Close() error { return p.w.Close() }

// column makes the values of column c.
func (p *parquetWriter) column(v *vector.Vector, n, c int) error {
	p.values, p.heap = p.values[:0], p.heap[:0]
	var one func(i int) (parquet.Value, error)
	switch v.Type.Kind() {
	case vector.Bool:
		one = func(i int) (parquet.Value, error) { return parquet.BooleanValue(v.Bool(i)), nil }
	case vector.Int64:
		one = intValue(v)
	case vector.Uint64:
		narrow := v.Type.ID != vector.TypeUint64
		one = func(i int) (parquet.Value, error) {
			if narrow {
				return parquet.Int32Value(int32(uint32(v.Uint(i)))), nil
			}
			return parquet.Int64Value(int64(v.Uint(i))), nil
		}
	case vector.Float64:
		single := v.Type.ID == vector.TypeFloat32
		one = func(i int) (parquet.Value, error) {
			if single {
				return parquet.FloatValue(float32(v.Float(i))), nil
			}
			return parquet.DoubleValue(v.Float(i)), nil
		}
	default:
		one = p.bytesValue(v)
	}
	for i := range n {
		if v.IsNull(i) {
			p.values = append(p.values, parquet.NullValue().Level(0, 0, c))
			continue
		}
		x, err := one(i)
		if err != nil {
			return err
		}
		p.values = append(p.values, x.Level(0, 1, c))
	}
	return nil
}

func intValue(v *vector.Vector) func(i int) (parquet.Value, error) {
	switch {
	case v.Type.ID == vector.TypeTime && v.Type.Precision <= 3,
		v.Type.ID == vector.TypeTimestamp && v.Type.Precision == 0:
		factor := 1000 / min(v.Type.UnitsPerSecond(), 1000)
		return func(i int) (parquet.Value, error) {
			x := v.Int(i)
			if x > math.MaxInt64/factor || x < math.MinInt64/factor {
				return parquet.Value{}, fmt.Errorf("%d seconds do not fit the milliseconds that Parquet keeps", x)
			}
			if v.Type.ID == vector.TypeTime {
				return parquet.Int32Value(int32(x * factor)), nil
			}
			return parquet.Int64Value(x * factor), nil
		}
	case v.Type.ID == vector.TypeInt64 || v.Type.UnitsPerSecond() > 0:
		return func(i int) (parquet.Value, error) { return parquet.Int64Value(v.Int(i)), nil }
	}
	return func(i int) (parquet.Value, error) { return parquet.Int32Value(int32(v.Int(i))), nil }
}

// bytesValue returns the values of types that are kept as bytes: text for what Parquet has no type for.
func (p *parquetWriter) bytesValue(v *vector.Vector) func(i int) (parquet.Value, error) {
	switch v.Type.ID {
	case vector.TypeInterval, vector.TypeNull:
		return func(i int) (parquet.Value, error) {
			from := len(p.heap)
			p.heap = expr.AppendText(p.heap, v, i)
			return parquet.ByteArrayValue(p.heap[from:len(p.heap):len(p.heap)]), nil
		}
	case vector.TypeDecimal:
		return func(i int) (parquet.Value, error) {
			from, b := len(p.heap), v.Bytes(i)
			p.heap = binary.BigEndian.AppendUint64(p.heap, binary.LittleEndian.Uint64(b[8:]))
			p.heap = binary.BigEndian.AppendUint64(p.heap, binary.LittleEndian.Uint64(b))
			return parquet.FixedLenByteArrayValue(p.heap[from:len(p.heap):len(p.heap)]), nil
		}
	}
	return func(i int) (parquet.Value, error) { return parquet.ByteArrayValue(v.Bytes(i)), nil }
}
