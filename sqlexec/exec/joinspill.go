package exec

import (
	"context"
	"sync/atomic"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/spill"
)

// A join whose build side does not fit into memory cuts the rows of both sides into partitions by some bits of the hash
// of their keys, each a file. Rows of a pair of partitions have their partners in it. Pairs are joined one after
// another when all probe rows have come, see joinPairs: each is a join of its own, which may again cut its rows, by
// other bits.
//
// The bits of a hash that partitions take are neither the lowest, by which a joinTable finds its slots, nor the
// highest, which choose its parts.

const (
	// joinCutBits is the first bit of a hash that cuts rows, joinCutStep how many bits belong to a level.
	joinCutBits = 24
	joinCutStep = 6
	// maxJoinLevel is the last level whose bits are free.
	maxJoinLevel = 4
	// joinBlockBytes is about the size of a block of a file.
	joinBlockBytes = 64 << 10
)

// joinSpill is a join whose rows go to files.
type joinSpill struct {
	parts        int
	shift        uint
	build, probe joinFiles
	found        atomic.Int64 // build rows that may find a partner
	spans        []joinSpan   // of the build keys
}

// joinFiles are the rows of one side. writers is protected by the join's lock.
type joinFiles struct {
	parts       *spill.Partitions
	writers     []*joinWriter
	rows, bytes atomic.Int64
	files       []*spill.File // when all rows have come, by partition; nil: no rows
}

// divide begins to put the build side into files.
func (j *Join) divide() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.spill.Load() != nil {
		return
	}
	s := &joinSpill{parts: joinParts(j.spec.Budget.pool.limit), shift: uint(joinCutBits + j.level*joinCutStep),
		spans: make([]joinSpan, len(j.spec.Build))}
	if len(j.spec.Build) == 0 {
		s.parts = 1
	}
	space := j.spec.Budget.space()
	s.build.parts = space.Partitions(j.spec.BuildTypes, s.parts)
	s.probe.parts = space.Partitions(j.spec.ProbeTypes, s.parts)
	j.spill.Store(s)
}

// joinParts is the number of partitions: the blocks of all take a small part of the memory.
func joinParts(limit int64) int {
	switch {
	case limit >= 64<<20:
		return 1 << joinCutStep
	case limit >= 8<<20:
		return 32
	}
	return 8
}

// joinWriter writes a worker's rows of one side to files.
type joinWriter struct {
	j       *Join
	s       *joinSpill
	side    *joinFiles
	spread  *spill.Spread
	buffers int64 // bytes that are reserved for what spread keeps
	keys    *expr.Program
	vectors []*vector.Vector
	hasher  *joinHasher
	to      []uint32 // by row: its partition
	next    uint32   // the partition of the next build row that finds no partner
	rows    []uint32
	others  []uint32
	some    vector.Batch
	here    vector.Batch
	spans   []joinSpan
}

// writer makes the writer of a worker that is one of several.
func (f *joinFiles) writer(j *Join, keys []expr.Expr, workers int) (*joinWriter, error) {
	s, budget := j.spill.Load(), j.spec.Budget
	most := max(min(budget.pool.limit/64/int64(max(1, workers)), int64(s.parts)*joinBlockBytes), 16<<10)
	buffers := j.takeHeld(2 * most)
	if err := budget.Reserve(2*most - buffers); err != nil {
		budget.Release(buffers)
		return nil, err
	}
	w := &joinWriter{j: j, s: s, side: f, spread: f.parts.Spread(most), buffers: 2 * most,
		keys: mustCompile(keys, budget), vectors: make([]*vector.Vector, len(keys)), hasher: newJoinHasher(len(keys)),
		spans: make([]joinSpan, len(keys))}
	j.mu.Lock()
	defer j.mu.Unlock()
	f.writers = append(f.writers, w)
	return w, nil
}

// cut finds the partitions of the rows of a batch. Those of the hasher's skip find no partner.
func (w *joinWriter) cut(b *vector.Batch) error {
	w.to = vector.Sized(w.to, b.N)
	if len(w.vectors) == 0 {
		clear(w.to)
		return nil
	}
	if err := w.keys.Eval(b, w.vectors); err != nil {
		return err
	}
	w.hasher.rows(w.vectors, b.N, w.j.spec.NullEqual)
	mask := uint64(w.s.parts - 1)
	for i, h := range w.hasher.hashes[:b.N] {
		w.to[i] = uint32(h >> w.s.shift & mask)
	}
	return nil
}

// build writes rows of the build side. Those that find no partner are spread evenly where the join gives them.
func (w *joinWriter) build(b *vector.Batch) error {
	if err := w.j.spec.Budget.Err(); err != nil {
		return err
	}
	if err := w.cut(b); err != nil {
		return err
	}
	for k, v := range w.vectors {
		w.spans[k].add(v, b.N)
	}
	w.rows = w.rows[:0]
	found := 0
	for i := range b.N {
		switch {
		case !w.hasher.skipped(i):
			found++
		case w.j.spec.Kind.rest():
			w.to[i] = w.next
			w.next = (w.next + 1) % uint32(w.s.parts)
		default:
			continue
		}
		w.rows = append(w.rows, uint32(i))
	}
	w.s.found.Add(int64(found))
	return w.write(b)
}

// probe writes rows of the probe side and returns those that need no file, because they find no partner.
func (w *joinWriter) probe(b *vector.Batch) (*vector.Batch, error) {
	if err := w.cut(b); err != nil {
		return nil, err
	}
	w.rows, w.others = w.rows[:0], w.others[:0]
	for i := range b.N {
		if w.hasher.skipped(i) || w.s.build.files[w.to[i]] == nil {
			w.others = append(w.others, uint32(i))
		} else {
			w.rows = append(w.rows, uint32(i))
		}
	}
	gatherRows(&w.here, b, w.others)
	return &w.here, w.write(b)
}

// write puts the chosen rows of a batch into their partitions.
func (w *joinWriter) write(b *vector.Batch) error {
	if len(w.rows) == 0 {
		return nil
	}
	if len(w.rows) < b.N {
		gatherRows(&w.some, b, w.rows)
		for i, r := range w.rows { // r is not less than i
			w.to[i] = w.to[r]
		}
		b = &w.some
	}
	w.side.rows.Add(int64(b.N))
	w.side.bytes.Add(copyBytes(b))
	return w.spread.Add(b, w.to[:b.N])
}

// copyBytes is the memory of copies of rows which share nothing.
func copyBytes(b *vector.Batch) (bytes int64) {
	for _, c := range b.Cols {
		bytes += int64(8 * b.N)
		switch {
		case c.Type.Kind() != vector.Bytes:
		case c.Form == vector.Const:
			bytes += int64(b.N) * int64(len(c.Bytes(0)))
		case c.Form == vector.Dict:
			bytes += codedBytes(c, b.N)
		default:
			bytes += lengths(c.Views[:b.N])
		}
	}
	return bytes
}

// finish ends the files of a side and gives back the memory of its writers.
func (f *joinFiles) finish(j *Join) error {
	for _, w := range f.writers {
		if err := w.spread.Flush(); err != nil {
			return err
		}
		j.spec.Budget.Release(w.buffers)
	}
	f.writers = nil
	var err error
	if f.files, err = f.parts.Finish(); err != nil {
		return err
	}
	for _, file := range f.files {
		if file == nil {
			continue
		}
		j.spec.Budget.joined.bytes.Add(file.Bytes)
		j.spec.Budget.joined.files.Add(1)
		if to := j.figures; to != nil {
			to.Spilled.Add(file.Bytes)
			to.Files.Add(1)
		}
	}
	return nil
}

// need is about the memory of a partition while it is the build side.
func (f *joinFiles) need(part int) int64 {
	if f.files[part] == nil {
		return 0
	}
	rows := f.files[part].Rows
	return rows * (f.bytes.Load()/f.rows.Load() + 1 + joinRowBytes)
}

// finishFiles writes what workers still keep. From now on the join has no rows of its own, and finds no partners.
func (j *Join) finishFiles(ctx context.Context) error {
	s := j.spill.Load()
	err := Spread(ctx, len(j.keepers), len(j.keepers), func(i int) error {
		if w := j.keepers[i]; w.own.n > 0 {
			return w.spill()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, w := range s.build.writers {
		for k := range s.spans {
			s.spans[k].join(&w.spans[k])
		}
	}
	if err := s.build.finish(j); err != nil {
		return err
	}
	if f := j.figures; f != nil && j.level == 0 {
		f.Partitions.Store(int64(s.parts))
	}
	j.release(j.held.Load())
	j.rows, j.keepers = vector.NewBatch(j.spec.BuildTypes...), nil
	if len(j.spec.Build) == 0 {
		return nil
	}
	j.keys = make([]*vector.Vector, len(j.spec.Build))
	for k, e := range j.spec.Build {
		j.keys[k] = &vector.Vector{Type: e.Type()}
	}
	j.table, err = newJoinTable(ctx, j.keys, 0, 1, j.spec.NullEqual)
	return err
}

// joinLane is a worker's way of the probe side to the files.
type joinLane struct {
	j      *joinProbe
	out    *joinWriter
	prober *prober
}

func (l *joinLane) step(b *vector.Batch) error {
	if l.out == nil {
		j := (*Join)(l.j)
		var err error
		if l.out, err = j.spill.Load().probe.writer(j, j.spec.Probe, j.lanes); err != nil {
			return err
		}
	}
	here, err := l.out.probe(b)
	if err != nil || here.N == 0 || l.j.spec.Kind.NeedsPartner() {
		return err
	}
	return l.prober.step(here)
}

// joinSpan is the least and the greatest of the whole numbers of a key.
type joinSpan struct {
	some     bool
	lo, hi   int64
	ulo, uhi uint64
	flat     vector.Vector
}

// add notes the values of a batch.
func (s *joinSpan) add(v *vector.Vector, n int) {
	switch kind := v.Type.Kind(); {
	case n == 0:
	case kind == vector.Int64:
		v = v.FlattenInto(&s.flat, n)
		widen(&s.some, &s.lo, &s.hi, v, v.Ints[:n])
	case kind == vector.Uint64:
		v = v.FlattenInto(&s.flat, n)
		widen(&s.some, &s.ulo, &s.uhi, v, v.Uints[:n])
	}
}

// join adds what another worker has seen.
func (s *joinSpan) join(o *joinSpan) {
	switch {
	case !o.some:
	case !s.some:
		s.some, s.lo, s.hi, s.ulo, s.uhi = true, o.lo, o.hi, o.ulo, o.uhi
	default:
		s.lo, s.hi, s.ulo, s.uhi = min(s.lo, o.lo), max(s.hi, o.hi), min(s.ulo, o.ulo), max(s.uhi, o.uhi)
	}
}

// widen makes [lo, hi] hold the values of a vector that are not NULL.
func widen[T int64 | uint64](some *bool, lo, hi *T, v *vector.Vector, values []T) {
	for i, x := range values {
		switch {
		case v.IsNull(i):
		case !*some:
			*some, *lo, *hi = true, x, x
		default:
			*lo, *hi = min(*lo, x), max(*hi, x)
		}
	}
}

// bounds returns the values that a key has.
func (s *joinSpan) bounds(t vector.Type) (KeyBounds, bool) {
	switch t.Kind() {
	case vector.Int64:
		return KeyBounds{Lo: vector.ConstInt(t, s.lo), Hi: vector.ConstInt(t, s.hi)}, s.some
	case vector.Uint64:
		return KeyBounds{Lo: vector.ConstUint(t, s.ulo), Hi: vector.ConstUint(t, s.uhi)}, s.some
	}
	return KeyBounds{}, false
}
