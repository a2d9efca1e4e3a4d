// Package otlp accepts metrics, traces and logs in the OpenTelemetry protocol, as protobuf and as JSON.
//
// A request takes one path, whatever its signal, encoding and transport:
//
//	body -> (JSON: transcoder ->) message -> decoder of the signal -> rows -> store -> answer
//
// The decoders read the message in place and put its values straight into the columns of tables. A body that is no
// valid message fails the request, and nothing of it is stored. A record that is valid and cannot be stored, such as a
// text that is not UTF-8, fails alone: the answer counts the refused records and says why. If all records are refused,
// the request fails.
package otlp

import (
	"cmp"
	"errors"
	"mime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/spare"
	"varve/engine/status"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
)

// Options of a Handler.
type Options struct {
	rows.Deps
	// Samples are the tables of metrics; nil: there are none, and no endpoint of metrics.
	Samples *samples.Tables
	// Now is the clock of logs without a time. Default time.Now.
	Now func() time.Time
}

// Handler answers requests of all signals. Safe for concurrent use.
type Handler struct {
	o       Options
	metrics spare.List[metricsRequest]
	traces  spare.List[tracesRequest]
	logs    spare.List[logsRequest]
	buffers spare.List[[]byte]

	taken, refused *prometheus.CounterVec
}

// New makes a handler.
func New(o Options) *Handler {
	o.RowBytes = cmp.Or(o.RowBytes, web.RowBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	label := []string{"signal"}
	return &Handler{
		o: o,
		taken: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_otlp_records_total",
			Help: "Data points, spans and log records stored."}, label),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "varve_otlp_records_refused_total",
			Help: "Data points, spans and log records that could not be stored."}, label),
	}
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{h.taken, h.refused}
}

// services begins the paths of the services of gRPC, which have one method each.
const services = "/opentelemetry.proto.collector."

// Protocol is OTLP over HTTP and gRPC. Clients over HTTP are given the address /v1/otlp, or the host alone, and add
// /v1/traces and so on.
func (h *Handler) Protocol(off bool) web.Protocol {
	p := web.Protocol{
		Name: "otlp", Off: off, Collectors: h.Collectors(), Features: []string{"otlp"},
		Routes: web.Below([]web.Route{
			web.On(web.Post, "/traces", web.AccessWrite, h.Traces),
			web.On(web.Post, "/logs", web.AccessWrite, h.Logs),
		}, "/v1/otlp/v1", "/v1"),
		Calls: map[string]string{
			services + "trace.v1.TraceService/Export": "/v1/otlp/v1/traces",
			services + "logs.v1.LogsService/Export":   "/v1/otlp/v1/logs",
		},
	}
	if h.o.Samples != nil {
		p.Routes = append(p.Routes, web.Below([]web.Route{
			web.On(web.Post, "/metrics", web.AccessWrite, h.Metrics),
		}, "/v1/otlp/v1", "/v1")...)
		p.Calls[services+"metrics.v1.MetricsService/Export"] = "/v1/otlp/v1/metrics"
	}
	return p
}

// signal is what requests of metrics, of traces or of logs have in common.
type signal struct {
	name     string
	message  *message // of requests in JSON
	rejected string   // the member of JSON with the count of refused records
	noun     string   // the plural of a record, for errors
}

var (
	metricsSignal = &signal{"metrics", metricsMessage, "rejectedDataPoints", "data points"}
	tracesSignal  = &signal{"traces", spansMessage, "rejectedSpans", "spans"}
	logsSignal    = &signal{"logs", logsMessage, "rejectedLogRecords", "log records"}
)

// Metrics answers POST /v1/otlp/v1/metrics.
func (h *Handler) Metrics(c *web.Ctx) error { return h.serve(c, metricsSignal, h.takeMetrics) }

// Traces answers POST /v1/otlp/v1/traces.
func (h *Handler) Traces(c *web.Ctx) error { return h.serve(c, tracesSignal, h.takeTraces) }

// Logs answers POST /v1/otlp/v1/logs.
func (h *Handler) Logs(c *web.Ctx) error { return h.serve(c, logsSignal, h.takeLogs) }

// outcome is what became of the records of a request.
type outcome struct {
	taken, refused int
	fault          error // why the first was refused
}

// refuse counts a record that cannot be kept. A record is refused only for a fault of its own: other errors fail the
// request.
func (o *outcome) refuse(err error) {
	if o.refused++; o.fault == nil {
		o.fault = err
	}
}

// reject counts a record that its table did not take.
func (o *outcome) reject(_ int, why error) { o.leaveOut(1, why) }

// leaveOut counts records that the store left out of those that were taken.
func (o *outcome) leaveOut(records int, why error) {
	o.taken -= records
	if o.refused += records; o.fault == nil {
		o.fault = why
	}
}

// serve answers a request of a signal: take stores its records.
func (h *Handler) serve(c *web.Ctx, s *signal,
	take func(c *web.Ctx, body func() ([]byte, error)) (outcome, error)) error {
	f, err := encodingOf(c)
	if err == nil {
		var o outcome
		o, err = take(c, func() ([]byte, error) { return h.body(c, s, f) })
		if err == nil {
			h.taken.WithLabelValues(s.name).Add(float64(o.taken))
			h.refused.WithLabelValues(s.name).Add(float64(o.refused))
			if o.taken > 0 || o.refused == 0 {
				s.answer(c, f, &o)
				return nil
			}
			err = status.Wrap(o.fault, status.InvalidArguments, "%s", s.explain(&o))
		}
	}
	f.fail(c, err)
	return nil
}

// body is the message of a request. It is good until the request is over.
func (h *Handler) body(c *web.Ctx, s *signal, f encoding) ([]byte, error) {
	body, err := c.WholeBody()
	if err != nil || f != inJSON {
		return body, err
	}
	buf := h.buffers.Get()
	c.Finally(func() { h.buffers.Put(buf, int64(cap(*buf))) })
	var refused error // to hold the message
	size := int64(len(body))
	t := transcoder{hold: func(bytes int64) error {
		refused = c.Hold(size + bytes)
		return refused
	}}
	if *buf, err = t.transcode((*buf)[:0], body, s.message); err != nil && refused == nil {
		err = undecodable(c, err)
	}
	c.DropBody() // the message is made
	return *buf, err
}

// attempts is how often the message of a request is read if its tables refuse the rows.
const attempts = 3

// writeAgain writes the rows that read makes of a request's message. If a table refuses them, the message is read
// again: another request may have changed the type of a column meanwhile. If that is not the reason, or does not help,
// read is called with alone: only the rows that do not fit are left out.
func writeAgain(c *web.Ctx, w *web.Writer, body func() ([]byte, error),
	read func(set *engine.WriteSet, message []byte, alone bool) (bool, error)) error {
	var message []byte
	alone := false
	for attempt := 1; ; attempt++ {
		held := false // read was well, so that an error is the table's
		_, err := w.Write(c, func(set *engine.WriteSet) (any bool, err error) {
			if message == nil {
				if message, err = body(); err != nil {
					return false, err
				}
			}
			any, err = read(set, message, alone)
			held = err == nil
			return any, err
		})
		if !held || attempt == attempts || status.Of(err) != status.InvalidArguments {
			return err
		}
		alone = attempt == attempts-1 || !errors.As(err, new(*engine.TypeClash))
	}
}

// unread is the error for a message that could not be read. An error without a status says that the message is
// malformed.
func unread(c *web.Ctx, err error) error {
	if errors.As(err, new(*status.Error)) {
		return err
	}
	return undecodable(c, err)
}

// undecodable is the error for a body that is no request.
func undecodable(c *web.Ctx, err error) error {
	given := c.HeaderText("Content-Type")
	if given == "" {
		given = "not specified"
	}
	return status.Wrap(err, status.InvalidArguments, "Failed to decode OTLP request (content-type: %s): %v", given, err)
}

// encodingOf is the encoding of a request's body, and of its answer.
func encodingOf(c *web.Ctx) (encoding, error) {
	given := c.HeaderText("Content-Type")
	if given == "" {
		return inProtobuf, nil
	}
	kind, _, err := mime.ParseMediaType(given)
	if err != nil {
		kind, _, _ = strings.Cut(given, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	switch kind {
	case "application/x-protobuf", "application/protobuf":
		return inProtobuf, nil
	case "application/json":
		return inJSON, nil
	}
	return inProtobuf, status.New(status.InvalidArguments,
		"Unsupported content type '%.80s'. OTLP endpoint only supports 'application/x-protobuf' and 'application/json'",
		given)
}

// database is the database of a request.
func database(c *web.Ctx) (string, error) {
	p, err := c.LastQuery("db")
	if err != nil {
		return "", err
	}
	db, _ := web.Database(c.HeaderDB(), p.String("db"))
	return db, nil
}
