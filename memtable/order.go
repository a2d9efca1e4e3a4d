package memtable

import (
	"math"
	"slices"

	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// order is rows of a snapshot by (series key, time, sequence).
type order struct {
	table   schema.TableID // of all rows, among several tables; 0: of all there are
	natural bool           // one series whose rows are in order: rows is empty
	rows    []rowRef       // otherwise
	ranks   []uint32       // series numbers by rising key
	starts  []int          // starts[i] is the first row of ranks[i]; one more at the end
}

// rowRef is a row: chunk in the high 32 bits, row in the low.
type rowRef uint64

// orderOf returns the order of the rows that a walk may want: of all rows, which is cached, or of the rows of one among
// several tables.
func (s *snapshot) orderOf(spec *scan.Spec) *order {
	if len(spec.KeyPrefix) > len(schema.KeyPrefix(0)) && s.order.Load() == nil {
		if numbers := s.series.begin(schema.KeyTable(spec.KeyPrefix), spec.KeyPrefix); len(numbers) <= fewSeries {
			byKey := slices.Clone(numbers)
			slices.SortFunc(byKey, s.series.compare)
			return s.sort(slotsIn(numbers), byKey)
		}
	}
	if s.series.only == 0 && len(spec.KeyPrefix) > 0 {
		id := schema.KeyTable(spec.KeyPrefix)
		if o := s.part.Load(); o != nil && o.table == id {
			return o
		}
		o := s.sort(s.slotsOf(id), s.series.sorted(id))
		o.table = id
		s.part.Store(o)
		return o
	}
	if o := s.order.Load(); o != nil {
		return o
	}
	var all [][]uint32
	for _, id := range s.series.tableIDs() {
		all = append(all, s.series.sorted(id))
	}
	o := s.sort(&slots{n: s.series.len(), hi: math.MaxUint32}, all...)
	s.order.Store(o) // two readers may both have made it; either will do
	return o
}

// fewSeries is the number of series up to which their rows alone are sorted.
var fewSeries = invariant.Limit(1024, 1)

// slots are the positions of the series whose rows are sorted: their numbers or, for one table among several, their
// ranks.
type slots struct {
	n      int    // of slots
	lo, hi uint32 // numbers of the first and last series
	id     schema.TableID
	owners []schema.TableID // nil: all series
	ranks  []uint32
	few    []uint32      // numbers of a few series, rising, by slot; nil: all series, or those of a table
	among  vector.Bitmap // the same, as bits from lo on
	dense  []uint32      // the same: slot + 1 by number from lo on; nil if it would be mostly zeros
}

// slotsIn are the slots of a few series, whose numbers rise.
func slotsIn(numbers []uint32) *slots {
	if len(numbers) == 0 {
		return &slots{lo: 1}
	}
	in := &slots{n: len(numbers), lo: numbers[0], hi: numbers[len(numbers)-1], few: numbers}
	span := int(in.hi-in.lo) + 1
	if span/mostlyZeros <= len(numbers) {
		in.dense = make([]uint32, span)
		for i, n := range numbers {
			in.dense[n-in.lo] = uint32(i) + 1
		}
		return in
	}
	in.among = vector.MakeBitmap(span)
	for _, n := range numbers {
		in.among.Set(int(n - in.lo))
	}
	return in
}

// mostlyZeros is the number of series for each wanted one from which on a bitmap is tested before a search.
var mostlyZeros = invariant.Limit(64, 1)

func (s *snapshot) slotsOf(id schema.TableID) *slots {
	numbers := s.series.of(id)
	if len(numbers) == 0 {
		return &slots{lo: 1}
	}
	return &slots{n: len(numbers), lo: numbers[0], hi: numbers[len(numbers)-1], id: id, owners: s.series.owners,
		ranks: s.series.ranks}
}

// of returns the slot of a series; -1: its rows are not wanted.
func (s *slots) of(n uint32) int {
	switch {
	case n < s.lo || n > s.hi:
		return -1
	case s.dense != nil:
		return int(s.dense[n-s.lo]) - 1
	case s.few != nil:
		if !s.among.Get(int(n - s.lo)) {
			return -1
		}
		i, _ := slices.BinarySearch(s.few, n)
		return i
	case s.owners == nil:
		return int(n)
	case s.owners[n] != s.id:
		return -1
	}
	return int(s.ranks[n])
}

// sort orders the rows of the series in slots, which are given by rising key.
func (s *snapshot) sort(in *slots, byKey ...[]uint32) *order {
	o := &order{}
	counts, total := s.count(in)
	s.rank(o, in, counts, byKey...)
	if len(o.ranks) == 1 && total == s.rows && s.rising() {
		o.natural = true
		o.starts = []int{0, s.rows}
		return o
	}
	s.arrange(o, in, counts)
	return o
}

// rank puts the series that have rows in o.
func (s *snapshot) rank(o *order, in *slots, counts []int, byKey ...[]uint32) {
	for _, numbers := range byKey {
		for _, n := range numbers {
			if int(n) < s.series.len() && counts[in.of(n)] > 0 {
				o.ranks = append(o.ranks, n)
			}
		}
	}
}

// arrange puts the rows in order that counts has counted.
func (s *snapshot) arrange(o *order, in *slots, counts []int) {
	// Counting sort by series keeps the order of appending inside each; then each series by time, if it is not already.
	o.starts = make([]int, len(o.ranks)+1)
	next := counts // from here on: where the next row of a series goes
	total := 0
	for i, n := range o.ranks {
		slot := in.of(n)
		o.starts[i] = total
		total, next[slot] = total+counts[slot], total
	}
	o.starts[len(o.ranks)] = total
	o.rows = make([]rowRef, total)
	s.place(o, in, next)
	s.sortEach(o)
}

// sortEach sorts the rows of each series by time, unless they are.
func (s *snapshot) sortEach(o *order) {
	if invariant.On {
		defer func() { o.check(s) }()
	}
	var sorter merger
	for i := range o.ranks {
		sorter.sort(s.chunks, o.rows[o.starts[i]:o.starts[i+1]])
	}
}

func (s *snapshot) time(x rowRef) int64 { return s.chunks[x>>32].times[uint32(x)] }

// count returns the number of rows by slot, and of all.
func (s *snapshot) count(in *slots) (counts []int, total int) {
	counts = make([]int, in.n)
	for _, c := range s.chunks {
		if !c.mayHave(in, scan.All) {
			continue
		}
		if c.series == nil {
			if i := in.of(c.oneSeries); i >= 0 {
				counts[i] += c.n
				total += c.n
			}
			continue
		}
		for _, n := range c.series {
			if i := in.of(n); i >= 0 {
				counts[i]++
				total++
			}
		}
	}
	return counts, total
}

// mayHave reports whether rows of the series in slots may be in the chunk, and times of a range.
func (c *chunk) mayHave(in *slots, time scan.Range) bool {
	return c.hiSeries >= in.lo && c.loSeries <= in.hi && time.Overlaps(c.min, c.max)
}

// place fills o.rows; next says where the next row of each slot goes.
func (s *snapshot) place(o *order, in *slots, next []int) {
	for k, c := range s.chunks {
		if !c.mayHave(in, scan.All) {
			continue
		}
		if c.series == nil {
			if i := in.of(c.oneSeries); i >= 0 {
				for r := range c.n {
					o.rows[next[i]+r] = rowRef(k)<<32 | rowRef(r)
				}
				next[i] += c.n
			}
			continue
		}
		for r, n := range c.series {
			if i := in.of(n); i >= 0 {
				o.rows[next[i]] = rowRef(k)<<32 | rowRef(r)
				next[i]++
			}
		}
	}
}

// rising reports whether the rows of all chunks, in the order of the chunks, are sorted by (time, sequence).
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
	row  rowRef
}

func (m *merger) sort(chunks []*chunk, rows []rowRef) {
	m.items, m.starts = m.items[:0], append(m.starts[:0], 0)
	for i, r := range rows {
		c := chunks[r>>32]
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
