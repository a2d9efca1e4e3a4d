package plan

import (
	"slices"

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
	return status.New(status.Unsupported, "correlated subqueries are supported in WHERE, in the select list and in ORDER BY")
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

// quantified binds x op ANY|ALL (query) over the values of a subquery.
func (eb *exprBinder) quantified(x *parse.Quantified) (expr.Expr, error) {
	arg, err := eb.bind(x.X)
	if err != nil {
		return nil, err
	}
	list, err := eb.list(x.Query)
	if err != nil {
		return nil, err
	}
	switch {
	case x.Op == "=" && !x.All:
		return eb.b.inList(arg, list, false)
	case x.Op == "<>" && x.All:
		return eb.b.inList(arg, list, true)
	}
	join := "or"
	if x.All {
		join = "and"
	}
	var acc expr.Expr = &expr.Const{Value: vector.ConstBool(x.All)}
	for _, e := range list {
		c, err := eb.b.compare(x.Op, arg, e)
		if err != nil {
			return nil, err
		}
		if acc, err = eb.b.ctx.Call(join, acc, c); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// semiJoins takes the correlated subqueries out of a WHERE condition and answers them for each distinct combination
// of the outer columns they refer to. What is left of the condition comes back; nil: nothing.
func (b *binder) semiJoins(in Node, sc *scope, x parse.Expr) (Node, *scope, parse.Expr, error) {
	var rest parse.Expr
	parts := conjuncts(x, nil)
	slices.Reverse(parts)
	for _, c := range parts {
		sub := correlatedIn(c)
		used := false
		for _, q := range sub {
			_, o, err := b.probe(q, sc)
			if err != nil {
				return nil, nil, nil, err
			}
			used = used || len(o.used) > 0
		}
		if used {
			var err error
			if in, err = b.apply(in, sc, c); err != nil {
				return nil, nil, nil, err
			}
			continue
		}
		if rest == nil {
			rest = c
		} else {
			rest = &parse.Binary{Node: parse.Node{At: c.Position()}, Op: "and", L: rest, R: c}
		}
	}
	return in, sc, rest, nil
}

// conjuncts splits a condition at its ANDs, the last first.
func conjuncts(x parse.Expr, list []parse.Expr) []parse.Expr {
	for {
		n, ok := x.(*parse.Binary)
		if !ok || n.Op != "and" {
			break
		}
		list = append(list, n.R)
		x = n.L
	}
	return append(list, x)
}

// correlatedIn lists the subqueries in a condition.
func correlatedIn(x parse.Expr) []*parse.Query {
	var list []*parse.Query
	parse.Walk(x, func(y parse.Expr) bool {
		switch y := y.(type) {
		case *parse.Subquery:
			list = append(list, y.Query)
		case *parse.Exists:
			list = append(list, y.Query)
		case *parse.In:
			if y.Query != nil {
				list = append(list, y.Query)
			}
		case *parse.Quantified:
			list = append(list, y.Query)
		}
		return true
	})
	return list
}

// combinations are the outer columns that an expression with correlated subqueries refers to, and their distinct values in
// the rows of in. It also gives the expression's form over NULLs, for its type.
func (b *binder) combinations(in Node, sc *scope, x parse.Expr) (cols []int, keys []Column, rows *vector.Batch, form expr.Expr, err error) {
	used := map[int]bool{}
	eb := &exprBinder{b: b, sc: &scope{outer: &outer{scope: sc, used: used}}, where: "a subquery"}
	if form, err = eb.bind(x); err != nil && status.Of(err) != status.Unsupported {
		return nil, nil, nil, nil, err
	}
	p := &Project{Input: in}
	for i := range sc.cols {
		if used[i] {
			cols = append(cols, i)
			p.Exprs, p.Cols = append(p.Exprs, sc.column(i)), append(p.Cols, sc.cols[i])
		}
	}
	if rows, err = b.run(b.goctx, &Distinct{Input: p}, maxRuns+1); err != nil {
		return nil, nil, nil, nil, err
	}
	if rows.N > maxRuns {
		return nil, nil, nil, nil, status.New(status.RuntimeResourcesExhausted, "a correlated subquery would run for more than %d different rows", maxRuns)
	}
	return cols, p.Cols, rows, form, nil
}

// apply keeps the rows of in for which a condition with correlated subqueries is true: the outer columns that the
// condition refers to are collected, the condition is bound and decided once for each distinct combination with these
// columns as constants, and the combinations that pass are joined back.
func (b *binder) apply(in Node, sc *scope, cond parse.Expr) (Node, error) {
	cols, keys, rows, _, err := b.combinations(in, sc, cond)
	if err != nil {
		return nil, err
	}
	pass := vector.NewBatch(types(keys)...)
	for r := range rows.N {
		c, err := b.valueAt(cond, sc, cols, rows, r)
		if err != nil {
			return nil, err
		}
		e, err := b.boolean(c, "WHERE")
		if err != nil {
			return nil, err
		}
		if v := e.(*expr.Const).Value; !v.IsNull(0) && v.Bool(0) {
			pass.Append(rows, r, r+1)
		}
	}
	return joinBack("left semi", in, sc, cols, &Values{Cols: unqualified(keys), Batch: pass}), nil
}

// joinBack joins rows to combinations of some of their columns.
func joinBack(kind string, in Node, sc *scope, cols []int, right *Values) *Join {
	j := &Join{Kind: kind, L: in, R: right, Cols: in.Columns(), NullEqual: true}
	if kind == "left" {
		j.Cols = concat(in.Columns(), right.Cols)
	}
	rsc := &scope{cols: right.Cols}
	for k, i := range cols {
		j.LKeys, j.RKeys = append(j.LKeys, sc.column(i)), append(j.RKeys, rsc.column(k))
	}
	return j
}

// lift makes the correlated subqueries in some expressions columns of the selection: they are answered once for each distinct
// combination of the outer columns they refer to, and the answers joined to the rows. Aggregates are left as they are.
func (sel *selection) lift(list []parse.Expr) error {
	var subs []parse.Expr
	var err error
	find := func(x parse.Expr) {
		parse.Walk(x, func(y parse.Expr) bool {
			var query *parse.Query
			switch y := y.(type) {
			case *parse.Subquery:
				query = y.Query
			case *parse.Exists:
				query = y.Query
			case *parse.In:
				query = y.Query
			case *parse.Quantified:
				query = y.Query
			}
			if query == nil || err != nil {
				return err == nil && !isAggregate(y)
			}
			var o *outer
			if _, o, err = sel.b.probe(query, sel.eb.sc); err == nil && len(o.used) > 0 {
				subs = append(subs, y)
			}
			return false
		})
	}
	for _, x := range list {
		find(x)
	}
	if err != nil || len(subs) == 0 {
		return err
	}
	at := map[parse.Expr]*expr.Column{}
	for _, x := range subs {
		if at[x], err = sel.liftOne(x); err != nil {
			return parse.PlaceError(err, x.Position())
		}
	}
	eb := *sel.eb
	inner := eb.special
	eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if c := at[x]; c != nil {
			return c, true, nil
		}
		if inner != nil {
			return inner(x)
		}
		return nil, false, nil
	}
	sel.eb = &eb
	return nil
}

// liftOne joins the values of an expression with correlated subqueries to the rows and gives their column.
func (sel *selection) liftOne(x parse.Expr) (*expr.Column, error) {
	b, in, sc := sel.b, sel.node, sel.eb.sc
	cols, keys, rows, form, err := b.combinations(in, sc, x)
	if err != nil {
		return nil, err
	}
	if form == nil {
		return nil, correlated()
	}
	v := &vector.Vector{Type: form.Type()}
	for r := range rows.N {
		c, err := b.valueAt(x, sc, cols, rows, r)
		if err != nil {
			return nil, err
		}
		if c, err = b.ctx.Cast(c, v.Type, false); err != nil {
			return nil, err
		}
		v.Append(r, c.(*expr.Const).Value, 0, 1)
	}
	right := &Values{Cols: unqualified(keys), Batch: &vector.Batch{N: rows.N, Cols: append(append([]*vector.Vector(nil), rows.Cols...), v)}}
	right.Cols = append(right.Cols, Column{Name: parse.PrintExpr(x), Type: v.Type, Nullable: true})
	for i := range right.Cols {
		right.Cols[i].Shadow = true
	}
	sel.node = joinBack("left", in, sc, cols, right)
	return &expr.Column{Index: len(in.Columns()) + len(keys), Name: parse.PrintExpr(x), T: v.Type, Null: true}, nil
}

func types(cols []Column) []vector.Type {
	out := make([]vector.Type, len(cols))
	for i, c := range cols {
		out[i] = c.Type
	}
	return out
}

// valueAt evaluates an expression for one combination of outer values.
func (b *binder) valueAt(x parse.Expr, sc *scope, cols []int, rows *vector.Batch, r int) (expr.Expr, error) {
	if err := b.goctx.Err(); err != nil {
		return nil, err
	}
	o := &outer{scope: sc, used: map[int]bool{}, values: make([]*vector.Vector, len(sc.cols))}
	for i := range sc.cols {
		o.values[i] = vector.ConstNull(sc.cols[i].Type)
	}
	for k, i := range cols {
		o.values[i] = constAt(rows.Cols[k], r)
	}
	eb := &exprBinder{b: b, sc: &scope{outer: o}, where: "a subquery"}
	e, err := eb.bind(x)
	if err != nil {
		return nil, err
	}
	if _, ok := e.(*expr.Const); !ok {
		return nil, planError("%s cannot be decided", parse.PrintExpr(x))
	}
	return e, nil
}
