package engine

import (
	"fmt"
	"runtime"
	"testing"

	"varve/engine/invariant"
	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// sparseRows fills a builder with rows of which each is a series and has a field of its own: of rows x rows cells one
// in a row has a value, that of its number and the round.
func sparseRows(b *vector.Builder, rows, round int) error {
	ts, err := b.Column("ts", vector.Timestamp(3))
	if err != nil {
		return err
	}
	host, err := b.Column("host", vector.StringType)
	if err != nil {
		return err
	}
	b.Pin()
	for i := range rows {
		ts.SetInt(int64(i))
		host.SetString(fmt.Sprint("h", i))
		c, err := b.Column(fmt.Sprint("g", i), vector.Int64Type)
		if err != nil {
			return err
		}
		c.SetInt(int64(i + round))
		b.EndRow()
	}
	return nil
}

func writeSparse(t testing.TB, e *Engine, kind modelKind, rows, round int) {
	t.Helper()
	var set WriteSet
	must(t, sparseRows(set.Rows(public("sparse"), hintOf(kind)), rows, round))
	_, err := e.Write(ctx, &set)
	must(t, err)
}

// TestFlushFollowsValues: rows of which each is a series and has a field of its own are flushed with work for the
// values that are there, not for each cell; what is read is what was written, where rows replace others in memory as
// well.
func TestFlushFollowsValues(t *testing.T) {
	const rows = 500
	for _, kind := range []modelKind{appendOnly, lastRow, lastNonNull} {
		for rounds := 1; rounds <= 2; rounds++ {
			t.Run(fmt.Sprint(kind, "/", rounds), func(t *testing.T) {
				e := mustOpen(t, testOptions(vfs.NewMem()))
				for round := range rounds {
					writeSparse(t, e, kind, rows, round)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				must(t, e.Flush(ctx, public("sparse")))
				runtime.ReadMemStats(&after)
				// its checks allocate
				if n, cells := after.Mallocs-before.Mallocs,
					uint64(rows*rows); rounds == 1 && n > cells/2 && !invariant.On {
					t.Errorf("%d allocations for %d cells", n, cells)
				}
				checkSparse(t, e, kind, rows, rounds)
			})
		}
	}
}

// checkSparse holds that all rows have their value, of the last round, and that all else is NULL.
func checkSparse(t *testing.T, e *Engine, kind modelKind, rows, rounds int) {
	t.Helper()
	tab, err := e.Table(public("sparse"))
	must(t, err)
	q := Request{Table: tab, Time: scan.All}
	for i := range rows {
		q.Columns = append(q.Columns, tab.Schema.Columns[tab.Schema.Column(fmt.Sprint("g", i))].ID)
	}
	got := make([]int, rows) // values seen
	readAll(t, e, q, func(b *vector.Batch) {
		for i, v := range b.Cols {
			for k := range b.N {
				if v.IsNull(k) {
					continue
				}
				got[i]++
				if x := v.Int(k); kind != appendOnly && x != int64(i+rounds-1) {
					t.Errorf("field %d is %d", i, x)
				}
			}
		}
	})
	want := 1
	if kind == appendOnly {
		want = rounds
	}
	for i, n := range got {
		if n != want {
			t.Fatalf("field %d has %d values, not %d", i, n, want)
		}
	}
}

// BenchmarkFlushSparse flushes 4,000 series of one row with a field of its own each.
func BenchmarkFlushSparse(b *testing.B) {
	e := mustOpen(b, Options{FS: vfs.OS(), Dir: b.TempDir()})
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		writeSparse(b, e, lastRow, 4000, 0)
		b.StartTimer()
		must(b, e.Flush(ctx, public("sparse")))
	}
}
