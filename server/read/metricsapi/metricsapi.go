// Package metricsapi serves reads of metrics: remote read and the query API of dashboards. Package remotewrite stores
// metrics.
package metricsapi

import (
	"time"

	"varve/engine"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/exec"
)

// Options of a Handler.
type Options struct {
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
	o       Options
	slots   chan struct{} // of queries; nil: no bound
	lists   chan struct{} // of requests that list labels or series, which need not wait for queries
	started time.Time
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &Handler{o: o, started: o.Now()}
	if o.MaxConcurrent > 0 {
		h.slots, h.lists = make(chan struct{}, o.MaxConcurrent), make(chan struct{}, o.MaxConcurrent)
	}
	return h
}
