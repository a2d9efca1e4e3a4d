package exec

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// fewEntries is the number of entries up to which comparing them takes less than counting their bytes.
const fewEntries = 128

// wordSorter sorts entries by eight bytes of their keys at a time: keys often begin alike, and comparing them byte by
// byte through two row numbers costs two cache misses a comparison.
type wordSorter struct {
	s         *sorter
	spare     []entry
	cancelled func() error
	work      int   // entries since cancelled was last asked
	err       error // the query is gone: nothing is sorted any more
}

// askEntries is the number of entries whose keys are looked at before the query is asked whether it still runs: some
// milliseconds, at a cache miss or two each.
const askEntries = 1 << 14

// cancelledAfter notes work on n entries and reports whether the query was cancelled.
func (w *wordSorter) cancelledAfter(n int) bool {
	if w.work += n; w.work >= askEntries {
		w.work, w.err = 0, w.cancelled()
	}
	return w.err != nil
}

// sortEntries orders entries that stand by rising row and have prefixes as fill gives them, as compare does, and leaves
// the prefixes as they were.
func (s *sorter) sortEntries(list []entry, cancelled func() error) error {
	w := wordSorter{s: s, spare: make([]entry, len(list)), cancelled: cancelled}
	w.sort(list)
	return w.err
}

// sort orders entries by prefix, and entries of equal prefix by the rest of their keys.
func (w *wordSorter) sort(list []entry) {
	w.sortByPrefix(list)
	w.sortRest(list)
}

// sortRest orders entries that are ordered by prefix by the rest of their keys.
func (w *wordSorter) sortRest(list []entry) {
	for from := 0; from < len(list) && w.err == nil; {
		to := from + 1
		for to < len(list) && list[to].prefix == list[from].prefix {
			to++
		}
		if to-from > 1 && !w.cancelledAfter(to-from) {
			w.sortEqual(list[from:to])
		}
		from = to
	}
}

// sortEqual orders entries of one prefix by the next eight bytes after the common beginning of all their keys.
func (w *wordSorter) sortEqual(list []entry) {
	first := w.s.key(int(list[0].row))
	common, least, most := len(first), len(first), len(first)
	for _, e := range list[1:] {
		k := w.s.key(int(e.row))
		common = commonPrefix(first[:common], k)
		least, most = min(least, len(k)), max(most, len(k))
	}
	switch {
	case common == most: // all are equal
		return
	case common == least: // one is the beginning of another
		slices.SortFunc(list, w.s.compare)
		return
	}
	prefix := list[0].prefix
	for i := range list {
		list[i].prefix = word(w.s.key(int(list[i].row))[common:])
	}
	w.sort(list)
	for i := range list {
		list[i].prefix = prefix
	}
}

// word is the first eight bytes of a key, with zeros after a shorter one: of unequal words the smaller one is of the
// smaller key.
func word(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var head [8]byte
	copy(head[:], key)
	return binary.BigEndian.Uint64(head[:])
}

// commonPrefix is the number of bytes that a and b begin with alike.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	at := 0
	for ; at+8 <= n; at += 8 {
		if binary.LittleEndian.Uint64(a[at:]) != binary.LittleEndian.Uint64(b[at:]) {
			break
		}
	}
	for at < n && a[at] == b[at] {
		at++
	}
	return at
}

// sortByPrefix orders entries by prefix and keeps the order of equal ones: a pass of counting for each byte in which
// prefixes differ, from the last to the first.
func (w *wordSorter) sortByPrefix(list []entry) {
	if len(list) <= fewEntries {
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.prefix, b.prefix) })
		return
	}
	differ := uint64(0)
	for _, e := range list {
		differ |= e.prefix ^ list[0].prefix
	}
	from, to := list, w.spare[:len(list)]
	for shift := 0; shift < 64; shift += 8 {
		if differ>>shift&0xFF == 0 {
			continue
		}
		if w.cancelledAfter(len(list)) {
			return
		}
		byByte(to, from, shift)
		from, to = to, from
	}
	if &from[0] != &list[0] {
		copy(list, from)
	}
}

// byByte copies entries ordered by the byte of their prefixes at shift.
func byByte(to, from []entry, shift int) {
	var at [256]uint32
	for i := range from {
		at[uint8(from[i].prefix>>shift)]++
	}
	sum := uint32(0)
	for b, n := range at {
		at[b] = sum
		sum += n
	}
	for i := range from {
		b := uint8(from[i].prefix >> shift)
		to[at[b]] = from[i]
		at[b]++
	}
}
