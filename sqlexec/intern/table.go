// Package intern numbers distinct values: the hash tables of GROUP BY, DISTINCT and COUNT(DISTINCT). Equal values have
// one number. Numbers are dense and rise in the order of first appearance, except in Shared.
//
//	table.go texts.go direct.go     64-bit keys, texts, small integers
//	interner.go probe.go packed.go  vectors: keys of rows, short texts as keys
//	pairs.go                        two numbers as one
//	shared.go recent.go             one set for several workers
//	hasher.go                       hashes of rows of several keys
package intern

import (
	"iter"
	"math/bits"
	"math/rand/v2"

	"varve/engine/vector"
)

// Table maps 64-bit keys to 32-bit numbers that the caller gives: open addressing, at most 5/8 full. Slots are the high
// bits of hashes, so that a table grows from its beginning to its end. One goroutine at a time.
type Table struct {
	slots []slot
	shift int // of a hash: 64 less the bits of a slot
	n     int
	fill  int // 64ths of the slots that are taken at most
}

// fullest is the fill of a table, 5/8; staggeredFill that of the first of several shards, the last has 15 more.
const (
	fullest       = 40
	staggeredFill = 32
)

// slot is 16 bytes: four of them in a cache line, none in two.
type slot struct {
	key uint64
	id  uint32 // number + 1; 0 is free
	_   uint32
}

// firstSlots is the size of an empty table.
const firstSlots = 64

// NewTable is an empty table.
func NewTable() *Table {
	return &Table{slots: make([]slot, firstSlots), shift: 64 - bits.Len(firstSlots-1), fill: fullest}
}

// Len is the number of keys.
func (t *Table) Len() int { return t.n }

// Bytes is the memory held.
func (t *Table) Bytes() int64 { return int64(len(t.slots)) * 16 }

// seed makes the hashes differ from process to process, so that nobody can send keys that all share one slot.
var seed = [3]uint64{rand.Uint64() | 1, rand.Uint64(), rand.Uint64()}

// mix spreads the bits of a key over all bits of a hash.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x^seed[1], 0x9E3779B97F4A7C15)
	return (hi ^ lo) * seed[0]
}

// Find returns the number of a key; a new key gets the number next.
func (t *Table) Find(key uint64, next uint32) (id uint32, fresh bool) {
	return t.find(key, mix(key), next)
}

func (t *Table) find(key, hash uint64, next uint32) (id uint32, fresh bool) {
	slots := t.slots
	mask := len(slots) - 1
	for at := int(hash >> t.shift); ; at++ {
		s := &slots[at&mask]
		if s.id == 0 {
			s.key, s.id = key, next+1
			if t.n++; t.n*64 > len(slots)*t.fill {
				t.grow()
			}
			return next, true
		}
		if s.key == key {
			return s.id - 1, false
		}
	}
}

// Batch is the memory that entering many keys at a time takes.
type Batch struct {
	hashes []uint64
	all    []uint32 // 0, 1, 2, ..
	fresh  []uint32
	sink   uint32 // keeps loads that only touch memory
}

// Add enters keys and gives the places in keys of those that were not there, valid until the next call.
func (b *Batch) Add(t *Table, keys []uint64) (fresh []uint32) {
	b.hashes = vector.Sized(b.hashes, len(keys))
	for i, k := range keys {
		b.hashes[i] = mix(k)
	}
	for len(b.all) < len(keys) {
		b.all = append(b.all, uint32(len(b.all)))
	}
	b.fresh = b.fresh[:0]
	for rows := b.all[:len(keys)]; len(rows) > 0; {
		some := rows[:min(touched, len(rows))]
		rows = rows[len(some):]
		if t.Bytes() > inCache {
			b.sink += t.touch(b.hashes, some)
		}
		for _, r := range some {
			if _, isNew := t.find(keys[r], b.hashes[r], 0); isNew {
				b.fresh = append(b.fresh, r)
			}
		}
	}
	return b.fresh
}

func (t *Table) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	t.shift--
	mask := len(t.slots) - 1
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		at := int(mix(s.key) >> t.shift)
		for t.slots[at&mask].id != 0 {
			at++
		}
		t.slots[at&mask] = s
	}
}

// touch loads the slots of some hashes into the cache, all misses at once: looked up one after the other, each would
// wait for the branches of the one before. What it gives has no meaning.
func (t *Table) touch(hashes []uint64, rows []uint32) (sum uint32) {
	slots, shift := t.slots, t.shift
	for _, r := range rows {
		sum += slots[hashes[r]>>shift].id
	}
	return sum
}

// inCache is the size in bytes up to which a table is taken to lie in a core's own cache: there is nothing to touch.
const inCache = 256 << 10

// Keys returns every key, in no order.
func (t *Table) Keys() iter.Seq[uint64] {
	return func(yield func(key uint64) bool) {
		for _, s := range t.slots {
			if s.id != 0 && !yield(s.key) {
				return
			}
		}
	}
}
