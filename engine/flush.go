package engine

import (
	"context"
	"math"
	"path"
	"slices"
	"time"

	"varve/engine/manifest"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/memtable"
	"varve/sst"
)

// requestFlush queues a region for the flush loop; a region waits in the queue once.
func (e *core) requestFlush(r *region) {
	if r.queued.CompareAndSwap(false, true) {
		select {
		case e.work <- r:
		default:
			r.queued.Store(false) // the queue is full: the next write asks again
		}
	}
}

// flushLoop flushes what is asked for, and by age and size of the log.
func (e *core) flushLoop(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, e.o.FlushAge))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-e.work:
			r.queued.Store(false)
			if err := e.flushRegion(ctx, r); err != nil {
				e.o.Logger.Error("flush failed, it is tried again", "table", r.snap.Load().schema.Name.String(), "error", err)
				select {
				case <-ctx.Done():
				case <-time.After(retryFlush):
					e.requestFlush(r)
				}
			}
		case <-tick.C:
			e.requestOld()
		}
	}
}

// requestOld asks for flushes of memtables that are too old or that keep the log too long.
func (e *core) requestOld() {
	logFull := e.log.Size() > e.o.WALPurgeThreshold
	now := e.o.Now()
	var oldest *region
	first := uint64(math.MaxUint64)
	for _, r := range e.catalog.Load().byID {
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
func (e *core) flushRegion(ctx context.Context, r *region) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	if err := e.flushFrozen(ctx, r, true); err != nil {
		return err
	}
	return e.truncateLog()
}

// flushFrozen freezes the live memtable, if asked, and writes the frozen ones, oldest first. The caller holds
// r.maintain.
func (e *core) flushFrozen(ctx context.Context, r *region, freeze bool) error {
	if freeze {
		r.mu.Lock()
		if live := r.snap.Load().live; !live.born.IsZero() {
			r.replace(func(s *regionSnap) { s.frozen, s.live = append(s.frozen, live), newMem() })
		}
		r.mu.Unlock()
	}
	for {
		s := r.snap.Load()
		if len(s.frozen) == 0 {
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
func (e *core) flushOne(r *region, m *mem) error {
	start := time.Now()
	t := r.snap.Load().schema
	run := m.table.Freeze()
	edit := manifest.Edit{Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: m.lastSeq}}}
	var p *part
	if run.Rows() > 0 {
		var err error
		if p, err = e.writePart(t, []scan.Run{run}, runSequences(run)); err != nil {
			return err
		}
		edit.AddParts = []manifest.PartEdit{{Table: r.id, Part: p.meta}}
	}
	r.mu.Lock()
	dropped := r.dropped
	err := error(nil)
	if !dropped {
		if err = e.manifest.Apply(edit); err == nil {
			r.replace(func(s *regionSnap) {
				s.frozen = slices.DeleteFunc(s.frozen, func(x *mem) bool { return x == m })
				if p != nil {
					s.parts = append(s.parts, p)
				}
			})
		}
	}
	r.mu.Unlock()
	if err != nil {
		if p != nil {
			p.release() // the file stays: the edit may be found at the next start
		}
		return err
	}
	if p != nil {
		if dropped {
			p.retire()
		} else {
			e.metrics.Flushes.Inc()
			e.metrics.FlushedRows.Add(float64(p.meta.Rows))
			e.metrics.FlushedBytes.Add(float64(p.meta.Bytes))
			e.metrics.FlushSeconds.Observe(time.Since(start).Seconds())
			e.requestMerge(r)
			e.o.Logger.Debug("flushed", "table", t.Name.String(), "rows", p.meta.Rows, "bytes", p.meta.Bytes, "took", time.Since(start))
		}
	}
	e.forget(m)
	return nil
}

// sequences is the span of sequence numbers of some runs.
type sequences struct{ min, max uint64 }

func runSequences(r *memtable.Run) sequences {
	lo, hi := r.Sequences()
	return sequences{lo, hi}
}

// writePart merges runs into one new part file and opens it. Nothing lists it yet.
func (e *core) writePart(t *schema.Table, runs []scan.Run, q sequences) (*part, error) {
	file := e.nextFile.Add(1) - 1
	var meta sst.Meta
	name := partName(file)
	err := vfs.Publish(e.o.FS, path.Join(e.o.Dir, partsDir), name, func(f vfs.File) (err error) {
		meta, err = e.writeRows(f, t, runs, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return e.openPart(manifest.PartMeta{File: file, Bytes: meta.Bytes, IndexBytes: meta.IndexBytes, Rows: meta.Rows,
		MinTime: meta.MinTime, MaxTime: meta.MaxTime, MinSeq: q.min, MaxSeq: q.max, Checksum: meta.Checksum})
}

// writeRows writes the merged rows of the runs. Tables that are not append-only keep sequence and kind of every row, and
// all versions that a later merge may still need.
func (e *core) writeRows(f vfs.File, t *schema.Table, runs []scan.Run, q sequences) (sst.Meta, error) {
	hidden := !t.Options.AppendMode
	var columns []schema.Column
	for _, c := range t.Columns {
		if c.Semantic != schema.Tag {
			columns = append(columns, c)
		}
	}
	w := sst.NewWriter(f, sst.WriterOptions{Table: t, Columns: columns, Hidden: hidden, MinSeq: q.min, MaxSeq: q.max, Workers: 2})
	spec := &scan.Spec{Columns: columns, TimeColumn: t.TimeColumn(), Time: scan.All}
	if hidden {
		spec.Columns = append(slices.Clone(columns), schema.SequenceColumn, schema.KindColumn)
	}
	walk, err := mergeRuns(runs, spec, mergeMode{keepAll: true})
	if err != nil {
		return sst.Meta{}, err
	}
	defer walk.Close()
	var b vector.Batch
	for {
		key, ok, err := walk.Next()
		if err != nil {
			return sst.Meta{}, err
		}
		if !ok {
			return w.Finish()
		}
		if err := w.Series(key); err != nil {
			return sst.Meta{}, err
		}
		for {
			ok, err := walk.Rows(&b)
			if err != nil {
				return sst.Meta{}, err
			}
			if !ok {
				break
			}
			if err := w.Write(&b); err != nil {
				return sst.Meta{}, err
			}
		}
	}
}

// truncateLog removes the segments that no memtable needs any more.
func (e *core) truncateLog() error {
	before := e.log.End() // first: whoever writes from now on keeps the log from a later place
	for _, r := range e.catalog.Load().byID {
		r.mu.Lock()
		for _, m := range r.snap.Load().mems() {
			if m.first != 0 && m.first < before {
				before = m.first
			}
		}
		r.mu.Unlock()
	}
	return e.log.Truncate(before)
}

func (e *core) flush(ctx context.Context, n schema.Name) error {
	tab, err := e.findTable(n)
	if err != nil {
		return err
	}
	return e.flushRegion(ctx, tab.region)
}
