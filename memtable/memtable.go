// Package memtable holds the rows that are not in a part yet: immutable chunks, appended to by writers under a short
// lock and read without any.
//
// Every append becomes a chunk of its own, a packed copy of the batch; neighbours of similar size are merged until a
// chunk has ChunkRows rows, so that many small writes cost a logarithmic number of copies and leave few chunks. A chunk
// never changes, so readers need the list of chunks alone, which is one atomic pointer.
package memtable

import (
	"math"
	"sync"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/vector"
)

// ChunkRows is the size at which chunks are not merged any more. Larger appends are cut into chunks of this size.
const ChunkRows = 8192

// Memtable collects the rows of one region. Append may be called by many goroutines, Live and Freeze too.
type Memtable struct {
	mu     sync.Mutex // held by writers while a chunk is added
	series seriesMap  // written under mu
	key    []byte     // scratch under mu
	tags   [][]byte   // scratch under mu
	values []byte     // scratch under mu: tags that are no text
	dicts  tagDicts

	layout atomic.Pointer[layout] // of the last batch
	snap   atomic.Pointer[snapshot]
	bytes  atomic.Int64
	rows   atomic.Int64
}

// snapshot is what readers see: rows of chunks and the series they refer to. Immutable.
type snapshot struct {
	chunks []*chunk
	series []seriesEntry // by series number; the slice is shared with the writer, who only appends
	rows   int
	tags   *tagDicts             // of the memtable
	order  atomic.Pointer[order] // made by the first reader that needs it
}

type seriesEntry struct {
	key   string
	table schema.TableID
}

// New is an empty memtable.
func New() *Memtable {
	m := &Memtable{}
	m.snap.Store(&snapshot{tags: &m.dicts})
	return m
}

// Bytes is the memory held, about.
func (m *Memtable) Bytes() int64 { return m.bytes.Load() }

// Rows is the number of rows.
func (m *Memtable) Rows() int { return int(m.rows.Load()) }

// Append adds a batch of table t with sequence number seq; fields name b's columns, which are t's columns of those names
// and types: all checks are before. Values are copied. The rows are visible on return. Batches of the same table are
// ordered by seq, whatever the order of the calls.
func (m *Memtable) Append(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	m.add(seq, schema.KindPut, t, fields, b)
}

// AppendDelete adds tombstones: fields name the table's tags and its time index.
func (m *Memtable) AppendDelete(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	m.add(seq, schema.KindDelete, t, fields, b)
}

func (m *Memtable) add(seq uint64, kind uint8, t *schema.Table, fields []vector.Field, b *vector.Batch) {
	if b.N == 0 {
		return
	}
	l := m.layout.Load()
	if !l.fits(t, fields) {
		l = newLayout(t, fields)
		m.layout.Store(l)
	}
	added := make([]*chunk, 0, (b.N+ChunkRows-1)/ChunkRows)
	for from := 0; from < b.N; from += ChunkRows {
		added = append(added, newChunk(seq, kind, l, b, from, min(from+ChunkRows, b.N)))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := 0
	for _, c := range added {
		m.number(c, l, b, at)
		at += c.n
	}
	old := m.snap.Load()
	chunks := append(old.chunks[:len(old.chunks):len(old.chunks)], added...)
	chunks = m.mergeTail(chunks)
	var grown int64
	for _, c := range chunks {
		grown += c.bytes
	}
	n := &snapshot{chunks: chunks, series: m.series.entries, tags: &m.dicts, rows: old.rows + b.N}
	m.snap.Store(n)
	m.rows.Store(int64(n.rows))
	m.bytes.Store(grown + m.series.bytes)
}

// mergeTail merges the last chunks while the last is at least as large as half of the one before it and both together
// are small.
func (m *Memtable) mergeTail(chunks []*chunk) []*chunk {
	for k := len(chunks); k >= 2; k-- {
		a, b := chunks[k-2], chunks[k-1]
		if a.n+b.n > ChunkRows || b.n < a.n/2 || a.layout.table != b.layout.table {
			break
		}
		chunks[k-2] = mergeChunks(a, b)
		chunks = chunks[:k-1]
	}
	return chunks
}

// number gives every row of c, which are the rows of b from row at on, its series number.
func (m *Memtable) number(c *chunk, l *layout, b *vector.Batch, at int) {
	c.oneSeries = m.series.number(m.rowKey(l, b, at), l.table.ID)
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
		c.series[r] = m.series.number(m.key, l.table.ID)
	}
}

// alike tells that all rows of a batch are of one series without looking at them.
func alike(l *layout, b *vector.Batch) bool {
	for _, f := range l.tags {
		if f >= 0 && b.Cols[f].Form != vector.Const {
			return false
		}
	}
	return true
}

// rowKey makes m.key the series key of a row.
func (m *Memtable) rowKey(l *layout, b *vector.Batch, row int) []byte {
	m.tags, m.values = m.tags[:0], m.values[:0]
	for _, f := range l.tags {
		if f < 0 || b.Cols[f].IsNull(row) {
			m.tags = append(m.tags, nil)
			continue
		}
		c := b.Cols[f]
		if c.Type.Kind() == vector.Bytes {
			m.tags = append(m.tags, present(c.Bytes(row)))
			continue
		}
		k := len(m.values)
		m.values = schema.AppendTag(m.values, c, row)
		m.tags = append(m.tags, m.values[k:len(m.values):len(m.values)])
	}
	m.key = schema.AppendSeriesKey(m.key[:0], l.table.ID, l.tagIDs, m.tags)
	return m.key
}

// present is b, told from an absent tag also when it is empty.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// seriesMap gives series keys their numbers, in order of first appearance.
type seriesMap struct {
	numbers map[string]uint32
	entries []seriesEntry
	bytes   int64
}

func (s *seriesMap) number(key []byte, t schema.TableID) uint32 {
	if n, ok := s.numbers[string(key)]; ok {
		return n
	}
	if s.numbers == nil {
		s.numbers = map[string]uint32{}
	}
	if len(s.entries) == math.MaxUint32 {
		panic("memtable: more series than a number can name; the size limit comes long before")
	}
	k := string(key)
	n := uint32(len(s.entries))
	s.numbers[k] = n
	s.entries = append(s.entries, seriesEntry{k, t})
	s.bytes += int64(len(k)) + 80 // map slot and entry
	return n
}

// Freeze gives the rows as an immutable run. Nothing may be appended afterwards.
func (m *Memtable) Freeze() *Run { return m.Live() }

// Live gives a view of the rows appended so far.
func (m *Memtable) Live() *Run { return &Run{m.snap.Load()} }
