package engine

import (
	"bytes"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/memtable"
	"varve/wal"
)

// FuzzRecord replays any bytes as a record of the log: an error, or rows that a memtable takes and gives back.
func FuzzRecord(f *testing.F) {
	table := &schema.Table{ID: 7, NextColumn: 4, Columns: []schema.Column{
		{ID: 1, Name: "host", Type: vector.StringType, Semantic: schema.Tag, Nullable: true},
		{ID: 2, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{ID: 3, Name: "v", Type: vector.FloatType, Nullable: true,
			Initial: &vector.Vector{Type: vector.FloatType, Form: vector.Const, Floats: []float64{1}}},
	}, Time: 1, Tags: []int{0}}
	host, ts, v := vector.ConstString("a").Flatten(2), &vector.Vector{Type: vector.Timestamp(3), Ints: []int64{1, 2}},
		&vector.Vector{Type: vector.FloatType, Floats: []float64{1, 2}}
	for _, kind := range []uint8{schema.KindPut, schema.KindDelete} {
		r := &record{table: 7, seq: 9, kind: kind, batch: &vector.Batch{N: 2}}
		r.add(&table.Columns[0], host)
		r.add(&table.Columns[1], ts)
		if kind == schema.KindPut {
			r.add(&table.Columns[2], v)
		}
		f.Add(logged(r)[0])
	}
	refs := []*memtable.Ref{{}, {}}
	refs[0].Name(schema.AppendKeyTag(schema.KeyPrefix(7), 1, []byte("a")))
	refs[1].Name(schema.AppendKeyTag(schema.KeyPrefix(7), 1, []byte("ab")))
	r := &record{table: 7, seq: 9, kind: recordSeries, batch: &vector.Batch{N: 2}, refs: refs, ends: []int{1, 2}}
	r.add(&table.Columns[1], ts)
	r.add(&table.Columns[2], v)
	f.Add(logged(r)[0])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := DumpRecord(&bytes.Buffer{}, b); err != nil {
			t.Fatal(err) // it prints what is wrong
		}
		r, body, err := readRecordHead(b)
		if err != nil || r.decode(body, table) != nil {
			return
		}
		if err := r.leaveOut(); err != nil && r.batch.N == 0 {
			return
		}
		m := newMemory(ownMemory(&Options{}), 0).newMem(nil)
		m.append(r, table, false)
		run := m.table.Freeze()
		if run.Rows() != r.batch.N {
			t.Fatalf("%d rows of %d", run.Rows(), r.batch.N)
		}
		walk, err := mergeRuns([]scan.Run{run},
			&scan.Spec{Columns: table.Columns[1:], TimeColumn: table.Columns[1], Time: scan.All},
			mergeMode{keepAll: true})
		if err != nil {
			return // kinds that the schema's are not
		}
		defer walk.Close()
		rows := 0
		for {
			_, ok, err := walk.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			var out vector.Batch
			for {
				ok, err := walk.Rows(&out)
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				rows += out.N
			}
		}
		if rows != r.batch.N {
			t.Fatalf("%d rows come back of %d", rows, r.batch.N)
		}
	})
}

// TestRecordOfFormerTypes replays a record whose columns have other types now: values convert, and are not taken for
// others.
func TestRecordOfFormerTypes(t *testing.T) {
	old := []schema.Column{{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{ID: 2, Name: "at", Type: vector.Timestamp(3), Nullable: true},
		{ID: 3, Name: "n", Type: vector.Int64Type, Nullable: true},
		{ID: 4, Name: "s", Type: vector.StringType, Nullable: true}}
	r := &record{table: 7, seq: 1, batch: &vector.Batch{N: 1}}
	for i, v := range []*vector.Vector{vector.ConstInt(old[0].Type, 5), vector.ConstInt(old[1].Type, 1500),
		vector.ConstInt(old[2].Type, 42), vector.ConstString("x")} {
		r.add(&old[i], v)
	}
	now := &schema.Table{ID: 7, Columns: append([]schema.Column(nil), old...)}
	now.Columns[1].Type, now.Columns[2].Type, now.Columns[3].Type = vector.Timestamp(9), vector.StringType,
		vector.Int64Type
	got, body, err := readRecordHead(logged(r)[0])
	if err == nil {
		err = got.decode(body, now)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := got.batch.Cols
	if len(c) != 4 || c[0].Int(0) != 5 || c[1].Int(0) != 1_500_000_000 || c[2].Str(0) != "42" || !c[3].IsNull(0) {
		t.Errorf("%d columns: %v %v %v %v", len(c), c[0], c[1], c[2], c[3])
	}
}

// logged is a record as the log takes it.
func logged(r *record) wal.Record {
	_, all := r.logged(nil)
	return all
}
