// Package gen generates log data of fixed shapes: any number of rows, the same bytes for the same seed, fast enough not
// to be what a benchmark measures (about 210 ns a row of 497 bytes on one core).
//
// # Shapes
//
//	access  17-18 flat fields a row: the entry of a web server's access log (about 497 bytes)
//	nested  events of a social network's relay, 3-5 levels deep, optional members, arrays, escapes (about 575 bytes)
//	lines   the access entries as text with the labels of their files (about 260 bytes)
//	lineproto  one line of line protocol a host and ten seconds, 10 tags and 10 fields (about 344 bytes)
//	analytics  events of web sites, 28-30 flat fields a row, one of them JSON text (about 640 bytes)
//	text    the access entries as plain lines in combined format (about 210 bytes)
//	pushed  the access entries in 200 streams of log push, JSON and combined lines in turn (about 235 bytes)
//
// Names, clients, users and products follow a Zipf distribution: the value of rank k comes up with a probability
// proportional to 1/k. Trace ids are random, latencies and sizes are log-normal, and times rise over Options.Span.
//
// # Promises
//
// Row i depends on the options and i alone. So batches can be generated in any order and by many goroutines, and a test
// can generate a row again to learn the right answer to a query about it.
package gen

import (
	"fmt"
	"strings"
	"time"
)

// Start is the time of the first row unless Options say otherwise: 2026-11-01T00:00:00Z in ms since the epoch.
const Start int64 = 1793491200000

// Options choose a data set.
type Options struct {
	Rows  int64         // rows of the whole set; their times are spread evenly over Span; at least 1
	Seed  uint64        // sets of different seeds have nothing but their shape in common
	Start int64         // time of the first row in ms since the epoch; 0 means Start
	Span  time.Duration // from the first row to the last; 0 means 24 h
	Table string        // the name of the metric of otlp-metrics, the measurement of lineproto
}

// Set is one data set. It is immutable: many goroutines may append rows of it.
type Set struct {
	Name        string
	ContentType string   // of a body that is a run of rows
	TimeIndex   string   // the custom_time_index parameter that suits the rows; empty: none
	Signal      string   // of OTLP: logs, traces or metrics; empty: rows are for ingest
	Columns     []Column // of the sets of the mode analytics, in the order of a row
	Rows        int64
	row         func(dst []byte, i int64) []byte
	wrap        func(dst []byte, from int) []byte       // makes a body of the rows from a place on; nil: they are one
	body        func(dst []byte, from, to int64) []byte // appends rows as a body at once; nil: row by row
	json        func(dst []byte, i int64) []byte        // a row as JSON; nil: there is no such form
	trace       func(n int64) [2]uint64                 // the id of a trace; nil: there are none
	needle      func(i int64) string                    // a text that row i alone holds; nil: not known
}

// New returns the set of a name: a shape, or one of OTLP (see otlp.go).
func New(name string, o Options) (*Set, error) {
	if o.Rows < 1 {
		return nil, fmt.Errorf("gen: %d rows: at least 1", o.Rows)
	}
	if o.Start == 0 {
		o.Start = Start
	}
	if o.Span == 0 {
		o.Span = 24 * time.Hour
	}
	s := &Set{Name: name, Rows: o.Rows}
	switch name {
	case "access":
		m := newAccess(o)
		s.ContentType, s.TimeIndex, s.row = "application/x-ndjson", "ts;epoch;ms", m.appendJSON
	case "nested":
		m := newNested(o)
		s.ContentType, s.TimeIndex, s.row = "application/x-ndjson", "time_us;epoch;us", m.appendJSON
	case "lines":
		m := &lines{newAccess(o)}
		s.ContentType, s.TimeIndex, s.row = "application/x-ndjson", "ts;epoch;ns", m.appendJSON
	case "text":
		m := newAccess(o)
		s.ContentType, s.row = "text/plain", m.appendCombined
	case "pushed":
		m := newPushed(o)
		s.ContentType, s.body, s.needle = "application/json", m.appendBody, m.needle
	case "otlp-logs", "otlp-traces", "otlp-metrics":
		m := &otlp{newAccess(o), o.Table}
		s.ContentType, s.Signal = "application/x-protobuf", strings.TrimPrefix(name, "otlp-")
		s.wrap = func(dst []byte, from int) []byte { return m.request(dst, from, "frontend") }
		s.row = map[string]func([]byte, int64) []byte{"logs": m.record, "traces": m.span, "metrics": m.point}[s.Signal]
		s.json = map[string]func([]byte, int64) []byte{"logs": m.recordJSON, "traces": m.spanJSON,
			"metrics": m.pointJSON}[s.Signal]
	case "lineproto":
		s.ContentType, s.TimeIndex, s.row = "text/plain", "", newLineproto(o).append
	case "traces":
		m := &traces{&otlp{access: newAccess(o)}}
		s.ContentType, s.Signal, s.row, s.body, s.trace = "application/x-protobuf", "traces", m.span, m.append, m.trace
	case "analytics", "analytics-users", "analytics-hosts", "analytics-releases":
		d := &dimension{seed: o.Seed, clock: newClock(o)}
		s.row = map[string]func([]byte, int64) []byte{"analytics": newEvents(o).appendJSON,
			"analytics-users": d.appendUser, "analytics-hosts": d.appendHost,
			"analytics-releases": d.appendRelease}[name]
		s.ContentType, s.TimeIndex, s.Columns = "application/x-ndjson", "ts;epoch;us", analyticsColumns[name]
	default:
		return nil,
			fmt.Errorf(
				"gen: no data set %q: access, nested, text, lines, pushed, lineproto, traces, otlp-logs, "+
					"otlp-traces, otlp-metrics or analytics", name)
	}
	return s, nil
}

// Append appends a body of the rows [from, to): each closed by a line feed, or of OTLP one request. The rows need not
// lie inside the set: times go on rising at the same pace behind it.
func (s *Set) Append(dst []byte, from, to int64) []byte {
	if s.body != nil {
		return s.body(dst, from, to)
	}
	begin := len(dst)
	for i := from; i < to; i++ {
		dst = s.row(dst, i)
	}
	if s.wrap != nil {
		dst = s.wrap(dst, begin)
	}
	return dst
}

// clock sets the time of row i: even steps over the span, each moved forward by less than a step.
type clock struct {
	start int64
	step  float64 // ms
}

func newClock(o Options) clock {
	return clock{start: o.Start, step: float64(o.Span.Milliseconds()) / float64(o.Rows)}
}

// micros is the time of row i in us since the epoch. Rising in i; equal only when a step is under a us.
func (c clock) micros(i int64, r *random) int64 {
	return c.start*1000 + int64((float64(i)+r.unit())*c.step*1000)
}
