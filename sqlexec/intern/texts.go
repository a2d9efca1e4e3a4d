package intern

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"varve/engine/vector"
)

// inline is the length up to which a text lies in its place of the table: comparing it touches no other memory.
const inline = 24

// words are a text of up to inline bytes with zeros after it; of a longer one a hash, and zeros.
type words struct{ a, b, c uint64 }

// text is a place of a textTable: 32 bytes, two of them in a cache line, none in two.
type text struct {
	words words  // of a longer text b is its offset in the heap of values
	len   uint32 // of the text
	id    uint32 // number + 1; 0 is free
}

// textTable finds texts: open addressing, at most 5/8 full, places by the high bits of hashes as in Table.
type textTable struct {
	slots []text
	shift int
	n     int
}

func (t *textTable) init() {
	t.slots, t.shift = make([]text, firstSlots), 64-bits.Len(firstSlots-1)
}

func (t *textTable) bytes() int64 { return int64(len(t.slots)) * 32 }

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
	return words{binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:])}
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

// hash spreads words and length over all bits. The words of a longer text are hashed as they are: a table that grows
// needs no text.
func (w words) hash(n uint32) uint64 {
	hi, lo := bits.Mul64(w.a^seed[1], w.b^seed[2])
	hi, lo = bits.Mul64(hi^lo^w.c, seed[0]^uint64(n)<<32)
	return hi ^ lo
}

// load makes the words and hashes of texts. What lies under a NULL is not read.
func load(all []words, hashes []uint64, views []vector.View, heap []byte, valid vector.Bitmap) {
	all, hashes = all[:len(views)], hashes[:len(views)]
	for i, v := range views {
		if valid != nil && !valid.Get(i) {
			hashes[i] = 0
			continue
		}
		w := wordsOf(heap, v.Off, v.Len)
		all[i] = w
		hashes[i] = w.hash(v.Len)
	}
}

// touch loads the places of some hashes into the cache, then the texts that lie elsewhere: see Table.touch.
func (t *textTable) touch(hashes []uint64, rows []uint32, heap []byte) (sum uint32) {
	slots, shift := t.slots, t.shift
	for _, r := range rows {
		sum += slots[hashes[r]>>shift].len
	}
	for _, r := range rows {
		if s := &slots[hashes[r]>>shift]; s.len > inline {
			sum += uint32(heap[s.words.b])
		}
	}
	return sum
}

// find is the place of a text with its words and hash, or the free place where it belongs.
func (t *textTable) find(w *words, hash uint64, b, heap []byte) *text {
	slots := t.slots
	mask := len(slots) - 1
	n := uint32(len(b))
	for at := int(hash >> t.shift); ; at++ {
		s := &slots[at&mask]
		switch {
		case s.id == 0:
			return s
		case s.len != n || s.words.a != w.a:
		case n > inline:
			if off := s.words.b; bytes.Equal(heap[off:off+uint64(n)], b) {
				return s
			}
		case s.words == *w:
			return s
		}
	}
}

// take makes s, a free place, that of a text whose bytes begin at off in the heap of values.
func (t *textTable) take(s *text, w *words, n uint32, off uint64, id uint32) {
	*s = text{*w, n, id + 1}
	if n > inline {
		s.words.b = off
	}
	if t.n++; t.n*8 > len(t.slots)*5 {
		t.grow()
	}
}

func (t *textTable) grow() {
	old := t.slots
	t.slots = make([]text, 2*len(old))
	t.shift--
	mask := len(t.slots) - 1
	for i := range old {
		s := &old[i]
		if s.id == 0 {
			continue
		}
		w := s.words
		if s.len > inline {
			w.b = 0
		}
		at := int(w.hash(s.len) >> t.shift)
		for t.slots[at&mask].id != 0 {
			at++
		}
		t.slots[at&mask] = *s
	}
}
