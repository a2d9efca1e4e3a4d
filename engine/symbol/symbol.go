// Package symbol interns texts: each distinct text gets a number, is held once and is compared by its number.
package symbol

import (
	"hash/maphash"

	"varve/engine/vector"
)

// Table numbers texts from 0 on, in order of appearance. The zero Table is empty. One goroutine at a time while texts
// are added; otherwise any number of readers.
type Table struct {
	slots  []uint32 // open addressing by hash: 1 + number, 0: free; a power of two, at most two thirds full
	hashes []uint32 // by number
	views  []vector.View
	heap   []byte
}

// MaxBytes bounds the texts of a table together: their places have 32 bits.
const MaxBytes = 1<<32 - 1

var seed = maphash.MakeSeed()

// Len is the number of texts.
func (t *Table) Len() int { return len(t.views) }

// Bytes64 is the memory held.
func (t *Table) Bytes64() int64 {
	return int64(cap(t.heap)) + int64(cap(t.views))*8 + int64(cap(t.hashes)+cap(t.slots))*4
}

// Bytes is the text with a number. It lies in the table and is not to be changed.
func (t *Table) Bytes(n uint32) []byte {
	v := t.views[n]
	return t.heap[v.Off : v.Off+v.Len : v.Off+v.Len]
}

// Vector is the texts as a Flat vector of a type of bytes. It shares the table's memory and stays as it is when texts
// are added.
func (t *Table) Vector(typ vector.Type) *vector.Vector {
	n, size := len(t.views), len(t.heap)
	return &vector.Vector{Type: typ, Views: t.views[:n:n], Heap: t.heap[:size:size]}
}

// Find returns the number of a text that has one.
func (t *Table) Find(text []byte) (n uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	s := t.slots[t.slot(uint32(maphash.Bytes(seed, text)), text)]
	return s - 1, s != 0
}

// Add returns the number of a text. A new text is copied; ok is false if there is no room for it.
func (t *Table) Add(text []byte) (n uint32, ok bool) {
	if 3*(len(t.views)+1) > 2*len(t.slots) {
		t.slots = Doubled(t.slots, t.hashes)
	}
	h := uint32(maphash.Bytes(seed, text))
	at := t.slot(h, text)
	if s := t.slots[at]; s != 0 {
		return s - 1, true
	}
	if len(text) > MaxBytes-len(t.heap) {
		return 0, false
	}
	n = uint32(len(t.views))
	t.views = append(t.views, vector.View{Off: uint32(len(t.heap)), Len: uint32(len(text))})
	t.heap, t.hashes = append(t.heap, text...), append(t.hashes, h)
	t.slots[at] = n + 1
	return n, true
}

// slot finds the slot of a text, or the free slot for it.
func (t *Table) slot(h uint32, text []byte) int {
	mask := len(t.slots) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		s := t.slots[at]
		if s == 0 || t.hashes[s-1] == h && string(t.Bytes(s-1)) == string(text) {
			return at
		}
	}
}

// Doubled is a table of twice as many slots for numbers by their hashes: open addressing, 1 + number or 0: free, a
// power of two.
func Doubled(slots, hashes []uint32) []uint32 {
	slots = make([]uint32, max(16, 2*len(slots)))
	mask := len(slots) - 1
	for n, h := range hashes {
		at := int(h) & mask
		for slots[at] != 0 {
			at = (at + 1) & mask
		}
		slots[at] = uint32(n) + 1
	}
	return slots
}
