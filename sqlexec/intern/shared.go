package intern

import (
	"sync"

	"github.com/cespare/xxhash/v2"

	"varve/engine/vector"
)

// Shared is an Interner for several workers: values are spread over shards by their hash, and a worker holds one shard's
// lock at a time. Where distinct values are many, this costs one look-up a row, while tables of each worker's own would
// all have to be merged at the end. Safe for concurrent use through Workers.
type Shared struct {
	shards [shards]struct {
		mu sync.Mutex
		in *Interner
		_  [40]byte // a cache line of its own
	}
}

const (
	shardBits = 4
	shards    = 1 << shardBits
)

// NewShared is an empty shared interner of values of a type that compare by their bytes.
func NewShared(t vector.Type) *Shared {
	s := &Shared{}
	for i := range s.shards {
		s.shards[i].in = New(t, nil)
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

// Shards is the number of pieces that Values comes in.
const Shards = shards

// Values gives the values of piece i, Flat, with their numbers. Only when no worker is at work any more.
func (s *Shared) Values(i int) (numbers []uint32, values *vector.Vector) {
	in := s.shards[i].in
	numbers = make([]uint32, in.n)
	for k := range numbers {
		numbers[k] = uint32(k)<<shardBits | uint32(i)
	}
	return numbers, in.Values
}

// Worker interns into a Shared. One goroutine at a time.
type Worker struct {
	s      *Shared
	first  int // the shard it begins with, so that workers do not queue behind each other
	hashes []uint64
	some   []uint64 // hashes of the rows at hand
	order  []uint32 // rows by shard
	part   vector.Vector
	ids    []uint32
	dict   *vector.Vector
	codes  []uint32 // numbers of the dictionary's codes + 1
}

// Bytes is about the memory of the shared values that falls to this worker, if there are two of them.
func (w *Worker) Bytes() int64 { return w.s.Bytes() / 2 }

// Worker makes the k'th worker.
func (s *Shared) Worker(k int) *Worker { return &Worker{s: s, first: k * shards / 2 % shards} }

// Intern writes the numbers of n rows of v, of any form, into ids. Numbers have gaps: those of n distinct values are
// below about n plus a few per cent.
func (w *Worker) Intern(v *vector.Vector, n int, ids []uint32) {
	switch v.Form {
	case vector.Const:
		w.flat(v.Flatten(1), 1, ids[:1])
		for i := range ids[:n] {
			ids[i] = ids[0]
		}
	case vector.Dict:
		w.dictionary(v, n, ids)
	default:
		w.flat(v, n, ids)
	}
}

// dictionary looks a dictionary's values up when it comes first.
func (w *Worker) dictionary(v *vector.Vector, n int, ids []uint32) {
	if w.dict != v.Values {
		w.dict = v.Values
		size := v.Values.Len()
		w.codes = append(w.codes[:0], make([]uint32, size)...)
		for from := 0; from < size; from += vector.Size {
			to := min(from+vector.Size, size)
			w.flat(v.Values.Slice(from, to), to-from, w.codes[from:to])
		}
	}
	null := uint32(0)
	if v.Valid != nil {
		one := []uint32{0}
		w.flat(vector.ConstNull(v.Type).Flatten(1), 1, one)
		null = one[0]
	}
	for i, c := range v.Codes[:n] {
		if v.Valid != nil && v.IsNull(i) {
			ids[i] = null
			continue
		}
		ids[i] = w.codes[c]
	}
}

// flat sorts the rows by shard, then interns the rows of each shard under its lock.
func (w *Worker) flat(v *vector.Vector, n int, ids []uint32) {
	if cap(w.hashes) < n {
		w.hashes, w.order, w.ids = make([]uint64, n), make([]uint32, n), make([]uint32, n)
	}
	hashes := w.hashes[:n]
	hash(v, hashes)
	var ends [shards + 1]int
	for _, h := range hashes {
		ends[h>>(64-shardBits)+1]++
	}
	for i := range shards {
		ends[i+1] += ends[i]
	}
	at := ends
	for i, h := range hashes {
		k := h >> (64 - shardBits)
		w.order[at[k]] = uint32(i)
		at[k]++
	}
	for k := range shards {
		k = (k + w.first) % shards
		rows := w.order[ends[k]:ends[k+1]]
		if len(rows) == 0 {
			continue
		}
		w.part.Gather(v, rows)
		w.some = w.some[:0]
		for _, r := range rows {
			w.some = append(w.some, hashes[r])
		}
		sh := &w.s.shards[k]
		sh.mu.Lock()
		if sh.in.kind == vector.Bytes && w.part.Valid == nil {
			sh.in.flatTexts(&w.part, len(rows), w.ids, w.some)
		} else {
			sh.in.Intern(&w.part, len(rows), w.ids)
		}
		sh.mu.Unlock()
		for i, r := range rows {
			ids[r] = w.ids[i]<<shardBits | uint32(k)
		}
	}
}

// hash gives a hash of each row; NULLs, NaNs and both zeros each have one.
func hash(v *vector.Vector, out []uint64) {
	switch v.Type.Kind() {
	case vector.Bool:
		for i := range out {
			out[i] = 0
			if v.Bools.Get(i) {
				out[i] = mix(1)
			}
		}
	case vector.Int64:
		for i, x := range v.Ints[:len(out)] {
			out[i] = mix(uint64(x)) * 0x9E3779B97F4A7C15
		}
	case vector.Uint64:
		for i, x := range v.Uints[:len(out)] {
			out[i] = mix(x) * 0x9E3779B97F4A7C15
		}
	case vector.Float64:
		for i, x := range v.Floats[:len(out)] {
			out[i] = mix(floatKey(x)) * 0x9E3779B97F4A7C15
		}
	default:
		for i, w := range v.Views[:len(out)] {
			out[i] = xxhash.Sum64(v.Heap[w.Off : w.Off+w.Len])
		}
	}
	if v.Valid != nil {
		for i := range out {
			if !v.Valid.Get(i) {
				out[i] = 0
			}
		}
	}
}
