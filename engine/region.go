package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/schema"
	"varve/memtable"
	"varve/wal"
)

// region is the storage of one table, or of the logical tables of a physical table. Readers pin its snapshot; writers,
// flushes and alterations publish new snapshots.
type region struct {
	id     schema.TableID
	memory *memory

	snap   atomic.Pointer[regionSnap]
	queued atomic.Bool // waits in the queue of the flush loop

	altering ctxLock    // held while the schema is altered by DDL; taken before all others
	maintain sync.Mutex // held while frozen memtables or parts are replaced: flush, merge, truncate; taken before mu

	freed    time.Time     // when labels were last looked for that no series has; under altering
	freeTook time.Duration // how long that took

	pending []*part // written by replay, listed by the edit of the next flush; under maintain

	merges mergeState // under merger.mu

	mu      sync.Mutex    // held while a snapshot is published and while a writer takes its sequence number
	dropped atomic.Bool   // set under mu
	closed  chan struct{} // under mu; not nil: nobody may enlist until it is closed
}

// regionSnap is what readers see. Immutable once published.
type regionSnap struct {
	schema *schema.Table
	live   *mem
	frozen []*mem  // on their way to parts, oldest first
	parts  []*part // in the order they were added
}

// mem is a memtable with the data that the log and the limits need. Its sequence numbers lie between those of the
// memtable before and the memtable after it.
type mem struct {
	table   *memtable.Memtable
	series  *registry
	writers sync.WaitGroup // writers that have a sequence number of this memtable and have not appended yet
	counted atomic.Int64   // bytes that the memory limit knows of

	// Under region.mu while live; fixed when frozen and the writers are gone.
	first   wal.LSN   // the log holds its rows at or behind this place; 0: nothing in the log
	lastSeq uint64    // highest sequence number given
	born    time.Time // of the first write; zero: none
	only    bool      // has rows that the log lacks

	built *part // written, but not yet in the manifest; under region.maintain

	mu      sync.Mutex // protects what follows
	readers int        // snapshots that were pinned with it
	gone    bool       // no snapshot has it that is pinned from now on
	held    int64      // bytes that readers keep once it is gone
}

// acquire notes a reader.
func (m *mem) acquire(c *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readers++; m.gone && m.readers == 1 { // its snapshot was replaced this very moment
		c.keep(m.held)
	}
}

// release notes that a reader let go.
func (m *mem) release(c *memory) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readers--; m.gone && m.readers == 0 {
		c.keep(-m.held)
	}
}

// leave notes that the store itself is done with the memtable, of so many bytes.
func (m *mem) leave(c *memory, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone, m.held = true, bytes; m.readers > 0 {
		c.keep(bytes)
	}
}

// began notes a write: the log must be kept from at on, if at is not 0. The caller holds region.mu.
func (m *mem) began(at wal.LSN, seq uint64, now time.Time) {
	if m.first == 0 {
		m.first = at
	}
	if m.born.IsZero() {
		m.born = now
	}
	m.lastSeq = max(m.lastSeq, seq)
}

// append takes the rows of a record. take: their memory, too, as far as it need not be copied.
func (m *mem) append(r *record, t *schema.Table, take bool) {
	switch r.kind {
	case schema.KindDelete:
		m.table.AppendDelete(r.seq, t, r.fields, r.batch)
	case recordSeries:
		m.table.AppendSeries(r.seq, t, r.fields, r.batch, r.refs, r.ends)
	default:
		if take {
			m.table.Take(r.seq, t, r.fields, r.batch)
		} else {
			m.table.Append(r.seq, t, r.fields, r.batch)
		}
	}
}

// registry numbers the series of several consecutive memtables of a region.
type registry struct {
	*memtable.Registry
	users   atomic.Int64 // memtables
	counted atomic.Int64 // bytes that the memory limit knows of
}

// newMem is an empty memtable; nil: with a registry of its own.
func (c *memory) newMem(s *registry) *mem {
	if s == nil {
		s = &registry{Registry: memtable.NewRegistry()}
	}
	s.users.Add(1)
	return &mem{table: memtable.New(s.Registry, (*copyRoom)(c)), series: s}
}

func newRegion(c *memory, t *schema.Table) *region {
	r := &region{id: t.ID, memory: c, altering: make(ctxLock, 1)}
	r.snap.Store(&regionSnap{schema: t, live: c.newMem(nil)})
	return r
}

// drop notes that the table is gone.
func (r *region) drop() {
	r.mu.Lock()
	r.dropped.Store(true)
	r.mu.Unlock()
}

// mems are the memtables, oldest first.
func (s *regionSnap) mems() []*mem { return append(s.frozen[:len(s.frozen):len(s.frozen)], s.live) }

// unlogged reports whether a memtable has rows that the log lacks. No write is under way.
func (s *regionSnap) unlogged() bool {
	return slices.ContainsFunc(s.mems(), func(m *mem) bool { return m.only })
}

// logged reports whether the log holds rows that are in no part.
func (r *region) logged() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.snap.Load().mems(), func(m *mem) bool { return m.first != 0 })
}

// replace publishes a changed copy of the snapshot. f may change the lists in place. The caller holds r.mu, or nobody
// else knows the region yet.
func (r *region) replace(f func(s *regionSnap)) {
	old := r.snap.Load()
	n := &regionSnap{schema: old.schema, live: old.live, frozen: slices.Clone(old.frozen),
		parts: slices.Clone(old.parts)}
	f(n)
	r.snap.Store(n)
}

// pin returns the current snapshot and keeps its parts open and its memtables in memory until unpin.
func (r *region) pin() *regionSnap {
	s := r.openParts()
	for _, m := range s.mems() {
		m.acquire(r.memory)
	}
	return s
}

// pinAgain pins a snapshot that somebody has pinned already.
func (r *region) pinAgain(s *regionSnap) {
	for _, p := range s.parts {
		if !p.acquire() {
			panic("engine: a part of a pinned snapshot is closed")
		}
	}
	for _, m := range s.mems() {
		m.acquire(r.memory)
	}
}

// unpin releases a snapshot of pin.
func (r *region) unpin(s *regionSnap) {
	s.closeParts()
	for _, m := range s.mems() {
		m.release(r.memory)
	}
}

// openParts returns the current snapshot and keeps its parts, but not its memtables, until closeParts.
func (r *region) openParts() *regionSnap {
	for {
		s := r.snap.Load()
		k := 0
		for k < len(s.parts) && s.parts[k].acquire() {
			k++
		}
		if k == len(s.parts) {
			return s
		}
		// A part was closed: the snapshot has been replaced since it was loaded, or the store is closed.
		for _, p := range s.parts[:k] {
			p.release()
		}
		if r.snap.Load() == s {
			return &regionSnap{schema: s.schema, live: s.live, frozen: s.frozen}
		}
	}
}

// withoutRows is the snapshot without its memtables, for long work on parts alone: a reference to the memtables would
// keep them in memory after their flush.
func (s *regionSnap) withoutRows() *regionSnap { return &regionSnap{schema: s.schema, parts: s.parts} }

func (s *regionSnap) closeParts() {
	for _, p := range s.parts {
		p.release()
	}
}

// fresh is the number of parts that no merge has written, and that one may take.
func (r *region) fresh() (n int) {
	for _, p := range r.snap.Load().parts {
		if p.meta.Level == 0 && !p.isCold() {
			n++
		}
	}
	return n
}

// ctxLock is a lock that is waited for until a context ends.
type ctxLock chan struct{}

func (l ctxLock) lock(ctx context.Context) error {
	select {
	case l <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l ctxLock) unlock() { <-l }
