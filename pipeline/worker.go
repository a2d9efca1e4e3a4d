package pipeline

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// destination returns the builder of the rows for the requested table with a suffix.
type destination func(suffix string, h engine.Hint) *vector.Builder

// maxChain bounds the pipelines that an entry goes through: dispatchers may lead in a circle.
const maxChain = 16

// worker runs entries through programs and appends the rows to the sinks of one destination. One goroutine at a time.
type worker struct {
	m       *Manager
	request *Request
	first   *Program
	find    *finder
	to      destination
	text    bool   // entries are lines
	trace   *trace // of a trial; nil: none

	arena   value.Arena
	events  map[*Program]*processor.Event
	targets map[*Program]*target
	order   []*sink // in the order of first use
	last    *sink   // of the last row
	key     []byte
	option  []byte
	flat    []flatField
	counts  map[*Program]*counts

	number     int               // of the current entry in the body, from 1
	failures   []flatten.Failure // the first of those skipped
	bytes      int64             // of the entries so far
	columns    int               // of all sinks
	clock      clock
	out        Outcome
	holding    *holding // of the request
	held       int64    // bytes of rows that are counted there
	heldEvent  int64    // bytes of the largest event that are
	unmeasured int      // bytes that rows may have grown by since they were measured
}

// counts are what became of the entries of a program.
type counts struct{ in, out, dropped, failed int }

// clock hands out the times of rows without one.
type clock struct {
	next, end int64 // times that are left, in ns
	more      func() int64
}

// now is a time that no other row of this process gets.
func (c *clock) now() int64 {
	if c.next >= c.end {
		c.next = c.more()
		c.end = c.next + flatten.ClockSpan
	}
	c.next++
	return c.next - 1
}

// fatal is an error that fails the request even where errors of entries are skipped.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// entry takes one entry, as text, through the first program. The text is not needed after.
func (w *worker) entry(text []byte) error {
	w.bytes += int64(len(text))
	w.arena.Reset()
	v, err := w.decode(text)
	if err == nil {
		v = w.received(v)
	}
	if err == nil {
		w.trace.begin(v, &w.arena)
		err = w.run(w.first, v, "", 0)
	}
	if err != nil {
		err = w.judge(err, text)
	}
	return err
}

// judge decides what the error of an entry means for the request. text is the entry, if it is known.
func (w *worker) judge(err error, text []byte) error {
	if f, ok := err.(fatal); ok {
		return &flatten.Failure{Entry: w.number, Err: f.error}
	}
	w.count(w.first).failed++
	if !w.request.SkipError {
		return &flatten.Failure{Entry: w.number, Err: withText(err, text)}
	}
	w.skip(err, text)
	return nil
}

// skip counts an entry, or a row of one, that is left out.
func (w *worker) skip(err error, text []byte) {
	w.out.Skipped++
	if w.request.AllFailures || len(w.failures) < flatten.MaxFailures {
		w.failures = flatten.AddFailure(w.failures, flatten.Failure{Entry: w.number, Err: withText(err, text)},
			w.request.AllFailures)
	}
}

// withText shows the entry itself where an error tells of none of its fields.
func withText(err error, text []byte) error {
	s := subjectOf(err)
	if s.Field == "" && s.Value == "" {
		s.Value = strings.Clone(value.View(text))
	}
	return s
}

// subjectOf is an error with room for what it is about.
func subjectOf(err error) *flatten.Subject {
	s, ok := err.(*flatten.Subject)
	if !ok {
		s = &flatten.Subject{Err: err}
	}
	return s
}

// about says which field of an entry an error is about.
func about(err error, field string, v value.Value, hint string) error {
	if _, ends := err.(fatal); ends || err == nil {
		return err
	}
	return processor.About(err, field, v, hint)
}

// decode reads an entry.
func (w *worker) decode(text []byte) (value.Value, error) {
	if w.text {
		o := w.arena.Object(1)
		o.Append(&w.arena, "message", value.Bytes(text))
		return o.Of(), nil
	}
	v, fault := value.ReadJSON(&w.arena, value.View(text), value.JSONOptions{})
	if fault.Failed() {
		return v, status.New(status.InvalidArguments, "Failed to parse payload as json: %s", fault.In(string(text)))
	}
	return v, nil
}

// received is an entry as its protocol means it.
func (w *worker) received(v value.Value) value.Value {
	r := w.request
	if v.Kind() != value.ObjectKind || !r.NoVariables && r.TimeField == "" {
		return v
	}
	if ns, has := v.Object().Get(r.TimeField); has && r.TimeField != "" && ns.Kind() == value.IntKind {
		v.Object().Set(&w.arena, r.TimeField, value.Timestamp(ns.Int()))
	}
	if r.NoVariables {
		return w.withoutVariables(v)
	}
	return v
}

// withoutVariables is an entry whose fields are no option variables: those that are named so get a prefix. A script may
// set the variables all the same.
func (w *worker) withoutVariables(v value.Value) value.Value {
	o := v.Object()
	named := func(key string) bool {
		return strings.HasPrefix(key, "service_") && slices.Contains(optionNames, key)
	}
	any := false
	for i := range o.Len() {
		any = any || named(o.Member(i).Key)
	}
	if !any {
		return v
	}
	out := w.arena.Object(o.Len())
	for i := range o.Len() {
		m := o.Member(i)
		if named(m.Key) {
			m.Key = "entry." + m.Key
		}
		out.Append(&w.arena, m.Key, m.Value)
	}
	out.Sort()
	return out.Of()
}

// optionNames are the names of the variables.
var optionNames = variables()

func (w *worker) count(p *Program) *counts {
	c := w.counts[p]
	if c == nil {
		c = &counts{}
		w.counts[p] = c
	}
	return c
}

// identityNames are the keys that service_identity looks at.
var identityNames = processor.NewNames(variables()...)

// event is the event over the names of a program.
func (w *worker) event(p *Program) *processor.Event {
	e := w.events[p]
	if e == nil {
		names := identityNames
		if p != nil {
			names = p.names
		}
		e = processor.NewEvent(names, &w.arena)
		e.Journal = w.m.journals.journal(p.title())
		w.events[p] = e
	}
	return e
}

// run takes a context through a program; a nil program is service_identity. suffix is what dispatchers have put behind
// the table's name, depth how many there were.
func (w *worker) run(p *Program, v value.Value, suffix string, depth int) error {
	c := w.count(p)
	c.in++
	if p == nil {
		return w.identity(v, suffix)
	}
	e := w.event(p)
	done, err := p.process(e, v, w.trace)
	if err != nil {
		return err
	}
	if !done {
		c.dropped++
		return nil
	}
	if !e.IsObject() {
		return w.many(p, e, suffix)
	}
	if p.dispatcher != nil {
		if r := p.dispatcher.rule(e); r != nil {
			return w.dispatch(r, e, suffix, depth)
		}
	}
	return w.row(p, e, suffix)
}

// process takes a context through the processors; ok is false when the entry is dropped. Scripts that come first work
// on the context as it is, the others on slots.
func (p *Program) process(e *processor.Event, v value.Value, t *trace) (ok bool, err error) {
	stages := p.stages
	for len(stages) > 0 && stages[0].script != nil {
		v, err = stages[0].script.Apply(e, v)
		if t.value(p, len(p.stages)-len(stages), v, e.Arena, err); err != nil || v.IsNull() {
			return false, p.failed(stages, err)
		}
		stages = stages[1:]
	}
	e.Load(v)
	for i := range stages {
		if stages[i].script == nil && !e.IsObject() {
			return false, p.failed(stages[i:], processor.ErrNotObject)
		}
		err := stages[i].Run(e)
		if t.event(p, len(p.stages)-len(stages)+i, e, err); err != nil || e.Discarded() {
			return false, p.failed(stages[i:], err)
		}
	}
	return true, nil
}

// failed is an error of the first of the stages that are left.
func (p *Program) failed(left []stage, err error) error {
	if err == nil {
		return nil
	}
	s := subjectOf(err)
	s.Step = fmt.Sprintf("processor %d, %s", len(p.stages)-len(left)+1, left[0].name)
	return s
}

// dispatch hands an event over to the pipeline of a rule.
func (w *worker) dispatch(r *rule, e *processor.Event, suffix string, depth int) error {
	if depth+1 >= maxChain {
		return status.New(status.InvalidArguments,
			"the dispatchers send the entry through more than %d pipelines, last to %q", maxChain, r.pipeline)
	}
	var next *Program
	if r.pipeline != "" && r.pipeline != Identity {
		p, err := w.find.latest(r.pipeline)
		if err != nil {
			return fatal{err}
		}
		next = p
	}
	return w.run(next, e.Context(), suffix+r.tableSuffix, depth+1)
}

// many makes a row of each element of an array.
func (w *worker) many(p *Program, e *processor.Event, suffix string) error {
	if e.Whole.Kind() != value.ArrayKind {
		return processor.ErrNotObject
	}
	list := e.Whole.Array()
	for i := range list.Len() {
		v := list.At(i)
		var err error
		if v.Kind() != value.ObjectKind {
			err = notRow(i, v)
		} else {
			e.Load(v)
			err = w.row(p, e, suffix)
		}
		if _, ends := err.(fatal); err != nil && (ends || !w.request.SkipError) {
			return err
		}
		if err != nil {
			w.count(p).failed++
			w.skip(err, nil)
		}
	}
	return nil
}

func notRow(i int, v value.Value) error {
	return status.New(status.IllegalState,
		"Array element at index %d must be an object for one-to-many transformation, got %s", i, v.Kind())
}

// row makes the row of an event whose processing is over.
func (w *worker) row(p *Program, e *processor.Event, suffix string) error {
	s, err := w.sink(p, e, suffix)
	if err != nil {
		return err
	}
	if err := s.row(e, w.now); err != nil {
		return err
	}
	return w.counted(s, p)
}

// now is the clock of rows.
func (w *worker) now() int64 { return w.clock.now() }

// counted counts a row.
func (w *worker) counted(s *sink, p *Program) error {
	w.out.Rows++
	w.count(p).out++
	return w.grown(w.arena.Used() + 8*s.b.Columns())
}

// sink finds where the row of an event goes, and takes the variables out of the event.
func (w *worker) sink(p *Program, e *processor.Event, suffix string) (*sink, error) {
	w.key = append(w.key[:0], suffix...)
	if v, has := e.Get(suffixSlot); has && !v.IsNull() {
		w.key = appendText(w.key, v)
	} else if p.suffix != nil {
		if text, ok := p.suffix.append(w.key, e, p.consumed); ok {
			w.key = text
		}
	}
	return w.keyed(p, e)
}

// keyed finds the sink of a program for the table's suffix in w.key and the options of an event.
func (w *worker) keyed(p *Program, e *processor.Event) (*sink, error) {
	table := len(w.key)
	for slot := range suffixSlot {
		if v, has := e.Get(slot); has && !v.IsNull() {
			w.option = appendText(w.option[:0], v)
			w.key = binary.AppendUvarint(append(w.key, byte(slot)), uint64(len(w.option)))
			w.key = append(w.key, w.option...)
		}
	}
	w.key = binary.LittleEndian.AppendUint32(w.key, uint32(table)) // so that no two ways to write a key are equal
	if s := w.last; s != nil && s.target.program == p && s.key == string(w.key) {
		return s, nil
	}
	t := w.target(p)
	if s := t.sinks[string(w.key)]; s != nil {
		w.last = s
		return s, nil
	}
	if len(w.order) >= maxSinks {
		return nil, w.sinkError(errSinks())
	}
	var vars flatten.OptionVars
	for o := range flatten.OptionCount {
		if v, has := e.Get(int(o)); has && !v.IsNull() {
			vars.Set(o, string(appendText(nil, v)))
		}
	}
	s, err := w.newSink(t, string(w.key), string(w.key[:table]), &vars)
	if err != nil {
		return nil, w.sinkError(err)
	}
	t.sinks[s.key] = s
	w.order = append(w.order, s)
	w.last = s
	return s, nil
}

// sinkError is the error of options or of a table that an entry names: that of the request, unless entries fail alone.
func (w *worker) sinkError(err error) error {
	if w.request.AllFailures {
		return err
	}
	return fatal{err}
}

func (w *worker) target(p *Program) *target {
	t := w.targets[p]
	if t == nil {
		t = newTarget(w.m, w.request, p)
		w.targets[p] = t
	}
	return t
}
