package engine

import "sort"

// interleaving is the memory of one reader for series whose sources lie in each other's time.
type interleaving struct {
	from   []int // where the rows of each source begin
	order  []uint32
	left   []uint32 // scratch of mergeTwo
	times  []int64
	floats []float64
	ends   []int
	heap   []byte
}

func (l *interleaving) bytes() int64 {
	return int64(cap(l.from)+cap(l.times)+cap(l.floats)+cap(l.ends))*8 + int64(cap(l.order)+cap(l.left))*4 +
		int64(cap(l.heap))
}

// inOrder reports whether times rise strictly from source to source.
func (l *interleaving) inOrder(times []int64) bool {
	for _, k := range l.from {
		if k > 0 && k < len(times) && times[k] <= times[k-1] {
			return false
		}
	}
	return true
}

// interleave puts the rows of a series in order of time; from holds where each source begins, counted from the first
// row of the series, and the times of each rise. ok is false, and nothing is changed, where two sources have a row of
// one instant or a column has values in some of the rows only: these rows are to be merged.
func (b *SampleBlock) interleave(t *wantedTable, m seriesMark) (ok bool) {
	for c := range t.columns {
		if span := &m.spans[c]; span.own && span.n > 0 {
			return false
		}
	}
	l, times := &b.apart, b.times[m.row:]
	if !l.guessed(times) && !l.sort(times) {
		return false
	}
	l.times = arrange(times, l.order, l.times)
	for c := range t.columns {
		col, span := &b.columns[c], &m.spans[c]
		switch {
		case span.n == 0:
		case t.floats(c):
			l.floats = arrange(col.floats[span.value:], l.order, l.floats)
		default:
			l.arrangeBytes(col, span.value)
		}
	}
	return true
}

// guessed reports whether the rows of this series have the order of the series before, as those of series that are
// scraped together do.
func (l *interleaving) guessed(times []int64) bool {
	if len(l.order) != len(times) {
		return false
	}
	last := times[l.order[0]]
	for _, k := range l.order[1:] {
		t := times[k]
		if t <= last {
			return false
		}
		last = t
	}
	return true
}

// sort sets order to the rows by rising time; false: two rows have one time.
func (l *interleaving) sort(times []int64) bool {
	l.order = l.order[:0]
	for k := range times {
		l.order = append(l.order, uint32(k))
	}
	for len(l.from) > 1 {
		ends, merged := append(l.from, len(times)), l.from[:0]
		for k := 0; k+1 < len(ends); k += 2 {
			from, mid := ends[k], ends[k+1]
			if k+2 < len(ends) && !l.mergeTwo(times, from, mid, ends[k+2]) {
				return false
			}
			merged = append(merged, from)
		}
		l.from = merged
	}
	return true
}

// mergeTwo merges order [from, mid) with order [mid, to); false: both have a row of one time.
func (l *interleaving) mergeTwo(times []int64, from, mid, to int) bool {
	if from == mid || mid == to {
		return true
	}
	first := times[l.order[mid]]
	from += sort.Search(mid-from, func(k int) bool { return times[l.order[from+k]] >= first })
	l.left = append(l.left[:0], l.order[from:mid]...)
	left, right, out := l.left, l.order[mid:to], l.order[from:to]
	for len(left) > 0 && len(right) > 0 {
		a, b := times[left[0]], times[right[0]]
		switch {
		case a < b:
			out[0], left = left[0], left[1:]
		case a > b:
			out[0], right = right[0], right[1:]
		default:
			return false
		}
		out = out[1:]
	}
	copy(out, left)
	return true
}

// arrange puts a list in an order, and returns the scratch that it was copied to.
func arrange[T any](list []T, order []uint32, scratch []T) []T {
	scratch = append(scratch[:0], list...)
	list = list[:len(order)]
	for k, from := range order {
		list[k] = scratch[from]
	}
	return scratch
}

// arrangeBytes puts the values of a column from one on in order.
func (l *interleaving) arrangeBytes(col *blockColumn, from int) {
	begin := col.ends[from]
	l.ends = append(l.ends[:0], col.ends[from:]...)
	l.heap = append(l.heap[:0], col.heap[begin:]...)
	col.ends, col.heap = col.ends[:from+1], col.heap[:begin]
	for _, k := range l.order {
		col.heap = append(col.heap, l.heap[l.ends[k]-begin:l.ends[k+1]-begin]...)
		col.ends = append(col.ends, len(col.heap))
	}
}
