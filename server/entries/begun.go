package entries

import (
	"hash/maphash"
	"slices"
	"sync"
)

// maxBegun bounds the requests that are remembered.
const maxBegun = 1024

// Begun remembers requests of which a part was stored before the rest was refused for a time, for want of memory say.
// Where the answer cannot tell which, their senders send them again whole: what is stored is not stored again then. A
// restart forgets them. Safe for concurrent use.
type Begun struct {
	seed maphash.Seed

	mu     sync.Mutex // protects what follows
	stored map[uint64]int
	order  []uint64 // the oldest first
}

// NewBegun remembers none yet.
func NewBegun() *Begun { return &Begun{seed: maphash.MakeSeed(), stored: map[uint64]int{}} }

// request is one that may be sent again. The zero value is remembered by nobody.
type request struct {
	begun *Begun
	key   uint64
}

// request is that of some texts: what it asks for, who sends it, and its body.
func (b *Begun) request(texts ...[]byte) request {
	if b == nil {
		return request{}
	}
	var h maphash.Hash
	h.SetSeed(b.seed)
	for _, text := range texts {
		maphash.WriteComparable(&h, len(text))
		h.Write(text) //nolint:errcheck // it never fails
	}
	return request{b, h.Sum64()}
}

// stored is the place up to which the entries of the request are stored.
func (r request) stored() int {
	if r.begun == nil {
		return 0
	}
	r.begun.mu.Lock()
	defer r.begun.mu.Unlock()
	return r.begun.stored[r.key]
}

// note notes that the entries are stored up to a place; 0: the request is dealt with.
func (r request) note(place int) {
	if r.begun == nil {
		return
	}
	b := r.begun
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stored[r.key] > 0 {
		b.order = slices.DeleteFunc(b.order, func(key uint64) bool { return key == r.key })
		delete(b.stored, r.key)
	}
	if place == 0 {
		return
	}
	b.stored[r.key] = place
	if b.order = append(b.order, r.key); len(b.order) > maxBegun {
		delete(b.stored, b.order[0])
		b.order = b.order[1:]
	}
}
