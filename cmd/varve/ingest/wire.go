package ingest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"varve/cmd/varve/client"
)

// request is that of an input, without its body.
func (o *Options) request(in *input) client.Request {
	f := in.format
	r := client.Request{Method: http.MethodPost, Path: f.path, Query: url.Values{"db": {o.DB}},
		Header: http.Header{"Content-Type": {f.contentType}}}
	if len(o.Hints) > 0 {
		r.Header.Set("X-Service-Hints", strings.Join(o.Hints, ","))
	}
	if f.namesTables || f == insert {
		return r
	}
	pipeline := o.Pipeline
	if f.name == "logpush" {
		if in.table != "" { // else the server has one
			r.Header.Set("X-Service-Log-Table-Name", in.table)
		}
		r.Header.Set("X-Service-Db-Name", o.DB)
		if pipeline != "" {
			r.Header.Set("X-Service-Log-Pipeline-Name", pipeline)
			r.Header.Set("X-Service-Pipeline-Version", o.PipelineVersion)
		}
	} else {
		if pipeline == "" {
			pipeline = identity
		}
		r.Query.Set("table", in.table)
		r.Query.Set("pipeline_name", pipeline)
		for name, value := range map[string]string{"version": o.PipelineVersion, "custom_time_index": in.timeIndex} {
			if value != "" {
				r.Query.Set(name, value)
			}
		}
	}
	var params []string
	if o.MaxNestedLevels > 0 {
		params = append(params, "max_nested_levels="+strconv.Itoa(o.MaxNestedLevels))
	}
	if o.SkipError {
		params = append(params, "skip_error=true")
	}
	if len(params) > 0 {
		r.Header.Set("X-Service-Pipeline-Params", strings.Join(params, "&"))
	}
	return r
}

// trial is a request without entries: of the endpoint of JSON lines where that is where they go, else of the server's
// health.
func (o *Options) trial(inputs []*input) client.Request {
	f := formats[o.Format]
	if inputs[0].format != nil {
		f = inputs[0].format
	}
	if f != nil && f.path != "/v1/ingest" {
		return client.Request{Path: "/health"}
	}
	in := &input{format: formats["ndjson"], table: inputs[0].table}
	if o.Time != autoTime {
		in.timeIndex = o.Time
	}
	if in.table == "" {
		return client.Request{Path: "/health"}
	}
	r := o.request(in)
	r.Body = strings.NewReader("")
	return r
}

// body is what is sent for a part; it may lie in scratch.
func (f *format) body(in *input, scratch *[]byte, p *part) (_ []byte, err error) {
	switch {
	case f == insert:
		*scratch, err = insertBody(in, *scratch, p.body)
		return *scratch, err
	case f.before == "":
		return p.body, nil
	}
	b := append((*scratch)[:0], f.before...)
	b = append(b, bytes.TrimRight(p.body, "\n")...)
	for i := len(f.before); i < len(b); i++ { // ends of lines stand between entries only
		if b[i] == '\n' {
			b[i] = ','
		}
	}
	b = append(b, f.after...)
	*scratch = b
	return b, nil
}

// taken is what the server says of a part that it took.
type taken struct {
	rows, skipped int64
	warnings      []string
}

// mostAnswer bounds what is read of an answer, bytes.
const mostAnswer = 1 << 20

// readAnswer reads what the server says of a part. An answer that says nothing of rows, or breaks off, took all.
func readAnswer(resp *http.Response, f *format, p *part) taken {
	t := taken{}
	t.skipped, _ = strconv.ParseInt(resp.Header.Get("X-Service-Skipped-Rows"), 10, 64) //nolint:errcheck // mostly absent
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil || len(text) == 0 {
		t.rows = f.rows(p)
		return t
	}
	var body struct {
		Output   []struct{ AffectedRows int64 }
		Warnings []string
	}
	if json.Unmarshal(text, &body) != nil {
		t.rows = f.rows(p)
		return t
	}
	for _, o := range body.Output {
		t.rows += o.AffectedRows
	}
	t.warnings = body.Warnings
	return t
}

// rows is how many rows a part makes where all of it is taken: one of each entry, and of a stream of a log push, one of
// each of its values.
func (f *format) rows(p *part) (n int64) {
	if f.name != "logpush" {
		return p.entries()
	}
	for line := range bytes.Lines(p.body) {
		var stream struct{ Values []json.RawMessage }
		if json.Unmarshal(line, &stream) == nil {
			n += int64(len(stream.Values))
		}
	}
	return n
}
