package exec

import (
	"context"
	"sync/atomic"
	"time"

	"varve/engine/vector"
)

// Figures are the figures of one operator of a plan. Safe for concurrent use: workers add to them once for each batch.
type Figures struct {
	In, Out    atomic.Int64 // rows
	InBatches  atomic.Int64
	OutBatches atomic.Int64
	Kept       atomic.Int64 // rows that a join keeps of its build side
	busy       atomic.Int64 // ns of all workers inside the operator
	first      atomic.Int64 // ns since the clock began; 0: it has not begun
	last       atomic.Int64
	// Memory is the bytes that its sink held when all rows were there; Spilled and Files what it wrote to files.
	Memory, Spilled, Files atomic.Int64
	Partitions             atomic.Int64 // over which its sink has spread rows
}

// Busy is the time that all workers together spent inside the operator, those below and above it excluded.
// While the call of a source that reads others is under way, only their time may be known: it is 0 then.
func (f *Figures) Busy() time.Duration { return time.Duration(max(0, f.busy.Load())) }

// Wall is the time from its first row to its last, or to now while it works on the first.
func (f *Figures) Wall() time.Duration {
	first, last := f.first.Load(), f.last.Load()
	if last < first {
		last = int64(time.Since(clock))
	}
	return time.Duration(last - first)
}

// Began reports whether the operator was reached at all.
func (f *Figures) Began() bool { return f.first.Load() > 0 }

// clock is what times are measured from; monotonic.
var clock = time.Now()

// begin is the time now, which it notes as the first.
func (f *Figures) begin() time.Duration {
	now := time.Since(clock)
	if f.first.Load() == 0 {
		f.first.CompareAndSwap(0, int64(now))
	}
	return now
}

// end adds the time since began, without what was spent in other operators.
func (f *Figures) end(began, others time.Duration) {
	now := time.Since(clock)
	f.busy.Add(int64(now - began - others))
	for last := f.last.Load(); int64(now) > last && !f.last.CompareAndSwap(last, int64(now)); last = f.last.Load() {
	}
}

// MeasureOp measures an operator. first and last are its position among the operators of its node: incoming rows are
// counted at the first, outgoing rows at the last.
func MeasureOp(op Operator, f *Figures, first, last bool) Operator {
	return &measuredOp{op, f, first, last}
}

type measuredOp struct {
	Operator
	f           *Figures
	first, last bool
}

// Step measures a worker's calls.
func (m *measuredOp) Step(next Step) Step {
	f := m.f
	var above time.Duration // spent in the steps after it, during the call at hand
	step := m.Operator.Step(func(b *vector.Batch) error {
		if m.last {
			f.Out.Add(int64(b.N))
			f.OutBatches.Add(1)
		}
		began := time.Now()
		err := next(b)
		above += time.Since(began)
		return err
	})
	return func(b *vector.Batch) error {
		if m.first {
			f.In.Add(int64(b.N))
			f.InBatches.Add(1)
		}
		above = 0
		began := f.begin()
		err := step(b)
		f.end(began, above)
		return err
	}
}

// Rest measures the rows that the operator has of its own.
func (m *measuredOp) Rest() Source {
	src := Rest(m.Operator)
	if src == nil {
		return nil
	}
	return MeasureSource(src, m.f, m.last)
}

// MeasureBranches measures the rows of branches where they come together.
func MeasureBranches(f *Figures) Operator { return &measuredOp{branchesOp{}, f, true, true} }

// branchesOp passes all rows on.
type branchesOp struct{}

func (branchesOp) Step(next Step) Step { return next }
func (branchesOp) String() string      { return "Union" }

// measureInput measures what a measured source reads from another one: its rows come in, and the time that they take is
// not the source's own. f may be nil.
func measureInput(r Reader, f *Figures) Reader {
	if f == nil {
		return r
	}
	return &measuredInput{r, f}
}

type measuredInput struct {
	Reader
	f *Figures
}

func (r *measuredInput) Next(b *vector.Batch) (bool, error) {
	began := time.Now()
	ok, err := r.Reader.Next(b)
	r.f.busy.Add(-int64(time.Since(began)))
	if ok && err == nil {
		r.f.In.Add(int64(b.N))
		r.f.InBatches.Add(1)
	}
	return ok, err
}

// MeasureSource measures a source. out: its rows leave the node.
func MeasureSource(src Source, f *Figures, out bool) Source { return &measuredSource{src, f, out} }

type measuredSource struct {
	Source
	f   *Figures
	out bool
}

// Reader measures a worker's reader.
func (m *measuredSource) Reader(worker int) Reader {
	return &measuredReader{m.Source.Reader(worker), m.f, m.out}
}

type measuredReader struct {
	Reader
	f   *Figures
	out bool
}

func (r *measuredReader) Next(b *vector.Batch) (bool, error) {
	began := r.f.begin()
	ok, err := r.Reader.Next(b)
	r.f.end(began, 0)
	if ok && r.out {
		r.f.Out.Add(int64(b.N))
		r.f.OutBatches.Add(1)
	}
	return ok, err
}

// MeasureSink measures a sink. keeps: the node keeps the rows of this sink, and its other side is the input.
func MeasureSink(s Sink, f *Figures, budget *Budget, keeps bool) Sink {
	m := &measuredSink{Sink: s, f: f, budget: budget, keeps: keeps, before: budget.Used()}
	m.bytes, m.files = budget.spilled()
	if s, ok := s.(interface{ measure(f *Figures) }); ok {
		s.measure(f)
		m.itself = true
	}
	return m
}

type measuredSink struct {
	Sink
	f      *Figures
	budget *Budget
	keeps  bool
	itself bool // the sink counts what it writes, also when its rows are read
	// before is the bytes of the budget that were taken before it, bytes and files what had been written to files.
	before, bytes, files int64
}

// Step measures a worker's calls.
func (m *measuredSink) Step(worker int) Step {
	step, rows := m.Sink.Step(worker), &m.f.In
	if m.keeps {
		rows = &m.f.Kept
	}
	return func(b *vector.Batch) error {
		rows.Add(int64(b.N))
		if !m.keeps {
			m.f.InBatches.Add(1)
		}
		began := m.f.begin()
		err := step(b)
		m.f.end(began, 0)
		return err
	}
}

// Finish measures what comes after the last row.
func (m *measuredSink) Finish(ctx context.Context) (Source, error) {
	held, began := m.budget.Used(), m.f.begin()
	src, err := m.Sink.Finish(ctx)
	m.f.end(began, 0)
	m.f.Memory.Store(max(held-m.before, m.budget.Used()-m.before, 0)) // those below may have given some back
	if m.itself {
		return src, err
	}
	bytes, files := m.budget.spilled()
	m.f.Spilled.Store(bytes - m.bytes)
	m.f.Files.Store(files - m.files)
	return src, err
}
