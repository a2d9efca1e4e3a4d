package memtable

import (
	"math"
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

// chunk is some rows in the order they were appended, or sorted. Immutable once published.
type chunk struct {
	n         int
	level     uint8 // 0: as appended; how often the rows were sorted by (series, time, sequence)
	layout    *layout
	cols      []*vector.Vector // by the layout's columns: Flat, or nil where all rows are NULL
	times     []int64          // the time index column
	series    []uint32         // nil: all rows belong to oneSeries
	starts    []uint32         // of a sorted chunk: the first row by series, from loSeries on, and the end; may be nil
	oneSeries uint32
	loSeries  uint32 // smallest and largest
	hiSeries  uint32
	seqs      []uint64 // nil: all rows have oneSeq
	oneSeq    uint64
	kinds     []uint8 // nil: all rows have oneKind
	oneKind   uint8
	min, max  int64 // of times, inclusive
	bytes     int64
}

// newChunk copies rows [from, to) of a batch. last: no others follow, and the memory of the batch's vectors may be had.
func newChunk(seq uint64, kind uint8, l *layout, b *vector.Batch, from, to int, last bool) *chunk {
	c := &chunk{n: to - from, layout: l, cols: make([]*vector.Vector, len(l.columns)), oneSeq: seq, oneKind: kind}
	vectors := make([]vector.Vector, len(l.columns))
	for i, p := range l.position {
		if p < 0 || b.Cols[i].AllNull(from, to) {
			continue
		}
		c.cols[p] = &vectors[p]
		v, src := &vectors[p], b.Cols[i]
		if last && from == 0 && whole(src) {
			*v = vector.Vector{Type: l.columns[p].Type, Valid: slices.Clone(src.Valid), Views: src.Views,
				Heap: src.Heap}
			dropFull(v, to)
		} else {
			packed(v, l.columns[p].Type, src, from, to)
		}
		if last && src.Form == vector.Flat {
			*src = vector.Vector{Type: src.Type}
		}
	}
	c.times = c.cols[l.time].Ints
	c.min, c.max = slices.Min(c.times), slices.Max(c.times)
	c.count()
	return c
}

// count sets the chunk's bytes: what its slices hold, and their headers.
func (c *chunk) count() {
	c.bytes = 256 + int64(len(c.cols))*8 +
		int64(cap(c.series)+cap(c.starts))*4 + int64(cap(c.seqs))*8 + int64(cap(c.kinds))
	for _, v := range c.cols {
		if v != nil {
			words := cap(v.Valid) + cap(v.Bools) + cap(v.Ints) + cap(v.Uints) + cap(v.Floats) + cap(v.Views)
			c.bytes += 256 + int64(words)*8 + int64(cap(v.Heap))
		}
	}
}

// packed makes v the rows [from, to) of src, in memory of their exact size.
func packed(v *vector.Vector, t vector.Type, src *vector.Vector, from, to int) {
	n := to - from
	heap := 0
	if t.Kind() == vector.Bytes {
		heap = heapBytes(src, from, to)
	}
	reserve(v, t, n, heap)
	v.Append(0, src, from, to)
	dropFull(v, n)
}

// dropFull lets go of the validity of n rows that all have a value.
func dropFull(v *vector.Vector, n int) {
	if v.Valid != nil && v.Valid.All(n) {
		v.Valid = nil
	}
}

// whole reports whether a vector may be taken over without a copy: its texts are long, and little of its memory is
// unused.
func whole(v *vector.Vector) bool {
	return v.Form == vector.Flat && len(v.Heap) >= wholeBytes && cap(v.Heap)-len(v.Heap) <= len(v.Heap)/8
}

// wholeBytes is the length from which on a chunk takes over texts without a copy: the other memory of the column is
// small compared with them.
const wholeBytes = 1 << 20

// reserve makes v an empty Flat vector with room for n rows and some bytes of strings.
func reserve(v *vector.Vector, t vector.Type, n, heap int) {
	*v = vector.Vector{Type: t}
	switch t.Kind() {
	case vector.Int64:
		v.Ints = make([]int64, 0, n)
	case vector.Uint64:
		v.Uints = make([]uint64, 0, n)
	case vector.Float64:
		v.Floats = make([]float64, 0, n)
	case vector.Bytes:
		v.Views, v.Heap = make([]vector.View, 0, n), make([]byte, 0, heap)
	}
}

// heapBytes is the size of the strings of rows [from, to), as Append copies them.
func heapBytes(v *vector.Vector, from, to int) int {
	size := 0
	switch v.Form {
	case vector.Const:
		return int(v.Views[0].Len)
	case vector.Dict:
		if v.Values.Len() == 0 {
			return 0
		}
		for _, c := range v.Codes[from:to] {
			size += int(v.Values.Views[c].Len)
		}
		return min(size, len(v.Values.Heap))
	default:
		for _, w := range v.Views[from:to] {
			size += int(w.Len)
		}
	}
	return size
}

// mergeChunks is a followed by b; their layouts join.
func mergeChunks(a, b *chunk) *chunk {
	l := a.layout.join(b.layout)
	c := &chunk{n: a.n + b.n, layout: l, cols: make([]*vector.Vector, len(l.columns)), min: min(a.min, b.min),
		max: max(a.max, b.max)}
	vectors := make([]vector.Vector, len(l.columns))
	for i := range l.columns {
		v, w := a.column(l.columns[i].ID), b.column(l.columns[i].ID)
		if v == nil && w == nil {
			continue
		}
		c.cols[i] = &vectors[i]
		heap := 0
		for _, x := range []*vector.Vector{v, w} {
			if x != nil {
				heap += len(x.Heap)
			}
		}
		reserve(c.cols[i], l.columns[i].Type, c.n, heap)
		appendOrNulls(c.cols[i], 0, v, a.n)
		appendOrNulls(c.cols[i], a.n, w, b.n)
	}
	c.times = c.cols[l.time].Ints
	c.oneSeries, c.oneSeq, c.oneKind = a.oneSeries, a.oneSeq, a.oneKind
	c.loSeries, c.hiSeries = min(a.loSeries, b.loSeries), max(a.hiSeries, b.hiSeries)
	c.series = join(a.series, b.series, a.oneSeries, b.oneSeries, a.n, b.n)
	c.seqs = join(a.seqs, b.seqs, a.oneSeq, b.oneSeq, a.n, b.n)
	c.kinds = join(a.kinds, b.kinds, a.oneKind, b.oneKind, a.n, b.n)
	c.count()
	return c
}

// appendOrNulls appends all k rows of src to v, which holds n rows; without src, it appends k NULLs.
func appendOrNulls(v *vector.Vector, n int, src *vector.Vector, k int) {
	if src == nil {
		v.AppendNulls(n, k)
	} else {
		v.Append(n, src, 0, k)
	}
}

// column returns the values of a column; nil when all are NULL or it is not there.
func (c *chunk) column(id schema.ColumnID) *vector.Vector {
	if p, ok := c.layout.index[id]; ok {
		return c.cols[p]
	}
	return nil
}

// join concatenates two lists, each of which may hold one value for all its rows. It returns nil if the result holds
// one value for all rows, too.
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

func (c *chunk) seqOf(row int) uint64 {
	if c.seqs == nil {
		return c.oneSeq
	}
	return c.seqs[row]
}

func (c *chunk) kindOf(row int) uint8 {
	if c.kinds == nil {
		return c.oneKind
	}
	return c.kinds[row]
}

// span is the smallest and largest time of some chunks.
func span(chunks []*chunk) (lo, hi int64) {
	lo, hi = math.MaxInt64, math.MinInt64
	for _, c := range chunks {
		lo, hi = min(lo, c.min), max(hi, c.max)
	}
	return lo, hi
}
