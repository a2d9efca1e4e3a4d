package engine

import (
	"slices"
	"testing"

	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/sst"
)

// TestSplice merges parts whose blocks lie one behind the other, and others among each other: the rows stay the same,
// the new part checks out, and full blocks that lie alone come over as they are.
func TestSplice(t *testing.T) {
	fs := vfs.NewMem()
	e := mustOpen(t, Options{FS: fs, Dir: "/data", NoBackground: true})
	defer mustClose(t, e)
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true"}); err != nil { // one window
		t.Fatal(err)
	}
	// Ten rows a millisecond: 25,000 rows take 2,500. The second part begins within the first, the third behind a gap.
	for _, c := range []struct {
		rows int
		from int64
	}{{25_000, 0}, {25_000, 2_300}, {9_000, 6_000}, {300, 9_000}, {300, 9_010}} {
		var set WriteSet
		if err := accessRows(set.Rows(public("log"), h), c.rows, c.from); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	before, err := scanTable(e, public("log"), everything)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	after, err := scanTable(e, public("log"), everything)
	if err != nil || len(after) != 59_600 || !slices.Equal(before, after) {
		t.Fatalf("%d rows became %d others: %v", len(before), len(after), err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	parts := tab.Stats().Parts
	if len(parts) != 1 {
		t.Fatalf("%d parts", len(parts))
	}
	if errs := sst.Check(fs, "/data/parts/"+parts[0].File); len(errs) > 0 {
		t.Fatal(errs)
	}
	p, err := sst.Open(fs, "/data/parts/"+parts[0].File, sst.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := blockRows(p)
	// Of the first part two full blocks lie before the second part. Its third and its rest are merged with the first of the
	// second part. Two of that are full and alone, its rest is followed by a full block, whose own rest grows.
	if want := []int{8192, 8192, 8192, 8192, 424, 8192, 8192, 424, 8192, 1408}; !slices.Equal(got, want) {
		t.Errorf("blocks of %v rows, want %v", got, want)
	}
}

// TestSpliceWindows merges parts across the end of a window: only the block on the edge is cut, the others come over as
// they are.
func TestSpliceWindows(t *testing.T) {
	fs := vfs.NewMem()
	e := mustOpen(t, Options{FS: fs, Dir: "/data", NoBackground: true})
	defer mustClose(t, e)
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true", "compaction.twcs.time_window": "5s"}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct { // ten rows a millisecond: a window has 50,000
		rows int
		from int64
	}{{25_000, 0}, {60_000, 2_500}} {
		var set WriteSet
		if err := accessRows(set.Rows(public("log"), h), c.rows, c.from); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(ctx, &set); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	before, err := scanTable(e, public("log"), everything)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Compact(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	after, err := scanTable(e, public("log"), everything)
	if err != nil || len(after) != 85_000 || !slices.Equal(before, after) {
		t.Fatalf("%d rows became %d others: %v", len(before), len(after), err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]int
	for _, part := range tab.Stats().Parts {
		p, err := sst.Open(fs, "/data/parts/"+part.File, sst.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, blockRows(p))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := [][]int{{8192, 8192, 8192, 424, 8192, 8192, 8192, 424}, {7768, 8192, 8192, 8192, 2656}}
	if !slices.EqualFunc(got, want, slices.Equal[[]int]) {
		t.Errorf("blocks of %v rows, want %v", got, want)
	}
}

// blockRows gives the rows of each block of a part.
func blockRows(p *sst.Part) (rows []int) {
	for i := range p.Run().Blocks() {
		n, _ := p.Run().Block(i)
		rows = append(rows, n)
	}
	return rows
}
