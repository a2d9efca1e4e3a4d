package rowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"varve/engine/convert"
	"varve/engine/vector"
)

// parquetReader reads the wanted columns of a Parquet file side by side. The library panics at some damaged files: that
// is an error here.
type parquetReader struct {
	file    *parquet.File
	columns []*parquetColumn // nil: the file does not have it
	group   int              // row groups begun
	left    int64            // rows left of the current one
	row     int64            // rows read
	at      []int64
	cols    []*vector.Vector
	hold    func(bytes int64) error
	footer  int64 // bytes that the footer takes
}

// parquetColumn is a column that is read page by page.
type parquetColumn struct {
	name   string
	leaf   int
	typ    vector.Type
	set    setter
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [256]parquet.Value
	v      vector.Vector
}

// setter appends a value that is not NULL to a Flat vector of n rows; false: it does not fit the type.
type setter func(v *vector.Vector, n int, x parquet.Value) bool

func newParquetReader(f File, size int64, names []string, hold func(bytes int64) error) (r *parquetReader, err error) {
	defer unpanic(&err)
	file, footer, err := openParquet(f, size, hold)
	if err != nil {
		return nil, err
	}
	r = &parquetReader{file: file, columns: make([]*parquetColumn, len(names)),
		cols: make([]*vector.Vector, len(names)), hold: hold, footer: footer}
	for k, name := range names {
		c := file.Root().Column(name)
		if c == nil {
			continue
		}
		typ, set, err := parquetColumnType(c)
		if err != nil {
			return nil, err
		}
		r.columns[k] = &parquetColumn{name: name, leaf: c.Index(), typ: typ, set: set}
	}
	return r, nil
}

// openParquet reads the footer of a file. It returns about what that takes in memory.
func openParquet(f File, size int64, hold func(bytes int64) error) (*parquet.File, int64, error) {
	footer, err := checkFooter(f, size)
	if err == nil {
		err = hold(footer)
	}
	if err != nil {
		return nil, 0, err
	}
	file, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, 0, fmt.Errorf("no Parquet file: %w", err)
	}
	return file, footer, nil
}

// ParquetFields are the columns of a Parquet file of size bytes, in its order, with the types they are read as.
func ParquetFields(f File, size int64) (fields []vector.Field, err error) {
	defer unpanic(&err)
	file, _, err := openParquet(f, size, func(int64) error { return nil })
	if err != nil {
		return nil, err
	}
	for _, c := range file.Root().Columns() {
		typ, _, err := parquetColumnType(c)
		if err != nil {
			return nil, err
		}
		fields = append(fields, vector.Field{Name: c.Name(), Type: typ})
	}
	return fields, nil
}

// parquetColumnType is the type that a column of the first level is read as.
func parquetColumnType(c *parquet.Column) (vector.Type, setter, error) {
	if !c.Leaf() || c.Repeated() {
		return vector.Type{}, nil, fmt.Errorf("column %q is nested: lists, maps and groups are not read", c.Name())
	}
	typ, set, err := parquetType(c.Type())
	if err != nil {
		err = fmt.Errorf("column %q: %w", c.Name(), err)
	}
	return typ, set, err
}

// unpanic makes an error of a panic of the library.
func unpanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged Parquet file: %v", p)
	}
}

// Has reports whether the file has wanted column k.
func (r *parquetReader) Has(k int) bool { return r.columns[k] != nil }

// Next reads up to vector.Size rows.
func (r *parquetReader) Next(out *Rows) (ok bool, err error) {
	defer unpanic(&err)
	for r.left == 0 {
		if ok, err := r.nextGroup(); err != nil || !ok {
			return false, err
		}
	}
	n := int(min(r.left, vector.Size))
	for k, c := range r.columns {
		if c == nil {
			continue
		}
		if err := c.read(n); err != nil {
			return false, fmt.Errorf("column %q, rows from %d: %w", c.name, r.row+1, err)
		}
		r.cols[k] = &c.v
	}
	r.at = r.at[:0]
	for range n {
		r.row++
		r.at = append(r.at, r.row)
	}
	r.left -= int64(n)
	*out = Rows{N: n, Cols: r.cols, At: r.at}
	return true, nil
}

// nextGroup begins the next row group.
func (r *parquetReader) nextGroup() (bool, error) {
	groups := r.file.RowGroups()
	if r.group == len(groups) {
		return false, nil
	}
	g := groups[r.group]
	r.group++
	if r.left = g.NumRows(); r.left < 0 {
		return false, fmt.Errorf("damaged Parquet file: row group %d has %d rows", r.group, r.left)
	}
	chunks := g.ColumnChunks()
	held := r.footer
	for _, c := range r.columns {
		if c == nil {
			continue
		}
		if err := c.close(); err != nil {
			return false, err
		}
		if c.leaf < 0 || c.leaf >= len(chunks) {
			return false, fmt.Errorf("damaged Parquet file: row group %d has no column %q", r.group, c.name)
		}
		meta := r.file.Metadata().RowGroups
		if len(meta) != len(groups) || c.leaf >= len(meta[r.group-1].Columns) {
			return false, errClaims
		}
		most, err := checkPages(r.file, r.file.Size(), &meta[r.group-1].Columns[c.leaf].MetaData)
		if err != nil {
			return false, fmt.Errorf("column %q: %w", c.name, err)
		}
		held += most
		c.pages = chunks[c.leaf].Pages()
	}
	return true, r.hold(held)
}

// Close ends the pages that are open.
func (r *parquetReader) Close() (err error) {
	defer unpanic(&err)
	var all []error
	for _, c := range r.columns {
		if c != nil {
			all = append(all, c.close())
		}
	}
	return errors.Join(all...)
}

func (c *parquetColumn) close() error {
	c.release()
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}

func (c *parquetColumn) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page, c.values = nil, nil
	}
}

// read makes c.v the next n values.
func (c *parquetColumn) read(n int) error {
	c.v.Reset(c.typ)
	for have := 0; have < n; {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err == io.EOF {
				return fmt.Errorf("damaged Parquet file: %d values are missing", n-have)
			} else if err != nil {
				return err
			}
			c.page, c.values = page, page.Values()
		}
		got, err := c.values.ReadValues(c.buf[:min(n-have, len(c.buf))])
		for _, x := range c.buf[:got] {
			if x.IsNull() {
				c.v.AppendNulls(have, 1)
				have++
				continue
			}
			if !c.set(&c.v, have, x) {
				return fmt.Errorf("value %d of them does not fit %s", have+1, c.typ)
			}
			if c.v.Valid != nil {
				if vector.Words(have+1) > len(c.v.Valid) {
					c.v.Valid = append(c.v.Valid, 0)
				}
				c.v.Valid.Set(have)
			}
			have++
		}
		switch {
		case err == io.EOF || err == nil && got == 0:
			c.release()
		case err != nil:
			return err
		}
	}
	return nil
}

// parquetType is the type that a column of a file is read as.
func parquetType(t parquet.Type) (vector.Type, setter, error) {
	if l := t.LogicalType(); l != nil {
		switch l := l.Value.(type) {
		case *format.StringType, *format.EnumType:
			return vector.StringType, setBytes, nil
		case *format.JsonType:
			return vector.JSONType, setBytes, nil
		case *format.DateType:
			return vector.DateType, setInt, nil
		case *format.IntType:
			return integerType(l), setInteger(l), nil
		case *format.TimestampType:
			return vector.Timestamp(precisionOf(l.Unit)), setInt, nil
		case *format.TimeType:
			return vector.Type{ID: vector.TypeTime, Precision: precisionOf(l.Unit)}, setInt, nil
		case *format.DecimalType:
			if l.Precision < 1 || l.Precision > 38 || l.Scale < 0 || l.Scale > l.Precision {
				return vector.Type{}, nil, fmt.Errorf("%s is out of bounds: at most 38 digits", l)
			}
			return vector.Type{ID: vector.TypeDecimal, Precision: uint8(l.Precision), Scale: uint8(l.Scale)},
				setDecimal, nil
		}
	}
	switch t.Kind() {
	case parquet.Boolean:
		return vector.BoolType, setBool, nil
	case parquet.Int32:
		return vector.Int32Type, setInt, nil
	case parquet.Int64:
		return vector.Int64Type, setInt, nil
	case parquet.Int96:
		return vector.Timestamp(9), setInt96, nil
	case parquet.Float:
		return vector.Float32Type, setFloat, nil
	case parquet.Double:
		return vector.FloatType, setFloat, nil
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return vector.BinaryType, setBytes, nil
	}
	return vector.Type{}, nil, fmt.Errorf("columns of type %s are not read", t)
}

func precisionOf(u format.TimeUnit) uint8 {
	switch u.Value.(type) {
	case *format.MicroSeconds:
		return 6
	case *format.NanoSeconds:
		return 9
	}
	return 3
}

func integerType(l *format.IntType) vector.Type {
	signed, unsigned := vector.Int64Type, vector.Uint64Type
	switch l.BitWidth {
	case 8:
		signed, unsigned = vector.Int8Type, vector.Uint8Type
	case 16:
		signed, unsigned = vector.Int16Type, vector.Uint16Type
	case 32:
		signed, unsigned = vector.Int32Type, vector.Uint32Type
	}
	if l.IsSigned {
		return signed
	}
	return unsigned
}

// setInteger checks that narrow integers fit their width.
func setInteger(l *format.IntType) setter {
	if l.IsSigned {
		bits := min(max(uint(l.BitWidth), 1), 64)
		return func(v *vector.Vector, _ int, x parquet.Value) bool {
			n := integer(x)
			v.Ints = append(v.Ints, n)
			return n<<(64-bits)>>(64-bits) == n
		}
	}
	return func(v *vector.Vector, _ int, x parquet.Value) bool {
		n := uint64(integer(x))
		if x.Kind() == parquet.Int32 {
			n = uint64(uint32(n))
		}
		v.Uints = append(v.Uints, n)
		return l.BitWidth >= 64 || n>>(uint(max(l.BitWidth, 1))) == 0
	}
}

func integer(x parquet.Value) int64 {
	if x.Kind() == parquet.Int32 {
		return int64(x.Int32())
	}
	return x.Int64()
}

func setInt(v *vector.Vector, _ int, x parquet.Value) bool {
	v.Ints = append(v.Ints, integer(x))
	return true
}

func setBool(v *vector.Vector, n int, x parquet.Value) bool {
	if vector.Words(n+1) > len(v.Bools) {
		v.Bools = append(v.Bools, 0)
	}
	if x.Boolean() {
		v.Bools.Set(n)
	}
	return true
}

func setFloat(v *vector.Vector, _ int, x parquet.Value) bool {
	if x.Kind() == parquet.Float {
		v.Floats = append(v.Floats, float64(x.Float()))
	} else {
		v.Floats = append(v.Floats, x.Double())
	}
	return true
}

func setBytes(v *vector.Vector, _ int, x parquet.Value) bool {
	b := x.ByteArray()
	v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: uint32(len(b))})
	v.Heap = append(v.Heap, b...)
	return len(v.Heap) < 1<<31
}

// setInt96 reads the timestamps of old writers: nanoseconds of the day and the Julian day.
func setInt96(v *vector.Vector, _ int, x parquet.Value) bool {
	t := x.Int96()
	const epochDay = 2440588 // 1970-01-01
	day, ns := int64(t[2])-epochDay, int64(uint64(t[1])<<32|uint64(t[0]))
	const dayNS = 86400e9
	v.Ints = append(v.Ints, day*dayNS+ns)
	return ns >= 0 && ns <= dayNS && day > -106751 && day < 106751
}

// setDecimal reads INT32, INT64 and big-endian bytes.
func setDecimal(v *vector.Vector, _ int, x parquet.Value) bool {
	n := new(big.Int)
	switch x.Kind() {
	case parquet.Int32, parquet.Int64:
		n.SetInt64(integer(x))
	default:
		b := x.ByteArray()
		if len(b) > 16 {
			return false
		}
		var wide [16]byte
		if len(b) > 0 && b[0] >= 0x80 {
			binary.BigEndian.PutUint64(wide[:], ^uint64(0))
			binary.BigEndian.PutUint64(wide[8:], ^uint64(0))
		}
		copy(wide[16-len(b):], b)
		n.SetInt64(int64(binary.BigEndian.Uint64(wide[:]))).Lsh(n, 64)
		n.Add(n, new(big.Int).SetUint64(binary.BigEndian.Uint64(wide[8:])))
	}
	off := len(v.Heap)
	heap, ok := convert.AppendDecimal(v.Heap, n)
	v.Heap = heap
	v.Views = append(v.Views, vector.View{Off: uint32(off), Len: uint32(len(heap) - off)})
	return ok
}
