package engine

import (
	"testing"

	"varve/engine/scan"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestScanCountsBlocksOnce: each block of a table is read or left out, and counts as one of both, and each run counts
// once. Blocks of parts outside of the wanted time counted twice, and so did memtables.
func TestScanCountsBlocksOnce(t *testing.T) {
	for name, kind := range map[string]modelKind{"append": appendOnly, "last row": lastRow} {
		t.Run(name, func(t *testing.T) {
			e := mustOpen(t, testOptions(vfs.NewMem()))
			defer mustClose(t, e)
			n := public("t")
			for from := int64(0); from < 300; from += 100 {
				writeMany(t, e, n, kind, from, 100)
				if err := e.Flush(ctx, n); err != nil {
					t.Fatal(err)
				}
			}
			writeMany(t, e, n, kind, 300, 100)
			tab, err := e.Table(n)
			if err != nil {
				t.Fatal(err)
			}
			var st scan.Stats
			rows := 0
			readAll(t, e, Request{Table: tab, Columns: tab.Schema.IDs("value"), Time: scan.Range{From: 200, To: 399},
				Stats: &st}, func(b *vector.Batch) { rows += b.N })
			if runs := st.Runs.Load(); runs != 4 {
				t.Errorf("%d runs, want three parts and a memtable", runs)
			}
			if total, pruned, byTime, read := st.BlocksTotal.Load(), st.BlocksPruned.Load(), st.PrunedByTime.Load(),
				st.BlocksRead.Load(); rows != 200 || pruned != 2 || byTime != 2 || total != pruned+read {
				t.Errorf("%d rows of %d blocks: %d pruned, %d of them by time, %d read", rows, total,
					pruned, byTime, read)
			}
		})
	}
}
