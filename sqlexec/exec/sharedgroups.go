package exec

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/intern"
)

// sharedGroups numbers groups for all workers together: every key column has its values numbered, and pairs of the
// number so far and the number in the next column are numbered in turn, as groups does for one worker. Numbers have
// gaps. Safe for concurrent use through workers.
type sharedGroups struct {
	columns []*intern.Shared
	pairs   []*intern.Shared // pairs[k] numbers (number so far)<<32 | number in column k+1
}

func newSharedGroups(keys []expr.Expr) *sharedGroups {
	s := &sharedGroups{}
	for i, k := range keys {
		s.columns = append(s.columns, intern.NewShared(k.Type()))
		if i > 0 {
			s.pairs = append(s.pairs, intern.NewShared(vector.Uint64Type))
		}
	}
	return s
}

// groupsWorker is a worker's way to shared groups. One goroutine at a time.
type groupsWorker struct {
	columns, pairs []*intern.Worker
	part           []uint32      // scratch: numbers in a column
	pair           vector.Vector // scratch
}

func (s *sharedGroups) worker(at int) *groupsWorker {
	w := &groupsWorker{pair: vector.Vector{Type: vector.Uint64Type}}
	for _, c := range s.columns {
		w.columns = append(w.columns, c.Worker(at))
	}
	for _, p := range s.pairs {
		w.pairs = append(w.pairs, p.Worker(at))
	}
	return w
}

// number writes the groups of n rows into ids.
func (w *groupsWorker) number(keys []*vector.Vector, n int, ids []uint32) {
	w.columns[0].Intern(keys[0], n, ids)
	for k, p := range w.pairs {
		w.part = vector.Sized(w.part, n)
		w.columns[k+1].Intern(keys[k+1], n, w.part)
		pairs := w.pair.Uints[:0]
		for i, id := range ids[:n] {
			pairs = append(pairs, uint64(id)<<32|uint64(w.part[i]))
		}
		w.pair.Uints = pairs
		p.Intern(&w.pair, n, ids)
	}
}

// bytes is about the memory of the groups that falls to this worker.
func (w *groupsWorker) bytes() (n int64) {
	for _, c := range w.columns {
		n += c.Bytes()
	}
	for _, p := range w.pairs {
		n += p.Bytes()
	}
	return n
}

// keys returns shard i of the groups, of intern.Shards: their numbers and, for each key column, their values. Only when
// no worker is at work any more.
func (s *sharedGroups) keys(i int) (numbers []uint32, values []*vector.Vector) {
	numbers, last := s.whole().Values(i)
	if len(s.pairs) == 0 {
		return numbers, []*vector.Vector{last}
	}
	return numbers, s.members(last.Uints)
}

// whole numbers the groups.
func (s *sharedGroups) whole() *intern.Shared {
	if len(s.pairs) == 0 {
		return s.columns[0]
	}
	return s.pairs[len(s.pairs)-1]
}

// numbers are those of the groups of shard i, as in keys.
func (s *sharedGroups) numbers(i int) []uint32 {
	numbers, _ := s.whole().Values(i)
	return numbers
}

// gather are the keys of some groups. Only when no worker is at work any more.
func (s *sharedGroups) gather(numbers []uint32) []*vector.Vector {
	v := s.whole().Gather(numbers)
	if len(s.pairs) == 0 {
		return []*vector.Vector{v}
	}
	return s.members(v.Uints)
}

// members are the values of which groups consist, given by their last pairs.
func (s *sharedGroups) members(pairs []uint64) []*vector.Vector {
	values := make([]*vector.Vector, len(s.columns))
	member := make([]uint32, len(pairs))
	for k := len(s.pairs) - 1; k >= 0; k-- {
		for g, p := range pairs {
			member[g] = uint32(p)
		}
		values[k+1] = s.columns[k+1].Gather(member)
		for g, p := range pairs {
			member[g] = uint32(p >> 32)
		}
		if k > 0 {
			pairs = s.pairs[k-1].Gather(member).Uints
		}
	}
	values[0] = s.columns[0].Gather(member)
	return values
}
