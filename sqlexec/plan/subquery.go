package plan

import (
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Limits of subqueries: rows that a constant list may have, and runs of a correlated one.
const (
	maxList = 1_000_000
	maxRuns = 100_000
)

// probe binds a subquery to learn its columns and whether it refers to the query around it.
func (b *binder) probe(q *parse.Query, sc *scope) (Node, *outer, error) {
	o := &outer{scope: sc, used: map[int]bool{}}
	n, err := b.query(q, o)
	return n, o, err
}

// correlated is the error for a subquery that refers to the query around it where that cannot be done.
func correlated() error {
	return status.New(status.Unsupported,
		"correlated subqueries are supported in WHERE, HAVING, the select list and ORDER BY")
}

// scalar evaluates a scalar subquery: one column, at most one row.
func (eb *exprBinder) scalar(x *parse.Subquery) (expr.Expr, error) {
	n, o, err := eb.b.probe(x.Query, eb.sc)
	if err != nil {
		return nil, err
	}
	if len(n.Columns()) != 1 {
		return nil, planError("Too many columns in a scalar subquery: %d", len(n.Columns()))
	}
	if len(o.used) > 0 {
		return nil, correlated()
	}
	return eb.b.runScalar(n)
}

func (b *binder) runScalar(n Node) (expr.Expr, error) {
	rows, err := b.run(b.goctx, n, 2)
	if err != nil {
		return nil, err
	}
	v := vector.ConstNull(n.Columns()[0].Type)
	switch {
	case rows.N > 1:
		return nil, status.New(status.EngineExecuteQuery, "scalar subquery returned more than one row")
	case rows.N == 1:
		v = constAt(rows.Cols[0], 0)
	}
	return &expr.Const{Value: v}, nil
}

// constAt is row i of v as a Const vector.
func constAt(v *vector.Vector, i int) *vector.Vector {
	c := &vector.Vector{Type: v.Type}
	c.Append(0, v, i, i+1)
	c.Form = vector.Const
	return c
}

func (eb *exprBinder) exists(x *parse.Exists) (expr.Expr, error) {
	n, o, err := eb.b.probe(x.Query, eb.sc)
	if err != nil {
		return nil, err
	}
	if len(o.used) > 0 {
		return nil, correlated()
	}
	rows, err := eb.b.run(eb.b.goctx, &Limit{Input: n, Limit: 1}, 1)
	if err != nil {
		return nil, err
	}
	return &expr.Const{Value: vector.ConstBool(rows.N > 0)}, nil
}

// distinctRows runs a subquery that does not refer to the query around it and gives its different rows, most at most.
// fits judges how many columns it has.
func (eb *exprBinder) distinctRows(q *parse.Query, most int, fits func(width int) error) (*vector.Batch, error) {
	n, o, err := eb.b.probe(q, eb.sc)
	if err != nil {
		return nil, err
	}
	if err := fits(len(n.Columns())); err != nil {
		return nil, err
	}
	if len(o.used) > 0 {
		return nil, correlated()
	}
	return eb.b.run(eb.b.goctx, &Distinct{Input: n}, most)
}

// list runs a subquery of one column and gives its values.
func (eb *exprBinder) list(q *parse.Query) ([]expr.Expr, error) {
	rows, err := eb.distinctRows(q, maxList+1, func(width int) error {
		if width != 1 {
			return planError("Too many columns in the subquery of IN: %d", width)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rows.N > maxList {
		return nil, status.New(status.RuntimeResourcesExhausted, "the subquery of IN has more than %d values", maxList)
	}
	if err := eb.b.keepConsts(rows.Cols[0], rows.N); err != nil {
		return nil, err
	}
	out := make([]expr.Expr, rows.N)
	for i := range out {
		out[i] = &expr.Const{Value: constAt(rows.Cols[0], i)}
	}
	return out, nil
}

func (eb *exprBinder) in(x *parse.In) (expr.Expr, error) {
	if t, ok := x.X.(*parse.Tuple); ok {
		return eb.tupleIn(x, t)
	}
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	var list []expr.Expr
	if x.Query != nil {
		list, err = eb.list(x.Query)
	} else {
		list, err = eb.bindList(x.List)
	}
	if err != nil {
		return nil, err
	}
	return eb.b.inList(arg, list, x.Not)
}
