package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

// maxDryEntries bounds the entries of a dry run.
const maxDryEntries = 10

// DryRun is a trial of a pipeline.
type DryRun struct {
	// Document is the text of a document; nil names a stored one by Pipeline and Version.
	Document          []byte
	Pipeline, Version string
	// ContentType is that of the data.
	ContentType  string
	IgnoreErrors bool
}

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

// DryRun takes a body through a pipeline and gives what would be written. Nothing is stored.
func (m *Manager) DryRun(ctx context.Context, r DryRun, body io.Reader) ([]DryTable, error) {
	framing, err := framingOf(r.ContentType)
	if err != nil {
		return nil, err
	}
	entries, err := m.dryEntries(ctx, framing, r.IgnoreErrors, body)
	if err != nil {
		return nil, err
	}
	p, err := m.dryProgram(ctx, &r)
	if err != nil {
		return nil, err
	}
	w := m.worker(&finder{m: m, ctx: ctx}, &Request{}, p, func(string, engine.Hint) *vector.Builder { return vector.NewBuilder() }, framing == flatten.Lines)
	defer func() {
		w.forget() // trials do not count
		m.release(w)
	}()
	for _, text := range entries {
		if err := w.guard(text); err != nil {
			if r.Document != nil {
				err = prefixed("Failed to exec pipeline: ", err)
			}
			return nil, err
		}
	}
	var tables []DryTable
	for _, s := range w.order {
		if s.b.Rows() > 0 {
			tables = append(tables, s.dry())
		}
	}
	return tables, nil
}

// dryEntries reads the entries of a trial.
func (m *Manager) dryEntries(ctx context.Context, f flatten.Framing, ignoreErrors bool, body io.Reader) (entries [][]byte, err error) {
	d := m.decoders.Get().(*flatten.Decoder)
	defer m.decoders.Put(d)
	_, err = d.Entries(contextReader{ctx, body}, f, flatten.Options{IgnoreErrors: ignoreErrors}, func(text []byte) error {
		if len(entries) == maxDryEntries {
			return status.New(status.InvalidArguments, "Invalid request parameter: data is required, at most %d entries of it", maxDryEntries)
		}
		entries = append(entries, append([]byte(nil), text...))
		return nil
	})
	return entries, err
}

// dryProgram finds or compiles the pipeline of a trial.
func (m *Manager) dryProgram(ctx context.Context, r *DryRun) (*Program, error) {
	if r.Document != nil {
		p, err := Compile(r.Document)
		if err != nil {
			return nil, prefixed("Failed to build pipeline: ", err)
		}
		p.name = "dry_run"
		return p, nil
	}
	if r.Pipeline == "" {
		return nil, status.New(status.InvalidArguments, "Invalid request parameter: pipeline_name is required")
	}
	if strings.HasPrefix(r.Pipeline, reserved) {
		return nil, status.New(status.InvalidArguments, "Invalid request parameter: built-in pipelines cannot be dry-run, got %s", r.Pipeline)
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
	t := DryTable{Name: "dry_run" + s.suffix, Rows: rows}
	for _, f := range fields {
		c := DryColumn{Field: f, Semantic: s.semantic(f.Name)}
		for _, x := range s.hint.Indexes[f.Name] {
			c.Fulltext = c.Fulltext || x.Kind == schema.Fulltext
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}
