// Package exec runs queries over batches. A plan is a graph of pipelines. A pipeline is a source, streaming operators,
// and a sink that needs all rows before it yields any, which another pipeline reads then.
//
// An operator is a function that wraps the next function. Each worker builds its own chain, so scratch memory is a
// captured local and operators need no locks. Sinks keep state per worker and combine it at the end.
package exec

import (
	"context"
	"errors"
	"runtime"

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
// is called once, after all workers have passed all their rows. It is not called if the stream ends early; nil means
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

// Stream is the rows of a source, or those of branches, one branch after the other, and the operators that they pass.
type Stream struct {
	Source   Source
	Branches []Stream // instead of Source
	Ops      []Operator
	// Serial streams give their rows in an order that counts: one worker moves them.
	Serial bool
}

// Pipeline is a stream and the sink that takes its rows.
type Pipeline struct {
	Stream
	Sink Sink
}

// Workers is the number of workers that a query gets if n is requested; 0 means one for each processor.
func Workers(n int) int {
	if n > 0 {
		return n
	}
	return runtime.GOMAXPROCS(0)
}

// Run moves all rows of the stream into the sink and gives what the sink made of them. The first error of any worker
// ends all. It returns when all workers have.
func (p *Pipeline) Run(ctx context.Context, workers int) (Source, error) {
	if p.Serial {
		workers = 1
	}
	m := &mover{ctx: ctx}
	into := make([]Step, max(1, workers))
	for w := range into {
		into[w] = p.Sink.Step(w)
	}
	m.move(p.Stream, into)
	if err := m.err(); err != nil {
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

// Rest returns the rows that an operator has of its own; nil when it has none.
func Rest(op Operator) Source {
	if e, ok := op.(Ending); ok {
		return e.Rest()
	}
	return nil
}
