package pipeline

import (
	"context"
	"runtime/debug"
	"sync"

	"varve/flatten"
	"varve/pipeline/value"
)

// runProgram takes the entries that read shows through a program. lines tells that they are text.
func (m *Manager) runProgram(ctx context.Context, r *Request, p *Program, to destination,
	read func(func([]byte) error) (int, error), lines bool) (Outcome, error) {
	w := m.worker(&finder{m: m, ctx: ctx}, m.holding(r.Hold), r, p, to, lines)
	defer m.release(w)
	c := &crew{m: m, w: w}
	entries, err := read(c.entry)
	if err = c.finish(err); err != nil {
		return Outcome{}, explained(err, entries)
	}
	return w.outcome(entries)
}

// runValues takes entries that are values through a program.
func (m *Manager) runValues(ctx context.Context, r *Request, p *Program, to destination,
	next func(*value.Arena) (value.Value, bool, error)) (Outcome, error) {
	w := m.worker(&finder{m: m, ctx: ctx}, m.holding(r.Hold), r, p, to, false)
	defer m.release(w)
	for {
		if err := cancelled(ctx); err != nil {
			return Outcome{}, err
		}
		v, ok, err := w.read(next)
		if err != nil {
			return Outcome{}, err
		}
		if !ok {
			return w.outcome(w.number)
		}
		if err := w.guardValue(v); err != nil {
			return Outcome{}, explained(err, 0)
		}
	}
}

// explained is an error with the entry it is about, of how many; 0: not known.
func explained(err error, entries int) error {
	if f, ok := err.(*flatten.Failure); ok {
		return f.Explain(entries)
	}
	return err
}

// outcome is what the worker did with so many entries, when it is within bounds.
func (w *worker) outcome(entries int) (Outcome, error) {
	if err := w.measure(); err != nil {
		return Outcome{}, err.(fatal).error
	}
	w.out.explain(w.failures, entries)
	w.out.Warnings = w.m.once(w.request, w.timeWarnings)
	return w.out, nil
}

// finder finds the pipelines that dispatchers name: to all entries of a request the same version. Safe for concurrent
// use.
type finder struct {
	m   *Manager
	ctx context.Context

	mu    sync.Mutex
	found map[string]*Program
}

func (f *finder) latest(name string) (*Program, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.found[name]; p != nil {
		return p, nil
	}
	p, err := f.m.find(f.ctx, name, "")
	if err != nil {
		return nil, err
	}
	if f.found == nil {
		f.found = map[string]*Program{}
	}
	f.found[name] = p
	return p, nil
}

// worker readies a worker for a request.
func (m *Manager) worker(find *finder, h *holding, r *Request, p *Program, to destination, lines bool) *worker {
	w := m.workers.Get().(*worker)
	w.m, w.find, w.holding, w.request, w.first, w.to, w.text = m, find, h, r, p, to, lines
	w.clock = clock{more: func() int64 { return m.now().UnixNano() }}
	return w
}

// maxSpareEvents bounds the events that an idle worker keeps, one for each program it has seen.
const maxSpareEvents = 64

// release takes a worker back, with its counts.
func (m *Manager) release(w *worker) {
	for p, c := range w.counts {
		m.metrics.add(p.title(), c)
		*c = counts{}
	}
	if len(w.events) > maxSpareEvents {
		clear(w.events)
		clear(w.counts)
	}
	w.held, w.heldEvent, w.unmeasured = 0, 0, 0
	w.arena.Reset()
	w.arena.Forget()
	clear(w.targets)
	w.order, w.last, w.request, w.first, w.find, w.holding, w.to, w.failures = nil, nil, nil, nil, nil, nil, nil, nil
	w.out, w.bytes, w.columns, w.number, w.clock = Outcome{}, 0, 0, 0, clock{}
	m.workers.Put(w)
}

// title is the pipeline's name.
func (p *Program) title() string {
	if p == nil {
		return Identity
	}
	return p.name
}

// guard is entry for text that turns a panic, a bug, into an error of the request. An entry of a few bytes may be work
// for a good part of a second, so each looks whether the request is still wanted.
func (w *worker) guard(text []byte) (err error) {
	if err := cancelled(w.find.ctx); err != nil {
		return err
	}
	defer w.recovered(&err)
	return w.entry(text)
}

// read returns the next value. One that is too large ends the request: what comes after it cannot be read.
func (w *worker) read(next func(*value.Arena) (value.Value, bool, error)) (v value.Value, ok bool, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case value.Refused:
			err = cause.Err
		default:
			if cause != value.ErrEventTooLarge {
				panic(cause)
			}
			err = value.ErrEventTooLarge
		}
	}()
	w.arena.Reset()
	return next(&w.arena)
}

// guardValue is guard for a value in the worker's arena.
func (w *worker) guardValue(v value.Value) (err error) {
	defer w.recovered(&err)
	w.bytes += valueBytes
	w.number++
	if err = w.run(w.first, v, "", 0); err != nil {
		err = w.judge(err, nil)
	}
	return err
}

// valueBytes is what a value counts for where the bytes of entries bound what they may become.
const valueBytes = 256

func (w *worker) recovered(err *error) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == value.ErrEventTooLarge || cause == value.ErrTooManySteps {
		*err = w.judge(cause.(error), nil)
		return
	}
	if refused, ok := cause.(value.Refused); ok {
		*err = w.judge(fatal{refused.Err}, nil)
		return
	}
	w.m.o.Logger.Error("a pipeline panicked, the request fails", "pipeline", w.first.title(), "panic", cause, "stack",
		string(debug.Stack()))
	*err = panicError(cause, w.first.title())
}
