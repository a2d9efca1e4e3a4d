package sst

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
	"varve/sst/index"
)

// Check verifies all claims of a part: its checksums and series, every block of every column, that times rise within a
// series, that zones are the bounds of their blocks, and that postings name the blocks of their values. It returns one
// error for each damaged place, which wraps ErrCorrupt, and for each place that cannot be read, and closes the file.
// Damage that costs no rows and no right answer wraps ErrPassedOver, too. After the end of ctx it gives the context's
// error.
func Check(ctx context.Context, f File, name string) []error {
	p, err := OpenFile(f, name, OpenOptions{Context: ctx})
	if err != nil {
		return []error{err}
	}
	c := checker{p: p}
	_, err = p.Origin()
	c.add(err)
	c.add(p.use(func() error { c.series(); return nil }))
	c.add(p.use(c.tags))
	columns, err := using(p, func() (*columnSet, error) { return p.columns(ctx) })
	c.add(err)
	if err == nil {
		for _, col := range columns.all {
			if ctx.Err() != nil {
				break
			}
			c.add(p.use(func() error { c.column(col); return nil }))
		}
	}
	if err := ctx.Err(); err != nil {
		c.errs = []error{err}
	}
	if err := p.Close(); err != nil {
		c.errs = append(c.errs, err)
	}
	return c.errs
}

type checker struct {
	p      *Part
	errs   []error
	dec    encoding.Decoder
	v      vector.Vector
	tokens index.Tokens
	last   int64 // time of the last row of the block before
}

func (c *checker) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

// series walks over all keys: they rise and can be parsed.
func (c *checker) series() {
	t, err := c.p.seriesTable(c.p.ctx)
	if err != nil {
		c.add(err)
		return
	}
	walk, err := t.walk(0)
	var last []byte
	for i := 0; i < t.len() && err == nil; i++ {
		if err = walk.step(); err != nil {
			break
		}
		if i > 0 && bytes.Compare(walk.key, last) <= 0 {
			err = fmt.Errorf("key %d is out of order", i)
			break
		}
		last = append(last[:0], walk.key...)
		_, err = schema.ParseSeriesKey(walk.key, func(schema.ColumnID, []byte) {})
	}
	if err == nil && walk.off != uint64(len(t.keys)) {
		err = fmt.Errorf("%d bytes after the keys", uint64(len(t.keys))-walk.off)
	}
	if err != nil {
		c.add(c.p.corrupt(err, "series"))
	}
}

// tags holds that the tag index names the series of each value, as the keys do, and no others.
func (c *checker) tags() error {
	x, err := c.p.tagIndex(c.p.ctx)
	if err != nil || x == nil {
		return err
	}
	t, err := c.p.seriesTable(c.p.ctx)
	if err != nil {
		return nil // said already
	}
	var want tagsWriter
	walk, err := t.walk(0)
	for i := 0; i < t.len() && err == nil; i++ {
		if err = walk.step(); err == nil {
			want.add(walk.key, i)
		}
	}
	if err != nil || want.closed {
		return nil // said already
	}
	if len(want.tags) != len(x.tags) {
		return c.p.corrupt(fmt.Errorf("%d tags, the keys have %d", len(x.tags), len(want.tags)), "tag index")
	}
	for id, tag := range want.tags {
		if err := c.tag(x.tags[id], id, tag); err != nil {
			return err
		}
	}
	return nil
}

// tag compares the tag index with the tags in the keys.
func (c *checker) tag(got *indexedTag, id schema.ColumnID, want *tagWriter) error {
	if got == nil {
		return c.p.corrupt(fmt.Errorf("tag %d is missing", id), "tag index")
	}
	first, list := want.bySeries()
	codes := want.byValue()
	n := 0
	all := seriesRange{0, int(c.p.dir.seriesCount)}
	err := got.each(c.p.ctx, c.p, all, func(value []byte, series []uint32) error {
		if n == len(codes) || !bytes.Equal(value, want.values.Bytes(codes[n])) ||
			!slices.Equal(series, list[first[codes[n]]:first[codes[n]+1]]) {
			return c.p.corrupt(fmt.Errorf("value %d of tag %d", n, id), "tag index")
		}
		found, err := got.appendSeries(c.p.ctx, nil, c.p, value, all)
		if err == nil && !slices.Equal(found, series) {
			err = c.p.corrupt(fmt.Errorf("value %d of tag %d is not found", n, id), "tag index")
		}
		n++
		return err
	})
	if err != nil {
		return err
	}
	nulls, err := appendSeriesOf(nil, got.nulls, all)
	if err != nil || !slices.Equal(nulls, want.nulls) || n != len(codes) || got.values != uint64(n) ||
		got.series != uint64(len(list)) {
		return c.p.corrupt(fmt.Errorf("tag %d has %d of %d values", id, n, len(codes)), "tag index")
	}
	return nil
}

// column decodes every block and compares what the indexes say.
func (c *checker) column(col *column) {
	x, err := c.p.index(c.p.ctx, col)
	if err != nil {
		c.add(err)
		return
	}
	values, err := c.p.dictionary(c.p.ctx, col)
	if err != nil {
		c.add(err)
		return
	}
	posts, err := c.p.postings(c.p.ctx, col)
	if err != nil {
		c.add(err)
	}
	zones, sizes := index.NewZones(col.typ), c.beginSizes(col)
	for i := range c.p.blocks {
		if c.p.ctx.Err() != nil {
			return
		}
		n := c.p.blocks[i].rows
		if _, err := c.p.decode(c.p.ctx, &c.dec, col, i, &c.v); err != nil {
			c.add(err)
			zones = nil
			c.sizes(col, &sizes, nil, i)
			continue
		}
		flat := c.v.Flatten(n)
		c.sizes(col, &sizes, flat, i)
		if zones != nil {
			zones.Add(flat, n)
		}
		if posts != nil {
			c.postings(col, posts, values, i)
		}
		c.filter(col, x, flat, i)
		if col.id == c.p.dir.time {
			c.times(col, flat, i)
		}
	}
	if zones != nil && !zones.Equal(x.zones) {
		c.add(c.p.corrupt(errors.New("zones do not match the values of the blocks"),
			fmt.Sprintf("column %q", col.name)))
	}
}

// filter holds that the filter of a block has the tokens of all its values.
func (c *checker) filter(col *column, x *pageIndex, v *vector.Vector, block int) {
	f := x.filters
	if f == nil || !f.has(block) {
		return
	}
	read, err := c.p.readFilter(c.p.ctx, col, f, block)
	if err != nil {
		c.add(fmt.Errorf("%w: %w", ErrPassedOver, err))
		return
	}
	defer read.release()
	b := read.body
	kind := index.KindOf(b)
	if kind == 0 {
		return // of a later program: not used
	}
	c.tokens.Reset(kind)
	n := c.p.blocks[block].rows
	if v.Valid != nil { // NULL has no token
		rows := vector.Bitmap(v.Valid[:vector.Words(n)]).AppendRows(nil)
		dense := &vector.Vector{}
		dense.Gather(v, rows)
		v, n = dense, len(rows)
	}
	c.tokens.AddColumn(v, n)
	if !c.tokens.Within(b) {
		c.add(c.p.corrupt(errors.New("the filter lacks a token of its block"), c.p.where(col, block)))
	}
}

// times holds that time does not fall within a series.
func (c *checker) times(col *column, v *vector.Vector, block int) {
	t, err := c.p.seriesTable(c.p.ctx)
	if err != nil {
		return // said already
	}
	b := &c.p.blocks[block]
	if v.Valid != nil || b.minTime != slices.Min(v.Ints[:b.rows]) || b.maxTime != slices.Max(v.Ints[:b.rows]) {
		c.add(c.p.corrupt(errors.New("times do not match the directory"), c.p.where(col, block)))
		return
	}
	s := t.at(b.first)
	for i, x := range v.Ints[:b.rows] {
		if _, to := t.rows(s); b.first+i >= to {
			s++
		}
		if from, _ := t.rows(s); b.first+i > from && x < c.last {
			c.add(c.p.corrupt(fmt.Errorf("time %d after %d within a series", x, c.last), c.p.where(col, block)))
			return
		}
		c.last = x
	}
}

// postings compares the codes of a block with what the postings say.
func (c *checker) postings(col *column, posts *index.Postings, values *vector.Vector, block int) {
	seen := make([]bool, posts.Len())
	if c.v.Form == vector.Dict && c.v.Values == values {
		for i, code := range c.v.Codes {
			if !c.v.IsNull(i) {
				seen[code] = true
			}
		}
	} else if c.v.Form != vector.Const || !c.v.IsNull(0) {
		if !posts.Unknown(block) {
			c.add(c.p.corrupt(errors.New("a block without codes is missing in the postings"), c.p.where(col, block)))
		}
		return
	}
	for i, held := range seen {
		if held != posts.Holds(i, block) {
			c.add(c.p.corrupt(fmt.Errorf("posting of value %q", values.Bytes(i)), c.p.where(col, block)))
			return
		}
	}
}
