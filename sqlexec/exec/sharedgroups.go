package exec

import (
	"context"
	"sync/atomic"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/intern"
)

// sharedGroups numbers groups for all workers together, those of several keys by their keys as one text. Numbers have
// gaps. Safe for concurrent use through workers.
type sharedGroups struct {
	whole   *intern.Shared   // of the key, or of the texts of several keys
	packing *packing         // nil: one key
	columns []*intern.Shared // by key: of the values that have codes, else nil
}

// newSharedGroups makes shared groups for keys of which a worker has some groups.
func newSharedGroups(keys []expr.Expr, own *groups) *sharedGroups {
	if len(keys) == 1 {
		return &sharedGroups{whole: intern.NewShared(keys[0].Type())}
	}
	types := make([]vector.Type, len(keys))
	for i, k := range keys {
		types[i] = k.Type()
	}
	s := &sharedGroups{whole: intern.NewShared(vector.BinaryType), packing: newPacking(types, own),
		columns: make([]*intern.Shared, len(keys))}
	for k, form := range s.packing.forms {
		if form == packedCode {
			s.columns[k] = intern.NewShared(types[k])
		}
	}
	return s
}

// groupsWorker is a worker's way to shared groups. One goroutine at a time.
type groupsWorker struct {
	whole   *intern.Worker
	columns []*intern.Worker
	packer  *packer // nil: one key
}

func (s *sharedGroups) worker(at int) *groupsWorker {
	w := &groupsWorker{whole: s.whole.Worker(at)}
	if s.packing == nil {
		return w
	}
	w.packer, w.columns = newPacker(s.packing), make([]*intern.Worker, len(s.columns))
	for k, c := range s.columns {
		if c != nil {
			w.columns[k] = c.Worker(at)
		}
	}
	return w
}

// number writes the groups of n rows into ids.
func (w *groupsWorker) number(keys []*vector.Vector, n int, ids []uint32) {
	p := w.packer
	if p == nil {
		w.whole.Intern(keys[0], n, ids)
		return
	}
	for k, c := range w.columns {
		if c != nil {
			p.codes[k] = vector.Sized(p.codes[k], n)
			c.Intern(keys[k], n, p.codes[k])
		}
	}
	w.whole.Intern(p.pack(keys, n), n, ids)
}

// bytes is about the memory of the groups that falls to this worker.
func (w *groupsWorker) bytes() int64 {
	n := w.whole.Bytes()
	for _, c := range w.columns {
		if c != nil {
			n += c.Bytes()
		}
	}
	return n
}

// keys returns shard i of the groups, of intern.Shards: their numbers and, for each key column, their values. Only when
// no worker is at work any more.
func (s *sharedGroups) keys(i int) (numbers []uint32, values []*vector.Vector) {
	numbers, v := s.whole.Values(i)
	return numbers, s.members(v, len(numbers))
}

// numbers are those of the groups of shard i, as in keys.
func (s *sharedGroups) numbers(i int) []uint32 {
	numbers, _ := s.whole.Values(i)
	return numbers
}

// gather are the keys of some groups. Only when no worker is at work any more.
func (s *sharedGroups) gather(numbers []uint32) []*vector.Vector {
	return s.members(s.whole.Gather(numbers), len(numbers))
}

// members are the values of the keys of n groups.
func (s *sharedGroups) members(v *vector.Vector, n int) []*vector.Vector {
	if s.packing == nil {
		return []*vector.Vector{v}
	}
	values, codes := s.packing.unpack(v, n)
	for k, c := range s.columns {
		if c != nil {
			values[k] = c.Gather(codes[k])
		}
	}
	return values
}

// groupShards is a source of the groups of all shards. Workers take turns: each puts the keys of a shard at a time
// together.
type groupShards struct {
	ctx     context.Context
	of      *sharedGroups
	results []*vector.Vector
	next    atomic.Int64
}

// Reader gives a worker its share.
func (p *groupShards) Reader(int) Reader { return &groupShardsReader{p: p} }

type groupShardsReader struct {
	p  *groupShards
	in Reader // of the shard at hand
}

func (r *groupShardsReader) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in != nil {
			ok, err := r.in.Next(b)
			if ok || err != nil {
				return ok, err
			}
			r.in = nil
		}
		if err := r.p.ctx.Err(); err != nil {
			return false, err
		}
		k := int(r.p.next.Add(1)) - 1
		if k >= intern.Shards {
			return false, nil
		}
		numbers, keys := r.p.of.keys(k)
		shard := &vector.Batch{N: len(numbers), Cols: keys}
		for _, v := range r.p.results {
			own := &vector.Vector{}
			own.Gather(v, numbers)
			shard.Cols = append(shard.Cols, own)
		}
		r.in = Values(shard).Reader(0)
	}
}

func (r *groupShardsReader) Close() {}
