package memtable

import (
	"math/bits"
	"slices"

	"varve/engine/invariant"
	"varve/engine/vector"
)

// Metrics come time after time, a row of each series, and are read series after series: in chunks as they came, the
// rows of a series lie a cache line each, and a reader has to look at the series of every row to find them. So the last
// chunks become one whose rows are sorted by (series, time, sequence) once they have enough rows, and sorted chunks
// become a larger one: a series then has few stretches of rows, each found by a search.
//
// A row is sorted once for each level; reading, and the sort of a flush, cost less than that saves.

// sortRows is the number of rows from which on chunks become a sorted one; sorted ones do from sortGrowth times as many
// on, and so on.
var sortRows = invariant.Limit(8*ChunkRows, 64)

const sortGrowth = 8

// sortingRow is what sorting takes of a row besides the copy, in bytes: two lists of series and of places, and starts.
const sortingRow = 2*(4+8) + 4/rowsOfSeries

// rowsOfSeries is the mean number of rows of a series, counting those that have none, from which on a sorted chunk says
// where the rows of each begin: a reader of few series then looks at nothing in between.
const rowsOfSeries = 4

// sortTail sorts the last chunks if they have enough rows of one level. Without room they stay as they came, to be
// sorted with those to come.
func (c *copies) sortTail(chunks []*chunk) []*chunk {
	least := sortRows
	for level := uint8(0); ; level++ {
		from, rows := tailOf(chunks, level)
		if rows < least || !c.take(bytesOf(chunks[from:])+sortingRow*int64(rows)) {
			return chunks
		}
		chunks = append(chunks[:from], sortChunks(chunks[from:], level+1))
		least *= sortGrowth
	}
}

// tailOf is the last chunks of a level that may become one, and the number of their rows; 0: they are not to be sorted.
func tailOf(chunks []*chunk, level uint8) (from, rows int) {
	from = len(chunks)
	bytes, lo, hi := int64(0), ^uint32(0), uint32(0)
	for from > 0 {
		c := chunks[from-1]
		if c.level != level || bytes+c.bytes > maxChunkBytes || 2*c.textBytes() > c.bytes ||
			from < len(chunks) && !c.layout.joins(chunks[from].layout) {
			break
		}
		from--
		bytes, rows = bytes+c.bytes, rows+c.n
		lo, hi = min(lo, c.loSeries), max(hi, c.hiSeries)
	}
	if lo == hi { // one series: its rows lie together
		return from, 0
	}
	return from, rows
}

// bytesOf is the size of chunks.
func bytesOf(chunks []*chunk) (n int64) {
	for _, c := range chunks {
		n += c.bytes
	}
	return n
}

// textBytes is the size of the chunk's strings: chunks that are mostly text stay as they came, copies cost more there.
func (c *chunk) textBytes() (n int64) {
	for _, v := range c.cols {
		if v != nil {
			n += int64(len(v.Heap))
		}
	}
	return n
}

// sortChunks puts chunks together, with their rows by (series, time, sequence); of equal ones, the first to come is
// first.
func sortChunks(from []*chunk, level uint8) *chunk {
	c := &chunk{level: level, layout: from[0].layout, loSeries: ^uint32(0)}
	for _, o := range from {
		c.n, c.layout = c.n+o.n, c.layout.join(o.layout)
		c.loSeries, c.hiSeries = min(c.loSeries, o.loSeries), max(c.hiSeries, o.hiSeries)
	}
	c.min, c.max = span(from)
	var picks []vector.Pick
	c.series, picks = bySeries(from, c.n, c.loSeries, c.hiSeries)
	c.oneSeries = c.series[0]
	c.starts = startsOf(c.series)
	sortTimes(from, c.series, picks)
	c.cols = make([]*vector.Vector, len(c.layout.columns))
	vectors := make([]vector.Vector, len(c.cols))
	for i, col := range c.layout.columns {
		if vectors[i].Type = col.Type; interleave(&vectors[i], from, picks, func(o *chunk) *vector.Vector {
			return o.column(col.ID)
		}) {
			c.cols[i] = &vectors[i]
		}
	}
	c.times = c.cols[c.layout.time].Ints
	c.oneSeq, c.oneKind = from[0].oneSeq, from[0].oneKind
	if slices.ContainsFunc(from, func(o *chunk) bool { return o.seqs != nil || o.oneSeq != c.oneSeq }) {
		c.seqs = picked(from, picks, func(o *chunk) ([]uint64, uint64) { return o.seqs, o.oneSeq })
	}
	if slices.ContainsFunc(from, func(o *chunk) bool { return o.kinds != nil || o.oneKind != c.oneKind }) {
		c.kinds = picked(from, picks, func(o *chunk) ([]uint8, uint8) { return o.kinds, o.oneKind })
	}
	c.count()
	return c
}

// digitBits are the bits of a series number that one pass of bySeries looks at.
const digitBits = 11

// bySeries returns the series of n rows, rising, and the rows; those of a series are in the order of the chunks.
func bySeries(from []*chunk, n int, lo, hi uint32) ([]uint32, []vector.Pick) {
	series, picks := make([]uint32, 0, n), make([]vector.Pick, 0, n)
	for src, c := range from {
		for r := range c.n {
			picks = append(picks, vector.Pick{Src: uint32(src), Row: uint32(r)})
		}
		series = appendOr(series, c.series, c.oneSeries, c.n)
	}
	toSeries, toPicks := make([]uint32, n), make([]vector.Pick, n)
	for shift := 0; shift < bits.Len32(hi-lo); shift += digitBits {
		var next [1 << digitBits]uint32 // where the next row with a digit goes
		for _, s := range series {
			next[(s-lo)>>shift&(1<<digitBits-1)]++
		}
		at := uint32(0)
		for d, k := range next {
			next[d], at = at, at+k
		}
		for i, s := range series {
			d := (s - lo) >> shift & (1<<digitBits - 1)
			at := next[d]
			next[d]++
			toSeries[at], toPicks[at] = s, picks[i]
		}
		series, picks, toSeries, toPicks = toSeries, toPicks, series, picks
	}
	return series, picks
}

// startsOf lists where the rows of each series begin, from the first series on, and their end; nil: there are few rows
// of each. Series rise.
func startsOf(series []uint32) []uint32 {
	lo, hi := series[0], series[len(series)-1]
	if uint64(hi-lo)+1 > uint64(len(series)/rowsOfSeries) {
		return nil
	}
	starts := make([]uint32, 0, hi-lo+2)
	for row, n := range series {
		for uint32(len(starts)) <= n-lo {
			starts = append(starts, uint32(row))
		}
	}
	return append(starts, uint32(len(series)))
}

// sortTimes puts the rows of each series, which lie together, in order of (time, sequence).
func sortTimes(from []*chunk, series []uint32, picks []vector.Pick) {
	var sorter merger
	var rows []rowRef
	for at := 0; at < len(picks); {
		last, risen := from[picks[at].Src].times[picks[at].Row], true
		end := at + 1
		for ; end < len(picks) && series[end] == series[at]; end++ {
			t := from[picks[end].Src].times[picks[end].Row]
			risen, last = risen && t > last, t
		}
		if !risen {
			rows = rows[:0]
			for _, p := range picks[at:end] {
				rows = append(rows, rowRef(p.Src)<<32|rowRef(p.Row))
			}
			sorter.sort(from, rows)
			for i, x := range rows {
				picks[at+i] = vector.Pick{Src: uint32(x >> 32), Row: uint32(x)}
			}
		}
		at = end
	}
}

// interleave makes v the picked rows of a column; false: all are NULL.
func interleave(v *vector.Vector, from []*chunk, picks []vector.Pick, column func(*chunk) *vector.Vector) bool {
	srcs := make([]*vector.Vector, len(from))
	some, text := false, 0
	null := vector.ConstNull(v.Type)
	for i, c := range from {
		if srcs[i] = column(c); srcs[i] == nil {
			srcs[i] = null
			continue
		}
		some, text = true, text+len(srcs[i].Heap)
	}
	if !some {
		return false
	}
	reserve(v, v.Type, len(picks), text)
	v.Interleave(0, srcs, picks)
	dropFull(v, len(picks))
	return true
}

// picked is the picked rows of lists, each of which may hold one value for all its rows.
func picked[T any](from []*chunk, picks []vector.Pick, list func(*chunk) (all []T, one T)) []T {
	lists, ones := make([][]T, len(from)), make([]T, len(from))
	for i, c := range from {
		lists[i], ones[i] = list(c)
	}
	dst := make([]T, len(picks))
	for i, p := range picks {
		if l := lists[p.Src]; l != nil {
			dst[i] = l[p.Row]
		} else {
			dst[i] = ones[p.Src]
		}
	}
	return dst
}
