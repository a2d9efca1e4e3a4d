// Package exec runs queries over batches. A plan is a list of pipelines. A pipeline is a source, streaming operators,
// and a sink that needs all rows before it yields any. Each pipeline reads the result of the one before it.
//
// An operator is a function that wraps the next function. Each worker builds its own chain, so scratch memory is a
// captured local and operators need no locks. Sinks keep state per worker and combine it at the end.
package exec

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"varve/engine/vector"
)

// Step takes a batch and keeps nothing of it.
type Step func(*vector.Batch) error

// Source is the input of a pipeline. Readers of different workers share its rows: each row goes to one of them.
type Source interface {
	Reader(worker int) Reader
}

// Reader streams rows. One goroutine at a time. The content of a batch stays valid until the next Next or Close.
type Reader interface {
	Next(*vector.Batch) (bool, error)
	Close()
}

// Operator is a streaming step: filter, project, limit, join probe. Step is called once per worker.
type Operator interface {
	Step(next Step) Step
	String() string
}

// Ending is an operator that emits further rows after the last one, as a join emits build rows without a partner. Rest
// is called once, after all workers have passed all their rows. It is not called if the pipeline ends early; nil means
// no rows.
type Ending interface {
	Operator
	Rest() Source
}

// Sink takes all rows of a pipeline. Step is called once per worker, from that worker's goroutine or before it
// starts; Finish once, when all workers are done.
type Sink interface {
	Step(worker int) Step
	Finish(context.Context) (Source, error)
	String() string
}

// ErrStop is the answer of a step that needs no more rows: the pipeline ends without an error.
var ErrStop = errors.New("enough rows")

// Pipeline is a source, operators and a sink.
type Pipeline struct {
	Source Source
	Ops    []Operator
	Sink   Sink
}

// Workers is the number of workers that a query gets if n is requested; 0 means one for each processor.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Run moves all rows of the source through the operators into the sink and gives what the sink made of them. The
// first error of any worker ends all. It returns when all workers have.
func (p *Pipeline) Run(ctx context.Context, workers int) (Source, error) {
	var ended atomic.Bool // a worker has failed, or has enough
	cancelled := func() error {
		if ended.Load() {
			return ErrStop
		}
		return ctx.Err()
	}
	steps := make([][]Step, max(1, workers))
	for w := range steps {
		steps[w] = Chain(p.Ops, watched(cancelled, p.Sink.Step(w)))
	}
	var first error
	var once sync.Once
	fail := func(err error) {
		once.Do(func() {
			first = err
			ended.Store(true)
		})
	}
	read := func(src Source, at, w int) {
		// A panic of a worker is the query's end, not the server's.
		defer func() {
			if v := recover(); v != nil {
				fail(panicked(v))
			}
		}()
		if err := drain(cancelled, src.Reader(w), steps[w][at]); err != nil {
			fail(err)
		}
	}
	// the rows of the source, then the rows that each operator still holds
	for at := 0; at <= len(p.Ops) && first == nil; at++ {
		src := p.Source
		if at > 0 {
			if src = Rest(p.Ops[at-1]); src == nil {
				continue
			}
		}
		var wg sync.WaitGroup
		for w := 1; w < len(steps); w++ {
			wg.Go(func() { read(src, at, w) })
		}
		read(src, at, 0)
		wg.Wait()
	}
	if first != nil && !errors.Is(first, ErrStop) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, first
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.Sink.Finish(ctx)
}

// Chain puts operators before a step. The first step takes the output of the source, each further step the output of an
// operator. None of them gets more long texts at a time than a portion.
func Chain(ops []Operator, last Step) []Step { return chained(ops, last, inPortions) }

// chained is Chain; each step is changed by a function.
func chained(ops []Operator, last Step, change func(Step) Step) []Step {
	steps := make([]Step, len(ops)+1)
	steps[len(ops)] = change(last)
	for i := len(ops) - 1; i >= 0; i-- {
		steps[i] = change(ops[i].Step(steps[i+1]))
	}
	return steps
}

// Ends reports whether an operator may have rows of its own at the end.
func Ends(op Operator) bool {
	switch op := op.(type) {
	case *measuredOp:
		return Ends(op.Operator)
	case *joinProbe:
		return op.spec.Kind.rest() || op.spill.Load() != nil
	}
	_, ok := op.(Ending)
	return ok
}

// Rest returns the rows that an operator has of its own; nil when it has none.
func Rest(op Operator) Source {
	if e, ok := op.(Ending); ok {
		return e.Rest()
	}
	return nil
}

// watched looks whether the pipeline still runs before every batch that reaches the sink: an operator that makes many
// batches of one, as a join does, ends with the query too.
func watched(cancelled func() error, sink Step) Step {
	return func(b *vector.Batch) error {
		if err := cancelled(); err != nil {
			return err
		}
		return sink(b)
	}
}

// drain reads to the end. A step that wants no more rows ends it with ErrStop, which ends the other workers too: a
// limit is reached for all of them.
func drain(cancelled func() error, r Reader, step Step) error {
	defer r.Close()
	var b vector.Batch
	for {
		if err := cancelled(); err != nil {
			return err
		}
		ok, err := r.Next(&b)
		if err != nil || !ok {
			return err
		}
		if b.N == 0 {
			continue
		}
		if err := step(&b); err != nil {
			return err
		}
	}
}
