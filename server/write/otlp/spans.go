package otlp

import (
	"errors"
	"fmt"
	"math"
	"time"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/server/protowire"
)

// Limits of a span. SDKs keep 128 attributes.
const (
	maxAttributes = 1024
	maxID         = 64
	// spanColumnCount is the number of columns besides those of attributes.
	spanColumnCount = 16
)

// spanFields are the fields of a span but for its attributes, events and links.
type spanFields struct {
	trace, id, parent, state, name []byte
	kind, start, end               uint64
	hasStatus                      bool
	message                        []byte
	code                           uint64
}

// span makes a row of
//
//	Span{1: trace id, 2: id, 3: state, 4: parent's id, 5: name, 6: kind, 7: start ns fixed64, 8: end ns fixed64, 9: KeyValue*, 11: Event*, 13: Link*,
//	  15: Status{2: message, 3: code}}
//
// A span that cannot be kept is counted as refused, and is no error.
func (r *tracesRequest) span(message []byte, scope *scopeFields) error {
	marks := [...]int{len(r.spans.list), len(r.scopes.list), len(r.resources.list)}
	before := r.columnCount
	err := r.spanRow(message, scope)
	if err == nil {
		r.rows.EndRow()
		r.outcome.taken++
		return nil
	}
	if r.weight.full != nil {
		return r.weight.full
	}
	if !errors.As(err, new(*status.Error)) {
		return err
	}
	r.outcome.refuse(err)
	r.rows.AbandonRow()
	for i, set := range [...]*attributeColumns{&r.spans, &r.scopes, &r.resources} {
		set.cut(marks[i])
	}
	r.columnCount = before
	if r.rows.Lookup("span_links") == nil {
		r.fixed.events, r.fixed.links = nil, nil
	}
	return nil
}

func (r *tracesRequest) spanRow(message []byte, scope *scopeFields) error {
	var s spanFields
	attributes := 0
	nested := false
	r.spans.at, r.scopes.at, r.resources.at = 0, 0, 0
	f := protowire.Of(message)
	for f.Next() {
		switch f.Number {
		case 1, 2, 3, 4, 5, 9, 11, 13, 15:
			if f.Kind != protowire.Bytes {
				return fmt.Errorf("field %d of a span is of wire type %d", f.Number, f.Kind)
			}
		}
		switch f.Number {
		case 1:
			s.trace = f.Bytes
		case 2:
			s.id = f.Bytes
		case 3:
			s.state = f.Bytes
		case 4:
			s.parent = f.Bytes
		case 5:
			s.name = f.Bytes
		case 6:
			s.kind = f.Value
		case 7:
			s.start = f.Value
		case 8:
			s.end = f.Value
		case 9:
			a, err := readAttribute(f.Bytes)
			if err != nil {
				return err
			}
			if attributes++; attributes > maxAttributes {
				return status.New(status.InvalidArguments, "a span has more than %d attributes", maxAttributes)
			}
			if err := r.attribute(&r.spans, &a); err != nil {
				return err
			}
		case 11, 13:
			nested = true
		case 15:
			s.hasStatus = true
			if err := s.status(f.Bytes); err != nil {
				return err
			}
		}
	}
	if f.Err() != nil {
		return f.Err()
	}
	if err := r.inherited(scope); err != nil {
		return err
	}
	if err := r.fields(&s, scope); err != nil {
		return err
	}
	if err := r.lists(message, nested); err != nil {
		return err
	}
	return r.names.add(r, &s)
}

func (s *spanFields) status(message []byte) error {
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(2, protowire.Bytes):
			s.message = f.Bytes
		case f.Is(3, protowire.Varint):
			s.code = f.Value
		}
	}
	return f.Err()
}

// inherited sets the attributes that a span has from its scope and resource.
func (r *tracesRequest) inherited(scope *scopeFields) error {
	if len(scope.attributes)+len(r.reader.resource.attributes) > maxAttributes {
		return status.New(status.InvalidArguments, "a resource and its scope have more than %d attributes",
			maxAttributes)
	}
	for i := range scope.attributes {
		if err := r.attribute(&r.scopes, &scope.attributes[i]); err != nil {
			return err
		}
	}
	for i := range r.reader.resource.attributes {
		if err := r.attribute(&r.resources, &r.reader.resource.attributes[i]); err != nil {
			return err
		}
	}
	return nil
}

// fields sets the columns that every span has.
func (r *tracesRequest) fields(s *spanFields, scope *scopeFields) error {
	c := &r.fixed
	if s.start > math.MaxInt64 || s.end > math.MaxInt64 {
		return status.New(status.InvalidArguments,
			"the times %d and %d of a span exceed %d, in nanoseconds", s.start, s.end, int64(math.MaxInt64))
	}
	if n := max(len(s.trace), len(s.id), len(s.parent)); n > maxID {
		return status.New(status.InvalidArguments, "an id of a span has %d bytes, the limit is %d", n, maxID)
	}
	c.start.SetInt(int64(s.start))
	c.end.SetInt(int64(s.end))
	c.duration.SetUint(max(s.end, s.start) - s.start)
	if len(s.parent) > 0 {
		setID(c.parent, s.parent)
	}
	setID(c.trace, s.trace)
	setID(c.id, s.id)
	c.kind.SetString(nameOf(spanKinds, s.kind))
	code := ""
	if s.hasStatus {
		code = nameOf(statusCodes, s.code)
	}
	c.code.SetString(code)
	for _, t := range [...]struct {
		to   *vector.ColumnBuilder
		text []byte
	}{{c.name, s.name}, {c.message, s.message}, {c.state, s.state}, {c.scopeName, scope.name},
		{c.scopeVersion, scope.version}} {
		if err := setText(t.to, t.text); err != nil {
			return err
		}
	}
	switch r.service.kind {
	case nothing:
	case textValue:
		return setText(c.service, r.service.bytes)
	default:
		text, ok := appendText(r.scratch[:0], &r.service.wireValue)
		if r.scratch = text; !ok {
			return status.New(status.InvalidArguments, "the attribute service.name of a resource is not text")
		}
		c.service.SetBytes(text)
	}
	return nil
}

// nameOf is the name of a number; a number without a name has the first.
func nameOf(names []string, number uint64) string {
	if number >= uint64(len(names)) {
		number = 0
	}
	return names[number]
}

// lists sets the columns of events and links.
func (r *tracesRequest) lists(message []byte, any bool) (err error) {
	c := &r.fixed
	if c.events == nil {
		if c.events, err = r.rows.Column("span_events", vector.JSONType); err != nil {
			return err
		}
		if c.links, err = r.rows.Column("span_links", vector.JSONType); err != nil {
			return err
		}
	}
	if !any {
		c.events.SetString("[]")
		c.links.SetString("[]")
		return nil
	}
	events, err := r.array(c.events.Heap(), message, 11, r.event)
	if err != nil {
		return err
	}
	c.events.SetHeap(events)
	links, err := r.array(c.links.Heap(), message, 13, r.link)
	if err != nil {
		return err
	}
	c.links.SetHeap(links)
	return nil
}

// array appends the fields of a number as a JSON array.
func (r *tracesRequest) array(dst, message []byte, number int, item func(dst, message []byte) ([]byte, error)) ([]byte,
	error) {
	dst = append(dst, '[')
	empty := len(dst)
	f := protowire.Of(message)
	for f.Next() {
		if !f.Is(number, protowire.Bytes) {
			continue
		}
		if len(dst) > empty {
			dst = append(dst, ',')
		}
		var err error
		from := len(dst)
		if dst, err = item(dst, f.Bytes); err != nil {
			return dst, err
		}
		r.weight.held += int64(len(dst) - from) // an item of two bytes has a text of 70 bytes
		if err = r.weight.tell(); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), f.Err()
}

// event appends Event{1: time ns fixed64, 2: name, 3: KeyValue*}.
func (r *tracesRequest) event(dst, message []byte) (_ []byte, err error) {
	var at uint64
	var name []byte
	r.list = r.list[:0]
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Fixed64):
			at = f.Value
		case f.Is(2, protowire.Bytes):
			name = f.Bytes
		case f.Is(3, protowire.Bytes):
			if r.list, err = appendAttribute(r.list, &f); err != nil {
				return dst, err
			}
		}
	}
	if f.Err() != nil {
		return dst, f.Err()
	}
	if at > math.MaxInt64 {
		return dst, status.New(status.InvalidArguments, "the time %d of an event is past %d, in nanoseconds", at,
			int64(math.MaxInt64))
	}
	if dst, err = r.writer.object(append(dst, `{"attributes":`...), r.list, 2); err != nil {
		return dst, err
	}
	if dst, err = r.appendJSONText(append(dst, `,"name":`...), name); err != nil {
		return dst, err
	}
	dst = time.Unix(0, int64(at)).UTC().AppendFormat(append(dst, `,"time":"`...), "2006-01-02T15:04:05.000000000Z")
	return append(dst, `"}`...), nil
}

// link appends Link{1: trace id, 2: span id, 3: state, 4: KeyValue*}.
func (r *tracesRequest) link(dst, message []byte) (_ []byte, err error) {
	var trace, id, state []byte
	r.list = r.list[:0]
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Bytes):
			trace = f.Bytes
		case f.Is(2, protowire.Bytes):
			id = f.Bytes
		case f.Is(3, protowire.Bytes):
			state = f.Bytes
		case f.Is(4, protowire.Bytes):
			if r.list, err = appendAttribute(r.list, &f); err != nil {
				return dst, err
			}
		}
	}
	if f.Err() != nil {
		return dst, f.Err()
	}
	if dst, err = r.writer.object(append(dst, `{"attributes":`...), r.list, 2); err != nil {
		return dst, err
	}
	idValue, traceValue := wireValue{kind: bytesValue, bytes: id}, wireValue{kind: bytesValue, bytes: trace}
	if dst, err = r.writer.value(append(dst, `,"span_id":`...), &idValue, 2); err != nil {
		return dst, err
	}
	if dst, err = r.writer.value(append(dst, `,"trace_id":`...), &traceValue, 2); err != nil {
		return dst, err
	}
	dst, err = r.appendJSONText(append(dst, `,"trace_state":`...), state)
	return append(dst, '}'), err
}

// appendJSONText appends a text in quotes.
func (r *tracesRequest) appendJSONText(dst, b []byte) ([]byte, error) {
	v := wireValue{kind: textValue, bytes: b}
	return r.writer.value(dst, &v, 0)
}
