// Package metricsapi serves the metrics protocol: remote write, remote read and the query API of dashboards.
package metricsapi

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine"
	"varve/engine/spare"
	"varve/server/web"
	"varve/server/write/rows"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/exec"
)

// Options of a Handler.
type Options struct {
	rows.Deps
	// Samples are the tables of series.
	Samples *samples.Tables

	// Store has the series.
	Store *engine.Engine
	// Memory is what all queries together may keep; nil: no bound.
	Memory *exec.Pool
	// Timeout bounds a query, Lookback is how old a sample may be that still counts, MaxSamples how many a query may
	// hold.
	Timeout, Lookback time.Duration
	MaxSamples        int64
	// Workers is the number of goroutines of a query, MaxConcurrent the number of queries at a time, and that of lists:
	// others wait. 0: no bound.
	Workers, MaxConcurrent int

	// Ended is told of each query that is over; nil: nobody is.
	Ended func(sqlexec.Ended)

	Version, Commit, Branch string
	Now                     func() time.Time // default: time.Now
}

// Handler answers the endpoints. Safe for concurrent use.
type Handler struct {
	o        Options
	slots    chan struct{} // of queries; nil: no bound
	lists    chan struct{} // of requests that list labels or series, which need not wait for queries
	requests spare.List[request]
	started  time.Time

	written *prometheus.CounterVec
	refused prometheus.Counter
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{
		o: o, started: o.Now(),
		written: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "varve_remote_write_samples_total", Help: "Samples written by remote write, by kind.",
		}, []string{"kind"}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "varve_remote_write_refused_series_total",
			Help: "Series of remote write requests that were refused, with their samples.",
		}),
	}
	if o.MaxConcurrent > 0 {
		h.slots, h.lists = make(chan struct{}, o.MaxConcurrent), make(chan struct{}, o.MaxConcurrent)
	}
	h.written.WithLabelValues("float")
	h.written.WithLabelValues("histogram")
	return h
}

// Collectors are the figures of the handler.
func (h *Handler) Collectors() []prometheus.Collector {
	return []prometheus.Collector{h.written, h.refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "varve_remote_write_known_bytes",
		Help: "Memory of the series that are known by their labels as they were sent.",
	}, func() float64 { return float64(h.o.Samples.Bytes()) })}
}

// ended reports whether a request ended because its time was over.
func ended(c *web.Ctx) bool { return context.Cause(c.Context) == context.DeadlineExceeded }
