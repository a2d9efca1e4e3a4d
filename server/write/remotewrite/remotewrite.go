// Package remotewrite stores the samples that agents of metrics send: remote write 1.0 and 2.0.
//
//	write.go       a request: what it holds, its bounds, its answer
//	decode.go      messages of version 1.0, and the samples of both
//	decode2.go     messages of version 2.0, whose texts are symbols
//	exemplar.go    exemplars
//	pipeline.go    requests whose samples go through a pipeline
package remotewrite

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/spare"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
)

// base is the address that agents are given; some take no more than a host, and ask below root.
const (
	base = "/v1/metricsapi"
	root = "/api/v1"
)

// Handler stores samples. Safe for concurrent use.
type Handler struct {
	o        rows.Deps
	tables   *samples.Tables
	requests spare.List[request]

	written *prometheus.CounterVec
	refused prometheus.Counter
}

// New makes a handler that stores series in tables.
func New(o rows.Deps, tables *samples.Tables) *Handler {
	h := &Handler{
		o: o, tables: tables,
		written: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "varve_remote_write_samples_total", Help: "Samples written by remote write, by kind.",
		}, []string{"kind"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "varve_remote_write_refused_series_total",
			Help: "Series of remote write requests that were refused, with their samples.",
		}),
	}
	h.written.WithLabelValues("float")
	h.written.WithLabelValues("histogram")
	return h
}

// Protocol is remote write.
func (h *Handler) Protocol() web.Protocol {
	return web.Protocol{
		Name: "remote write", Collectors: h.collectors(),
		Routes: web.Below([]web.Route{
			web.On(web.Post, "/write", web.AccessWrite, h.Write),
			web.On(web.Get, "/write", web.AccessWrite, h.WriteVersion),
		}, base, root),
		Owns: func(path string) bool { return strings.TrimPrefix(path, base) == root+"/write" },
	}
}

// collectors are the figures of the handler.
func (h *Handler) collectors() []prometheus.Collector {
	return []prometheus.Collector{h.written, h.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_remote_write_known_bytes",
		Help: "Memory of the series that are known by their labels as they were sent.",
	}, func() float64 { return float64(h.tables.Bytes()) })}
}
