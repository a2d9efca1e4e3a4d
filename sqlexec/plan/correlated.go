package plan

import (
	"slices"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Correlated subqueries that are no joins (decorrelate.go) are answered once for each distinct combination of the outer
// columns they refer to; the answers are joined to the rows by these columns.

// semiJoins takes the correlated subqueries out of a WHERE condition: they become joins, or are answered for each
// distinct combination of the outer columns they refer to. What is left of the condition comes back; nil: nothing.
func (b *binder) semiJoins(in Node, sc *scope, x parse.Expr) (Node, *scope, parse.Expr, error) {
	var rest parse.Expr
	parts := conjuncts(x, nil)
	slices.Reverse(parts)
	for _, c := range parts {
		n, err := b.tupleSemiJoin(in, sc, c)
		if n == nil && err == nil {
			n, err = b.manySemiJoin(in, sc, c)
		}
		if err != nil {
			return nil, nil, nil, err
		}
		if n != nil {
			in = n
			continue
		}
		subs, err := b.correlatedOf(correlatedIn(c), sc)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(subs) > 0 {
			n, err := b.unnested(in, sc, c, subs)
			if n == nil && err == nil {
				n, err = b.apply(in, sc, c)
			}
			if err != nil {
				return nil, nil, nil, err
			}
			in = n
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
		if q := parse.QueryOf(y); q != nil {
			list = append(list, q)
		}
		return true
	})
	return list
}

// beside binds an expression with subqueries over the values of a query's columns and aggregates.
func (b *binder) beside(o *outer) *exprBinder {
	eb := &exprBinder{b: b, sc: &scope{outer: o}, where: "a subquery"}
	if o.scope.aggregate != nil {
		eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
			if !isAggregate(x) {
				return nil, false, nil
			}
			e, err := o.scope.aggregate(o, x.(*parse.Call))
			return e, err == nil, err
		}
	}
	return eb
}

// combinations are the outer columns that an expression with correlated subqueries refers to, and their distinct values
// in the rows of in. It also gives the expression's form over NULLs, for its type.
func (b *binder) combinations(in Node, sc *scope, x parse.Expr) (cols []int, keys []Column, rows *vector.Batch,
	form expr.Expr, err error) {
	used := map[int]bool{}
	eb := b.beside(&outer{scope: sc, used: used})
	if form, err = eb.bind(x); err != nil && status.Of(err) != status.Unsupported {
		return nil, nil, nil, nil, err
	}
	cols, keys, rows, err = b.distinctOf(in, sc, used)
	return cols, keys, rows, form, err
}

// sketchEach notes the plan of a query that would run for each different row of the one around it, and returns what
// stands for its rows.
func (b *binder) sketchEach(q *parse.Query, n Node) string {
	b.st.sketch("for each different row of the query around it: "+textOf(q), n)
	return "what the subquery gives for each row"
}

// sketched notes the plans of the subqueries of an expression, as sketchEach does.
func (b *binder) sketched(x parse.Expr, sc *scope) (of string, err error) {
	for _, q := range correlatedIn(x) {
		n, _, err := b.probe(q, sc)
		if err != nil {
			return "", err
		}
		of = b.sketchEach(q, n)
	}
	return of, nil
}

// distinctOf returns the distinct values of some columns of in.
func (b *binder) distinctOf(in Node, sc *scope, used map[int]bool) (cols []int, keys []Column, rows *vector.Batch,
	err error) {
	p := &Project{Input: in}
	for i := range sc.cols {
		if used[i] {
			cols = append(cols, i)
			p.Exprs, p.Cols = append(p.Exprs, sc.column(i)), append(p.Cols, sc.cols[i])
		}
	}
	if rows, err = b.run(&Distinct{Input: p}, maxRuns+1); err != nil {
		return nil, nil, nil, err
	}
	if rows.N > maxRuns {
		return nil, nil, nil, status.New(status.RuntimeResourcesExhausted,
			"a correlated subquery would run for more than %d different rows", maxRuns)
	}
	return cols, p.Cols, rows, nil
}

// outerAt is the enclosing query at one combination of the values of some of its columns.
func outerAt(sc *scope, cols []int, rows *vector.Batch, r int) *outer {
	o := &outer{scope: sc, used: map[int]bool{}, values: make([]*vector.Vector, len(sc.cols))}
	for i := range sc.cols {
		o.values[i] = vector.ConstNull(sc.cols[i].Type)
	}
	for k, i := range cols {
		o.values[i] = constAt(rows.Cols[k], r)
	}
	return o
}

// lateral joins a subquery in FROM that sees the columns of the tables before it: it runs once for each distinct
// combination of those it refers to, unless it is an ASOF join. kind is inner or left.
func (b *binder) lateral(in Node, t *parse.Derived, out *outer, kind JoinKind) (Node, error) {
	sc := &scope{cols: in.Columns(), outer: out}
	n, o, err := b.probe(t.Query, sc)
	if err != nil {
		return nil, err
	}
	shape, err := rename(n, t.Alias, "")
	if err != nil {
		return nil, err
	}
	if len(o.used) == 0 {
		j := &Join{Kind: kind, L: in, R: shape, Cols: concat(in.Columns(), shape.Columns())}
		nullable(j)
		return j, nil
	}
	if n, err := b.lateralNearest(in, t.Query, shape, sc, kind); n != nil || err != nil {
		return n, err
	}
	cols, keys, rows, err := b.distinctOf(in, sc, o.used)
	if err != nil {
		return nil, err
	}
	keys = unqualified(keys)
	for i := range keys {
		keys[i].Shadow = true
	}
	right := &Values{Cols: concat(keys, shape.Columns())}
	if b.st.sketching {
		right.Of = b.sketchEach(t.Query, n)
	}
	right.Batch = vector.NewBatch(types(right.Cols)...)
	for r := range rows.N {
		if err := b.lateralAt(t, n, outerAt(sc, cols, rows, r), rows, r, right.Batch); err != nil {
			return nil, err
		}
	}
	j := joinBack(kind, in, sc, cols, right)
	nullable(j)
	return j, nil
}

// lateralAt appends the rows of a lateral subquery for one combination, with the combination before them.
func (b *binder) lateralAt(t *parse.Derived, shape Node, o *outer, rows *vector.Batch, r int, to *vector.Batch) error {
	defer b.again()()
	n, err := b.query(t.Query, o)
	if err != nil {
		return err
	}
	if n, err = b.castTo(n, types(shape.Columns())); err != nil {
		return err
	}
	got, err := b.run(n, maxList+1)
	if err != nil {
		return err
	}
	if to.N+got.N > maxList {
		return status.New(status.RuntimeResourcesExhausted, "a lateral subquery makes more than %d rows", maxList)
	}
	wide := &vector.Batch{N: got.N}
	for _, k := range rows.Cols {
		wide.Cols = append(wide.Cols, constAt(k, r))
	}
	wide.Cols = append(wide.Cols, got.Cols...)
	if err := b.keep(exec.BatchBytes(wide)); err != nil {
		return err
	}
	to.Append(wide, 0, wide.N)
	return nil
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
	right := &Values{Cols: unqualified(keys), Batch: pass}
	if b.st.sketching {
		if right.Of, err = b.sketched(cond, sc); err != nil {
			return nil, err
		}
	}
	return joinBack(LeftSemiJoin, in, sc, cols, right), nil
}

// joinBack joins rows to combinations of some of their columns.
func joinBack(kind JoinKind, in Node, sc *scope, cols []int, right *Values) *Join {
	j := &Join{Kind: kind, L: in, R: right, Cols: in.Columns(), NullEqual: true}
	if !kind.semi() {
		j.Cols = concat(in.Columns(), right.Cols)
	}
	rsc := &scope{cols: right.Cols}
	for k, i := range cols {
		j.LKeys, j.RKeys = append(j.LKeys, sc.column(i)), append(j.RKeys, rsc.column(k))
	}
	return j
}

// lift makes the correlated subqueries in some expressions columns of the selection: they are answered once for each
// distinct combination of the outer columns they refer to, and the answers joined to the rows. Aggregates are left as
// they are.
func (sel *selection) lift(list []parse.Expr) error {
	var subs []parse.Expr
	var err error
	find := func(x parse.Expr) {
		if len(correlatedIn(x)) == 0 {
			return
		}
		parse.Walk(x, func(y parse.Expr) bool {
			if sel.eb.special != nil && !isAggregate(y) { // a key of GROUP BY with a subquery is a column already
				if _, ok, bad := sel.eb.special(y); ok && bad == nil {
					return false
				}
			}
			query := parse.QueryOf(y)
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
	eb.special = columnsFor(at, eb.special)
	sel.eb = &eb
	return nil
}

// columnsFor first looks among the expressions that became columns, then calls inner, which may be nil.
func columnsFor(at map[parse.Expr]*expr.Column,
	inner func(parse.Expr) (expr.Expr, bool, error)) func(parse.Expr) (expr.Expr, bool, error) {
	return func(x parse.Expr) (expr.Expr, bool, error) {
		if c := at[x]; c != nil {
			return c, true, nil
		}
		if inner != nil {
			return inner(x)
		}
		return nil, false, nil
	}
}

// liftOne joins the values of an expression with correlated subqueries to the rows and gives their column.
func (sel *selection) liftOne(x parse.Expr) (*expr.Column, error) {
	if sub, ok := x.(*parse.Subquery); ok {
		if c, err := sel.liftJoined(sub); c != nil || err != nil {
			return c, err
		}
	}
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
	right := &Values{Cols: unqualified(keys),
		Batch: &vector.Batch{N: rows.N, Cols: append(append([]*vector.Vector(nil), rows.Cols...), v)}}
	if b.st.sketching {
		if right.Of, err = b.sketched(x, sc); err != nil {
			return nil, err
		}
	}
	right.Cols = append(right.Cols, Column{Name: parse.PrintExpr(x), Type: v.Type, Nullable: true})
	for i := range right.Cols {
		right.Cols[i].Shadow = true
	}
	sel.node = joinBack(LeftJoin, in, sc, cols, right)
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
	defer b.again()()
	eb := b.beside(outerAt(sc, cols, rows, r))
	e, err := eb.bind(x)
	if err != nil {
		return nil, err
	}
	if _, ok := e.(*expr.Const); !ok {
		return nil, planError("%s cannot be decided", parse.PrintExpr(x))
	}
	return e, nil
}
