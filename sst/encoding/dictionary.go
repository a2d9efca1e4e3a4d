package encoding

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"varve/engine/vector"
)

// Limits of a part's dictionary of one column. Beyond them codes are hardly narrower than what zstd makes of the
// strings, and the dictionary becomes something that has to be loaded.
const (
	MaxShared      = 4096
	maxSharedBytes = 512 << 10
	// MaxInverted is the limit for columns that DDL asked to index by value: readers accept as many.
	MaxInverted = 1 << 16
)

// Dictionary numbers the distinct byte strings of a column in order of appearance. One goroutine at a time.
type Dictionary struct {
	Views []vector.View
	Heap  []byte
	limit int
	bytes int
	slots []slot
	// Refused counts the blocks whose values did not fit.
	Refused int
	learnt  learnt // of the column's text
	asked   bool   // new values are taken as long as there is room
}

type slot struct {
	hash uint32
	code uint32 // 0: free; else code+1
}

var seed = maphash.MakeSeed()

// NewDictionary is an empty dictionary that takes limit values of together maxBytes bytes.
func NewDictionary(limit, maxBytes int) *Dictionary {
	return &Dictionary{limit: limit, bytes: maxBytes}
}

// NewShared is an empty dictionary for a whole part, of at most so many values: MaxShared usually, MaxInverted at most.
func NewShared(values int) *Dictionary {
	d := NewDictionary(values, maxSharedBytes*max(1, values/MaxShared))
	d.asked = values > MaxShared
	return d
}

// Len is the number of values.
func (d *Dictionary) Len() int { return len(d.Views) }

// Closed reports whether the dictionary has refused so many blocks that trying another costs more than it is likely to
// bring.
func (d *Dictionary) Closed() bool { return d.Refused >= maxRefused }

// Close has no block tried any more.
func (d *Dictionary) Close() { d.Refused = maxRefused }

// Bytes is value i.
func (d *Dictionary) Bytes(i int) []byte {
	w := d.Views[i]
	return d.Heap[w.Off : w.Off+w.Len]
}

// Bytes64 is the memory held.
func (d *Dictionary) Bytes64() int64 { return int64(8*len(d.slots) + 8*cap(d.Views) + cap(d.Heap)) }

// Reset empties the dictionary and keeps its buffers.
func (d *Dictionary) Reset() {
	d.Views, d.Heap = d.Views[:0], d.Heap[:0]
	clear(d.slots)
}

// probeRows is the number of rows after which a block that is nearly all new values is given up.
const probeRows = 256

// fewValues is the number of new values, of together fewBytes, that a dictionary takes however few rows there are:
// where there are few in a block there are thousands of columns.
const (
	fewValues = 8
	fewBytes  = 1 << 10
)

// Codes appends the code of every string to codes, adding new values. When they do not fit, or when so many of the
// block are new that the dictionary would not pay, everything is as before and ok is false.
func (d *Dictionary) Codes(codes []uint32, views []vector.View, heap []byte) (_ []uint32, ok bool) {
	from, heapFrom := len(d.Views), len(d.Heap)
	mark := len(codes)
	for i, w := range views {
		s := heap[w.Off : w.Off+w.Len]
		c, fresh := d.code(s)
		if fresh {
			added := len(d.Views) - from
			if len(d.Views) > d.limit || len(d.Heap) > d.bytes ||
				!d.asked && i >= probeRows && added > i/4+probeRows/2 {
				d.truncate(from, heapFrom)
				return codes[:mark], false
			}
		}
		codes = append(codes, c)
	}
	few := len(d.Views) <= from+fewValues && len(d.Heap) <= heapFrom+fewBytes
	if added := len(d.Views) - from; !d.asked && !few && added > len(views)/2 {
		d.truncate(from, heapFrom)
		return codes[:mark], false
	}
	return codes, true
}

// begin is Codes of an empty dictionary, in the memory of spare, which is emptied: of thousands of columns few have a
// dictionary, and each would keep what it took to find that out.
func (d *Dictionary) begin(spare *Dictionary, codes []uint32, views []vector.View, heap []byte) (_ []uint32, ok bool) {
	spare.limit, spare.bytes, spare.asked = d.limit, d.bytes, d.asked
	if codes, ok = spare.Codes(codes, views, heap); ok {
		d.Views, d.Heap, d.slots = slices.Clone(spare.Views), slices.Clone(spare.Heap), spare.slots
		d.rehash(max(64, 1<<bits.Len(uint(2*d.Len()))))
	}
	spare.Reset()
	return codes, ok
}

// Code finds or adds a value, whatever the limits.
func (d *Dictionary) Code(s []byte) uint32 {
	c, _ := d.code(s)
	return c
}

// Find finds a value. Safe for concurrent use as long as nothing is added.
func (d *Dictionary) Find(s []byte) (code uint32, ok bool) {
	if d.Len() == 0 {
		return 0, false
	}
	_, c := d.probe(s, uint32(maphash.Bytes(seed, s)))
	return c - 1, c != 0
}

// probe finds where the slot of a value of a hash is or belongs, and its code + 1; 0: it is not there.
func (d *Dictionary) probe(s []byte, hash uint32) (at, code uint32) {
	mask := uint32(len(d.slots) - 1)
	for at = hash & mask; ; at = (at + 1) & mask {
		x := d.slots[at]
		if x.code == 0 {
			return at, 0
		}
		if x.hash == hash {
			w := d.Views[x.code-1]
			if string(d.Heap[w.Off:w.Off+w.Len]) == string(s) {
				return at, x.code
			}
		}
	}
}

// code finds or adds a value.
func (d *Dictionary) code(s []byte) (code uint32, fresh bool) {
	if d.slots == nil {
		d.slots = make([]slot, 64)
	}
	h := uint32(maphash.Bytes(seed, s))
	at, have := d.probe(s, h)
	if have != 0 {
		return have - 1, false
	}
	c := uint32(len(d.Views))
	d.Views = append(d.Views, vector.View{Off: uint32(len(d.Heap)), Len: uint32(len(s))})
	d.Heap = append(d.Heap, s...)
	d.slots[at] = slot{h, c + 1}
	if len(d.Views)*2 > len(d.slots) {
		d.rehash(len(d.slots) * 2)
	}
	return c, true
}

func (d *Dictionary) rehash(n int) {
	old := d.slots
	d.slots = make([]slot, n)
	mask := uint32(n - 1)
	for _, s := range old {
		if s.code == 0 {
			continue
		}
		at := s.hash & mask
		for d.slots[at].code != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = s
	}
}

// truncate takes back all values from number n on.
func (d *Dictionary) truncate(n, heap int) {
	d.Views, d.Heap = d.Views[:n], d.Heap[:heap]
	if n == 0 {
		clear(d.slots)
		return
	}
	old := d.slots
	d.slots = make([]slot, len(old))
	mask := uint32(len(old) - 1)
	for _, s := range old {
		if s.code == 0 || int(s.code) > n {
			continue
		}
		at := s.hash & mask
		for d.slots[at].code != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = s
	}
}

// AppendDictionary appends the dictionary itself, as a column of values: what Decoder.Dictionary reads.
func (e *Encoder) AppendDictionary(dst []byte, d *Dictionary) []byte {
	return e.appendPlain(dst, d.Views, d.Heap)
}

// Dictionary reads what AppendDictionary wrote: n values of type t, in memory of their own.
func (d *Decoder) Dictionary(src []byte, t vector.Type, n int) (*vector.Vector, error) {
	if n > MaxInverted || t.Kind() != vector.Bytes {
		return nil, malformed("dictionary of %d values of %s", n, t)
	}
	v := &vector.Vector{Type: t}
	r := d.read(src)
	d.decodePlain(r, v, n, true)
	r.end()
	return v, r.err
}
