package traceapi

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
)

// tagList is a list of tags in the making, commas between them.
type tagList struct{ text []byte }

func (l *tagList) begin() { l.text = l.text[:0] }

// key begins a tag; its value, and a brace, follow.
func (l *tagList) key(key, typ string) {
	if len(l.text) > 0 {
		l.text = append(l.text, ',')
	}
	l.text = jsontext.AppendString(append(l.text, `{"key":`...), key)
	l.text = append(append(append(l.text, `,"type":"`...), typ...), `","value":`...)
}

func (l *tagList) string(key, value string) {
	l.key(key, "string")
	l.text = append(jsontext.AppendString(l.text, value), '}')
}

func (l *tagList) bool(key string, value bool) {
	l.key(key, "bool")
	l.text = append(strconv.AppendBool(l.text, value), '}')
}

func (l *tagList) int(key string, value int64) {
	l.key(key, "int64")
	l.text = append(strconv.AppendInt(l.text, value, 10), '}')
}

// float adds a float. NaN and the infinities, for which JSON has no number, are text.
func (l *tagList) float(key string, value float64) {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		l.string(key, strconv.FormatFloat(value, 'g', -1, 64))
		return
	}
	l.key(key, "float64")
	l.text = append(jsontext.AppendFloat(l.text, value), '}')
}

// column adds the value that a row has in a column. NULL is no tag, and neither is a value of a type that attributes do
// not have, such as a time.
func (l *tagList) column(a *attribute, row *row) {
	if row.null(a.at) {
		return
	}
	v := row.batch.Cols[a.at]
	switch kind := a.typ.Kind(); {
	case a.typ.ID == vector.TypeBool:
		l.bool(a.key, v.Bool(row.at))
	case a.typ.IsInteger() && kind == vector.Int64:
		l.int(a.key, v.Int(row.at))
	case a.typ.IsInteger():
		l.key(a.key, "int64")
		l.text = append(strconv.AppendUint(l.text, v.Uint(row.at), 10), '}')
	case kind == vector.Float64:
		l.float(a.key, v.Float(row.at))
	case a.typ.IsText(), a.typ.ID == vector.TypeJSON:
		l.string(a.key, string(v.Bytes(row.at)))
	case a.typ.ID == vector.TypeBinary:
		l.key(a.key, "binary")
		l.text = append(append(append(l.text, '"'), base64.StdEncoding.EncodeToString(v.Bytes(row.at))...), `"}`...)
	}
}

// value adds a value of JSON.
func (l *tagList) value(key string, value any) error {
	switch v := value.(type) {
	case string:
		l.string(key, v)
	case bool:
		l.bool(key, v)
	case json.Number:
		if n, err := v.Int64(); err == nil {
			l.int(key, n)
			return nil
		}
		x, err := v.Float64()
		if err != nil {
			l.string(key, v.String())
			return nil
		}
		l.float(key, x)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		l.string(key, string(text))
	}
	return nil
}

// spanTags are the tags of the span of a row, until the next are made.
func (b *builder) spanTags(row *row) []byte {
	l, tags := b.l, &b.tags
	tags.begin()
	for i := range l.attributes {
		if a := &l.attributes[i]; !a.resource {
			tags.column(a, row)
		}
	}
	code := strings.TrimPrefix(row.text(l.code), codePrefix)
	if code == "UNSET" {
		code = ""
	}
	for _, t := range [...]tag{
		{"span.kind", kindOf(row.text(l.kind))}, {"otel.status_code", code},
		{"otel.status_description", row.text(l.message)},
		{"w3c.tracestate", row.text(l.state)}, {"otel.scope.name", row.text(l.scope)},
		{"otel.scope.version", row.text(l.version)},
	} {
		if t.value != "" {
			tags.string(t.key, t.value)
		}
	}
	if code == "ERROR" {
		tags.bool("error", true)
	}
	return tags.text
}

// logs appends the events of a span.
func (b *builder) logs(dst []byte, row *row) ([]byte, error) {
	var events []struct {
		Name       string
		Time       time.Time
		Attributes map[string]any
	}
	if err := nested(row, b.l.events, &events); err != nil {
		return dst, err
	}
	for i, e := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		b.tags.begin()
		if e.Name != "" {
			b.tags.string("event", e.Name)
		}
		keys := make([]string, 0, len(e.Attributes))
		for key := range e.Attributes {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if err := b.tags.value(key, e.Attributes[key]); err != nil {
				return dst, err
			}
		}
		dst = strconv.AppendInt(append(dst, `{"timestamp":`...), e.Time.UnixMicro(), 10)
		dst = append(append(append(dst, `,"fields":[`...), b.tags.text...), `]}`...)
	}
	return dst, nil
}

// nested reads a column of JSON, which may be NULL.
func nested(row *row, column int, into any) error {
	if row.null(column) || string(row.bytes(column)) == "[]" {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(row.text(column)))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return status.Wrap(err, status.InvalidArguments, "column %s of a span is not a list of what spans have: %s",
			row.result.Fields[column].Name, err)
	}
	return nil
}
