package opentables

import (
	"cmp"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"varve/engine/vector"
	"varve/sqlexec/opentables/iceberg"
)

// A row group ends with the first batch past one of these bounds: it is what a writer keeps in memory.
const (
	groupRows  = 1 << 20
	groupBytes = 32 << 20
)

// pageBytes is about the size of a page.
const pageBytes = 1 << 20

// dictionaryBytes is the size of a dictionary past which a row group keeps the values themselves.
const dictionaryBytes = 1 << 20

// writerMemory is what a writer keeps at most, about: the values of a row group, their encodings, its buffers.
const writerMemory = 3 * groupBytes

// bloomBits is the size of a bloom filter for each value: about one in a hundred values that are not there passes.
const bloomBits = 10

// leaf is a column of a file.
type leaf struct {
	name  string
	field int
	typ   iceberg.Type
	from  vector.Type
	at    int // its position in the batch
}

// parquetFile writes rows as Parquet.
type parquetFile struct {
	w      *parquet.GenericWriter[any]
	leaves []leaf
	more   *moreLeaf // nil: there is no map
	stats  []valueStats
	values []parquet.Value
	words  []parquet.Value // of a dictionary
	made   []bool          // which of them are made
	heap   []byte          // what values of the current column point into
	rows   int64           // of the file
	group  int64           // rows of the row group
	bytes  int64           // of the row group, as plain values
}

// moreLeaf is the map of the columns past the bound.
type moreLeaf struct {
	name  string
	more  *more
	names []string // of its keys
	at    []int    // their positions in the batch
}

// newParquetFile begins a file. The first batch of its rows decides how columns are encoded: those with few values by
// dictionary, numbers and times by their differences, and texts with many values get a bloom filter.
func newParquetFile(w io.Writer, leaves []leaf, more *moreLeaf, first *vector.Batch) *parquetFile {
	group := orderedGroup{Group: parquet.Group{}}
	order := map[string]int{}
	var blooms []parquet.BloomFilterColumn
	for i, l := range leaves {
		node := parquetNode(l.typ)
		many := distinctly(first.Cols[l.at], first.N)
		switch kind := l.from.Kind(); {
		case !many && kind != vector.Bool:
			node = parquet.Encoded(node, &parquet.RLEDictionary)
		case kind == vector.Int64:
			node = parquet.Encoded(node, &parquet.DeltaBinaryPacked)
		case kind == vector.Bytes && l.typ == iceberg.String:
			blooms = append(blooms, parquet.SplitBlockFilter(bloomBits, l.name))
		}
		group.Group[l.name] = parquet.FieldID(parquet.Optional(node), l.field)
		order[l.name] = i
	}
	if more != nil {
		text := func(id int) parquet.Node { return parquet.FieldID(parquet.String(), id) }
		group.Group[more.name] = parquet.FieldID(parquet.Map(text(more.more.Map.Key),
			parquet.Optional(text(more.more.Map.Value))), more.more.Field)
		order[more.name] = len(leaves)
	}
	group.fields = group.Group.Fields()
	slices.SortFunc(group.fields, func(a, b parquet.Field) int { return cmp.Compare(order[a.Name()], order[b.Name()]) })
	return &parquetFile{
		w: parquet.NewGenericWriter[any](w, parquet.NewSchema("table", group),
			parquet.Compression(fastZstd{}), parquet.CreatedBy("varve", "1", ""),
			parquet.DictionaryMaxBytes(dictionaryBytes), parquet.PageBufferSize(pageBytes),
			parquet.BloomFilters(blooms...)),
		leaves: leaves, more: more, stats: make([]valueStats, len(leaves)),
		values: make([]parquet.Value, 0, vector.Size),
	}
}

// orderedGroup is a group whose fields keep their order; the library's are in the order of their names.
type orderedGroup struct {
	parquet.Group
	fields []parquet.Field
}

// Fields are the columns in the order they were given.
func (g orderedGroup) Fields() []parquet.Field { return g.fields }

// parquetNode is how a type of Iceberg is kept.
func parquetNode(t iceberg.Type) parquet.Node {
	switch t {
	case iceberg.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case iceberg.Int:
		return parquet.Leaf(parquet.Int32Type)
	case iceberg.Long:
		return parquet.Leaf(parquet.Int64Type)
	case iceberg.Float:
		return parquet.Leaf(parquet.FloatType)
	case iceberg.Double:
		return parquet.Leaf(parquet.DoubleType)
	case iceberg.Date:
		return parquet.Date()
	case iceberg.Time:
		return parquet.TimeAdjusted(parquet.Microsecond, false)
	case iceberg.Timestamptz:
		return parquet.TimestampAdjusted(parquet.Microsecond, true)
	case iceberg.Binary:
		return parquet.Leaf(parquet.ByteArrayType)
	}
	if p, s, ok := t.Digits(); ok {
		return parquet.Decimal(s, p, parquet.FixedLenByteArrayType(decimalSize(p)))
	}
	return parquet.String()
}

// fewValues is the share of rows that distinct values of a column have at most for a dictionary to serve.
const fewValues = 4

// distinctly reports whether a column has many values for its rows.
func distinctly(v *vector.Vector, n int) bool {
	if v.Form == vector.Const || v.AllNull(0, n) {
		return false
	}
	seen := map[uint64]struct{}{}
	var s sum
	for i := range n {
		if !v.IsNull(i) {
			flat, at := v, i
			if v.Form == vector.Dict {
				flat, at = v.Values, int(v.Codes[i])
			}
			seen[s.value(flat, at)] = struct{}{}
		}
	}
	return len(seen) > max(1, n/fewValues)
}

// write appends rows. The row group ends when it is full.
func (p *parquetFile) write(b *vector.Batch) error {
	columns := p.w.ColumnWriters()
	for c := range p.leaves {
		p.fill(c, b)
		size, err := writeValues(columns[c], p.values)
		if err != nil {
			return err
		}
		p.bytes += size
	}
	if p.more != nil {
		if err := p.writeMore(columns[len(p.leaves):], b); err != nil {
			return err
		}
	}
	p.rows += int64(b.N)
	if p.group += int64(b.N); p.group < groupRows && p.bytes < groupBytes {
		return nil
	}
	p.group, p.bytes = 0, 0
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

// close writes the last row group and the footer. It returns what is known of the columns, by field id, and where row
// groups begin.
func (p *parquetFile) close() (map[int]iceberg.Column, []int64, error) {
	if err := p.w.Close(); err != nil {
		return nil, nil, err
	}
	known := map[int]iceberg.Column{}
	for i, l := range p.leaves {
		known[l.field] = p.stats[i].column(l.typ, p.rows)
	}
	var splits []int64
	for _, g := range p.w.File().Metadata().RowGroups {
		first := int64(-1)
		for i := range g.Columns {
			m := &g.Columns[i].MetaData
			if i < len(p.leaves) {
				c := known[p.leaves[i].field]
				c.Bytes += m.TotalCompressedSize
				known[p.leaves[i].field] = c
			}
			at := m.DataPageOffset
			if m.DictionaryPageOffset > 0 {
				at = min(at, m.DictionaryPageOffset)
			}
			if first < 0 || at < first {
				first = at
			}
		}
		splits = append(splits, first)
	}
	return known, splits, nil
}
