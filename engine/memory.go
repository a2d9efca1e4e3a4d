package engine

import (
	"varve/engine/admission"
	"varve/engine/admission/ledger"
)

// memory counts the bytes of memtables in the account of the process. Safe for concurrent use.
type memory struct {
	account *ledger.Ledger
	limit   int64 // of rows
	free    int64 // of series: so much does not count against limit
}

func newMemory(account *ledger.Ledger, free int64) *memory {
	return &memory{account: account, limit: account.Limit(admission.Memtable), free: free}
}

// ownMemory is the account of a store that has one for itself.
func ownMemory(o *Options) *ledger.Ledger {
	limits := admission.Limits{SeriesBeside: o.SeriesBytes}
	limits.Of[admission.Memtable] = o.MemtableLimit
	limits.Of[admission.Merge] = int64(o.AskedMerges) * o.MergeBytes
	return ledger.New(limits, nil)
}

// load is what counts against limit.
func (c *memory) load() int64 { return c.account.Load(admission.Memtable) }

// rows and series are the bytes of rows and of series keys in memtables, used is both. kept is the bytes of memtables
// that only readers still have.
func (c *memory) rows() int64   { return c.account.Bytes(admission.Memtable) }
func (c *memory) series() int64 { return c.account.Bytes(admission.Series) }
func (c *memory) used() int64   { return c.rows() + c.series() }
func (c *memory) kept() int64   { return c.account.Bytes(admission.Held) }

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
func (c *memory) crowded() bool { return c.series() > c.free }

// full reports whether writers have to wait.
func (c *memory) full() bool { return c.account.Full(admission.Memtable) }

// count takes note of how large a memtable is now.
func (c *memory) count(m *mem) {
	n := m.table.RowBytes()
	c.account.Add(admission.Memtable, n-m.counted.Swap(n))
	k := m.series.Bytes()
	if k -= m.series.counted.Swap(k); k != 0 {
		c.account.Add(admission.Series, k)
	}
}

// forget returns a memtable's memory, so that writers that wait for memory go on. The writers of the memtable are gone.
// If readers still have it, it counts as kept.
func (c *memory) forget(m *mem) {
	n := m.counted.Swap(0)
	m.leave(c, n)
	if m.series.users.Add(-1) == 0 {
		c.account.Add(admission.Series, -m.series.counted.Swap(0))
	}
	c.account.Add(admission.Memtable, -n)
}

// copyRoom is the memory that memtables take while they put chunks together. Rows are admitted before they are counted,
// so that this takes no more than what the limit leaves.
type copyRoom memory

// Take takes bytes if there is room for them, whoever waits: their rows are there already.
func (c *copyRoom) Take(bytes int64) bool { return c.account.TryAdd(admission.Memtable, bytes) }

// Give gives bytes back.
func (c *copyRoom) Give(bytes int64) { c.account.Add(admission.Memtable, -bytes) }

// keep counts bytes of memtables that are gone but for their readers.
func (c *memory) keep(bytes int64) { c.account.Add(admission.Held, bytes) }

// after is the memtable that follows m. It goes on with m's registry, so that series that are written for long are held
// once, unless most of those are no longer written or they take too much of the memory for rows. When memory is full, a
// second flush gives up the registry of the empty memtable, see spent.
func (c *memory) after(m *mem) *mem {
	if 2*m.table.Active() <= m.series.Len() || m.series.Bytes() > min((c.limit+c.free)/4*3, maxRegistryBytes) {
		return c.newMem(nil)
	}
	return c.newMem(m.series)
}

// spent reports whether a memtable has no rows and gives up its registry: nothing else of it can make room for writers.
func (c *memory) spent(m *mem) bool {
	return m.born.IsZero() && m.series.Bytes() > 0 && c.crowded() && c.full()
}
