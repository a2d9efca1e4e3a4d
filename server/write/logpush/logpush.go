// Package logpush accepts lines in the log-push protocol, as JSON or as a snappy-compressed protobuf message. Each line
// of a stream becomes a row, with the labels of the stream as tags.
package logpush

import (
	"bytes"
	"cmp"
	"log/slog"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/spare"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/tagged"
)

// defaultTable takes the lines of requests that name no table.
const defaultTable = "loki_logs"

// Handler answers pushes. Safe for concurrent use.
type Handler struct {
	o             rows.Deps
	tenants       bool // the header X-Scope-OrgID names the database
	decoders      spare.List[decoder]
	rows, skipped prometheus.Counter
}

// New makes a handler. tenants says that tenants are databases.
func New(o rows.Deps, tenants bool) *Handler {
	o.RowBytes = cmp.Or(o.RowBytes, web.RowBytes)
	return &Handler{
		o: o, tenants: tenants,
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_logpush_rows_total",
			Help: "Rows written by requests of log push."}),
		skipped: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_logpush_skipped_total",
			Help: "Streams, lines and label texts of log push left out because they have another form."}),
	}
}

// Protocol is log push; some clients take no more than a host.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "logpush", Collectors: h.Collectors(), Features: []string{"logpush"},
		Routes: []web.Route{
			web.On(web.Post, "/v1/logpush/api/v1/push", web.AccessWrite, h.Push),
			web.On(web.Post, "/v1/logpush/loki/api/v1/push", web.AccessWrite, h.Push),
			web.On(web.Post, "/loki/api/v1/push", web.AccessWrite, h.Push),
			web.On(web.Get, "/v1/logpush/ready", web.AccessOpen, h.Ready),
		},
		Owns: func(path string) bool { return strings.HasPrefix(path, "/loki/") },
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{h.rows, h.skipped}
}

// decoder holds the readers and buffers of one request, which are kept for the next.
type decoder struct {
	json    jsonReader
	proto   protoReader
	columns columns
	entries entries
}

// Bounds of the buffers that an idle decoder keeps.
const (
	maxSpareLabels = 1 << 12
	maxSpareText   = 1 << 20
)

// forget lets go of the body.
func (d *decoder) forget() {
	d.json.r.Reset(nil)
	d.json.into = nil
	for _, list := range [...][]label{d.json.labels, d.json.metadata, d.proto.labels, d.proto.metadata} {
		clear(list[:cap(list)])
	}
}

func (h *Handler) recycle(d *decoder) {
	d.columns.end()
	d.entries.hold = nil
	d.forget()
	for _, list := range []*[]label{&d.json.labels, &d.json.metadata, &d.proto.labels, &d.proto.metadata} {
		if cap(*list) > maxSpareLabels {
			*list = nil
		}
	}
	if cap(d.entries.out) > maxSpareText {
		d.entries.out = nil
	}
	if cap(d.columns.values) <= maxSpareText && cap(d.columns.tags) <= maxSpareLabels &&
		d.json.r.Held() <= maxSpareText {
		h.decoders.Put(d, int64(cap(d.entries.out)+cap(d.columns.values)+d.json.r.Held()))
	}
}

// Push answers POST /v1/logpush/api/v1/push.
func (h *Handler) Push(c *web.Ctx) error {
	isJSON, err := sendsJSON(c)
	if err != nil {
		return err
	}
	table, err := c.UTF8Header("x-service-log-table-name")
	if err != nil {
		return err
	}
	if table == "" {
		table = defaultTable
	}
	db, _ := web.Database(c.HeaderDB(), string(c.QueryArgs().Peek("db")))
	if h.tenants {
		if db = c.HeaderText("X-Scope-OrgID"); db == "" {
			return web.NewReject(401, "no org id")
		}
	}
	through, err := h.pipeline(c, db, table)
	if err != nil {
		return err
	}
	d := h.decoders.Get()
	defer h.recycle(d)
	skipped := 0
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := readBody(c, isJSON)
		if err != nil {
			return false, err
		}
		read := d.proto.read
		if isJSON {
			read = d.json.read
		}
		if through != nil {
			d.entries.out, d.entries.hold = d.entries.out[:0], c.Hold
			if skipped, err = read(body, &d.entries); err != nil {
				return false, err
			}
			d.forget()
			c.DropBody() // the entries are made
			outcome, err := h.o.Pipelines.Run(c.Context, through, bytes.NewReader(d.entries.out), set)
			skipped += outcome.Skipped
			return outcome.Rows > 0, err
		}
		rows, err := h.begin(c, d, db, table, set)
		if err != nil {
			return false, err
		}
		skipped, err = read(body, &d.columns)
		d.forget()
		return rows.Count() > 0, err
	})
	if err != nil {
		return err
	}
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	if skipped > 0 {
		h.skipped.Add(float64(skipped))
		c.Response.Header.Set("x-service-skipped-rows", strconv.Itoa(skipped))
		c.Log.LogAttrs(c.Context, slog.LevelDebug, "parts of a log push were left out", slog.Int("count", skipped),
			slog.String("table", table))
	}
	c.Empty(204)
	return nil
}

// begin begins the rows of a request.
func (h *Handler) begin(c *web.Ctx, d *decoder, db, table string, set *engine.WriteSet) (*tagged.Rows, error) {
	hint, err := tagged.Hint(&h.o, c.Hints(), map[string]string{"append_mode": "true"})
	if err != nil {
		return nil, err
	}
	rows := tagged.New(&tagged.Request{DB: db, Tables: h.o.Tables, Hint: hint, Time: vector.Timestamp(9),
		Most: h.o.RowBytes, Hold: c.Hold}, set)
	return rows, d.columns.begin(rows, table, hint.TimeIndex)
}

// readBody reads the document or the message of a request.
func readBody(c *web.Ctx, isJSON bool) ([]byte, error) {
	if isJSON {
		return c.WholeBody()
	}
	return c.Block(strings.ToLower(c.HeaderText("Content-Encoding")), "Loki request")
}

// sendsJSON reports whether the body is a document of JSON, and not a message of protobuf.
func sendsJSON(c *web.Ctx) (bool, error) {
	given := c.HeaderText("Content-Type")
	kind, _, _ := strings.Cut(given, ";")
	switch strings.ToLower(strings.TrimSpace(kind)) {
	case "application/json":
		return true, nil
	case "", "application/x-protobuf", "application/protobuf":
		return false, nil
	}
	return false, web.NewReject(400,
		"Unsupported content type: "+given+", there are application/json and application/x-protobuf")
}

// pipeline is the request to the pipeline that the headers name; nil: they name none.
func (h *Handler) pipeline(c *web.Ctx, db, table string) (*pipeline.Request, error) {
	r := &pipeline.Request{DB: db, Table: table, ContentType: "application/x-ndjson", Hints: c.Hints(),
		NoAutoCreate: h.o.NoAutoCreate, Hold: c.Hold, TimeField: flatten.DefaultTimeColumn}
	if named, err := r.FromHeaders(c.UTF8Header); err != nil || !named {
		return nil, err
	}
	if r.Pipeline == pipeline.Identity {
		r.CustomTimeIndex = flatten.DefaultTimeColumn + ";epoch;ns"
	}
	return r, nil
}

// Ready answers GET /ready below the address of the protocol, which clients ask before they push.
func (h *Handler) Ready(c *web.Ctx) error {
	c.Text(200, "ready\n")
	return nil
}
