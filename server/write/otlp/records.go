package otlp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"varve/engine/convert"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/server/protowire"
)

// recordFields are the fields of
//
//	LogRecord{1: time ns fixed64, 2: severity, 3: its text, 5: body AnyValue, 6: KeyValue*, 8: flags fixed32, 9: trace id, 10: span id,
//	  11: observed time ns fixed64}
//
// in place.
type recordFields struct {
	time, observed  uint64
	severity, flags uint64
	severityText    []byte
	trace, span     []byte
	body            wireValue
	text            []byte // of the body; check makes it
	json            []byte // the heap of the column of attributes, the record's at its end; check makes it
	attributes      []attribute
}

// read reads a record; its attributes go into the memory of the given list.
func (l *recordFields) read(message []byte, attributes []attribute) (err error) {
	*l = recordFields{attributes: attributes[:0]}
	f := protowire.Of(message)
	for f.Next() {
		switch {
		case f.Is(1, protowire.Fixed64):
			l.time = f.Value
		case f.Is(11, protowire.Fixed64):
			l.observed = f.Value
		case f.Is(2, protowire.Varint):
			l.severity = f.Value
		case f.Is(3, protowire.Bytes):
			l.severityText = f.Bytes
		case f.Is(5, protowire.Bytes):
			l.body, err = readValue(f.Bytes)
		case f.Is(6, protowire.Bytes):
			l.attributes, err = appendAttribute(l.attributes, &f)
		case f.Is(8, protowire.Fixed32):
			l.flags = f.Value
		case f.Is(9, protowire.Bytes):
			l.trace = f.Bytes
		case f.Is(10, protowire.Bytes):
			l.span = f.Bytes
		case f.Number <= 11 && f.Number != 4 && f.Number != 7:
			err = fmt.Errorf("field %d of a log record is of wire type %d", f.Number, f.Kind)
		}
		if err != nil {
			return err
		}
	}
	return f.Err()
}

// moment is the time of a record, ns: its own, or else when it was observed, or else now.
func (l *recordFields) moment(now int64) (int64, error) {
	at := l.time
	if at == 0 {
		at = l.observed
	}
	if at > math.MaxInt64 {
		return 0, status.New(status.InvalidArguments, "the time %d of a log record is past %d, in nanoseconds", at,
			int64(math.MaxInt64))
	}
	if at == 0 {
		return now, nil
	}
	return int64(at), nil
}

// record makes a row of a record. A record that cannot be kept is counted as refused, and is no error.
func (r *logsRequest) record(message []byte, scope *scopeFields) error {
	var l recordFields
	err := l.read(message, r.attributes)
	r.attributes = l.attributes
	if err != nil {
		return err
	}
	at, err := r.check(&l, scope)
	if r.weight.full != nil {
		return r.weight.full
	}
	if err != nil {
		if !errors.As(err, new(*status.Error)) {
			return err
		}
		r.outcome.refuse(err)
		return nil
	}
	// before the columns copy it
	if err := r.weight.add(int64(len(message) - len(l.body.bytes) + len(l.text))); err != nil {
		return err
	}
	columns, tags := r.rows.Columns(), len(r.hint.Tags)
	if err := r.row(&l, at, scope); err != nil {
		r.undo(columns, tags)
		r.outcome.refuse(err)
		return nil
	}
	r.rows.EndRow()
	r.outcome.taken++
	return nil
}

// undo takes back the row in hand, and the columns that it added to the first columns.
func (r *logsRequest) undo(columns, tags int) {
	r.rows.Unpin(columns)
	r.rows.AbandonRow()
	r.hint.Tags = r.hint.Tags[:tags]
	for i := range r.extracted {
		if k := &r.extracted[i]; k.values != nil && r.rows.Lookup(k.name) == nil {
			k.values = nil
		}
	}
}

// row sets the columns of a record. An error says that a column of the table does not take its value.
func (r *logsRequest) row(l *recordFields, at int64, scope *scopeFields) error {
	if err := r.setKeys(l); err != nil {
		return err
	}
	c := &r.columns
	c.time.SetInt(timefmt.FloorDiv(at, r.unit))
	setID(c.trace, l.trace)
	setID(c.span, l.span)
	c.severityText.SetBytes(l.severityText)
	if err := r.setNumber(c.severity, vector.Int32Type, int64(int32(l.severity))); err != nil {
		return err
	}
	if l.body.kind != nothing {
		c.body.SetBytes(l.text)
	}
	c.attributes.SetHeap(l.json)
	if err := r.setNumber(c.flags, vector.Uint32Type, int64(l.flags)); err != nil {
		return err
	}
	if scope.present {
		c.scopeName.SetBytes(scope.name)
	}
	c.scopeVersion.SetBytes(scope.version)
	c.scopeAttributes.SetBytes(r.scope.json)
	c.scopeURL.SetBytes(scope.schemaURL)
	c.resourceAttributes.SetBytes(r.resource.json)
	c.resourceURL.SetBytes(r.reader.resource.schemaURL)
	return nil
}

// setNumber sets an integer in a column, whose type may be the table's.
func (r *logsRequest) setNumber(c *vector.ColumnBuilder, own vector.Type, x int64) error {
	if !setCoerced(c, &wireValue{kind: intValue, bits: uint64(x)}) {
		return unaligned(c.Name(), c.Type(), own)
	}
	return nil
}

// check checks whether a record can be kept, and makes l.text and l.json.
func (r *logsRequest) check(l *recordFields, scope *scopeFields) (at int64, err error) {
	if r.resource.err != nil {
		return 0, r.resource.err
	}
	if r.scope.err != nil {
		return 0, r.scope.err
	}
	if at, err = l.moment(r.now); err != nil {
		return 0, err
	}
	if n := max(len(l.trace), len(l.span)); n > maxID {
		return 0, status.New(status.InvalidArguments, "an id of a log record has %d bytes, the limit is %d", n, maxID)
	}
	if !utf8.Valid(l.severityText) || !utf8.Valid(scope.name) || !utf8.Valid(scope.version) ||
		!utf8.Valid(scope.schemaURL) || !utf8.Valid(r.reader.resource.schemaURL) {
		return 0, errUTF8
	}
	if l.text = l.body.bytes; l.body.kind != textValue || !utf8.Valid(l.text) { // a text is not copied
		if r.body, err = r.writer.body(r.body[:0], &l.body); err != nil {
			return 0, err
		}
		l.text = r.body
	}
	l.json, err = r.writer.attributes(r.columns.attributes.Heap(), l.attributes)
	return at, err
}

// body appends the text of a body: a text as it is, bytes as text if they are UTF-8 and else in hexadecimal digits,
// other values as JSON.
func (w *writer) body(dst []byte, v *wireValue) ([]byte, error) {
	switch {
	case v.kind == nothing:
		return dst, nil
	case v.kind == textValue && !utf8.Valid(v.bytes):
		return dst, errUTF8
	case v.kind == textValue, v.kind == bytesValue && utf8.Valid(v.bytes):
		return append(dst, v.bytes...), nil
	case v.kind == bytesValue:
		return hex.AppendEncode(dst, v.bytes), nil
	}
	return w.value(dst, v, 1)
}

// extractedKey is an attribute that becomes a column.
type extractedKey struct {
	name      string
	values    *vector.ColumnBuilder // nil: no record had it yet
	inherited wireValue             // from the scope in hand, else the resource
}

// maxExtracted bounds the keys that a request names.
const maxExtracted = 128

// extract takes the keys that the header names.
func (r *logsRequest) extract(keys []string) error {
	if len(keys) > maxExtracted {
		return status.New(status.InvalidArguments,
			"the header x-service-log-extract-keys names %d keys, the limit is %d", len(keys), maxExtracted)
	}
	for _, key := range keys {
		r.extracted = append(r.extracted, extractedKey{name: key})
	}
	return nil
}

// inheritKeys looks up the keys in a scope and its resource.
func (r *logsRequest) inheritKeys(s *scopeFields) error {
	for i := range r.extracted {
		k := &r.extracted[i]
		if k.inherited = find(s.attributes, k.name); k.inherited.kind == nothing {
			k.inherited = find(r.reader.resource.attributes, k.name)
		}
	}
	return nil
}

// find is the value of an attribute, whatever the case of its key.
func find(list []attribute, key string) wireValue {
	for i := range list {
		if a := &list[i]; len(a.key) == len(key) && a.kind != nothing && equalFold(a.key, key) {
			return a.wireValue
		}
	}
	return wireValue{}
}

func equalFold(a []byte, b string) bool {
	for i, x := range a {
		y := b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}

// setKeys sets the columns of the keys. A record with a value of another type than text, integers and booleans is
// refused.
func (r *logsRequest) setKeys(l *recordFields) error {
	for i := range r.extracted {
		k := &r.extracted[i]
		v := find(l.attributes, k.name)
		if v.kind == nothing {
			v = k.inherited
		}
		switch v.kind {
		case nothing:
			continue
		case textValue, intValue, boolValue:
		default:
			return status.New(status.InvalidArguments,
				"the attribute %.80q cannot be extracted: it is neither text nor an integer nor a boolean", k.name)
		}
		if err := r.setKey(k, &v); err != nil {
			return err
		}
	}
	return nil
}

func (r *logsRequest) setKey(k *extractedKey, v *wireValue) (err error) {
	if k.values == nil {
		if k.values, err = r.rows.Column(k.name, r.typeOf(k.name, valueTypes[v.kind])); err != nil {
			return err
		}
		r.rows.Pin()
		if r.there == nil {
			r.hint.Tags = append(r.hint.Tags, k.name)
		}
		r.weight.held += newColumnBytes
	}
	switch t := k.values.Type(); {
	case t == vector.Int64Type && v.kind == intValue:
		k.values.SetInt(int64(v.bits))
		return nil
	case t == vector.BoolType && v.kind == boolValue:
		k.values.SetBool(v.bits != 0)
		return nil
	case r.typeOf(k.name, vector.Type{}) == t:
		if !setCoerced(k.values, v) {
			return unaligned(k.name, t, valueTypes[v.kind])
		}
		return nil
	case t != vector.StringType:
		k.values.Retype(vector.StringType, convert.All)
	}
	heap, _ := appendText(k.values.Heap(), v) // check found texts to be UTF-8 when it made JSON of them
	k.values.SetHeap(heap)
	return nil
}
