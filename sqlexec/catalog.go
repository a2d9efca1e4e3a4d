package sqlexec

import (
	"context"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/infoschema"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
	"varve/sqlexec/promql"
)

// Numbers is the table of the numbers from 0 to 99, which database public has.
const Numbers = infoschema.Numbers

// storeCatalog is how the binder sees the store.
type storeCatalog struct {
	x    *Executor
	sess *Session
	// defining is the view that is being created: it does not exist for its own query, nor for the views in it.
	defining schema.Name
}

func (x *Executor) catalog(s *Session) plan.Catalog { return &storeCatalog{x: x, sess: s} }

// env is what information_schema is made from.
func (x *Executor) env(ctx context.Context, s *Session) *infoschema.Env {
	views := func() ([]infoschema.View, error) { return x.infoViews(s) }
	metrics := func(db string) ([]infoschema.Count, error) { return x.metricCounts(ctx, s, db) }
	return &infoschema.Env{Engine: x.e, Version: x.o.Version, User: s.User, Rights: s.Rights, Now: x.o.Now,
		Processes: x.Running, Views: views, Metrics: metrics, Settings: s.Settings}
}

// mostCounts bounds each list of what is counted of a database's metrics.
const mostCounts = 1000

// metricCounts returns the largest contributors to the series of a database's metrics.
func (x *Executor) metricCounts(ctx context.Context, s *Session, db string) ([]infoschema.Count, error) {
	store := &promql.Tables{Engine: x.e, DB: db}
	if s.memory != nil {
		store.Memory = s.memory
	}
	c, err := store.Cardinality(ctx, mostCounts)
	if err != nil || c.Series == 0 {
		return nil, err
	}
	list := []infoschema.Count{{Kind: "series", N: int64(c.Series)}, {Kind: "labels with values", N: int64(c.Pairs)}}
	for _, of := range []struct {
		kind   string
		counts []promql.Count
	}{{"series of metric", c.SeriesByMetric}, {"values of label", c.ValuesByLabel}, {"bytes of label", c.BytesByLabel},
		{"series of label with value", c.SeriesByPair}} {
		for _, n := range of.counts {
			list = append(list, infoschema.Count{Kind: of.kind, Name: n.Name, N: n.N})
		}
	}
	return list, nil
}

// Relation finds a table in the store, in information_schema, or the table of numbers.
func (c *storeCatalog) Relation(n parse.Name, db string) (*plan.Relation, error) {
	sess := *c.sess
	sess.DB = db
	name, err := sess.tableName(n)
	if err != nil {
		return nil, err
	}
	switch name.DB {
	case infoschema.DB:
		return c.info(name, infoschema.Find(name.Table))
	case infoschema.PGCatalog:
		return c.info(name, infoschema.FindPG(name.Table))
	}
	t, err := c.x.e.Table(name)
	if err == nil {
		return &plan.Relation{Name: name, Table: t}, nil
	}
	if own := infoschema.FindPG(name.Table); own != nil && len(n) == 1 {
		return c.info(schema.Name{DB: infoschema.PGCatalog, Table: own.Name}, own)
	}
	v, viewErr := c.x.view(name)
	switch {
	case viewErr != nil:
		return nil, viewErr
	case v != nil && name == c.defining:
		return nil, status.New(status.PlanQuery, "Failed to plan SQL: view %s cannot read itself", name)
	case v != nil:
		return &plan.Relation{Name: name, View: &plan.View{Query: v.query, Columns: v.columns, DB: name.DB}}, nil
	}
	if name.DB == DefaultDB && name.Table == Numbers {
		v := &plan.Virtual{Fields: []vector.Field{{Name: "number", Type: vector.Uint32Type}}, Rows: numbersTable}
		return &plan.Relation{Name: name, Virtual: v}, nil
	}
	if notFound(err) {
		return nil, c.x.noTable(c.sess, err, "Failed to plan SQL: ", name)
	}
	return nil, err
}

// numbersTable makes the rows of the table Numbers.
func numbersTable(context.Context, map[string]string) (*vector.Batch, error) {
	const count = 100
	v := &vector.Vector{Type: vector.Uint32Type}
	for i := range uint64(count) {
		v.Uints = append(v.Uints, i)
	}
	return &vector.Batch{N: count, Cols: []*vector.Vector{v}}, nil
}

// info is a table of information_schema or pg_catalog; t nil: there is none of the name.
func (c *storeCatalog) info(name schema.Name, t *infoschema.Table) (*plan.Relation, error) {
	if t == nil {
		return nil, c.x.noTable(c.sess, nil, "Failed to plan SQL: ", name)
	}
	name.Table = t.Name
	v := &plan.Virtual{Fields: t.Fields, Hidden: t.Hidden,
		Rows: func(ctx context.Context, equal map[string]string) (*vector.Batch, error) {
			return t.Rows(c.x.env(ctx, c.sess),
				infoschema.Where{Schema: equal[t.SchemaColumn], Table: equal[t.TableColumn]})
		}}
	return &plan.Relation{Name: name, Virtual: v}, nil
}

// physical is what running a plan needs.
func (x *Executor) physical(s *Session) plan.Physical {
	return plan.Physical{Engine: x.e, Workers: x.o.Workers, Memory: x.o.Memory, Client: s.Network, Spill: x.o.Spill,
		Context: x.context(s), Moment: s.moment}
}

// stream starts a plan and gives its rows.
func (x *Executor) stream(ctx context.Context, s *Session, n plan.Node) (exec.Reader, error) {
	return plan.Run(ctx, x.physical(s), plan.Optimize(x.context(s), n, x.without))
}

// statement is what a query of the session is bound with.
func (x *Executor) statement(s *Session, ectx *expr.Context) *plan.Statement {
	return &plan.Statement{Context: ectx, Catalog: x.catalog(s), DB: s.database(), Without: x.without,
		Run: x.runner(s, nil), Moment: s.moment}
}

// runner runs the subqueries of a statement; a, if not nil, takes down what their nodes do.
func (x *Executor) runner(s *Session, a *plan.Analysis) plan.Runner {
	return func(ctx context.Context, n plan.Node, maxRows int) (*vector.Batch, error) {
		p := x.physical(s)
		p.Analysis = a
		rows, err := plan.Run(ctx, p, n)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		return collect(ctx, rows, plan.Fields(n), maxRows, s.memory)
	}
}

// collect reads rows into one batch: at most maxRows plus the rest of a batch, as far as memory has room.
func collect(ctx context.Context, rows exec.Reader, fields []vector.Field, maxRows int,
	memory *exec.Budget) (*vector.Batch, error) {
	types := make([]vector.Type, len(fields))
	for i, f := range fields {
		types[i] = f.Type
	}
	all := exec.NewRows(types)
	var b vector.Batch
	kept := int64(0)
	defer func() { memory.Release(kept) }() // the copy is what stays
	for all.Len() < maxRows {
		ok, err := rows.Next(&b)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		bytes := exec.BatchBytes(&b)
		if err := memory.Reserve(2 * bytes); err != nil {
			return nil, err
		}
		kept += bytes
		all.Add(&b, 0, b.N)
	}
	return exec.Together(ctx, []*exec.Rows{all}, 1, nil) // counted twice above
}
