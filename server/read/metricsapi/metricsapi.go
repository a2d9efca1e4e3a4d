// Package metricsapi serves reads of metrics: remote read and the query API of dashboards. Package remotewrite stores
// metrics.
package metricsapi

import (
	"time"

	"varve/engine"
	"varve/server/rules"
	"varve/server/write/rows/samples"
	"varve/sqlexec"
	"varve/sqlexec/exec"
	"varve/sqlexec/promql"
)

// Options of a Handler.
type Options struct {
	// Samples reads exemplars and metadata.
	Samples *samples.Tables
	// Store has the series.
	Store *engine.Engine
	// Memory is what all queries together may keep; nil: no bound.
	Memory *exec.Pool
	// Queries runs the queries; nil: by the default limits.
	Queries *promql.Service
	// Rules are what rules and alerts show; nil: there are none.
	Rules *rules.Manager
	// Timeout bounds a query or a list; 0: no bound.
	Timeout time.Duration

	// Ended is called for each query that is over; nil: nobody wants to know.
	Ended func(sqlexec.Ended)

	Version, Commit, Branch string
	Now                     func() time.Time // default: time.Now
}

// Handler answers the endpoints. Safe for concurrent use.
type Handler struct {
	o       Options
	started time.Time
}

// New makes a handler.
func New(o Options) *Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Queries == nil {
		o.Queries = promql.NewService(promql.Limits{})
	}
	return &Handler{o: o, started: o.Now()}
}
