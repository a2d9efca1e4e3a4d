package otlp

import (
	"errors"

	"varve/engine"
	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/protowire"
	"varve/server/web"
)

// Logs:
//
//	ExportLogsServiceRequest{1: ResourceLogs*}
//	ResourceLogs{1: Resource{1: KeyValue*}, 2: ScopeLogs*, 3: schema URL}
//	ScopeLogs{1: InstrumentationScope{1: name, 2: version, 3: KeyValue*}, 2: LogRecord*, 3: schema URL}
//
// A record is a row; its attributes, and those of its scope and resource, are JSON. Attributes that the request names
// become columns besides. A request that names a pipeline makes each record an entry of it instead; see entries.go.

// logsRequest is a request of logs that is being read.
type logsRequest struct {
	h     *Handler
	table schema.Name
	given engine.Hint // what the headers say
	now   int64       // ns

	there *schema.Table // nil: there is none yet
	hint  *engine.Hint  // of the rows
	unit  int64         // of the time index, ns

	reader    resourceReader
	writer    writer
	rows      *vector.Builder
	columns   logColumns
	extracted []extractedKey
	outcome   outcome
	resource  inheritedJSON
	scope     inheritedJSON

	weight     weight      // of the records
	attributes []attribute // of the record in hand
	body       []byte      // of the record in hand
}

// logColumns are the columns of records.
type logColumns struct {
	time                                                      *vector.ColumnBuilder
	trace, span, severityText, severity, body, attributes     *vector.ColumnBuilder
	flags, scopeName, scopeVersion, scopeAttributes, scopeURL *vector.ColumnBuilder
	resourceAttributes, resourceURL                           *vector.ColumnBuilder
}

// inheritedJSON is the attributes of a resource or a scope as JSON, or the error why they cannot be written so.
type inheritedJSON struct {
	json []byte
	err  error
}

// takeLogs stores the records of a request.
func (h *Handler) takeLogs(c *web.Ctx, body func() ([]byte, error)) (outcome, error) {
	r := h.logs.Get()
	defer h.recycleLogs(r)
	if err := r.begin(h, c); err != nil {
		return outcome{}, err
	}
	if through, err := r.pipeline(c); through != nil || err != nil {
		if err != nil {
			return outcome{}, err
		}
		return r.takeThrough(c, through, body)
	}
	err := writeAgain(c, h.o.Writer, body,
		func(set *engine.WriteSet, message []byte, alone bool) (any bool, err error) {
			r.weight.hold = func(bytes int64) error { return c.Hold(int64(len(message)) + bytes) }
			r.writer.grown = r.weight.add
			if r.given.Reject = nil; alone {
				r.given.Reject = r.reject
			}
			if err := r.read(set, message); err != nil {
				return false, unread(c, err)
			}
			return r.outcome.taken > 0, nil
		})
	return r.outcome, err
}

// begin takes what the headers say.
func (r *logsRequest) begin(h *Handler, c *web.Ctx) (err error) {
	r.h, r.now = h, h.o.Now().UnixNano()
	if r.table.DB, err = database(c); err != nil {
		return err
	}
	if r.table.Table, err = tableName(c, "x-service-log-table-name", "opentelemetry_logs"); err != nil {
		return err
	}
	if r.given, err = h.hint(c, "timestamp", map[string]string{"append_mode": "true"}); err != nil {
		return err
	}
	r.given.LeftOut = r.outcome.leaveOut
	r.given.Indexes = map[string][]schema.Index{"body": fulltextIndex()}
	keys, err := c.UTF8Header("x-service-log-extract-keys")
	if err != nil {
		return err
	}
	return r.extract(listed(keys, ","))
}

// recycleLogs keeps the buffers of a request for the next, and nothing else of it.
func (h *Handler) recycleLogs(r *logsRequest) {
	r.reader.forget()
	clear(r.attributes[:cap(r.attributes)])
	clear(r.writer.stack[:cap(r.writer.stack)])
	*r = logsRequest{
		reader: r.reader, writer: writer{stack: r.writer.stack[:0], known: r.writer.known},
		attributes: r.attributes[:0], body: r.body[:0],
		resource: inheritedJSON{json: r.resource.json[:0]}, scope: inheritedJSON{json: r.scope.json[:0]},
	}
	h.logs.Put(r, r.reader.bytes()+attributeBytes*int64(cap(r.attributes)+cap(r.writer.stack))+
		int64(cap(r.body)+cap(r.resource.json)+cap(r.scope.json)))
}

// read puts the records of a message into the set.
func (r *logsRequest) read(set *engine.WriteSet, message []byte) error {
	if err := r.open(set); err != nil {
		return err
	}
	err := r.reader.each(message, func(f *resourceFields) error {
		return r.inherit(&r.resource, f.present, f.attributes)
	}, func(s *scopeFields) error {
		if err := r.inherit(&r.scope, s.present, s.attributes); err != nil {
			return err
		}
		if err := r.inheritKeys(s); err != nil {
			return err
		}
		inherited := int64(len(r.resource.json)+len(r.scope.json)+len(s.name)+len(s.version)+len(s.schemaURL)) +
			int64(len(r.reader.resource.schemaURL))
		f := protowire.Of(s.message)
		for f.Next() {
			if !f.Is(2, protowire.Bytes) {
				continue
			}
			r.weight.held += inherited + 8*int64(r.rows.Columns())
			if err := r.record(f.Bytes, s); err != nil {
				return err
			}
		}
		return f.Err()
	})
	if err != nil {
		return err
	}
	if err := r.weight.hold(r.weight.held); err != nil {
		return err
	}
	r.align()
	return nil
}

// inherit makes the JSON of the attributes of a resource or a scope; null if the message has none.
func (r *logsRequest) inherit(to *inheritedJSON, present bool, list []attribute) error {
	to.json, to.err = to.json[:0], nil
	if !present {
		to.json = append(to.json, "null"...)
		return nil
	}
	to.json, to.err = r.writer.object(to.json, list, 1)
	if to.err != nil && !errors.As(to.err, new(*status.Error)) {
		return to.err
	}
	return r.weight.full
}

// open makes the columns of a request.
func (r *logsRequest) open(set *engine.WriteSet) error {
	r.outcome, r.there = outcome{}, nil
	r.weight.begin("records", r.h.o.RowBytes)
	hint := r.given
	hint.Tags = []string{"scope_name"}
	timeType := vector.Timestamp(9)
	t, err := r.h.o.Tables.Table(r.table)
	switch {
	case err == nil: // the table keeps its columns; those that it lacks become fields
		r.there = t.Schema
		index := t.Schema.TimeColumn()
		hint.TimeIndex, hint.Tags, timeType = index.Name, nil, index.Type
	case status.Of(err) != status.TableNotFound:
		return err
	}
	r.unit = 1e9 / timeType.UnitsPerSecond()
	r.rows, r.hint = set.Table(r.table, hint)
	for i := range r.extracted {
		r.extracted[i].values = nil
	}
	c, text, json := &r.columns, vector.StringType, vector.JSONType
	for _, one := range [...]struct {
		to   **vector.ColumnBuilder
		name string
		typ  vector.Type
	}{
		{&c.time, hint.TimeIndex, timeType}, {&c.trace, "trace_id", text}, {&c.span, "span_id", text},
		{&c.severityText, "severity_text", text}, {&c.severity, "severity_number", vector.Int32Type},
		{&c.body, "body", text}, {&c.attributes, "log_attributes", json}, {&c.flags, "trace_flags", vector.Uint32Type},
		{&c.scopeName, "scope_name", text},
		{&c.scopeVersion, "scope_version", text}, {&c.scopeAttributes, "scope_attributes", json},
		{&c.scopeURL, "scope_schema_url", text},
		{&c.resourceAttributes, "resource_attributes", json}, {&c.resourceURL, "resource_schema_url", text},
	} {
		if one.typ.IsInteger() {
			one.typ = r.typeOf(one.name, one.typ)
		}
		if *one.to, err = r.rows.Column(one.name, one.typ); err != nil {
			return err
		}
	}
	r.rows.Pin()
	return nil
}

// typeOf is the type of a column of the table, or otherwise if the table lacks the column.
func (r *logsRequest) typeOf(name string, otherwise vector.Type) vector.Type {
	if r.there != nil {
		if p := r.there.Column(name); p >= 0 {
			return r.there.Columns[p].Type
		}
	}
	return otherwise
}

// reject counts a record that the table did not take.
func (r *logsRequest) reject(_ int, why error) {
	var clash *engine.TypeClash
	if errors.As(why, &clash) {
		why = unaligned(clash.Column, clash.Want, clash.Given)
	}
	r.outcome.leaveOut(1, why)
}

// unaligned is the error of a value that does not fit the column of the table.
func unaligned(column string, want, given vector.Type) error {
	return status.New(status.InvalidArguments,
		"failed to align log column '%s': the table has type %s, the request %s", column, want, given)
}

// align converts columns to the types of the table's columns where these are text, which takes all values. If another
// column differs in type, the records with a value in it are left out.
func (r *logsRequest) align() {
	if r.there == nil {
		return
	}
	fields, _ := r.rows.Finish()
	for _, f := range fields {
		p := r.there.Column(f.Name)
		if p < 0 || r.there.Columns[p].Type == f.Type {
			continue
		}
		to := r.there.Columns[p].Type
		if !to.IsText() || !r.rows.Lookup(f.Name).Retype(to, convert.All) {
			r.hint.Reject = r.reject
		}
	}
}
