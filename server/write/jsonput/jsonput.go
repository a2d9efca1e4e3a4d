// Package jsonput accepts points as JSON objects of metric, timestamp, value and tags. Each point becomes a row of the
// table that the metric names.
package jsonput

import (
	"cmp"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/schema"
	"varve/engine/spare"
	"varve/engine/vector"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/tagged"
)

// Handler answers puts. Safe for concurrent use.
type Handler struct {
	o        rows.Deps
	value    string
	decoders spare.List[decoder]
	rows     prometheus.Counter
}

// New makes a handler.
func New(o rows.Deps) *Handler {
	o.RowBytes = cmp.Or(o.RowBytes, web.RowBytes)
	h := &Handler{
		o: o, value: "value",
		rows: prometheus.NewCounter(prometheus.CounterOpts{Name: "varve_jsonput_rows_total",
			Help: "Rows written by requests of JSON put."}),
	}
	if o.Prefix != "" {
		h.value = o.Prefix + "_value"
	}
	return h
}

// Protocol is JSON put; some clients take no more than a host.
func (h *Handler) Protocol(off bool) web.Protocol {
	return web.Protocol{
		Name: "jsonput", Off: off, Collectors: h.Collectors(), Features: []string{"jsonput"},
		Routes: web.Below([]web.Route{web.On(web.Post, "/api/put", web.AccessWrite, h.Put)}, "/v1/jsonput", ""),
		Owns:   func(path string) bool { return path == "/api/put" },
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// tableOptions are the options of the tables of points: of points with the same tags and time the last one counts.
var tableOptions = map[string]string{"merge_mode": "last_row", schema.SemanticOption: schema.SemanticMetric}

// Put answers POST /v1/jsonput/api/put. With summary or details in its query, the answer reports points that cannot be
// stored, and the others are stored; without, all are stored or none.
func (h *Handler) Put(c *web.Ctx) error {
	details := c.QueryArgs().Has("details")
	keep := details || c.QueryArgs().Has("summary")
	hint, err := tagged.Hint(&h.o, c.Hints(), tableOptions)
	if err != nil {
		return err
	}
	r := &tagged.Request{Tables: h.o.Tables, Hint: hint, Time: vector.Timestamp(3), Most: h.o.RowBytes, Hold: c.Hold}
	r.DB, _ = web.Database(c.HeaderDB(), string(c.QueryArgs().Peek("db")))
	d := h.decoders.Get()
	defer h.recycle(d)
	if d.keep, d.valueName = keep, []byte(h.value); keep {
		r.Hint.Reject = d.reject
	}
	decoded := false
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		d.rows = tagged.New(r, set)
		err = d.read(body)
		decoded = err == nil
		d.forget()
		return d.rows.Count() > 0, err
	})
	if err != nil && !(keep && decoded && web.ClientFault(err)) {
		return err
	}
	if err != nil { // the points are well-formed but could not be written, such as to a database that is not there
		d.refuse(err)
	}
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	if !keep {
		c.Empty(204)
		return nil
	}
	d.answer(c, details)
	return nil
}

// refuse turns the points that became rows into failures.
func (d *decoder) refuse(err error) {
	for n := range d.points {
		d.reject(n+1, err)
	}
}

// answer reports how many points were stored, with details also what is wrong with the others.
func (d *decoder) answer(c *web.Ctx, details bool) {
	out := strconv.AppendInt([]byte(`{"success":`), int64(d.success), 10)
	out = strconv.AppendInt(append(out, `,"failed":`...), int64(d.failed), 10)
	if details {
		out = append(out, `,"errors":[`...)
		for i, f := range d.failures {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(out, `{"datapoint":`...), f.point...)
			out = append(jsontext.AppendString(append(out, `,"error":`...), f.reason), '}')
		}
		out = append(out, ']')
		c.HoldAnswer(c.BodyBytes() + 2*int64(len(out)))
	}
	c.JSON(200, append(out, '}'))
}

// maxSpareTags bounds the tags that an idle decoder has room for.
const maxSpareTags = 1 << 12

// forget lets go of the body, except for the points that could not be stored.
func (d *decoder) forget() {
	clear(d.tags[:cap(d.tags)])
	d.r.Reset(nil)
}

// recycle keeps the scratch of a request for the next.
func (h *Handler) recycle(d *decoder) {
	if cap(d.tags) > maxSpareTags || d.r.Held() > 1<<20 {
		return
	}
	d.forget()
	*d = decoder{r: d.r, tags: d.tags[:0]}
	h.decoders.Put(d, int64(48*cap(d.tags)+d.r.Held()))
}
