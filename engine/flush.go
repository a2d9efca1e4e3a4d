package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/wal"
)

// flusher writes memtables to parts, and truncates the log that no memtable needs any more. Safe for concurrent use.
type flusher struct {
	*inventory
	log       *wal.Log
	memory    *memory
	batches   *batches
	positions *positions
	metrics   *Metrics
	merger    *merger // gets the parts
	grown     func()  // told of them

	asked chan *region              // regions that want a flush
	last  atomic.Pointer[time.Time] // when the last memtable was written into a part; nil: none was yet
	busy  atomic.Bool               // the loop is at work: merges wait
}

// request queues a region for the flush loop; a region waits in the queue once.
func (f *flusher) request(r *region) {
	if r.queued.CompareAndSwap(false, true) {
		select {
		case f.asked <- r:
		default:
			r.queued.Store(false) // the queue is full: the next write asks again
		}
	}
}

// requestLargest requests a flush of the region whose flush frees the most memory.
func (f *flusher) requestLargest() {
	if r := f.largest(); r != nil {
		f.request(r)
	}
}

// largest is the region whose flush gives back the most memory; nil: none gives back any.
func (f *flusher) largest() (largest *region) {
	var most int64
	for _, r := range f.catalog.Load().regions {
		if n := f.memory.returnable(r.snap.Load()); n > most {
			largest, most = r, n
		}
	}
	return largest
}

// loop runs the requested flushes, and flushes by age and by the size of the log.
func (f *flusher) loop(ctx context.Context) {
	tick := time.NewTicker(min(time.Second, f.o.FlushAge))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-f.asked:
			r.queued.Store(false)
			if f.space.readOnly() != nil {
				continue // age, or a writer, will request it again
			}
			f.merger.catchUp(ctx, r)
			f.busy.Store(true)
			err := f.flush(ctx, r)
			f.busy.Store(false)
			f.merger.changed.broadcast()
			if err != nil && ctx.Err() == nil && f.space.isNews(err) {
				f.o.Logger.Error("flush failed, it is tried again", "table", r.snap.Load().schema.Name.String(),
					"error", err)
				select {
				case <-ctx.Done():
				case <-time.After(f.o.retryFlush):
					f.request(r)
				}
			}
		case <-tick.C:
			if f.space.readOnly() == nil {
				f.requestOld()
				f.relieve()
			}
		}
	}
}

// requestOld asks for flushes of memtables that are too old or that keep the log too long.
func (f *flusher) requestOld() {
	logFull := f.log.Size() > f.o.WALPurgeThreshold
	now := f.o.Now()
	var oldest *region
	first := uint64(math.MaxUint64)
	for _, r := range f.catalog.Load().regions {
		r.mu.Lock()
		s := r.snap.Load()
		due := len(s.frozen) > 0 || !s.live.born.IsZero() && now.Sub(s.live.born) > f.o.FlushAge
		if at := uint64(s.live.first); at != 0 && at < first {
			first, oldest = at, r
		}
		r.mu.Unlock()
		if due {
			f.request(r)
		}
	}
	if logFull && oldest != nil {
		f.request(oldest)
	}
}

// flush writes all rows that were in memory when it was called into parts.
func (f *flusher) flush(ctx context.Context, r *region) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	if err := f.flushFrozen(ctx, r, true); err != nil {
		return err
	}
	return f.truncateLog()
}

// flushFrozen freezes the live memtable, if asked, and writes the frozen ones, oldest first. The caller holds
// r.maintain.
func (f *flusher) flushFrozen(ctx context.Context, r *region, freeze bool) error {
	if freeze {
		r.mu.Lock()
		switch live := r.snap.Load().live; {
		case r.dropped.Load(): // who dropped the table forgets its memtables
		case !live.born.IsZero():
			r.replace(func(s *regionSnap) { s.frozen, s.live = append(s.frozen, live), f.memory.after(live) })
		case f.memory.spent(live):
			r.replace(func(s *regionSnap) { s.live = f.memory.newMem(nil) })
			f.memory.forget(live)
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
		if err := f.flushOne(r, m); err != nil {
			f.metrics.FlushFailures.Inc()
			return err
		}
	}
}

// flushOne writes one frozen memtable into a part and publishes it.
func (f *flusher) flushOne(r *region, m *mem) error {
	start := f.o.Now()
	t := r.snap.Load().schema
	run := m.table.Freeze()
	first := f.needed(m).Segment()
	f.batches.save(f.log, first)
	edit := manifest.Edit{Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: m.lastSeq}},
		Log: manifest.LogRange{First: first}, Positions: f.positions.before(first, f.manifest.State())}
	if m.built == nil && run.Rows() > 0 {
		lo, hi := run.Sequences()
		mode := flushMode(t)
		// pending parts may have sequence numbers between those of this memtable
		mode.keepAll = mode.keepAll || mode.lastNonNull && len(r.pending) > 0
		p, err := f.files.write(&partJob{table: t, runs: []scan.Run{run}, time: scan.All, minSeq: lo, maxSeq: hi,
			mode: mode, workers: flushWorkers, lives: f.lives(r), flushed: m.lastSeq})
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
	if err := f.apply(edit); err != nil {
		if f.lists(r) {
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
	f.memory.forget(m)
	if p != nil {
		now := f.o.Now()
		took := now.Sub(start)
		f.last.Store(&now)
		f.metrics.Flushes.Inc()
		f.metrics.FlushedRows.Add(float64(p.meta.Rows))
		f.metrics.FlushedBytes.Add(float64(p.meta.Bytes))
		f.metrics.FlushSeconds.Observe(took.Seconds())
		f.merger.push(freshParts, r)
		f.grown()
		f.o.Logger.Debug("flushed", "table", t.Name.String(), "rows", p.meta.Rows, "bytes", p.meta.Bytes, "took", took)
	}
	return nil
}

// Flush writes all rows of a table that are in memory into parts.
func (e *Engine) Flush(ctx context.Context, n schema.Name) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	return e.flusher.flush(ctx, tab.region)
}
