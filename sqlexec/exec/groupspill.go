package exec

import (
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/intern"
	"varve/sqlexec/spill"
)

// Groups that do not fit into memory: when those there are take their share, or memory is refused, they stay as they
// are, and what rows come later goes to files, their keys and arguments, partitioned by a hash of the keys. At the end
// partitions are taken up one after another: the groups in memory that belong to it, then the rows of its file in the
// order in which they came. A partition that is too big is divided again, by further bits of the hash. So the state of
// an aggregate is never written, and each group gets its rows in their order.

const (
	// partBits is the number of bits of the hash for a partition, and parts the number of partitions.
	partBits = 6
	parts    = 1 << partBits
	// mostDivisions bounds how often rows are divided again: rows that are together after that have one key, or hashes
	// that somebody made.
	mostDivisions = 6
	// groupsShare is the part of the pool that the groups of an aggregation may take before further rows go to files,
	// and partsShare that of the partitions that are taken up at a time. A partition that grows by more than partShare
	// is divided.
	groupsShare = 2
	partsShare  = 4
	partShare   = 8
	// spreadShare is the part of the pool that rows of a worker may take before they are written, spreadBytes the most.
	spreadShare = 64
	spreadBytes = 8 << 20
	// manyBytes is the size of a pool in which groups may grow for a while before they are counted.
	manyBytes = 64 << 20
)

// leastDivided is how much a partition grows by after its first rows at least before it is divided, so that what any
// groups take does not divide it again and again. It fits into what may be owed.
var leastDivided int64 = 256 << 10

// onDisk is what an aggregation keeps on disk.
type onDisk struct {
	full    atomic.Bool // rows go to files
	figures *Figures    // nil: nobody wants to know
	parts   share       // of partitions that are taken up

	mu sync.Mutex // protects to
	to *spill.Partitions
}

// spills reports whether groups may go to disk: those with keys, by which they are told apart.
func (s *aggregateSink) spills() bool { return len(s.keys) > 0 && s.budget.space() != nil }

// measure says where to count what is written.
func (s *aggregateSink) measure(f *Figures) { s.spilling.figures = f }

// partitions are the files of the first division.
func (s *aggregateSink) partitions() *spill.Partitions {
	s.spilling.mu.Lock()
	defer s.spilling.mu.Unlock()
	if s.spilling.to == nil {
		s.spilling.to = s.newPartitions()
	}
	return s.spilling.to
}

func (s *aggregateSink) newPartitions() *spill.Partitions {
	types := make([]vector.Type, len(s.list))
	for i, e := range s.list {
		types[i] = e.Type()
	}
	return s.budget.space().Partitions(types, parts)
}

// newHasher is a hasher of keys.
func (s *aggregateSink) newHasher() *intern.Hasher {
	canons := make([]func([]byte) uint64, len(s.keys))
	for i, k := range s.keys {
		canons[i] = expr.Canon(k.Type())
	}
	return intern.NewHasher(canons...)
}

// away is a worker's way to the files of a division.
type away struct {
	s      *aggregateSink
	level  int
	hasher *intern.Hasher
	spread *spill.Spread
	to     []uint32
	write  Step
}

func (s *aggregateSink) newAway(p *spill.Partitions, level int) *away {
	a := &away{s: s, level: level, hasher: s.newHasher()}
	a.spread = p.Spread(min(s.budget.pool.limit/spreadShare, spreadBytes))
	a.write = inCopies(func(b *vector.Batch) error {
		if err := s.budget.Err(); err != nil {
			return err
		}
		a.to = vector.Sized(a.to, b.N)
		partsOf(a.to, a.hasher.Rows(b.Cols[:len(s.keys)], b.N), level)
		return a.spread.Add(b, a.to)
	})
	return a
}

// partsOf writes the partitions of hashes.
func partsOf(to []uint32, hashes []uint64, level int) {
	shift := 64 - partBits*(level+1)
	for i, h := range hashes {
		to[i] = uint32(h>>shift) & (parts - 1)
	}
}

// add writes rows, given by the vectors of the list.
func (a *away) add(vectors []*vector.Vector, n int) error {
	return a.write(&vector.Batch{N: n, Cols: vectors})
}

// toFiles writes the rows of a batch.
func (s *aggregateSink) toFiles(g *grouper, vectors []*vector.Vector, n int) error {
	if g.away == nil {
		g.away = s.newAway(s.partitions(), 0)
	}
	return g.away.add(vectors, n)
}

// outgrown reports, when all rows are there, that groups are on disk, or have no room to be put together.
func (s *aggregateSink) outgrown() bool {
	if !s.spills() {
		return false
	}
	out := s.spilling.full.Load()
	for _, w := range s.workers {
		out = out || w.memory.short()
	}
	return out || s.budget.Left() < s.inMemory.taken.Load()
}

// exhausted reports whether an error says that memory is short.
func exhausted(err error) bool { return status.Of(err) == status.RuntimeResourcesExhausted }

// kept are groups in memory of which a partition takes its part: those of a worker, or of all that number them
// together.
type kept struct {
	mu     sync.Mutex // a state is not to be taken from by several at a time
	owners []*grouper
	keys   func(numbers []uint32) []*vector.Vector
	list   []uint32 // numbers of groups by partition, which rise
	ends   [parts + 1]uint32
}

// newKept sorts groups by partition: of n groups those with the given numbers.
func (s *aggregateSink) newKept(owners []*grouper, numbers []uint32, keys func([]uint32) []*vector.Vector, level int) (
	*kept, error) {
	k := &kept{owners: owners, keys: keys, list: make([]uint32, len(numbers))}
	hasher, to := s.newHasher(), make([]uint8, len(numbers))
	part := make([]uint32, vector.Size)
	for from := 0; from < len(numbers); from += vector.Size {
		if err := s.budget.Err(); err != nil {
			return nil, err
		}
		n := min(vector.Size, len(numbers)-from)
		partsOf(part[:n], hasher.Rows(keys(numbers[from:from+n]), n), level)
		for i, p := range part[:n] {
			to[from+i] = uint8(p)
			k.ends[p+1]++
		}
	}
	for p := range parts {
		k.ends[p+1] += k.ends[p]
	}
	next := k.ends
	for i, p := range to {
		k.list[next[p]] = numbers[i]
		next[p]++
	}
	return k, nil
}

// of are the numbers of the groups of a partition.
func (k *kept) of(part int) []uint32 { return k.list[k.ends[part]:k.ends[part+1]] }

// keptOf are the groups that the workers have.
func (s *aggregateSink) keptOf() ([]*kept, error) {
	var all []*kept
	var together []*grouper
	for _, w := range s.workers {
		if w.shared != nil {
			together = append(together, w)
			continue
		}
		k, err := s.keptOwn(w, 0)
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	if len(together) == 0 {
		return all, nil
	}
	numbers, err := s.sharedNumbers()
	if err != nil {
		return nil, err
	}
	k, err := s.newKept(together, numbers, s.shared.gather, 0)
	return append(all, k), err
}

// sharedNumbers are the numbers of the groups that workers have numbered together, which rise.
func (s *aggregateSink) sharedNumbers() ([]uint32, error) {
	var shards [intern.Shards][]uint32
	most, all := 0, 0
	for i := range shards {
		shards[i] = s.shared.numbers(i)
		most, all = max(most, len(shards[i])), all+len(shards[i])
	}
	numbers := make([]uint32, 0, all)
	for k := range most { // the k-th of a shard lies between the one before and the one after of every other
		if k%vector.Size == 0 {
			if err := s.budget.Err(); err != nil {
				return nil, err
			}
		}
		for _, shard := range shards {
			if k < len(shard) {
				numbers = append(numbers, shard[k])
			}
		}
	}
	return numbers, nil
}

// keptOwn are the groups that a worker has numbered by itself.
func (s *aggregateSink) keptOwn(g *grouper, level int) (*kept, error) {
	g.grow() // the rows of the last groups may have gone to files
	numbers := make([]uint32, g.groups.n)
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	return s.newKept([]*grouper{g}, numbers, g.groups.gather, level)
}

// take takes over the groups of a partition.
func (k *kept) take(s *aggregateSink, g *grouper, part int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	from := k.of(part)
	if len(from) == 0 {
		return nil
	}
	to := make([]uint32, 0, len(from))
	for at := 0; at < len(from); at += vector.Size {
		if err := s.budget.Err(); err != nil {
			return err
		}
		n := min(vector.Size, len(from)-at)
		ids, err := s.numberWithin(g, k.keys(from[at:at+n]), n)
		if err != nil {
			return err
		}
		to = append(to, ids...)
	}
	g.grow()
	for _, w := range k.owners {
		groups := w.groups.n
		n := len(from)
		if w.shared != nil {
			groups = w.bound
			n, _ = slices.BinarySearch(from, uint32(w.bound))
		}
		for i, a := range g.states {
			if err := a.Take(w.states[i], from[:n], to[:n], groups); err != nil {
				return err
			}
		}
	}
	return g.account()
}
