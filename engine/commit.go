package engine

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/spare"
	"varve/engine/status"
	"varve/wal"
)

// committer takes records of rows into the log and then into memtables. Safe for concurrent use.
type committer struct {
	log       *wal.Log
	primary   *Primary // of the standby, which writes may wait for
	memory    *memory
	space     *space
	batches   *batches
	positions *positions
	metrics   *Metrics
	now       func() time.Time

	patience     time.Duration   // how long a write waits for memory, or for a table that is altered
	closing      <-chan struct{} // closed when the store closes
	flushBytes   int64           // of a memtable that wants a flush
	flush        func(r *region) // asks for a flush of a region
	flushLargest func()          // and of the region whose flush frees the most memory

	seq      atomic.Uint64 // the last that was given to rows
	refusing atomic.Bool   // the last write that waited for memory got none
}

var recordBuffers spare.List[[]byte]

// largeRecord is the size from which on the buffer of a record is made for it alone, at once: growing it would copy it
// several times.
const largeRecord = 16 << 20

// seen notes the number of a row that was there before: later ones get higher numbers. Only before the first commit.
func (c *committer) seen(seq uint64) { c.seq.Store(max(c.seq.Load(), seq)) }

// admit refuses writes that cannot be kept: full disk, full memory.
func (c *committer) admit(ctx context.Context) error {
	if err := c.space.check(); err != nil {
		c.metrics.Refused.WithLabelValues("disk").Inc()
		return err
	}
	if err := c.primary.mayWrite(); err != nil {
		c.metrics.Refused.WithLabelValues("standby").Inc()
		return err
	}
	if c.hasRoom() {
		return nil
	}
	return c.awaitRoom(ctx)
}

// hasRoom reports whether memory takes rows.
func (c *committer) hasRoom() bool {
	if c.memory.full() {
		return false
	}
	if c.refusing.Load() {
		c.refusing.Store(false)
	}
	return true
}

// ready returns the error for writes while memory is short: a write waited in vain, and there is still no room.
func (c *committer) ready() error {
	if c.hasRoom() || !c.refusing.Load() {
		return nil
	}
	return c.errFull()
}

func (c *committer) errFull() error {
	return status.New(status.RegionBusy,
		"memtables hold %d bytes, the limit is %d: flushing does not keep up, try again", c.memory.load(),
		c.memory.limit)
}

// flushLook is how often the first of the writes that wait asks for another flush.
const flushLook = 50 * time.Millisecond

func (c *committer) awaitRoom(ctx context.Context) error {
	var room ledger.Ticket // of no bytes: rows are counted when the memtable has them
	c.memory.account.Begin(&room, admission.Memtable, netip.Addr{}, nil)
	c.flushLargest()
	err := room.Grow(ctx, 0, ledger.Wait{Most: c.patience, Each: flushLook, Look: func(int) { c.flushLargest() },
		Closing: c.closing})
	switch {
	case err == nil:
		c.refusing.Store(false)
		return nil
	case errors.Is(err, ledger.ErrFull):
		c.metrics.Refused.WithLabelValues("memory").Inc()
		c.refusing.Store(true)
		return c.errFull()
	case errors.Is(err, ledger.ErrClosing):
		return ErrClosed
	}
	return status.Wrap(err, status.DeadlineExceeded, "the request ended while the write waited for memory")
}

// commit logs and appends the records and gives the writes whose tables were altered or dropped since they were
// prepared: to be prepared again.
func (c *committer) commit(ctx context.Context, ws []*tableWrite) (again []*tableWrite, err error) {
	if again, err = c.append(ctx, ws); err == nil && len(again) > 0 {
		err = c.awaitAltered(ctx, again) // nothing is held that a change may wait for
	}
	return again, err
}

// append logs and appends the records of the writes that can be enlisted, and gives the others. Who gives up before the
// log has the records has written nothing. What is taken from a queue is written at once: if one cannot be enlisted,
// append gives all.
func (c *committer) append(ctx context.Context, ws []*tableWrite) (again []*tableWrite, err error) {
	var logged []wal.Record
	taking := takingOf(ctx)
	defer func() {
		for _, w := range ws {
			w.finish()
		}
	}()
	for _, w := range ws {
		if w.rec == nil {
			continue
		}
		if !c.enlist(w) {
			again = append(again, w)
			continue
		}
		if !w.schema.Options.SkipWAL {
			w.log = recordBuffers.Get()
			buf, one := w.rec.logged(w.rec.roomIn(*w.log))
			*w.log = buf
			logged = append(logged, one)
			c.metrics.BytesWritten.Add(float64(one.Size()))
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, status.Wrap(err, status.DeadlineExceeded, "the request ended before its rows were in the log")
	}
	if taking != nil && len(again) > 0 {
		return slices.DeleteFunc(slices.Clone(ws), func(w *tableWrite) bool { return w.rec == nil }), nil
	}
	if len(logged) > 0 || taking != nil {
		if err := c.appendLog(ctx, logged, taking); err != nil {
			return nil, err
		}
		for _, w := range ws {
			w.forgetLog() // before the memtable copies the rows: large ones are not there three times
		}
	}
	for _, w := range ws {
		if w.mem == nil {
			continue
		}
		w.mem.append(w.rec, w.schema, w.outgrown())
		w.stored = true
		c.memory.count(w.mem)
		c.batches.stored(w.rec)
		c.metrics.RowsWritten.Add(float64(w.batch.N - w.left))
		if c.memory.flushable(w.mem) > c.flushBytes {
			c.flush(w.at.region)
		}
	}
	return again, nil
}

// appendLog appends records to the log; with the steps of a taking they are one record.
func (c *committer) appendLog(ctx context.Context, records []wal.Record, taking *Taking) error {
	if taking != nil {
		one, err := taking.record(records)
		if err != nil {
			return err
		}
		records = []wal.Record{one}
		c.positions.hold(taking, c.log)
		defer c.positions.release(taking)
	}
	at, err := c.log.Append(records...)
	if err = c.space.logged(err); err != nil {
		c.metrics.Refused.WithLabelValues("log").Inc()
		return err
	}
	if err := c.primary.await(ctx, at.Behind(records), 0); err != nil {
		c.metrics.Refused.WithLabelValues("standby").Inc()
		return err
	}
	if taking != nil {
		c.positions.stored(taking.Steps, at.Segment())
		taking.done = true
	}
	return nil
}

// enlist sets a write's sequence number and the memtable that will not be flushed before it has the rows; false: the
// schema is another one now, or about to be, or the physical table of a logical one has become read-only.
func (c *committer) enlist(w *tableWrite) bool {
	r := w.at.region
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.at.dropped() || r.closed != nil || w.at.schema() != w.schema || w.at.logical != nil && w.at.refuses() {
		return false
	}
	m := r.snap.Load().live
	m.writers.Add(1)
	w.mem, w.rec.seq = m, c.seq.Add(1)
	at := wal.LSN(0)
	if w.schema.Options.SkipWAL {
		m.only = true
	} else {
		at = c.log.End()
	}
	m.began(at, w.rec.seq, c.now())
	return true
}

// finish lets go of the memtable and of the buffer.
func (w *tableWrite) finish() {
	if w.mem != nil {
		w.mem.writers.Done()
		w.mem = nil
	}
	w.forgetLog()
}

// outgrown reports whether the rows lie in memory that is not kept for others after them.
func (w *tableWrite) outgrown() bool {
	return w.writeEntry != nil && w.builder != nil && w.builder.Outgrown()
}

// forgetLog lets go of the record's bytes.
func (w *tableWrite) forgetLog() {
	if w.log != nil {
		if cap(*w.log) <= largeRecord {
			recordBuffers.Put(w.log, int64(cap(*w.log)))
		}
		w.log = nil
	}
}

// awaitAltered waits until the tables of writes may be written to again.
func (c *committer) awaitAltered(ctx context.Context, ws []*tableWrite) error {
	timer := time.NewTimer(c.patience)
	defer timer.Stop()
	for _, w := range ws {
		w.at.region.mu.Lock()
		closed := w.at.region.closed
		w.at.region.mu.Unlock()
		if closed == nil {
			continue
		}
		select {
		case <-closed:
		case <-ctx.Done():
			return status.Wrap(ctx.Err(), status.DeadlineExceeded,
				"the request ended while the write waited for a change of table %s", w.schema.Name)
		case <-c.closing:
			return ErrClosed
		case <-timer.C:
			return status.New(status.RegionBusy,
				"table %s is being altered: nothing can be written for the moment, try again", w.schema.Name)
		}
	}
	return nil
}
