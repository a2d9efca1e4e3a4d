package engine

import (
	"slices"
	"sync"

	"varve/engine/convert"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// SampleBlock is the result of Read of a selection: for each series and each wanted column, its samples by time, as
// slices. It is the memory of one reader, which uses it again and again: the slices are valid until the next Read. One
// goroutine at a time.
type SampleBlock struct {
	s       *Selection
	from    int
	width   int           // places of one series in spans: the most columns that a table has
	spans   []blockSpan   // of column c of series i: spans[(i-from)*width+c]
	times   []int64       // of rows, ms
	columns []blockColumn // by position in the table's columns
	readers [][]scan.Rows // by group and run; nil: not opened yet
	stretch scan.Stretch
	apart   interleaving
	raw     rawRows
	cast    vector.Vector // scratch
	held    int64         // bytes that were reserved
	asked   int           // rows since the context was asked
}

// blockSpan is the samples of one series and column. own: the column has times of its own; otherwise they are the times
// of the rows.
type blockSpan struct {
	time, value, n int
	own            bool
}

// blockColumn holds the values of one column, series after series.
type blockColumn struct {
	times  []int64 // of columns whose NULLs leave rows without a sample
	floats []float64
	ends   []int // of bytes in heap
	heap   []byte
}

// Packed holds byte strings back to back.
type Packed struct {
	ends []int // ends[0] is where the first begins
	heap []byte
}

// Len is the number of strings.
func (p Packed) Len() int { return max(0, len(p.ends)-1) }

// At is the k'th string.
func (p Packed) At(k int) []byte { return p.heap[p.ends[k]:p.ends[k+1]:p.ends[k+1]] }

// Floats are the samples of column c of series i, which was read. Times rise strictly, in milliseconds.
func (b *SampleBlock) Floats(i, c int) (times []int64, values []float64) {
	span := &b.spans[(i-b.from)*b.width+c]
	return b.timesOf(span, c), b.columns[c].floats[span.value : span.value+span.n : span.value+span.n]
}

// Bytes are the samples of a column of bytes.
func (b *SampleBlock) Bytes(i, c int) (times []int64, values Packed) {
	span := &b.spans[(i-b.from)*b.width+c]
	if span.n == 0 {
		return nil, Packed{}
	}
	col := &b.columns[c]
	return b.timesOf(span, c), Packed{col.ends[span.value : span.value+span.n+1], col.heap}
}

func (b *SampleBlock) timesOf(span *blockSpan, c int) []int64 {
	times := b.times
	if span.own {
		times = b.columns[c].times
	}
	return times[span.time : span.time+span.n : span.time+span.n]
}

// Release closes what Read opened. The samples at hand stay; a following Read opens it anew.
func (b *SampleBlock) Release() {
	for _, g := range b.readers {
		for _, r := range g {
			if r != nil {
				r.Close()
			}
		}
	}
	b.s, b.readers = nil, nil
}

// Read fills b with the samples of series [from, to).
func (s *Selection) Read(from, to int, b *SampleBlock) error {
	b.begin(s, from, to)
	b.makeRoom(s, from, to)
	for i := from; i < to; i++ {
		if err := b.series(i); err != nil {
			return err
		}
	}
	return nil
}

// begin empties b for series [from, to) of a selection.
func (b *SampleBlock) begin(s *Selection, from, to int) {
	if b.s != s {
		b.Release()
		b.s = s
		b.width = 0
		for _, g := range s.groups {
			b.readers = append(b.readers, make([]scan.Rows, len(g.runs)))
			for _, t := range g.tables {
				b.width = max(b.width, len(t.columns))
			}
		}
	}
	for len(b.columns) < b.width {
		b.columns = append(b.columns, blockColumn{})
	}
	b.from, b.times = from, b.times[:0]
	if n := (to - from) * b.width; cap(b.spans) < n {
		b.spans = make([]blockSpan, n)
	} else {
		b.spans = b.spans[:n]
		clear(b.spans)
	}
	for c := range b.columns {
		col := &b.columns[c]
		col.times, col.floats, col.ends, col.heap = col.times[:0], col.floats[:0], append(col.ends[:0], 0), col.heap[:0]
	}
}

// makeRoom has the lists grow once: by what the series have in the wanted times, if their rows are spread evenly over
// those of their runs.
func (b *SampleBlock) makeRoom(s *Selection, from, to int) {
	rows := 0.0
	for i := from; i < to; i++ {
		t := s.tableOf(i)
		for _, src := range s.sourcesOf(i) {
			run := &t.group.runs[src.run]
			rows += float64(run.found.Rows(int(src.i))) * shareOf(t.time, run.span)
		}
	}
	n := int(min(rows, roomRows))
	b.times = slices.Grow(b.times, n)
	if b.width > 0 { // the other columns of a metric are mostly NULL
		b.columns[0].floats = slices.Grow(b.columns[0].floats, n)
	}
}

// roomRows bounds the room that is made before the budget is asked: more than readers of ranges take at once. The lists
// of a longer series grow as they are filled.
const roomRows = 128 << 10

// shareOf is the share of a span that lies in a range.
func shareOf(r, span scan.Range) float64 {
	from, to := max(r.From, span.From), min(r.To, span.To)
	if from > to {
		return 0
	}
	return (float64(to) - float64(from) + 1) / (float64(span.To) - float64(span.From) + 1)
}

// series appends the samples of a series: as they lie where times rise from source to source, in order of time where
// sources interleave, merged where rows replace each other.
func (b *SampleBlock) series(i int) error {
	t := b.s.tableOf(i)
	if t.time.From > t.time.To {
		return nil
	}
	mark := b.mark(t, i)
	b.apart.from = b.apart.from[:0]
	for _, src := range b.s.sourcesOf(i) {
		b.apart.from = append(b.apart.from, len(b.times)-mark.row)
		plain, err := b.copySource(t, src, mark)
		if err != nil {
			return err
		}
		if !plain {
			b.undo(t, mark)
			return b.mergeSeries(t, i)
		}
	}
	for c := range t.columns {
		span := &mark.spans[c]
		if span.own {
			span.n = len(b.columns[c].times) - span.time
		} else {
			span.n = len(b.times) - span.time
		}
	}
	if b.apart.inOrder(b.times[mark.row:]) {
		return nil
	}
	if !b.interleave(t, mark) {
		b.undo(t, mark)
		return b.mergeSeries(t, i)
	}
	return b.account()
}

// seriesMark is where the samples of a series begin.
type seriesMark struct {
	row   int // in times
	spans []blockSpan
}

func (b *SampleBlock) mark(t *wantedTable, i int) seriesMark {
	at := (i - b.from) * b.width
	m := seriesMark{row: len(b.times), spans: b.spans[at : at+len(t.columns)]}
	for c := range t.columns {
		m.spans[c] = blockSpan{time: m.row, value: b.columns[c].values(t.floats(c))}
	}
	return m
}

// values is the number of values in a column.
func (col *blockColumn) values(floats bool) int {
	if floats {
		return len(col.floats)
	}
	return len(col.ends) - 1
}

// undo takes the samples of a series out again.
func (b *SampleBlock) undo(t *wantedTable, m seriesMark) {
	b.times = b.times[:m.row]
	for c := range t.columns {
		col, span := &b.columns[c], &m.spans[c]
		if span.own {
			col.times = col.times[:span.time]
		}
		if t.floats(c) {
			col.floats = col.floats[:span.value]
		} else {
			col.ends = col.ends[:span.value+1]
			col.heap = col.heap[:col.ends[span.value]]
		}
		*span = blockSpan{value: span.value}
	}
}

// copySource appends the rows of a source as they lie; plain is false where they are to be merged: a time does not
// rise within the source, or a row may be a tombstone.
func (b *SampleBlock) copySource(t *wantedTable, src seriesSource, m seriesMark) (plain bool, err error) {
	rows, part, err := b.open(t, src)
	if err != nil {
		return false, err
	}
	unique := part != nil && part.meta.Unique || t.mode.keepAll
	first := len(b.times)
	for {
		ok, err := b.next(t, rows, part)
		if err != nil || !ok {
			return true, err
		}
		s := &b.stretch
		if !unique {
			kinds, err := rows.Kinds(s)
			if err != nil {
				return false, b.s.from.damages.met(t.group.region, part, err)
			}
			if !putsAlone(kinds, s.From, s.To) {
				return false, nil
			}
		}
		row := len(b.times)
		b.times = appendMS(b.times, s.Times, t.unit)
		if !rises(b.times[max(row-1, first):]) {
			return false, nil
		}
		for c := range t.columns {
			b.appendColumn(t, c, s.Cols[t.at[c]], s.From, s.To, row, &m)
		}
		if err := b.account(); err != nil {
			return false, err
		}
	}
}

// open goes to the rows of a series in a run.
func (b *SampleBlock) open(t *wantedTable, src seriesSource) (scan.Rows, *part, error) {
	g := 0
	for b.s.groups[g] != t.group {
		g++
	}
	run := &t.group.runs[src.run]
	rows := b.readers[g][src.run]
	if rows == nil {
		var err error
		if rows, err = run.found.Reader(); err != nil {
			return nil, nil, b.s.from.damages.met(t.group.region, run.part, err)
		}
		b.readers[g][src.run] = rows
	}
	if err := rows.Begin(int(src.i), t.time); err != nil {
		return nil, nil, b.s.from.damages.met(t.group.region, run.part, err)
	}
	return rows, run.part, nil
}

// askRows is the number of rows after which a reader checks for cancellation.
const askRows = 8192

// next reads the next rows of a series.
func (b *SampleBlock) next(t *wantedTable, rows scan.Rows, part *part) (bool, error) {
	if b.asked >= askRows {
		b.asked = 0
		if err := b.s.spent.err(); err != nil {
			return false, err
		}
	}
	ok, err := rows.Next(&b.stretch)
	if err != nil {
		return false, b.s.from.damages.met(t.group.region, part, err)
	}
	b.asked += b.stretch.To - b.stretch.From + 64
	return ok, nil
}

// appendColumn appends rows [from, to) of a column; their times are in b.times from row on.
func (b *SampleBlock) appendColumn(t *wantedTable, c int, v *vector.Vector, from, to, row int, m *seriesMark) {
	col, span := &b.columns[c], &m.spans[c]
	if !span.own && !v.HasNull(from, to) {
		b.appendValues(col, t, c, v, from, to)
		return
	}
	if !span.own {
		span.own, span.time = true, len(col.times)
		col.times = append(col.times, b.times[m.row:row]...)
	}
	for from < to {
		for from < to && v.IsNull(from) {
			from, row = from+1, row+1
		}
		end := from
		for end < to && !v.IsNull(end) {
			end++
		}
		if end > from {
			b.appendValues(col, t, c, v, from, end)
			col.times = append(col.times, b.times[row:row+end-from]...)
		}
		from, row = end, row+end-from
	}
}

// appendValues appends rows [from, to) of v, which contain no NULL.
func (b *SampleBlock) appendValues(col *blockColumn, t *wantedTable, c int, v *vector.Vector, from, to int) {
	switch {
	case !t.floats(c):
		for i := from; i < to; i++ {
			col.heap = append(col.heap, v.Bytes(i)...)
			col.ends = append(col.ends, len(col.heap))
		}
	case v.Type.Kind() == vector.Bytes: // decimals
		col.floats = appendFloats(col.floats, convert.All(&b.cast, v.Slice(from, to), vector.FloatType, to-from), 0,
			to-from)
	default:
		col.floats = appendFloats(col.floats, v, from, to)
	}
}

// appendFloats appends numbers and booleans as floats.
func appendFloats(dst []float64, v *vector.Vector, from, to int) []float64 {
	switch {
	case v.Type.Kind() == vector.Float64 && v.Form == vector.Flat:
		return append(dst, v.Floats[from:to]...)
	case v.Form == vector.Const && from < to:
		x := convert.Number(v, from)
		for range to - from {
			dst = append(dst, x)
		}
		return dst
	}
	for i := from; i < to; i++ {
		dst = append(dst, convert.Number(v, i))
	}
	return dst
}

// appendMS appends times of so many units a second as milliseconds.
func appendMS(dst, times []int64, unit int64) []int64 {
	switch {
	case unit == 1000:
		return append(dst, times...)
	case unit > 1000:
		k := unit / 1000
		for _, t := range times {
			dst = append(dst, timefmt.FloorDiv(t, k))
		}
	default:
		k := 1000 / unit
		for _, t := range times {
			dst = append(dst, t*k)
		}
	}
	return dst
}

// rises reports whether times rise strictly.
func rises(times []int64) bool {
	bad := 0
	for i := 1; i < len(times); i++ {
		if times[i] <= times[i-1] {
			bad++
		}
	}
	return bad == 0
}

// putsAlone reports whether none of the rows [from, to) is a tombstone.
func putsAlone(kinds *vector.Vector, from, to int) bool {
	if kinds.Form == vector.Const {
		to = from + 1
	}
	for i := from; i < to; i++ {
		if kinds.Uint(i) != schema.KindPut {
			return false
		}
	}
	return true
}

// account reserves what the samples have grown by.
func (b *SampleBlock) account() error {
	reserve := b.s.request.Reserve
	if reserve == nil {
		return nil
	}
	bytes := b.bytes()
	if bytes <= b.held {
		return nil
	}
	more := bytes - b.held
	b.held = bytes
	return reserve(more)
}

// bytes is the memory of the block.
func (b *SampleBlock) bytes() int64 {
	n := int64(cap(b.times))*8 + int64(cap(b.spans))*32 + b.raw.bytes() + b.apart.bytes()
	for c := range b.columns {
		col := &b.columns[c]
		n += int64(cap(col.times)+cap(col.floats)+cap(col.ends))*8 + int64(cap(col.heap))
	}
	return n
}

// keptBlock is the size up to which a block is kept for another reader. Most of what a short query allocates is its
// block; the reader that has it next counts all of its memory.
const keptBlock = 256 << 10

var keptBlocks = sync.Pool{New: func() any { return new(SampleBlock) }}

// BorrowSampleBlock is a block that GiveBack takes when its reader is done.
func BorrowSampleBlock() *SampleBlock { return keptBlocks.Get().(*SampleBlock) }

// GiveBack ends the use of a block and of all samples at hand.
func (b *SampleBlock) GiveBack() {
	if b.empty() {
		keptBlocks.Put(b)
	}
}

// empty lets go of everything but memory, and reports whether that is little enough to keep.
func (b *SampleBlock) empty() bool {
	b.Release()
	cols := b.stretch.Cols[:cap(b.stretch.Cols)]
	clear(cols) // they belong to the store
	b.stretch, b.cast, b.held = scan.Stretch{Cols: cols[:0]}, vector.Vector{}, 0
	return b.bytes() <= keptBlock
}
