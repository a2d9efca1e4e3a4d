// Package rows holds the dependencies of all protocols that store rows: the store, the pipelines, and the rules of
// tables that a write makes. The packages below it make rows.
//
//	entries    JSON objects through a pipeline
//	tagged     rows with tags and fields, straight into columns
//	samples    samples of metrics, in logical tables
//	rejects    entries that cannot be stored and whose senders get no error
package rows

import (
	"context"
	"io"

	"varve/engine"
	"varve/engine/schema"
	"varve/pipeline"
	"varve/pipeline/value"
	"varve/server/web"
	"varve/server/write/rows/rejects"
)

// Deps is the one set of dependencies of all protocols.
type Deps struct {
	Writer    *web.Writer
	Tables    Tables
	Pipelines Pipelines
	// Rejects keeps entries that cannot be stored and whose senders get no error; nil: nothing does.
	Rejects *rejects.Log
	// Prefix begins the names of the time index and the value column in tables that a write makes.
	Prefix string
	// NoAutoCreate refuses to create tables and columns, whatever hints and entries say.
	NoAutoCreate bool
	// RowBytes bounds the bytes of the rows of a request, or of its entries besides the body. Default 1 GiB.
	RowBytes int64
	// Variables lets entries set options of tables (service_ttl, ...), which everybody who can write a line of a log
	// can do then. Without it such members are fields.
	Variables bool
	// StrictNumbers keeps integers and floats apart, unless hints say otherwise.
	StrictNumbers bool
}

// Tables finds tables; engine.Engine does.
type Tables interface {
	Table(schema.Name) (*engine.Table, error)
}

// Pipelines turns bodies and entries into rows; pipeline.Manager does.
type Pipelines interface {
	Run(ctx context.Context, r *pipeline.Request, body io.Reader, set *engine.WriteSet) (pipeline.Outcome, error)
	// RunValues is Run with entries that are values already.
	RunValues(ctx context.Context, r *pipeline.Request, next func(*value.Arena) (v value.Value, ok bool, err error),
		set *engine.WriteSet) (pipeline.Outcome, error)
	// Times reserves n times, in ns, that no other caller gets, and returns the first.
	Times(n int64) int64
	// Removals counts how often tables were dropped or emptied.
	Removals() uint64
}
