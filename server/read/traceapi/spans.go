package traceapi

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
)

// maxSpans bounds the spans of an answer.
const maxSpans = 100_000

// The names of kinds and status codes begin so.
const (
	kindPrefix = "SPAN_KIND_"
	codePrefix = "STATUS_CODE_"
)

// kindOf is the kind of a span as dashboards name it; empty: the span specifies none.
func kindOf(name string) string {
	kind := strings.ToLower(strings.TrimPrefix(name, kindPrefix))
	if kind == "unspecified" {
		return ""
	}
	return kind
}

// layout is where the columns of a table of spans lie.
type layout struct {
	timestamp, duration, parent, trace, id, kind, name, code, message, state, scope, version, service, events, links int
	attributes                                                                                                       []attribute
}

// attribute is a column of attributes.
type attribute struct {
	at       int
	name     string
	key      string // the tag's
	typ      vector.Type
	resource bool
}

// layout finds the columns of the table; nil: there is no table yet.
func (r *request) layout() (*layout, error) {
	fields, err := r.fields()
	if err != nil {
		if isAbsent(err) {
			err = nil
		}
		return nil, err
	}
	l := &layout{}
	text := vector.StringType
	for _, c := range [...]struct {
		to   *int
		name string
		typ  vector.Type
	}{
		{&l.timestamp, "timestamp", vector.Timestamp(9)}, {&l.duration, "duration_nano", vector.Uint64Type},
		{&l.parent, "parent_span_id", text}, {&l.trace, "trace_id", text},
		{&l.id, "span_id", text}, {&l.kind, "span_kind", text}, {&l.name, "span_name", text},
		{&l.code, "span_status_code", text}, {&l.message, "span_status_message", text},
		{&l.state, "trace_state", text}, {&l.scope, "scope_name", text}, {&l.version, "scope_version", text},
		{&l.service, "service_name", text},
		{&l.events, "span_events", vector.JSONType}, {&l.links, "span_links", vector.JSONType},
	} {
		*c.to = -1
		for i, f := range fields {
			if f.Name == c.name && f.Type == c.typ {
				*c.to = i
			}
		}
		if *c.to < 0 {
			return nil, status.New(status.InvalidArguments,
				"table %.80q is not a table of spans: it has no column %s of type %s", r.table, c.name, c.typ)
		}
	}
	for i, f := range fields {
		for _, p := range [...]struct {
			prefix, key string
			resource    bool
		}{{"span_attributes.", "", false}, {"resource_attributes.", "", true},
			{"scope_attributes.", "otel.scope.", false}} {
			if key, ok := strings.CutPrefix(f.Name, p.prefix); ok {
				l.attributes = append(l.attributes, attribute{i, f.Name, p.key + key, f.Type, p.resource})
			}
		}
	}
	return l, nil
}

// builder makes traces of rows.
type builder struct {
	l      *layout
	traces map[string]*trace
	spans  int
	tags   tagList
}

// trace is a trace in the making.
type trace struct {
	spans     []byte
	processes map[string]string // names of processes, by their JSON
	process   []byte            // members of the object of processes

	count   int
	present map[string]bool // ids of spans; false: of a parent that no span of the trace has
	end     int64           // of the span that ends last, ns
}

// spanBytes is about the memory of the id of a span in trace.present.
const spanBytes = 96

// note notes the ids and the end of a span, by which open sees whether its trace is whole.
func (t *trace) note(l *layout, row *row) {
	t.count++
	t.present[row.text(l.id)] = true
	if parent := row.text(l.parent); parent != "" && !t.present[parent] {
		t.present[parent] = false
	}
	start, duration := row.int(l.timestamp), row.uint(l.duration)
	t.end = max(t.end, start+int64(min(duration, uint64(math.MaxInt64-max(start, 0)))))
}

// open lists the traces, of some ids, that seem to have spans outside of the time that was read: a parent is missing,
// or a span ends after that time.
func (b *builder) open(ids []string, to int64) (open []string) {
	for _, id := range ids {
		if t := b.traces[id]; t != nil &&
			(t.end > to || slices.Contains(slices.Collect(maps.Values(t.present)), false)) {
			open = append(open, id)
		}
	}
	return open
}

// drop forgets the traces of some ids.
func (b *builder) drop(ids []string) {
	for _, id := range ids {
		b.spans -= b.traces[id].count
		delete(b.traces, id)
	}
}

func newBuilder(l *layout) *builder { return &builder{l: l, traces: map[string]*trace{}} }

// add adds the span of a row.
func (b *builder) add(row *row) error {
	if b.spans++; b.spans > maxSpans {
		return tooMany("The traces have more than %d spans: ask for fewer with limit, or for a shorter time", maxSpans)
	}
	id := row.text(b.l.trace)
	t := b.traces[id]
	if t == nil {
		t = &trace{processes: map[string]string{}, present: map[string]bool{}, end: math.MinInt64}
		b.traces[id] = t
	}
	before := len(t.spans) + 2*len(t.process) + spanBytes*len(t.present)
	t.note(b.l, row)
	process := b.process(t, row)
	if len(t.spans) > 0 {
		t.spans = append(t.spans, ',')
	}
	var err error
	if t.spans, err = b.span(t.spans, row, process); err != nil {
		return err
	}
	return row.reserve(len(t.spans) + 2*len(t.process) + spanBytes*len(t.present) - before)
}

// process is the name of the process of a span in its trace.
func (b *builder) process(t *trace, row *row) string {
	b.tags.begin()
	for i := range b.l.attributes {
		if a := &b.l.attributes[i]; a.resource {
			b.tags.column(a, row)
		}
	}
	text := jsontext.AppendString([]byte(`{"serviceName":`), row.text(b.l.service))
	text = append(append(append(text, `,"tags":[`...), b.tags.text...), `]}`...)
	if name, ok := t.processes[string(text)]; ok {
		return name
	}
	name := "p" + strconv.Itoa(len(t.processes)+1)
	t.processes[string(text)] = name
	if len(t.process) > 0 {
		t.process = append(t.process, ',')
	}
	t.process = append(append(jsontext.AppendString(t.process, name), ':'), text...)
	return name
}

// span appends the span of a row.
func (b *builder) span(dst []byte, row *row, process string) ([]byte, error) {
	l := b.l
	dst = jsontext.AppendString(append(dst, `{"traceID":`...), row.bytes(l.trace))
	dst = jsontext.AppendString(append(dst, `,"spanID":`...), row.text(l.id))
	dst = jsontext.AppendString(append(dst, `,"operationName":`...), row.text(l.name))
	dst, err := b.references(append(dst, `,"references":[`...), row)
	if err != nil {
		return dst, err
	}
	dst = strconv.AppendInt(append(dst, `],"startTime":`...), row.int(l.timestamp)/1000, 10)
	dst = strconv.AppendUint(append(dst, `,"duration":`...), row.uint(l.duration)/1000, 10)
	dst = append(append(dst, `,"tags":[`...), b.spanTags(row)...)
	if dst, err = b.logs(append(dst, `],"logs":[`...), row); err != nil {
		return dst, err
	}
	dst = jsontext.AppendString(append(dst, `],"processID":`...), process)
	return append(dst, `,"warnings":null}`...), nil
}

// references appends the parent of a span, and the spans that it is linked to.
func (b *builder) references(dst []byte, row *row) ([]byte, error) {
	empty := len(dst)
	reference := func(kind, trace, id string) {
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		dst = append(append(dst, `{"refType":"`...), kind...)
		dst = jsontext.AppendString(append(dst, `","traceID":`...), trace)
		dst = append(jsontext.AppendString(append(dst, `,"spanID":`...), id), '}')
	}
	if parent := row.text(b.l.parent); parent != "" {
		reference("CHILD_OF", row.text(b.l.trace), parent)
	}
	var links []struct {
		Trace string `json:"trace_id"`
		Span  string `json:"span_id"`
	}
	if err := nested(row, b.l.links, &links); err != nil {
		return dst, err
	}
	for _, link := range links {
		reference("FOLLOWS_FROM", link.Trace, link.Span)
	}
	return dst, nil
}

// answer is the answer of the traces that are there, in the order of ids.
func (b *builder) answer(ids []string) answer {
	var a answer
	for _, id := range ids {
		t := b.traces[id]
		if t == nil {
			continue
		}
		delete(b.traces, id)
		a.begin()
		a.data = jsontext.AppendString(append(a.data, `{"traceID":`...), id)
		a.data = append(append(append(a.data, `,"spans":[`...), t.spans...), `],"processes":{`...)
		a.data = append(append(a.data, t.process...), `},"warnings":null}`...)
	}
	return a
}
