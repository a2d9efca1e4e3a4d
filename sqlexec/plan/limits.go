package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// Limits of a plan, looked at while it is made: a query of a few lines may name views and common table expressions that
// name others twice.
const (
	// maxNodes is the most tables, selects, joins and set operations, each as often as it is read.
	maxNodes = 1000
	// maxBound is the largest number of expressions of a query, including its views.
	maxBound = 10 * parse.MaxExprs
	// maxNodeColumns is the most columns of all tables and selects together.
	maxNodeColumns = 1 << 18
)

// countNode counts a node of so many columns, and ends with the query.
func (b *binder) countNode(columns int) error {
	if err := b.goctx.Err(); err != nil {
		return err
	}
	if b.nodes++; b.nodes > maxNodes {
		return planError(
			"the query reads tables, makes joins or selects more than %d times, those in its views and WITH each "+
				"time they are named", maxNodes)
	}
	if b.columns += columns; b.columns > maxNodeColumns {
		return planError(
			"the tables and selects of the query have more than %d columns, those in its views and WITH each time "+
				"they are named", maxNodeColumns)
	}
	return nil
}

// cancelValues is the number of values of a list after which the query may have been cancelled, and the number that is
// counted as memory at a time.
const cancelValues = 1 << 10

// cancelled returns why the query was cancelled while the i'th value of a list is bound.
func (b *binder) cancelled(i int) error {
	if i%cancelValues != 0 {
		return nil
	}
	return b.goctx.Err()
}

// countValues counts the values of a long list that is kept in memory, and checks for cancellation.
func (b *binder) countValues(i int) error {
	if i == 0 || i%cancelValues != 0 {
		return nil
	}
	if err := b.keep(constBytes * cancelValues); err != nil {
		return err
	}
	return b.goctx.Err()
}

// countExpr counts an expression.
func (b *binder) countExpr() error {
	if b.exprs++; b.exprs > maxBound {
		return planError("the query has more than %d expressions, with those of its views and WITH", maxBound)
	}
	return nil
}

// again begins the binding of expressions that are bound again for each of some rows. The function that it returns ends
// it and takes back the counts.
func (b *binder) again() (end func()) {
	nodes, exprs, columns := b.nodes, b.exprs, b.columns
	return func() { b.nodes, b.exprs, b.columns = nodes, exprs, columns }
}

// constBytes is the approximate memory of a constant without its text.
const constBytes = 320

// keep counts bytes that the plan keeps until the statement ends.
func (b *binder) keep(bytes int64) error {
	if b.ctx.Memory == nil {
		return nil
	}
	if err := b.ctx.Memory.Reserve(bytes); err != nil {
		return err
	}
	b.st.kept += bytes
	return nil
}

// keepConsts counts the rows of a vector as constants.
func (b *binder) keepConsts(v *vector.Vector, rows int) error {
	return b.keep(constBytes*int64(rows) + int64(len(v.Heap)))
}
