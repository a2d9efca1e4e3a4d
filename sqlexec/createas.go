package sqlexec

import (
	"context"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// tableOfQuery returns the table of CREATE TABLE .. AS query without columns: they are the query's. The time index is
// the one that the query passes on or the only TIMESTAMP, unless the statement names one. A table without a primary key
// appends, so that it has a row for each of the query's.
func (x *Executor) tableOfQuery(ctx context.Context, sess *Session, s *parse.CreateTable) (*schema.Table, error) {
	n, err := x.statement(sess, x.context(sess)).Shape(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	var columns []schema.Column
	for _, c := range n.Columns() {
		t := c.Type
		if t == vector.NullType {
			t = vector.StringType
		}
		if !storable(t) {
			return nil, status.New(status.InvalidArguments,
				"column %s: type %s cannot be the type of a column; cast it", c.Name, t)
		}
		if err := schema.CheckColumnName(c.Name); err != nil {
			return nil, err
		}
		columns = append(columns, schema.Column{Name: c.Name, Type: t, Nullable: true})
	}
	def := *s
	if len(s.TimeIndexes) == 0 {
		name, err := timeOf(n.Columns())
		if err != nil {
			return nil, err
		}
		def.TimeIndexes = [][]parse.Ident{{{Name: name}}}
	}
	if len(s.PrimaryKeys) == 0 && !hasOption(s, "append_mode") && !hasOption(s, "merge_mode") {
		def.Options = append(def.Options[:len(def.Options):len(def.Options)],
			parse.Option{Key: "append_mode", Value: "true"})
	}
	return x.tableOf(sess, &def, columns)
}

// timeOf finds the time index among the columns of a query.
func timeOf(cols []plan.Column) (string, error) {
	var marked, all []string
	for _, c := range cols {
		if c.Type.IsTimestamp() {
			all = append(all, c.Name)
			if c.Time {
				marked = append(marked, c.Name)
			}
		}
	}
	switch {
	case len(marked) == 1:
		return marked[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", status.New(status.InvalidSyntax,
			"Missing time index constraint: the query has no TIMESTAMP column; select one, such as now() AS ts")
	}
	return "", status.New(status.InvalidSyntax,
		"Missing time index constraint: CREATE TABLE t (TIME INDEX (c)) AS .. says which of %s it is",
		strings.Join(all, ", "))
}

func hasOption(s *parse.CreateTable, key string) bool {
	for _, o := range s.Options {
		if o.Key == key {
			return true
		}
	}
	return false
}
