package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"

	"varve/engine"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/flatten"
)

// destination gives the builder of the rows of a group.
type destination func(engine.Hint) *vector.Builder

func (m *Manager) run(ctx context.Context, r *Request, body io.Reader, to destination) (Outcome, error) {
	if err := r.check(); err != nil {
		return Outcome{}, err
	}
	o := flatten.Options{MaxDepth: r.MaxDepth, IgnoreErrors: r.IgnoreErrors, SkipErrors: r.SkipError, Now: m.now}
	identity := r.Pipeline == Identity
	if identity {
		t, err := flatten.ParseTimeIndex(r.CustomTimeIndex)
		if err != nil {
			return Outcome{}, err
		}
		o.Time = t
	}
	framing, err := framingOf(r.ContentType)
	if err != nil {
		return Outcome{}, err
	}
	// A body that cannot be read is reported before a pipeline that is not there.
	o.CheckOnly = !identity
	hints := hinter{request: r, time: o.Time.Column()}
	rows := func(v flatten.OptionVars) (*vector.Builder, error) {
		h, err := hints.hint(&v)
		if err != nil {
			return nil, err
		}
		return to(h), nil
	}
	d := m.decoders.Get().(*flatten.Decoder)
	defer m.decoders.Put(d)
	res, err := d.Decode(contextReader{ctx, body}, framing, o, rows)
	if err != nil {
		return Outcome{}, err
	}
	if !identity {
		version := r.Version
		if version == "" {
			version = "latest"
		}
		return Outcome{}, status.New(status.InvalidArguments, "Pipeline not found, name: %s, version: %s", r.Pipeline, version)
	}
	return Outcome{Rows: res.Rows, Skipped: res.Skipped}, nil
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
		if _, _, err := timefmt.ParseTimestamp(r.Version, nil); err != nil {
			return status.Wrap(err, status.InvalidArguments, "Invalid pipeline version format: %s", r.Version)
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
		"Invalid request parameter: invalid content type: %s, expected: one of application/json, application/x-ndjson, text/plain", contentType)
}

// contextReader ends a body when its request is given up.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		code := status.Cancelled
		if errors.Is(err, context.DeadlineExceeded) {
			code = status.DeadlineExceeded
		}
		return 0, status.Wrap(err, code, "request given up while its body was read")
	}
	return c.r.Read(p)
}
