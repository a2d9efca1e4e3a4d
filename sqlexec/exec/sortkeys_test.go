package exec

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// TestSortEntriesByBytes: keys of any bytes come in the order of their bytes, equal ones in the order they came in, and
// prefixes stay what they were.
func TestSortEntriesByBytes(t *testing.T) {
	r := newRand(5)
	for _, n := range []int{0, 1, 2, 3, fewEntries, fewEntries + 1, 1000, 20_000} {
		for _, alphabet := range []string{"\x00", "\x00\x01", "ab", "\x00\xffabcdefghijkl"} {
			for _, length := range []int{1, 8, 9, 40} {
				c := &sortChunk{}
				s := &sorter{chunks: []*sortChunk{c}}
				var keys [][]byte
				for range n {
					key := bytes.Repeat([]byte("common "), r.IntN(3))
					for range r.IntN(length + 1) {
						key = append(key, alphabet[r.IntN(len(alphabet))])
					}
					keys = append(keys, key)
					c.keys = append(c.keys, key...)
					c.ends = append(c.ends, len(c.keys))
				}
				list := make([]entry, n)
				s.fill(list, 0)
				if err := s.sortEntries(list, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				want := make([]uint32, n)
				for i := range want {
					want[i] = uint32(i)
				}
				slices.SortStableFunc(want, func(a, b uint32) int { return bytes.Compare(keys[a], keys[b]) })
				for i, e := range list {
					if e.row != want[i] || e.prefix != word(keys[e.row]) {
						t.Fatalf("%d keys of up to %d of %q: place %d has row %d (%q), want %d (%q)", n, length,
							alphabet, i, e.row, keys[e.row], want[i], keys[want[i]])
					}
				}
			}
		}
	}
}

// BenchmarkSortEntries: keys as ORDER BY of a host and a time makes them.
func BenchmarkSortEntries(b *testing.B) {
	r := newRand(1)
	c := &sortChunk{}
	s := &sorter{chunks: []*sortChunk{c}}
	for range 16_384 {
		c.keys = append(c.keys, fmt.Sprintf("\x01service-%03d\x00\x00\x01%c%c\x00\x00\x00\x00\x00\x00", r.IntN(240),
			r.IntN(256), r.IntN(256))...)
		c.ends = append(c.ends, len(c.keys))
	}
	list := make([]entry, len(c.ends))
	b.ReportAllocs()
	for b.Loop() {
		s.fill(list, 0)
		if err := s.sortEntries(list, func() error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(list)), "ns/row")
}
