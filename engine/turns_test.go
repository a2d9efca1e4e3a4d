package engine

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestTurns: a scan for the first rows by time gives each row of its time once, in turns; once the reader has its rows
// and says so, all that come before them have come. Times are dense, sparse, equal, or lie far away.
func TestTurns(t *testing.T) {
	defer func(least int) { leastTurned = least }(leastTurned)
	leastTurned = 8
	turned := 0
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 80))
		e := mustOpen(t, testOptions(vfs.NewMem()))
		var times []int64
		at := func(i int) int64 {
			switch seed % 4 {
			case 0:
				return r.Int64N(1000) // many equal ones
			case 1:
				return int64(i) * 1000
			case 2:
				return int64(math.Exp(r.Float64() * 40))
			}
			return r.Int64N(1 << 40)
		}
		for flushed := range 4 {
			rows := make([]modelRow, 300)
			for i := range rows {
				times = append(times, at(len(times)))
				rows[i] = modelRow{"ts": times[len(times)-1], "host": fmt.Sprint("h", r.IntN(40)),
					"v": int64(len(times))}
			}
			if err := put(e, "t", appendOnly, rows); err != nil {
				t.Fatal(err)
			}
			if flushed < 3 {
				if err := e.Flush(ctx, public("t")); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 30 {
			q := firstQuery{first: 1 + r.IntN(60), newest: r.IntN(2) == 0, within: scan.All}
			if r.IntN(3) == 0 {
				q.within = scan.Range{From: times[r.IntN(len(times))], To: times[r.IntN(len(times))]}
			}
			turned += checkFirst(t, e, q, times)
		}
		mustClose(t, e)
	}
	if turned == 0 {
		t.Error("no scan had turns")
	}
}

// firstQuery asks for the first rows by time of a range.
type firstQuery struct {
	first  int
	newest bool
	within scan.Range
}

// checkFirst reads a table for the first rows, and once more as a whole. It returns 1 if the scan had turns.
func checkFirst(t *testing.T, e *Engine, q firstQuery, times []int64) (turned int) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(times), func(at int64) bool { return !q.within.Holds(at) })
	slices.SortFunc(want, q.order)
	all, _ := readFirst(t, e, q, false)
	if slices.SortFunc(all, q.order); !slices.Equal(all, want) {
		t.Fatalf("%+v: %d rows came, want %d: %v, want %v", q, len(all), len(want), all, want)
	}
	got, inTurns := readFirst(t, e, q, true)
	slices.SortFunc(got, q.order)
	n := min(q.first, len(want))
	if len(got) < n || !slices.Equal(got[:n], want[:n]) {
		t.Fatalf("%+v: the first rows are %v, want %v", q, got[:min(n, len(got))], want[:n])
	}
	if inTurns {
		return 1
	}
	return 0
}

func (q firstQuery) order(a, b int64) int {
	if q.newest {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// readFirst reads the times of the rows that a scan gives. enough: it says which rows it still wants as it goes.
func readFirst(t *testing.T, e *Engine, q firstQuery, enough bool) (got []int64, inTurns bool) {
	t.Helper()
	table, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	ts := table.Schema.TimeColumn().ID
	b := &scan.Bound{Column: ts}
	s, err := e.Scan(ctx, Request{Table: table, Columns: []schema.ColumnID{ts}, Time: q.within, Newest: q.newest,
		Oldest: !q.newest, First: q.first, Bounds: []*scan.Bound{b}})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Each(func(batch *vector.Batch) (bool, error) {
		for i := range batch.N {
			got = append(got, batch.Cols[0].Int(i))
		}
		if enough && len(got) >= q.first {
			slices.SortFunc(got, q.order)
			reach := scan.Range{From: scan.All.From, To: got[q.first-1]}
			if q.newest {
				reach = scan.Range{From: got[q.first-1], To: scan.All.To}
			}
			b.Tighten(reach, nil)
		}
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, s.inTurns
}
