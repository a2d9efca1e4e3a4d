package plan

import (
	"context"

	"varve/engine"
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Relation is the meaning of a name in FROM: exactly one of Table, Virtual and View is set.
type Relation struct {
	Name    schema.Name
	Table   *engine.Table
	Virtual *Virtual
	View    *View
}

// Virtual is a table that is made when it is read.
type Virtual struct {
	Fields []vector.Field
	Hidden int // how many of the last fields are found by name only
	// Rows makes the rows; equal has the strings that columns are known to equal, so that it can make fewer.
	Rows func(ctx context.Context, equal map[string]string) (*vector.Batch, error)
}

// View is a stored query.
type View struct {
	Query   *parse.Query
	Columns []string
	DB      string // names inside are resolved in it
}

// Node is an operator of a logical plan. Its expressions refer to the columns of its input by position. Rewrites create
// new nodes and do not change existing ones, which may be part of several plans.
type Node interface {
	Columns() []Column
	// inputs are the nodes that it reads.
	inputs() []Node
	// over is a copy that reads other nodes, with the same columns.
	over(inputs []Node) Node
	// line describes it for EXPLAIN.
	line() string
}

type (
	// Scan reads a table or virtual table: the columns Positions of the relation.
	Scan struct {
		Rel       *Relation
		Positions []int
		Cols      []Column
		Time      scan.Range
		Filter    filter.And
		Residual  []expr.Expr // what the scan cannot decide; over Cols
		// Ordered asks for the natural order: by primary key, then time.
		Ordered bool
		Equal   map[string]string // for virtual tables
		Never   bool              // a condition is known to be false: no rows
	}
	// Values are rows made of constants.
	Values struct {
		Cols  []Column
		Batch *vector.Batch
		// Of is what the rows would be, in a plan that is only shown; empty: they are there.
		Of string
	}
	// Filter keeps the rows for which all conditions are true.
	Filter struct {
		Input Node
		Conds []expr.Expr
	}
	// Project computes columns.
	Project struct {
		Input Node
		Exprs []expr.Expr
		Cols  []Column
	}
	// Aggregate makes one row per distinct Keys: the keys, then the aggregates.
	Aggregate struct {
		Input Node
		Keys  []expr.Expr
		Aggs  []*expr.Agg
		Cols  []Column
	}
	// Sort orders rows; Limit < 0 is none.
	Sort struct {
		Input         Node
		Keys          []expr.SortKey
		Limit, Offset int64
		// First: only so many rows in the order are looked at; N is 0 when it is all.
		First exec.First
	}
	// Limit cuts rows; Limit < 0 is none.
	Limit struct {
		Input         Node
		Limit, Offset int64
	}
	// Distinct keeps the first of equal rows.
	Distinct struct{ Input Node }
	// DistinctOn keeps the first row of each run of equal keys of an ordered input.
	DistinctOn struct {
		Input Node
		Keys  []expr.Expr
	}
	// Union appends inputs with equal columns to each other.
	Union struct {
		Inputs []Node
		Cols   []Column
	}
	// Join pairs rows. LKeys and RKeys are compared pairwise; Residual is over the columns of both.
	Join struct {
		Kind         JoinKind
		L, R         Node
		LKeys, RKeys []expr.Expr
		Residual     expr.Expr
		Cols         []Column
		// NullEqual makes NULL keys equal, as set operations need.
		NullEqual bool
	}
)

// Columns of the nodes.
func (s *Scan) Columns() []Column       { return s.Cols }
func (n *Values) Columns() []Column     { return n.Cols }
func (n *Filter) Columns() []Column     { return n.Input.Columns() }
func (n *Project) Columns() []Column    { return n.Cols }
func (n *Aggregate) Columns() []Column  { return n.Cols }
func (n *Sort) Columns() []Column       { return n.Input.Columns() }
func (n *Limit) Columns() []Column      { return n.Input.Columns() }
func (n *Distinct) Columns() []Column   { return n.Input.Columns() }
func (n *DistinctOn) Columns() []Column { return n.Input.Columns() }
func (n *Union) Columns() []Column      { return n.Cols }
func (n *Join) Columns() []Column       { return n.Cols }

// Fields are the names and types of a node's output.
func Fields(n Node) []vector.Field {
	cols := n.Columns()
	fields := make([]vector.Field, len(cols))
	for i, c := range cols {
		fields[i] = vector.Field{Name: c.Name, Type: c.Type}
	}
	return fields
}
