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
	return status.New(status.Unsupported, "correlated subqueries are supported in WHERE, HAVING, the select list and ORDER BY")
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

// list runs a subquery of one column and gives its values.
func (eb *exprBinder) list(q *parse.Query) ([]expr.Expr, error) {
	n, o, err := eb.b.probe(q, eb.sc)
	if err != nil {
		return nil, err
	}
	if len(n.Columns()) != 1 {
		return nil, planError("Too many columns in the subquery of IN: %d", len(n.Columns()))
	}
	if len(o.used) > 0 {
		return nil, correlated()
	}
	rows, err := eb.b.run(eb.b.goctx, &Distinct{Input: n}, maxList+1)
	if err != nil {
		return nil, err
	}
	if rows.N > maxList {
		return nil, status.New(status.RuntimeResourcesExhausted, "the subquery of IN has more than %d values", maxList)
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

// inList binds x IN (list). Constants take x's type where that is exact; what cannot be in one list becomes
// comparisons.
func (b *binder) inList(x expr.Expr, list []expr.Expr, not bool) (expr.Expr, error) {
	if len(list) == 0 {
		return &expr.Const{Value: vector.ConstBool(not)}, nil
	}
	t := x.Type()
	exact := make([]expr.Expr, 0, len(list))
	var others []expr.Expr
	for _, e := range list {
		if t.IsNumber() {
			var err error
			if _, e, err = b.ctx.Numbers(x, e); err != nil {
				return nil, err
			}
		}
		c, ok := e.(*expr.Const)
		if !ok {
			others = append(others, e)
			continue
		}
		n, ok := b.exactConst(c, t)
		if ok {
			exact = append(exact, n)
		} else {
			others = append(others, e)
		}
	}
	var acc expr.Expr
	var err error
	if len(exact) > 0 {
		if acc, err = b.ctx.In(x, exact, not); err != nil {
			return nil, err
		}
	}
	op, join := "=", "or"
	if not {
		op, join = "<>", "and"
	}
	for _, e := range others {
		c, err := b.compare(op, x, e)
		if err != nil {
			return nil, err
		}
		if acc == nil {
			acc = c
		} else if acc, err = b.ctx.Call(join, acc, c); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// exactConst gives a constant as type t when a comparison with it does not change by that.
func (b *binder) exactConst(c *expr.Const, t vector.Type) (expr.Expr, bool) {
	switch {
	case c.Value.Type == t:
		return c, true
	case c.Value.IsNull(0):
		return nullOf(t), true
	case t.IsNumber() && t.ID != vector.TypeDecimal:
		return exactNumber(c.Value, t)
	}
	return nil, false
}
