package memtable

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// fieldOf is a field by chunk.
type fieldOf struct {
	col    schema.Column
	values []*vector.Vector // Flat or Const
	floats [][]float64      // the same where all chunks hold floats without NULL; nil: they do not
}

// open finds the fields in the chunks.
func (f *found) open() error {
	chunks := f.s.chunks
	f.puts = !slices.ContainsFunc(chunks, func(c *chunk) bool { return c.kinds != nil || c.oneKind != schema.KindPut })
	for _, c := range f.want.Columns {
		field := fieldOf{col: c, values: make([]*vector.Vector, len(chunks)), floats: make([][]float64, len(chunks))}
		for i, ch := range chunks {
			v := ch.vector(c, vector.ConstNull(c.Type))
			if v.Type.Kind() != c.Type.Kind() {
				return fmt.Errorf("column %s is %s in memory and %s in the schema", c.Name, v.Type, c.Type)
			}
			if field.values[i] = v; v.Type != c.Type {
				as := *v
				as.Type, field.values[i] = c.Type, &as
			}
			if v.Type.Kind() != vector.Float64 || v.Form != vector.Flat || v.Valid != nil {
				field.floats = nil
			}
			if field.floats != nil {
				field.floats[i] = v.Floats
			}
		}
		f.cols = append(f.cols, field)
	}
	return nil
}

// Keys walks the keys of the series.
func (f *found) Keys() (scan.Keys, error) { return &foundKeys{f: f}, nil }

type foundKeys struct {
	f    *found
	next int
}

// Next returns the next key.
func (k *foundKeys) Next() ([]byte, error) {
	k.next++
	return k.f.s.series.key(k.f.ranks[k.next-1]), nil
}

// Reader reads rows of the series.
func (f *found) Reader() (scan.Rows, error) {
	return &foundRows{f: f, own: make([]vector.Vector, len(f.cols))}, nil
}

// foundRows gives rows of series, some at a time: long stretches as they lie, short ones together.
type foundRows struct {
	f     *found
	parts []rowSpan // of the series, that are not given yet
	skip  uint32    // rows of the first of them that are not wanted or given already
	last  int64     // time that is wanted
	given []rowSpan
	lie   bool // given is one stretch, as it lies
	times []int64
	own   []vector.Vector

	seqs, kinds vector.Vector
	fetched     int64 // what fetch made of the values it looked at, so that it looks
}

// longSpan is the number of rows from which on a stretch is given as it lies.
const longSpan = 16

// Begin goes to the rows of the i'th series in a range of times.
func (w *foundRows) Begin(i int, time scan.Range) error {
	parts := w.f.parts[w.f.begin[i]:w.f.begin[i+1]]
	if len(parts) > 1 {
		w.fetchEnds(parts)
	}
	k := sort.Search(len(parts), func(k int) bool { return w.reaches(parts[k], time.From) })
	w.last, w.skip, w.parts = time.To, 0, parts[k:]
	if len(w.parts) > 0 && w.f.s.chunks[w.parts[0].chunk].min < time.From {
		times := w.timesOf(w.parts[0])
		w.skip = uint32(sort.Search(len(times), func(k int) bool { return times[k] >= time.From }))
	}
	if len(w.parts) > 1 {
		w.fetch()
	}
	return nil
}

// fetchEnds loads the last times of stretches, for reaches; see fetch.
func (w *foundRows) fetchEnds(parts []rowSpan) {
	sum := w.fetched
	for _, p := range parts {
		sum += w.f.s.chunks[p.chunk].times[p.to-1]
	}
	w.fetched = sum
}

// fetch loads the cache lines of the rows at hand. The stretches of a series lie far apart, and a processor waits for
// several lines at a time only where nothing but loads lies between: copying alone waits for one stretch after another.
func (w *foundRows) fetch() {
	const inLine = 8
	sum := w.fetched
	for _, p := range w.parts {
		times := w.timesOf(p)
		for k := 0; k < len(times); k += inLine {
			sum += times[k]
		}
	}
	for i := range w.f.cols {
		if w.f.cols[i].floats == nil {
			continue
		}
		for _, p := range w.parts {
			floats := w.f.cols[i].floats[p.chunk][p.from:p.to]
			for k := 0; k < len(floats); k += inLine {
				sum ^= int64(math.Float64bits(floats[k]))
			}
		}
	}
	w.fetched = sum
}

// reaches reports whether the last row of a stretch is not before a time. The bounds of the chunk mostly say so: its
// rows need not be fetched from memory.
func (w *foundRows) reaches(p rowSpan, from int64) bool {
	c := w.f.s.chunks[p.chunk]
	return c.min >= from || c.max >= from && c.times[p.to-1] >= from
}

func (w *foundRows) timesOf(p rowSpan) []int64 { return w.f.s.chunks[p.chunk].times[p.from:p.to] }

// next is the next rows that lie together, at most so many; none are left if it is empty.
func (w *foundRows) next(most int) (p rowSpan) {
	if len(w.parts) == 0 {
		return rowSpan{}
	}
	p = w.parts[0]
	p.from += w.skip
	p.to = min(p.to, p.from+uint32(most))
	if w.f.s.chunks[p.chunk].max <= w.last {
		return p
	}
	if times := w.timesOf(p); times[len(times)-1] > w.last {
		p.to = p.from + uint32(sort.Search(len(times), func(k int) bool { return times[k] > w.last }))
	}
	return p
}

// take counts rows as given.
func (w *foundRows) take(p rowSpan) {
	w.given = append(w.given, p)
	w.skip += uint32(p.rows())
	if p.to == w.parts[0].to {
		w.parts, w.skip = w.parts[1:], 0
	}
}

// Next gives the next rows.
func (w *foundRows) Next(s *scan.Stretch) (bool, error) {
	p := w.next(vector.Size)
	if p.rows() == 0 {
		return false, nil
	}
	w.given, s.Cols = w.given[:0], s.Cols[:0]
	if w.lie = w.f.puts && p.rows() >= longSpan; w.lie {
		w.take(p)
		s.From, s.To, s.Times = int(p.from), int(p.to), w.timesOf(p)
		for i := range w.f.cols {
			s.Cols = append(s.Cols, w.f.cols[i].values[p.chunk])
		}
	} else {
		w.collect(p)
		s.From, s.To, s.Times = 0, len(w.times), w.times
		for i := range w.f.cols {
			w.f.cols[i].gather(&w.own[i], w.given)
			s.Cols = append(s.Cols, &w.own[i])
		}
	}
	if st := w.f.want.Stats; st != nil {
		st.RowsScanned.Add(int64(s.To - s.From))
	}
	return true, nil
}

// collect takes short stretches, from p on, and gathers their times.
func (w *foundRows) collect(p rowSpan) {
	w.times = w.times[:0]
	for p.rows() > 0 {
		w.take(p)
		w.times = append(w.times, w.timesOf(p)...)
		if len(w.times) == vector.Size {
			return
		}
		if p = w.next(vector.Size - len(w.times)); w.f.puts && p.rows() >= longSpan {
			return
		}
	}
}

// gather makes dst the values of some rows.
func (c *fieldOf) gather(dst *vector.Vector, given []rowSpan) {
	dst.Reset(c.col.Type)
	if c.floats != nil {
		for _, p := range given {
			dst.Floats = append(dst.Floats, c.floats[p.chunk][p.from:p.to]...)
		}
		return
	}
	n := 0
	for _, p := range given {
		dst.Append(n, c.values[p.chunk], int(p.from), int(p.to))
		n += p.rows()
	}
}

// Kinds returns the kinds of the rows that Next gave.
func (w *foundRows) Kinds(*scan.Stretch) (*vector.Vector, error) {
	if w.f.puts {
		return allPuts, nil
	}
	w.kinds.Reset(schema.KindColumn.Type)
	for _, p := range w.given {
		for r := p.from; r < p.to; r++ {
			w.kinds.Uints = append(w.kinds.Uints, uint64(w.f.s.chunks[p.chunk].kindOf(int(r))))
		}
	}
	return &w.kinds, nil
}

var allPuts = vector.ConstUint(schema.KindColumn.Type, schema.KindPut)

// Sequences returns the sequence numbers of the rows that Next gave.
func (w *foundRows) Sequences(*scan.Stretch) (*vector.Vector, error) {
	if w.lie {
		return w.f.s.chunks[w.given[0].chunk].vector(schema.SequenceColumn, nil), nil
	}
	w.seqs.Reset(schema.SequenceColumn.Type)
	for _, p := range w.given {
		for r := p.from; r < p.to; r++ {
			w.seqs.Uints = append(w.seqs.Uints, w.f.s.chunks[p.chunk].seqOf(int(r)))
		}
	}
	return &w.seqs, nil
}

// Close ends the reading.
func (w *foundRows) Close() {}

var _ scan.Found = (*found)(nil)
