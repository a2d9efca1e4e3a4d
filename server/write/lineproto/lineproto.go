package lineproto

import (
	"cmp"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/tagged"
)

// Options of a Handler.
type Options struct {
	rows.Deps
	// Executor makes databases, Databases lists them.
	Executor  web.Executor
	Databases func() []engine.Database
	// MergeMode is the merge_mode of tables that are made. Default last_non_null: rows of one series and time are
	// merged field by field.
	MergeMode string
	Version   string
}

// Handler answers requests of line protocol, of both versions. Safe for concurrent use.
type Handler struct {
	o       Options
	options map[string]string // of tables that a request makes
	rows    prometheus.Counter
}

// New makes a handler.
func New(o Options) *Handler {
	o.RowBytes = cmp.Or(o.RowBytes, web.RowBytes)
	return &Handler{
		o: o, options: map[string]string{"merge_mode": cmp.Or(o.MergeMode, "last_non_null"),
			schema.SemanticOption: schema.SemanticMetric},
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_lineproto_rows_total",
			Help: "Rows written by requests of line protocol."}),
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// Write answers POST /v1/lineproto/write: all points of the body are stored, or none.
func (h *Handler) Write(c *web.Ctx) error { return h.write(c, "db") }

// WriteV2 answers POST /v1/lineproto/api/v2/write.
func (h *Handler) WriteV2(c *web.Ctx) error { return h.write(c, "db", "bucket") }

// write stores the points of a request of version 1 or 2. databases are the parameters that may name the database.
func (h *Handler) write(c *web.Ctx, databases ...string) error {
	p, err := c.LastQuery(append(databases, "precision")...)
	if err != nil {
		return err
	}
	unit, err := precision(units, p.String("precision"))
	if err != nil {
		return err
	}
	named := make([]string, len(databases))
	for i, name := range databases {
		named[i] = p.String(name)
	}
	if err := h.store(c, &request{unit: int64(unit), now: c.Start.Truncate(unit).UnixNano()}, named...); err != nil {
		return err
	}
	c.Empty(204)
	return nil
}

// store stores the points of a request into the database of the header, or else the first that is given.
func (h *Handler) store(c *web.Ctx, r *request, databases ...string) (err error) {
	h.introduce(c)
	r.tables, r.most, r.hold = h.o.Tables, h.o.RowBytes, c.Hold
	r.db, _ = web.Database(append([]string{c.HeaderDB()}, databases...)...)
	if r.hint, err = tagged.Hint(&h.o.Deps, c.Hints(), h.options); err != nil {
		return err
	}
	if r.left != nil {
		r.hint.Reject = r.left.refuse
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		if !utf8.Valid(body) {
			return false, web.NewReject(400, "the body is not valid UTF-8")
		}
		d := newDecoder(r, set)
		err = d.decode(body)
		return d.any, err
	})
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	return err
}

// units are the units of times by their names in the parameter precision.
var units = map[string]time.Duration{
	"": 1, "n": 1, "ns": 1, "u": time.Microsecond, "us": time.Microsecond, "\u00b5": time.Microsecond,
	"\u00b5s": time.Microsecond, "\u03bc": time.Microsecond, "\u03bcs": time.Microsecond,
	"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
}

func precision(units map[string]time.Duration, name string) (time.Duration, error) {
	unit, ok := units[name]
	if !ok {
		return 0, status.New(status.InvalidArguments, "Failed to convert time precision, name: %.40s", name)
	}
	return unit, nil
}

// introduce sets the headers by which clients of version 1 recognise the server.
func (h *Handler) introduce(c *web.Ctx) {
	c.Response.Header.Set("X-Influxdb-Version", "1.8.0-varve")
	c.Response.Header.Set("X-Influxdb-Build", "OSS")
}

// Ping answers /v1/lineproto/ping.
func (h *Handler) Ping(c *web.Ctx) error {
	h.introduce(c)
	c.Empty(204)
	return nil
}

// Ready answers /v1/lineproto/ready, as clients of version 2 read it.
func (h *Handler) Ready(c *web.Ctx) error {
	h.introduce(c)
	c.JSON(200, []byte(`{"status":"ready"}`))
	return nil
}

// Health answers /v1/lineproto/health, as clients of version 2 read it.
func (h *Handler) Health(c *web.Ctx) error {
	h.introduce(c)
	body := jsontext.AppendString([]byte(
		`{"name":"varve","message":"ready for queries and writes","status":"pass","checks":[],"version":`), h.o.Version)
	c.JSON(200, append(body, '}'))
	return nil
}
