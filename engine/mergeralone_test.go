package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"varve/engine/parts"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// noStore answers a merger in place of a store.
type noStore struct {
	first int64 // time before which rows have expired
	fails error // of the exchange of parts
}

func (s *noStore) traffic() traffic                { return traffic{} }
func (s *noStore) windowsOf(g *regionSnap) windows { return windowsOf(g.schema, "", g.parts) }
func (s *noStore) oldest(*schema.Table) int64      { return s.first }

func (s *noStore) draft(_ context.Context, _ *region, g *regionSnap, group []*part, span scan.Range) *partJob {
	j := &partJob{table: g.schema, mode: flushMode(g.schema), workers: 1, level: levelOf(group), time: span,
		minSeq: group[0].meta.MinSeq}
	for _, p := range group {
		j.runs, j.maxSeq = append(j.runs, p.run), max(j.maxSeq, p.meta.MaxSeq)
	}
	return j
}

func (s *noStore) exchange(r *region, old, made []*part) error {
	gone := old
	if s.fails != nil {
		gone = made
	} else {
		r.mu.Lock()
		r.replace(func(g *regionSnap) { g.parts = made })
		r.mu.Unlock()
	}
	for _, p := range gone {
		p.retire()
	}
	return s.fails
}

// aloneMerger is a merger without a store, and a region with fresh parts of ten rows each, one behind the other.
func aloneMerger(t *testing.T, s *noStore, fresh int) (*merger, *region) {
	t.Helper()
	o := Options{FS: vfs.NewMem(), Dir: "data", CacheBytes: 1 << 20}.withDefaults()
	local := parts.At(o.FS, o.Dir)
	if err := local.Make(); err != nil {
		t.Fatal(err)
	}
	files := &partFiles{store: local, local: local, log: o.Logger, cache: sst.NewCache(o.CacheBytes),
		metrics: sst.NewMetrics(),
		damages: &damages{log: o.Logger},
		ballast: &ballast{fs: o.FS, dir: o.Dir, log: o.Logger}, space: newSpace(&o, nil),
		mergeBytes: o.MergeBytes, blockBytes: o.BlockBytes,
		describe: func(*partJob, *sst.Writer, bool) error { return nil }}
	table := &schema.Table{ID: 7, Name: public("t"), NextColumn: 3, Engine: "mito", Columns: []schema.Column{
		{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{ID: 2, Name: "n", Type: vector.Int64Type, Nullable: true}}}
	r := newRegion(newMemory(ownMemory(&o), 0), table)
	for k := range fresh {
		run := &versionsRun{r: rand.New(rand.NewPCG(1, uint64(k)))}
		for i := range 10 {
			at := int64(10*k + i)
			run.rows = append(run.rows, version{key: string(schema.AppendSeriesKey(nil, table.ID, nil, nil)), time: at,
				seq: uint64(at + 1), n: at})
		}
		p, err := files.write(&partJob{table: table, runs: []scan.Run{run}, time: scan.All, minSeq: uint64(10*k + 1),
			maxSeq: uint64(10*k + 10), mode: flushMode(table), workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		r.mu.Lock()
		r.replace(func(g *regionSnap) { g.parts = append(g.parts, p) })
		r.mu.Unlock()
	}
	return newMerger(t.Context(), &o, s, files, newMetrics(nil)), r
}

// TestMergerAlone: a merger takes what it needs and no store: what it merges is one part in place of many, without the
// rows that have expired; what it cannot finish leaves the parts as they were, and no file.
func TestMergerAlone(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	for _, c := range []struct {
		name        string
		ctx         context.Context
		store       noStore
		want        error
		rows, parts int
	}{
		{"all rows", t.Context(), noStore{}, nil, 80, 1},
		{"without expired ones", t.Context(), noStore{first: 25}, nil, 55, 1},
		{"with nothing left", t.Context(), noStore{first: 1000}, nil, 0, 0},
		{"given up", ended, noStore{}, context.Canceled, 80, 8},
		{"not listed", t.Context(), noStore{fails: errOverrun}, errOverrun, 80, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := aloneMerger(t, &c.store, 8)
			m.push(freshParts, r)
			if waiting, running := m.count(map[schema.TableID]*region{7: r}); waiting != 1 || running != 0 {
				t.Errorf("%d merges wait, %d are under way", waiting, running)
			}
			j := m.next(freshParts)
			done, err := m.merge(c.ctx, j, m.choose(j))
			if !errors.Is(err, c.want) || done != (c.want == nil) {
				t.Errorf("merged: %t, %v, want %v", done, err, c.want)
			}
			m.end(j, done)
			var left []parts.Entry
			rows := 0
			for _, p := range r.snap.Load().parts {
				left, rows = append(left, parts.Entry{File: p.meta.File}), rows+int(p.meta.Rows)
				if level := p.meta.Level; int(level) != min(1, 8-c.parts) {
					t.Errorf("%s has level %d", parts.Name(p.meta.File), level)
				}
			}
			names, err := m.files.local.List()
			if err != nil || !slices.Equal(names, left) || len(left) != c.parts || rows != c.rows {
				t.Errorf("parts %v of %d rows, want %d of %d; files %v, %v", left, rows, c.parts, c.rows, names, err)
			}
		})
	}
}
