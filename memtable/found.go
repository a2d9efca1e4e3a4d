package memtable

import (
	"slices"

	"varve/engine/invariant"
	"varve/engine/scan"
)

// found is series of a snapshot that have rows and pass the tests on their tags.
type found struct {
	s     *snapshot
	want  *scan.Find
	ranks []uint32  // series numbers by rising key
	parts []rowSpan // by series, and those of a series by (time, sequence)
	begin []int     // begin[i] is the first of parts of the i'th series; one more at the end
	cols  []fieldOf
	puts  bool // no chunk has a tombstone
}

// rowSpan is rows [from, to) of a chunk, which are of one series and by (time, sequence).
type rowSpan struct{ chunk, from, to uint32 }

func (p rowSpan) rows() int { return int(p.to - p.from) }

// foundSeries is about the memory of a series that is found: numbers, its key in order, where its rows begin.
const foundSeries = 32

// gather finds the rows of series, whose numbers rise; byKey gives them by rising key.
func (f *found) gather(numbers []uint32, byKey [][]uint32) error {
	l := &spanList{reserve: f.want.Reserve}
	if err := l.room(int64(len(numbers)) * foundSeries); err != nil {
		return err
	}
	in := slotsIn(numbers)
	for k, c := range f.s.chunks {
		if !c.mayHave(in, f.want.Time) {
			continue
		}
		var err error
		switch {
		case c.series == nil:
			if slot := in.of(c.oneSeries); slot >= 0 {
				err = l.addRising(slot, uint32(k), c, 0, c.n)
			}
		case c.level > 0:
			err = l.addSorted(in, uint32(k), c)
		default:
			err = l.addAll(in, uint32(k), c)
		}
		if err != nil {
			return err
		}
	}
	return f.arrange(l, in, byKey)
}

// arrange brings what was found in the chunks into the order of the keys.
func (f *found) arrange(l *spanList, in *slots, byKey [][]uint32) error {
	next := make([]int, in.n+1) // where the next span of a slot goes
	for _, x := range l.list {
		next[x.slot]++
	}
	f.begin = append(f.begin, 0)
	total := 0
	for _, numbers := range byKey {
		for _, n := range numbers {
			slot := in.of(n)
			if slot < 0 || next[slot] == 0 {
				continue
			}
			f.ranks = append(f.ranks, n)
			total, next[slot] = total+next[slot], total
			f.begin = append(f.begin, total)
		}
	}
	if err := l.room(int64(total) * spanBytes); err != nil {
		return err
	}
	f.parts = make([]rowSpan, total)
	for _, x := range l.list {
		f.parts[next[x.slot]] = x.rowSpan
		next[x.slot]++
	}
	return f.sortParts(l)
}

// spanBytes is the memory of a rowSpan, spanSlotBytes that of one with its slot.
const (
	spanBytes     = 12
	spanSlotBytes = 16
)

// spanList is the stretches of rows of the wanted series, in the order of the chunks. Its memory is reserved before it
// grows.
type spanList struct {
	list    []slotSpan
	reserve func(int64) error
}

type slotSpan struct {
	slot uint32
	rowSpan
}

func (l *spanList) room(bytes int64) error {
	if l.reserve == nil || bytes == 0 {
		return nil
	}
	return l.reserve(bytes)
}

// add adds rows [from, to) of a chunk.
func (l *spanList) add(slot int, chunk uint32, from, to int) error {
	if k := len(l.list); k == cap(l.list) {
		more := max(16, k)
		if err := l.room(int64(more) * spanSlotBytes); err != nil {
			return err
		}
		l.list = append(make([]slotSpan, 0, k+more), l.list...)
	}
	l.list = append(l.list, slotSpan{uint32(slot), rowSpan{chunk, uint32(from), uint32(to)}})
	return nil
}

// addRising adds rows of one series, cut where a time or sequence does not rise.
func (l *spanList) addRising(slot int, chunk uint32, c *chunk, from, to int) error {
	for r := from + 1; r < to; r++ {
		if c.less(r, c, r-1) {
			if err := l.add(slot, chunk, from, r); err != nil {
				return err
			}
			from = r
		}
	}
	return l.add(slot, chunk, from, to)
}

// addSorted adds the rows of the wanted series of a sorted chunk.
func (l *spanList) addSorted(in *slots, chunk uint32, c *chunk) error {
	first, _ := slices.BinarySearch(in.few, c.loSeries)
	if c.starts != nil {
		for slot := first; slot < len(in.few) && in.few[slot] <= c.hiSeries; slot++ {
			k := in.few[slot] - c.loSeries
			if from, to := c.starts[k], c.starts[k+1]; from < to {
				if err := l.add(slot, chunk, int(from), int(to)); err != nil {
					return err
				}
			}
		}
		return nil
	}
	at := 0
	for slot := first; slot < len(in.few) && in.few[slot] <= c.hiSeries; slot++ {
		n := in.few[slot]
		if at = reach(c.series, at, n); at == c.n {
			return nil
		}
		if c.series[at] != n {
			continue
		}
		from := at
		at = reach(c.series, at, n+1)
		if err := l.add(slot, chunk, from, at); err != nil {
			return err
		}
	}
	return nil
}

// reach is the first position from at on whose series is n or greater. Series rise; near ones are found the soonest.
func reach(series []uint32, at int, n uint32) int {
	step := 1
	for at+step < len(series) && series[at+step] < n {
		at += step
		step *= 2
	}
	rest := series[at:min(at+step+1, len(series))]
	k, _ := slices.BinarySearch(rest, n)
	return at + k
}

// addAll adds the rows of the wanted series of a chunk whose rows lie as they came.
func (l *spanList) addAll(in *slots, chunk uint32, c *chunk) error {
	for r := 0; r < c.n; {
		n, from := c.series[r], r
		slot := in.of(n)
		if r++; slot < 0 {
			continue
		}
		for r < c.n && c.series[r] == n {
			r++
		}
		if err := l.addRising(slot, chunk, c, from, r); err != nil {
			return err
		}
	}
	return nil
}

// less reports whether a row comes before row k of a chunk, by time and sequence.
func (c *chunk) less(r int, o *chunk, k int) bool {
	t, u := c.times[r], o.times[k]
	return t < u || t == u && c.seqOf(r) < o.seqOf(k)
}

// sortParts has the stretches of each series follow each other in time: where they do not, its rows are sorted.
func (f *found) sortParts(l *spanList) error {
	chunks := f.s.chunks
	var sorter merger
	var sorted []rowSpan // of all series so far; nil: they lie in order
	for i := range f.ranks {
		parts := f.parts[f.begin[i]:f.begin[i+1]]
		rising := true
		for k := 1; k < len(parts) && rising; k++ {
			p, q := parts[k-1], parts[k]
			rising = chunks[p.chunk].max < chunks[q.chunk].min ||
				!chunks[q.chunk].less(int(q.from), chunks[p.chunk], int(p.to-1))
		}
		if rising && sorted == nil {
			continue
		}
		if sorted == nil {
			sorted = append(make([]rowSpan, 0, len(f.parts)), f.parts[:f.begin[i]]...)
		}
		f.begin[i] = len(sorted)
		if rising {
			sorted = append(sorted, parts...)
			continue
		}
		rows := 0
		for _, p := range parts {
			rows += p.rows()
		}
		if err := l.room(int64(rows) * sortedRow); err != nil {
			return err
		}
		sorted = sorter.spans(chunks, parts, sorted)
	}
	if sorted != nil {
		f.parts, f.begin[len(f.ranks)] = sorted, len(sorted)
	}
	if invariant.On {
		f.check()
	}
	return nil
}

// sortedRow is about the memory that a row takes whose series is sorted for a reader.
const sortedRow = spanBytes + 2*24 + 8

// spans appends the rows of stretches in order.
func (m *merger) spans(chunks []*chunk, parts, dst []rowSpan) []rowSpan {
	var rows []rowRef
	for _, p := range parts {
		for r := p.from; r < p.to; r++ {
			rows = append(rows, rowRef(p.chunk)<<32|rowRef(r))
		}
	}
	m.sort(chunks, rows)
	first := len(dst)
	for _, x := range rows {
		chunk, r := uint32(x>>32), uint32(x)
		if k := len(dst); k > first && dst[k-1].chunk == chunk && dst[k-1].to == r {
			dst[k-1].to++
			continue
		}
		dst = append(dst, rowSpan{chunk, r, r + 1})
	}
	return dst
}

// Len is the number of series.
func (f *found) Len() int { return len(f.ranks) }

// Bytes is the memory of what was found.
func (f *found) Bytes() int64 {
	return int64(cap(f.parts))*spanBytes + int64(cap(f.begin))*8 + int64(cap(f.ranks))*4
}

// Rows bounds the rows of the i'th series.
func (f *found) Rows(i int) (n int) {
	for _, p := range f.parts[f.begin[i]:f.begin[i+1]] {
		n += p.rows()
	}
	return n
}
