package pipeline

import (
	"varve/engine/status"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// maxTraceBytes bounds the texts that a trace keeps.
const maxTraceBytes = 4 << 20

// Step is what an entry was after a processor of a trial.
type Step struct {
	// Pipeline is the stored pipeline that a dispatcher chose; empty for the pipeline of the request.
	Pipeline  string
	Processor string
	// Index is the place of the processor in its document, from 0.
	Index int
	// After is the entry as JSON: null when the processor dropped it, empty when it failed.
	After []byte
}

// trace keeps what became of the entries of a trial, processor by processor. A nil trace keeps nothing.
type trace struct {
	first *Program
	// before and steps are of the current entry.
	before []byte
	steps  []Step
	bytes  int
	full   bool
}

// begin keeps an entry as it comes to the first processor.
func (t *trace) begin(v value.Value, arena *value.Arena) {
	if t == nil || t.full {
		return
	}
	if t.full = t.bytes+arena.Used() > maxTraceBytes; !t.full {
		t.before = value.AppendJSON(nil, v)
		t.bytes += len(t.before)
	}
}

// after keeps the outcome of a processor.
func (t *trace) after(p *Program, index int, v func() value.Value, arena *value.Arena, failed bool) {
	if t == nil || t.full {
		return
	}
	s := Step{Processor: p.stages[index].name, Index: index}
	if p != t.first {
		s.Pipeline = p.name
	}
	if !failed {
		if t.full = t.bytes+arena.Used() > maxTraceBytes; t.full {
			return
		}
		s.After = value.AppendJSON(nil, v())
	}
	t.bytes += len(s.After) + len(s.Processor) + len(s.Pipeline)
	t.full = t.bytes > maxTraceBytes
	t.steps = append(t.steps, s)
}

// event is after for a processor that worked on an event.
func (t *trace) event(p *Program, index int, e *processor.Event, err error) {
	if t != nil {
		t.after(p, index, e.Context, e.Arena, err != nil)
	}
}

// value is after for a script that worked on a value.
func (t *trace) value(p *Program, index int, v value.Value, arena *value.Arena, err error) {
	if t != nil {
		t.after(p, index, func() value.Value { return v }, arena, err != nil)
	}
}

// take returns an entry as it came, empty when it could not be read, and its steps.
func (t *trace) take() (before []byte, steps []Step, err error) {
	if t == nil {
		return nil, nil, nil
	}
	if t.full {
		return nil, nil, status.New(status.InvalidArguments,
			"the steps of the dry run take more than %d bytes: send fewer or smaller entries, or no trace",
			maxTraceBytes)
	}
	before, steps = t.before, t.steps
	t.before, t.steps = nil, nil
	return before, steps, nil
}
