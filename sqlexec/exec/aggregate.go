package exec

import (
	"context"
	"fmt"
	"math"
	"sync"

	"varve/engine/invariant"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Aggregate returns one row for each distinct combination of keys: the keys, then the aggregates. NULL keys are equal.
// Without keys there is exactly one row, also over no rows.
func Aggregate(keys []expr.Expr, aggs []*expr.Agg, budget *Budget) (Sink, error) {
	if countsDistinct(keys, aggs) {
		groups, err := newAggregate(aggs[0].Args, nil, budget)
		return &distinctCount{groups, aggs[0]}, err
	}
	return newAggregate(keys, aggs, budget)
}

func newAggregate(keys []expr.Expr, aggs []*expr.Agg, budget *Budget) (*aggregateSink, error) {
	s := &aggregateSink{keys: keys, aggs: aggs, budget: budget, list: append([]expr.Expr(nil), keys...)}
	if budget != nil {
		s.inMemory.limit, s.spilling.parts.limit = budget.pool.limit/groupsShare, budget.pool.limit/partsShare
	}
	for _, a := range aggs {
		s.list = append(s.list, a.Inputs()...)
		if a.Filter != nil {
			s.list = append(s.list, a.Filter)
		}
	}
	_, err := expr.Compile(s.list)
	return s, err
}

// Distinct keeps one of each set of equal rows.
func Distinct(types []vector.Type, budget *Budget) (Sink, error) {
	keys := make([]expr.Expr, len(types))
	for i, t := range types {
		keys[i] = &expr.Column{Index: i, T: t, Null: true}
	}
	return Aggregate(keys, nil, budget)
}

type aggregateSink struct {
	keys    []expr.Expr
	aggs    []*expr.Agg
	list    []expr.Expr // keys, then for each aggregate its inputs and its filter
	budget  *Budget
	workers []*grouper

	mu     sync.Mutex // protects shared
	shared *sharedGroups

	spilling onDisk
	inMemory share // of the groups of all workers
}

func (s *aggregateSink) String() string {
	aggs := make([]string, len(s.aggs))
	for i, a := range s.aggs {
		aggs[i] = a.String()
	}
	return fmt.Sprintf("Aggregate: by [%s] of %v", texts(s.keys, ", "), aggs)
}

// shareGroups is the number of groups of a worker from which on all workers number them together: tables of their own
// would have to be merged at the end, which takes as long as filling them did.
var shareGroups = invariant.Limit(1<<15, 4)

// grouper is a worker's groups.
type grouper struct {
	groups *groups
	shared *groupsWorker // not nil: groups are numbered together, with gaps
	bound  int           // numbers of shared groups are below it
	states []*expr.State
	held   int64      // bytes reserved for groups
	memory *overdraft // nil: without bounds
	broken bool       // its groups were not moved over completely
	away   *away      // not nil: rows go to files
	keep   vector.Bitmap
}

// newMemory is the memory of a worker's groups, which may owe some if they can go to disk; nil: without bounds.
func (s *aggregateSink) newMemory() *overdraft {
	if s.budget == nil {
		return nil
	}
	return newOverdraft(s.budget, &s.inMemory, s.spills())
}

// ofStates is the memory for the states of aggregates.
func (g *grouper) ofStates() expr.Memory {
	if g.memory == nil {
		return nil
	}
	return g.memory
}

func (s *aggregateSink) newGrouper() *grouper { return s.newGrouperOf(s.newMemory()) }

func (s *aggregateSink) newGrouperOf(memory *overdraft) *grouper {
	g := &grouper{memory: memory}
	g.states = expr.States(s.aggs, g.ofStates())
	g.groups = s.newGroups(g)
	if len(s.keys) == 0 {
		g.groups.n = 1
		g.grow()
	}
	return g
}

// newGroups makes the groups of a worker, which accounts for them.
func (s *aggregateSink) newGroups(g *grouper) *groups {
	groups := newGroups(s.keys)
	groups.account = func() error {
		if err := s.budget.Err(); err != nil {
			return err
		}
		return g.account()
	}
	return groups
}

func (g *grouper) grow() {
	for _, a := range g.states {
		a.Grow(g.groups.n)
	}
}

// manyBatches is the number of batches after which groups are counted, where there is much memory.
const manyBatches = 32

// Step numbers the groups of a batch, then runs one loop per aggregate over group numbers and argument vectors.
func (s *aggregateSink) Step(int) Step {
	g := s.newGrouper()
	s.workers = append(s.workers, g)
	memory := &batchMemory{Budget: s.budget}
	program := memory.compile(s.list)
	vectors := make([]*vector.Vector, len(s.list))
	often := manyBatches
	if s.spills() && s.budget.pool.limit < manyBytes {
		often = 1
	}
	count, unseen := 0, 0 // unseen: bytes of texts since the groups were counted
	var step Step
	step = func(b *vector.Batch) error {
		memory.rows = b.N
		if err := program.Eval(b, vectors); b.N > 1 && exhausted(err) {
			return inHalves(b, step)
		} else if err != nil {
			return err
		}
		if s.spilling.full.Load() {
			return s.toFiles(g, vectors, b.N)
		}
		ids, err := s.number(g, vectors[:len(s.keys)], b.N)
		if exhausted(err) && s.spills() && !g.broken {
			s.spilling.full.Store(true)
			return s.toFiles(g, vectors, b.N)
		}
		if err != nil {
			return err
		}
		if err := s.add(g, ids, vectors, b.N); err != nil {
			return err
		}
		count++
		if unseen += textBytes(vectors); count%often != 1%often && unseen < 1<<20 {
			return nil
		}
		unseen = 0
		if err := g.account(); err != nil {
			return err
		}
		if s.spills() && g.memory.short() {
			s.spilling.full.Store(true)
		}
		return nil
	}
	return step
}

// add gives rows to the aggregates.
func (s *aggregateSink) add(g *grouper, ids []uint32, vectors []*vector.Vector, rows int) error {
	at := len(s.keys)
	for i, a := range s.aggs {
		n := len(a.Args) + len(a.Order)
		args := vectors[at : at+n]
		at += n
		var keep vector.Bitmap
		if a.Filter != nil {
			g.keep = truth(g.keep, vectors[at], rows)
			keep = g.keep
			at++
		}
		if err := g.states[i].Add(rows, ids, args, keep); err != nil {
			return err
		}
	}
	return nil
}

// addOwn gives rows to groups that are the grouper's own.
func (s *aggregateSink) addOwn(g *grouper, vectors []*vector.Vector, rows int) error {
	ids, err := s.numberWithin(g, vectors[:len(s.keys)], rows)
	if err != nil {
		return err
	}
	g.grow()
	return s.add(g, ids, vectors, rows)
}

// textBytes is about what the texts of a batch take at most when they are kept.
func textBytes(vectors []*vector.Vector) (bytes int) {
	for _, v := range vectors {
		bytes += len(v.Heap)
		if v.Form == vector.Dict {
			bytes += len(v.Values.Heap)
		}
	}
	return bytes
}

// number returns the groups of a batch and makes room for new ones.
func (s *aggregateSink) number(g *grouper, keys []*vector.Vector, n int) ([]uint32, error) {
	if g.shared == nil {
		before := g.groups.n
		ids, err := s.numberWithin(g, keys, n)
		if err != nil {
			return nil, err
		}
		if g.groups.n > before {
			g.grow()
		}
		if g.groups.n < shareGroups || !s.shareable() || s.spills() && g.memory.room() < 2*g.memory.taken() {
			return ids, nil
		}
		// These ids are the worker's own; the batch is numbered again below.
		if err := s.share(g); err != nil {
			return nil, err
		}
	}
	g.groups.ids = vector.Sized(g.groups.ids, n)
	ids := g.groups.ids
	g.shared.number(keys, n, ids)
	g.cover(ids)
	return ids, nil
}

// freeMoves is how much the texts of groups may be moved without being counted.
const freeMoves = 1 << 20

// numberWithin numbers the groups of n rows while there is room for their texts, and where those before have to be
// moved for them, for these once more.
func (s *aggregateSink) numberWithin(g *grouper, keys []*vector.Vector, n int) ([]uint32, error) {
	moves := g.groups.moves(keys, n)
	if moves < freeMoves {
		return g.groups.number(keys, n)
	}
	if g.memory != nil {
		if err := g.memory.Reserve(moves); err != nil {
			return nil, err
		}
	}
	ids, err := g.groups.number(keys, n)
	if g.memory != nil {
		g.memory.Release(moves)
	}
	if err != nil {
		return nil, err
	}
	return ids, g.account()
}

// shareable reports whether keys that compare by their bytes, not so many that tables for each and each shard were too
// large, and more than one worker.
func (s *aggregateSink) shareable() bool {
	if len(s.keys) > manyKeys {
		return false
	}
	for _, k := range s.keys {
		if k.Type().ID == vector.TypeInterval {
			return false
		}
	}
	return len(s.keys) > 0 && len(s.workers) > 1
}

// cover makes room for the groups of ids.
func (g *grouper) cover(ids []uint32) {
	bound := g.bound
	for _, id := range ids {
		bound = max(bound, int(id)+1)
	}
	if bound > g.bound {
		g.bound = bound
		for _, a := range g.states {
			a.Grow(bound)
		}
	}
}

// share moves a worker's groups over to the common numbers.
func (s *aggregateSink) share(g *grouper) error {
	s.mu.Lock()
	if s.shared == nil {
		s.shared = newSharedGroups(s.keys, g.groups)
	}
	s.mu.Unlock()
	at := 0
	for i, w := range s.workers {
		if w == g {
			at = i
		}
	}
	g.shared = s.shared.worker(at)
	own, states := g.groups, g.states
	to := make([]uint32, own.n)
	values := own.values()
	part := make([]*vector.Vector, len(values))
	for from := 0; from < own.n; from += vector.Size {
		if err := s.budget.Err(); err != nil {
			return err
		}
		n := min(vector.Size, own.n-from)
		for i, v := range values {
			part[i] = v.Slice(from, from+n)
		}
		g.shared.number(part, n, to[from:from+n])
	}
	g.groups, g.states, g.broken = s.newGroups(g), expr.States(s.aggs, g.ofStates()), true
	g.cover(to)
	for i, a := range g.states {
		if err := a.Merge(states[i], to); err != nil {
			return err
		}
	}
	g.broken = false
	return nil
}

// account reserves what the groups have grown by since the last time.
func (g *grouper) account() error {
	bytes := g.groups.bytes()
	if g.shared != nil {
		bytes += g.shared.bytes()
	}
	if grown := bytes - g.held; grown > 0 && g.memory != nil {
		g.held = bytes
		if err := g.memory.Reserve(grown); err != nil {
			return err
		}
	}
	for _, a := range g.states {
		if err := a.Count(); err != nil {
			return err
		}
	}
	return nil
}

// Finish combines the workers' groups and gives the results.
func (s *aggregateSink) Finish(ctx context.Context) (Source, error) {
	if s.outgrown() {
		return s.divided(ctx)
	}
	s.inMemory.limit = math.MaxInt64 // they need all that there is for a while, and give it back
	if s.shared != nil {
		return s.finishShared(ctx)
	}
	all := s.workers[0]
	for _, w := range s.workers[1:] {
		if w.groups.n == 0 {
			continue
		}
		to, values := make([]uint32, 0, w.groups.n), w.groups.values()
		if len(s.keys) == 0 {
			to = append(to, 0)
		}
		for from := 0; len(s.keys) > 0 && from < w.groups.n; from += vector.Size {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := min(vector.Size, w.groups.n-from)
			part := make([]*vector.Vector, len(s.keys))
			for i, v := range values {
				part[i] = v.Slice(from, from+n)
			}
			ids, err := s.numberWithin(all, part, n)
			if err != nil {
				return nil, err
			}
			to = append(to, ids...)
		}
		all.grow()
		for i, a := range all.states {
			if err := a.Merge(w.states[i], to); err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	b, err := all.result(ctx)
	if err != nil {
		return nil, err
	}
	return Values(b), nil
}

// result is the keys of all groups with their aggregates.
func (g *grouper) result(ctx context.Context) (*vector.Batch, error) {
	if err := g.account(); err != nil {
		return nil, err
	}
	out := &vector.Batch{N: g.groups.n, Cols: g.groups.values()}
	for _, a := range g.states {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v, err := a.Result(g.groups.n)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, v)
	}
	return out, nil
}

// finishShared adds up the workers' states, whose groups have the same numbers, and closes the gaps.
func (s *aggregateSink) finishShared(ctx context.Context) (Source, error) {
	bound := 0
	for _, w := range s.workers {
		if w.shared == nil && w.groups.n > 0 {
			if err := s.share(w); err != nil {
				return nil, err
			}
		}
		if err := w.account(); err != nil {
			return nil, err
		}
		bound = max(bound, w.bound)
	}
	same := make([]uint32, bound)
	for i := range same {
		same[i] = uint32(i)
	}
	all := s.workers[0]
	for _, a := range all.states {
		a.Grow(bound)
	}
	for _, w := range s.workers[1:] {
		for i, a := range all.states {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := a.Merge(w.states[i], same[:w.bound]); err != nil {
				return nil, err
			}
		}
	}
	results := make([]*vector.Vector, len(all.states))
	for i, a := range all.states {
		err := ctx.Err()
		if err == nil {
			results[i], err = a.Result(bound)
		}
		if err != nil {
			return nil, err
		}
	}
	return &groupShards{ctx: ctx, of: s.shared, results: results}, nil
}

// shards is a source of several large batches in order.
type shards struct {
	mu   sync.Mutex // protects list
	list []Reader
}

// Reader gives a worker its share: workers take batches from the same list until it ends.
func (p *shards) Reader(int) Reader { return &shardsReader{p} }

type shardsReader struct{ p *shards }

func (r *shardsReader) Next(b *vector.Batch) (bool, error) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	for len(r.p.list) > 0 {
		ok, err := r.p.list[0].Next(b)
		if ok || err != nil {
			return ok, err
		}
		r.p.list = r.p.list[1:]
	}
	return false, nil
}

func (r *shardsReader) Close() {}
