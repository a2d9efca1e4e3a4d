package memtable

import (
	"math"
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// chunk is some rows in the order they were appended. Immutable once published.
type chunk struct {
	n         int
	table     *schema.Table                      // the schema version the rows were written at
	cols      map[schema.ColumnID]*vector.Vector // Flat; tags are not here
	times     []int64                            // the time index column
	series    []uint32                           // nil: all rows belong to oneSeries
	oneSeries uint32
	seqs      []uint64 // nil: all rows have oneSeq
	oneSeq    uint64
	kinds     []uint8 // nil: all rows have oneKind
	oneKind   uint8
	min, max  int64 // of times, inclusive
	bytes     int64
}

func newChunk(seq uint64, kind uint8, t *schema.Table, fields []vector.Field, b *vector.Batch, from, to int) *chunk {
	c := &chunk{n: to - from, table: t, cols: make(map[schema.ColumnID]*vector.Vector, len(fields)), oneSeq: seq, oneKind: kind}
	for i, f := range fields {
		p := t.Column(f.Name)
		if p < 0 {
			panic("memtable: column " + f.Name + " is not in the schema; writers align before")
		}
		col := &t.Columns[p]
		if col.Semantic == schema.Tag {
			continue
		}
		v := packed(col.Type, b.Cols[i], from, to)
		c.cols[col.ID] = v
		c.bytes += v.Bytes64(c.n) + 64
		if p == t.Time {
			c.times = v.Ints
		}
	}
	if c.times == nil {
		panic("memtable: batch without time index; writers check before")
	}
	c.min, c.max = slices.Min(c.times), slices.Max(c.times)
	return c
}

// packed copies rows of a column into a vector of their exact size.
func packed(t vector.Type, src *vector.Vector, from, to int) *vector.Vector {
	n := to - from
	v := &vector.Vector{Type: t}
	switch t.Kind() {
	case vector.Int64:
		v.Ints = make([]int64, 0, n)
	case vector.Uint64:
		v.Uints = make([]uint64, 0, n)
	case vector.Float64:
		v.Floats = make([]float64, 0, n)
	case vector.Bytes:
		v.Views = make([]vector.View, 0, n)
		size := 0
		if src.Form == vector.Flat {
			for _, w := range src.Views[from:to] {
				size += int(w.Len)
			}
		}
		v.Heap = make([]byte, 0, size)
	}
	v.Append(0, src, from, to)
	if v.Valid != nil && v.Valid.All(n) {
		v.Valid = nil
	}
	return v
}

// mergeChunks is a followed by b, which were written at the same schema version.
func mergeChunks(a, b *chunk) *chunk {
	c := &chunk{n: a.n + b.n, table: a.table, cols: make(map[schema.ColumnID]*vector.Vector, len(a.cols)), min: min(a.min, b.min), max: max(a.max, b.max)}
	for id, v := range a.cols {
		m := &vector.Vector{Type: v.Type}
		m.Append(0, v, 0, a.n)
		if w := b.cols[id]; w != nil {
			m.Append(a.n, w, 0, b.n)
		} else {
			m.AppendNulls(a.n, b.n)
		}
		c.cols[id] = m
	}
	for id, w := range b.cols {
		if a.cols[id] != nil {
			continue
		}
		m := &vector.Vector{Type: w.Type}
		m.AppendNulls(0, a.n)
		m.Append(a.n, w, 0, b.n)
		c.cols[id] = m
	}
	c.times = append(append(make([]int64, 0, c.n), a.times...), b.times...)
	for id, v := range a.cols {
		if len(v.Ints) == a.n && a.n > 0 && &v.Ints[0] == &a.times[0] {
			c.times = c.cols[id].Ints
		}
	}
	c.oneSeries, c.oneSeq, c.oneKind = a.oneSeries, a.oneSeq, a.oneKind
	c.series = join(a.series, b.series, a.oneSeries, b.oneSeries, a.n, b.n)
	c.seqs = join(a.seqs, b.seqs, a.oneSeq, b.oneSeq, a.n, b.n)
	c.kinds = join(a.kinds, b.kinds, a.oneKind, b.oneKind, a.n, b.n)
	for _, v := range c.cols {
		c.bytes += v.Bytes64(c.n) + 64
	}
	c.bytes += int64(4*len(c.series) + 8*len(c.seqs) + len(c.kinds))
	return c
}

// join concatenates two lists of which each may stand for one value for all its rows; nil when that stays so.
func join[T comparable](a, b []T, oneA, oneB T, na, nb int) []T {
	if a == nil && b == nil && oneA == oneB {
		return nil
	}
	s := make([]T, 0, na+nb)
	s = appendOr(s, a, oneA, na)
	return appendOr(s, b, oneB, nb)
}

func appendOr[T any](dst, s []T, one T, n int) []T {
	if s != nil {
		return append(dst, s...)
	}
	for range n {
		dst = append(dst, one)
	}
	return dst
}

func (c *chunk) seriesOf(row int) uint32 {
	if c.series == nil {
		return c.oneSeries
	}
	return c.series[row]
}

func (c *chunk) seqOf(row int) uint64 {
	if c.seqs == nil {
		return c.oneSeq
	}
	return c.seqs[row]
}

// span is the smallest and largest time of some chunks.
func span(chunks []*chunk) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, c := range chunks {
		lo, hi = min(lo, c.min), max(hi, c.max)
	}
	return lo, hi
}
