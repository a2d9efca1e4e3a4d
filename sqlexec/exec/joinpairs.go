package exec

import (
	"sync"
	"sync/atomic"

	"varve/engine/vector"
	"varve/sqlexec/spill"
)

// joinPairs is the source of the rows that a join in files gives when all probe rows have come. Workers take turns:
// each joins a pair of partitions at a time.
type joinPairs struct {
	j     *Join
	s     *joinSpill
	begin sync.Once
	err   error // of the beginning
	next  atomic.Int64
	share int64 // bytes that the build rows of a pair may take
}

// start ends the files of the probe side.
func (s *joinPairs) start() error {
	s.begin.Do(func() {
		s.err = s.s.probe.finish(s.j)
		b := s.j.spec.Budget
		// Half of the memory is for the operators above.
		s.share = max(min(b.Left(), b.pool.limit/2)/int64(max(1, s.j.lanes))/3*2, b.pool.limit/64)
	})
	return s.err
}

// Reader hands a worker its share.
func (s *joinPairs) Reader(int) Reader { return &joinPairReader{s: s} }

type joinPairReader struct {
	s  *joinPairs
	in Reader // of the pair at hand
}

func (r *joinPairReader) Next(b *vector.Batch) (bool, error) {
	if err := r.s.start(); err != nil {
		return false, err
	}
	for {
		if r.in != nil {
			ok, err := r.in.Next(b)
			if ok || err != nil {
				return ok, err
			}
			r.in.Close()
			r.in = nil
		}
		if err := r.s.j.spec.Budget.Err(); err != nil {
			return false, err
		}
		part := int(r.s.next.Add(1)) - 1
		if part >= r.s.s.parts {
			return false, nil
		}
		var err error
		if r.in, err = r.s.pair(part); err != nil {
			return false, err
		}
	}
}

func (r *joinPairReader) Close() {
	if r.in != nil {
		r.in.Close()
		r.in = nil
	}
}

// pair joins the rows of a pair of partitions; nil: it gives none.
func (s *joinPairs) pair(part int) (Reader, error) {
	build, probe := s.s.build.files[part], s.s.probe.files[part]
	spec, level := s.j.spec, s.j.level+1
	if build == nil || probe == nil && !spec.Kind.rest() {
		return nil, removeFiles(build, probe)
	}
	kept, other := &s.s.build, &s.s.probe
	sub := &Join{spec: spec, level: level, share: s.share, reversed: s.j.reversed, figures: s.j.figures}
	if other.need(part) < kept.need(part)/2 {
		sub.spec, sub.reversed = spec.exchanged(), !sub.reversed
		kept, other, build, probe = other, kept, probe, build
	}
	if kept.need(part) > s.share && (level > maxJoinLevel || kept.undivided(part)) {
		return newJoinBlocks(sub, build, probe)
	}
	sink := Pipeline{Stream{Source: &fileSource{build}}, sub.Build()}
	if _, err := sink.Run(spec.Budget.context(), 1); err != nil {
		return nil, err
	}
	if err := removeFiles(build); err != nil {
		return nil, err
	}
	return sub.probing(probe, func() error { return removeFiles(probe) }), nil
}

// undivided reports whether all rows went to one partition, so that other bits will hardly divide it.
func (f *joinFiles) undivided(part int) bool { return f.files[part].Rows == f.rows.Load() }

// exchanged is the join with its sides exchanged. Its columns are those of the build side, then of the probe side.
func (s JoinSpec) exchanged() JoinSpec {
	s.Kind = [...]JoinKind{Inner: Inner, Outer: BuildOuter, BuildOuter: Outer, FullOuter: FullOuter, Semi: BuildSemi,
		Anti: BuildAnti, BuildSemi: Semi, BuildAnti: Anti}[s.Kind]
	s.Probe, s.Build, s.ProbeTypes, s.BuildTypes = s.Build, s.Probe, s.BuildTypes, s.ProbeTypes
	return s
}

// probing reads the join of a file of probe rows with the build side, which is there. At the end, what the join keeps
// is given back, then end is called.
func (j *Join) probing(probe *spill.File, end func() error) Reader {
	r := &probingReader{end: end}
	stream := Stream{Source: &fileSource{probe}, Ops: []Operator{j.Probe()}}
	r.Reader = Pull(j.spec.Budget.context(), stream, func() { j.release(j.held.Load()) })
	return r
}

// probingReader ends with a last step, if its rows were read to the end.
type probingReader struct {
	Reader
	end func() error
}

func (r *probingReader) Next(b *vector.Batch) (bool, error) {
	ok, err := r.Reader.Next(b)
	if ok || err != nil {
		return ok, err
	}
	return false, r.end()
}

// removeFiles takes files away that are not needed any more.
func removeFiles(files ...*spill.File) error {
	for _, f := range files {
		if f == nil {
			continue
		}
		if err := f.Remove(); err != nil {
			return err
		}
	}
	return nil
}

// fileSource is the rows of a file, for one reader; nil: none.
type fileSource struct{ f *spill.File }

// Reader hands the rows to worker 0.
func (s *fileSource) Reader(worker int) Reader {
	if worker > 0 || s.f == nil {
		return empty{}
	}
	return &fileReader{f: s.f}
}

// fileReader opens its file at the first row.
type fileReader struct {
	f *spill.File
	r *spill.Reader
}

func (r *fileReader) Next(b *vector.Batch) (bool, error) {
	if r.r == nil {
		var err error
		if r.r, err = r.f.Open(); err != nil {
			return false, err
		}
	}
	return r.r.Next(b)
}

func (r *fileReader) Close() {
	if r.r != nil {
		// A file that was only read has nothing to lose.
		_ = r.r.Close()
	}
}

// joinBlock is a join with some of the build rows of a pair that nothing divides. What has become of the probe rows is
// known after the last block.
type joinBlock struct {
	last bool
	seen vector.Bitmap // probe rows that have found a partner in any block
	at   int           // the row of the file that comes next
}

// restore marks the rows of a batch that found a partner in former blocks.
func (k *joinBlock) restore(matched vector.Bitmap, n int) {
	for i := range n {
		if k.seen.Get(k.at + i) {
			matched.Set(i)
		}
	}
}

// note keeps the marks of a batch.
func (k *joinBlock) note(matched vector.Bitmap, n int) {
	for i := range n {
		if matched.Get(i) {
			k.seen.Set(k.at + i)
		}
	}
	k.at += n
}

// joinBlocks joins blocks of build rows, as many rows as fit, one after another with all probe rows.
type joinBlocks struct {
	join   *Join
	probe  *spill.File
	build  *spill.File
	left   int64 // build rows that are not in a block yet
	rows   *fileReader
	kept   vector.Batch // build rows that did not fit into the last block
	seen   vector.Bitmap
	bits   int64  // bytes that are reserved for seen
	in     Reader // of the block at hand
	closed bool
}

func newJoinBlocks(j *Join, build, probe *spill.File) (Reader, error) {
	r := &joinBlocks{join: j, build: build, probe: probe, left: build.Rows, rows: &fileReader{f: build}}
	if probe != nil {
		bits := probe.Rows/8 + 8
		if err := j.spec.Budget.Reserve(bits); err != nil {
			return nil, err
		}
		r.bits, r.seen = bits, vector.MakeBitmap(int(probe.Rows))
	}
	return r, nil
}

func (r *joinBlocks) Next(b *vector.Batch) (bool, error) {
	for {
		if r.in != nil {
			ok, err := r.in.Next(b)
			if ok || err != nil {
				return ok, err
			}
			r.in.Close()
			r.in = nil
		}
		if r.left == 0 {
			return false, removeFiles(r.build, r.probe)
		}
		if err := r.block(); err != nil {
			return false, err
		}
	}
}

// block begins to join the next block.
func (r *joinBlocks) block() error {
	j := &Join{spec: r.join.spec, level: r.join.level, share: r.join.share, reversed: r.join.reversed,
		block: &joinBlock{seen: r.seen}}
	w := &joinKeeper{j: j, own: NewRows(j.spec.BuildTypes)}
	for r.left > 0 {
		if err := j.spec.Budget.Err(); err != nil {
			return err
		}
		if r.kept.N == 0 {
			if ok, err := r.rows.Next(&r.kept); err != nil || !ok {
				return err
			}
		}
		if err := w.keep(&r.kept); err != nil {
			if w.own.n < minRun && err != errShare {
				return err
			}
			break
		}
		r.left -= int64(r.kept.N)
		r.kept.N = 0
	}
	j.block.last = r.left == 0
	j.keepers = []*joinKeeper{w}
	if err := j.index(j.spec.Budget.context()); err != nil {
		j.release(j.held.Load())
		return err
	}
	r.in = j.probing(r.probe, func() error { return nil })
	return nil
}

func (r *joinBlocks) Close() {
	if r.closed {
		return
	}
	r.closed = true
	if r.in != nil {
		r.in.Close()
	}
	r.rows.Close()
	r.join.spec.Budget.Release(r.bits)
}
