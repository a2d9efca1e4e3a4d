package plan

import (
	"fmt"
	"strings"

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

// ask returns the answer of a subquery, or an Asked that is not done where it has not run. fits judges how many columns
// it has.
func (eb *exprBinder) ask(q *parse.Query, kind askKind, fits func(width int) error) (*Asked, error) {
	st := eb.b.st
	key, text := eb.b.keyOf(q, kind)
	a := st.ask(key)
	if a == nil || eb.b.recursing {
		var err error
		if a, err = eb.bindAsked(q, kind, key, text, fits); err != nil {
			return nil, err
		}
	} else if err := fits(len(a.bound.Columns())); err != nil {
		return nil, err
	}
	switch {
	case a.done:
		return a, a.err
	case st.blank:
		return a.blank(), nil
	}
	st.open++
	return a, nil
}

// blank is a subquery as if it had given one row of NULLs.
func (a *Asked) blank() *Asked {
	rows := vector.NewBatch(types(a.bound.Columns())...)
	for _, c := range rows.Cols {
		c.AppendNulls(0, 1)
	}
	rows.N = 1
	return &Asked{name: a.name, kind: a.kind, bound: a.bound, rows: rows, done: true}
}

// bindAsked binds a subquery. One that stands for itself is noted, to run before the statement; what refers to a row of
// a query further out, or to the step before it of a recursive query, runs at once.
func (eb *exprBinder) bindAsked(q *parse.Query, kind askKind, key, text string,
	fits func(width int) error) (*Asked, error) {
	b := eb.b
	open, hits := b.st.open, eb.sc.hits()
	n, o, err := b.probe(q, eb.sc)
	if err == nil {
		err = fits(len(n.Columns()))
	}
	if err != nil {
		return nil, err
	}
	switch alone := eb.sc.hits() == hits; {
	case len(o.used) > 0:
		return nil, correlated()
	case alone && !b.recursing:
		return b.st.note(key, text, kind, n, b.st.open == open), nil
	}
	rows, err := b.run(kind.over(n), kind.most())
	if err == nil {
		err = kind.check(rows.N)
	}
	return &Asked{kind: kind, bound: n, rows: rows, err: err, done: err == nil}, err
}

// keyOf returns the key under which equal subqueries are one, and the text of a subquery. Texts are equal where the
// same common table expressions can be named. Those with volatile functions are equal at one place only.
func (b *binder) keyOf(q *parse.Query, kind askKind) (key, text string) {
	text = textOf(q)
	var k strings.Builder
	fmt.Fprintf(&k, "%d %q %s", kind, b.db, text)
	for i := range b.ctes {
		if c := &b.ctes[i]; c.query != nil {
			fmt.Fprintf(&k, " %q %p", c.name, c.query)
		} else {
			fmt.Fprintf(&k, " %q %p", c.name, c.rows.Batch)
		}
	}
	parse.WalkQuery(q, func(x parse.Expr) bool {
		if c, ok := x.(*parse.Call); ok && expr.IsVolatile(c.Name) {
			fmt.Fprint(&k, " at ", c.Position())
		}
		return true
	})
	return k.String(), text
}

// textOf is the text of a query.
func textOf(q *parse.Query) string {
	return strings.TrimSuffix(strings.TrimPrefix(parse.PrintExpr(&parse.Subquery{Query: q}), "("), ")")
}

// hits counts how often queries around were referred to.
func (s *scope) hits() (n int) {
	for o := s.outer; o != nil; o = o.scope.outer {
		n += o.hits
	}
	return n
}

// blanks counts how often queries around were referred to whose row is not known yet.
func (s *scope) blanks() (n int) {
	for o := s.outer; o != nil; o = o.scope.outer {
		n += o.blanks
	}
	return n
}

// one judges the columns of a subquery that stands for a value.
func one(format string) func(width int) error {
	return func(width int) error {
		if width != 1 {
			return planError(format, width)
		}
		return nil
	}
}

// scalar is a scalar subquery: one column, at most one row.
func (eb *exprBinder) scalar(x *parse.Subquery) (expr.Expr, error) {
	a, err := eb.ask(x.Query, askValue, one("Too many columns in a scalar subquery: %d"))
	switch {
	case err != nil:
		return nil, err
	case !a.done:
		return &expr.Pending{Name: a.name, T: a.bound.Columns()[0].Type, Null: true}, nil
	}
	return valueOf(a.rows, a.bound), nil
}

// valueOf is the value of a scalar subquery.
func valueOf(rows *vector.Batch, n Node) *expr.Const {
	if rows.N == 0 {
		return &expr.Const{Value: vector.ConstNull(n.Columns()[0].Type)}
	}
	return &expr.Const{Value: constAt(rows.Cols[0], 0)}
}

// constAt is row i of v as a Const vector.
func constAt(v *vector.Vector, i int) *vector.Vector {
	c := &vector.Vector{Type: v.Type}
	c.Append(0, v, i, i+1)
	c.Form = vector.Const
	return c
}

func (eb *exprBinder) exists(x *parse.Exists) (expr.Expr, error) {
	a, err := eb.ask(x.Query, askExists, func(int) error { return nil })
	switch {
	case err != nil:
		return nil, err
	case !a.done:
		return &expr.Pending{Name: a.name, T: vector.BoolType, Op: "EXISTS"}, nil
	}
	return &expr.Const{Value: vector.ConstBool(a.rows.N > 0)}, nil
}

// list asks for the values of a subquery of one column, for a list of them.
func (eb *exprBinder) list(q *parse.Query) (*Asked, error) {
	a, err := eb.ask(q, askList, one("Too many columns in the subquery of IN: %d"))
	if err == nil && a.done && a.rows.N > maxList {
		err = status.New(status.RuntimeResourcesExhausted, "the subquery of IN has more than %d values", maxList)
	}
	return a, err
}

// compared stands for a comparison of some values with those of a subquery that has not run; op is IN, > ALL or the
// like. Values that cannot be compared are an error.
func (eb *exprBinder) compared(a *Asked, op string, args ...expr.Expr) (expr.Expr, error) {
	for i, c := range a.bound.Columns() {
		value := &expr.Pending{Name: a.name, T: c.Type, Null: true}
		if _, err := eb.b.compare(expr.Equal, args[i], value); err != nil {
			return nil, err
		}
	}
	return &expr.Pending{Name: a.name, T: vector.BoolType, Null: true, Op: op, Args: args}, nil
}

// constants are the values of a subquery, each as an expression.
func (b *binder) constants(a *Asked) ([]expr.Expr, error) {
	v, n := a.rows.Cols[0], a.rows.N
	if err := b.keepConsts(v, n); err != nil {
		return nil, err
	}
	out := make([]expr.Expr, n)
	for i := range out {
		out[i] = &expr.Const{Value: constAt(v, i)}
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
	if x.Query != nil {
		return eb.inQuery(arg, x.Query, x.Not)
	}
	list, err := eb.bindList(x.List)
	if err != nil {
		return nil, err
	}
	return eb.b.inList(arg, list, x.Not)
}

// inQuery is arg IN (query).
func (eb *exprBinder) inQuery(arg expr.Expr, q *parse.Query, not bool) (expr.Expr, error) {
	a, err := eb.list(q)
	if err != nil {
		return nil, err
	}
	if !a.done {
		return eb.compared(a, map[bool]string{false: "IN", true: "NOT IN"}[not], arg)
	}
	return eb.b.inAnswer(arg, a, not)
}

// fewValues is the number of values of a subquery up to which each is a constant of the plan.
const fewValues = 64

// inAnswer is membership in the values of a subquery.
func (b *binder) inAnswer(arg expr.Expr, a *Asked, not bool) (expr.Expr, error) {
	if a.rows.N > fewValues {
		e, err := b.inValues(arg, a.rows, not)
		if e != nil || err != nil {
			return e, err
		}
	}
	list, err := b.constants(a)
	if err != nil {
		return nil, err
	}
	return b.inList(arg, list, not)
}
