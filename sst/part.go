package sst

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"path"
	"sync/atomic"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst/encoding"
	"varve/sst/index"
)

// Part is an open part. Opening reads and checks footer and directory only; dictionaries, zones, postings and series
// are read when first needed. Safe for concurrent use.
type Part struct {
	name    string // the file's name, without its directory: errors that clients see carry it
	file    contents
	ctx     context.Context // ends reads that no reader's context ends
	id      uint64          // names the part in the cache
	cache   *Cache
	metrics *Metrics
	version uint32 // of the format
	meta    Meta
	footer  footer
	dir     *directory // without its columns
	set     atomic.Pointer[columnSet]
	width   int // number of columns
	blocks  []block
	series  atomic.Pointer[seriesTable]
	tags    tagCache
	indexed atomic.Pointer[tagIndex]
	aside   atomic.Pointer[vector.Bitmap] // damaged blocks that are not served; nil: none
}

// block describes a block without reading it.
type block struct {
	first, rows      int
	minTime, maxTime int64
}

// column is one stored column of an open part.
type column struct {
	*columnEntry
	number uint32 // position in the directory
	pages  atomic.Pointer[pageIndex]
	values atomic.Pointer[vector.Vector]
	posts  atomic.Pointer[index.Postings]
}

// pageIndex has the places of a column's pages and a description of their values.
type pageIndex struct {
	blockRefs
	zones *index.Zones
	// filters is nil when no block has one.
	filters *filterIndex
}

var partIDs atomic.Uint64

// Open opens a part in a file system, which Map maps.
func Open(fs vfs.FS, name string, o OpenOptions) (*Part, error) {
	f, err := Map(fs, name)
	if err != nil {
		return nil, err
	}
	return OpenFile(f, path.Base(name), o)
}

// OpenFile opens a part and checks footer and directory. A file that is no part or is damaged there gives an error that
// wraps ErrCorrupt. The file is the part's from now on, also if there is an error. Errors that clients see carry name.
func OpenFile(f File, name string, o OpenOptions) (*Part, error) {
	p := &Part{name: name, file: contents{File: f}, ctx: o.Context, id: partIDs.Add(1), cache: o.Cache,
		metrics: o.Metrics}
	if p.ctx == nil {
		p.ctx = context.Background()
	}
	if p.cache == nil {
		p.cache = NewCache(0)
	}
	if p.metrics == nil {
		p.metrics = NewMetrics()
	}
	if err := p.use(p.open); err != nil {
		return nil, errors.Join(err, p.file.close())
	}
	return p, nil
}

func (p *Part) open() (err error) {
	if p.footer, err = readFooter(p.ctx, &p.file); err != nil {
		return p.corrupt(err, "")
	}
	f := &p.footer
	p.version = f.version
	if p.dir, err = p.directory(p.ctx); err != nil {
		return err
	}
	p.meta = p.dir.meta(f, int64(p.file.size()))
	columns := newColumnSet(p.dir)
	p.width, p.dir.columns = len(columns.all), nil
	if t := columns.byID[p.dir.time]; t == nil || t.typ.Kind() != vector.Int64 {
		return p.corrupt(fmt.Errorf("no time index column %d", p.dir.time), "directory")
	}
	p.blocks = make([]block, len(p.dir.rows))
	first := uint64(0)
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for i, n := range p.dir.rows {
		b := block{int(first), int(n), int64(p.dir.minTime[i]), int64(p.dir.maxTime[i])}
		if n == 0 || n > MaxBlockRows || b.minTime > b.maxTime {
			return p.corrupt(fmt.Errorf("block %d of %d rows, times %d to %d", i, n, b.minTime, b.maxTime), "directory")
		}
		lo, hi = min(lo, b.minTime), max(hi, b.maxTime)
		p.blocks[i] = b
		first += n
	}
	if first != f.rows || lo != f.minTime || hi != f.maxTime {
		return p.corrupt(fmt.Errorf("blocks of %d rows from %d to %d, the footer says %d from %d to %d", first, lo, hi,
			f.rows, f.minTime, f.maxTime), "directory")
	}
	p.cache.columns.keep(p, columns)
	return nil
}

// directory reads and checks the directory.
func (p *Part) directory(ctx context.Context) (*directory, error) {
	f := &p.footer
	b, release, err := p.file.read(ctx, f.dir)
	if err != nil {
		return nil, p.corrupt(err, "directory")
	}
	defer release()
	if got := crc32.Checksum(b, castagnoli); got != f.dirSum {
		return nil, p.corrupt(fmt.Errorf("checksum %08x, want %08x", got, f.dirSum),
			fmt.Sprintf("directory at %d", f.dir.off))
	}
	d, err := readDirectory(b, f.dir.off, f.version)
	if err != nil {
		return nil, p.corrupt(err, "directory")
	}
	return d, nil
}

// corrupt makes the error for damage in a place of the file. A place that was not read is not damaged.
func (p *Part) corrupt(err error, where string) error {
	if where != "" {
		where += ": "
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		return status.Wrap(err, status.StorageUnavailable, "part %s: %s%v", p.name, where, err)
	case unread(err):
		return fmt.Errorf("part %s: %s%w", p.name, where, err)
	}
	p.metrics.Damaged.Add(1)
	return fmt.Errorf("part %s: %s%w: %w", p.name, where, ErrCorrupt, err)
}

// Meta is the part's description of itself, without its columns.
func (p *Part) Meta() Meta { return p.meta }

// columnMetas is what the part says of its columns.
func (p *Part) columnMetas() ([]ColumnMeta, error) {
	s, err := p.columns(p.ctx)
	if err != nil {
		return nil, err
	}
	all := make([]ColumnMeta, 0, len(s.all))
	for _, c := range s.all {
		all = append(all, c.meta())
	}
	return all, nil
}

// Columns is the number of columns that are stored.
func (p *Part) Columns() int { return p.width }

// Run is the part as a sorted set of rows.
func (p *Part) Run() scan.Run { return &run{p} }

// Release gives back the process memory of everything that was read from the file; reading works as before.
func (p *Part) Release() { p.file.Forget() }

// Close closes the file. No cursor may be open.
func (p *Part) Close() error {
	p.cache.drop(p.id)
	p.cache.indexes.drop(p)
	p.cache.columns.drop(p)
	p.dropTags()
	if err := p.file.close(); err != nil {
		return fmt.Errorf("part %s: %w", p.name, err)
	}
	return nil
}

// section returns the bytes of a section after checking them, until release.
func (p *Part) section(ctx context.Context, r ref, what string) (body []byte, release func(), err error) {
	b, release, err := p.file.read(ctx, ref{r.off, r.length + sumSize})
	if err != nil {
		return nil, nil, p.corrupt(err, what)
	}
	body, want := unseal(b)
	if got := crc32.Checksum(body, castagnoli); got != want {
		release()
		return nil, nil, p.corrupt(fmt.Errorf("checksum %08x, want %08x", got, want),
			fmt.Sprintf("%s at %d", what, r.off))
	}
	return body, release, nil
}

// index returns the page index of a column, read at first use and again when it was let go of.
func (p *Part) index(ctx context.Context, c *column) (*pageIndex, error) {
	if x := c.pages.Load(); x != nil {
		return x, nil
	}
	what := fmt.Sprintf("page index of column %q", c.name)
	b, release, err := p.section(ctx, c.indexRef, what)
	if err != nil {
		return nil, err
	}
	defer release()
	x, err := p.readIndex(c, b)
	if err != nil {
		return nil, p.corrupt(err, what)
	}
	if p.owns(c) { // else they would keep a set that was let go of
		p.cache.indexes.keep(p, c, x)
	}
	return x, nil
}

func (p *Part) readIndex(c *column, b []byte) (*pageIndex, error) {
	var d encoding.Decoder
	n := len(p.blocks)
	x := &pageIndex{}
	var err error
	if x.blockRefs, b, err = p.readBlockRefs(&d, b, true); err != nil {
		return nil, err
	}
	if x.zones, b, err = index.ReadZones(b, c.typ, n, func(i int) int { return p.blocks[i].rows }); err != nil {
		return nil, err
	}
	if p.version > 1 {
		f := &filterIndex{}
		if f.blockRefs, b, err = p.readBlockRefs(&d, b, false); err != nil {
			return nil, err
		}
		if len(f.off) > 0 {
			f.checked, f.damaged = make([]atomic.Bool, n), make([]atomic.Bool, n)
			x.filters = f
		}
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d unexpected bytes at the end", len(b))
	}
	return x, nil
}

// readBlockRefs reads where the pages or filters of the blocks lie. all: every block has one; else some may have none,
// with length 0, or nothing may be there at all.
func (p *Part) readBlockRefs(d *encoding.Decoder, b []byte, all bool) (at blockRefs, rest []byte, err error) {
	n := len(p.blocks)
	gaps, b, err := d.Uints(b, n)
	if err != nil {
		return blockRefs{}, nil, err
	}
	lengths, b, err := d.Uints(b, n)
	if err != nil {
		return blockRefs{}, nil, err
	}
	if len(gaps) == 0 && len(lengths) == 0 && !all {
		return blockRefs{}, b, nil
	}
	if len(gaps) != n || len(lengths) != n {
		return blockRefs{}, nil, fmt.Errorf("%d and %d places for %d blocks", len(gaps), len(lengths), n)
	}
	at = blockRefs{make([]uint64, n), make([]uint32, n)}
	end, size := uint64(0), p.file.size()
	for i := range n {
		short := lengths[i] < sumSize && (all || lengths[i] > 0)
		if gaps[i] > size-end || lengths[i] > size-end-gaps[i] || short || lengths[i] > math.MaxUint32 {
			return blockRefs{}, nil, fmt.Errorf("the data of block %d lies outside the file", i)
		}
		at.off[i], at.length[i] = end+gaps[i], uint32(lengths[i])
		end += gaps[i] + lengths[i]
	}
	return at, b, nil
}

// dictionary returns the values that the column's shared codes stand for; nil when it has none.
func (p *Part) dictionary(ctx context.Context, c *column) (*vector.Vector, error) {
	if !c.dictRef.present() {
		return nil, nil
	}
	if v := c.values.Load(); v != nil {
		return v, nil
	}
	what := fmt.Sprintf("dictionary of column %q", c.name)
	b, release, err := p.section(ctx, c.dictRef, what)
	if err != nil {
		return nil, err
	}
	defer release()
	var d encoding.Decoder
	v, err := d.Dictionary(b, c.typ, c.dictSize)
	if err != nil {
		return nil, p.corrupt(err, what)
	}
	// The first one wins, because a dictionary is identified by its pointer.
	c.values.CompareAndSwap(nil, v)
	return c.values.Load(), nil
}

// postings returns the postings of a column; nil when it has none.
func (p *Part) postings(ctx context.Context, c *column) (*index.Postings, error) {
	if !c.postRef.present() {
		return nil, nil
	}
	if x := c.posts.Load(); x != nil {
		return x, nil
	}
	what := fmt.Sprintf("postings of column %q", c.name)
	b, release, err := p.section(ctx, c.postRef, what)
	if err != nil {
		return nil, err
	}
	defer release()
	x, err := index.ReadPostings(b, c.dictSize, len(p.blocks), p.version > 1)
	if err != nil {
		return nil, p.corrupt(err, what)
	}
	c.posts.Store(x)
	return x, nil
}

// fewKeyBytes is the size of a series section whose keys need not be looked at to bound them. A variable for the tests.
var fewKeyBytes = int64(1 << 20)

// keyBytes bounds the bytes of all series keys, each whole, from above; closely where they are many.
func (p *Part) keyBytes() (n int64, err error) {
	if size := int64(p.dir.series.length); size <= fewKeyBytes {
		return size * restartEvery, nil // a key has at most the bytes since the last one that shares nothing
	}
	t, err := p.seriesTable(p.ctx)
	if err != nil {
		return 0, err
	}
	if n, err = t.keyBytes(); err != nil {
		return 0, p.corrupt(err, "series")
	}
	return n, nil
}

// eachKey calls f with the key of each series, which is valid during the call.
func (p *Part) eachKey(f func(key []byte)) error {
	t, err := p.seriesTable(p.ctx)
	if err != nil {
		return err
	}
	w, err := t.walk(0)
	for i := 0; i < t.len() && err == nil; i++ {
		if err = w.step(); err == nil {
			f(w.key)
		}
	}
	if err != nil {
		return p.corrupt(err, "series")
	}
	return nil
}

// preparedSeries is the number of series from which on Prepare reads: checking their keys takes longer than a query
// should.
const preparedSeries = 32 << 10

// Prepare reads in advance the sections that every reader of a part with very many series needs, so that the first
// reader does not wait. Readers find damage themselves.
func (p *Part) Prepare() {
	if p.dir.seriesCount < preparedSeries {
		return
	}
	_ = p.use(func() error {
		_, err := p.seriesTable(p.ctx)
		if err == nil {
			_, err = p.tagIndex(p.ctx)
		}
		return err
	})
}

// seriesTable returns the series section, read at first use. The bytes of its keys are kept.
func (p *Part) seriesTable(ctx context.Context) (*seriesTable, error) {
	if t := p.series.Load(); t != nil {
		return t, nil
	}
	if !p.dir.series.present() {
		return nil, p.corrupt(errors.New("missing"), "series")
	}
	b, release, err := p.section(ctx, p.dir.series, "series")
	if err != nil {
		return nil, err
	}
	t, err := readSeries(b, p.dir.seriesCount, uint64(p.meta.Rows))
	if err != nil {
		release()
		return nil, p.corrupt(err, "series")
	}
	if !p.series.CompareAndSwap(nil, t) {
		release()
		return p.series.Load(), nil
	}
	p.file.keep(release)
	return t, nil
}

// originBytes is what the part says of itself; nil: nothing, as parts before version 3.
func (p *Part) originBytes() ([]byte, error) {
	if !p.dir.origin.present() {
		return nil, nil
	}
	b, release, err := p.section(p.ctx, p.dir.origin, "origin")
	if err != nil {
		return nil, err
	}
	defer release()
	var d encoding.Decoder
	b, err = d.Bytes(b, maxOrigin)
	if err != nil {
		return nil, p.corrupt(err, "origin")
	}
	return bytes.Clone(b), nil
}

// page returns the encoded block of a column after checking it, until release.
func (p *Part) page(ctx context.Context, c *column, block int) (body []byte, release func(), err error) {
	x, err := p.index(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	page, release, err := p.file.read(ctx, x.at(block))
	if err != nil {
		return nil, nil, p.corruptBlock(err, c, block)
	}
	body, want := unseal(page)
	if got := pageSum(c.id, block, body); got != want {
		release()
		return nil, nil, p.corruptBlock(fmt.Errorf("checksum %08x, want %08x at %d", got, want, x.off[block]), c, block)
	}
	p.metrics.BlocksRead.Add(1)
	p.metrics.BytesRead.Add(int64(len(page)))
	return body, release, nil
}

// aheadBlocks is the number of pages of a column that are requested at a time when blocks are read in order.
const aheadBlocks = 8

// readAhead has the pages of a column from a block on read while those before are decoded, as far as they lie side by
// side, and gives the block behind them.
func (p *Part) readAhead(ctx context.Context, c *column, block int) (end int) {
	x := c.pages.Load()
	if x == nil {
		return block
	}
	all := ref{x.off[block], 0}
	for end = block; end < min(block+aheadBlocks, len(x.off)) && x.off[end] == all.off+all.length; end++ {
		all.length += uint64(x.length[end])
	}
	p.file.readAhead(ctx, all)
	return end
}

// decode decodes one page into v and gives its size.
func (p *Part) decode(ctx context.Context, d *encoding.Decoder, c *column, block int, v *vector.Vector) (size int,
	err error) {
	body, release, err := p.page(ctx, c, block)
	if err != nil {
		return 0, err
	}
	defer release()
	shared, err := p.dictionary(ctx, c)
	if err != nil {
		return 0, err
	}
	if err := d.Decode(v, body, c.typ, p.blocks[block].rows, shared); err != nil {
		return 0, p.corruptBlock(err, c, block)
	}
	return len(body), nil
}

// where names a page in errors.
func (p *Part) where(c *column, block int) string {
	return fmt.Sprintf("column %q: block %d", c.name, block)
}

// typeOf is the type that the part stores a column in; false when it has no such column.
func (p *Part) typeOf(id schema.ColumnID) (t vector.Type, ok bool, err error) {
	c, err := p.column(p.ctx, id)
	if err != nil || c == nil {
		return vector.Type{}, false, err
	}
	return c.typ, true, nil
}
