package sst

import (
	"bytes"
	"context"
	"fmt"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// spliced describes a part whose blocks a writer takes over.
type spliced struct {
	ok    bool
	cols  []*column  // by column of the writer
	codes [][]uint32 // by column: our code for each of the part's dictionary, plus one; 0: not known yet
	sizes [][]uint64 // by column: text sizes of each block; nil: not yet read
}

// Splice appends a block of another part as the next rows of the current series, without decoding its pages: only codes
// of dictionaries are translated. It takes over the block's zones and filters too. false: the block cannot be taken
// over and nothing has happened, because the part has other columns, several series or rows with sequences.
func (w *Writer) Splice(ctx context.Context, p *Part, block int) (bool, error) {
	if w.err != nil {
		return false, w.err
	}
	src, err := using(p, func() (*spliced, error) { return w.splicedFrom(ctx, p) })
	if err != nil || !src.ok {
		return false, err
	}
	if w.err = p.use(func() error { return w.splice(ctx, p, src, block) }); w.err != nil {
		return false, w.err
	}
	return true, nil
}

// splicedFrom looks at a part once.
func (w *Writer) splicedFrom(ctx context.Context, p *Part) (*spliced, error) {
	if s := w.sources[p]; s != nil {
		return s, nil
	}
	key, err := p.soleSeries(ctx)
	if err != nil {
		return nil, err
	}
	s := &spliced{ok: key != nil && bytes.Equal(key, w.key) && !p.dir.hidden && !w.o.Hidden && p.dir.time == w.dir.time}
	columns, err := p.columns(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range w.cols {
		from := columns.byID[c.entry.id]
		s.ok = s.ok && from != nil && from.typ == c.entry.typ
		s.cols = append(s.cols, from)
	}
	s.codes, s.sizes = make([][]uint32, len(w.cols)), make([][]uint64, len(w.cols))
	if w.sources == nil {
		w.sources = map[*Part]*spliced{}
	}
	w.sources[p] = s
	return s, nil
}

func (w *Writer) splice(ctx context.Context, p *Part, src *spliced, block int) error {
	b := &p.blocks[block]
	if b.minTime < w.lastTime {
		return fmt.Errorf("column %q: time %d after %d within a series", w.cols[w.time].entry.name, b.minTime,
			w.lastTime)
	}
	if w.total+uint64(b.rows) > maxRows {
		return fmt.Errorf("a part takes at most %d rows", uint64(maxRows))
	}
	if err := w.closeBlock(); err != nil {
		return err
	}
	at := len(w.dir.rows)
	if at == MaxBlocks {
		return fmt.Errorf("a part takes at most %d blocks", MaxBlocks)
	}
	if !w.begun {
		w.tags.add(w.key, len(w.series.first))
		w.series.add(w.key, w.total)
		w.begun = true
	}
	for i, c := range w.cols {
		done, err := c.splice(ctx, w.encoders[0], p, src, i, block, at)
		if err != nil {
			return err
		}
		if done {
			continue
		}
		var v vector.Vector
		if _, err := p.decode(ctx, &w.encoders[0].dec, src.cols[i], block, &v); err != nil {
			return err
		}
		w.spare.Reset(c.entry.typ)
		w.spare.Append(0, &v, 0, b.rows)
		c.buf, w.spare = w.spare, c.buf // one column's memory does for all
		c.encode(w.encoders[0], b.rows, at)
		c.buf, w.spare = w.spare, c.buf
	}
	w.lastTime = b.maxTime
	w.total += uint64(b.rows)
	if err := w.spliceSizes(ctx, p, src, block); err != nil {
		return err
	}
	return w.endBlock(b.rows)
}

// splice takes a column of a block over as block at; false when it must be encoded anew.
func (c *columnWriter) splice(ctx context.Context, e *blockEncoder, p *Part, src *spliced, i, block, at int) (bool,
	error) {
	from := src.cols[i]
	x, err := p.index(ctx, from)
	if err != nil {
		return false, err
	}
	page, release, err := p.page(ctx, from, block)
	if err != nil {
		return false, err
	}
	defer release()
	id := encoding.ID(0)
	if len(page) > 0 {
		id = encoding.ID(page[0])
	}
	if id == encoding.Shared && c.dict != nil {
		return c.spliceCodes(ctx, e, p, src, i, block, at)
	}
	f, done := p.filter(ctx, from, x, block)
	defer done()
	if !id.Single() && !c.indexing.fits(f, p.version) || c.wantsCodes(id) {
		return false, nil
	}
	f = c.indexing.kept(f, page)
	mark := len(c.pages.buf)
	c.pages.buf = append(c.pages.buf, page...)
	c.pages.seal(mark, func(b []byte) uint32 { return pageSum(c.entry.id, at, b) })
	c.zones.AddZone(x.zones, block)
	if c.postings != nil && id != encoding.Null {
		c.postings.AddUnknown(at)
	}
	mark = len(c.filters.buf)
	c.filters.buf = append(c.filters.buf, f...)
	c.filters.seal(mark, func(b []byte) uint32 { return pageSum(c.entry.id, at|filterMark, b) })
	return true, nil
}

// wantsCodes reports whether a block without dictionary codes has to be encoded again, because DDL now allows a larger
// dictionary than the block's part had.
func (c *columnWriter) wantsCodes(id encoding.ID) bool {
	return c.dict != nil && c.indexing.values > encoding.MaxShared && !id.Single() && !c.dict.Closed()
}

// spliceCodes translates the codes of a block from one dictionary to the other; false if values do not fit.
func (c *columnWriter) spliceCodes(ctx context.Context, e *blockEncoder, p *Part, src *spliced, i, block, at int) (bool,
	error) {
	from, n := src.cols[i], p.blocks[block].rows
	values, err := p.dictionary(ctx, from)
	if err != nil {
		return false, err
	}
	if src.codes[i] == nil && values != nil {
		src.codes[i] = make([]uint32, values.Len())
	}
	var v vector.Vector
	if _, err := p.decode(ctx, &e.dec, from, block, &v); err != nil {
		return false, err
	}
	mark := len(c.pages.buf)
	var ok bool
	if c.pages.buf, ok = e.AppendCodes(c.pages.buf, &v, n, c.dict, src.codes[i]); !ok {
		return false, nil
	}
	c.encodeZone(e, c.pages.buf[mark:], n, at)
	c.pages.seal(mark, func(b []byte) uint32 { return pageSum(c.entry.id, at, b) })
	c.filters.seal(len(c.filters.buf), nil)
	return true, nil
}

// soleSeries is the key of the part's series when it has one only, else nil.
func (p *Part) soleSeries(ctx context.Context) ([]byte, error) {
	if p.dir.seriesCount != 1 {
		return nil, nil
	}
	t, err := p.seriesTable(ctx)
	if err != nil {
		return nil, err
	}
	walk, err := t.walk(0)
	if err == nil {
		err = walk.step()
	}
	if err != nil {
		return nil, p.corrupt(err, "series")
	}
	return walk.key, nil
}

// Blocks is blocks [from, to) of the part as a run of their own.
func (p *Part) Blocks(from, to int) scan.Run { return &blockRun{run{p}, from, to} }

// blockRun is some neighbouring blocks of a part.
type blockRun struct {
	run
	from, to int
}

func (r *blockRun) Rows() (n int) {
	for _, b := range r.p.blocks[r.from:r.to] {
		n += b.rows
	}
	return n
}

func (r *blockRun) Span() scan.Range {
	s := scan.Range{From: r.p.blocks[r.from].minTime, To: r.p.blocks[r.from].maxTime}
	for _, b := range r.p.blocks[r.from:r.to] {
		s.From, s.To = min(s.From, b.minTime), max(s.To, b.maxTime)
	}
	return s
}

func (r *blockRun) Blocks() int { return r.to - r.from }

func (r *blockRun) Block(i int) (int, scan.Range) { return r.run.Block(r.from + i) }

// Stat gives no answer, because statistics are of the whole part.
func (r *blockRun) Stat(context.Context, schema.Column) (scan.ColumnStat, bool, error) {
	return scan.ColumnStat{}, false, nil
}

func (r *blockRun) Scan(spec *scan.Spec) (scan.Cursor, error) {
	inner := *spec
	inner.Pieces = &scan.Pieces{From: r.from, To: r.to}
	if spec.Pieces != nil {
		inner.Pieces = &scan.Pieces{From: r.from + max(0, spec.Pieces.From), To: min(r.to, r.from+spec.Pieces.To)}
	}
	return r.run.Scan(&inner)
}

func (r *blockRun) Series(spec *scan.Spec) (scan.Series, error) {
	w, err := r.run.walk(spec)
	if err != nil {
		return nil, err
	}
	first, last := r.p.blocks[r.from], r.p.blocks[r.to-1]
	w.within.from, w.within.to = first.first, last.first+last.rows
	if err := r.p.use(w.narrow); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}
