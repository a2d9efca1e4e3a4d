package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/flatten"
)

func (m *Manager) run(ctx context.Context, r *Request, body io.Reader, to destination) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	identity := r.Pipeline == Identity
	var index flatten.TimeIndex
	if identity {
		var err error
		if index, err = flatten.ParseTimeIndex(r.CustomTimeIndex); err != nil {
			return Outcome{}, err
		}
	}
	framing, err := framingOf(r.ContentType)
	if err != nil {
		return Outcome{}, err
	}
	d := m.decoders.Get().(*flatten.Decoder)
	defer m.decoders.Put(d)
	from := contextReader{ctx, body}
	if identity {
		out, err := m.runIdentity(r, d, from, framing, index, to)
		if err == nil {
			m.metrics.add(Identity, &counts{in: out.Rows + out.Skipped, out: out.Rows, failed: out.Skipped})
		}
		return out, err
	}
	p, err := m.find(ctx, r.Pipeline, r.Version)
	if err != nil {
		// A body that cannot be read is reported before a pipeline that is not there.
		if _, err := d.Decode(from, framing, flatten.Options{IgnoreErrors: r.IgnoreErrors, CheckOnly: true},
			nil); err != nil {
			return Outcome{}, err
		}
		return Outcome{}, err
	}
	out, err := m.runProgram(ctx, r, p, to, func(each func([]byte) error) (int, error) {
		return d.Entries(from, framing, flatten.Options{IgnoreErrors: r.IgnoreErrors}, each)
	}, framing == flatten.Lines)
	out.Dropped = d.Dropped()
	return out, err
}

// runIdentity takes the body straight into columns.
func (m *Manager) runIdentity(r *Request, d *flatten.Decoder, from io.Reader, f flatten.Framing,
	index flatten.TimeIndex, to destination) (Outcome, error) {
	o := flatten.Options{MaxDepth: r.MaxDepth, IgnoreErrors: r.IgnoreErrors, SkipErrors: r.SkipError,
		AllFailures: r.AllFailures, Now: m.now, Time: index, MaxBytes: m.o.RowBytes, Hold: r.Hold,
		StrictNumbers: m.strict(r), Origins: r.Reject != nil, Before: r.Before, NoVariables: r.NoVariables}
	if r.AllFailures {
		o.TableType = m.tableTypes(schema.Name{DB: r.DB, Table: r.Table})
	}
	hints := hinter{request: r, time: index.Column(), tags: r.Tags, identity: true, strict: o.StrictNumbers}
	var builders []*vector.Builder
	rows := func(v flatten.OptionVars) (*vector.Builder, error) {
		h, err := hints.hint(&v)
		if err != nil {
			return nil, err
		}
		b := to("", h)
		builders = append(builders, b)
		return b, nil
	}
	res, err := d.Decode(from, f, o, rows)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Rows: res.Rows, Skipped: res.Skipped, Dropped: res.Dropped}
	out.explain(res.Failures, res.Entries)
	if index.Kind == flatten.Epoch {
		out.Warnings = m.once(r, func() (list []string) {
			for _, b := range builders {
				list = appendNew(list, timeWarning(r.Table, index.Field, b))
			}
			return list
		})
	}
	return out, nil
}

// check looks at the parameters alone.
func (r *Request) check() error {
	if r.Table == "" {
		return status.New(status.InvalidArguments, "Invalid request parameter: table is required")
	}
	if r.Pipeline == "" {
		return status.New(status.InvalidArguments, "Invalid request parameter: pipeline_name is required")
	}
	if r.Version != "" {
		if _, err := ParseVersion(r.Version); err != nil {
			return err
		}
	}
	return nil
}

// framingOf finds how a body of a content type, parameters ignored, holds entries.
func framingOf(contentType string) (flatten.Framing, error) {
	kind, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json":
		return flatten.JSONStream, nil
	case "application/x-ndjson":
		return flatten.NDJSON, nil
	case "text/plain":
		return flatten.Lines, nil
	}
	return 0, status.New(status.InvalidArguments,
		"Invalid request parameter: invalid content type: %s, expected: one of application/json, "+
			"application/x-ndjson, text/plain", contentType)
}

// contextReader ends a body when its request is cancelled.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := cancelled(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// cancelled returns why a request was cancelled, nil as long as somebody waits for it.
func cancelled(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	code := status.Cancelled
	if errors.Is(err, context.DeadlineExceeded) {
		code = status.DeadlineExceeded
	}
	return status.Wrap(err, code, "the request was given up while its entries were processed")
}
