// Package pipeline runs the body of a request through the pipeline that the request names and puts the rows into a
// write set. The built-in pipeline service_identity needs no document: it flattens entries into columns. An entry
// becomes rows or the error of the request, within bounds of memory and time. A Manager is safe for concurrent use.
//
//	manager.go run.go                                     a request and its way
//	document.go compile.go transform.go index.go hint.go  documents and what they compile to
//	store.go library.go versions.go                       where they are kept, compiled, uploaded, listed
//	identity.go                                           entries as they are
//	runprogram.go chunks.go worker.go                     entries through a program, several at a time
//	convert.go sink.go clash.go                           values into columns, rows into tables, types that clash
//	dryrun.go dryidentity.go dryjson.go trace.go          trials
//	epochs.go held.go warn.go journals.go metrics.go      bounds, warnings, logs, figures
package pipeline

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/spare"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline/processor"
	"varve/pipeline/value"
	"varve/pipeline/vrl"
)

// Identity is the name of the built-in pipeline that writes every key of an entry as a column.
const Identity = "service_identity"

// Options of a Manager. Zero values mean the documented default.
type Options struct {
	// Now is the clock of rows without a time of their own. Default time.Now.
	Now func() time.Time
	// Store keeps the documents; without one there are only the built-in pipelines.
	Store *engine.Engine
	// RowBytes bounds what the rows of a request and the values of its entries take. Default 1 GiB.
	RowBytes int64
	// StrictNumbers keeps integers and floats apart where requests do not say otherwise.
	StrictNumbers bool
	// Logger takes errors that are not for clients. Default: none.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.RowBytes == 0 {
		o.RowBytes = defaultRowBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Manager runs pipelines by name. Safe for concurrent use.
type Manager struct {
	o        Options
	library  library
	metrics  *metrics
	decoders sync.Pool // of *flatten.Decoder
	workers  sync.Pool // of *worker
	chunks   spare.List[chunk]
	helpers  chan struct{} // holds one element for each chunk that another goroutine works on
	clock    atomic.Int64  // the end of the times given out, ns
	warned   warned
	journals journals
}

// New makes a manager.
func New(o Options) *Manager {
	m := &Manager{o: o.withDefaults(), metrics: newMetrics()}
	m.journals = journals{logger: m.o.Logger, of: map[string]*vrl.Journal{}}
	m.library = newLibrary(documents{m.o.Store}, m.o.Now)
	m.helpers = make(chan struct{}, helperCount())
	m.decoders.New = func() any { return flatten.NewDecoder() }
	m.workers.New = func() any {
		w := &worker{events: map[*Program]*processor.Event{}, targets: map[*Program]*target{},
			counts: map[*Program]*counts{}}
		w.arena.Share(w.holdEvent)
		return w
	}
	return m
}

// Removals counts how often tables of the store were dropped or emptied.
func (m *Manager) Removals() uint64 {
	if m.o.Store == nil {
		return 0
	}
	return m.o.Store.Removals()
}

// now is the clock, never giving times less than flatten.ClockSpan apart: rows without a time of their own must not
// meet, whichever request they come from.
func (m *Manager) now() time.Time { return time.Unix(0, m.Times(flatten.ClockSpan)) }

// Times returns the first of n times, in ns, that no other caller gets.
func (m *Manager) Times(n int64) int64 {
	for {
		end := m.clock.Load()
		t := max(m.o.Now().UnixNano(), end)
		if m.clock.CompareAndSwap(end, t+n) {
			return t
		}
	}
}

// find returns a compiled pipeline: a version by its text, or the newest.
func (m *Manager) find(ctx context.Context, name, version string) (*Program, error) {
	at, err := versionOf(version)
	if err != nil {
		return nil, err
	}
	return m.library.find(ctx, name, at, version)
}

// Request is what a client asked for: parameters and headers as text, the defaults filled in.
type Request struct {
	// DB and Table name the destination. Table empty is an error that Run reports.
	DB, Table string
	// Pipeline is the pipeline's name: headers before the query parameter. Empty is an error that Run reports.
	Pipeline string
	// Version is the version text as given; empty for the latest.
	Version string
	// CustomTimeIndex as given; only service_identity looks at it.
	CustomTimeIndex string
	// ContentType as sent, parameters included.
	ContentType string
	// SkipError leaves out entries that fail in the pipeline. SetParams overrides it.
	SkipError bool
	// AllFailures tells of all entries that are left out, not of the first few only, and has values that clash with the
	// table fail with them.
	AllFailures bool
	// Reject, when not nil, is called while the rows are written, for each row that its table did not take. entry is
	// the number of the row's entry, counted from Before.
	Reject func(entry int, why error)
	// Before is how many entries came before those of this request, in other requests of the caller.
	Before int
	// TimeField is the field of entries whose integer, in ns, is a timestamp for processors and scripts. Empty: none.
	TimeField string
	// NoVariables keeps entries from naming options of tables: service_ttl and the like are fields. Scripts may set
	// them.
	NoVariables bool
	// Tags are the columns that service_identity makes tags of the tables it makes.
	Tags []string
	// IgnoreErrors tolerates undecodable parts of the body and unreadable times.
	IgnoreErrors bool
	// Numbers sets whether integers and floats count as one type. SetParams overrides it.
	Numbers Numbers
	// MaxDepth is the number of segments of a flattened name, past which objects are kept as JSON text. 0 means 10.
	MaxDepth int
	// Hints are the table hints of the headers by key: ttl, append_mode, ... Unknown keys are ignored.
	Hints map[string]string
	// Hold is called with the memory of the request besides its body whenever it has grown notably. It may wait until
	// others give memory back; its error ends the request. The memory is held until the rows are written. nil: the
	// memory is not counted.
	Hold func(bytes int64) error
	// NoAutoCreate refuses to create tables and columns, whatever hints and entries say.
	NoAutoCreate bool
}

// SetParams takes over what the header x-service-pipeline-params says: k=v pairs joined by &. max_nested_levels wants a
// positive integer and is ignored otherwise; skip_error beats the query parameter, widen_numbers the configuration;
// other keys are ignored.
func (r *Request) SetParams(header string) {
	for pair := range strings.SplitSeq(header, "&") {
		k, v, _ := strings.Cut(pair, "=")
		v = strings.TrimSpace(v)
		switch strings.TrimSpace(k) {
		case "max_nested_levels":
			if n, err := strconv.ParseUint(v, 10, 31); err == nil && n > 0 {
				r.MaxDepth = int(n)
			}
		case "skip_error":
			r.SkipError = engine.IsTrue(v)
		case "widen_numbers":
			r.SetNumbers(v)
		}
	}
}

// Numbers sets whether integers and floats count as one type: a column that receives both is a column of floats.
type Numbers uint8

const (
	// ConfiguredNumbers are as Options.StrictNumbers says.
	ConfiguredNumbers Numbers = iota
	OneKind
	Strict
)

// SetNumbers takes the value of a parameter widen_numbers; an empty value changes nothing.
func (r *Request) SetNumbers(text string) {
	switch {
	case text == "":
	case engine.IsTrue(text):
		r.Numbers = OneKind
	default:
		r.Numbers = Strict
	}
}

// strict reports whether integers and floats are two kinds in a request.
func (m *Manager) strict(r *Request) bool {
	if r.Numbers == ConfiguredNumbers {
		r.SetNumbers(r.Hints[schema.NumbersHint])
	}
	return r.Numbers == Strict || r.Numbers == ConfiguredNumbers && m.o.StrictNumbers
}

// FromHeaders takes the name, the version and the parameters of the pipeline from the headers of a request. named
// reports whether there is a name. header returns the text of a header, or an error if it is not text.
func (r *Request) FromHeaders(header func(name string) (string, error)) (named bool, err error) {
	texts := map[string]string{}
	for _, name := range [...]string{"pipeline-name", "log-pipeline-name", "pipeline-version", "log-pipeline-version",
		"pipeline-params"} {
		if texts[name], err = header("x-service-" + name); err != nil {
			return false, err
		}
	}
	first := func(a, b string) string {
		if texts[a] != "" {
			return texts[a]
		}
		return texts[b]
	}
	if name := first("log-pipeline-name", "pipeline-name"); name != "" {
		r.Pipeline, named = name, true
	}
	if version := first("log-pipeline-version", "pipeline-version"); version != "" {
		r.Version = version
	}
	r.SetParams(texts["pipeline-params"])
	return named, nil
}

// tableTypes returns the types of a table's columns by name; there are none while it is absent.
func (m *Manager) tableTypes(name schema.Name) func(column string) (vector.Type, bool) {
	none := func(string) (vector.Type, bool) { return vector.Type{}, false }
	if m.o.Store == nil {
		return none
	}
	t, err := m.o.Store.Table(name)
	if err != nil { // it is made, or refused, when the rows are written
		return none
	}
	return func(column string) (vector.Type, bool) {
		at := t.Schema.Column(column)
		if at < 0 {
			return vector.Type{}, false
		}
		return t.Schema.Columns[at].Type, true
	}
}

// Outcome is what Run did.
type Outcome struct {
	// Rows went into the write set; Skipped entries were left out because of SkipError.
	Rows, Skipped int
	// Dropped lines of the body never were entries: they are not UTF-8, or no JSON where errors are ignored.
	Dropped int
	// Failures are the errors of the first entries left out, or of all, as a client may see them.
	Failures []Failed
	// Warnings are what a client should know although all went well.
	Warnings []string
}

// Failed is an entry that was left out.
type Failed struct {
	Entry int // from 1
	Err   error
}

// explain takes over the failures of a request of so many entries.
func (o *Outcome) explain(failures []flatten.Failure, entries int) {
	for i := range failures {
		o.Failures = append(o.Failures, Failed{failures[i].Entry, failures[i].Explain(entries)})
	}
}

// Run takes the body through the request's pipeline and leaves the rows in set. The caller then writes the set. On an
// error nothing of the set may be written. Errors are status errors, checked in the order of the interface: the
// parameters, the body, the pipeline, the entries; a reader's error passes through unchanged.
func (m *Manager) Run(ctx context.Context, r *Request, body io.Reader, set *engine.WriteSet) (Outcome, error) {
	return m.run(ctx, r, body, setDestination(r, set))
}

// RunValues is Run for entries that a protocol has decoded itself: next returns them one by one, in memory of the
// arena, until ok is false. ContentType, CustomTimeIndex and IgnoreErrors of the request have no effect here.
func (m *Manager) RunValues(ctx context.Context, r *Request,
	next func(*value.Arena) (v value.Value, ok bool, err error), set *engine.WriteSet) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	var p *Program // service_identity
	if r.Pipeline != Identity {
		var err error
		if p, err = m.find(ctx, r.Pipeline, r.Version); err != nil {
			return Outcome{}, err
		}
	}
	return m.runValues(ctx, r, p, setDestination(r, set), next)
}

// setDestination leads the rows of a request to a write set.
func setDestination(r *Request, set *engine.WriteSet) destination {
	return func(suffix string, h engine.Hint) *vector.Builder {
		return set.Rows(schema.Name{DB: r.DB, Table: r.Table + suffix}, h)
	}
}
