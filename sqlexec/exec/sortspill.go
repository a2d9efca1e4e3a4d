package exec

import (
	"bytes"
	"context"
	"errors"

	"varve/engine/invariant"
	"varve/engine/vector"
	"varve/sqlexec/spill"
)

// A sort that does not fit into memory writes sorted runs to files, each row with its sort key behind it, and merges
// them while they are read.

const (
	// minRun is the number of rows below which a run is not worth a file: then the budget is taken by others.
	minRun = 512
	// runBlock is about the number of bytes of a block of a run, where the budget allows. A merge holds one of each
	// run.
	runBlock = 128 << 10
)

// maxRun bounds the bytes of a worker's rows: sorting more of them before they are written gains nothing.
var maxRun = int64(invariant.Limit(1<<30, 1<<20))

// runRows is the number of rows of a block of a run: one at least, for a row may be as long as the block.
func (s *sortSink) runRows(w *sorter) int {
	block := min(runBlock, s.budget.pool.limit/64)
	return int(min(max(block*int64(w.n)/max(w.held()+int64(w.n*len(w.later))*numberKey, 1), 1), vector.Size))
}

// share is how many bytes a worker keeps before it writes them to a file: its part of half the budget. Slices grow by
// doubling, so they may take twice that.
func (s *sortSink) share() int64 {
	share := s.budget.pool.limit / int64(2*len(s.workers))
	if leading(s.order) < len(s.order) { // the next keys of rows that are alike are there for a while, too
		share /= 2
	}
	return min(share, maxRun)
}

// spill sorts a worker's rows and writes them to a file.
func (s *sortSink) spill(w *sorter) error {
	order, err := w.sorted(s.budget.ctx, 1)
	if err != nil {
		return err
	}
	out, err := s.budget.disk.Create(s.runTypes())
	if err != nil {
		return err
	}
	step := s.runRows(w)
	s.mu.Lock()
	if s.block == 0 || step < s.block {
		s.block = step
	}
	s.mu.Unlock()
	var part vector.Batch
	keys, later := &vector.Vector{}, w.laterKeys(w.later)
	for from := 0; from < len(order); from += step {
		rows := order[from:min(from+step, len(order))]
		w.gather(&part, rows)
		if err := later.eval(&part); err != nil {
			return errors.Join(err, out.Close())
		}
		keys.Reset(vector.BinaryType)
		for i, r := range rows {
			start := len(keys.Heap)
			keys.Heap = later.append(append(keys.Heap, w.key(int(r))...), i)
			keys.Views = append(keys.Views, vector.View{Off: uint32(start), Len: uint32(len(keys.Heap) - start)})
		}
		b := vector.Batch{N: part.N, Cols: append(part.Cols[:len(part.Cols):len(part.Cols)], keys)}
		if err := errors.Join(s.budget.Err(), out.Write(&b)); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	run, err := out.Finish()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.runs = append(s.runs, run)
	s.mu.Unlock()
	s.budget.Release(w.reserved)
	w.chunks, w.n, w.full, w.reserved = nil, 0, 0, 0
	return nil
}

// runTypes are the types of a run's columns: those of the rows, then the key.
func (s *sortSink) runTypes() []vector.Type {
	return append(s.types[:len(s.types):len(s.types)], vector.BinaryType)
}

// merge writes what workers still keep and merges all runs, in several rounds where there are more than the budget has
// blocks for.
func (s *sortSink) merge(ctx context.Context) (Source, error) {
	err := Spread(ctx, len(s.workers), len(s.workers), func(i int) error {
		if s.workers[i].n == 0 {
			return nil
		}
		return s.spill(s.workers[i])
	})
	if err != nil {
		return nil, err
	}
	for {
		block := 0
		for _, r := range s.runs {
			block = max(block, r.Block)
		}
		// A reader keeps a block as it is stored, unpacked and, as for numbers, as values.
		fan := int(min(max(s.budget.pool.limit/2/int64(2*block+1), 2), 512))
		memory := int64(min(fan, len(s.runs))) * int64(2*block)
		if err := s.budget.Reserve(memory); err != nil {
			return nil, err
		}
		if len(s.runs) <= fan {
			return &mergeSource{runs: s.runs, budget: s.budget}, nil
		}
		err := s.round(ctx, fan)
		s.budget.Release(memory)
		if err != nil {
			return nil, err
		}
	}
}

// round merges neighbouring runs, fan at a time, into one each.
func (s *sortSink) round(ctx context.Context, fan int) error {
	var out []*spill.File
	for from := 0; from < len(s.runs); from += fan {
		runs := s.runs[from:min(from+fan, len(s.runs))]
		if len(runs) == 1 {
			out = append(out, runs[0])
			continue
		}
		run, err := s.together(ctx, runs)
		if err != nil {
			return err
		}
		out = append(out, run)
		for _, r := range runs {
			if err := r.Remove(); err != nil {
				return err
			}
		}
	}
	s.runs = out
	return nil
}

// together merges runs into one.
func (s *sortSink) together(ctx context.Context, runs []*spill.File) (*spill.File, error) {
	out, err := s.budget.disk.Create(s.runTypes())
	if err != nil {
		return nil, err
	}
	r := &mergeReader{s: &mergeSource{runs: runs, budget: s.budget}, keys: true, most: s.block}
	defer r.Close()
	for b := (vector.Batch{}); ; {
		ok, err := r.Next(&b)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && ok {
			err = out.Write(&b)
		}
		if err != nil {
			return nil, errors.Join(err, out.Close())
		}
		if !ok {
			return out.Finish()
		}
	}
}

// mergeSource merges sorted runs in order. One reader.
type mergeSource struct {
	runs   []*spill.File
	budget *Budget
}

// Reader hands the rows to worker 0.
func (s *mergeSource) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	return &mergeReader{s: s, most: vector.Size}
}

// mergeReader merges with a heap of the runs' current rows.
type mergeReader struct {
	s     *mergeSource
	keys  bool // gives the keys as the last column
	most  int  // rows of a batch
	runs  []*mergeRun
	heap  []*mergeRun
	stale *mergeRun // its block was given out to the end
	picks []pick
	out   vector.Batch
}

// mergeRun is a run while it is merged: the block at hand and the row that comes next.
type mergeRun struct {
	index  int
	r      *spill.Reader
	b      vector.Batch
	keys   *vector.Vector
	at     int
	prefix uint64
}

// pick is a row of the block at hand of a run.
type pick struct{ run, row uint32 }

// start opens the runs.
func (m *mergeReader) start() error {
	for i, f := range m.s.runs {
		r, err := f.Open()
		if err != nil {
			return err
		}
		run := &mergeRun{index: i, r: r}
		m.runs = append(m.runs, run)
		ok, err := run.block()
		if err != nil {
			return err
		}
		if ok {
			m.heap = append(m.heap, run)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return nil
}

// block reads the next block.
func (r *mergeRun) block() (bool, error) {
	ok, err := r.r.Next(&r.b)
	if err != nil || !ok {
		return false, err
	}
	r.keys, r.at = r.b.Cols[len(r.b.Cols)-1], 0
	r.load()
	return true, nil
}

func (r *mergeRun) key() []byte {
	w := r.keys.Views[r.at]
	return r.keys.Heap[w.Off : w.Off+w.Len]
}

// load takes the first bytes of the current key, which decide most comparisons.
func (r *mergeRun) load() {
	r.prefix = word(r.key())
}

// less orders runs by their current rows; rows of equal keys keep the order of the runs.
func (r *mergeRun) less(o *mergeRun) bool {
	if r.prefix != o.prefix {
		return r.prefix < o.prefix
	}
	if c := bytes.Compare(r.key(), o.key()); c != 0 {
		return c < 0
	}
	return r.index < o.index
}

// sink restores the heap below i.
func (m *mergeReader) sink(i int) {
	h := m.heap
	for {
		child := 2*i + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].less(h[child]) {
			child++
		}
		if !h[child].less(h[i]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// Next picks rows until a batch is full or a block was given out, which must be passed on before the next is read over
// it.
func (m *mergeReader) Next(b *vector.Batch) (bool, error) {
	if m.runs == nil {
		if err := m.start(); err != nil {
			return false, err
		}
	}
	if err := m.s.budget.Err(); err != nil {
		return false, err
	}
	if m.stale != nil {
		ok, err := m.stale.block()
		if err != nil {
			return false, err
		}
		if !ok {
			m.heap[0] = m.heap[len(m.heap)-1]
			m.heap = m.heap[:len(m.heap)-1]
		}
		m.sink(0)
		m.stale = nil
	}
	m.picks = m.picks[:0]
	for len(m.heap) > 0 && len(m.picks) < m.most && m.stale == nil {
		top := m.heap[0]
		m.picks = append(m.picks, pick{uint32(top.index), uint32(top.at)})
		if top.at++; top.at == top.b.N {
			m.stale = top
			break
		}
		top.load()
		m.sink(0)
	}
	if len(m.picks) == 0 {
		return false, nil
	}
	m.gather()
	b.N, b.Cols = m.out.N, append(b.Cols[:0], m.out.Cols...)
	return true, nil
}

// gather makes the output batch of the picked rows.
func (m *mergeReader) gather() {
	n := len(m.runs[m.picks[0].run].b.Cols)
	if !m.keys {
		n--
	}
	for len(m.out.Cols) < n {
		m.out.Cols = append(m.out.Cols, &vector.Vector{})
	}
	m.out.N = len(m.picks)
	from := make([]*vector.Vector, len(m.runs))
	for c, v := range m.out.Cols {
		for i, r := range m.runs {
			if from[i] = nil; c < len(r.b.Cols) {
				from[i] = r.b.Cols[c]
			}
		}
		pickColumn(v, from, m.picks)
	}
}

// pickColumn makes v the picked rows of Flat vectors.
func pickColumn(v *vector.Vector, from []*vector.Vector, picks []pick) {
	first := from[picks[0].run]
	v.Type = first.Type
	n := len(picks)
	valid := false
	for _, f := range from {
		valid = valid || f != nil && f.Valid != nil
	}
	bits := v.Valid
	if v.Valid = nil; valid {
		v.Valid = bits.Emptied(n)
		for i, p := range picks {
			if f := from[p.run]; f.Valid == nil || f.Valid.Get(int(p.row)) {
				v.Valid.Set(i)
			}
		}
	}
	switch first.Type.Kind() {
	case vector.Bool:
		v.Bools = v.Bools.Emptied(n)
		for i, p := range picks {
			if from[p.run].Bools.Get(int(p.row)) {
				v.Bools.Set(i)
			}
		}
	case vector.Int64:
		v.Ints = v.Ints[:0]
		for _, p := range picks {
			v.Ints = append(v.Ints, from[p.run].Ints[p.row])
		}
	case vector.Uint64:
		v.Uints = v.Uints[:0]
		for _, p := range picks {
			v.Uints = append(v.Uints, from[p.run].Uints[p.row])
		}
	case vector.Float64:
		v.Floats = v.Floats[:0]
		for _, p := range picks {
			v.Floats = append(v.Floats, from[p.run].Floats[p.row])
		}
	default:
		v.Views, v.Heap = v.Views[:0], v.Heap[:0]
		for _, p := range picks {
			f := from[p.run]
			w := f.Views[p.row]
			v.Views = append(v.Views, vector.View{Off: uint32(len(v.Heap)), Len: w.Len})
			v.Heap = append(v.Heap, f.Heap[w.Off:w.Off+w.Len]...)
		}
	}
}

// Close ends the reading. The files go with the query.
func (m *mergeReader) Close() {
	for _, r := range m.runs {
		// A file that was only read has nothing to lose.
		_ = r.r.Close()
	}
}
