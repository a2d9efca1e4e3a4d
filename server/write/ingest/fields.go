package ingest

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows/entries"
)

// Parameters may say which fields of entries hold the message and the time, which become tags, and which are left out
// or added. Then entries are rewritten before the pipeline sees them, and lie in memory as a whole.

// shape is what the parameters of a request say of its entries; nil: nothing.
func shape(c *web.Ctx, r *pipeline.Request) (*entries.Fields, error) {
	f, err := entries.ParseFields(c.QueryArgs())
	if f == nil || err != nil {
		return nil, err
	}
	if f.HasTime() && r.CustomTimeIndex != "" {
		return nil, status.New(status.InvalidArguments, "_time_field and custom_time_index exclude each other: both name the time")
	}
	r.Tags = f.Tags
	if f.HasTime() && r.Pipeline == pipeline.Identity {
		r.CustomTimeIndex = entries.TimeIndex
	}
	return f, nil
}

// shaped is the body of a request with its entries rewritten as the parameters say, as NDJSON. dropped counts lines
// that are left out.
func (h *Handler) shaped(c *web.Ctx, r *pipeline.Request, f *entries.Fields) (from io.Reader, dropped int, err error) {
	body, err := c.WholeBody()
	if err != nil {
		return nil, 0, err
	}
	set := entries.New(h.o.RowBytes, entries.Beside(c, body))
	table, err := set.Table([]byte(r.Table))
	if err != nil {
		return nil, 0, err
	}
	now := entries.Arrival(h.o.Pipelines, body)
	add := func(text []byte) error {
		now++
		return table.Make(func(dst []byte) ([]byte, error) { return f.Append(dst, text, now-1) })
	}
	switch kind, _, _ := strings.Cut(strings.ToLower(r.ContentType), ";"); strings.TrimSpace(kind) {
	case "application/json":
		err = eachValue(body, add)
	case "application/x-ndjson":
		dropped, err = eachLine(body, r.IgnoreErrors, add)
	case "text/plain":
		var quoted []byte
		dropped, err = eachLine(body, true, func(line []byte) error {
			quoted = jsontext.AppendString(append(quoted[:0], `{"`+entries.MessageColumn+`":`...), line)
			quoted = append(quoted, '}')
			return add(quoted)
		})
	default:
		return bytes.NewReader(body), 0, nil // the pipeline says which types there are
	}
	if err != nil {
		return nil, 0, err
	}
	c.DropBody() // the entries are made
	r.ContentType = "application/x-ndjson"
	if f.Debug {
		set.Show(c.Log)
		return bytes.NewReader(nil), dropped, nil
	}
	return table.Lines(), dropped, nil
}

// eachValue calls add with the objects of a body: one behind the other, or in arrays.
func eachValue(body []byte, add func([]byte) error) error {
	if !utf8.Valid(body) {
		return status.New(status.InvalidArguments, "Invalid request parameter: the body is not UTF-8")
	}
	r := jsontext.Of(body)
	for r.Past("") {
		if r.Peek() != jsontext.Array {
			if text := r.Raw(); r.Err() == nil {
				if err := add(text); err != nil {
					return err
				}
			}
			continue
		}
		for r.Enter(jsontext.Array); r.Element(); {
			if text := r.Raw(); r.Err() == nil {
				if err := add(text); err != nil {
					return err
				}
			}
		}
	}
	if r.Err() != nil {
		return status.New(status.InvalidArguments, "Invalid request parameter: the body is not JSON: %v", r.Err())
	}
	return nil
}

// eachLine calls add with the lines of a body that are not empty. It leaves out lines that are not UTF-8, and if ignore
// is set also lines that add refuses; dropped counts them.
func eachLine(body []byte, ignore bool, add func([]byte) error) (dropped int, err error) {
	number := 0
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !utf8.Valid(line) {
			dropped++
			continue
		}
		if err := add(line); err != nil {
			if ignore && web.ClientFault(err) {
				dropped++
				continue
			}
			_, text := web.Message(err)
			return dropped, status.Wrap(err, status.Of(err), "line %d: %s", number, text)
		}
	}
	return dropped, nil
}
