package engine

import (
	"sync"
	"sync/atomic"
)

// memory counts what memtables take. Safe for concurrent use.
type memory struct {
	limit  int64
	free   int64             // of series: so much does not count against limit
	tell   func(bytes int64) // see Options.Held; nil: nobody wants to know
	used   atomic.Int64      // by memtables and their series
	series atomic.Int64      // by series alone
	kept   atomic.Int64      // by memtables that are gone but for their readers
	freed  *signal           // broadcast when some was given back
}

func newMemory(limit, free int64, tell func(int64)) *memory {
	return &memory{limit: limit, free: free, tell: tell, freed: newSignal()}
}

// load is what counts against limit.
func (c *memory) load() int64 { return c.used.Load() - min(c.series.Load(), c.free) }

// flushable estimates what a flush of m frees: its rows, and its series as far as they take room from rows.
func (c *memory) flushable(m *mem) int64 {
	rows := m.table.RowBytes()
	return rows + max(0, m.table.Bytes()-rows-c.free)
}

// returnable is what flushes of a region's memtables give back, about: their rows, and the registries where series take
// room from rows.
func (c *memory) returnable(s *regionSnap) int64 {
	var rows, series int64
	var last *registry
	for _, m := range s.mems() {
		rows += m.table.RowBytes()
		if m.series != last { // memtables that share a registry follow each other
			series, last = series+m.series.Bytes(), m.series
		}
	}
	if !c.crowded() {
		return rows
	}
	return rows + series
}

// crowded reports whether series take room from rows.
func (c *memory) crowded() bool { return c.series.Load() > c.free }

// full reports whether writers have to wait.
func (c *memory) full() bool { return c.load() >= c.limit }

// account takes note of how large a memtable is now.
func (c *memory) account(m *mem) {
	n := m.table.RowBytes()
	c.used.Add(n - m.counted.Swap(n))
	k := m.series.Bytes()
	k -= m.series.counted.Swap(k)
	c.used.Add(k)
	c.series.Add(k)
}

// forget returns a memtable's memory and wakes the writers that wait for it. Its writers are gone. What readers keep
// of it counts as theirs.
func (c *memory) forget(m *mem) {
	n := m.counted.Swap(0)
	m.leave(c, n)
	c.used.Add(-n)
	if m.series.users.Add(-1) == 0 {
		k := m.series.counted.Swap(0)
		c.used.Add(-k)
		c.series.Add(-k)
	}
	c.freed.broadcast()
}

// keep counts bytes of memtables that are gone but for their readers.
func (c *memory) keep(bytes int64) {
	c.kept.Add(bytes)
	if c.tell != nil {
		c.tell(bytes)
	}
}

// after is the memtable that follows m. It goes on with m's registry, so that series that are written for long are held
// once, unless most of those are no longer written or they take too much of the memory for rows. When memory is full, a
// second flush gives up the registry of the empty memtable, see spent.
func (c *memory) after(m *mem) *mem {
	if 2*m.table.Active() <= m.series.Len() || m.series.Bytes() > min((c.limit+c.free)/4*3, maxRegistryBytes) {
		return newMem(nil)
	}
	return newMem(m.series)
}

// spent reports whether a memtable has no rows and gives up its registry: nothing else of it can make room for writers.
func (c *memory) spent(m *mem) bool {
	return m.born.IsZero() && m.series.Bytes() > 0 && c.crowded() && c.full()
}

// signal wakes all who wait. Safe for concurrent use.
type signal struct {
	mu sync.Mutex
	c  chan struct{}
}

func newSignal() *signal { return &signal{c: make(chan struct{})} }

// wait returns a channel that is closed by the next broadcast.
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
