package otlp

import (
	"errors"
	"iter"

	"varve/engine"
	"varve/engine/status"
	"varve/pipeline"
	"varve/pipeline/value"
	"varve/server/protowire"
	"varve/server/web"
)

// pipeline is the request to the pipeline that the headers name; nil: they name none.
func (r *logsRequest) pipeline(c *web.Ctx) (*pipeline.Request, error) {
	p := &pipeline.Request{DB: r.table.DB, Table: r.table.Table, Hints: c.Hints(), NoAutoCreate: r.h.o.NoAutoCreate,
		SkipError: true}
	if named, err := p.FromHeaders(c.UTF8Header); err != nil || !named {
		return nil, err
	}
	return p, nil
}

// takeThrough runs the records of a request through a pipeline. Entries that fail there are refused records, unless the
// request wants all or none by skip_error=false.
func (r *logsRequest) takeThrough(c *web.Ctx, p *pipeline.Request, body func() ([]byte, error)) (o outcome, err error) {
	_, err = r.h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		message, err := body()
		if err != nil {
			return false, err
		}
		p.Reject = func(_ int, why error) { o.leaveOut(1, pipeline.ExplainClash(why)) }
		p.Hold = func(bytes int64) error { return c.Hold(int64(len(message)) + bytes) }
		var arena *value.Arena
		next, stop := iter.Pull2(r.entries(message, &arena))
		defer stop()
		out, err := r.h.o.Pipelines.RunValues(c.Context, p, func(a *value.Arena) (value.Value, bool, error) {
			arena = a
			v, err, ok := next()
			return v, ok && err == nil, err
		}, set)
		if err != nil && !errors.As(err, new(*status.Error)) && c.Context.Err() == nil {
			err = undecodable(c, err)
		}
		o.taken, o.refused = out.Rows, out.Skipped
		if len(out.Failures) > 0 {
			o.fault = out.Failures[0].Err
		} else if out.Skipped > 0 {
			o.fault = status.New(status.InvalidArguments, "the pipeline left log records out")
		}
		return out.Rows > 0, err
	})
	return o, pipeline.ExplainClash(err)
}

// entries returns the records of a message one after the other, each in the arena at the time it is asked for.
func (r *logsRequest) entries(message []byte, arena **value.Arena) iter.Seq2[value.Value, error] {
	return func(yield func(value.Value, error) bool) {
		stopped := errors.New("the client has left")
		err := r.reader.each(message, func(*resourceFields) error { return nil }, func(s *scopeFields) error {
			f := protowire.Of(s.message)
			for f.Next() {
				if !f.Is(2, protowire.Bytes) {
					continue
				}
				v, err := r.entry(*arena, f.Bytes, s)
				if err != nil {
					return err
				}
				if !yield(v, nil) {
					return stopped
				}
			}
			return f.Err()
		})
		if err != nil && err != stopped {
			yield(value.Value{}, err)
		}
	}
}

// entry makes the object of a record.
func (r *logsRequest) entry(a *value.Arena, message []byte, s *scopeFields) (value.Value, error) {
	var l recordFields
	err := l.read(message, r.attributes)
	if r.attributes = l.attributes; err != nil {
		return value.Value{}, err
	}
	at, err := l.moment(r.now)
	if err != nil {
		return value.Value{}, err
	}
	w := values{arena: a}
	o := a.Object(15)
	o.Append(a, "Body", w.body(&r.writer, &l.body))
	o.Append(a, "LogAttributes", w.object(l.attributes, 1))
	o.Append(a, "ObservedTimestamp", value.Int(int64(l.observed)))
	o.Append(a, "ResourceAttributes", w.object(r.reader.resource.attributes, 1))
	o.Append(a, "ResourceSchemaUrl", w.text(r.reader.resource.schemaURL))
	o.Append(a, "ScopeAttributes", w.object(s.attributes, 1))
	o.Append(a, "ScopeName", w.text(s.name))
	o.Append(a, "ScopeSchemaUrl", w.text(s.schemaURL))
	o.Append(a, "ScopeVersion", w.text(s.version))
	o.Append(a, "SeverityNumber", value.Int(int64(int32(l.severity))))
	o.Append(a, "SeverityText", w.text(l.severityText))
	o.Append(a, "SpanId", w.id(l.span))
	o.Append(a, "Timestamp", value.Int(at))
	o.Append(a, "TraceFlags", value.Int(int64(l.flags)))
	o.Append(a, "TraceId", w.id(l.trace))
	return o.Of(), w.err
}
