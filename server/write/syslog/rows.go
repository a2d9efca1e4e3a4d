package syslog

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/server/listen"
	"varve/server/write/rows/rejects"
	"varve/server/write/rows/tagged"
)

// severities and facilities are the names of the two parts of a priority.
var (
	severities = [...]string{"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"}
	facilities = [...]string{"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron",
		"authpriv", "ftp", "ntp", "security", "console", "solaris-cron",
		"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"}
)

// rowBytes bounds the rows of a batch. It is never reached, because batches are small.
const rowBytes = 1 << 30

// rows makes rows of messages.
func (s *Server) rows(_ context.Context, list []listen.Message, set *engine.WriteSet, _ func(int64) error,
	_ func() error) (made listen.Made, err error) {
	hint, err := tagged.Hint(&s.o.Deps, nil, map[string]string{"append_mode": "true"})
	if err != nil {
		return made, err
	}
	var left []rejects.Entry
	hint.Reject = func(n int, why error) {
		left = append(left, rejects.Entry{Table: s.o.Table, Why: why, Text: list[n-1].Text})
	}
	rows := tagged.New(&tagged.Request{DB: "public", Tables: s.o.Tables, Hint: hint, Time: vector.Timestamp(9),
		Most: rowBytes}, set)
	t, err := rows.Table([]byte(s.o.Table))
	if err != nil {
		return made, err
	}
	c, err := s.newColumns(t)
	if err != nil {
		return made, err
	}
	var m message
	for i, one := range list {
		t.From(i + 1)
		m.parse(bytes.ToValidUTF8(one.Text, []byte("\uFFFD")), one.At.In(s.o.Zone))
		if !m.timed {
			m.ns = one.At.UnixNano()
		}
		t.SetTime(m.ns)
		c.set(&m)
		if err := t.EndRow(len(one.Text), 0); err != nil {
			return made, err
		}
	}
	return listen.Made{Rows: rows.Count(), Left: func() []rejects.Entry { return left }}, nil
}

// columns are the columns of the table; nil: it takes no values of messages, see newColumns.
type columns struct {
	hostname, appName, facility, severity, procID, msgID, data, message *tagged.Column
	json                                                                []byte
}

// newColumns makes the columns of rows. A column keeps the role that it has in the table. If its type in the table
// takes no value of a message, messages are stored without the field, and the log says so; only the text must fit.
func (s *Server) newColumns(t *tagged.Table) (c *columns, err error) {
	c = &columns{}
	for _, one := range [...]struct {
		to   **tagged.Column
		name string
		typ  vector.Type
		role schema.Semantic
	}{
		{&c.hostname, "hostname", vector.StringType, schema.Tag},
		{&c.appName, "app_name", vector.StringType, schema.Tag},
		{&c.facility, "facility", vector.StringType, schema.Field},
		{&c.severity, "severity", vector.StringType, schema.Field},
		{&c.procID, "proc_id", vector.StringType, schema.Field}, {&c.msgID, "msg_id", vector.StringType, schema.Field},
		{&c.data, "structured_data", vector.JSONType, schema.Field},
		{&c.message, "message", vector.StringType, schema.Field},
	} {
		for _, role := range [...]schema.Semantic{one.role, schema.Tag, schema.Field} {
			if *one.to, err = t.Column([]byte(one.name), one.typ, role); err == nil {
				break
			}
		}
		if err == nil {
			continue
		}
		if *one.to = nil; one.to == &c.message {
			return nil, err
		}
		s.streams.Warn("messages are stored without "+one.name, "table", s.o.Table, "reason", err)
	}
	return c, nil
}

// set sets the values of a row; parts that a message does not have are NULL.
func (c *columns) set(m *message) {
	if m.priority >= 0 {
		text(c.facility, []byte(facilities[m.priority>>3]))
		text(c.severity, []byte(severities[m.priority&7]))
	}
	text(c.hostname, m.hostname)
	text(c.appName, m.appName)
	text(c.procID, m.procID)
	text(c.msgID, m.msgID)
	if len(m.data) > 0 && c.data != nil {
		c.json = appendData(c.json[:0], m.data)
		c.data.SetBytes(c.json)
	}
	c.message.SetBytes(m.msg)
}

// text sets a value, if there is one and a column for it.
func text(c *tagged.Column, value []byte) {
	if len(value) > 0 && c != nil {
		c.SetBytes(value)
	}
}

// structured is where the structured data at the beginning of a text ends; 0: there is none.
func structured(s []byte) int {
	i := 0
	for i < len(s) && s[i] == '[' {
		end := element(s[i:], nil)
		if end == 0 {
			return 0
		}
		i += end
	}
	if i < len(s) && s[i] != ' ' {
		return 0
	}
	return i
}

// element reads an element of structured data, [name key="value" key="value"], and returns where it ends; 0: s begins
// with no element. It calls each, if not nil, for the name, with a nil value, and for each parameter.
func element(s []byte, each func(name, value []byte)) int {
	i := name(s, 1)
	if i == 1 {
		return 0
	}
	if each != nil {
		each(s[1:i], nil)
	}
	for {
		for i < len(s) && s[i] == ' ' {
			i++
		}
		if i < len(s) && s[i] == ']' {
			return i + 1
		}
		from := i
		if i = name(s, i); i == from || i+1 >= len(s) || s[i] != '=' || s[i+1] != '"' {
			return 0
		}
		key, begin := s[from:i], i+2
		for i = begin; i < len(s) && s[i] != '"'; i++ {
			if s[i] == '\\' {
				i++
			}
		}
		if i >= len(s) {
			return 0
		}
		if each != nil {
			each(key, s[begin:i:i])
		}
		i++
	}
}

// name is where a name of structured data ends.
func name(s []byte, i int) int {
	for i < len(s) && s[i] > ' ' && s[i] != '=' && s[i] != ']' && s[i] != '"' {
		i++
	}
	return i
}

// parameter is a parameter of an element of structured data; a nil name stands for the element itself.
type parameter struct{ element, name, value []byte }

// appendData appends structured data, which is well formed, as JSON: an object of elements, each an object of its
// parameters. A parameter that comes several times, such as the addresses of a host, has a list of values.
func appendData(dst, s []byte) []byte {
	var all []parameter
	for i := 0; i < len(s); {
		var of []byte
		i += element(s[i:], func(name, value []byte) {
			if value == nil && of == nil {
				of, name = name, nil
			}
			all = append(all, parameter{of, name, value})
		})
	}
	slices.SortStableFunc(all, func(a, b parameter) int {
		return cmp.Or(bytes.Compare(a.element, b.element), bytes.Compare(a.name, b.name))
	})
	dst = append(dst, '{')
	for i := 0; i < len(all); {
		if i > 0 {
			dst = append(dst, ',')
		}
		of := all[i].element
		dst = append(jsontext.AppendString(dst, of), ":{"...)
		// passes over the entries of the element itself, which come before its parameters
		for ; i < len(all) && all[i].name == nil && bytes.Equal(all[i].element, of); i++ {
		}
		for first := true; i < len(all) && bytes.Equal(all[i].element, of); first = false {
			if !first {
				dst = append(dst, ',')
			}
			n := 1
			for i+n < len(all) && bytes.Equal(all[i+n].element, of) && bytes.Equal(all[i+n].name, all[i].name) {
				n++
			}
			dst = appendValues(append(jsontext.AppendString(dst, all[i].name), ':'), all[i:i+n])
			i += n
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// appendValues appends the value of a parameter, or a list of several.
func appendValues(dst []byte, list []parameter) []byte {
	if len(list) == 1 {
		return jsontext.AppendString(dst, unescaped(list[0].value))
	}
	for i, p := range list {
		dst = jsontext.AppendString(append(dst, "[,"[min(i, 1)]), unescaped(p.value))
	}
	return append(dst, ']')
}

// unescaped resolves \" \\ and \].
func unescaped(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\' || s[i+1] == ']') {
			i++
		}
		out = append(out, s[i])
	}
	return out
}
