package exec

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
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
				if s.n = n; n%2 == 0 { // else prefixes begin where keys begin
					if err := s.findCommon(t.Context()); err != nil {
						t.Fatal(err)
					}
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
					if e.row != want[i] || e.prefix != word(keys[e.row][s.common:]) {
						t.Fatalf("%d keys of up to %d of %q: place %d has row %d (%q), want %d (%q)", n, length,
							alphabet, i, e.row, keys[e.row], want[i], keys[want[i]])
					}
				}
			}
		}
	}
}

// TestSortOfManyChunks: rows whose keys begin alike, or not, in one chunk and in others, come in the order of their
// keys, whatever the number of goroutines.
func TestSortOfManyChunks(t *testing.T) {
	r := newRand(9)
	for _, begins := range [][]string{{""}, {"\x01\x80\x00\x00\x00\x00\x00"}, {"\x01\x80", "\x01\x80", "\x01\x7f"},
		{"\x01", "\x01", ""}, {"the same in all chunks but one", "", "the same in all chunks but one"}} {
		s := &sorter{chunks: []*sortChunk{{}}} // the first has no rows
		type row struct {
			key string
			row uint32
		}
		var want []row
		for k := range 5 {
			c := &sortChunk{}
			for i := range 1000 + 100*k {
				key := fmt.Sprintf("%s%c%c%d", begins[k%len(begins)], r.IntN(3), r.IntN(256), r.IntN(50))
				c.keys = append(c.keys, key...)
				c.ends = append(c.ends, len(c.keys))
				want = append(want, row{key, uint32((1+k)*chunkRows + i)})
			}
			s.chunks, s.n = append(s.chunks, c), s.n+len(c.ends)
		}
		slices.SortFunc(want, func(a, b row) int {
			return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.row, b.row))
		})
		for workers := range 3 {
			got, err := s.sorted(t.Context(), 1+workers)
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if got[i] != w.row {
					t.Fatalf("keys begin %q, %d workers: place %d has row %d, want %d", begins, 1+workers, i, got[i],
						w.row)
				}
			}
		}
		if begins[0] == "" && s.common > 1 || len(begins) == 1 && s.common < len(begins[0]) {
			t.Errorf("keys that begin %q have %d bytes in common", begins, s.common)
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
