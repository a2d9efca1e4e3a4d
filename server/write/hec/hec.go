// Package hec implements the HTTP event collector of an event store: JSON objects of an event and its metadata, and raw
// text. It sends no later acknowledgements: success means that the events are stored.
package hec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/jsontext"
	"varve/engine/status"
	"varve/pipeline"
	"varve/server/web"
	"varve/server/write/rows/entries"
)

// The codes of answers, and their texts.
const (
	success        = 0
	tokenRequired  = 2
	invalidToken   = 4
	noData         = 5
	invalidFormat  = 6
	incorrectIndex = 7
	internalError  = 8
	serverBusy     = 9
	eventRequired  = 12
	eventBlank     = 13
	ackDisabled    = 14
	healthy        = 17
)

var texts = map[int]string{
	success: "Success", tokenRequired: "Token is required", invalidToken: "Invalid token", noData: "No data",
	invalidFormat: "Invalid data format", incorrectIndex: "Incorrect index",
	internalError: "Internal server error", serverBusy: "Server is busy", eventRequired: "Event field is required",
	eventBlank: "Event field cannot be blank", ackDisabled: "ACK is disabled",
	healthy: "HEC is healthy",
}

// fault is an event that cannot be taken, by its number from 0.
type fault struct {
	code, event int
	detail      string
	others      []*fault // all faults of the request, by rising event, if this one is the answer
	stored      int      // events of the request that are stored
}

func (f *fault) Error() string { return texts[f.code] + ": " + f.detail }

func (d *decoder) fault(code int, detail string) error {
	return &fault{code: code, event: d.count, detail: detail}
}

// defaultTable takes the events of requests that name no table.
const defaultTable = "splunk_logs"

// Handler answers the collector's requests. Safe for concurrent use.
type Handler struct {
	o    entries.Options
	rows prometheus.Counter
}

// New makes a handler.
func New(o entries.Options) *Handler {
	return &Handler{o: o, rows: prometheus.NewCounter(
		prometheus.CounterOpts{Name: "varve_hec_rows_total", Help: "Rows written by requests of the event collector."})}
}

// The address that clients are given; some take no more than a host. The collector's paths are below both.
const (
	base      = "/v1/splunk"
	collector = "/services/collector"
)

// Protocol is the event collector.
func (h *Handler) Protocol() web.Protocol {
	var routes []web.Route
	for _, path := range [...]string{"", "/event", "/event/1.0"} {
		// With OPTIONS a driver of containers tries its token.
		routes = append(routes, web.On(web.Post, collector+path, web.AccessWrite, h.Event),
			web.On(web.Options, collector+path, web.AccessWrite, h.Health))
	}
	for _, version := range [...]string{"", "/1.0"} {
		routes = append(routes, web.On(web.Post, collector+"/raw"+version, web.AccessWrite, h.Raw),
			web.On(web.Get, collector+"/health"+version, web.AccessOpen, h.Health))
	}
	routes = append(routes, web.On(web.Post, collector+"/ack", web.AccessWrite, h.Ack))
	return web.Protocol{
		Name: "hec", Collectors: h.Collectors(), Routes: web.Below(routes, base, ""),
		Owns: func(path string) bool {
			return strings.HasPrefix(path, base+collector) || strings.HasPrefix(path, "/services/")
		},
		Credentials: func(_ *web.Ctx, shown *web.Credentials) error {
			shown.Scheme = "splunk"
			return nil
		},
		Fail: refuse,
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector { return []prometheus.Collector{h.rows} }

// Event answers POST .../services/collector and .../event: an event that cannot be stored fails alone, and the answer
// names it.
func (h *Handler) Event(c *web.Ctx) error {
	return h.take(c, func(d *decoder, body []byte) error { return d.read(body) })
}

// Raw answers POST .../raw: the body is one event, unless linebreaker in its query splits it.
func (h *Handler) Raw(c *web.Ctx) error {
	separator := strings.NewReplacer(`\r`, "\r", `\n`, "\n", `\t`,
		"\t").Replace(string(c.QueryArgs().Peek("linebreaker")))
	return h.take(c, func(d *decoder, body []byte) error { return d.raw(body, separator) })
}

func (h *Handler) take(c *web.Ctx, read func(d *decoder, body []byte) error) error {
	r, err := entries.Through(c, &h.o)
	if err != nil {
		return err
	}
	if r.Pipeline == pipeline.Identity && r.CustomTimeIndex == "" {
		r.CustomTimeIndex = entries.TimeIndex
	}
	d, err := fromQuery(c)
	if err != nil {
		return err
	}
	written, err := h.o.Writer.Write(c, func(set *engine.WriteSet) (bool, error) {
		body, err := c.WholeBody()
		if err != nil {
			return false, err
		}
		d.set, d.now = h.o.Entries(c, body), entries.Arrival(h.o.Pipelines, body)
		if err := read(d, body); err != nil {
			return false, err
		}
		d.r, d.body, d.fields = jsontext.Reader{}, nil, nil
		c.DropBody() // the entries are made
		rows, err := d.set.Run(c.Context, h.o.Pipelines, r, set, h.o.Part(c, set, h.rows))
		return rows > 0, err
	})
	if err != nil {
		return err
	}
	for _, w := range written {
		h.rows.Add(float64(w.Rows))
	}
	if f := d.failed(); f != nil {
		return f
	}
	reply(c, 200, success, "")
	return nil
}

// maxReported bounds the events for which an answer says why they are not stored.
const maxReported = 100

// failed is the first fault of the events, with all others in it; nil: all events are stored.
func (d *decoder) failed() *fault {
	all := d.faults
	for t, numbers := range d.events {
		for entry, why := range t.Failed {
			_, text := web.Message(why)
			all = append(all, &fault{code: invalidFormat, event: int(numbers[entry-1]), detail: text})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b *fault) int { return cmp.Compare(a.event, b.event) })
	first := *all[0]
	first.others, first.stored = all, d.count-len(all)
	return &first
}

// fromQuery reads the metadata of events that the query gives, and the table.
func fromQuery(c *web.Ctx) (*decoder, error) {
	p, err := c.LastQuery("host", "source", "sourcetype", "index", "time", "table")
	if err != nil {
		return nil, err
	}
	d := &decoder{fallback: []byte(defaultTable)}
	if name := p.String("table"); name != "" {
		d.fallback = []byte(name)
	}
	for name, into := range map[string]*[]byte{"host": &d.defaults.host, "source": &d.defaults.source,
		"sourcetype": &d.defaults.sourcetype, "index": &d.defaults.index} {
		if text := p.String(name); text != "" {
			*into = []byte(text)
		}
	}
	if text := p.String("time"); text != "" {
		if d.defaults.ns, d.defaults.timed = entries.Time([]byte(text)); !d.defaults.timed {
			return nil, d.fault(invalidFormat, "time is not a number")
		}
	}
	return d, nil
}

// Health answers GET .../health, open to everybody.
func (h *Handler) Health(c *web.Ctx) error {
	reply(c, 200, healthy, "")
	return nil
}

// Ack answers .../ack: there are no acknowledgements.
func (h *Handler) Ack(c *web.Ctx) error {
	reply(c, 400, ackDisabled, "")
	return nil
}

// refuse answers a request of the collector's paths with an error, in the collector's form.
func refuse(c *web.Ctx, err error, _ func(*web.Ctx, error)) {
	var f *fault
	if errors.As(err, &f) {
		more := ""
		if f.code != noData {
			more = `,"invalid-event-number":` + strconv.Itoa(f.event)
		}
		if f.detail != "" {
			more += `,"detail":` + string(jsontext.AppendString(nil, f.detail))
		}
		more += f.failures()
		reply(c, 400, f.code, more)
		return
	}
	switch status.Of(err) {
	case status.AuthHeaderNotFound, status.InvalidAuthHeader:
		reply(c, 401, tokenRequired, "")
		return
	case status.UserPasswordMismatch, status.UserNotFound, status.PermissionDenied, status.AccessDenied:
		reply(c, 403, invalidToken, "")
		return
	}
	web.ReplyError(c, err)
	number := c.Response.StatusCode()
	code := invalidFormat
	switch {
	case number == 408:
		return
	case number == 503 || number == 429:
		code = serverBusy
	case number >= 500:
		code = internalError
	}
	text := string(c.Response.Body())
	if !strings.HasPrefix(string(c.Response.Header.ContentType()), "text/plain") {
		_, text = web.Message(err)
	}
	reply(c, number, code, `,"detail":`+string(jsontext.AppendString(nil, text)))
}

// failures are the members of the answer that name all events that failed.
func (f *fault) failures() string {
	if len(f.others) == 0 {
		return ""
	}
	out := fmt.Appendf(nil, `,"stored":%d,"failed":%d,"failures":[`, f.stored, len(f.others))
	for i, o := range f.others[:min(len(f.others), maxReported)] {
		if i > 0 {
			out = append(out, ',')
		}
		out = fmt.Appendf(out, `{"event":%d,"reason":`, o.event)
		reason := texts[o.code]
		if o.detail != "" {
			reason += ": " + o.detail
		}
		out = append(jsontext.AppendString(out, reason), '}')
	}
	return string(append(out, ']'))
}

// reply answers with a code; more are further members.
func reply(c *web.Ctx, httpStatus, code int, more string) {
	body := jsontext.AppendString([]byte(`{"text":`), texts[code])
	body = strconv.AppendInt(append(body, `,"code":`...), int64(code), 10)
	c.JSON(httpStatus, append(append(body, more...), '}'))
}
