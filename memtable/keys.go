package memtable

import (
	"bytes"

	"varve/engine/schema"
	"varve/engine/vector"
)

// keyMaker makes series keys. What it gave last is in key, until it makes the next.
type keyMaker struct {
	key   []byte
	value []byte // scratch: a tag that is no text
}

// rowKey makes the series key of a row.
func (m *keyMaker) rowKey(l *layout, b *vector.Batch, row int) []byte {
	m.key = append(m.key[:0], l.prefix...)
	for k, f := range l.tags {
		if f < 0 {
			continue
		}
		c, absent := b.Cols[f], l.absent[k]
		if c.IsNull(row) {
			if absent != nil {
				m.key = schema.AppendKeyNull(m.key, l.tagIDs[k])
			}
			continue
		}
		var value []byte
		if c.Type.Kind() == vector.Bytes {
			value = c.Bytes(row)
		} else {
			m.value = schema.AppendTag(m.value[:0], c, row)
			value = m.value
		}
		// a series has one key, whether its rows are older than the tag or not
		if absent == nil || !bytes.Equal(value, absent) {
			m.key = schema.AppendKeyTag(m.key, l.tagIDs[k], value)
		}
	}
	return m.key
}

// EachKey calls f with the series key of each row of a batch, as Append takes it; rows that are of the series of the
// row before are passed over. The key is valid during the call.
func EachKey(t *schema.Table, fields []vector.Field, b *vector.Batch, f func(row int, key []byte)) {
	if b.N == 0 {
		return
	}
	l := newLayout(t, fields)
	var m keyMaker
	f(0, m.rowKey(l, b, 0))
	if alike(l, b) {
		return
	}
	var last []byte
	for r := 1; r < b.N; r++ {
		last = append(last[:0], m.key...)
		if key := m.rowKey(l, b, r); !bytes.Equal(key, last) {
			f(r, key)
		}
	}
}

// EachKey calls f with the key of each series that has rows. Those that come meanwhile may be left out.
func (m *Memtable) EachKey(f func(key []byte)) {
	m.mu.Lock()
	numbers := m.seen.AppendRows(nil)
	m.mu.Unlock()
	m.registry.mu.RLock()
	v := m.registry.snapshot()
	m.registry.mu.RUnlock()
	for _, n := range numbers {
		f(v.key(n))
	}
}

// EachKey calls f with the key of each series. Those that come meanwhile may be left out.
func (r *Registry) EachKey(f func(key []byte)) {
	r.mu.RLock()
	v := r.snapshot()
	r.mu.RUnlock()
	for n := range v.places {
		f(v.key(uint32(n)))
	}
}
