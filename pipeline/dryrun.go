package pipeline

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

// Bounds on the entries of a dry run: one that ends with its first error, and one that reports each entry.
const (
	maxDryEntries     = 10
	maxDryEachEntries = 1000
)

// dryRunTable is the table that a trial would write to.
const dryRunTable = "dry_run"

// DryRun is a trial of a pipeline.
type DryRun struct {
	// Document is the text of a document; nil names a stored one by Pipeline and Version.
	Document          []byte
	Pipeline, Version string
	// ContentType is that of the data.
	ContentType  string
	IgnoreErrors bool
	// TimeIndex and MaxDepth are as in Request, for service_identity.
	TimeIndex string
	MaxDepth  int
	// EachEntry reports the result of each entry; without it the first error is the error of the dry run.
	EachEntry bool
	// Trace reports each entry after each processor.
	Trace bool
	// Unbounded takes any number of entries, for who runs a trial of its own.
	Unbounded bool
	// Hold is as in Request.
	Hold func(bytes int64) error
}

// DryResult is what came of a trial.
type DryResult struct {
	Tables   []DryTable
	Entries  []DryEntry // of EachEntry, and of Trace
	Warnings []string
}

// DryEntry is what became of an entry: its error, or its rows, none when it was dropped.
type DryEntry struct {
	Err    error
	Rows   []DryRow
	Before []byte // of Trace: the entry as JSON, as the first processor gets it; empty when it could not be read
	Steps  []Step // of Trace
}

// DryRow is a row of a trial.
type DryRow struct{ Table, Row int } // in Tables, and there

// DryTable is the rows that a trial would write to a table.
type DryTable struct {
	Name    string
	Columns []DryColumn
	Rows    *vector.Batch // in the order of Columns
}

// DryColumn is a column of a DryTable.
type DryColumn struct {
	vector.Field
	Semantic schema.Semantic
	Fulltext bool
}

// DryRun runs a body through a pipeline and returns the rows that would be written. It stores nothing. The result of a
// failing dry run has the warnings about the document, as far as the document was read.
func (m *Manager) DryRun(ctx context.Context, r DryRun, body io.Reader) (DryResult, error) {
	framing, err := framingOf(r.ContentType)
	if err != nil {
		return DryResult{}, err
	}
	entries, err := m.dryEntries(ctx, framing, &r, body)
	if err != nil {
		return DryResult{}, err
	}
	if r.Document == nil && r.Pipeline == Identity && !r.EachEntry {
		return m.dryIdentity(ctx, &r, framing, entries)
	}
	p, err := m.dryProgram(ctx, &r)
	if err != nil {
		return DryResult{}, err
	}
	w := m.worker(&finder{m: m, ctx: ctx}, m.holding(r.Hold), &Request{Table: dryRunTable}, p,
		func(string, engine.Hint) *vector.Builder { return vector.NewBuilder() }, framing == flatten.Lines)
	if r.Trace {
		w.trace = &trace{first: p}
	}
	defer func() {
		w.trace = nil
		w.forget() // trials do not count
		m.release(w)
	}()
	result := DryResult{Warnings: p.warnings}
	for i, text := range entries {
		if err := cancelled(ctx); err != nil {
			return result, err
		}
		w.number = i + 1
		before := w.rowCounts()
		err := explained(w.guard(text), len(entries))
		if err != nil && !r.EachEntry {
			if r.Document != nil {
				err = prefixed("Failed to exec pipeline: ", err)
			}
			return result, err
		}
		came, steps, traceErr := w.trace.take()
		if traceErr != nil {
			return result, traceErr
		}
		result.Entries = append(result.Entries,
			DryEntry{Err: err, Rows: w.rowsSince(before), Before: came, Steps: steps})
	}
	if r.EachEntry {
		result.Warnings = append(slices.Clip(result.Warnings), w.timeWarnings()...)
	}
	result.take(w.order)
	return result, nil
}

// rowCounts are the rows of each sink.
func (w *worker) rowCounts() []int {
	counts := make([]int, len(w.order))
	for i, s := range w.order {
		counts[i] = s.b.Rows()
	}
	return counts
}

// rowsSince are the rows that came since, by sink.
func (w *worker) rowsSince(before []int) (rows []DryRow) {
	for i, s := range w.order {
		from := 0
		if i < len(before) {
			from = before[i]
		}
		for r := from; r < s.b.Rows(); r++ {
			rows = append(rows, DryRow{i, r})
		}
	}
	return rows
}

// take takes the rows of the sinks that have some over.
func (d *DryResult) take(sinks []*sink) {
	tables := make([]int, len(sinks))
	for i, s := range sinks {
		if s.b.Rows() > 0 {
			tables[i] = len(d.Tables)
			d.Tables = append(d.Tables, s.dry())
		}
	}
	for i := range d.Entries {
		for k := range d.Entries[i].Rows {
			row := &d.Entries[i].Rows[k]
			row.Table = tables[row.Table]
		}
	}
}

// dryEntries reads the entries of a trial.
func (m *Manager) dryEntries(ctx context.Context, f flatten.Framing, r *DryRun, body io.Reader) (entries [][]byte,
	err error) {
	most := maxDryEntries
	if r.EachEntry {
		most = maxDryEachEntries
	}
	d := m.decoders.Get().(*flatten.Decoder)
	defer m.decoders.Put(d)
	_, err = d.Entries(contextReader{ctx, body}, f, flatten.Options{IgnoreErrors: r.IgnoreErrors},
		func(text []byte) error {
			if len(entries) == most && !r.Unbounded {
				return status.New(status.InvalidArguments,
					"Invalid request parameter: data is required, with at most %d entries", most)
			}
			entries = append(entries, append([]byte(nil), text...))
			return nil
		})
	return entries, err
}

// dryProgram finds or compiles the pipeline of a trial.
func (m *Manager) dryProgram(ctx context.Context, r *DryRun) (*Program, error) {
	if r.Document != nil {
		p, err := m.library.compile(ctx, r.Document)
		if err != nil {
			return nil, prefixed("Failed to build pipeline: ", err)
		}
		p.name = dryRunTable
		return p, nil
	}
	if r.Pipeline == "" {
		return nil, status.New(status.InvalidArguments, "Invalid request parameter: pipeline_name is required")
	}
	if strings.HasPrefix(r.Pipeline, reserved) {
		return nil, status.New(status.InvalidArguments,
			"Invalid request parameter: built-in pipelines cannot be dry-run, got %s", r.Pipeline)
	}
	return m.find(ctx, r.Pipeline, r.Version)
}

// prefixed puts a text before that of a client's error.
func prefixed(text string, err error) error {
	var e *status.Error
	if !errors.As(err, &e) {
		return err
	}
	return status.Wrap(err, e.Code, "%s%s", text, e.Msg)
}

// dry is the sink's rows for an answer.
func (s *sink) dry() DryTable {
	fields, rows := s.b.Finish()
	t := DryTable{Name: dryRunTable + s.suffix, Rows: rows}
	for _, f := range fields {
		c := DryColumn{Field: f, Semantic: s.semantic(f.Name)}
		for _, x := range s.hint.Indexes[f.Name] {
			c.Fulltext = c.Fulltext || x.Kind == schema.Fulltext
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}
