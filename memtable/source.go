package memtable

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// source is one column of some chunks, as the reader wants to see it.
type source struct {
	col    schema.Column
	tag    *tagColumn
	table  schema.TableID // whose tag it is
	few    []uint32       // the series that the tag was made of; nil: all of the table
	series *seriesSnapshot
	values []*vector.Vector // by chunk: Flat, or Const where the chunk has no values of its own. nil for tags
	null   *vector.Vector   // Const: what rows give that are all NULL. nil for tags
	head   vector.Vector    // scratch: a window of a chunk's vector
	own    vector.Vector    // scratch: gathered rows
	codes  []uint32         // scratch of tags: numbers of series
}

// vector returns a column of the chunk: Flat, or Const where all rows are alike, null where all are NULL.
func (c *chunk) vector(col schema.Column, null *vector.Vector) *vector.Vector {
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
	return null
}

func widen[T uint8 | uint32](s []T) []uint64 {
	w := make([]uint64, len(s))
	for i, x := range s {
		w[i] = uint64(x)
	}
	return w
}

// slice returns rows [from, to) of chunk number at without copying; from is a multiple of 64, to one or the chunk's
// end.
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
