package memtable

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Run is a snapshot of a memtable as a scan.Run. Its blocks are chunks: a cursor gives the rows of a block in the order
// they were appended, blocks likewise (Newest: falling by their newest time). Series gives all rows in the order of a
// run, which is made when the first reader asks for it.
type Run struct{ s *snapshot }

// Rows is the number of rows, tombstones included.
func (r *Run) Rows() int { return r.s.rows }

// Span is the smallest and largest time.
func (r *Run) Span() scan.Range {
	lo, hi := span(r.s.chunks)
	return scan.Range{From: lo, To: hi}
}

// Sequences is the smallest and largest sequence number; 0, 0 without rows.
func (r *Run) Sequences() (lo, hi uint64) {
	lo = math.MaxUint64
	for _, c := range r.s.chunks {
		if c.seqs == nil {
			lo, hi = min(lo, c.oneSeq), max(hi, c.oneSeq)
			continue
		}
		for _, q := range c.seqs {
			lo, hi = min(lo, q), max(hi, q)
		}
	}
	if r.s.rows == 0 {
		return 0, 0
	}
	return lo, hi
}

// Blocks is the number of chunks.
func (r *Run) Blocks() int { return len(r.s.chunks) }

// Block returns rows and span of a chunk.
func (r *Run) Block(i int) (int, scan.Range) {
	c := r.s.chunks[i]
	return c.n, scan.Range{From: c.min, To: c.max}
}

// Scan returns a cursor over the chunks that spec.Pieces names.
func (r *Run) Scan(spec *scan.Spec) (scan.Cursor, error) {
	chunks := r.s.chunks
	if p := spec.Pieces; p != nil {
		chunks = chunks[min(p.From, len(chunks)):min(p.To, len(chunks))]
	}
	if spec.Newest {
		chunks = slices.Clone(chunks)
		slices.SortStableFunc(chunks, func(a, b *chunk) int { return cmp.Compare(b.max, a.max) })
	}
	if st := spec.Stats; st != nil {
		st.Runs.Add(1)
		st.BlocksTotal.Add(int64(len(chunks)))
	}
	return newCursor(r.s, chunks, spec)
}

// cursor walks chunks in windows of vector.Size rows.
type cursor struct {
	reader
	at   int // chunk
	from int // row of the chunk
	win  win // rows in hand
}

// win is rows [from, to) of chunk number at.
type win struct{ at, from, to int }

func newCursor(s *snapshot, chunks []*chunk, spec *scan.Spec) (*cursor, error) {
	c := &cursor{}
	c.vectorOf = c.slice
	return c, c.open(s, chunks, spec)
}

// slice returns the rows in hand of one column.
func (c *cursor) slice(s *source) *vector.Vector {
	return s.slice(c.chunks[c.win.at], c.win.at, c.win.from, c.win.to)
}

func (c *cursor) Close() {}

func (c *cursor) Next(b *vector.Batch) (bool, error) {
	for c.at < len(c.chunks) {
		ch := c.chunks[c.at]
		if c.from == 0 {
			if err := c.heed(); err != nil {
				return false, err
			}
			if !c.begin(ch) {
				c.at++
				continue
			}
		}
		c.win = win{c.at, c.from, min(c.from+vector.Size, ch.n)}
		if c.from = c.win.to; c.from == ch.n {
			c.at, c.from = c.at+1, 0
		}
		if c.window(b) {
			return true, nil
		}
	}
	return false, nil
}

// begin reports whether any row of a chunk can pass, by time and series.
func (c *cursor) begin(ch *chunk) bool {
	ok := c.spec.Time.Overlaps(ch.min, ch.max) && c.wanted.Overlaps(ch.min, ch.max) && (c.allowed == nil || ch.series != nil || c.allowed.Get(int(ch.oneSeries)))
	if st := c.spec.Stats; st != nil {
		if ok {
			st.BlocksRead.Add(1)
			st.RowsScanned.Add(int64(ch.n))
		} else {
			st.BlocksPruned.Add(1)
		}
	}
	return ok
}

// window fills b with the rows in hand that pass and reports whether there are any. They begin at a multiple of
// vector.Size.
func (c *cursor) window(b *vector.Batch) bool {
	at, from, to := c.win.at, c.win.from, c.win.to
	ch, n := c.chunks[at], to-from
	keep := c.keep[:vector.Words(n)]
	keep.Fill(n)
	if !c.spec.Time.Covers(ch.min, ch.max) {
		keepTimes(keep, ch.times[from:to], c.spec.Time)
	}
	if c.allowed != nil && ch.series != nil {
		keepSeries(keep, ch.series[from:to], c.allowed)
	}
	c.eval(n, keep)
	b.N, b.Cols = n, b.Cols[:0]
	if keep.All(n) {
		for i := range c.out {
			b.Cols = append(b.Cols, c.slice(&c.out[i]))
		}
	} else {
		c.rows = keep.AppendRows(c.rows[:0])
		if b.N = len(c.rows); b.N == 0 {
			return false
		}
		for i := range c.rows {
			c.rows[i] += uint32(from)
		}
		for i := range c.out {
			b.Cols = append(b.Cols, c.out[i].gather(ch, at, c.rows))
		}
	}
	if st := c.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true
}

// keepTimes takes the rows outside the range out of keep.
func keepTimes(keep vector.Bitmap, times []int64, r scan.Range) {
	for w := range keep {
		var m uint64
		for i, t := range times[w*64 : min(w*64+64, len(times))] {
			m |= vector.Bit(t >= r.From && t <= r.To) << i
		}
		keep[w] &= m
	}
}

// keepSeries takes the rows of series that are not allowed out of keep.
func keepSeries(keep vector.Bitmap, series []uint32, allowed vector.Bitmap) {
	for w := range keep {
		var m uint64
		for i, n := range series[w*64 : min(w*64+64, len(series))] {
			m |= (allowed[n>>6] >> (n & 63) & 1) << i
		}
		keep[w] &= m
	}
}

// reader is what cursors and walks share: where columns come from, which series may pass, the conditions on rows.
type reader struct {
	s       *snapshot
	chunks  []*chunk
	spec    *scan.Spec
	out     []source        // by spec.Columns
	prog    *filter.Program // conditions that look at other columns than tags
	conds   []source        // what conditions look at
	bounds  scan.Narrowing
	wanted  scan.Range      // by the bounds
	bounded *filter.Program // conditions of the bounds; nil: none
	table   schema.TableID  // whose series are read
	few     []uint32        // the only series that the key prefix leaves, rising; nil: they are not few
	allowed vector.Bitmap   // series that pass the key prefix and the conditions on tags; nil: all do
	keep    vector.Bitmap   // scratch
	rows    []uint32        // scratch
	long    bool            // rows of a chunk are long in the mean: a batch of many would be large

	vectorOf func(*source) *vector.Vector // the rows in hand of a column; set before open
	lookup   func(schema.ColumnID) *vector.Vector
}

func (r *reader) open(s *snapshot, chunks []*chunk, spec *scan.Spec) error {
	r.s, r.chunks, r.spec, r.keep = s, chunks, spec, vector.MakeBitmap(vector.Size)
	r.bounds, r.wanted = spec.Narrowing.Begin(), scan.All
	r.long = slices.ContainsFunc(chunks, func(c *chunk) bool { return c.bytes > longRow*int64(c.n) })
	if r.table = s.series.only; len(spec.KeyPrefix) > 0 {
		r.table = schema.KeyTable(spec.KeyPrefix)
	}
	if len(spec.KeyPrefix) > len(schema.KeyPrefix(r.table)) {
		if numbers := s.series.begin(r.table, spec.KeyPrefix); len(numbers) <= fewSeries {
			r.few = append([]uint32{}, numbers...)
		}
	}
	var onTags, onRows filter.And
	for i := range spec.Filter {
		c := &spec.Filter[i]
		tags, err := r.describe(c)
		switch {
		case err != nil:
			return err
		case tags:
			onTags = append(onTags, *c)
		default:
			onRows = append(onRows, *c)
		}
	}
	var err error
	if r.prog, err = filter.Compile(onRows); err != nil {
		return err
	}
	if err := r.allow(onTags); err != nil {
		return err
	}
	r.lookup = func(id schema.ColumnID) *vector.Vector { return r.vectorOf(r.condSource(id)) }
	r.out = make([]source, len(spec.Columns))
	for i, c := range spec.Columns {
		if r.out[i], err = r.source(c); err != nil {
			return err
		}
	}
	return nil
}

// heed consults the bounds of the scan.
func (r *reader) heed() error {
	if !r.bounds.Heed() {
		return nil
	}
	var and filter.And
	r.wanted, and = r.bounds.Wanted()
	for i := range and {
		if _, err := r.describe(&and[i]); err != nil {
			return err
		}
	}
	var err error
	r.bounded, err = filter.Compile(and)
	return err
}

// eval takes those of n rows in hand that fail a condition, or lie outside of a bound, out of keep.
func (r *reader) eval(n int, keep vector.Bitmap) {
	r.prog.Eval(n, r.lookup, keep)
	if r.bounded != nil {
		r.bounded.Eval(n, r.lookup, keep)
	}
}

// describe makes the sources of a condition's columns; tags: it looks at tags alone.
func (r *reader) describe(c *filter.Cond) (tags bool, err error) {
	tags = true
	for _, id := range c.AppendColumns(nil) {
		i := slices.IndexFunc(r.spec.FilterColumns, func(f schema.Column) bool { return f.ID == id })
		if i < 0 {
			return false, fmt.Errorf("filter column %d is not described", id)
		}
		tags = tags && r.spec.FilterColumns[i].Semantic == schema.Tag
		if slices.ContainsFunc(r.conds, func(s source) bool { return s.col.ID == id }) {
			continue
		}
		src, err := r.source(r.spec.FilterColumns[i])
		if err != nil {
			return false, err
		}
		r.conds = append(r.conds, src)
	}
	return tags, nil
}

// condSource is the source of a column that conditions look at.
func (r *reader) condSource(id schema.ColumnID) *source {
	return &r.conds[slices.IndexFunc(r.conds, func(s source) bool { return s.col.ID == id })]
}

// allowedKey is what is found out once for all pieces of a scan: the series of a snapshot that pass a key prefix and the
// conditions on tags.
type allowedKey struct {
	s      *snapshot
	prefix string
}

// allow decides on the series: once for each, not for each row.
func (r *reader) allow(onTags filter.And) (err error) {
	if len(onTags) == 0 && len(r.spec.KeyPrefix) == 0 {
		return nil
	}
	r.allowed, err = scan.Once(r.spec.Memo, allowedKey{r.s, string(r.spec.KeyPrefix)}, func() (vector.Bitmap, error) {
		prog, err := filter.Compile(onTags)
		if err != nil {
			return nil, err
		}
		numbers := r.few
		if numbers == nil {
			numbers = r.s.series.begin(r.table, r.spec.KeyPrefix)
		}
		keep := vector.MakeBitmap(len(numbers))
		keep.Fill(len(numbers))
		if len(numbers) > 0 {
			prog.Eval(len(numbers), func(id schema.ColumnID) *vector.Vector {
				src := r.condSource(id)
				return src.bySeries(numbers)
			}, keep)
		}
		allowed := vector.MakeBitmap(r.s.series.len())
		for i, n := range numbers {
			if keep.Get(i) {
				allowed.Set(int(n))
			}
		}
		return allowed, nil
	})
	return err
}

// source is one column of some chunks, as the reader wants to see it.
type source struct {
	col    schema.Column
	tag    *tagColumn
	table  schema.TableID // whose tag it is
	few    []uint32       // the series that the tag was made of; nil: all of the table
	series *seriesSnapshot
	values []*vector.Vector // by chunk: Flat, or Const where the chunk has no values of its own. nil for tags
	head   vector.Vector    // scratch: a window of a chunk's vector
	own    vector.Vector    // scratch: gathered rows
	codes  []uint32         // scratch of tags: numbers of series
}

func (r *reader) source(c schema.Column) (source, error) {
	src := source{col: c, table: r.table, few: r.few, series: &r.s.series}
	if c.Semantic == schema.Tag {
		if r.table == 0 && r.s.rows > 0 {
			return src, fmt.Errorf("tag %s is asked for of all tables in a region at once", c.Name)
		}
		var err error
		if r.few != nil {
			src.tag, err = (&tagDicts{}).column(c, &r.s.series.seriesKeys, r.few)
		} else {
			src.tag, err = r.s.series.tag(r.table, c)
		}
		return src, err
	}
	src.values = make([]*vector.Vector, len(r.chunks))
	for i, ch := range r.chunks {
		v := ch.vector(c)
		if v.Type.Kind() != c.Type.Kind() {
			return src, fmt.Errorf("column %s is %s in memory and %s in the schema", c.Name, v.Type, c.Type)
		}
		src.values[i] = v
	}
	return src, nil
}

// vector returns a column of the chunk: Flat, or Const where all rows are alike.
func (c *chunk) vector(col schema.Column) *vector.Vector {
	switch col.ID {
	case schema.SequenceID:
		if c.seqs == nil {
			return vector.ConstUint(col.Type, c.oneSeq)
		}
		return &vector.Vector{Type: col.Type, Uints: c.seqs}
	case schema.KindID:
		if c.kinds == nil {
			return vector.ConstUint(col.Type, uint64(c.oneKind))
		}
		return &vector.Vector{Type: col.Type, Uints: widen(c.kinds)}
	case schema.SeriesID:
		if c.series == nil {
			return vector.ConstUint(col.Type, uint64(c.oneSeries))
		}
		return &vector.Vector{Type: col.Type, Uints: widen(c.series)}
	}
	if v := c.column(col.ID); v != nil {
		return v
	}
	if col.Default != nil && c.layout.table.ByID(col.ID) < 0 { // the column is younger than the rows
		return col.Default
	}
	return vector.ConstNull(col.Type)
}

func widen[T uint8 | uint32](s []T) []uint64 {
	w := make([]uint64, len(s))
	for i, x := range s {
		w[i] = uint64(x)
	}
	return w
}

// slice returns rows [from, to) of chunk number at without copying; from is a multiple of 64, to one or the chunk's end.
func (s *source) slice(ch *chunk, at, from, to int) *vector.Vector {
	if s.tag != nil {
		if ch.series == nil {
			return s.ofSeries(ch.oneSeries)
		}
		return s.bySeries(ch.series[from:to])
	}
	v := s.values[at]
	if v.Form == vector.Const {
		return v
	}
	h := &s.head
	*h = vector.Vector{Type: s.col.Type, Heap: v.Heap}
	if v.Valid != nil {
		h.Valid = v.Valid[from>>6 : vector.Words(to)]
	}
	switch v.Type.Kind() {
	case vector.Bool:
		h.Bools = v.Bools[from>>6 : vector.Words(to)]
	case vector.Int64:
		h.Ints = v.Ints[from:to]
	case vector.Uint64:
		h.Uints = v.Uints[from:to]
	case vector.Float64:
		h.Floats = v.Floats[from:to]
	default:
		h.Views = v.Views[from:to]
	}
	return h
}

// gather returns the rows with the given numbers of chunk number at; strings stay where they are.
func (s *source) gather(ch *chunk, at int, rows []uint32) *vector.Vector {
	if s.tag == nil {
		v := s.values[at]
		if v.Form == vector.Const {
			return v
		}
		s.own.Gather(v, rows)
		s.own.Type = s.col.Type
		return &s.own
	}
	if ch.series == nil {
		return s.ofSeries(ch.oneSeries)
	}
	s.codes = s.codes[:0]
	for _, r := range rows {
		s.codes = append(s.codes, ch.series[r])
	}
	return s.bySeries(s.codes)
}

// ofSeries returns the tag of one series: Const.
func (s *source) ofSeries(n uint32) *vector.Vector {
	one := [1]uint32{n}
	s.tagCodes(one[:])
	return s.tag.one(&s.own, s.own.Codes[0])
}

// bySeries returns the tag of rows of the given series.
func (s *source) bySeries(series []uint32) *vector.Vector {
	s.tagCodes(series)
	return s.tag.vector(&s.own, s.tag.nulls || s.few != nil || s.series.only != s.table)
}

// tagCodes makes s.own.Codes the codes of the tag for rows of the given series.
func (s *source) tagCodes(series []uint32) {
	codes := s.own.Codes[:0]
	if s.few == nil {
		s.own.Codes = s.series.codes(codes, s.table, s.tag, series)
		return
	}
	for _, n := range series {
		code := uint32(0)
		if i, ok := slices.BinarySearch(s.few, n); ok {
			code = s.tag.codes[i]
		}
		codes = append(codes, code)
	}
	s.own.Codes = codes
}

var _ scan.Run = (*Run)(nil)
