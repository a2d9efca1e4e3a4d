package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strconv"

	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/pipeline"
	"varve/server/web"
)

// dryRequest is the body of a dry run that brings or names its pipeline.
type dryRequest struct {
	Pipeline *string `json:"pipeline"`
	Name     *string `json:"pipeline_name"`
	Version  *string `json:"pipeline_version"`
	DataType *string `json:"data_type"`
	Data     *string `json:"data"`
	Trace    bool    `json:"trace"`
	// Of service_identity.
	TimeIndex string `json:"custom_time_index"`
	MaxDepth  int    `json:"max_nested_levels"`
}

// DryRun answers POST /v1/pipelines/dryrun.
func (h *Handler) DryRun(c *web.Ctx) error {
	p, err := c.Query("pipeline_name", "version", "ignore_errors", "db", "table")
	if err != nil {
		return err
	}
	contentType, err := c.RequiredContentType()
	if err != nil {
		return err
	}
	body, err := c.ReadBody()
	if err != nil {
		return err
	}
	run := pipeline.DryRun{Pipeline: p.String("pipeline_name"), Version: p.String("version"), ContentType: contentType}
	var r dryRequest
	switch kind, params, _ := mime.ParseMediaType(contentType); {
	case kind == "multipart/form-data":
		if body, err = r.readForm(body, params["boundary"]); err != nil {
			return err
		}
		if run.EachEntry = true; r.Pipeline != nil || r.Name != nil {
			run = r.run()
			run.EachEntry = true
		}
		run.Trace = r.Trace
		run.ContentType = *r.DataType
	case json.Unmarshal(body, &r) == nil && r.Data != nil && (r.Pipeline != nil || r.Name != nil):
		run, body = r.run(), []byte(*r.Data)
	default:
		if run.IgnoreErrors, err = p.Bool("ignore_errors", false); err != nil {
			return err
		}
	}
	run.Hold = c.Hold
	if c.Watch != nil { // a client that has left needs no answer
		c.Watch()
	}
	result, err := h.o.Documents.DryRun(c.Context, run, bytes.NewReader(body))
	if err != nil {
		c.Warnings = result.Warnings
		return err
	}
	size := dryBytes(&result)
	if size > maxDryAnswer {
		return status.New(status.InvalidArguments,
			"the answer of the dry run would take about %d bytes, the limit is %d: send fewer entries", size,
			maxDryAnswer)
	}
	if err := c.Hold(2 * size); err != nil { // for the answer and the rows, which take no more
		return err
	}
	return c.Make(200, "application/json", func() ([]byte, error) {
		c.Executed(manageFormat)
		if run.EachEntry {
			return appendDryEntries(nil, &result), nil
		}
		return appendDryTables(nil, &result), nil
	})
}

// maxDryAnswer bounds the answer of a dry run, which lies in memory as a whole.
const maxDryAnswer = 16 << 20

// dryBytes is about the size of the answer of a dry run: each value comes with the name and the types of its column.
func dryBytes(r *pipeline.DryResult) (bytes int64) {
	const member = 96
	for i := range r.Tables {
		t := &r.Tables[i]
		for k, c := range t.Columns {
			bytes += int64(t.Rows.N+1)*int64(len(c.Name)+member) + int64(len(t.Rows.Cols[k].Heap))
		}
	}
	for i := range r.Entries {
		each := len(r.Entries[i].Before) + member
		for _, s := range r.Entries[i].Steps {
			each += len(s.After) + len(s.Processor) + len(s.Pipeline) + member
		}
		bytes += int64(max(1, len(r.Tables))) * int64(each) // with each table
	}
	return bytes
}

// run is the dry run that the body asks for.
func (r *dryRequest) run() pipeline.DryRun {
	run := pipeline.DryRun{ContentType: "application/json", Trace: r.Trace}
	if r.DataType != nil {
		run.ContentType = *r.DataType
	}
	if r.Pipeline != nil {
		run.Document = append([]byte{}, *r.Pipeline...)
		return run
	}
	run.Pipeline, run.TimeIndex, run.MaxDepth = *r.Name, r.TimeIndex, max(0, r.MaxDepth)
	if r.Version != nil {
		run.Version = *r.Version
	}
	return run
}

// readForm reads the parts of a form into r, and returns its data.
func (r *dryRequest) readForm(body []byte, boundary string) (data []byte, err error) {
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	found := false
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(part)
		}
		if err != nil {
			return nil, status.Wrap(err, status.InvalidArguments,
				"Invalid request parameter: the form cannot be read: %v", err)
		}
		if part.FormName() == "data" {
			data, found = text, true
			if r.DataType == nil {
				r.DataType = dataType(part.Header.Get("Content-Type"), text)
			}
			continue
		}
		value := string(text)
		switch part.FormName() {
		case "pipeline":
			r.Pipeline = &value
		case "pipeline_name":
			r.Name = &value
		case "pipeline_version":
			r.Version = &value
		case "data_type":
			r.DataType = &value
		case "trace":
			if r.Trace, err = strconv.ParseBool(value); err != nil {
				return nil, status.New(status.InvalidArguments,
					"Invalid request parameter: trace is true or false, got %q", value)
			}
		default:
			return nil, status.New(status.InvalidArguments,
				"Invalid request parameter: the form has a part %q; there are pipeline, pipeline_name, "+
					"pipeline_version, data, data_type and trace", part.FormName())
		}
	}
	if !found {
		return nil, status.New(status.InvalidArguments,
			"Invalid request parameter: data is required, the form has no part of that name")
	}
	return data, nil
}

// dataType is the content type of data in a form: the part's own if it is one of JSON, else JSON or text by the look of
// the data, because clients guess the type of a part from the name of a file.
func dataType(given string, data []byte) *string {
	kind, _, _ := mime.ParseMediaType(given)
	switch first := bytes.TrimLeft(data, " \t\r\n\ufeff"); {
	case kind == "application/json" || kind == "application/x-ndjson":
	case kind != "text/plain" && len(first) > 0 && (first[0] == '{' || first[0] == '['):
		kind = "application/json"
	default:
		kind = "text/plain"
	}
	return &kind
}

// appendDryTables appends the tables of a dry run, each with the steps of all entries. The last has the warnings.
func appendDryTables(dst []byte, r *pipeline.DryResult) []byte {
	tables := r.Tables
	traced := slices.ContainsFunc(r.Entries, func(e pipeline.DryEntry) bool { return len(e.Steps) > 0 })
	if len(tables) == 0 && (traced || len(r.Warnings) > 0) {
		tables = []pipeline.DryTable{{Name: "dry_run", Rows: &vector.Batch{}}}
	}
	dst = append(dst, '[')
	for i := range tables {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(tables[i].AppendSchema(dst), `,"rows":[`...)
		for row := range tables[i].Rows.N {
			if row > 0 {
				dst = append(dst, ',')
			}
			dst = tables[i].AppendRow(dst, row)
		}
		if dst = append(dst, ']'); traced {
			dst = appendTrace(dst, r.Entries)
		}
		if i == len(tables)-1 {
			dst = web.AppendWarnings(dst, r.Warnings)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendDryEntries appends what became of each entry of a dry run.
func appendDryEntries(dst []byte, r *pipeline.DryResult) []byte {
	dst = append(dst, `{"tables":[`...)
	for i := range r.Tables {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(r.Tables[i].AppendSchema(dst), '}')
	}
	dst = append(dst, `],"entries":[`...)
	for i := range r.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"entry":`...), int64(i+1), 10)
		e := &r.Entries[i]
		if len(e.Steps) > 0 {
			dst = appendSteps(append(dst, `,"steps":`...), e.Steps)
			dst = append(append(dst, `,"before":`...), e.Before...)
		}
		if e.Err != nil {
			_, text := web.Message(e.Err)
			dst = append(jsontext.AppendString(append(dst, `,"error":`...), text), '}')
			continue
		}
		dst = append(dst, `,"rows":[`...)
		for k, row := range e.Rows {
			if k > 0 {
				dst = append(dst, ',')
			}
			t := &r.Tables[row.Table]
			dst = jsontext.AppendString(append(dst, `{"table_name":`...), t.Name)
			dst = append(t.AppendRow(append(dst, `,"row":`...), row.Row), '}')
		}
		dst = append(dst, "]}"...)
	}
	return append(web.AppendWarnings(append(dst, ']'), r.Warnings), '}')
}

// appendTrace appends each entry as it was after each processor, and before the first.
func appendTrace(dst []byte, entries []pipeline.DryEntry) []byte {
	dst = append(dst, `,"steps":[`...)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSteps(dst, entries[i].Steps)
	}
	dst = append(dst, `],"before":[`...)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if len(entries[i].Before) == 0 {
			dst = append(dst, "null"...)
		}
		dst = append(dst, entries[i].Before...)
	}
	return append(dst, ']')
}

// appendSteps appends an entry as it was after each processor.
func appendSteps(dst []byte, steps []pipeline.Step) []byte {
	dst = append(dst, '[')
	for i, s := range steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		if s.Pipeline != "" {
			dst = append(jsontext.AppendString(append(dst, `"pipeline":`...), s.Pipeline), ',')
		}
		dst = jsontext.AppendString(append(dst, `"processor":`...), s.Processor)
		dst = strconv.AppendInt(append(dst, `,"index":`...), int64(s.Index), 10)
		if len(s.After) > 0 {
			dst = append(append(dst, `,"after":`...), s.After...)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
