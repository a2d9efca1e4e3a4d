// Package intern numbers distinct values: the hash tables under GROUP BY, DISTINCT and COUNT(DISTINCT).
package intern

// Table maps 64-bit keys to 32-bit numbers, given out from 0 in order of appearance: open addressing, at most 5/8 full.
// One goroutine at a time.
type Table struct {
	keys []uint64
	vals []uint32 // number + 1; 0 is a free place
	n    int
}

// NewTable is an empty table.
func NewTable() *Table { return &Table{keys: make([]uint64, 64), vals: make([]uint32, 64)} }

// Len is the number of keys.
func (t *Table) Len() int { return t.n }

// Bytes is the memory held.
func (t *Table) Bytes() int64 { return int64(len(t.keys)) * 12 }

// mix spreads the bits of a key; the multiplier is 2^64 divided by the golden ratio.
func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	return x ^ x>>29
}

// Find gives the number of a key; a new key gets the next one.
func (t *Table) Find(key uint64) (id uint32, fresh bool) {
	mask := uint64(len(t.keys) - 1)
	at := mix(key) & mask
	for {
		switch v := t.vals[at]; {
		case v == 0:
			t.keys[at], t.vals[at] = key, uint32(t.n)+1
			if t.n++; t.n*8 > len(t.keys)*5 {
				t.grow()
			}
			return uint32(t.n - 1), true
		case t.keys[at] == key:
			return v - 1, false
		}
		at = (at + 1) & mask
	}
}

// Unknown stands for a key that Known does not find at once.
const Unknown = 1<<32 - 1

// Known gives the numbers of keys that lie at their first place, Unknown for all others: Find tells about these. The
// loads of different keys do not depend on each other, so their cache misses overlap.
func (t *Table) Known(keys []uint64, ids []uint32) {
	mask := uint64(len(t.keys) - 1)
	ids = ids[:len(keys)]
	for i, key := range keys {
		at := mix(key) & mask
		id := t.vals[at] - 1 // a free place gives Unknown
		if t.keys[at] != key {
			id = Unknown
		}
		ids[i] = id
	}
}

func (t *Table) grow() {
	keys, vals := t.keys, t.vals
	t.keys, t.vals = make([]uint64, 2*len(keys)), make([]uint32, 2*len(vals))
	mask := uint64(len(t.keys) - 1)
	for i, v := range vals {
		if v == 0 {
			continue
		}
		at := mix(keys[i]) & mask
		for t.vals[at] != 0 {
			at = (at + 1) & mask
		}
		t.keys[at], t.vals[at] = keys[i], v
	}
}

// Each calls f for every key, in no order.
func (t *Table) Each(f func(key uint64)) {
	for i, v := range t.vals {
		if v != 0 {
			f(t.keys[i])
		}
	}
}

// Pairs replaces ids[i] by the number of the pair (ids[i], part[i]).
func (t *Table) Pairs(ids, part []uint32) {
	part = part[:len(ids)]
	for i := range ids {
		ids[i], _ = t.Find(uint64(ids[i])<<32 | uint64(part[i]))
	}
}
