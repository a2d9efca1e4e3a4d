package pipe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"varve/cmd/varve/client"
	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/vfs"
	"varve/pipeline"
)

// Lint compiles a document and gives what to warn of. One that does not compile is a UsageError.
func Lint(ctx context.Context, file string, text []byte) (warnings []string, err error) {
	if _, err := pipeline.Compile(text); err != nil {
		return nil, &client.UsageError{Err: fmt.Errorf("%s: %w", file, err)}
	}
	r, err := pipeline.New(pipeline.Options{}).DryRun(ctx,
		pipeline.DryRun{Document: text, ContentType: contentTypes["ndjson"], EachEntry: true}, strings.NewReader(""))
	return r.Warnings, err
}

// contentTypes are those of the kinds of samples.
var contentTypes = map[string]string{"text": "text/plain", "ndjson": "application/x-ndjson", "json": "application/json"}

// sampleTime is when rows without a time of their own come, in every trial, so that its outcome is the same each time.
var sampleTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Trial is a document that samples are taken through, here and by the server's own code.
type Trial struct {
	File string // of the document, for messages
	Text []byte
	// With are the documents that dispatchers may name, by name.
	With map[string][]byte
	// Kind of the samples: text, ndjson or json; empty: by what they look like.
	Kind string
}

// Outcome is what became of samples.
type Outcome struct {
	pipeline.DryResult
	Failed int // entries
}

// Run takes samples through the document. A document that does not compile is a UsageError.
func (t *Trial) Run(ctx context.Context, samples []byte) (o Outcome, err error) {
	if _, err := pipeline.Compile(t.Text); err != nil {
		return o, &client.UsageError{Err: fmt.Errorf("%s: %w", t.File, err)}
	}
	options := pipeline.Options{Now: func() time.Time { return sampleTime }}
	if len(t.With) > 0 {
		// The documents are kept where a server keeps them, in a store that is gone with the trial.
		if options.Store, err = engine.Open(engine.Options{FS: vfs.NewMem(), Dir: "trial", NoBackground: true,
			MinFree: -1}); err != nil {
			return o, err
		}
		defer func() { err = errors.Join(err, options.Store.Close(context.Background(), false)) }()
	}
	m := pipeline.New(options)
	for name, text := range t.With {
		if _, err := m.Put(ctx, name, text); err != nil {
			return o, &client.UsageError{Err: fmt.Errorf("the pipeline %s: %w", name, err)}
		}
	}
	kind := t.Kind
	if kind == "" {
		kind = kindOf(samples)
	}
	o.DryResult, err = m.DryRun(ctx, pipeline.DryRun{Document: t.Text, ContentType: contentTypes[kind], EachEntry: true,
		Unbounded: true}, bytes.NewReader(samples))
	if err != nil && ctx.Err() != nil {
		return o, context.Cause(ctx)
	}
	for i := range o.Entries {
		if o.Entries[i].Err != nil {
			o.Failed++
		}
	}
	return o, err
}

// kindOf guesses what samples are.
func kindOf(samples []byte) string {
	switch first := bytes.TrimLeft(samples, " \t\r\n\ufeff"); {
	case len(first) > 0 && first[0] == '[':
		return "json"
	case len(first) > 0 && first[0] == '{':
		return "ndjson"
	}
	return "text"
}

// JSON is the outcome as JSON, each table and each entry on a line of its own, so that outcomes compare well.
func (o *Outcome) JSON() []byte {
	b := []byte(`{"tables":[`)
	for i := range o.Tables {
		b = append(o.Tables[i].AppendSchema(separated(b, i)), '}')
	}
	b = append(b, "\n],\"entries\":["...)
	for i := range o.Entries {
		e := &o.Entries[i]
		b = fmt.Appendf(separated(b, i), `{"entry":%d,`, i+1)
		if e.Err != nil {
			b = append(jsontext.AppendString(append(b, `"error":`...), e.Err.Error()), '}')
			continue
		}
		b = append(b, `"rows":[`...)
		for k, row := range e.Rows {
			if k > 0 {
				b = append(b, ',')
			}
			t := &o.Tables[row.Table]
			b = jsontext.AppendString(append(b, `{"table_name":`...), t.Name)
			b = append(t.AppendRow(append(b, `,"row":`...), row.Row), '}')
		}
		b = append(b, "]}"...)
	}
	return append(b, "\n]}\n"...)
}

// separated begins the next element of a list on a new line.
func separated(b []byte, index int) []byte {
	if index > 0 {
		b = append(b, ',')
	}
	return append(b, '\n')
}

// Expect compares an outcome with the one that a file holds, or writes it there.
func (o *Outcome) Expect(w io.Writer, file string, update bool) error {
	got := o.JSON()
	want, err := os.ReadFile(file)
	if update {
		if err == nil && bytes.Equal(got, want) {
			return nil
		}
		return os.WriteFile(file, got, 0o644)
	}
	if err != nil {
		return fmt.Errorf("%w: --update writes it", err)
	}
	return Compare(w, file, "the outcome", want, got)
}
