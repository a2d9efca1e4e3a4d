package engine

import (
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// TestScanOfLongTagsByRanges scans a table whose parts overlap in time and have many bytes of tags: however few the
// rows are, they are merged range by range of the keys, so that what a reader has in hand of tags is a part of them
// all, and is given back.
func TestScanOfLongTagsByRanges(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.CacheBytes, o.MaxValue = 1<<20, 1<<20
	e := mustOpen(t, o)
	defer mustClose(t, e)
	const parts, rows, size = 3, 200, 96 << 10
	for i := range parts {
		if err := put(e, "t", lastRow, rowsOfTags(100_000+i*rows, rows, size)); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	var now, peak int64
	host := tab.Schema.Columns[tab.Schema.Tags[0]]
	s, err := e.Scan(ctx, Request{Table: tab, Columns: []schema.ColumnID{host.ID}, Time: scan.All,
		Reserve: func(n int64) error {
			now += n
			peak = max(peak, now)
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = s.Each(func(b *vector.Batch) (bool, error) {
		found += b.N
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != parts*rows {
		t.Errorf("%d rows, want %d", found, parts*rows)
	}
	if all := int64(parts * rows * size); peak == 0 || peak > all || now != 0 {
		t.Errorf("%d bytes were counted at most of %d of tags, %d stay counted", peak, all, now)
	}
}
