package logql

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"varve/engine/jsontext"
	"varve/sqlexec/logql/syntax"
)

// Field is a field that was found in lines.
type Field struct {
	Name   string
	Type   string // string, int, float, boolean, duration or bytes
	Parser string // logfmt or json; empty: it is structured metadata, or a stage of the query made it
	Path   []string
	Values []string // distinct, sorted
}

// The bounds of fields: names, values of a name, and how deep objects go.
const (
	maxFields      = 1_000
	maxFieldValues = 1_000
	maxFieldDepth  = 10
)

// parsedPrefix is what names that parsers find get that begin with a digit.
const parsedPrefix = "_"

// Fields finds the fields of the lines of a query: structured metadata, labels that its stages make, and what the
// parsers of JSON and logfmt find in the lines.
func Fields(ctx context.Context, store Store, q *LineQuery) ([]Field, error) {
	q.Categorized = true
	streams, err := q.Run(ctx, store)
	if err != nil {
		return nil, err
	}
	f := finder{fields: map[string]*Field{}, values: map[string]map[string]bool{}}
	for i := range streams {
		for k := range streams[i].Lines {
			f.line(&streams[i].Lines[k])
		}
	}
	out := make([]Field, 0, len(f.fields))
	for name, one := range f.fields {
		for v := range f.values[name] {
			one.Values = append(one.Values, v)
		}
		slices.Sort(one.Values)
		one.Type = typeOf(one.Values)
		out = append(out, *one)
	}
	slices.SortFunc(out, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// finder gathers fields.
type finder struct {
	fields map[string]*Field
	values map[string]map[string]bool
}

// line adds the fields of a line.
func (f *finder) line(l *Line) {
	for _, m := range l.Metadata {
		f.add(m.Name, m.Value, "", nil)
	}
	parsed := false
	for _, p := range l.Parsed {
		if strings.HasPrefix(p.Name, "__error") {
			continue
		}
		parsed = true
		f.add(p.Name, p.Value, parserOf(l.Text), nil)
	}
	if parsed {
		return
	}
	if text := strings.TrimSpace(l.Text); strings.HasPrefix(text, "{") {
		f.object(jsontext.Of([]byte(text)), "", nil)
		return
	}
	f.pairs(l.Text)
}

// parserOf is the parser that a line is for.
func parserOf(line string) string {
	if strings.HasPrefix(strings.TrimSpace(line), "{") {
		return "json"
	}
	return "logfmt"
}

// add adds a value of a field.
func (f *finder) add(name, value, parser string, path []string) {
	one := f.fields[name]
	if one == nil {
		if len(f.fields) >= maxFields {
			return
		}
		one = &Field{Name: name, Parser: parser, Path: slices.Clone(path)}
		f.fields[name], f.values[name] = one, map[string]bool{}
	}
	if len(f.values[name]) < maxFieldValues {
		f.values[name][value] = true
	}
}

// object adds the members of an object.
func (f *finder) object(r *jsontext.Reader, prefix string, path []string) {
	for r.Enter(jsontext.Object); r.Member(); {
		key := string(r.Key)
		name, below := prefix+cleaned(key, parsedPrefix), append(path, key)
		switch r.Peek() {
		case jsontext.Object:
			if len(below) < maxFieldDepth {
				f.object(r, name+"_", below)
				continue
			}
			r.Skip()
		case jsontext.Array:
			r.Skip()
		default:
			if value, ok := r.Plain(); ok {
				f.add(name, string(value), "json", below)
			}
		}
	}
}

// pairs adds the pairs key=value of a line. A line without any has none.
func (f *finder) pairs(line string) {
	for rest := line; ; {
		at := strings.IndexByte(rest, '=')
		if at < 0 {
			return
		}
		key := rest[strings.LastIndexAny(rest[:at], " \t")+1 : at]
		value := rest[at+1:]
		if strings.HasPrefix(value, `"`) {
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				return
			}
			rest = value[len(quoted):]
			if value, err = strconv.Unquote(quoted); err != nil {
				return
			}
		} else {
			end := strings.IndexAny(value, " \t")
			if end < 0 {
				end = len(value)
			}
			value, rest = value[:end], value[end:]
		}
		if name := cleaned(key, parsedPrefix); key != "" && syntax.IsName(name) && value != "" {
			f.add(name, value, "logfmt", nil)
		}
	}
}

// typeOf is the type that all values have.
func typeOf(values []string) string {
	for _, t := range []struct {
		name string
		is   func(string) bool
	}{
		{"int", func(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }},
		{"float", func(s string) bool { _, err := strconv.ParseFloat(s, 64); return err == nil }},
		{"boolean", func(s string) bool { _, err := strconv.ParseBool(s); return err == nil }},
		{"duration", func(s string) bool { _, err := time.ParseDuration(s); return err == nil }},
		{"bytes", func(s string) bool { _, err := syntax.ParseBytes(s); return err == nil && !isAddress(s) }},
	} {
		if len(values) > 0 && !slices.ContainsFunc(values, func(s string) bool { return !t.is(s) }) {
			return t.name
		}
	}
	return "string"
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || bytes.IndexByte([]byte(s), ':') >= 0
}
