package engine

import (
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/sst"
)

// span is a part to be: rows from a time on, ten a millisecond.
type span struct {
	rows int
	from int64
}

// compactedBlocks writes one part for each span, compacts the table, checks that its rows stay the same, and gives the
// rows of the blocks of each part.
func compactedBlocks(t *testing.T, options map[string]string, spans ...span) (blocks [][]int) {
	t.Helper()
	fs := vfs.NewMem()
	e := mustOpen(t, Options{FS: fs, Dir: "/data", NoBackground: true})
	defer mustClose(t, e)
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(options); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, s := range spans {
		var set WriteSet
		if err := accessRows(set.Rows(public("log"), h), s.rows, s.from); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
		total += s.rows
	}
	before, err := scanTable(e, public("log"), everything)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	after, err := scanTable(e, public("log"), everything)
	if err != nil || len(after) != total || !slices.Equal(before, after) {
		t.Fatalf("%d rows became %d others: %v", len(before), len(after), err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range tab.Stats().Parts {
		if errs := verifyPart(fs, part.File, true); len(errs) > 0 {
			t.Fatal(errs)
		}
		p, err := sst.Open(fs, "/data/parts/"+part.File, sst.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var rows []int
		for i := range p.Run().Blocks() {
			n, _ := p.Run().Block(i)
			rows = append(rows, n)
		}
		blocks = append(blocks, rows)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return blocks
}

// TestSplice merges parts whose blocks lie one behind the other, and others among each other: full blocks that lie
// alone come over as they are.
func TestSplice(t *testing.T) {
	// The second part begins within the first, the third behind a gap.
	got := compactedBlocks(t, map[string]string{"append_mode": "true"}, // one window
		span{25_000, 0}, span{25_000, 2_300}, span{9_000, 6_000}, span{300, 9_000}, span{300, 9_010})
	// Of the first part two full blocks lie before the second part. Its third and its rest are merged with the first of
	// the second part. Two of that are full and alone, its rest is followed by a full block, whose own rest grows.
	want := [][]int{{8192, 8192, 8192, 8192, 424, 8192, 8192, 424, 8192, 1408}}
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("blocks of %v rows, want %v", got, want)
	}
}

// TestSpliceWindows merges parts across the end of a window: only the block on the edge is cut, the others come over as
// they are.
func TestSpliceWindows(t *testing.T) {
	// 50,000 rows
	got := compactedBlocks(t, map[string]string{"append_mode": "true", "compaction.twcs.time_window": "5s"},
		span{25_000, 0}, span{60_000, 2_500})
	want := [][]int{{8192, 8192, 8192, 424, 8192, 8192, 8192, 424}, {7768, 8192, 8192, 8192, 2656}}
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("blocks of %v rows, want %v", got, want)
	}
}
