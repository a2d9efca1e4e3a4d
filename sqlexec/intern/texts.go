package intern

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"varve/engine/vector"
)

// inline is the length up to which texts are compared and hashed as words.
const inline = 24

// words are a text of up to inline bytes with zeros after it; of a longer one a hash, and zeros.
type words struct{ a, b, c uint64 }

const wordsBytes = inline

// textTable finds texts: open addressing, at most half full, slots by the high bits of hashes as in Table. A slot is
// the high half of a hash, and where the record of the text begins in the heap of values, plus one; 0 is free. Eight
// slots share a cache line, and a table that grows reads nothing else.
//
// A record is the text's number and its length, 4 bytes each, little endian, then the text.
type textTable struct {
	slots []uint64
	shift int
	n     int
	fill  int // 64ths of the slots that are taken at most
}

// header is the size of a record without its text.
const header = 8

func (t *textTable) init() {
	t.slots, t.shift, t.fill = make([]uint64, firstSlots), 64-bits.Len(firstSlots-1), 32
}

func (t *textTable) bytes() int64 { return int64(len(t.slots)) * 8 }

// masks[n] keeps the first n bytes of three words.
var masks = func() (m [inline + 1]words) {
	for n := range m {
		var b [inline]byte
		for i := range n {
			b[i] = 0xFF
		}
		m[n] = whole(&b)
	}
	return m
}()

// whole are 24 bytes as words.
func whole(b *[inline]byte) words {
	return words{binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:]),
		binary.LittleEndian.Uint64(b[16:])}
}

// longSeed is of the hashes of texts that are not inline.
var longSeed = maphash.MakeSeed()

// wordsOf loads the text heap[off:off+n].
func wordsOf(heap []byte, off, n uint32) words {
	switch {
	case n > inline:
		return words{a: maphash.Bytes(longSeed, heap[off:off+n])}
	case len(heap)-int(off) >= inline:
		w, m := whole((*[inline]byte)(heap[off:])), &masks[n]
		return words{w.a & m.a, w.b & m.b, w.c & m.c}
	}
	var b [inline]byte
	copy(b[:], heap[off:off+n])
	return whole(&b)
}

// hash spreads words and length over all bits.
func (w words) hash(n uint32) uint64 {
	hi, lo := bits.Mul64(w.a^seed[1], w.b^seed[2])
	hi, lo = bits.Mul64(hi^lo^w.c, seed[0]^uint64(n)<<32)
	return hi ^ lo
}

// load makes the words, keys and hashes of texts, and reports whether there are keys. What lies under a NULL is not
// read.
func load(all []words, keys, hashes []uint64, views []vector.View, heap []byte, valid vector.Bitmap) (some bool) {
	all, keys, hashes = all[:len(views)], keys[:len(views)], hashes[:len(views)]
	for i, v := range views {
		if valid != nil && !valid.Get(i) {
			keys[i], hashes[i] = 0, 0
			continue
		}
		w := wordsOf(heap, v.Off, v.Len)
		all[i] = w
		keys[i], hashes[i] = 0, w.hash(v.Len)
		if v.Len <= packable && w.a&letters == 0 {
			if key := pack(w.a, w.b, v.Len); key != 0 {
				keys[i], hashes[i] = key, mix(key)
				some = true
			}
		}
	}
	return some
}

// keyAndHash returns the key of a text of n bytes, 0 if it has none, and the hash: of the key, if there is one.
func (w *words) keyAndHash(n uint32) (key, hash uint64) {
	if n <= packable {
		if key := pack(w.a, w.b, n); key != 0 {
			return key, mix(key)
		}
	}
	return 0, w.hash(n)
}

// tag is what a slot keeps of a hash.
func tag(hash uint64) uint64 { return hash &^ (1<<32 - 1) }

// touch loads the slots of some hashes into the cache, all misses at once: see Table.touch.
func (t *textTable) touch(hashes []uint64, rows []uint32) (sum uint64) {
	slots, shift := t.slots, t.shift
	for _, r := range rows {
		sum += slots[hashes[r]>>shift]
	}
	return sum
}

// candidates writes, for each of some rows, where the first record of its tag begins, plus one, 0 for none, and loads
// the beginning and the end of what it would be compared with into the cache.
func (t *textTable) candidates(found []uint32, hashes []uint64, rows []uint32, views []vector.View,
	heap []byte) (sum uint64) {
	slots, shift := t.slots, t.shift
	mask := len(slots) - 1
	found = found[:len(rows)]
	for i, r := range rows {
		hash := hashes[r]
		at := int(hash>>shift) & mask
		s := slots[at]
		for s != 0 && (s^hash)>>32 != 0 {
			at = (at + 1) & mask
			s = slots[at]
		}
		found[i] = uint32(s)
		if s == 0 {
			continue
		}
		off := int(uint32(s) - 1)
		sum += uint64(heap[off])
		if end := off + header + int(views[r].Len); end < len(heap) {
			sum += uint64(heap[end])
		}
	}
	return sum
}

// find returns the number of a text with its hash, or the free slot where it belongs.
func (t *textTable) find(w *words, hash uint64, b, heap []byte) (id uint32, known bool, free int) {
	slots := t.slots
	mask := len(slots) - 1
	for at := int(hash >> t.shift); ; at++ {
		s := slots[at&mask]
		if s == 0 {
			return 0, false, at & mask
		}
		if (s^hash)>>32 == 0 {
			if id, ok := equal(heap[uint32(s)-1:], w, b); ok {
				return id, true, 0
			}
		}
	}
}

// equal compares the text of a record, which some heap begins with, and gives its number.
func equal(record []byte, w *words, b []byte) (id uint32, ok bool) {
	head := binary.LittleEndian.Uint64(record)
	n := len(b)
	switch {
	case int(head>>32) != n:
		return 0, false
	case n <= inline && len(record) >= header+inline:
		r, m := whole((*[inline]byte)(record[header:])), &masks[n]
		return uint32(head), (r.a&m.a^w.a)|(r.b&m.b^w.b)|(r.c&m.c^w.c) == 0
	}
	return uint32(head), bytes.Equal(record[header:header+n], b)
}

// take enters a text of that hash at a free slot; its record begins at off.
func (t *textTable) take(free int, hash uint64, off int) {
	t.slots[free] = tag(hash) | uint64(uint32(off)+1)
	if t.n++; t.n*64 > len(t.slots)*t.fill {
		t.grow()
	}
}

// grow doubles the table. Slots rise with hashes, so both tables are passed from the beginning to the end.
func (t *textTable) grow() {
	old := t.slots
	t.slots = make([]uint64, 2*len(old))
	t.shift--
	slots, shift := t.slots, t.shift
	mask := len(slots) - 1
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := int(s>>shift) & mask
		for slots[at] != 0 {
			at = (at + 1) & mask
		}
		slots[at] = s
	}
}
