package memtable

import (
	"slices"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/vector"
)

// Ref names a series to which rows are appended again and again, by its key. It remembers the series' number, so that
// only the first rows in a registry are looked up. Safe for concurrent use.
type Ref struct {
	key []byte
	at  atomic.Uint64 // id of the registry << 32 | number; 0: in none
}

// Name makes the ref stand for a key, which it keeps. The ref must not have been used before.
func (r *Ref) Name(key []byte) { r.key = key }

// Key is the series key. It must not be changed.
func (r *Ref) Key() []byte { return r.key }

// registries counts registries: their ids.
var registries atomic.Uint32

// numberOf numbers the series of a ref. The caller holds r.mu for writing.
func (r *Registry) numberOf(ref *Ref) uint32 {
	if at := ref.at.Load(); uint32(at>>32) == r.id {
		return uint32(at)
	}
	n := r.number(ref.key)
	ref.at.Store(uint64(r.id)<<32 | uint64(n))
	return n
}

// AppendSeries is Append for a batch without tags: rows [ends[i-1], ends[i]) belong to refs[i], beginning with row 0.
// t is the table of all series, or the physical table of the tables that their keys name.
func (m *Memtable) AppendSeries(seq uint64, t *schema.Table, fields []vector.Field, b *vector.Batch, refs []*Ref,
	ends []int) {
	if b.N == 0 {
		return
	}
	added := cut(seq, schema.KindPut, m.layoutOf(t, fields), b, false)
	numbers := make([]uint32, b.N)
	m.mu.Lock()
	defer m.mu.Unlock()
	series := m.numberRefs(numbers, refs, ends)
	at := 0
	for _, c := range added {
		c.setSeries(numbers[at : at+c.n : at+c.n])
		at += c.n
	}
	m.publish(added, series, b.N)
}

// numberRefs fills in the series numbers of rows.
func (m *Memtable) numberRefs(numbers []uint32, refs []*Ref, ends []int) seriesSnapshot {
	r := m.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.Bytes()
	at := 0
	for i, ref := range refs {
		n := r.numberOf(ref)
		m.note(n)
		m.rowsOf[r.owners[n]] += int64(ends[i] - at)
		for ; at < ends[i]; at++ {
			numbers[at] = n
		}
	}
	m.added.Add(r.Bytes() - before)
	return r.snapshot()
}

// setSeries sets the series of the rows of a new chunk.
func (c *chunk) setSeries(numbers []uint32) {
	c.oneSeries, c.loSeries, c.hiSeries = numbers[0], slices.Min(numbers), slices.Max(numbers)
	if c.loSeries != c.hiSeries {
		c.series = numbers
		c.bytes += int64(4 * c.n)
	}
}
