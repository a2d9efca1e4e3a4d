package pipeline

import (
	"context"
	"runtime/debug"
)

// runProgram takes the entries that read shows through a program. lines tells that they are text.
func (m *Manager) runProgram(ctx context.Context, r *Request, p *Program, to destination, read func(func([]byte) error) error, lines bool) (Outcome, error) {
	w := m.worker(ctx, r, p, to, lines)
	defer m.release(w)
	c := &crew{m: m, ctx: ctx, w: w}
	if err := c.finish(read(c.entry)); err != nil {
		return Outcome{}, err
	}
	for _, s := range w.order {
		if err := s.checkBounds(w.bytes); err != nil {
			return Outcome{}, err
		}
	}
	return w.out, nil
}

// worker readies a worker for a request.
func (m *Manager) worker(ctx context.Context, r *Request, p *Program, to destination, lines bool) *worker {
	w := m.workers.Get().(*worker)
	w.m, w.request, w.first, w.to, w.text = m, r, p, to, lines
	w.find = func(name string) (*Program, error) { return m.find(ctx, name, "") }
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
	clear(w.targets)
	w.order, w.last, w.request, w.first, w.find, w.to = nil, nil, nil, nil, nil, nil
	w.out, w.bytes, w.clock = Outcome{}, 0, clock{}
	m.workers.Put(w)
}

// title is the pipeline's name.
func (p *Program) title() string {
	if p == nil {
		return Identity
	}
	return p.name
}

// guard is entry that turns a panic, a bug, into an error of the request.
func (w *worker) guard(text []byte) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.m.o.Logger.Error("a pipeline panicked, the request fails", "pipeline", w.first.title(), "panic", cause, "stack", string(debug.Stack()))
			err = panicError(cause, w.first.title())
		}
	}()
	return w.entry(text)
}
