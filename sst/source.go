package sst

import (
	"context"
	"fmt"

	"varve/engine/convert"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst/encoding"
)

// source is one wanted column of the block at hand.
type source struct {
	want *schema.Column
	from sourceKind
	col  *column    // stored
	tag  *tagColumn // tag
	cast bool       // stored with another type

	fixed  *vector.Vector // fixed
	loaded *vector.Vector // of the block at hand; nil: not yet
	sparse bool           // loaded holds the rows that pass alone
	memory                // of what is loaded

	last  int // block that was read last
	ahead int // the block after the requested blocks
}

// memory is what a column of a block is read into. It is used again from block to block.
type memory struct {
	own   vector.Vector  // as it is stored
	seen  vector.Vector  // some of the rows that the cache keeps
	taken vector.Vector  // of rows that a test has looked at, those that pass
	typed *vector.Vector // under the wanted type, where that is another; nil: not yet
}

type sourceKind uint8

const (
	fixed  sourceKind = iota // the same value in all rows
	stored                   // pages
	tag                      // out of the series keys
	number                   // the series' number
)

// reader reads the columns of one block after another. One goroutine at a time.
type reader struct {
	p       *Part
	ctx     context.Context // of the reads
	spec    *scan.Spec
	dec     *encoding.Decoder
	sources map[schema.ColumnID]*source
	columns *columnSet // of the part; nil: none was looked for yet
	all     []*source
	block   int
	asked   bool // the scan has the pages of far parts requested, see Part.Ahead
	series  *seriesTable
	of      seriesRange // series whose tags are read: all, or the series of a table

	held     int64 // bytes of the block at hand that are loaded, or of some of its rows that were copied
	reserved int64 // of those, as far as the reader of the scan knows
	tags     int64 // bytes of tags that this reader alone has
}

func (p *Part) reader(spec *scan.Spec, dec *encoding.Decoder) *reader {
	ctx := spec.Context
	if ctx == nil {
		ctx = p.ctx
	}
	return &reader{p: p, ctx: ctx, spec: spec, dec: dec, sources: map[schema.ColumnID]*source{}, block: -1,
		asked: spec.Pieces != nil && p.file.Far()}
}

// source finds or makes the source of a column.
func (r *reader) source(c *schema.Column) (*source, error) {
	if s := r.sources[c.ID]; s != nil && s.want.Type == c.Type {
		return s, nil
	}
	if r.columns == nil {
		var err error
		if r.columns, err = r.p.columns(r.ctx); err != nil {
			return nil, err
		}
	}
	s := &source{want: c, last: -1}
	switch {
	case c.ID == schema.SeriesID:
		s.from = number
	case r.columns.byID[c.ID] != nil:
		s.from, s.col = stored, r.columns.byID[c.ID]
		if s.col.typ != c.Type {
			if !convert.Possible(s.col.typ, c.Type) {
				return nil, fmt.Errorf("part %s: column %q: %s is not readable as %s", r.p.name, c.Name, s.col.typ,
					c.Type)
			}
			s.cast = true
		}
	case c.ID == schema.SequenceID:
		s.fixed = vector.ConstUint(c.Type, r.p.meta.MaxSeq)
	case c.ID == schema.KindID:
		s.fixed = vector.ConstUint(c.Type, schema.KindPut)
	case c.Semantic == schema.Tag:
		t, err := r.tag(c)
		if err != nil {
			return nil, err
		}
		s.from, s.tag = tag, t
	case c.Default != nil:
		s.fixed = c.Default
	default:
		s.fixed = vector.ConstNull(c.Type)
	}
	if s.from == tag || s.from == number {
		var err error
		if r.series, err = r.p.seriesTable(r.ctx); err != nil {
			return nil, err
		}
	}
	r.sources[c.ID] = s
	r.all = append(r.all, s)
	return s, nil
}

// tag returns a tag of the series that are read. Where the cache has no room for it, the pieces of a scan share it all
// the same, unless it is large: a scan would have those of all parts in hand at its end.
func (r *reader) tag(c *schema.Column) (*tagColumn, error) {
	type key struct {
		p *Part
		tagKey
	}
	if r.p.largeTags() {
		return r.p.readTag(r.ctx, c, r.of, &tagRoom{reserve: r.keepTags})
	}
	memo := r.spec.Memo
	if memo == nil {
		return r.p.tag(r.ctx, c, r.of, r.keepTags)
	}
	return scan.Once(memo, key{r.p, tagKey{c.ID, c.Type, r.of}}, func() (*tagColumn, error) {
		return r.p.tag(r.ctx, c, r.of,
			func(bytes int64) error { return memo.Reserve(bytes, r.spec.Reserve) })
	})
}

// open moves to a block; nothing is read yet.
func (r *reader) open(block int) {
	r.block = block
	r.let(r.held)
	for _, s := range r.all {
		s.loaded, s.sparse = nil, false
	}
}

// load returns the column of the block at hand. The vector is valid until the next block is opened.
func (r *reader) load(s *source) (*vector.Vector, error) {
	if s.loaded != nil {
		return s.loaded, nil
	}
	v, err := r.read(s, &s.memory, true)
	if err != nil {
		return nil, err
	}
	s.loaded = v
	return v, r.hold(r.bytes(s, v))
}

// read reads the column of the block at hand, into m unless it lies elsewhere. keep: the cache may keep it.
func (r *reader) read(s *source, m *memory, keep bool) (*vector.Vector, error) {
	b := &r.p.blocks[r.block]
	switch s.from {
	case fixed:
		return s.fixed, nil
	case tag:
		s.tag.block(&m.own, r.series, b.first, b.rows)
		return &m.own, nil
	case number:
		r.numbers(&m.own, s.want.Type, b)
		return &m.own, nil
	}
	v, err := r.page(s, &m.own, keep)
	if err == nil && s.cast {
		if m.typed == nil {
			m.typed = &vector.Vector{}
		}
		v = convert.All(m.typed, v, s.want.Type, b.rows)
	}
	return v, err
}

// page returns the decoded page of a stored column, from the cache where it is, else in own or where the cache keeps
// it.
func (r *reader) page(s *source, own *vector.Vector, keep bool) (*vector.Vector, error) {
	p := r.p
	key := blockKey{p.id, s.col.number, uint32(r.block)}
	v, admit := p.cache.get(key)
	if v != nil {
		return v, nil
	}
	if !r.asked && r.block == s.last+1 && r.block >= s.ahead {
		s.ahead = p.readAhead(r.ctx, s.col, r.block)
	}
	s.last = r.block
	v, admit = own, admit && keep
	if admit {
		v = &vector.Vector{}
	}
	size, err := p.decode(r.ctx, r.dec, s.col, r.block, v)
	if err != nil {
		return nil, err
	}
	if st := r.spec.Stats; st != nil {
		st.BytesRead.Add(int64(size))
	}
	if admit && !p.cache.put(key, v, p.blocks[r.block].rows) {
		*own = *v
		v = own
	}
	return v, nil
}

// numbers makes dst the series numbers of a block.
func (r *reader) numbers(dst *vector.Vector, t vector.Type, b *block) {
	dst.Reset(t)
	s := r.series.at(b.first)
	for row := b.first; row < b.first+b.rows; s++ {
		_, to := r.series.rows(s)
		for ; row < min(to, b.first+b.rows); row++ {
			dst.Uints = append(dst.Uints, uint64(s))
		}
	}
}

// window makes dst rows [from, to) of v without copying values; from is a multiple of 64 unless v has
// neither NULLs nor booleans.
func window(dst, v *vector.Vector, from, to int) {
	if v.Form == vector.Const {
		*dst = *v
		return
	}
	dst.Type, dst.Form, dst.Heap, dst.Values = v.Type, v.Form, v.Heap, v.Values
	dst.Valid = windowBits(v.Valid, from, to)
	dst.Bools = windowBits(v.Bools, from, to)
	dst.Ints = windowOf(v.Ints, from, to)
	dst.Uints = windowOf(v.Uints, from, to)
	dst.Floats = windowOf(v.Floats, from, to)
	dst.Views = windowOf(v.Views, from, to)
	dst.Codes = windowOf(v.Codes, from, to)
	if v.Form == vector.Dict {
		dst.Ints, dst.Uints, dst.Floats, dst.Views, dst.Bools = nil, nil, nil, nil, nil
		return
	}
	dst.Codes = nil
	switch v.Type.Kind() { // other buffers of the vector hold remains of other blocks
	case vector.Bool:
		dst.Ints, dst.Uints, dst.Floats, dst.Views = nil, nil, nil, nil
	case vector.Int64:
		dst.Bools, dst.Uints, dst.Floats, dst.Views = nil, nil, nil, nil
	case vector.Uint64:
		dst.Bools, dst.Ints, dst.Floats, dst.Views = nil, nil, nil, nil
	case vector.Float64:
		dst.Bools, dst.Ints, dst.Uints, dst.Views = nil, nil, nil, nil
	default:
		dst.Bools, dst.Ints, dst.Uints, dst.Floats = nil, nil, nil, nil
	}
}

func windowOf[T any](s []T, from, to int) []T {
	if len(s) < to {
		return nil
	}
	return s[from:to:to]
}

func windowBits(b vector.Bitmap, from, to int) vector.Bitmap {
	if b == nil || len(b) < vector.Words(to) {
		return nil
	}
	s := b[from>>6 : vector.Words(to) : vector.Words(to)]
	if tail := to & 63; tail != 0 && s[len(s)-1]>>tail != 0 {
		s = append(vector.Bitmap(nil), s...)
		s[len(s)-1] &= 1<<tail - 1
	}
	return s
}
