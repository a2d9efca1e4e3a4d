package entries

import (
	"hash/maphash"
	"slices"
	"sync"

	"varve/server/write/rows"
)

// maxBegun bounds the requests that are remembered.
const maxBegun = 1024

// Begun remembers requests that the store refused for a while, such as for want of memory, when a part of their entries
// was stored already. A sender whose protocol cannot name the stored entries sends the whole request again; the stored
// entries are then left out. Begun forgets requests at a restart, and when a table is dropped or emptied: their stored
// entries may be gone. Safe for concurrent use.
type Begun struct {
	seed      maphash.Seed
	pipelines rows.Pipelines

	mu     sync.Mutex     // protects what follows
	stored map[uint64]int // by request, how many of its entries are stored
	order  []uint64       // the requests, the oldest first
}

// NewBegun makes a Begun that remembers no request yet.
func NewBegun(p rows.Pipelines) *Begun {
	return &Begun{seed: maphash.MakeSeed(), pipelines: p, stored: map[uint64]int{}}
}

// request identifies a request that may be sent again. The zero value is never remembered.
type request struct {
	begun *Begun
	key   uint64
}

// request identifies a request by its texts: the address, the user, the database and the body.
func (b *Begun) request(texts ...[]byte) request {
	if b == nil {
		return request{}
	}
	var h maphash.Hash
	h.SetSeed(b.seed)
	maphash.WriteComparable(&h, b.pipelines.Removals())
	for _, text := range texts {
		maphash.WriteComparable(&h, len(text))
		h.Write(text) //nolint:errcheck // it never fails
	}
	return request{b, h.Sum64()}
}

// stored is the number of entries at the beginning of the request that are stored.
func (r request) stored() int {
	if r.begun == nil {
		return 0
	}
	r.begun.mu.Lock()
	defer r.begun.mu.Unlock()
	return r.begun.stored[r.key]
}

// note remembers that the first n entries of the request are stored; 0 forgets the request.
func (r request) note(n int) {
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
	if n == 0 {
		return
	}
	b.stored[r.key] = n
	if b.order = append(b.order, r.key); len(b.order) > maxBegun {
		delete(b.stored, b.order[0])
		b.order = b.order[1:]
	}
}
