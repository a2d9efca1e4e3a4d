// Package journald accepts entries of a systemd journal in the journal export format, as systemd-journal-upload sends
// them.
package journald

import (
	"cmp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/vector"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/rejects"
	"varve/server/write/rows/tagged"
)

// defaultTable takes the entries of requests that name no table.
const defaultTable = "journald_logs"

// Handler answers uploads. Safe for concurrent use.
type Handler struct {
	o    rows.Deps
	rows prometheus.Counter
}

// New makes a handler.
func New(o rows.Deps) *Handler {
	o.RowBytes = cmp.Or(o.RowBytes, web.RowBytes)
	return &Handler{
		o: o,
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_journald_rows_total",
			Help: "Rows written by uploads of journals."}),
	}
}

// Protocol is the upload of journals; a sender that was given a host alone uploads at the root.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "journald", Collectors: h.Collectors(),
		Routes: web.Below([]web.Route{web.On(web.Post, "/upload", web.AccessWrite, h.Upload)}, "/v1/journald", ""),
		Owns:   func(path string) bool { return path == "/upload" },
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// Upload answers POST /v1/journald/upload: it stores the entries of the body, and keeps those that the table refuses as
// rejects.
func (h *Handler) Upload(c *web.Ctx) error {
	if kind := strings.ToLower(c.HeaderText("Content-Type")); kind != "" &&
		!strings.HasPrefix(kind, "application/vnd.fdo.journal") {
		return web.NewReject(415, "Content-Type application/vnd.fdo.journal is required")
	}
	p, err := c.LastQuery("db", "table")
	if err != nil {
		return err
	}
	name, err := c.UTF8Header("x-service-log-table-name")
	if err != nil {
		return err
	}
	for _, other := range [...]string{p.String("table"), defaultTable} {
		if name == "" {
			name = other
		}
	}
	hint, err := tagged.Hint(&h.o, c.Hints(), map[string]string{"append_mode": "true"})
	if err != nil {
		return err
	}
	r := &tagged.Request{Tables: h.o.Tables, Hint: hint, Time: vector.Timestamp(9), Most: h.o.RowBytes, Hold: c.Hold}
	r.DB, _ = web.Database(c.HeaderDB(), p.String("db"))
	d := &decoder{now: c.Start.UnixNano()}
	var left []rejects.Entry
	if h.o.Rejects != nil { // a sender that is answered with an error sends the same again, for ever
		r.Hint.Reject = func(entry int, why error) {
			left = append(left, rejects.Entry{Protocol: "journald", Table: name, Why: why, Text: d.texts[entry-1]})
		}
		d.refuse = r.Hint.Reject
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		rows := tagged.New(r, set)
		if d.table, err = rows.Table([]byte(name)); err != nil {
			return false, err
		}
		err = d.readable(body)
		return rows.Count() > 0, err
	})
	if err != nil {
		return err
	}
	stored := 0
	for _, w := range written {
		stored += w.Rows
	}
	h.rows.Add(float64(stored))
	if stored > 0 {
		h.o.Rejects.AddBeside(c.Context, left)
	} else if err := h.o.Rejects.Add(c.Context, left); err != nil {
		return err
	}
	c.Text(200, "OK.\n")
	return nil
}
