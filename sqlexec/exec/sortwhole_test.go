package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
)

// chunksOfTexts is a sorter of so many chunks with keys as ORDER BY of a text and a number makes them; values is the
// number of texts.
func chunksOfTexts(chunks, values int) *sorter {
	r := newRand(uint64(values))
	s, services := &sorter{}, []string{"frontend", "back", "x"}
	for k := range chunks {
		c := &sortChunk{}
		for range 3000 + 500*k {
			c.keys = fmt.Appendf(c.keys, "\x01%s-%03d.example\x00\x00\x01%c%c", services[r.IntN(3)], r.IntN(values),
				r.IntN(256), r.IntN(20))
			c.ends = append(c.ends, len(c.keys))
		}
		s.chunks, s.n = append(s.chunks, c), s.n+len(c.ends)
	}
	return s
}

// TestSortWhole: entries sorted at once are in the order of entries sorted by run and merged.
func TestSortWhole(t *testing.T) {
	for _, chunks := range []int{1, 2, 7} {
		for _, values := range []int{1, 5, 900} {
			s := chunksOfTexts(chunks, values)
			want, err := s.sorted(t.Context(), 2) // so few rows are merged
			if err != nil {
				t.Fatal(err)
			}
			for workers := range 3 {
				list := make([]entry, s.n)
				if err := s.sortWhole(t.Context(), list, 1+workers); err != nil {
					t.Fatal(err)
				}
				for i, e := range list {
					if e.row != want[i] {
						t.Fatalf("%d chunks, %d texts, %d workers: place %d has row %d, want %d", chunks, values, 1+workers, i,
							e.row, want[i])
					}
				}
			}
		}
	}
}

// TestPrefixesRepeat: texts of few values repeat, numbers do not.
func TestPrefixesRepeat(t *testing.T) {
	s := chunksOfTexts(3, 5)
	if err := s.findCommon(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !s.prefixesRepeat() {
		t.Error("three first words do not repeat")
	}
	r, c := newRand(4), &sortChunk{}
	for range 5000 {
		c.keys = fmt.Appendf(c.keys, "%08x", r.Uint32())
		c.ends = append(c.ends, len(c.keys))
	}
	s = &sorter{chunks: []*sortChunk{c}, n: len(c.ends)}
	if s.prefixesRepeat() {
		t.Error("numbers repeat")
	}
}

// TestSortWholeOfManyRows: from wholeRows on texts of few values are sorted at once, and the query may end meanwhile.
func TestSortWholeOfManyRows(t *testing.T) {
	s := &sorter{}
	for s.n < wholeRows {
		more := chunksOfTexts(8, 4)
		s.chunks, s.n = append(s.chunks, more.chunks...), s.n+more.n
	}
	got, err := s.sorted(t.Context(), 2)
	if err != nil || len(got) != s.n {
		t.Fatalf("%d of %d rows, %v", len(got), s.n, err)
	}
	if !slices.IsSortedFunc(got, func(a, b uint32) int {
		return s.compare(entry{0, a}, entry{0, b})
	}) {
		t.Error("rows are not in order")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.sortWhole(ctx, make([]entry, s.n), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("sorting runs for a query that is gone: %v", err)
	}
}
