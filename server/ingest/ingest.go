// Package ingest answers POST /v1/ingest: parameters and body to a pipeline, its rows to the store.
package ingest

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/spare"
	"varve/pipeline"
	"varve/server/web"
)

// Pipelines turns a body into rows; pipeline.Manager does.
type Pipelines interface {
	Run(ctx context.Context, r *pipeline.Request, body io.Reader, set *engine.WriteSet) (pipeline.Outcome, error)
}

// Store takes rows; engine.Engine does.
type Store interface {
	Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error)
}

// Options of a Handler.
type Options struct {
	Pipelines Pipelines
	Store     Store
	// Documents keeps pipeline documents; Definition prints the table that one creates, as SQL.
	Documents  Documents
	Definition func(*schema.Table) string
	// NoAutoCreate refuses to create tables and columns, whatever hints and entries say.
	NoAutoCreate bool
	// MaxBytes bounds the bytes of the bodies taken at a time, 0 meaning no bound; MaxWait is how long a request waits
	// for room.
	MaxBytes int64
	MaxWait  time.Duration
}

// Handler answers ingest requests. Safe for concurrent use.
type Handler struct {
	o    Options
	sets spare.List[engine.WriteSet]

	budget *budget // nil: no bound

	rows, skipped prometheus.Counter
}

// New makes a handler.
func New(o Options) *Handler {
	h := &Handler{
		o:       o,
		rows:    prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_ingest_rows_total", Help: "Rows written by ingest requests."}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_ingest_skipped_rows_total", Help: "Entries left out because of skip_error."}),
	}
	if o.MaxBytes > 0 {
		h.budget = newBudget(o.MaxBytes, o.MaxWait)
	}
	return h
}

// Collectors are the figures of the handler and of its pipelines.
func (h *Handler) Collectors() []prometheus.Collector {
	list := []prometheus.Collector{h.rows, h.skipped}
	if h.o.Documents != nil {
		list = append(list, h.o.Documents.Collectors()...)
	}
	return list
}

// Ingest answers POST /v1/ingest.
func (h *Handler) Ingest(c *web.Ctx) error {
	req, err := request(c)
	if err != nil {
		return err
	}
	req.NoAutoCreate = h.o.NoAutoCreate
	if h.budget != nil {
		giveBack, err := h.budget.take(c.Context, int64(c.Request.Header.ContentLength()))
		if err != nil {
			return err
		}
		defer giveBack()
	}
	set := h.sets.Get()
	if !c.Recycle(set.Held()) {
		h.sets.Put(set, set.Held())
		set = new(engine.WriteSet)
	}
	defer func() {
		set.Reset()
		h.sets.Put(set, set.Held())
	}()
	outcome, err := h.o.Pipelines.Run(c.Context, req, c.Body(), set)
	if err != nil {
		return err
	}
	var written []engine.Written
	if outcome.Rows > 0 {
		if written, err = h.o.Store.Write(c.Context, set); err != nil {
			return err
		}
	}
	counts := make([]int, len(written))
	for i, w := range written {
		counts[i] = w.Rows
		h.rows.Add(float64(w.Rows))
	}
	if outcome.Skipped > 0 {
		h.skipped.Add(float64(outcome.Skipped))
		c.Response.Header.Set("x-service-skipped-rows", strconv.Itoa(outcome.Skipped))
	}
	c.Written(counts)
	return nil
}

// request reads parameters and headers.
func request(c *web.Ctx) (*pipeline.Request, error) {
	p, err := c.Query("db", "table", "pipeline_name", "version", "skip_error", "ignore_errors", "custom_time_index", "source", "msg_field")
	if err != nil {
		return nil, err
	}
	contentType, err := c.RequiredContentType()
	if err != nil {
		return nil, err
	}
	req := &pipeline.Request{
		Table: p.String("table"), Pipeline: p.String("pipeline_name"), Version: p.String("version"),
		CustomTimeIndex: p.String("custom_time_index"), ContentType: contentType, Hints: c.Hints(),
	}
	req.DB, _ = web.Database(c.HeaderDB(), p.String("db"))
	for _, name := range [...]string{"x-service-pipeline-name", "x-service-log-pipeline-name"} {
		header, err := c.UTF8Header(name)
		if err != nil {
			return nil, err
		}
		if header != "" {
			req.Pipeline = header
			break
		}
	}
	if req.SkipError, err = p.Bool("skip_error", false); err != nil {
		return nil, err
	}
	if req.IgnoreErrors, err = p.Bool("ignore_errors", false); err != nil {
		return nil, err
	}
	req.SetParams(c.HeaderText("x-service-pipeline-params"))
	return req, nil
}
