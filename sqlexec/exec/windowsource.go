package exec

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// sectionRows is the least number of rows of a section of a window's input, if there are as many.
const sectionRows = 1 << 16

// windowSource computes window functions while its rows are read. Rows that come sorted by partition and order are cut
// into sections of whole partitions. Several goroutines compute a section each; sections are given on in their order
// and forgotten. A partition that is too large for a section is computed row by row, see pager.
type windowSource struct {
	ctx     context.Context
	w       WindowSpec
	in      Stream
	types   []vector.Type
	workers int
	budget  *Budget
	figures *Figures // nil: nobody wants them
}

// Windows computes window functions over a stream of rows of the given types, which come sorted by partition and order
// where one worker reads them. The rows are worker 0's. figures, if not nil, take down what it does.
func Windows(ctx context.Context, w WindowSpec, in Stream, types []vector.Type, workers int, budget *Budget,
	figures *Figures) Source {
	return &windowSource{ctx, w, in, types, workers, budget, figures}
}

// Reader begins to compute.
func (s *windowSource) Reader(worker int) Reader {
	if worker > 0 {
		return empty{}
	}
	r := &windowReader{s: s, ctx: &stoppable{Context: s.ctx}, in: Pull(s.ctx, s.in, nil), keys: vector.Batch{
		Cols: make([]*vector.Vector, len(s.w.Partition))}}
	return r
}

// windowReader cuts the input into sections and gives what they became.
type windowReader struct {
	s   *windowSource
	ctx *stoppable

	in      Reader
	program *expr.Program
	b       vector.Batch
	keys    vector.Batch  // the partitions of its rows
	at      int           // the row that comes next
	before  *vector.Batch // the partition of the row before the batch; nil: none came
	ended   bool
	most    int64 // bytes of a section, computed
	sent    bool  // a section went to a goroutine

	flight []*windowSection // in their order
	large  *pager           // behind them, in which the next row is; nil: none
	wg     sync.WaitGroup
	given  *windowSection // whose rows are read
	rows   Reader
	away   time.Duration // spent in the input, or waiting, since the reader was called
	closed bool
}

// stoppable is a context that also ends when nobody reads any more.
type stoppable struct {
	context.Context
	stopped atomic.Bool
}

// Err is not nil once the rows are not wanted.
func (c *stoppable) Err() error {
	if c.stopped.Load() {
		return ErrStop
	}
	return c.Context.Err()
}

// windowSection is rows of whole partitions.
type windowSection struct {
	rows   *Rows
	begun  int   // the first row of the last partition, where that is known
	bytes  int64 // of the rows once they are computed
	memory loan
	out    *vector.Batch
	err    error
	done   chan struct{} // closed when it is computed
}

// Next gives the next rows.
func (r *windowReader) Next(b *vector.Batch) (bool, error) {
	f := r.s.figures
	if f == nil {
		return r.next(b)
	}
	began := f.begin()
	r.away = 0
	ok, err := r.next(b)
	f.end(began, r.away)
	if held := r.held(); held > f.Memory.Load() {
		f.Memory.Store(held)
	}
	if ok {
		f.Out.Add(int64(b.N))
		f.OutBatches.Add(1)
	}
	return ok, err
}

func (r *windowReader) next(b *vector.Batch) (bool, error) {
	for {
		if r.rows != nil {
			ok, err := r.rows.Next(b)
			if ok || err != nil {
				return ok, err
			}
			r.forget()
		}
		if err := r.fill(); err != nil {
			return false, err
		}
		switch {
		case len(r.flight) > 0:
			if err := r.take(); err != nil {
				return false, err
			}
		case r.large != nil:
			ok, err := r.large.Next(b)
			if ok || err != nil {
				return ok, err
			}
			err = r.large.end()
			r.large.Close()
			if r.large = nil; err != nil {
				return false, err
			}
		default:
			return false, nil
		}
	}
}

// held is the bytes that are taken.
func (r *windowReader) held() (bytes int64) {
	for _, s := range r.flight {
		bytes += s.memory.bytes.Load()
	}
	if r.given != nil {
		bytes += r.given.memory.bytes.Load()
	}
	if r.large != nil {
		bytes += r.large.memory.bytes.Load() + r.large.answers.bytes.Load()
	}
	return bytes
}

// forget gives back the section that was read.
func (r *windowReader) forget() {
	r.rows.Close()
	r.given.memory.end()
	r.rows, r.given = nil, nil
}

// take waits for the first section.
func (r *windowReader) take() error {
	s := r.flight[0]
	began := time.Now()
	<-s.done
	r.away += time.Since(began)
	r.flight = r.flight[1:]
	r.given, r.rows = s, Values(s.out).Reader(0)
	return s.err
}

// fill gives sections to goroutines, as many as there are workers.
func (r *windowReader) fill() error {
	if r.most == 0 {
		r.begin()
	}
	for len(r.flight) < max(1, r.s.workers) && r.large == nil && !r.ended {
		s, err := r.section()
		if err != nil {
			return err
		}
		if s.rows.Len() == 0 {
			continue
		}
		r.flight = append(r.flight, s)
		if r.ended && !r.sent { // the only one
			r.compute(s, r.s.workers)
			return nil
		}
		r.sent = true
		r.wg.Go(func() {
			began := time.Now()
			r.compute(s, 1)
			if f := r.s.figures; f != nil {
				f.busy.Add(int64(time.Since(began)))
			}
		})
	}
	return nil
}

// begin finds out how much a section may take: several are computed at a time, and half of the memory is for the
// operators above.
func (r *windowReader) begin() {
	left := r.s.budget.Left()
	if b := r.s.budget; b != nil {
		left = min(left, b.pool.limit/2)
	}
	r.most = max(left/2/int64(max(1, r.s.workers)+1), 1<<10)
	r.program = mustCompile(r.s.w.Partition, r.s.budget)
}

// compute computes a section. A panic is the query's end, not the server's.
func (r *windowReader) compute(s *windowSection, workers int) {
	defer close(s.done)
	defer func() {
		if v := recover(); v != nil {
			s.err = panicked(v)
		}
	}()
	rows, err := Together(r.ctx, []*Rows{s.rows}, workers, r.s.budget)
	if err == nil {
		s.out, err = r.s.w.compute(r.ctx, rows, workers, &s.memory)
	}
	s.err = err
}

// more reads the next batch; false: there is none.
func (r *windowReader) more() (bool, error) {
	if r.b.N > 0 && len(r.keys.Cols) > 0 {
		r.before = lastRow(&r.keys)
	} else if r.b.N > 0 {
		r.before = &vector.Batch{}
	}
	began := time.Now()
	r.at, r.b.N = 0, 0
	ok, err := r.in.Next(&r.b)
	r.away += time.Since(began)
	if !ok || err != nil {
		r.b.N, r.ended = 0, true
		return false, err
	}
	if f := r.s.figures; f != nil {
		f.In.Add(int64(r.b.N))
		f.InBatches.Add(1)
	}
	r.keys.N = r.b.N
	return true, r.program.Eval(&r.b, r.keys.Cols)
}

// begins reports whether a row of the batch begins a partition.
func (r *windowReader) begins(i int) bool {
	for k, c := range r.keys.Cols {
		if i > 0 && !sameValue(c, i-1, c, i) || i == 0 && r.before != nil && !sameValue(r.before.Cols[k], 0, c, 0) {
			return true
		}
	}
	return i == 0 && r.before == nil
}

// nextBegin returns the first row of the batch, from a row on, that begins a partition; where none does, the end of it.
func (r *windowReader) nextBegin(from int) int {
	if len(r.keys.Cols) == 0 && (from > 0 || r.before != nil) {
		return r.b.N
	}
	for from < r.b.N && !r.begins(from) {
		from++
	}
	return from
}

// section takes rows up to the first partition that begins at sectionRows rows or later, or at its share of the memory.
// Of a partition that is too large for a section the pager takes the rest.
func (r *windowReader) section() (*windowSection, error) {
	s := &windowSection{rows: NewRows(r.s.types), memory: loan{budget: r.s.budget}, done: make(chan struct{})}
	for {
		if r.at == r.b.N {
			ok, err := r.more()
			if err != nil || !ok {
				return s, err
			}
			continue
		}
		from, least := r.at, r.b.N // the first row before which the section may end
		if have := s.rows.Len(); s.bytes > r.most/2 {
			least = from
		} else if have+r.b.N-from > sectionRows {
			least = from + max(0, sectionRows-have)
		}
		if s.rows.Len() == 0 && least == from {
			least++ // the first row begins the section
		}
		r.noteBegin(s, from, least)
		to := r.nextBegin(least)
		some := sliceOf(&r.b, from, to)
		if err := s.memory.Reserve(BatchBytes(some)); err != nil {
			return s, err
		}
		s.rows.Add(some, 0, some.N)
		s.bytes += r.weight(some)
		r.at = to
		if to < r.b.N {
			return s, nil
		}
		if s.bytes > r.most {
			return r.divide(s)
		}
	}
}

// noteBegin notes where the last partition of a section begins.
func (r *windowReader) noteBegin(s *windowSection, from, to int) {
	if len(r.keys.Cols) == 0 {
		return
	}
	for i := to - 1; i >= from; i-- {
		if r.begins(i) {
			s.begun = s.rows.Len() + i - from
			return
		}
	}
}

// weight is about the bytes of rows with what is computed of them.
func (r *windowReader) weight(b *vector.Batch) int64 {
	return 2*BatchBytes(b) + int64(b.N)*cellBytes*int64(2*len(r.s.w.Funcs)+4)
}

// divide gives the last partition of a section, whose end is not known yet, to a pager.
func (r *windowReader) divide(s *windowSection) (*windowSection, error) {
	list, all := s.rows, s.rows.Len()
	s.rows = NewRows(r.s.types)
	if s.begun > 0 {
		first, at := NewRows(r.s.types), 0
		for _, c := range list.chunks {
			cut := min(max(s.begun-at, 0), c.N)
			s.rows.Add(c, 0, cut)
			first.Add(c, cut, c.N)
			at += c.N
		}
		list = first
	}
	moved := int64(float64(s.memory.bytes.Load()) * float64(list.Len()) / float64(all))
	s.memory.bytes.Add(-moved)
	var err error
	r.large, err = newPager(r, list, moved)
	return s, err
}

// Close ends the computing and waits for it.
func (r *windowReader) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.ctx.stopped.Store(true)
	r.wg.Wait()
	r.in.Close()
	if r.rows != nil {
		r.forget()
	}
	for _, s := range r.flight {
		s.memory.end()
	}
	if r.large != nil {
		r.large.Close()
	}
}
