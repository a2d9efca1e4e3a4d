package memtable

import (
	"varve/engine/scan"
	"varve/engine/vector"
)

// cursor walks chunks in windows of vector.Size rows.
type cursor struct {
	in   *reader
	at   int // chunk
	from int // row of the chunk
	win  win // rows in hand
}

// win is rows [from, to) of chunk number at.
type win struct{ at, from, to int }

func newCursor(s *snapshot, chunks []*chunk, spec *scan.Spec) (*cursor, error) {
	c := &cursor{}
	var err error
	c.in, err = newReader(s, chunks, spec, c.slice)
	return c, err
}

// slice returns the rows in hand of one column.
func (c *cursor) slice(s *source) *vector.Vector {
	return s.slice(c.in.chunks[c.win.at], c.win.at, c.win.from, c.win.to)
}

func (c *cursor) Close() {}

func (c *cursor) Next(b *vector.Batch) (bool, error) {
	for c.at < len(c.in.chunks) {
		ch := c.in.chunks[c.at]
		if c.from == 0 {
			if err := c.in.heed(); err != nil {
				return false, err
			}
			if !c.begin(ch) {
				c.at++
				continue
			}
		}
		c.win = win{c.at, c.from, min(c.from+vector.Size, ch.n)}
		if c.from = c.win.to; c.from == ch.n {
			c.at, c.from = c.at+1, 0
		}
		if c.window(b) {
			return true, nil
		}
	}
	return false, nil
}

// begin reports whether any row of a chunk can pass, by time and series.
func (c *cursor) begin(ch *chunk) bool {
	ok := c.in.spec.Time.Overlaps(ch.min, ch.max) && c.in.wanted.Overlaps(ch.min, ch.max) &&
		(c.in.allowed == nil || ch.series != nil || c.in.allowed.Get(int(ch.oneSeries)))
	if st := c.in.spec.Stats; st != nil {
		if ok {
			st.BlocksRead.Add(1)
			st.RowsScanned.Add(int64(ch.n))
		} else {
			st.BlocksPruned.Add(1)
		}
	}
	return ok
}

// window fills b with the rows in hand that pass and reports whether there are any. They begin at a multiple of
// vector.Size.
func (c *cursor) window(b *vector.Batch) bool {
	at, from, to := c.win.at, c.win.from, c.win.to
	ch, n := c.in.chunks[at], to-from
	keep := c.in.keep[:vector.Words(n)]
	keep.Fill(n)
	if !c.in.spec.Time.Covers(ch.min, ch.max) {
		keepTimes(keep, ch.times[from:to], c.in.spec.Time)
	}
	if c.in.allowed != nil && ch.series != nil {
		keepSeries(keep, ch.series[from:to], c.in.allowed)
	}
	c.in.eval(n, keep)
	b.N, b.Cols = n, b.Cols[:0]
	if keep.All(n) {
		for i := range c.in.out {
			b.Cols = append(b.Cols, c.slice(&c.in.out[i]))
		}
	} else {
		c.in.rows = keep.AppendRows(c.in.rows[:0])
		if b.N = len(c.in.rows); b.N == 0 {
			return false
		}
		for i := range c.in.rows {
			c.in.rows[i] += uint32(from)
		}
		for i := range c.in.out {
			b.Cols = append(b.Cols, c.in.out[i].gather(ch, at, c.in.rows))
		}
	}
	if st := c.in.spec.Stats; st != nil {
		st.RowsOut.Add(int64(b.N))
	}
	return true
}

// keepTimes takes the rows outside the range out of keep.
func keepTimes(keep vector.Bitmap, times []int64, r scan.Range) {
	for w := range keep {
		var m uint64
		for i, t := range times[w*64 : min(w*64+64, len(times))] {
			m |= vector.Bit(t >= r.From && t <= r.To) << i
		}
		keep[w] &= m
	}
}

// keepSeries takes the rows of series that are not allowed out of keep.
func keepSeries(keep vector.Bitmap, series []uint32, allowed vector.Bitmap) {
	for w := range keep {
		var m uint64
		for i, n := range series[w*64 : min(w*64+64, len(series))] {
			m |= (allowed[n>>6] >> (n & 63) & 1) << i
		}
		keep[w] &= m
	}
}
