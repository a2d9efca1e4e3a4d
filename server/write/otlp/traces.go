package otlp

import (
	"encoding/hex"
	"slices"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/protowire"
	"varve/server/web"
)

// Traces:
//
//	ExportTraceServiceRequest{1: ResourceSpans*}
//	ResourceSpans{1: Resource{1: KeyValue*}, 2: ScopeSpans*}
//	ScopeSpans{1: InstrumentationScope{1: name, 2: version, 3: KeyValue*}, 2: Span*, 3: schema URL}
//
// A span becomes a row, an attribute a column. Beside the table of spans are a table of services, and one of the names
// and kinds of the spans of each service.

// tracePipeline is the name of the only pipeline that requests of traces may name.
const tracePipeline = "service_trace_v1"

// tracesRequest is a request of traces that is being read.
type tracesRequest struct {
	h     *Handler
	table schema.Name
	hint  engine.Hint
	there *schema.Table // nil: there is none yet

	reader    resourceReader
	service   attribute // of the resource in hand; nothing: it names none
	writer    writer
	set       *engine.WriteSet
	rows      *vector.Builder
	fixed     spanColumns
	spans     attributeColumns
	scopes    attributeColumns
	resources attributeColumns
	names     sideTables
	outcome   outcome

	before      int64 // bytes that a row has from its resource and scope
	weight      weight
	columnCount int
	scratch     []byte
	list        []attribute
}

// spanColumns are the columns that every span has.
type spanColumns struct {
	start, end, duration                         *vector.ColumnBuilder
	parent, trace, id, kind, name, code, message *vector.ColumnBuilder
	state, scopeName, scopeVersion, service      *vector.ColumnBuilder
	// nil: they are not made yet; they come behind the attributes of the first span
	events, links *vector.ColumnBuilder
}

// takeTraces stores the spans of a request.
func (h *Handler) takeTraces(c *web.Ctx, body func() ([]byte, error)) (outcome, error) {
	r := h.traces.Get()
	defer h.recycleTraces(r)
	if err := r.begin(h, c); err != nil {
		return outcome{}, err
	}
	err := writeAgain(c, h.o.Writer, body,
		func(set *engine.WriteSet, message []byte, alone bool) (any bool, err error) {
			r.weight.hold = func(bytes int64) error { return c.Hold(int64(len(message)) + bytes) }
			r.writer.grown = r.weight.add
			if r.hint.Reject = nil; alone {
				r.hint.Reject = r.outcome.reject
			}
			if err := r.read(set, message); err != nil {
				return false, unread(c, err)
			}
			return r.outcome.taken > 0, nil
		})
	return r.outcome, err
}

// begin takes what the headers say.
func (r *tracesRequest) begin(h *Handler, c *web.Ctx) (err error) {
	r.h = h
	if r.table.DB, err = database(c); err != nil {
		return err
	}
	if r.table.Table, err = tableName(c, "x-service-trace-table-name", "opentelemetry_traces"); err != nil {
		return err
	}
	for _, header := range [...]string{"x-service-pipeline-name", "x-service-log-pipeline-name"} {
		if name := c.HeaderText(header); name != "" && name != tracePipeline {
			return status.New(status.InvalidArguments, "Unsupported pipeline for traces: %.80q, expected: %s", name,
				tracePipeline)
		}
	}
	if r.hint, err = h.hint(c, "timestamp",
		map[string]string{"append_mode": "true", "table_data_model": tracePipeline}); err != nil {
		return err
	}
	r.hint.Tags, r.hint.LeftOut = []string{"service_name"}, r.outcome.leaveOut
	r.hint.Indexes = map[string][]schema.Index{"trace_id": skippingIndex(), "parent_span_id": skippingIndex(),
		"service_name": skippingIndex()}
	return r.names.begin(h, c, r.table)
}

// recycleTraces keeps the buffers of a request for the next, and nothing else of it.
func (h *Handler) recycleTraces(r *tracesRequest) {
	r.reader.forget()
	clear(r.list[:cap(r.list)])
	clear(r.writer.stack[:cap(r.writer.stack)])
	*r = tracesRequest{reader: r.reader, writer: writer{stack: r.writer.stack[:0], known: r.writer.known},
		scratch: r.scratch[:0], list: r.list[:0]}
	h.traces.Put(r, r.reader.bytes()+attributeBytes*int64(cap(r.list)+cap(r.writer.stack))+int64(cap(r.scratch)))
}

// read puts the spans of a message into the set.
func (r *tracesRequest) read(set *engine.WriteSet, message []byte) error {
	if err := r.open(set); err != nil {
		return err
	}
	err := r.reader.each(message, r.beginResource, func(s *scopeFields) error {
		r.before = int64(len(s.name) + len(s.version) + len(r.service.bytes))
		for _, list := range [...][]attribute{r.reader.resource.attributes, s.attributes} {
			for i := range list {
				r.before += int64(len(list[i].bytes)) + 16
			}
		}
		f := protowire.Of(s.message)
		for f.Next() {
			if !f.Is(2, protowire.Bytes) {
				continue
			}
			if err := r.span(f.Bytes, s); err != nil {
				return err
			}
			r.weight.held += r.before + int64(len(f.Bytes)) + 8*int64(r.rows.Columns())
			if err := r.weight.tell(); err != nil {
				return err
			}
		}
		return f.Err()
	})
	if err != nil {
		return err
	}
	return r.weight.hold(r.weight.held)
}

// open makes the columns of a request.
func (r *tracesRequest) open(set *engine.WriteSet) (err error) {
	r.outcome, r.there, r.columnCount = outcome{}, nil, 0
	r.weight.begin("spans", r.h.o.RowBytes)
	t, err := r.h.o.Tables.Table(r.table)
	switch {
	case err == nil:
		r.there, r.columnCount = t.Schema, len(t.Schema.Columns)
	case status.Of(err) != status.TableNotFound:
		return err
	}
	r.set, r.rows = set, set.Rows(r.table, r.hint)
	r.names.open()
	r.spans, r.scopes, r.resources = columnsOf("span_attributes."), columnsOf("scope_attributes."),
		columnsOf("resource_attributes.")
	r.fixed = spanColumns{}
	f := &r.fixed
	nanos, text := vector.Timestamp(9), vector.StringType
	for _, c := range [...]struct {
		to   **vector.ColumnBuilder
		name string
		typ  vector.Type
	}{
		{&f.start, "timestamp", nanos}, {&f.end, "timestamp_end", nanos},
		{&f.duration, "duration_nano", vector.Uint64Type}, {&f.parent, "parent_span_id", text},
		{&f.trace, "trace_id", text}, {&f.id, "span_id", text}, {&f.kind, "span_kind", text},
		{&f.name, "span_name", text}, {&f.code, "span_status_code", text},
		{&f.message, "span_status_message", text}, {&f.state, "trace_state", text}, {&f.scopeName, "scope_name", text},
		{&f.scopeVersion, "scope_version", text},
		{&f.service, "service_name", text},
	} {
		if *c.to, err = r.rows.Column(c.name, c.typ); err != nil {
			return err
		}
	}
	r.rows.Pin()
	return nil
}

// beginResource finds the name of the service.
func (r *tracesRequest) beginResource(f *resourceFields) error {
	r.service = attribute{}
	f.attributes = slices.DeleteFunc(f.attributes, func(a attribute) bool {
		if string(a.key) == "service.name" {
			r.service = a
			return true
		}
		return false
	})
	return nil
}

// setID sets an id in hexadecimal digits.
func setID(c *vector.ColumnBuilder, id []byte) { c.SetHeap(hex.AppendEncode(c.Heap(), id)) }

// setText sets a text.
func setText(c *vector.ColumnBuilder, b []byte) error {
	if !utf8.Valid(b) {
		return status.New(status.InvalidArguments, "column %s: a text is not valid UTF-8", c.Name())
	}
	c.SetBytes(b)
	return nil
}
