package hec

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/flatten"
	"varve/server/write/rows/entries"
)

// event is one event; members that it does not have are nil.
type event struct {
	ns                              int64
	timed                           bool
	host, source, sourcetype, index []byte // plain text
	body                            []byte // JSON
	fields                          []field
}

type field struct{ name, value []byte }

// decoder makes entries of events.
type decoder struct {
	set      *entries.Set
	fallback []byte // the table of events without an index
	defaults event  // of the query
	now      int64  // the time of the next event that has none

	r      jsontext.Reader
	body   []byte // that r reads
	from   int    // where the event in hand begins there
	fields []field
	count  int

	faults []*fault                   // events that are no entries
	events map[*entries.Table][]int32 // the numbers of the events that are, by table
}

// The tags that events have.
var tags = []string{"host", "source", "sourcetype"}

// read takes events, one behind the other or in an array.
func (d *decoder) read(body []byte) error {
	r := &d.r
	base := 0 // where d.body begins
	d.body = body
	r.Reset(body)
	for r.Past(",[]") {
		r.Forget()
		d.from = r.Offset()
		from := base + d.from
		err := d.event()
		d.count++
		var f *fault
		if err == nil || !errors.As(err, &f) {
			if err != nil {
				return err
			}
			continue
		}
		d.faults = append(d.faults, f)
		if base = jsontext.Next(body, from); base < 0 {
			break // nobody knows where the next event begins
		}
		d.body = bytes.TrimLeft(body[base:], "} \t\r\n") // braces that close nothing belong to the broken event
		base = len(body) - len(d.body)
		r.Reset(d.body)
	}
	if d.count == 0 {
		return d.fault(noData, "")
	}
	return nil
}

// event reads one event.
func (d *decoder) event() error {
	r := &d.r
	e := d.defaults
	d.fields = d.fields[:0]
	for r.Enter(jsontext.Object); r.Member(); {
		switch string(r.Key) {
		case "time":
			if text, ok := r.Plain(); ok {
				if e.ns, e.timed = entries.Time(text); !e.timed {
					return d.fault(invalidFormat, "time is not a number")
				}
			}
		case "host":
			e.host = text(r, e.host)
		case "source":
			e.source = text(r, e.source)
		case "sourcetype":
			e.sourcetype = text(r, e.sourcetype)
		case "index":
			switch r.Peek() {
			case jsontext.String:
				e.index = r.String()
			case jsontext.Null:
				r.Skip()
			default:
				return d.fault(incorrectIndex, "")
			}
		case "event":
			if k := r.Peek(); k == jsontext.Number || k == jsontext.Bool || k == jsontext.Array {
				e.body = jsontext.AppendString(nil, r.Raw())
			} else {
				e.body = r.Raw()
			}
		case "fields":
			if r.Peek() == jsontext.Null {
				r.Skip()
				continue
			}
			for r.Enter(jsontext.Object); r.Member(); {
				name := r.KeptKey()
				if value, ok := r.Plain(); ok {
					d.fields = append(d.fields, field{name, value})
				}
			}
		default:
			r.Skip()
		}
	}
	switch {
	case r.Err() != nil:
		return d.fault(invalidFormat, r.Err().Error())
	case !utf8.Valid(d.body[d.from:r.Offset()]):
		return d.fault(invalidFormat, "the event is not valid UTF-8")
	case d.closesMore():
		return d.fault(invalidFormat, "a brace too many is behind the event")
	case e.body == nil:
		return d.fault(eventRequired, "")
	case string(e.body) == "null" || string(e.body) == `""`:
		return d.fault(eventBlank, "")
	}
	e.fields = d.fields
	return d.add(&e, "event")
}

// closesMore reports whether a brace that closes nothing is behind the event: then this event is broken, not the next.
func (d *decoder) closesMore() bool {
	behind := bytes.TrimLeft(d.body[d.r.Offset():], " \t\r\n")
	return len(behind) > 0 && behind[0] == '}'
}

// text is the next value as text, or otherwise if the value is null.
func text(r *jsontext.Reader, otherwise []byte) []byte {
	if value, ok := r.Plain(); ok {
		return value
	}
	return otherwise
}

// raw takes a body that is text: one event, or several with separator between them.
func (d *decoder) raw(body []byte, separator string) error {
	if !utf8.Valid(body) {
		body = bytes.ToValidUTF8(body, []byte("\uFFFD"))
	}
	var quoted []byte
	for line := range bytes.SplitSeq(body, []byte(separator)) {
		if separator == "" {
			line = body
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			e := d.defaults
			quoted = jsontext.AppendString(quoted[:0], line)
			e.body = quoted
			if err := d.add(&e, entries.MessageColumn); err != nil {
				return err
			}
			d.count++
		}
		if separator == "" {
			break
		}
	}
	if d.count == 0 {
		return d.fault(noData, "")
	}
	return nil
}

// add makes the entry of an event, whose body becomes a column.
func (d *decoder) add(e *event, column string) error {
	name := d.fallback
	if len(e.index) > 0 {
		name = entries.LegalName(e.index)
	}
	t, err := d.set.Table(name)
	if err != nil {
		return d.fault(incorrectIndex, err.Error())
	}
	if t.Tags == nil {
		t.Tags = append([]string{}, tags...)
	}
	if d.events == nil {
		d.events = map[*entries.Table][]int32{}
	}
	d.events[t] = append(d.events[t], int32(d.count))
	return t.Make(func(dst []byte) ([]byte, error) {
		if !e.timed {
			e.ns = d.now
			d.now++
		}
		dst = strconv.AppendInt(append(dst, `{"`+flatten.DefaultTimeColumn+`":`...), e.ns, 10)
		for i, value := range [...][]byte{e.host, e.source, e.sourcetype} {
			if value != nil {
				dst = jsontext.AppendString(append(append(append(dst, `,"`...), tags[i]...), `":`...), value)
			}
		}
		dst = append(append(append(dst, `,"`...), column...), `":`...)
		dst = entries.AppendRaw(dst, e.body)
		for _, f := range e.fields {
			dst = d.appendField(append(dst, ','), t, &f, column)
		}
		return append(dst, '}'), nil
	})
}

// appendField appends a field, which is a tag. It gets a prefix if another column has its name.
func (d *decoder) appendField(dst []byte, t *entries.Table, f *field, column string) []byte {
	name := string(f.name)
	switch name {
	case "host", "source", "sourcetype", column, flatten.DefaultTimeColumn:
		name = "fields." + name
	}
	t.Tag(name)
	return jsontext.AppendString(append(jsontext.AppendString(dst, name), ':'), f.value)
}
