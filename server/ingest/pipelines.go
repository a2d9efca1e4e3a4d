package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/pipeline"
	"varve/server/web"
)

// Documents keeps pipeline documents; pipeline.Manager does.
type Documents interface {
	Put(ctx context.Context, name string, text []byte) (pipeline.Document, error)
	Get(ctx context.Context, name, version string) (pipeline.Document, error)
	Remove(ctx context.Context, name, version string) (bool, error)
	Schema(ctx context.Context, name, version string, table schema.Name) (t *schema.Table, warning string, err error)
	DryRun(ctx context.Context, r pipeline.DryRun, body io.Reader) ([]pipeline.DryTable, error)
	Collectors() []prometheus.Collector
}

// manageFormat is the format of the answers about pipelines.
const manageFormat = "service_manage"

// pipelineName is the name in the path. The router leaves the escapes of URLs as they are.
func pipelineName(c *web.Ctx) (string, error) {
	raw, _ := c.UserValue("name").(string)
	name, err := url.PathUnescape(strings.Clone(raw))
	if err != nil || !utf8.ValidString(name) {
		return "", status.New(status.InvalidArguments, "Invalid request parameter: pipeline_name %q is no text in a URL", raw)
	}
	return name, nil
}

// PutPipeline answers POST /v1/pipelines/{name}.
func (h *Handler) PutPipeline(c *web.Ctx) error {
	name, err := pipelineName(c)
	if err != nil {
		return err
	}
	text, ok, err := document(c)
	if err != nil {
		return err
	}
	if !ok {
		c.Empty(415)
		return nil
	}
	doc, err := h.o.Documents.Put(c.Context, name, text)
	if err != nil {
		return err
	}
	answer(c, &doc, pipeline.FormatVersion(doc.Version), false)
	return nil
}

// GetPipeline answers GET /v1/pipelines/{name}.
func (h *Handler) GetPipeline(c *web.Ctx) error {
	p, err := c.Query("version")
	if err != nil {
		return err
	}
	name, err := pipelineName(c)
	if err != nil {
		return err
	}
	version := p.String("version")
	doc, err := h.o.Documents.Get(c.Context, name, version)
	if err != nil {
		return err
	}
	if version == "" {
		version = pipeline.FormatVersion(doc.Version)
	}
	answer(c, &doc, version, true)
	return nil
}

// DeletePipeline answers DELETE /v1/pipelines/{name}.
func (h *Handler) DeletePipeline(c *web.Ctx) error {
	p, err := c.Query("version")
	if err != nil {
		return err
	}
	var doc pipeline.Document
	if doc.Name, err = pipelineName(c); err != nil {
		return err
	}
	ok, err := h.o.Documents.Remove(c.Context, doc.Name, p.String("version"))
	if err != nil {
		return err
	}
	if !ok {
		answer(c, nil, "", false)
	} else {
		answer(c, &doc, p.String("version"), false)
	}
	return nil
}

// answer tells of one pipeline, or of none.
func answer(c *web.Ctx, doc *pipeline.Document, version string, withText bool) {
	body := []byte(`{"pipelines":[`)
	if doc != nil {
		body = web.AppendJSONString(append(body, `{"name":`...), doc.Name)
		body = web.AppendJSONString(append(body, `,"version":`...), version)
		if withText {
			body = web.AppendJSONString(append(body, `,"pipeline":`...), doc.Text)
		}
		body = append(body, '}')
	}
	finish(c, append(body, ']'))
}

// finish ends an answer about pipelines with its time.
func finish(c *web.Ctx, body []byte) {
	body = strconv.AppendInt(append(body, `,"execution_time_ms":`...), c.ElapsedMS(), 10)
	c.Executed(manageFormat)
	c.JSON(200, append(body, '}'))
}

// PipelineDDL answers GET /v1/pipelines/{name}/ddl.
func (h *Handler) PipelineDDL(c *web.Ctx) error {
	p, err := c.Query("db", "table", "version")
	if err != nil {
		return err
	}
	name, err := pipelineName(c)
	if err != nil {
		return err
	}
	table := schema.Name{Table: p.String("table")}
	table.DB, _ = web.Database(c.HeaderDB(), p.String("db"))
	t, warning, err := h.o.Documents.Schema(c.Context, name, p.String("version"), table)
	if err != nil {
		return err
	}
	body := web.AppendJSONString([]byte(`{"sql":{"sql":`), h.o.Definition(t))
	if warning != "" {
		body = web.AppendJSONString(append(body, `,"message":`...), warning)
	}
	finish(c, append(body, '}'))
	return nil
}

// document is the document in a request's body; ok is false when the content type holds none.
func document(c *web.Ctx) (text []byte, ok bool, err error) {
	kind, params, parseErr := mime.ParseMediaType(string(c.Request.Header.ContentType()))
	if parseErr != nil && !errors.Is(parseErr, mime.ErrInvalidMediaParameter) {
		return nil, false, nil
	}
	switch {
	case strings.HasSuffix(kind, "yaml"):
		text, err = c.ReadBody()
		return text, err == nil, err
	case kind != "multipart/form-data" || params["boundary"] == "":
		return nil, false, nil
	}
	part, err := multipart.NewReader(c.Body(), params["boundary"]).NextPart()
	if err != nil {
		if _, whole := c.ReadBody(); whole != nil {
			return nil, false, whole // the body cannot be read at all
		}
		return nil, false, nil
	}
	text, err = io.ReadAll(part)
	return text, err == nil, err
}

// dryRequest is the body of a dry run that brings or names its pipeline.
type dryRequest struct {
	Pipeline *string `json:"pipeline"`
	Name     *string `json:"pipeline_name"`
	Version  *string `json:"pipeline_version"`
	DataType *string `json:"data_type"`
	Data     *string `json:"data"`
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
	if json.Unmarshal(body, &r) == nil && r.Data != nil && (r.Pipeline != nil || r.Name != nil) {
		run, body = r.run(), []byte(*r.Data)
	} else {
		if run.IgnoreErrors, err = p.Bool("ignore_errors", false); err != nil {
			return err
		}
	}
	tables, err := h.o.Documents.DryRun(c.Context, run, bytes.NewReader(body))
	if err != nil {
		return err
	}
	answer := []byte{'['}
	for i := range tables {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = appendDryTable(answer, &tables[i])
	}
	c.Executed(manageFormat)
	c.JSON(200, append(answer, ']'))
	return nil
}

// run is the trial that the body asks for.
func (r *dryRequest) run() pipeline.DryRun {
	run := pipeline.DryRun{ContentType: "application/json"}
	if r.DataType != nil {
		run.ContentType = *r.DataType
	}
	if r.Pipeline != nil {
		run.Document = append([]byte{}, *r.Pipeline...)
		return run
	}
	run.Pipeline = *r.Name
	if r.Version != nil {
		run.Version = *r.Version
	}
	return run
}

func appendDryTable(dst []byte, t *pipeline.DryTable) []byte {
	dst = web.AppendJSONString(append(dst, `{"table_name":`...), t.Name)
	dst = append(dst, `,"schema":[`...)
	for i, c := range t.Columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = web.AppendJSONString(append(dst, `{"name":`...), c.Name)
		dst = append(dst, `,"data_type":"`+pipeline.WireName(c.Type)+`","column_type":"`+c.Semantic.String()+`","fulltext":`...)
		dst = append(strconv.AppendBool(dst, c.Fulltext), '}')
	}
	dst = append(dst, `],"rows":[`...)
	for r := range t.Rows.N {
		if r > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		for i, c := range t.Columns {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = web.AppendJSONString(append(dst, `{"key":`...), c.Name)
			dst = append(dst, `,"data_type":"`+pipeline.WireName(c.Type)+`","semantic_type":"`+c.Semantic.String()+`","value":`...)
			dst = append(appendDryValue(dst, t.Rows.Cols[i], r), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, "]}"...)
}

// appendDryValue appends row r of a column: times as numbers, JSON as it is.
func appendDryValue(dst []byte, v *vector.Vector, r int) []byte {
	if v.IsNull(r) {
		return append(dst, "null"...)
	}
	switch v.Type.Kind() {
	case vector.Bool:
		return strconv.AppendBool(dst, v.Bool(r))
	case vector.Int64:
		return strconv.AppendInt(dst, v.Int(r), 10)
	case vector.Uint64:
		return strconv.AppendUint(dst, v.Uint(r), 10)
	case vector.Float64:
		return web.AppendJSONFloat(dst, v.Float(r))
	}
	if v.Type == vector.JSONType {
		return append(dst, v.Bytes(r)...)
	}
	return web.AppendJSONString(dst, v.Bytes(r))
}
