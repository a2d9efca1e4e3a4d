package memtable

import (
	"math"
	"slices"

	"varve/engine/invariant"
)

// check holds what readers of a chunk rely on.
func (c *chunk) check() {
	invariant.Check(c.n > 0 && len(c.times) == c.n, "a chunk of %d rows has %d times", c.n, len(c.times))
	invariant.Check(c.min == slices.Min(c.times) && c.max == slices.Max(c.times),
		"times of a chunk are not within %d and %d", c.min, c.max)
	invariant.Check(c.seqs == nil || len(c.seqs) == c.n, "a chunk of %d rows has %d sequences", c.n, len(c.seqs))
	invariant.Check(c.kinds == nil || len(c.kinds) == c.n, "a chunk of %d rows has %d kinds", c.n, len(c.kinds))
	lo, hi := c.oneSeries, c.oneSeries
	if c.series != nil {
		invariant.Check(len(c.series) == c.n, "a chunk of %d rows has %d series", c.n, len(c.series))
		lo, hi = slices.Min(c.series), slices.Max(c.series)
	}
	invariant.Check(c.loSeries <= lo && c.hiSeries >= hi, "series %d to %d of a chunk of %d to %d", lo, hi, c.loSeries,
		c.hiSeries)
	bad := 0
	for r := 1; r < c.n && c.level > 0; r++ {
		if c.series[r] < c.series[r-1] || c.series[r] == c.series[r-1] && c.less(r, c, r-1) {
			bad = r
		}
	}
	invariant.Check(bad == 0, "row %d of a sorted chunk comes before the one before it", bad)
	for _, v := range c.cols {
		if v != nil {
			v.Check(c.n)
		}
	}
}

// check holds that the rows of each series lie by time and sequence, and that series rise by key.
func (o *order) check(s *snapshot) {
	invariant.Check(len(o.starts) == len(o.ranks)+1 || len(o.ranks) == 0, "%d series begin at %d places", len(o.ranks),
		len(o.starts))
	for i, n := range o.ranks {
		invariant.Check(i == 0 || s.series.compare(o.ranks[i-1], n) < 0, "series %d comes before its key does", n)
		lastTime, lastSeq := int64(math.MinInt64), uint64(0)
		for k := o.starts[i]; k < o.starts[i+1]; k++ {
			x := o.rows[k]
			t, seq := s.time(x), s.chunks[x>>32].seqOf(int(uint32(x)))
			invariant.Check(t > lastTime || t == lastTime && seq >= lastSeq,
				"row %d of series %d comes before its time", k, n)
			lastTime, lastSeq = t, seq
		}
	}
}

// check holds that the rows of each series follow each other by time and sequence, and that series rise by key.
func (f *found) check() {
	invariant.Check(len(f.begin) == len(f.ranks)+1, "%d series begin at %d places", len(f.ranks), len(f.begin))
	for i, n := range f.ranks {
		invariant.Check(i == 0 || f.s.series.compare(f.ranks[i-1], n) < 0, "series %d comes before its key does", n)
		var before *chunk
		row := 0
		for _, p := range f.parts[f.begin[i]:f.begin[i+1]] {
			c := f.s.chunks[p.chunk]
			for r := int(p.from); r < int(p.to); r++ {
				invariant.Check(c.series == nil && c.oneSeries == n || c.series != nil && c.series[r] == n,
					"row %d is not of series %d", r, n)
				invariant.Check(before == nil || !c.less(r, before, row),
					"row %d of series %d comes before its time", r, n)
				before, row = c, r
			}
		}
	}
}
