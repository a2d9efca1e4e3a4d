package slowquery

import (
	"context"
	"slices"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/secret"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec"
)

// Name is the table that keeps slow statements. It is made with the first of them.
var Name = schema.Name{DB: engine.PrivateDB, Table: engine.SlowQueriesTable}

var form = engine.OwnTable{
	Name: engine.SlowQueriesTable, Time: "timestamp", AppendMode: true,
	Columns: []vector.Field{
		{Name: "timestamp", Type: vector.Timestamp(3)}, {Name: "cost", Type: vector.Uint64Type}, {Name: "threshold", Type: vector.Uint64Type},
		{Name: "query", Type: vector.StringType}, {Name: "is_promql", Type: vector.BoolType}, {Name: "promql_start", Type: vector.Timestamp(3)},
		{Name: "promql_end", Type: vector.Timestamp(3)}, {Name: "promql_step", Type: vector.Uint64Type}, {Name: "db", Type: vector.StringType},
		{Name: "user_name", Type: vector.StringType}, {Name: "client", Type: vector.StringType}, {Name: "row_count", Type: vector.Uint64Type},
		{Name: "error", Type: vector.StringType},
	},
}

// table writes to it. One goroutine at a time.
type table struct {
	store     *engine.Engine
	ttl       string
	threshold time.Duration
	kept      bool // it has the ttl of the configuration
	failed    bool // the last write did
}

// write appends rows, which are as durable as those of any write.
func (t *table) write(ctx context.Context, list []sqlexec.Ended) error {
	if err := t.keep(ctx); err != nil {
		return err
	}
	options, err := schema.ParseOptions(map[string]string{"append_mode": "true", "ttl": t.ttl})
	if err != nil {
		return err
	}
	var set engine.WriteSet
	b := set.Rows(Name, engine.Hint{AutoCreate: true, TimeIndex: "timestamp", Options: options, Comment: "statements that took slow_query.threshold or longer"})
	for i := range list {
		if err := t.row(b, &list[i]); err != nil {
			return err
		}
	}
	_, err = t.store.Write(engine.AsServer(ctx), &set)
	return err
}

// row appends one statement. What is not known of it is NULL.
func (t *table) row(b *vector.Builder, e *sqlexec.Ended) (err error) {
	cell := func(name string, of vector.Type, known bool, set func(c *vector.ColumnBuilder)) {
		c, failed := b.Column(name, of)
		if failed != nil {
			err = failed
		} else if known {
			set(c)
		}
	}
	text := func(name, x string, known bool) {
		cell(name, vector.StringType, known, func(c *vector.ColumnBuilder) { c.SetString(x) })
	}
	number := func(name string, x int64, known bool) {
		cell(name, vector.Uint64Type, known, func(c *vector.ColumnBuilder) { c.SetUint(uint64(x)) })
	}
	instant := func(name string, ms int64, known bool) {
		cell(name, vector.Timestamp(3), known, func(c *vector.ColumnBuilder) { c.SetInt(ms) })
	}
	instant("timestamp", e.Began.UnixMilli(), true)
	number("cost", e.Took.Milliseconds(), true)
	number("threshold", t.threshold.Milliseconds(), true)
	text("query", secret.Hide(e.Text), true)
	cell("is_promql", vector.BoolType, true, func(c *vector.ColumnBuilder) { c.SetBool(e.Metrics) })
	grid, asked := sqlexec.Grid{}, e.Grid != nil
	if asked {
		grid = *e.Grid
	}
	instant("promql_start", grid.Start, asked)
	instant("promql_end", grid.End, asked)
	number("promql_step", grid.Step, asked)
	text("db", e.DB, true)
	text("user_name", e.User, e.User != "")
	text("client", e.Client, true)
	number("row_count", e.Rows, e.Rows >= 0)
	failed := ""
	if e.Err != nil {
		failed = reason(e)
	}
	text("error", failed, e.Err != nil)
	b.EndRow()
	return err
}

// keep gives a table of before the ttl of the configuration, once.
func (t *table) keep(ctx context.Context) error {
	if _, err := t.store.Own(&form); err != nil || t.kept {
		if status.Of(err) == status.TableNotFound {
			return nil
		}
		return err
	}
	err := t.store.Alter(engine.AsServer(ctx), Name, func(s *schema.Table) (*schema.Table, error) {
		given := map[string]string{}
		for _, o := range s.Options.All {
			given[o.Key] = o.Value
		}
		given["ttl"] = t.ttl
		options, err := schema.ParseOptions(given)
		if err != nil || options.Equal(&s.Options) {
			return s, err
		}
		next := *s
		next.Version++
		next.Columns, next.Options = slices.Clone(s.Columns), options
		return &next, nil
	})
	if status.Of(err) == status.TableNotFound {
		err = nil
	}
	t.kept = err == nil
	return err
}
