package memtable

import (
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// order is rows of a snapshot by (series key, time, sequence).
type order struct {
	natural bool     // one series whose rows lie in order: rows is empty
	rows    []ref    // otherwise
	ranks   []uint32 // series numbers by rising key
	starts  []int    // starts[i] is the first row of ranks[i]; one more at the end
}

// ref is a row: chunk in the high 32 bits, row in the low.
type ref uint64

// orderOf is the order of the rows that a walk may want: of all, which is kept, or of those of one table among several.
func (s *snapshot) orderOf(spec *scan.Spec) *order {
	if s.series.only == 0 && len(spec.KeyPrefix) > 0 {
		return s.sort([]schema.TableID{schema.KeyTable(spec.KeyPrefix)})
	}
	if o := s.order.Load(); o != nil {
		return o
	}
	o := s.sort(s.series.tableIDs())
	s.order.Store(o) // two readers may both have made it; either will do
	return o
}

// sort orders the rows of some tables, whose ids rise.
func (s *snapshot) sort(tables []schema.TableID) *order {
	o := &order{}
	counts := s.counts(tables)
	for _, id := range tables {
		for _, n := range s.series.sorted(id) {
			if int(n) < len(counts) && counts[n] > 0 {
				o.ranks = append(o.ranks, n)
			}
		}
	}
	if len(o.ranks) == 1 && counts[o.ranks[0]] == s.rows && s.rising() {
		o.natural = true
		o.starts = []int{0, s.rows}
		return o
	}
	// Counting sort by series keeps the order of appending inside each; then each series by time, if it is not already.
	o.starts = make([]int, len(o.ranks)+1)
	at := counts // from here on: where the next row of a series goes; -1: nowhere
	total := 0
	for i, n := range o.ranks {
		o.starts[i] = total
		total, at[n] = total+counts[n], total
	}
	o.starts[len(o.ranks)] = total
	o.rows = make([]ref, total)
	s.place(o, at)
	var sorter merger
	for i := range o.ranks {
		sorter.sort(s, o.rows[o.starts[i]:o.starts[i+1]])
	}
	return o
}

// counts gives the number of rows of every series of some tables; -1 for the series of others.
func (s *snapshot) counts(tables []schema.TableID) []int {
	counts := make([]int, s.series.len())
	var others vector.Bitmap // nil: there are none
	if len(tables) == 1 && tables[0] != s.series.only {
		others = vector.MakeBitmap(len(counts))
		others.Fill(len(counts))
		for _, n := range s.series.of(tables[0]) {
			others.Clear(int(n))
		}
	}
	for _, c := range s.chunks {
		if c.series == nil {
			counts[c.oneSeries] += c.n
			continue
		}
		for _, n := range c.series {
			counts[n]++
		}
	}
	for i := range counts {
		if others != nil && others.Get(i) {
			counts[i] = -1
		}
	}
	return counts
}

// place fills o.rows; at says where the next row of each series goes.
func (s *snapshot) place(o *order, at []int) {
	for k, c := range s.chunks {
		if c.series == nil {
			if p := at[c.oneSeries]; p >= 0 {
				for r := range c.n {
					o.rows[p+r] = ref(k)<<32 | ref(r)
				}
				at[c.oneSeries] += c.n
			}
			continue
		}
		for r, n := range c.series {
			if p := at[n]; p >= 0 {
				o.rows[p] = ref(k)<<32 | ref(r)
				at[n]++
			}
		}
	}
}

// rising tells that the rows of all chunks, one after the other, lie by (time, sequence).
func (s *snapshot) rising() bool {
	lastTime, lastSeq := int64(0), uint64(0)
	for k, c := range s.chunks {
		for r, t := range c.times {
			seq := c.seqOf(r)
			if k+r > 0 && (t < lastTime || t == lastTime && seq < lastSeq) {
				return false
			}
			lastTime, lastSeq = t, seq
		}
	}
	return true
}

// merger sorts the rows of one series by (time, sequence), stably. Rows come in stretches that are sorted already, one
// for each batch or so: a merge sort that begins with those does the least work. It keeps its buffers.
type merger struct {
	items, spare []item
	starts       []int // of sorted stretches, and the end
}

type item struct {
	time int64
	seq  uint64
	row  ref
}

func (m *merger) sort(s *snapshot, rows []ref) {
	m.items, m.starts = m.items[:0], append(m.starts[:0], 0)
	for i, r := range rows {
		c := s.chunks[r>>32]
		it := item{c.times[uint32(r)], c.seqOf(int(uint32(r))), r}
		if i > 0 && before(it, m.items[i-1]) {
			m.starts = append(m.starts, i)
		}
		m.items = append(m.items, it)
	}
	if len(m.starts) == 1 {
		return
	}
	m.starts = append(m.starts, len(rows))
	m.spare = slices.Grow(m.spare[:0], len(rows))[:len(rows)]
	for len(m.starts) > 2 {
		kept := 0
		for i := 0; i+1 < len(m.starts); i += 2 {
			from, mid := m.starts[i], m.starts[i+1]
			to := mid
			if i+2 < len(m.starts) {
				to = m.starts[i+2]
			}
			mergeItems(m.spare[from:to], m.items[from:mid], m.items[mid:to])
			m.starts[kept] = from
			kept++
		}
		m.starts[kept] = len(rows)
		m.starts = m.starts[:kept+1]
		m.items, m.spare = m.spare, m.items[:len(rows)]
	}
	for i := range rows {
		rows[i] = m.items[i].row
	}
}

// before is the order by (time, sequence), strictly.
func before(a, b item) bool { return a.time < b.time || a.time == b.time && a.seq < b.seq }

// mergeItems merges two sorted lists into dst; of equal ones a's come first.
func mergeItems(dst, a, b []item) {
	i := 0
	for len(a) > 0 && len(b) > 0 {
		if before(b[0], a[0]) {
			dst[i], b = b[0], b[1:]
		} else {
			dst[i], a = a[0], a[1:]
		}
		i++
	}
	copy(dst[i+copy(dst[i:], a):], b)
}
