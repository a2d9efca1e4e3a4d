package exec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// rankedSorter keeps rows of a text of so many values, some NULL and with zeros, and a number.
func rankedSorter(chunks, rows, values int, desc, nullsFirst bool) *sorter {
	r := newRand(uint64(values))
	s := &sorter{order: []expr.SortKey{{Expr: &expr.Column{T: vector.StringType}, Desc: desc, NullsFirst: nullsFirst},
		{Expr: &expr.Column{T: vector.Int64Type}}}}
	text, number := &vector.Vector{Type: vector.StringType}, &vector.Vector{Type: vector.Int64Type}
	for k := range chunks {
		c := &sortChunk{}
		for range rows + k {
			text.Reset(vector.StringType)
			number.Reset(vector.Int64Type)
			if value := r.IntN(values); value == 0 {
				text.AppendNulls(0, 1)
			} else {
				begin := []string{"", "host\x00", "host\x00\x00", "\xff"}[value%4]
				text.PushBytes(fmt.Appendf(nil, "%s%d", begin, value/4))
			}
			number.Ints = append(number.Ints, 1<<40+r.Int64N(1<<20))
			for i, v := range []*vector.Vector{text, number} {
				c.keys = expr.AppendSortKey(c.keys, v, 0, s.order[i].Desc, s.order[i].NullsFirst)
			}
			c.ends = append(c.ends, len(c.keys))
		}
		s.chunks, s.n = append(s.chunks, c), s.n+len(c.ends)
	}
	return s
}

// TestSortRanked: rows sorted by the ranks of a text come in the order of their keys, in both directions, with NULLs
// at either end; with too many values they are sorted without ranks.
func TestSortRanked(t *testing.T) {
	for _, values := range []int{1, 7, 300, 3 * fewLeads} {
		for mode := range 4 {
			s := rankedSorter(5, rankedRows/5, values, mode&1 != 0, mode&2 != 0)
			plain := *s
			plain.order = nil
			want, err := plain.sorted(t.Context(), 1)
			if err != nil {
				t.Fatal(err)
			}
			for workers := 1; workers < 4; workers++ {
				ok, err := s.rank(t.Context(), make([]entry, s.n), workers)
				if err != nil || ok != (values <= fewLeads) {
					t.Fatalf("%d values are ranked: %v, %v", values, ok, err)
				}
				got, err := s.sorted(t.Context(), workers)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%d values, mode %d, %d workers: another order than without ranks, %v", values, mode, workers,
						err)
				}
			}
		}
	}
}

// TestLeadSize: the first part of a key ends where that of the text does.
func TestLeadSize(t *testing.T) {
	for _, desc := range []bool{false, true} {
		for _, text := range []string{"", "a", "\x00", "\x00\x00", "\xff", "\xff\xff", "a\x00\x01b", "\x01\xfe\xff"} {
			v := &vector.Vector{Type: vector.StringType}
			v.PushBytes([]byte(text))
			lead := expr.AppendSortKey(nil, v, 0, desc, false)
			for _, rest := range []string{"", "\x00", "\xff\xff\xff", "\x01\x00\x00"} {
				if got := leadSize(append(bytes.Clone(lead), rest...), desc); got != len(lead) {
					t.Errorf("%q, descending %v, before %q: %d bytes, want %d", text, desc, rest, got, len(lead))
				}
			}
		}
	}
	if leadSize([]byte{0, 1}, false) != 1 || leadSize([]byte{2, 1}, true) != 1 {
		t.Error("the mark of NULL is one byte")
	}
}

// TestLongLeadsAreNotRanked: texts that take much memory are not kept a second time; a query that is gone ends.
func TestLongLeadsAreNotRanked(t *testing.T) {
	s := rankedSorter(1, rankedRows, 3, false, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.rank(ctx, make([]entry, s.n), 2); !errors.Is(err, context.Canceled) {
		t.Errorf("ranking runs for a query that is gone: %v", err)
	}
	c := &sortChunk{}
	for i := range rankedRows {
		c.keys = fmt.Appendf(c.keys, "\x01%0500d\x00\x00\x01%d", i%2, i)
		c.ends = append(c.ends, len(c.keys))
	}
	s.chunks, s.n = []*sortChunk{c}, rankedRows
	if ok, err := s.rank(t.Context(), make([]entry, s.n), 1); ok || err != nil {
		t.Errorf("texts of a megabyte a batch are ranked, %v", err)
	}
}
