package memtable

import (
	"fmt"
	"math"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Run is a snapshot of a memtable as a scan.Run. Its blocks are chunks: a cursor gives the rows of a block in order of
// (series, time, sequence), blocks in the order they were appended (Newest: falling by their newest time). Series gives
// all rows in order.
type Run struct{ s *snapshot }

// Rows is the number of rows, tombstones included.
func (r *Run) Rows() int { return r.s.rows }

// Span is the smallest and largest time, both inclusive.
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

// Block gives rows and span of a chunk.
func (r *Run) Block(i int) (int, scan.Range) {
	c := r.s.chunks[i]
	return c.n, scan.Range{From: c.min, To: c.max}
}

// Stat never knows: a memtable keeps no statistics but of time.
func (r *Run) Stat(schema.Column) (scan.ColumnStat, bool) { return scan.ColumnStat{}, false }

// Scan gives a cursor over the chunks that spec.Pieces names.
func (r *Run) Scan(spec *scan.Spec) (scan.Cursor, error) {
	p, err := r.newPicker(spec)
	if err != nil {
		return nil, err
	}
	c := &cursor{picker: p, next: 0, chunks: r.s.chunks}
	if spec.Pieces != nil {
		c.chunks = c.chunks[spec.Pieces.From:min(spec.Pieces.To, len(c.chunks))]
	}
	if spec.Newest {
		c.chunks = newestFirst(c.chunks)
	}
	return c, nil
}

func newestFirst(chunks []*chunk) []*chunk {
	s := append([]*chunk(nil), chunks...)
	for i := 1; i < len(s); i++ { // nearly sorted the other way round: insertion from the end
		for j := i; j > 0 && s[j].max > s[j-1].max; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
	return s
}

// cursor walks chunks in windows of vector.Size rows.
type cursor struct {
	*picker
	chunks []*chunk
	next   int // chunk
	from   int // row of the chunk's order
	rows   []uint32
}

func (c *cursor) Close() {}

func (c *cursor) Next(b *vector.Batch) (bool, error) {
	for c.next < len(c.chunks) {
		ch := c.chunks[c.next]
		if c.from == 0 && !c.spec.Time.Overlaps(ch.min, ch.max) {
			c.next++
			continue
		}
		order := ch.order(c.s)
		from, to := c.from, min(c.from+vector.Size, ch.n)
		if c.from = to; to == ch.n {
			c.next, c.from = c.next+1, 0
		}
		c.rows = c.rows[:0]
		if order == nil {
			for i := from; i < to; i++ {
				c.rows = append(c.rows, uint32(i))
			}
		} else {
			c.rows = append(c.rows, order[from:to]...)
		}
		if c.pick(ch, c.rows, order == nil, b) {
			return true, nil
		}
	}
	return false, nil
}

// picker turns rows of one chunk into an output batch: time range, key prefix, filter, projection.
type picker struct {
	s     *snapshot
	spec  *scan.Spec
	prog  *filter.Program
	types map[schema.ColumnID]schema.Column
	tags  map[schema.ColumnID]*tagColumn
	keep  vector.Bitmap
	rows  []uint32
	temp  map[schema.ColumnID]*vector.Vector // gathered filter columns
	out   []*vector.Vector
}

func (r *Run) newPicker(spec *scan.Spec) (*picker, error) {
	prog, err := filter.Compile(spec.Filter)
	if err != nil {
		return nil, err
	}
	p := &picker{s: r.s, spec: spec, prog: prog, types: map[schema.ColumnID]schema.Column{}, tags: map[schema.ColumnID]*tagColumn{},
		keep: vector.MakeBitmap(vector.Size), temp: map[schema.ColumnID]*vector.Vector{}}
	for _, cols := range [][]schema.Column{spec.FilterColumns, spec.Columns} {
		for _, c := range cols {
			p.types[c.ID] = c
			if c.Semantic == schema.Tag && p.tags[c.ID] == nil {
				t, err := newTagColumn(r.s, c)
				if err != nil {
					return nil, err
				}
				p.tags[c.ID] = t
			}
		}
	}
	for i := range prog.Len() {
		if _, ok := p.types[prog.Column(i)]; !ok {
			return nil, fmt.Errorf("filter column %d is not described", prog.Column(i))
		}
	}
	for _, ch := range r.s.chunks {
		for id, c := range p.types {
			if v := ch.cols[id]; v != nil && v.Type.Kind() != c.Type.Kind() {
				return nil, fmt.Errorf("column %s is %s in memory and %s in the schema", c.Name, v.Type, c.Type)
			}
		}
	}
	for range spec.Columns {
		p.out = append(p.out, &vector.Vector{})
	}
	return p, nil
}

// pick fills b with the rows that pass and tells whether there are any. natural: rows are a rising gapless stretch that
// begins at a multiple of 64.
func (p *picker) pick(ch *chunk, rows []uint32, natural bool, b *vector.Batch) bool {
	n := len(rows)
	keep := p.keep[:vector.Words(n)]
	keep.Fill(n)
	if !p.spec.Time.Covers(ch.min, ch.max) {
		for i, r := range rows {
			if !p.spec.Time.Holds(ch.times[r]) {
				keep.Clear(i)
			}
		}
	}
	if prefix := string(p.spec.KeyPrefix); prefix != "" {
		for i, r := range rows {
			if k := p.s.series[ch.seriesOf(int(r))].key; len(k) < len(prefix) || k[:len(prefix)] != prefix {
				keep.Clear(i)
			}
		}
	}
	if st := p.spec.Stats; st != nil {
		st.RowsScanned.Add(int64(n))
	}
	if p.prog.Len() > 0 {
		p.prog.Eval(n, func(id schema.ColumnID) *vector.Vector {
			v := p.temp[id]
			if v == nil {
				v = &vector.Vector{}
				p.temp[id] = v
			}
			return p.column(v, p.types[id], ch, rows, natural)
		}, keep)
	}
	if !keep.All(n) {
		p.rows = keep.AppendRows(p.rows[:0])
		if len(p.rows) == 0 {
			return false
		}
		for i, k := range p.rows {
			p.rows[i] = rows[k]
		}
		rows, natural = p.rows, false
	}
	b.N, b.Cols = len(rows), b.Cols[:0]
	for i, c := range p.spec.Columns {
		b.Cols = append(b.Cols, p.column(p.out[i], c, ch, rows, natural))
	}
	if st := p.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true
}

// column gives rows of one column of a chunk, using dst where values must be gathered.
func (p *picker) column(dst *vector.Vector, c schema.Column, ch *chunk, rows []uint32, natural bool) *vector.Vector {
	switch c.ID {
	case schema.SequenceID:
		if ch.seqs == nil {
			return vector.ConstUint(c.Type, ch.oneSeq)
		}
		dst.Reset(c.Type)
		for _, r := range rows {
			dst.Uints = append(dst.Uints, ch.seqs[r])
		}
		return dst
	case schema.KindID:
		if ch.kinds == nil {
			return vector.ConstUint(c.Type, uint64(ch.oneKind))
		}
		dst.Reset(c.Type)
		for _, r := range rows {
			dst.Uints = append(dst.Uints, uint64(ch.kinds[r]))
		}
		return dst
	}
	if t := p.tags[c.ID]; t != nil {
		return t.gather(dst, ch, rows)
	}
	v := ch.cols[c.ID]
	if v == nil {
		if c.Default != nil && ch.table.ByID(c.ID) < 0 { // the column is younger than the row
			return c.Default
		}
		return vector.ConstNull(c.Type)
	}
	if natural {
		return v.Slice(int(rows[0]), int(rows[len(rows)-1])+1)
	}
	dst.Gather(v, rows)
	dst.Type = c.Type
	return dst
}
