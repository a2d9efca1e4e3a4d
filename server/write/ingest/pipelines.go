package ingest

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/web"
)

// Documents keeps pipeline documents; pipeline.Manager does.
type Documents interface {
	Put(ctx context.Context, name string, text []byte) (pipeline.Document, error)
	Get(ctx context.Context, name, version string) (pipeline.Document, error)
	Remove(ctx context.Context, name, version string) (bool, error)
	Schema(ctx context.Context, name, version string, table schema.Name) (t *schema.Table, warning string, err error)
	DryRun(ctx context.Context, r pipeline.DryRun, body io.Reader) (pipeline.DryResult, error)
	Collectors() []prometheus.Collector
}

// manageFormat is the format of the answers about pipelines.
const manageFormat = "service_manage"

// pipelineName is the name in the path.
func pipelineName(c *web.Ctx) (string, error) {
	name, raw, ok := c.PathText("name")
	if !ok {
		return "", status.New(status.InvalidArguments,
			"Invalid request parameter: pipeline_name %q is not valid text in a URL", raw)
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
	return answer(c, &doc, pipeline.FormatVersion(doc.Version), false)
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
	return answer(c, &doc, version, true)
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
		return answer(c, nil, "", false)
	}
	return answer(c, &doc, p.String("version"), false)
}

// answer answers with one pipeline, or with none if doc is nil.
func answer(c *web.Ctx, doc *pipeline.Document, version string, withText bool) error {
	return reply(c, func() []byte {
		body := []byte(`{"pipelines":[`)
		if doc != nil {
			body = jsontext.AppendString(append(body, `{"name":`...), doc.Name)
			body = jsontext.AppendString(append(body, `,"version":`...), version)
			if withText {
				body = jsontext.AppendString(append(body, `,"pipeline":`...), doc.Text)
			}
			body = append(body, '}')
		}
		body = append(body, ']')
		if doc != nil {
			body = web.AppendWarnings(body, doc.Warnings)
		}
		return body
	})
}

// reply answers a request about pipelines with the members of head, which begins the object, and the time that it took.
func reply(c *web.Ctx, head func() []byte) error {
	return c.Make(200, "application/json", func() ([]byte, error) {
		body := strconv.AppendInt(append(head(), `,"execution_time_ms":`...), c.ElapsedMS(), 10)
		c.Executed(manageFormat)
		return append(body, '}'), nil
	})
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
	return reply(c, func() []byte {
		body := jsontext.AppendString([]byte(`{"sql":{"sql":`), h.o.Definition(t))
		if warning != "" {
			body = jsontext.AppendString(append(body, `,"message":`...), warning)
		}
		return append(body, '}')
	})
}

// document is the document in a request's body; ok is false if a body of its content type holds none.
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
