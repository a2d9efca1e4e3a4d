package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/schema"
	"varve/memtable"
	"varve/wal"
)

// region is the storage of one table, or of the logical tables of a physical one. Readers pin its snapshot; writers, flushes and alterations publish new ones.
type region struct {
	e  *core
	id schema.TableID

	snap   atomic.Pointer[regionSnap]
	queued atomic.Bool // waits in the queue of the flush loop

	altering   turn       // held while the schema is altered by DDL; taken before all others
	merging    turn       // held while parts are merged that merges have written; taken before freshening
	freshening turn       // held while parts are merged that no merge has written; taken before maintain
	maintain   sync.Mutex // held while frozen memtables or parts are replaced: flush, merge, truncate; taken before mu

	pending []*part // written by replay, listed by the edit of the next flush; under maintain

	hurry atomic.Int64 // those who wait for merging: a long merge does not rest

	mu      sync.Mutex    // held while a snapshot is published and while a writer takes its sequence number
	dropped bool          // under mu
	closed  chan struct{} // under mu; not nil: nobody may enlist until it is closed
}

// regionSnap is what readers see. Immutable once published.
type regionSnap struct {
	schema *schema.Table
	live   *mem
	frozen []*mem  // on their way to parts, oldest first
	parts  []*part // in the order they were added
}

// mem is a memtable with what the log and the limits need to know of it. Its sequence numbers lie between those of the
// memtables before and behind it.
type mem struct {
	table   *memtable.Memtable
	series  *registry
	writers sync.WaitGroup // who has a sequence number of it and has not appended yet
	counted atomic.Int64   // bytes that the memory limit knows of

	// Under region.mu while live; fixed when frozen and the writers are gone.
	first   wal.LSN   // the log holds its rows at or behind this place; 0: nothing in the log
	lastSeq uint64    // highest sequence number given
	born    time.Time // of the first write; zero: none
	only    bool      // has rows that the log lacks

	built *part // written, but the manifest could not be told yet; under region.maintain

	mu      sync.Mutex // protects what follows
	readers int        // snapshots that were pinned with it
	gone    bool       // no snapshot has it that is pinned from now on
	held    int64      // bytes that readers keep once it is gone
}

// acquire notes a reader.
func (m *mem) acquire(e *core) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readers++; m.gone && m.readers == 1 { // its snapshot was replaced this very moment
		e.hold(m.held)
	}
}

// release notes that a reader let go.
func (m *mem) release(e *core) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readers--; m.gone && m.readers == 0 {
		e.hold(-m.held)
	}
}

// leave notes that the store itself is done with the memtable, of so many bytes.
func (m *mem) leave(e *core, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone, m.held = true, bytes; m.readers > 0 {
		e.hold(bytes)
	}
}

// registry numbers the series of some memtables of a region, one after the other.
type registry struct {
	*memtable.Registry
	users   atomic.Int64 // memtables
	counted atomic.Int64 // bytes that the memory limit knows of
}

// newMem is an empty memtable; nil: with a registry of its own.
func newMem(s *registry) *mem {
	if s == nil {
		s = &registry{Registry: memtable.NewRegistry()}
	}
	s.users.Add(1)
	return &mem{table: memtable.New(s.Registry), series: s}
}

// after is the memtable that follows m. It goes on with m's registry, so that series that are written for long are held
// once, unless most of those are no longer written or they take too much of the memory for rows.
func (e *core) after(m *mem) *mem {
	if 2*m.table.Active() <= m.series.Len() || m.series.Bytes() > min(e.o.MemtableLimit/4*3, maxRegistryBytes) {
		return newMem(nil)
	}
	return newMem(m.series)
}

func newRegion(e *core, t *schema.Table) *region {
	r := &region{e: e, id: t.ID, altering: make(turn, 1), merging: make(turn, 1), freshening: make(turn, 1)}
	r.snap.Store(&regionSnap{schema: t, live: newMem(nil)})
	return r
}

// drop notes that the table is gone.
func (r *region) drop() {
	r.mu.Lock()
	r.dropped = true
	r.mu.Unlock()
}

// mems are the memtables, oldest first.
func (s *regionSnap) mems() []*mem { return append(s.frozen[:len(s.frozen):len(s.frozen)], s.live) }

// unlogged tells whether a memtable has rows that the log lacks. No write is under way.
func (s *regionSnap) unlogged() bool {
	return slices.ContainsFunc(s.mems(), func(m *mem) bool { return m.only })
}

// replace publishes a changed copy of the snapshot. f may change the lists in place. The caller holds r.mu, or nobody
// else knows the region yet.
func (r *region) replace(f func(s *regionSnap)) {
	old := r.snap.Load()
	n := &regionSnap{schema: old.schema, live: old.live, frozen: slices.Clone(old.frozen), parts: slices.Clone(old.parts)}
	f(n)
	r.snap.Store(n)
}

// pin gives the current snapshot and keeps its parts open and its memtables in memory until unpin.
func (r *region) pin() *regionSnap {
	s := r.openParts()
	for _, m := range s.mems() {
		m.acquire(r.e)
	}
	return s
}

// unpin lets go of what pin gave.
func (r *region) unpin(s *regionSnap) {
	s.closeParts()
	for _, m := range s.mems() {
		m.release(r.e)
	}
}

// openParts gives the current snapshot and keeps its parts, but not its memtables, until closeParts.
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

// withoutRows is the snapshot for who looks at parts alone, and long: while it is at hand, flushed memtables would stay
// in memory.
func (s *regionSnap) withoutRows() *regionSnap { return &regionSnap{schema: s.schema, parts: s.parts} }

func (s *regionSnap) closeParts() {
	for _, p := range s.parts {
		p.release()
	}
}

// account tells the memory limit how large a memtable is now.
func (e *core) account(m *mem) {
	n := m.table.RowBytes()
	e.memBytes.Add(n - m.counted.Swap(n))
	k := m.series.Bytes()
	k -= m.series.counted.Swap(k)
	e.memBytes.Add(k)
	e.seriesBytes.Add(k)
}

// forget gives a memtable's memory back and wakes the writers that wait for it. Its writers are gone. What readers keep
// of it counts as theirs.
func (e *core) forget(m *mem) {
	n := m.counted.Swap(0)
	m.leave(e, n)
	e.memBytes.Add(-n)
	if m.series.users.Add(-1) == 0 {
		k := m.series.counted.Swap(0)
		e.memBytes.Add(-k)
		e.seriesBytes.Add(-k)
	}
	e.room.broadcast()
}

// hold counts bytes of memtables that are gone but for their readers.
func (e *core) hold(bytes int64) {
	e.heldBytes.Add(bytes)
	if e.o.Held != nil {
		e.o.Held(bytes)
	}
}

// signal wakes all who wait. Safe for concurrent use.
type signal struct {
	mu sync.Mutex
	c  chan struct{}
}

func newSignal() *signal { return &signal{c: make(chan struct{})} }

// wait gives a channel that is closed by the next broadcast.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.c
}

func (s *signal) broadcast() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.c)
	s.c = make(chan struct{})
}
