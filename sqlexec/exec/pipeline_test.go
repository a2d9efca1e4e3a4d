package exec

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// endless is a source without an end. read is called before every batch with their number so far.
type endless struct {
	batch  *vector.Batch
	read   func(n int64)
	given  atomic.Int64
	closed atomic.Int64
}

func newEndless(read func(n int64)) *endless {
	b := &vector.Batch{N: vector.Size, Cols: []*vector.Vector{{Type: vector.Int64Type}}}
	for i := range b.N {
		b.Cols[0].Ints = append(b.Cols[0].Ints, int64(i))
	}
	return &endless{batch: b, read: read}
}

func (e *endless) Reader(int) Reader { return &endlessReader{e} }

type endlessReader struct{ e *endless }

func (r *endlessReader) Next(b *vector.Batch) (bool, error) {
	if r.e.read != nil {
		r.e.read(r.e.given.Load())
	}
	r.e.given.Add(1)
	b.N, b.Cols = r.e.batch.N, r.e.batch.Cols
	return true, nil
}

func (r *endlessReader) Close() { r.e.closed.Add(1) }

// each is a sink that calls a function for every batch.
type each struct{ f func(*vector.Batch) error }

func (e each) Step(int) Step                          { return e.f }
func (e each) Finish(context.Context) (Source, error) { return Values(&vector.Batch{}), nil }
func (e each) String() string                         { return "Each" }

var oneInt = spec{t: vector.Int64Type}

// noMoreGoroutines wants no more goroutines than there were before. They end a moment after what they signal.
func noMoreGoroutines(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
			return
		}
	}
}

// TestCancellation: once the query is cancelled, a worker takes at most the batch that it is about to take, and Run
// gives the context's error when all have ended.
func TestCancellation(t *testing.T) {
	const workers = 2
	order := []expr.SortKey{{Expr: columns(oneInt)[0]}}
	types := []vector.Type{vector.Int64Type}
	sinks := map[string]func() (Sink, error){
		"aggregate": func() (Sink, error) { return Aggregate(columns(oneInt), nil, nil) },
		"top k":     func() (Sink, error) { return TopK(order, 10, types, nil, nil) },
		"distinct":  func() (Sink, error) { return Distinct(types, nil) },
	}
	for name, make := range sinks {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var mu sync.Mutex // no worker reads on while one cancels
			at := int64(0)
			src := newEndless(func(n int64) {
				mu.Lock()
				defer mu.Unlock()
				if n >= 10 && at == 0 {
					at = n
					cancel()
				}
			})
			sink, err := make()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (&Pipeline{Stream{Source: src}, sink}).Run(ctx, workers); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled query: %v", err)
			}
			if n := src.given.Load(); n > at+2*workers {
				t.Errorf("%d batches were read, cancelled after %d", n, at)
			}
			if src.closed.Load() != workers {
				t.Errorf("%d readers of %d are closed", src.closed.Load(), workers)
			}
			noMoreGoroutines(t, before)
		})
	}
}

// TestCancelInsideOperator: a join makes many batches of one; the query ends at the next of them.
func TestCancelInsideOperator(t *testing.T) {
	specs := []spec{oneInt}
	j, err := NewJoin(JoinSpec{Kind: Inner, ProbeTypes: typesOf(specs), BuildTypes: typesOf(specs)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&Pipeline{Stream{Source: Values(newEndless(nil).batch)}, j.Build()}).Run(context.Background(),
		1); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	batches := 0
	sink := each{func(*vector.Batch) error {
		if batches++; batches == 3 {
			cancel()
		}
		return nil
	}}
	p := Pipeline{Stream{Source: Values(newEndless(nil).batch), Ops: []Operator{j.Probe()}}, sink}
	if _, err := p.Run(ctx, 1); !errors.Is(err, context.Canceled) || batches != 3 {
		t.Errorf("%d batches reached the sink, want 3: %v", batches, err)
	}
}

// TestStopEndsSource: a limit ends a source without an end, without an error, for all workers.
func TestStopEndsSource(t *testing.T) {
	src := newEndless(nil)
	got := run(t, Pipeline{Stream{Source: src, Ops: []Operator{Limit(3000, 5)}}, &collector{}}, 1)
	want := [][]string{{"952"}, {"953"}, {"954"}, {"955"}, {"956"}}
	sameRows(t, "limit", got, want)
	if n := src.given.Load(); n != 2 {
		t.Errorf("%d batches were read, want 2", n)
	}
	src = newEndless(nil)
	var seen atomic.Int64
	stop := each{func(*vector.Batch) error {
		if seen.Add(1) >= 20 {
			return ErrStop
		}
		return nil
	}}
	if _, err := (&Pipeline{Stream{Source: src}, stop}).Run(context.Background(), 2); err != nil {
		t.Errorf("a sink that has enough: %v", err)
	}
	if src.closed.Load() != 2 {
		t.Errorf("%d readers of 2 are closed", src.closed.Load())
	}
}

// TestErrors: the first error of a worker is the query's, a panic too, and everything is closed.
func TestErrors(t *testing.T) {
	cause := errors.New("a disk on fire")
	for name, c := range map[string]struct {
		f    func(*vector.Batch) error
		want func(error) bool
	}{
		"error": {func(*vector.Batch) error { return cause }, func(err error) bool { return errors.Is(err, cause) }},
		"panic": {outOfRange,
			func(err error) bool {
				return err != nil && strings.Contains(err.Error(), "panic in a worker") &&
					strings.Contains(err.Error(), "index out of range")
			}},
	} {
		t.Run(name, func(t *testing.T) {
			for workers := 1; workers <= 3; workers++ {
				before := runtime.NumGoroutine()
				src := newEndless(nil)
				if _, err := (&Pipeline{Stream{Source: src}, each{c.f}}).Run(context.Background(),
					workers); !c.want(err) {
					t.Errorf("%d workers: %v", workers, err)
				}
				if src.closed.Load() != int64(workers) {
					t.Errorf("%d readers of %d are closed", src.closed.Load(), workers)
				}
				noMoreGoroutines(t, before)
			}
		})
	}
}

// outOfRange reads a column that is not there.
func outOfRange(b *vector.Batch) error {
	if b.Cols[len(b.Cols)].IsNull(0) {
		return nil
	}
	return nil
}

// TestSteadyStateAllocations: once the groups, the best rows and the scratch vectors are there, a batch costs nothing.
func TestSteadyStateAllocations(t *testing.T) {
	specs := []spec{{vector.StringType, 50, false}, {vector.Int64Type, 200, true}}
	cols := columns(specs...)
	b := randomTable(newRand(1), vector.Size, specs...)
	dict := &vector.Batch{N: b.N, Cols: []*vector.Vector{coded(b.Cols[0], b.N), b.Cols[1]}}
	drop := each{func(*vector.Batch) error { return nil }}.f
	step := func(s Sink, err error) Step {
		if err != nil {
			t.Fatal(err)
		}
		return s.Step(0)
	}
	op := func(o Operator, err error) Step {
		if err != nil {
			t.Fatal(err)
		}
		return o.Step(drop)
	}
	aggs := []*expr.Agg{aggregateOf(t, "count", false, nil), aggregateOf(t, "sum", false, nil, cols[1]),
		aggregateOf(t, "max", false, nil, cols[1])}
	join, err := NewJoin(JoinSpec{Kind: Inner, Probe: cols[1:], Build: cols[1:], ProbeTypes: typesOf(specs),
		BuildTypes: typesOf(specs)})
	if err != nil {
		t.Fatal(err)
	}
	few := randomTable(newRand(2), 100, specs...)
	build := Pipeline{Stream{Source: newMixed(few, 100)}, join.Build()}
	if _, err := build.Run(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		step  Step
		batch *vector.Batch
		most  float64
	}{
		"filter": {op(Filter([]expr.Expr{call(t, ">", cols[1], expr.Int(5)),
			call(t, "<>", cols[0], expr.Text("client 9"))}, nil)), b, 0},
		"project":            {op(Project([]expr.Expr{call(t, "+", cols[1], expr.Int(5)), cols[0]}, nil)), b, 0},
		"limit":              {op(Limit(10, 1<<40), nil), b, 0},
		"aggregate by text":  {step(Aggregate(cols[:1], aggs, nil)), b, 0},
		"aggregate by codes": {step(Aggregate(cols[:1], aggs, nil)), dict, 0},
		"aggregate by int":   {step(Aggregate(cols[1:], aggs, nil)), b, 0},
		"aggregate by two":   {step(Aggregate(cols, aggs, nil)), b, 0},
		"top k":              {step(TopK([]expr.SortKey{{Expr: cols[1]}}, 10, typesOf(specs), nil, nil)), b, 0},
		"join probe":         {join.Probe().Step(drop), b, 0},
	} {
		t.Run(name, func(t *testing.T) {
			one := func() {
				if err := c.step(c.batch); err != nil {
					t.Fatal(err)
				}
			}
			for range 40 {
				one()
			}
			if n := testing.AllocsPerRun(200, one); n > c.most {
				t.Errorf("%v allocations a batch, want at most %v", n, c.most)
			}
		})
	}
}
