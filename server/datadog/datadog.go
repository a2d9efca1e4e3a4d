// Package datadog takes logs as the agents of a monitoring service send them: arrays of JSON objects.
package datadog

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/entries"
	"varve/server/web"
)

// defaultTable takes the logs of requests that name no table.
const defaultTable = "datadog_logs"

// Handler answers requests of agents. Safe for concurrent use.
type Handler struct {
	o    entries.Options
	rows prometheus.Counter
}

// New makes a handler.
func New(o entries.Options) *Handler {
	return &Handler{o: o, rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_datadog_rows_total", Help: "Rows written by requests of agents that send logs."})}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// Logs answers POST .../api/v2/logs: all logs of the body are stored, or none.
func (h *Handler) Logs(c *web.Ctx) error { return h.take(c, 202) }

// Input answers POST .../v1/input, the path of older agents.
func (h *Handler) Input(c *web.Ctx) error { return h.take(c, 200) }

func (h *Handler) take(c *web.Ctx, good int) error {
	if err := h.store(c); err != nil {
		refuse(c, err)
		return nil
	}
	c.JSON(good, []byte("{}"))
	return nil
}

func (h *Handler) store(c *web.Ctx) error {
	r, err := entries.Through(c, h.o.NoAutoCreate)
	if err != nil {
		return err
	}
	r.Tags = tags
	if r.Pipeline == pipeline.Identity && r.CustomTimeIndex == "" {
		r.CustomTimeIndex = entries.TimeIndex
	}
	d, name, err := fromQuery(c)
	if err != nil {
		return err
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		if !utf8.Valid(body) {
			return false, status.New(status.InvalidArguments, "the body is not valid UTF-8")
		}
		all := entries.New(h.o.RowBytes, entries.Beside(c, body))
		if d.table, err = all.Table([]byte(name)); err != nil {
			return false, err
		}
		if strings.HasPrefix(strings.ToLower(c.HeaderText("Content-Type")), "text/plain") {
			err = d.lines(body)
		} else {
			err = d.read(body)
		}
		if err != nil {
			return false, err
		}
		d.r, d.pairs = jsontext.Reader{}, nil
		c.DropBody() // the entries are made
		rows, err := all.Run(c.Context, h.o.Pipelines, r, set)
		return rows > 0, err
	})
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	return err
}

// fromQuery takes what the query and the headers say of all logs, and their table.
func fromQuery(c *web.Ctx) (d *decoder, table string, err error) {
	p, err := c.LastQuery("ddsource", "ddtags", "hostname", "service", "table")
	if err != nil {
		return nil, "", err
	}
	if table, err = c.UTF8Header("x-service-log-table-name"); err != nil {
		return nil, "", err
	}
	for _, name := range [...]string{p.String("table"), defaultTable} {
		if table == "" {
			table = name
		}
	}
	d = &decoder{now: c.Start.UnixNano(), ddtags: []byte(p.String("ddtags"))}
	for i, name := range tags {
		if text := p.String(name); text != "" {
			d.defaults[i] = []byte(text)
		}
	}
	return d, table, nil
}

// Validate answers GET .../api/v1/validate: who gets here has shown a key that is right.
func (h *Handler) Validate(c *web.Ctx) error {
	c.JSON(200, []byte(`{"valid":true}`))
	return nil
}

// refuse answers in the form in which agents read errors.
func refuse(c *web.Ctx, err error) {
	web.ReplyError(c, err)
	code := c.Response.StatusCode()
	if code == 408 {
		return
	}
	text := string(c.Response.Body())
	if !strings.HasPrefix(string(c.Response.Header.ContentType()), "text/plain") {
		_, text = web.Message(err)
	}
	out := strconv.AppendInt([]byte(`{"errors":[{"status":"`), int64(code), 10)
	out = jsontext.AppendString(append(out, `","title":"the logs are not stored","detail":`...), text)
	c.JSON(code, append(out, "}]}"...))
}
