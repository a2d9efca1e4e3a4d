package expr

import "varve/engine/vector"

// sampleLog puts values of groups off: added one by one to the counts of many groups each would be a cache miss, a few
// hundred of one group together are not.
type sampleLog struct {
	groups []uint32
	values []float64
	sorted []float64 // values group by group
	ends   []uint32
}

const (
	// logRows is the number of values that are put off, 3 MiB of them.
	logRows = 1 << 18
	// Numbers of groups at which it pays to put values off: the counts of fewer stay in the cache (of 80 groups a value
	// takes 6 ns, and 10 by way of the log), and of more a log holds too few values each.
	minLogGroups = 512
	maxLogGroups = logRows / 8
)

// add puts values off; full tells that it is time to settle.
func (l *sampleLog) add(groups []uint32, values []float64) (full bool) {
	l.groups = append(l.groups, groups...)
	l.values = append(l.values, values...)
	return len(l.groups) >= logRows
}

func (l *sampleLog) bytes() int64 {
	return int64(4*(cap(l.groups)+cap(l.ends)) + 8*(cap(l.values)+cap(l.sorted)))
}

// byGroup sorts the values by group and keeps their order within a group: group g has sorted[ends[g-1]:ends[g]].
func (l *sampleLog) byGroup(groups int) (ends []uint32) {
	l.ends = vector.Extended(l.ends[:0], groups)
	ends = l.ends
	for _, g := range l.groups {
		ends[g]++
	}
	sum := uint32(0)
	for g, n := range ends {
		ends[g] = sum
		sum += n
	}
	if cap(l.sorted) < len(l.values) {
		l.sorted = make([]float64, len(l.values))
	}
	sorted, values := l.sorted[:len(l.values)], l.values[:len(l.groups)]
	for i, g := range l.groups {
		sorted[ends[g]] = values[i]
		ends[g]++
	}
	return ends
}
