package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"varve/engine/manifest"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// requestFlush queues a region for the flush loop; a region waits in the queue once.
func (e *Engine) requestFlush(r *region) {
	if r.queued.CompareAndSwap(false, true) {
		select {
		case e.work <- r:
		default:
			r.queued.Store(false) // the queue is full: the next write asks again
		}
	}
}

// flushLoop flushes what is asked for, and by age and size of the log.
func (e *Engine) flushLoop(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, e.o.FlushAge))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-e.work:
			r.queued.Store(false)
			if e.space.readOnly() != nil {
				continue // it is asked for again, by age or by who writes
			}
			e.merger.catchUp(ctx, r)
			e.flushing.Store(true)
			err := e.flushRegion(ctx, r)
			e.flushing.Store(false)
			e.merger.changed.broadcast()
			if err != nil && ctx.Err() == nil && e.space.isNews(err) {
				e.o.Logger.Error("flush failed, it is tried again", "table", r.snap.Load().schema.Name.String(),
					"error", err)
				select {
				case <-ctx.Done():
				case <-time.After(e.o.retryFlush):
					e.requestFlush(r)
				}
			}
		case <-tick.C:
			if e.space.readOnly() == nil {
				e.requestOld()
				e.relieve()
			}
		}
	}
}

// traffic is what goes on besides merges.
func (e *Engine) traffic() traffic {
	t := traffic{flushing: e.flushing.Load(), scanning: e.scanning.Load() > 0,
		crowded: e.memory.load() > crowdedMemtables*e.o.FlushBytes}
	t.pressed = e.o.Pressed != nil && e.o.Pressed()
	if at := e.flushed.Load(); at != nil {
		t.flushed = *at
	}
	return t
}

// requestOld asks for flushes of memtables that are too old or that keep the log too long.
func (e *Engine) requestOld() {
	logFull := e.log.Size() > e.o.WALPurgeThreshold
	now := e.o.Now()
	var oldest *region
	first := uint64(math.MaxUint64)
	for _, r := range e.catalog.Load().regions {
		r.mu.Lock()
		s := r.snap.Load()
		due := len(s.frozen) > 0 || !s.live.born.IsZero() && now.Sub(s.live.born) > e.o.FlushAge
		if at := uint64(s.live.first); at != 0 && at < first {
			first, oldest = at, r
		}
		r.mu.Unlock()
		if due {
			e.requestFlush(r)
		}
	}
	if logFull && oldest != nil {
		e.requestFlush(oldest)
	}
}

// flushRegion writes all rows that were in memory when it was called into parts.
func (e *Engine) flushRegion(ctx context.Context, r *region) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	if err := e.flushFrozen(ctx, r, true); err != nil {
		return err
	}
	return e.truncateLog()
}

// flushFrozen freezes the live memtable, if asked, and writes the frozen ones, oldest first. The caller holds
// r.maintain.
func (e *Engine) flushFrozen(ctx context.Context, r *region, freeze bool) error {
	if freeze {
		r.mu.Lock()
		switch live := r.snap.Load().live; {
		case r.dropped.Load(): // who dropped the table forgets its memtables
		case !live.born.IsZero():
			r.replace(func(s *regionSnap) { s.frozen, s.live = append(s.frozen, live), e.memory.after(live) })
		case e.memory.spent(live):
			r.replace(func(s *regionSnap) { s.live = newMem(nil) })
			e.memory.forget(live)
		}
		r.mu.Unlock()
	}
	for {
		s := r.snap.Load()
		if len(s.frozen) == 0 || r.dropped.Load() { // who drops a table waits for maintain to forget its memtables
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		m := s.frozen[0]
		m.writers.Wait()
		if err := e.flushOne(r, m); err != nil {
			e.metrics.FlushFailures.Inc()
			return err
		}
	}
}

// flushOne writes one frozen memtable into a part and publishes it.
func (e *Engine) flushOne(r *region, m *mem) error {
	start := e.o.Now()
	t := r.snap.Load().schema
	run := m.table.Freeze()
	first := e.needed(m).Segment()
	e.batches.save(e.log, first)
	edit := manifest.Edit{Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: m.lastSeq}},
		Log: manifest.LogRange{First: first}}
	if m.built == nil && run.Rows() > 0 {
		lo, hi := run.Sequences()
		mode := flushMode(t)
		// whose sequence numbers may lie in between
		mode.keepAll = mode.keepAll || mode.lastNonNull && len(r.pending) > 0
		p, err := e.files.write(&partJob{table: t, runs: []scan.Run{run}, time: scan.All, minSeq: lo, maxSeq: hi,
			mode: mode, workers: flushWorkers, lives: e.lives(r), flushed: m.lastSeq})
		if err != nil && !errors.Is(err, errNoRows) {
			return err
		}
		m.built = p
	}
	p := m.built
	for _, q := range r.pending {
		edit.AddParts = append(edit.AddParts, manifest.PartEdit{Table: r.id, Part: q.meta})
	}
	if p != nil {
		edit.AddParts = append(edit.AddParts, manifest.PartEdit{Table: r.id, Part: p.meta})
	}
	if err := e.apply(edit); err != nil {
		if e.lists(r) {
			return err // the part is kept for the next try: the edit may be found at the next start
		}
		r.drop() // while it was flushed
	}
	for _, q := range r.pending {
		q.unlisted.Store(false)
	}
	r.pending = nil
	r.mu.Lock()
	dropped := r.dropped.Load()
	if !dropped {
		r.replace(func(s *regionSnap) {
			s.frozen = slices.DeleteFunc(s.frozen, func(x *mem) bool { return x == m })
			if p != nil {
				s.parts = append(s.parts, p)
			}
		})
	}
	r.mu.Unlock()
	m.built = nil
	if dropped {
		if p != nil {
			p.unlisted.Store(true)
			p.retire()
		}
		return nil // who dropped the table forgets its memtables
	}
	e.memory.forget(m)
	if p != nil {
		now := e.o.Now()
		took := now.Sub(start)
		e.flushed.Store(&now)
		e.metrics.Flushes.Inc()
		e.metrics.FlushedRows.Add(float64(p.meta.Rows))
		e.metrics.FlushedBytes.Add(float64(p.meta.Bytes))
		e.metrics.FlushSeconds.Observe(took.Seconds())
		e.merger.push(freshParts, r)
		e.o.Logger.Debug("flushed", "table", t.Name.String(), "rows", p.meta.Rows, "bytes", p.meta.Bytes, "took", took)
	}
	return nil
}

// flushMode says what of a memtable goes into its part. Its sequence numbers lie between those of all others, so
// replaced rows can go at once; tombstones must stay, they hide rows of older parts.
func flushMode(t *schema.Table) mergeMode {
	return mergeMode{keepAll: t.Options.AppendMode, lastNonNull: t.Options.MergeMode == schema.LastNonNull,
		tombstones: true}
}

// partJob is a part to be written.
type partJob struct {
	table          *schema.Table
	runs           []scan.Run
	minSeq, maxSeq uint64
	level          uint8
	mode           mergeMode
	workers        int
	time           scan.Range            // what is written of the runs
	pace           func() error          // called between batches; nil: none
	lives          func(key []byte) bool // series that are left out have false; nil: none is
	any            bool                  // a row was written
	batch          vector.Batch          // on its way to the part
	indexUS        int64                 // spent on the indexes of what is merged
	replaces       []uint64              // files of the parts that are merged
	flushed        uint64                // sequence number up to which everything is in parts, with this one
	seen           []schema.TableID      // logical tables that rows were written of
	describe       func(w *sst.Writer, unique bool) error
	held           int64 // Options.MergeBytes
	block          int64 // Options.BlockBytes
}

// lives tells the series of a shared region whose logical table is still there; nil: the region is not shared.
func (e *Engine) lives(r *region) func(key []byte) bool {
	if !r.snap.Load().schema.Shared() {
		return nil
	}
	logicals := e.catalog.Load().logicals
	return func(key []byte) bool { return logicals[schema.KeyTable(key)] != nil }
}

// write writes the merged rows of the runs. Tables that are not append-only keep sequence and kind of every row. unique
// tells that no two rows have the same key and none is a tombstone.
func (j *partJob) write(f vfs.File) (meta sst.Meta, unique bool, err error) {
	hidden := !j.table.Options.AppendMode
	var columns []schema.Column
	for _, c := range j.table.Columns {
		if c.Semantic != schema.Tag { // tags are in the series keys
			columns = append(columns, readColumn(c))
		}
	}
	w := sst.NewWriter(f, sst.WriterOptions{Table: j.table, Columns: columns, Hidden: hidden, MinSeq: j.minSeq,
		MaxSeq: j.maxSeq, BlockBytes: int(j.block),
		Workers: j.workers})
	spec := &scan.Spec{Columns: columns, TimeColumn: j.table.TimeColumn(), Time: j.time,
		Holding: heldBy(len(j.runs), j.held)}
	if hidden {
		spec.Columns = append(slices.Clone(columns), schema.SequenceColumn, schema.KindColumn)
	}
	parts, key, err := j.spliceable()
	if err != nil {
		return sst.Meta{}, false, err
	}
	if parts != nil {
		if err := j.writeSpliced(w, spec, parts, key); err != nil {
			return sst.Meta{}, false, err
		}
		if !j.any {
			return sst.Meta{}, false, errNoRows
		}
		return j.finish(w, false)
	}
	walk, err := mergeRuns(j.runs, spec, j.mode)
	if err != nil {
		return sst.Meta{}, false, err
	}
	defer walk.Close()
	for {
		key, ok, err := walk.Next()
		if err != nil {
			return sst.Meta{}, false, err
		}
		if !ok && !j.any {
			return sst.Meta{}, false, errNoRows
		}
		if !ok {
			return j.finish(w, hidden && !j.mode.keepAll && walk.tombs == 0)
		}
		if j.lives != nil {
			if !j.lives(key) {
				continue
			}
			j.see(schema.KeyTable(key))
		}
		if err := j.writeSeries(w, key, walk); err != nil {
			return sst.Meta{}, false, err
		}
	}
}

// writeSeries writes the rows of the walk's current series, if any are left of it.
func (j *partJob) writeSeries(w *sst.Writer, key []byte, walk *merged) error {
	return j.writeRows(w, walk, func() error {
		j.any = true
		return w.Series(key)
	})
}

// writeRows writes the rows of the walk's current series; begin is called before the first.
func (j *partJob) writeRows(w *sst.Writer, walk *merged, begin func() error) error {
	b := &j.batch
	for {
		if j.pace != nil {
			if err := j.pace(); err != nil {
				return err
			}
		}
		ok, err := walk.Rows(b)
		if err != nil || !ok {
			return err
		}
		if begin != nil {
			if err := begin(); err != nil {
				return err
			}
			begin = nil
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
}

// needed is the place from which on memtables but one need the log.
func (e *Engine) needed(but *mem) wal.LSN {
	before := e.log.End() // first: whoever writes from now on keeps the log from a later place
	for _, r := range e.catalog.Load().regions {
		r.mu.Lock()
		for _, m := range r.snap.Load().mems() {
			if m != but && m.first != 0 && m.first < before {
				before = m.first
			}
		}
		r.mu.Unlock()
	}
	return before
}

// truncateLog removes the segments that no memtable needs any more; where the disk is short of room the newest as well,
// which else is the last to go. The manifest is told first: a segment that it calls needed and that is not there is
// damage.
func (e *Engine) truncateLog() error {
	keep := wal.KeepNewest
	if e.shortOfRoom() {
		keep = wal.KeepOpen
		e.log.EndSegment()
	}
	before := e.needed(nil)
	if before.Segment() > e.manifest.State().Log.First && e.log.Holds(before, keep) {
		e.batches.save(e.log, before.Segment())
		if err := e.apply(manifest.Edit{Log: manifest.LogRange{First: before.Segment()}}); err != nil {
			return err
		}
	}
	return e.log.Truncate(before, keep)
}

// leastCut is the size of a log that is worth cutting.
const leastCut = 64 << 10

// shortOfRoom reports whether the log takes room that a disk lacks.
func (e *Engine) shortOfRoom() bool {
	size := e.log.Size()
	return size >= leastCut && e.space.short(size)
}

// relieve makes room on a disk that is short of it: rows go into parts, which take less than the log that keeps them,
// and what of the log nobody needs goes. A log that could not be written is tried.
func (e *Engine) relieve() {
	if e.shortOfRoom() {
		for _, r := range e.catalog.Load().regions {
			if r.logged() {
				e.requestFlush(r)
			}
		}
		if err := e.truncateLog(); err != nil {
			e.o.Logger.Warn("the log cannot be cut", "error", err)
		}
	}
	e.space.retry()
}

// leaveLog tells the manifest that all rows are in parts, so that the next start needs no log.
func (e *Engine) leaveLog() {
	for _, r := range e.catalog.Load().regions {
		if len(r.pending) > 0 || slices.ContainsFunc(r.snap.Load().mems(),
			func(m *mem) bool { return !m.born.IsZero() }) {
			return
		}
	}
	log := e.manifest.State().Log
	if log.First > log.Last {
		return
	}
	if err := e.apply(manifest.Edit{Log: manifest.LogRange{First: log.Last + 1}}); err != nil {
		e.o.Logger.Warn("the manifest cannot be told that no log is needed", "error", err)
	}
}

// Flush writes all rows of a table that are in memory into parts.
func (e *Engine) Flush(ctx context.Context, n schema.Name) error {
	if err := e.enterToChange(); err != nil {
		return err
	}
	defer e.leave()
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	return e.flushRegion(ctx, tab.region)
}
