package sst

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst/encoding"
	"varve/sst/index"
)

// Encoded pages are written, column by column, when they reach stripeSize or half of what a block has at most in
// memory. Smaller parts have all pages of a column side by side.
var stripeSize = invariant.Limit(16<<20, 1<<10)

// Bounds of what a writer holds in memory.
const (
	// maxBlockHeap is the number of bytes of one column's strings from which on a block is closed early: a reader of
	// one row has the whole block in memory.
	maxBlockHeap = 8 << 20
	// DefaultBlockBytes is the same for all columns together: sixty columns of ordinary values have less.
	DefaultBlockBytes = 32 << 20
	// MaxValue is the longest string that a part takes.
	MaxValue = encoding.MaxHeap - 32<<20
)

// Writer writes one part. One goroutine at a time. After an error the file is useless.
type Writer struct {
	f        vfs.File
	o        WriterOptions
	cols     []*columnWriter
	kinds    []vector.Kind // of cols
	time     int           // position of the time index in cols
	encoders []*blockEncoder
	dir      directory
	series   seriesWriter
	tags     tagsWriter
	sizes    []int // scratch: of rows
	spare    vector.Vector
	key      []byte // of the current series; nil before the first
	begun    bool   // the current series has rows and so is in series
	rows     int    // rows of the open block
	held     int    // bytes that these have
	total    uint64
	at       uint64 // bytes written
	buffered int
	lastTime int64
	sources  map[*Part]*spliced // parts that blocks were taken over from
	origin   []byte
	err      error

	stretches    []int // scratch: where those of the open block begin, the last first
	stretchCount int
	unsized      bool // there are too many of them for text sizes
}

// columnWriter is one column of an open part.
type columnWriter struct {
	entry    columnEntry
	indexing indexing
	buf      vector.Vector // values of the open block
	n        int           // number of rows in buf; later rows of the block are NULL
	pages    stream
	filters  stream
	zones    *index.Zones
	dict     *encoding.Dictionary
	postings *index.Postings
	seen     vector.Bitmap
	codes    []uint32
	sizes    textSizes

	indexTime time.Duration // spent on filters, zones and postings
}

// NewWriter begins a part. Series must be called before the first Write.
func NewWriter(f vfs.File, o WriterOptions) *Writer {
	if o.BlockRows == 0 {
		o.BlockRows = DefaultBlockRows
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = DefaultBlockBytes
	}
	w := &Writer{f: f, o: o, time: -1}
	if o.BlockRows%vector.Size != 0 || o.BlockRows < 0 || o.BlockRows > MaxBlockRows {
		w.err = fmt.Errorf("blocks of %d rows: must be a multiple of %d, at most %d", o.BlockRows, vector.Size,
			MaxBlockRows)
	}
	for range max(1, o.Workers) {
		w.encoders = append(w.encoders, &blockEncoder{Encoder: encoding.NewEncoder()})
	}
	columns := o.Columns
	if o.Hidden {
		columns = append(append([]schema.Column(nil), columns...), schema.SequenceColumn, schema.KindColumn)
	}
	for i := range columns {
		c := &columnWriter{entry: columnEntry{id: columns[i].ID, typ: columns[i].Type, name: columns[i].Name},
			indexing: indexingOf(&columns[i])}
		c.buf.Type = columns[i].Type
		c.zones = index.NewZones(columns[i].Type)
		c.sizes.on = w.hasSizes(&columns[i])
		if columns[i].Type.Kind() == vector.Bytes {
			c.dict, c.postings = encoding.NewShared(c.indexing.values), index.NewPostings()
		}
		if columns[i].Semantic == schema.Timestamp {
			w.time = i
			w.dir.time = columns[i].ID
		}
		w.cols, w.kinds = append(w.cols, c), append(w.kinds, c.entry.typ.Kind())
	}
	if w.time < 0 && w.err == nil {
		w.err = errors.New("a part needs its time index column")
	}
	w.dir.blockRows, w.dir.minSeq, w.dir.maxSeq, w.dir.hidden = uint64(o.BlockRows), o.MinSeq, o.MaxSeq, o.Hidden
	return w
}

// Series says that the rows that follow belong to the series of the key; keys rise.
func (w *Writer) Series(key []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.key != nil && bytes.Compare(key, w.key) <= 0 {
		w.err = fmt.Errorf("series keys are out of order: %x after %x", key, w.key)
		return w.err
	}
	if len(key) > MaxKeySize {
		w.err = fmt.Errorf("series key of %d bytes, at most %d", len(key), MaxKeySize)
		return w.err
	}
	w.key, w.begun = append(w.key[:0], key...), false
	w.lastTime = math.MinInt64
	return nil
}

// Write appends rows of the current series, by rising time. The batch is not kept.
func (w *Writer) Write(b *vector.Batch) error {
	if w.err == nil {
		w.err = w.write(b)
	}
	return w.err
}

func (w *Writer) write(b *vector.Batch) error {
	if err := w.checkBatch(b); err != nil {
		return err
	}
	if b.N > 0 && !w.begun {
		w.tags.add(w.key, len(w.series.first))
		w.series.add(w.key, w.total)
		w.begun = true
	}
	for from := 0; from < b.N; {
		n, err := w.room(b, from)
		if err != nil {
			return err
		}
		if n > 0 {
			for i, v := range b.Cols {
				if v.AllNull(from, from+n) {
					continue // NULLs are put when a value follows, or the block ends
				}
				c := w.cols[i]
				c.pad(w.rows)
				before := len(c.buf.Heap)
				c.buf.Append(w.rows, v, from, from+n)
				c.n = w.rows + n
				w.held += len(c.buf.Heap) - before
			}
			w.held += n * w.fixedBytes()
			if err := w.checkTimes(w.rows, w.rows+n); err != nil {
				return err
			}
			w.rows += n
			w.total += uint64(n)
			from += n
		}
		if w.rows == w.o.BlockRows || n == 0 {
			if err := w.closeBlock(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pad puts NULLs up to n rows.
func (c *columnWriter) pad(n int) {
	c.buf.AppendNulls(c.n, n-c.n)
	c.n = n
}

func (w *Writer) checkBatch(b *vector.Batch) error {
	if w.key == nil {
		return errors.New("rows before the first series")
	}
	if len(b.Cols) != len(w.cols) {
		return fmt.Errorf("batch of %d columns for a part of %d", len(b.Cols), len(w.cols))
	}
	if w.total+uint64(b.N) > maxRows {
		return fmt.Errorf("a part takes at most %d rows", uint64(maxRows))
	}
	for i, v := range b.Cols {
		if v.Type.Kind() != w.kinds[i] {
			return fmt.Errorf("column %q: %s given, the part has %s", w.cols[i].entry.name, v.Type, w.cols[i].entry.typ)
		}
	}
	return nil
}

// fixedBytes is the memory of a row without the bytes of its strings.
func (w *Writer) fixedBytes() int { return 8 * len(w.cols) }

// room returns how many rows from from on fit into the open block: 0 when it must be closed first.
func (w *Writer) room(b *vector.Batch, from int) (int, error) {
	n := min(b.N-from, w.o.BlockRows-w.rows)
	all := w.held + n*w.fixedBytes()
	for i, kind := range w.kinds {
		v := b.Cols[i]
		if kind != vector.Bytes || v.AllNull(from, from+n) {
			continue
		}
		c := w.cols[i]
		size := len(c.buf.Heap)
		for k := range n {
			if v.IsNull(from + k) {
				continue
			}
			l := len(v.Bytes(from + k))
			if l > MaxValue {
				return 0, fmt.Errorf("column %q: value of %d bytes, at most %d", c.entry.name, l, MaxValue)
			}
			if size += l; size > maxBlockHeap && (k > 0 || w.rows > 0) {
				n = k
				break
			}
		}
		all += size - len(c.buf.Heap)
	}
	if all > w.o.BlockBytes {
		n = w.light(b, from, n)
	}
	return n, nil
}

// light returns how many of n rows fit into the open block by the bytes of all their columns.
func (w *Writer) light(b *vector.Batch, from, n int) int {
	w.sizes = vector.Sized(w.sizes, n)
	for k := range w.sizes {
		w.sizes[k] = w.fixedBytes()
	}
	for i, kind := range w.kinds {
		if v := b.Cols[i]; kind == vector.Bytes {
			for k := range n {
				if !v.IsNull(from + k) {
					w.sizes[k] += len(v.Bytes(from + k))
				}
			}
		}
	}
	all := w.held
	for k, size := range w.sizes {
		if all += size; all > w.o.BlockBytes && (k > 0 || w.rows > 0) {
			return k
		}
	}
	return n
}

// checkTimes returns an error if the times of a series fall.
func (w *Writer) checkTimes(from, to int) error {
	c := w.cols[w.time]
	if c.buf.Valid != nil || c.n < to {
		return fmt.Errorf("column %q: the time index has no NULL", c.entry.name)
	}
	last := w.lastTime
	for _, t := range c.buf.Ints[from:to] {
		if t < last {
			return fmt.Errorf("column %q: time %d after %d within a series", c.entry.name, t, last)
		}
		last = t
	}
	w.lastTime = last
	return nil
}

// closeBlock encodes the rows gathered so far.
func (w *Writer) closeBlock() error {
	n, block := w.rows, len(w.dir.rows)
	if n == 0 {
		return nil
	}
	if block == MaxBlocks {
		return fmt.Errorf("a part takes at most %d blocks", MaxBlocks)
	}
	for _, c := range w.cols {
		c.pad(n)
	}
	w.measure(n)
	w.encodeBlock(n, block)
	return w.endBlock(n)
}

// endBlock notes a block of n rows whose columns are encoded.
func (w *Writer) endBlock(n int) error {
	block := len(w.dir.rows)
	w.dir.rows = append(w.dir.rows, uint64(n))
	t := w.cols[w.time].zones
	w.dir.minTime = append(w.dir.minTime, uint64(t.Min.Ints[block]))
	w.dir.maxTime = append(w.dir.maxTime, uint64(t.Max.Ints[block]))
	w.buffered = 0
	kept := int64(0)
	for _, c := range w.cols {
		w.buffered += len(c.pages.buf) + len(c.filters.buf)
		c.buf.Reset(c.entry.typ)
		c.n = 0
		kept += int64(cap(c.buf.Heap))
	}
	if kept > 2*int64(w.o.BlockBytes) { // other columns were long in other blocks
		for _, c := range w.cols {
			c.buf = vector.Vector{Type: c.entry.typ}
		}
	}
	w.rows, w.held = 0, 0
	w.boundDictionaries()
	if w.buffered >= min(stripeSize, w.o.BlockBytes/2) {
		return w.writeStripe()
	}
	return nil
}

// postingBytes is about what the postings of a value take while a part is written.
const postingBytes = 128

// boundDictionaries ends the growth of all dictionaries when together they take more than two blocks: each alone is
// bounded, but of thousands of columns each has one.
func (w *Writer) boundDictionaries() {
	held := int64(0)
	for _, c := range w.cols {
		if c.dict != nil {
			held += c.dict.Bytes64() + postingBytes*int64(c.dict.Len())
		}
	}
	if held <= 2*int64(w.o.BlockBytes) {
		return
	}
	for _, c := range w.cols {
		if c.dict != nil {
			c.dict.Close()
		}
	}
}

// encodeBlock encodes the columns of a block, by several goroutines when there are several encoders. Columns differ in
// cost, so each goroutine takes the next one that nobody has taken.
func (w *Writer) encodeBlock(n, block int) {
	if len(w.encoders) == 1 {
		for _, c := range w.cols {
			c.encode(w.encoders[0], n, block)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for _, e := range w.encoders {
		wait.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(w.cols); i = next.Add(1) - 1 {
				w.cols[i].encode(e, n, block)
			}
		})
	}
	wait.Wait()
}

// encode appends the page of a block to the column, and its filter.
func (c *columnWriter) encode(e *blockEncoder, n, block int) {
	mark := len(c.pages.buf)
	c.pages.buf = e.Append(c.pages.buf, &c.buf, n, c.dict)
	page := c.pages.buf[mark:]
	start := time.Now()
	c.appendFilter(e, page, n)
	c.encodeZone(e, page, n, block)
	c.indexTime += time.Since(start)
	if invariant.On {
		c.checkPage(page, n)
	}
	c.pages.seal(mark, func(b []byte) uint32 { return pageSum(c.entry.id, block, b) })
}

// encodeZone records the bounds of a block and, if it is encoded by the dictionary, the values that occur in it.
func (c *columnWriter) encodeZone(e *blockEncoder, page []byte, n, block int) {
	if len(e.SharedCodes()) == 0 {
		c.zones.Add(&c.buf, n)
		if c.postings != nil && encoding.ID(page[0]) != encoding.Null {
			c.postings.AddUnknown(block)
		}
		return
	}
	// What occurs in the block, each code once.
	if words := vector.Words(c.dict.Len()); len(c.seen) < words {
		c.seen = make(vector.Bitmap, max(words, 2*len(c.seen)))
	}
	clear(c.seen)
	for _, code := range e.SharedCodes() {
		c.seen.Set(int(code))
	}
	c.codes = c.seen.AppendRows(c.codes[:0])
	c.zones.AddDictionary(c.dict.Views, c.dict.Heap, c.codes, n-len(e.SharedCodes()))
	c.postings.Add(block, c.codes)
}

// writeStripe writes the gathered pages and filters, column by column.
func (w *Writer) writeStripe() error {
	if w.at == 0 {
		if err := w.put([]byte(partMagic)); err != nil {
			return err
		}
	}
	for _, c := range w.cols {
		if err := w.put(c.pages.flush(w.at)); err != nil {
			return err
		}
	}
	for _, c := range w.cols {
		if err := w.put(c.filters.flush(w.at)); err != nil {
			return err
		}
	}
	w.buffered = 0
	return nil
}

func (w *Writer) put(b []byte) error {
	n, err := w.f.Write(b)
	w.at += uint64(n)
	if err != nil {
		return fmt.Errorf("write part: %w", err)
	}
	return nil
}

// putSection writes a section, given in pieces, and its checksum.
func (w *Writer) putSection(pieces ...[]byte) (ref, error) {
	r, sum := ref{off: w.at}, uint32(0)
	for _, b := range pieces {
		r.length += uint64(len(b))
		sum = crc32.Update(sum, castagnoli, b)
		if err := w.put(b); err != nil {
			return r, err
		}
	}
	return r, w.put(binary.LittleEndian.AppendUint32(nil, sum))
}

// Describe stores a description in the part, which Origin returns. The store uses it to understand the part without any
// other file. Call it before Finish.
func (w *Writer) Describe(origin []byte) { w.origin = origin }

// Finish writes what is left, and the end of the file. Syncing and closing it is the caller's.
func (w *Writer) Finish() (Meta, error) {
	if w.err == nil {
		w.err = w.finish()
	}
	if w.err != nil {
		return Meta{}, w.err
	}
	return w.meta()
}

func (w *Writer) finish() error {
	if w.total == 0 {
		return errors.New("a part needs rows")
	}
	if err := w.closeBlock(); err != nil {
		return err
	}
	if err := w.writeStripe(); err != nil {
		return err
	}
	for _, c := range w.cols {
		if err := w.finishColumn(c); err != nil {
			return err
		}
	}
	w.dir.seriesCount = uint64(len(w.series.first))
	var err error
	if w.dir.tags, err = w.writeTags(); err != nil {
		return err
	}
	if w.dir.series, err = w.putSection(w.series.section(w.encoders[0].Encoder)...); err != nil || len(w.origin) == 0 {
		return err
	}
	w.dir.origin, err = w.putSection(encoding.AppendBytes(nil, w.origin))
	return err
}

// finishColumn writes the dictionary, the postings and the page index of a column.
func (w *Writer) finishColumn(c *columnWriter) (err error) {
	e := w.encoders[0]
	c.entry.pageRef, c.entry.bytes = c.pages.extent(), c.pages.bytes
	c.entry.filterRef, c.entry.filterBytes = c.filters.extent(), c.filters.bytes
	if c.dict != nil && c.dict.Len() > 0 {
		c.entry.dictSize = c.dict.Len()
		if c.entry.dictRef, err = w.putSection(e.AppendDictionary(nil, c.dict)); err != nil {
			return err
		}
		section, err := c.postings.Append(nil)
		if err != nil {
			return err
		}
		if c.entry.postRef, err = w.putSection(section); err != nil {
			return err
		}
	}
	section := e.AppendUints(nil, c.pages.gaps)
	section = e.AppendUints(section, c.pages.lengths)
	section = c.zones.Append(section, e.Encoder)
	if c.filters.bytes == 0 {
		c.filters.gaps, c.filters.lengths = nil, nil
	}
	section = e.AppendUints(section, c.filters.gaps)
	section = e.AppendUints(section, c.filters.lengths)
	if c.entry.indexRef, err = w.putSection(section); err != nil {
		return err
	}
	if err := w.finishSizes(c); err != nil {
		return err
	}
	if c.entry.id == schema.SequenceID {
		lo, hi, ok := c.zones.Extremes()
		if !ok {
			return errors.New("the sequence column has no values")
		}
		w.dir.minSeq, w.dir.maxSeq = c.zones.Min.Uints[lo], c.zones.Max.Uints[hi]
	}
	w.dir.columns = append(w.dir.columns, c.entry)
	return nil
}

func (w *Writer) meta() (Meta, error) {
	lo, hi, _ := w.cols[w.time].zones.Extremes()
	zones := w.cols[w.time].zones
	b := w.dir.append(nil, w.encoders[0].Encoder)
	f := footer{dir: ref{w.at, uint64(len(b))}, rows: w.total, minTime: zones.Min.Ints[lo], maxTime: zones.Max.Ints[hi],
		version: formatVersion, dirSum: crc32.Checksum(b, castagnoli)}
	b = f.append(b)
	if w.err = w.put(b); w.err != nil {
		return Meta{}, w.err
	}
	w.err = errors.New("the part is finished")
	m := w.dir.meta(&f, int64(w.at))
	m.Columns = w.dir.columnMetas()
	for _, c := range w.cols {
		m.IndexTime += c.indexTime
	}
	return m, nil
}

// meta describes the part without its columns.
func (d *directory) meta(f *footer, size int64) Meta {
	m := Meta{Rows: int64(f.rows), Bytes: size, MinTime: f.minTime, MaxTime: f.maxTime, MinSeq: d.minSeq,
		MaxSeq:   d.maxSeq,
		Checksum: f.dirSum ^ f.sum, Series: int64(d.seriesCount)}
	data := int64(0)
	for i := range d.columns {
		data += int64(d.columns[i].bytes + d.columns[i].dictRef.length)
	}
	m.IndexBytes = size - data
	return m
}

// columnMetas describes the columns.
func (d *directory) columnMetas() (all []ColumnMeta) {
	for i := range d.columns {
		all = append(all, d.columns[i].meta())
	}
	return all
}

// meta describes the column.
func (c *columnEntry) meta() ColumnMeta {
	filters := int64(c.filterBytes)
	index := int64(c.indexRef.length + c.postRef.length + c.sizesRef.length)
	bytes := int64(c.bytes+c.dictRef.length) + index + filters
	return ColumnMeta{ID: c.id, Name: c.name, Type: c.typ, Bytes: bytes, IndexBytes: index + filters,
		FilterBytes: filters, PostingBytes: int64(c.postRef.length)}
}
