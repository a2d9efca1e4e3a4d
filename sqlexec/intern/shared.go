package intern

import (
	"sync"

	"varve/engine/vector"
)

// Shared is an Interner for several workers. Values are distributed to shards by their hash, and a worker holds the
// lock of one shard at a time. With many distinct values this costs one lookup for each row; separate tables of the
// workers would have to be merged at the end. Safe for concurrent use through Workers.
type Shared struct {
	shards [Shards]struct {
		mu sync.Mutex
		in *Interner
		_  [40]byte // a cache line of its own
	}
}

const shardBits = 4

// Shards is the number of shards that Values come in.
const Shards = 1 << shardBits

// NewShared is an empty shared interner of values of a type that compare by their bytes.
func NewShared(t vector.Type) *Shared {
	s := &Shared{}
	for i := range s.shards {
		s.shards[i].in = New(t, nil)
		s.shards[i].in.stagger(i)
	}
	return s
}

// Bytes is about the memory held.
func (s *Shared) Bytes() int64 {
	var n int64
	for i := range s.shards {
		s.shards[i].mu.Lock()
		n += s.shards[i].in.Bytes()
		s.shards[i].mu.Unlock()
	}
	return n
}

// Values returns the values of shard i, Flat, with their numbers. Only when no worker is at work any more.
func (s *Shared) Values(i int) (numbers []uint32, values *vector.Vector) {
	in := s.shards[i].in
	numbers = make([]uint32, in.n)
	for k := range numbers {
		numbers[k] = uint32(k)<<shardBits | uint32(i)
	}
	return numbers, in.Values
}

// Gather returns the values of numbers, Flat. Only when no worker is at work any more.
func (s *Shared) Gather(numbers []uint32) *vector.Vector {
	v := &vector.Vector{Type: s.shards[0].in.Values.Type}
	if v.Type.Kind() == vector.Bytes && s.whole() {
		v.Views = make([]vector.View, 0, len(numbers))
		for _, x := range numbers {
			v.PushBytes(s.shards[x%Shards].in.Values.Bytes(int(x >> shardBits)))
		}
		return v
	}
	for i, x := range numbers {
		at := int(x >> shardBits)
		v.Append(i, s.shards[x%Shards].in.Values, at, at+1)
	}
	return v
}

// whole reports whether there is no NULL.
func (s *Shared) whole() bool {
	for i := range s.shards {
		if s.shards[i].in.null >= 0 {
			return false
		}
	}
	return true
}

// Worker interns into a Shared. One goroutine at a time.
type Worker struct {
	s      *Shared
	first  int // the shard it begins with, so that workers do not queue behind each other
	probe  probe
	recent recent
	rows   []uint32 // rows whose values are not among the recent ones
	order  []uint32 // the same by shard

	dict    *vector.Vector // the last one seen
	codes   []uint32       // numbers of its codes + 1; 0 is not looked up yet
	fresh   []uint32       // scratch: codes that are looked up for the first time
	numbers []uint32       // of those
	part    vector.Vector  // their values
}

// Bytes is about the memory of the shared values that falls to this worker, if there are two of them.
func (w *Worker) Bytes() int64 { return w.s.Bytes() / 2 }

// Worker makes the k'th worker.
func (s *Shared) Worker(k int) *Worker { return &Worker{s: s, first: k * Shards / 2 % Shards} }

// Intern writes the numbers of n rows of v, of any form, into ids. Numbers have gaps: those of n distinct values are
// below about n plus a few per cent.
func (w *Worker) Intern(v *vector.Vector, n int, ids []uint32) {
	switch v.Form {
	case vector.Const:
		w.flat(v.Flatten(1), 1, ids[:1])
		fill(ids[:n], ids[0])
	case vector.Dict:
		w.dictionary(v, n, ids)
	default:
		w.flat(v, n, ids)
	}
}

// dictionary looks up the values of codes that come for the first time: of a dictionary's values only those count that
// rows have.
func (w *Worker) dictionary(v *vector.Vector, n int, ids []uint32) {
	if w.dict != v.Values {
		w.dict = v.Values
		w.codes = zeros(w.codes, v.Values.Len())
	}
	codes := v.Codes[:n]
	if v.Valid == nil && mapCodes(ids, codes, w.codes) {
		return
	}
	w.fresh = w.fresh[:0]
	nulls := false
	for i, c := range codes {
		switch {
		case v.IsNull(i):
			nulls = true
		case w.codes[c] == 0:
			w.codes[c] = 1 // once in the list
			w.fresh = append(w.fresh, c)
		}
	}
	if len(w.fresh) > 0 {
		w.part.Gather(v.Values, w.fresh)
		w.numbers = vector.Sized(w.numbers, len(w.fresh))
		w.flat(&w.part, len(w.fresh), w.numbers)
		for i, c := range w.fresh {
			w.codes[c] = w.numbers[i] + 1
		}
	}
	if !nulls {
		mapCodes(ids, codes, w.codes)
		return
	}
	null := []uint32{0}
	w.flat(vector.ConstNull(v.Type).Flatten(1), 1, null)
	for i, c := range codes {
		if v.IsNull(i) {
			ids[i] = null[0]
		} else {
			ids[i] = w.codes[c] - 1
		}
	}
}

// flat looks rows up among the recent ones, sorts the others by shard, and interns the rows of each shard under its
// lock.
func (w *Worker) flat(v *vector.Vector, n int, ids []uint32) {
	p := &w.probe
	p.load(v, n, nil)
	if v.Valid != nil {
		for i := range p.hashes {
			if !v.Valid.Get(i) {
				p.hashes[i] = 0
			}
		}
	}
	w.rows = w.recent.known(vector.Sized(w.rows, n), p, n, ids)
	w.order = vector.Sized(w.order, len(w.rows))
	ends := byShard(w.order, w.rows, p.hashes)
	for k := range Shards {
		k = (k + w.first) % Shards
		rows := w.order[ends[k]:ends[k+1]]
		if len(rows) == 0 {
			continue
		}
		sh := &w.s.shards[k]
		sh.mu.Lock()
		known := uint32(sh.in.n)
		sh.in.lookup(p, rows, ids)
		sh.mu.Unlock()
		again := rows[:0]
		for _, r := range rows {
			id := ids[r]
			ids[r] = id<<shardBits | uint32(k)
			if id < known {
				again = append(again, r)
			}
		}
		w.recent.note(p, again, ids)
	}
}

// byShard orders rows by shard, which the low bits of hashes select: the rows of shard k are order[ends[k]:ends[k+1]].
func byShard(order, rows []uint32, hashes []uint64) (ends [Shards + 1]int) {
	for _, r := range rows {
		ends[hashes[r]%Shards+1]++
	}
	for i := range Shards {
		ends[i+1] += ends[i]
	}
	at := ends
	for _, r := range rows {
		k := hashes[r] % Shards
		order[at[k]] = r
		at[k]++
	}
	return ends
}
