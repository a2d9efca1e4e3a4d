// Package datadog accepts logs from the agents of a monitoring service: arrays of JSON objects.
package datadog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows/entries"
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
	return &Handler{o: o, rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_datadog_rows_total",
		Help: "Rows written by requests of agents that send logs."})}
}

// The paths below the address that agents are given; some take no more than a host.
const (
	base     = "/v1/datadog"
	logs     = "/api/v2/logs"
	input    = "/v1/input"
	validate = "/api/v1/validate"
)

// Protocol is the protocol of agents.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "datadog", Collectors: h.Collectors(),
		Routes: web.Below([]web.Route{
			web.On(web.Post, logs, web.AccessWrite, h.Logs),
			web.On(web.Post, input, web.AccessWrite, h.Input),
			web.On(web.Post, input+"/{key}", web.AccessWrite, h.Input),
			web.On(web.Get, validate, web.AccessWrite, h.Validate),
		}, base, ""),
		Owns: func(path string) bool {
			return strings.HasPrefix(path, base+"/") || strings.HasPrefix(path, input) || path == logs ||
				path == validate
		},
		Credentials: func(c *web.Ctx, shown *web.Credentials) error {
			shown.Key = key(c)
			return nil
		},
		HidePath: hideKey,
	}
}

// hideKey is a path without the key that older agents put behind it.
func hideKey(path string) string {
	if before, _, ok := strings.Cut(path, input+"/"); ok {
		return before + input + "/***"
	}
	return path
}

// key is the key that an agent shows: in a header, in the query under one of two names, or behind the path of older
// ones.
func key(c *web.Ctx) []byte {
	if key := c.Request.Header.Peek("DD-API-KEY"); key != nil {
		return key
	}
	for _, name := range [...]string{"dd-api-key", "api_key"} {
		if key := c.QueryArgs().Peek(name); key != nil {
			return key
		}
	}
	if _, key, ok := strings.Cut(string(c.Path()), input+"/"); ok {
		return []byte(key)
	}
	return nil
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// Logs answers POST .../api/v2/logs: a log that cannot be stored fails alone, and the answer names it.
func (h *Handler) Logs(c *web.Ctx) error { return h.take(c, 202) }

// Input answers POST .../v1/input, the path of older agents.
func (h *Handler) Input(c *web.Ctx) error { return h.take(c, 200) }

func (h *Handler) take(c *web.Ctx, good int) error {
	failed, err := h.store(c)
	switch {
	case err != nil:
		refuse(c, err)
	case len(failed) > 0:
		reportFailures(c, failed)
	default:
		c.JSON(good, []byte("{}"))
	}
	return nil
}

// store stores the logs of a request, and returns those that it does not store.
func (h *Handler) store(c *web.Ctx) ([]failure, error) {
	r, err := entries.Through(c, &h.o)
	if err != nil {
		return nil, err
	}
	r.Tags = tags
	if r.Pipeline == pipeline.Identity && r.CustomTimeIndex == "" {
		r.CustomTimeIndex = entries.TimeIndex
	}
	d, name, err := fromQuery(c)
	if err != nil {
		return nil, err
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		all := h.o.Entries(c, body)
		if d.table, err = all.Table([]byte(name)); err != nil {
			return false, err
		}
		d.now = entries.Arrival(h.o.Pipelines, body)
		if strings.HasPrefix(strings.ToLower(c.HeaderText("Content-Type")), "text/plain") {
			err = d.lines(body)
		} else {
			err = d.read(body)
		}
		if err != nil {
			return false, err
		}
		d.r, d.body, d.pairs = jsontext.Reader{}, nil, nil
		c.DropBody() // the entries are made
		rows, err := all.Run(c.Context, h.o.Pipelines, r, set, h.o.Part(c, set, h.rows))
		return rows > 0, err
	})
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	return d.failures(), err
}

// failure is a log that is not stored, by its number from 1.
type failure struct {
	log int
	why error
}

// failures are the logs that are not stored.
func (d *decoder) failures() []failure {
	all := d.failed
	if d.table != nil {
		for entry, why := range d.table.Failed {
			all = append(all, failure{int(d.logs[entry-1]), why})
		}
	}
	slices.SortFunc(all, func(a, b failure) int { return cmp.Compare(a.log, b.log) })
	return all
}

// maxReported bounds the logs for which an answer says why they are not stored.
const maxReported = 100

// reportFailures answers that some logs are not stored.
func reportFailures(c *web.Ctx, failed []failure) {
	out := []byte(`{"errors":[`)
	for i, f := range failed[:min(len(failed), maxReported)] {
		if i > 0 {
			out = append(out, ',')
		}
		_, text := web.Message(f.why)
		out = append(out,
			`{"status":"400","title":"this log is not stored; logs without a fault are stored","detail":`...)
		out = append(jsontext.AppendString(out,
			fmt.Sprintf("log %d, one of %d that are not stored: %s", f.log, len(failed), text)), '}')
	}
	c.JSON(400, append(out, "]}"...))
}

// fromQuery reads the parameters and headers that hold for all logs of a request, and the table.
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
	d = &decoder{ddtags: []byte(p.String("ddtags"))}
	for i, name := range tags {
		if text := p.String(name); text != "" {
			d.defaults[i] = []byte(text)
		}
	}
	return d, table, nil
}

// Validate answers GET .../api/v1/validate: the middleware has checked the key.
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
