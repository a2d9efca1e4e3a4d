// Package memtable holds the rows that are not in a part yet, in immutable chunks. Writers append chunks under a short
// lock; readers of rows take none, readers of series and tags the registry's.
//
// Each append becomes a chunk, a packed copy of the batch. Neighbouring chunks of similar size are merged until a chunk
// has ChunkRows rows, so many small writes cost a logarithmic number of copies and leave few chunks. Readers need only
// the list of chunks, which is one atomic pointer. Many goroutines may append, one at a time; what a reader was given
// never changes. Chunks of many series are put together, sorted by series, once there are enough rows.
//
//	memtable.go chunk.go layout.go       rows come in, chunks are merged
//	registry.go keys.go ref.go           series and their numbers, which outlive memtables
//	sorted.go                            chunks are sorted by series
//	tags.go find.go                      tags by series, series by tags
//	found.go foundrows.go                rows of series that were found
//	run.go cursor.go series.go order.go  a snapshot as a run: by chunks, by series, in order
//	reader.go source.go stat.go          what both read: columns, series that pass, conditions
//	check.go                             what builds with invariants check
package memtable

import (
	"sync"
	"sync/atomic"

	"varve/engine/invariant"
	"varve/engine/schema"
	"varve/engine/vector"
)

// ChunkRows is the size from which on chunks are no longer merged. Larger appends are cut into chunks of this size.
const ChunkRows = 8192

// chunkLimit is ChunkRows, or fewer where rare paths are looked for.
var chunkLimit = invariant.Limit(ChunkRows, 64)

// maxChunkBytes is the size at which chunks are not merged any more, few as their rows may be: offsets of strings have
// 32 bits, and large rows are not copied again and again.
const maxChunkBytes = 16 << 20

// Room is the memory that a memtable takes for a moment, while chunks and the larger one that they become both exist.
// Safe for concurrent use.
type Room interface {
	// Take takes bytes if there is room for them.
	Take(bytes int64) bool
	Give(bytes int64)
}

// Memtable collects the rows of one region. Append may be called by many goroutines, Live and Freeze too.
type Memtable struct {
	registry *Registry
	room     Room     // nil: without bound
	layouts  sync.Map // *schema.Table, or sharedLayout: *layout of its last batch
	snap     atomic.Pointer[snapshot]
	bytes    atomic.Int64 // of chunks
	added    atomic.Int64 // of series that were new to the registry
	rows     atomic.Int64

	mu     sync.Mutex // held by writers while a chunk is added; protects what follows
	rowsOf map[schema.TableID]int64
	seen   vector.Bitmap // series that have rows here
	active int           // of them
	keyMaker
}

// snapshot is what readers see: rows of chunks and the series they refer to. Immutable.
type snapshot struct {
	chunks []*chunk
	series seriesSnapshot
	rows   int
	order  atomic.Pointer[order] // made by the first reader that needs it
	part   atomic.Pointer[order] // order for the table that was last read, if there are several
}

// New is an empty memtable whose series are numbered by r. Chunks become larger ones as far as there is room; nil:
// always.
func New(r *Registry, room Room) *Memtable {
	m := &Memtable{registry: r, room: room, rowsOf: map[schema.TableID]int64{}}
	r.mu.RLock()
	defer r.mu.RUnlock()
	m.snap.Store(&snapshot{series: r.snapshot()})
	return m
}

// RowBytes is the memory held by rows, about; the registry holds the series.
func (m *Memtable) RowBytes() int64 { return m.bytes.Load() }

// Bytes is the memory held by rows and by the series that came with them, about.
func (m *Memtable) Bytes() int64 { return m.bytes.Load() + m.added.Load() }

// RowsOf is the number of rows of one of several tables.
func (m *Memtable) RowsOf(id schema.TableID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rowsOf[id]
}

// Active is the number of series that have rows here.
func (m *Memtable) Active() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.active
}

// Rows is the number of rows.
func (m *Memtable) Rows() int { return int(m.rows.Load()) }

// Append adds a batch of table t with sequence number seq. fields name b's columns, which must be t's columns of those
// names and types: the caller has checked that. Values are copied. The rows are visible on return. Batches of the same
// table are ordered by seq, whatever the order of the calls.
func (m *Memtable) Append(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	m.add(seq, schema.KindPut, t, fields, b, false)
}

// Take is like Append, for a batch that is not read afterwards. Memory of large flat vectors moves to the memtable, or
// is released once it is copied, so that the rows are not in memory twice.
func (m *Memtable) Take(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	m.add(seq, schema.KindPut, t, fields, b, true)
}

// AppendDelete adds tombstones: fields name the table's tags and its time index.
func (m *Memtable) AppendDelete(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	m.add(seq, schema.KindDelete, t, fields, b, false)
}

func (m *Memtable) add(seq uint64, kind uint8, t *schema.Table, fields []vector.Field, b *vector.Batch, take bool) {
	if b.N == 0 {
		return
	}
	l := m.layoutOf(t, fields)
	added := cut(seq, kind, l, b, take)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rowsOf[t.ID] += int64(b.N)
	m.publish(added, m.numberAll(added, l, b), b.N)
}

// cut makes chunks of a batch whose rows have no series yet. take: it may take over the memory of the vectors, except
// those of tags.
func cut(seq uint64, kind uint8, l *layout, b *vector.Batch, take bool) []*chunk {
	chunks := make([]*chunk, 0, (b.N+chunkLimit-1)/chunkLimit)
	for from := 0; from < b.N; from += chunkLimit {
		to := min(from+chunkLimit, b.N)
		chunks = append(chunks, newChunk(seq, kind, l, b, from, to, take && to == b.N))
	}
	return chunks
}

// publish puts chunks of so many rows behind those there are. The caller holds m.mu.
func (m *Memtable) publish(added []*chunk, series seriesSnapshot, rows int) {
	old := m.snap.Load()
	chunks := append(old.chunks[:len(old.chunks):len(old.chunks)], added...)
	c := copies{room: m.room}
	chunks = c.sortTail(c.mergeTail(chunks))
	defer c.give() // the old chunks are no longer listed then
	if invariant.On {
		for _, k := range chunks[max(0, len(chunks)-len(added)-1):] {
			k.check()
		}
	}
	n := &snapshot{chunks: chunks, series: series, rows: old.rows + rows}
	m.snap.Store(n)
	m.rows.Store(int64(n.rows))
	m.bytes.Store(bytesOf(chunks))
}

// sharedLayout finds the layout of batches of a physical table. Its versions, of which each has the labels of many
// tables, do not matter: fields stay as they are, and labels are in the keys.
type sharedLayout struct {
	table  schema.TableID
	fields int
}

// layoutOf is the layout of a batch.
func (m *Memtable) layoutOf(t *schema.Table, fields []vector.Field) *layout {
	at := any(t)
	if t.Shared() {
		at = sharedLayout{t.ID, len(fields)}
	}
	if l, ok := m.layouts.Load(at); ok && l.(*layout).fits(fields) {
		return l.(*layout)
	}
	l := newLayout(t, fields)
	m.layouts.Store(at, l)
	return l
}

// freeCopies is the size up to which chunks are put together without asking for room, in bytes.
const freeCopies = 1 << 20

// copies is the room that is taken for chunks which are put together while the old ones still exist.
type copies struct {
	room  Room // nil: without bound
	bytes int64
}

// take reports whether there is room for a copy.
func (c *copies) take(bytes int64) bool {
	if c.room == nil || bytes <= freeCopies {
		return true
	}
	if !c.room.Take(bytes) {
		return false
	}
	c.bytes += bytes
	return true
}

// give gives all room back.
func (c *copies) give() {
	if c.bytes > 0 {
		c.room.Give(c.bytes)
	}
}

// mergeTail merges the last chunks while the last is at least as large as half of the one before it and both together
// are small.
func (c *copies) mergeTail(chunks []*chunk) []*chunk {
	for k := len(chunks); k >= 2; k-- {
		a, b := chunks[k-2], chunks[k-1]
		if a.level+b.level > 0 || a.n+b.n > chunkLimit || a.bytes+b.bytes > maxChunkBytes || b.n < a.n/2 ||
			!a.layout.joins(b.layout) || !c.take(a.bytes+b.bytes) {
			break
		}
		chunks[k-2] = mergeChunks(a, b)
		chunks = chunks[:k-1]
	}
	return chunks
}

// numberAll sets the series number of every row of the chunks, which are the rows of b.
func (m *Memtable) numberAll(chunks []*chunk, l *layout, b *vector.Batch) seriesSnapshot {
	r := m.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.Bytes()
	at := 0
	for _, c := range chunks {
		m.number(c, l, b, at)
		at += c.n
	}
	m.added.Add(r.Bytes() - before)
	return r.snapshot()
}

// number sets the series number of every row of c, which are the rows of b from row at on.
func (m *Memtable) number(c *chunk, l *layout, b *vector.Batch, at int) {
	c.oneSeries = m.seriesOf(m.rowKey(l, b, at))
	c.loSeries, c.hiSeries = c.oneSeries, c.oneSeries
	if alike(l, b) {
		return
	}
	c.series = make([]uint32, c.n)
	c.series[0] = c.oneSeries
	c.bytes += int64(4 * c.n)
	var last []byte
	for r := 1; r < c.n; r++ {
		last = append(last[:0], m.key...)
		if m.rowKey(l, b, at+r); string(last) == string(m.key) {
			c.series[r] = c.series[r-1]
			continue
		}
		n := m.seriesOf(m.key)
		c.series[r], c.loSeries, c.hiSeries = n, min(c.loSeries, n), max(c.hiSeries, n)
	}
}

// seriesOf numbers a series and notes that it has rows here.
func (m *Memtable) seriesOf(key []byte) uint32 {
	n := m.registry.number(key)
	m.note(n)
	return n
}

// note notes that a series has rows here.
func (m *Memtable) note(n uint32) {
	if words := int(n>>6) + 1; words > len(m.seen) {
		m.seen = append(m.seen, make(vector.Bitmap, max(words-len(m.seen), len(m.seen)))...)
	}
	if !m.seen.Get(int(n)) {
		m.seen.Set(int(n))
		m.active++
	}
}

// alike reports whether all rows of a batch are of one series without looking at them.
func alike(l *layout, b *vector.Batch) bool {
	for _, f := range l.tags {
		if f >= 0 && b.Cols[f].Form != vector.Const {
			return false
		}
	}
	return true
}

// Freeze returns the rows as an immutable run. Nothing may be appended afterwards.
func (m *Memtable) Freeze() *Run { return m.Live() }

// Live returns a view of the rows appended so far.
func (m *Memtable) Live() *Run { return &Run{m.snap.Load()} }
