package slowquery

import (
	"context"
	"time"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/secret"
	"varve/engine/vector"
	"varve/sqlexec"
)

// form is the table that keeps slow statements, besides the ttl.
var form = private.Table{Comment: "statements that took slow_query.threshold or longer", OwnTable: engine.OwnTable{
	Name: engine.SlowQueriesTable, Time: "timestamp", AppendMode: true,
	Columns: []vector.Field{
		{Name: "client", Type: vector.StringType}, {Name: "cost", Type: vector.Uint64Type},
		{Name: "db", Type: vector.StringType},
		{Name: "error", Type: vector.StringType}, {Name: "is_promql", Type: vector.BoolType},
		{Name: "promql_end", Type: vector.Timestamp(3)},
		{Name: "promql_start", Type: vector.Timestamp(3)}, {Name: "promql_step", Type: vector.Uint64Type},
		{Name: "query", Type: vector.StringType},
		{Name: "row_count", Type: vector.Uint64Type}, {Name: "threshold", Type: vector.Uint64Type},
		{Name: "timestamp", Type: vector.Timestamp(3)},
		{Name: "user_name", Type: vector.StringType},
	},
}}

// table writes to it. One goroutine at a time.
type table struct {
	private.Table
	store     *engine.Engine
	threshold time.Duration
	kept      bool // it has the ttl of the configuration
	failed    bool // the last write did
}

// write appends rows, which are as durable as those of any write.
func (t *table) write(ctx context.Context, list []sqlexec.Ended) (err error) {
	if !t.kept {
		if t.kept, err = t.KeepTTL(ctx, t.store); err != nil {
			return err
		}
	}
	rows := make([][]any, len(list))
	for i := range list {
		rows[i] = t.row(&list[i])
	}
	return t.Put(ctx, t.store, rows...)
}

// row is a statement. What is not known of it is NULL.
func (t *table) row(e *sqlexec.Ended) []any {
	var user, count, start, end, step, failed any
	if e.User != "" {
		user = e.User
	}
	if e.Rows >= 0 {
		count = uint64(e.Rows)
	}
	if g := e.Grid; g != nil {
		start, end, step = g.Start, g.End, uint64(g.Step)
	}
	if e.Err != nil {
		failed = reason(e)
	}
	return []any{
		e.Client, uint64(e.Took.Milliseconds()), e.DB, failed, e.Metrics, end, start, step, secret.Hide(e.Text), count,
		uint64(t.threshold.Milliseconds()), e.Began.UnixMilli(), user,
	}
}
