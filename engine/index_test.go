package engine

import (
	"slices"
	"testing"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// indexedRows are the rows of each part that TestIndexesOfDDL writes: five blocks.
const indexedRows = 5 * 8192

// writeIndexed writes a part of n rows whose column id counts from from in great steps.
func writeIndexed(t *testing.T, e *Engine, from int) {
	t.Helper()
	h := hintOf(appendOnly)
	h.Tags = nil
	var err error
	if h.Options, err = schema.ParseOptions(map[string]string{"append_mode": "true"}); err != nil { // one window
		t.Fatal(err)
	}
	var set WriteSet
	b := set.Rows(public("spans"), h)
	ts, err := b.Column("ts", vector.Timestamp(3))
	if err != nil {
		t.Fatal(err)
	}
	id, err := b.Column("id", vector.Int64Type)
	if err != nil {
		t.Fatal(err)
	}
	for i := range indexedRows {
		ts.SetInt(int64(from + i))
		id.SetInt(spanID(from + i))
		b.EndRow()
	}
	if _, err := e.Write(ctx, &set); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(ctx, public("spans")); err != nil {
		t.Fatal(err)
	}
}

// spanID spreads numbers over all 63 bits, so that zone maps do not tell blocks apart.
func spanID(i int) int64 { return int64(uint64(i) * 0x9E3779B97F4A7C15 >> 1) }

// setIndexes sets other indexes for the column id.
func setIndexes(t *testing.T, e *Engine, indexes ...schema.Index) {
	t.Helper()
	err := e.Alter(ctx, public("spans"), func(s *schema.Table) (*schema.Table, error) {
		n := *s
		n.Columns = slices.Clone(s.Columns)
		n.Columns[n.Column("id")].Indexes = indexes
		return &n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// filterBytes are the bytes of the filters of the column id, by part.
func filterBytes(t *testing.T, e *Engine) (list []int64) {
	t.Helper()
	tab, err := e.Table(public("spans"))
	if err != nil {
		t.Fatal(err)
	}
	st := tab.Stats()
	if st.IndexTime <= 0 {
		t.Error("the indexes have cost nothing")
	}
	err = tab.PartColumns(func(columns []PartColumn) {
		for _, c := range columns {
			if c.Name == "id" {
				list = append(list, c.FilterBytes)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// blocksFor counts the blocks that are read to find one id.
func blocksFor(t *testing.T, e *Engine, id int64) int64 {
	t.Helper()
	tab, err := e.Table(public("spans"))
	if err != nil {
		t.Fatal(err)
	}
	column := tab.Schema.Columns[tab.Schema.Column("id")]
	var stats scan.Stats
	rows := 0
	readAll(t, e, Request{Table: tab, Columns: []schema.ColumnID{column.ID}, Time: scan.All, Stats: &stats,
		Filter: filter.And{{Column: column.ID, Op: filter.Equal, Args: vector.ConstInt(vector.Int64Type, id),
			NArgs: 1}}},
		func(b *vector.Batch) { rows += b.N })
	if rows != 1 {
		t.Fatalf("%d rows have id %d", rows, id)
	}
	return stats.BlocksRead.Load()
}

// TestIndexesOfDDL: SET INDEX holds for parts that are written from then on and for those that a merge writes, whose
// queries then read what they need; another rate builds filters anew; after UNSET new parts and merges have none.
func TestIndexesOfDDL(t *testing.T) {
	e := mustOpen(t, Options{FS: vfs.NewMem(), Dir: "/data", NoBackground: true})
	defer mustClose(t, e)
	writeIndexed(t, e, 0)
	if got := filterBytes(t, e); !slices.Equal(got, []int64{0}) {
		t.Fatalf("filters that nobody asked for: %v", got)
	}
	if n := blocksFor(t, e, spanID(7)); n < 5 {
		t.Fatalf("%d blocks read without an index", n)
	}
	setIndexes(t, e, schema.Index{Kind: schema.Skipping, Options: map[string]string{"false_positive_rate": "0.01"}})
	writeIndexed(t, e, indexedRows)
	if got := filterBytes(t, e); got[0] != 0 || got[1] == 0 {
		t.Fatalf("filters after SET: %v", got)
	}
	if n := blocksFor(t, e, spanID(indexedRows+7)); n > 7 {
		t.Errorf("%d blocks read with an index on five of ten", n)
	}
	if err := e.BuildIndexes(ctx, public("spans")); err != nil {
		t.Fatal(err)
	}
	coarse := filterBytes(t, e)
	if len(coarse) != 2 || coarse[0] == 0 || coarse[1] == 0 {
		t.Fatalf("filters after they were built: %v", coarse)
	}
	if n := blocksFor(t, e, spanID(7)); n > 2 {
		t.Errorf("%d blocks read with an index", n)
	}
	setIndexes(t, e, schema.Index{Kind: schema.Skipping, Options: map[string]string{"false_positive_rate": "0.0001"}})
	if err := e.Compact(ctx, public("spans")); err != nil {
		t.Fatal(err)
	}
	if got := filterBytes(t, e); len(got) != 1 || got[0]*2 < (coarse[0]+coarse[1])*3 {
		t.Errorf("filters of a stricter rate have %v bytes, those before %v", got, coarse)
	}
	if n := blocksFor(t, e, spanID(indexedRows+7)); n > 1 {
		t.Errorf("%d blocks read with a strict index", n)
	}
	setIndexes(t, e)
	writeIndexed(t, e, 2*indexedRows)
	if got := filterBytes(t, e); len(got) != 2 || got[0] == 0 || got[1] != 0 {
		t.Fatalf("filters after UNSET: %v", got)
	}
	if err := e.Compact(ctx, public("spans")); err != nil {
		t.Fatal(err)
	}
	if got := filterBytes(t, e); !slices.Equal(got, []int64{0}) {
		t.Errorf("filters after UNSET and a merge: %v", got)
	}
}
