package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Tuples are compared part by part; they are not values.

// maxTuples bounds the tuples that a subquery of IN may give where it is no join: each is a comparison for every row.
const maxTuples = 10_000

func isTuple(x parse.Expr) bool {
	_, ok := x.(*parse.Tuple)
	return ok
}

// tuple returns the bound parts of a tuple of n parts.
func (eb *exprBinder) tuple(x parse.Expr, n int) ([]expr.Expr, error) {
	t, ok := x.(*parse.Tuple)
	if !ok || len(t.Items) != n {
		return nil,
			parse.PlaceError(planError("a tuple of %d values can be compared with one of as many only, found %s", n,
				parse.PrintExpr(x)), x.Position())
	}
	return eb.bindList(t.Items)
}

// compareTuples binds (a, b) op (c, d): the first parts that differ decide.
func (eb *exprBinder) compareTuples(op string, x, y parse.Expr) (expr.Expr, error) {
	t, ok := x.(*parse.Tuple)
	if !ok {
		x, y = y, x
		t = x.(*parse.Tuple)
		if flipped := expr.OpOf(op).Flipped(); flipped != expr.NoOp {
			op = flipped.String()
		}
	}
	l, err := eb.tuple(x, len(t.Items))
	if err != nil {
		return nil, err
	}
	r, err := eb.tuple(y, len(t.Items))
	if err != nil {
		return nil, err
	}
	if !expr.OpOf(op).Compares() {
		return nil, planError("tuples cannot be compared by %s", op)
	}
	return eb.b.tuples(expr.OpOf(op), l, r)
}

func (b *binder) tuples(op expr.Op, l, r []expr.Expr) (expr.Expr, error) {
	switch op {
	case expr.Equal, expr.IsNotDistinct:
		return b.each(op, expr.And, l, r)
	case expr.NotEqual, expr.IsDistinct:
		return b.each(op, expr.Or, l, r)
	}
	// (a, b) < (c, d) is a < c or a = c and b < d: built from the last part, where equality counts too.
	n := len(l) - 1
	acc, err := b.compare(op, l[n], r[n])
	for i := n - 1; i >= 0 && err == nil; i-- {
		var same, differs expr.Expr
		if same, err = b.compare(expr.Equal, l[i], r[i]); err != nil {
			break
		}
		if acc, err = b.ctx.Call("and", same, acc); err != nil {
			break
		}
		if differs, err = b.compare(op.Strict(), l[i], r[i]); err == nil {
			acc, err = b.ctx.Call("or", differs, acc)
		}
	}
	return acc, err
}

// each compares the parts pairwise and joins the answers.
func (b *binder) each(op, join expr.Op, l, r []expr.Expr) (expr.Expr, error) {
	var acc expr.Expr
	for i := range l {
		c, err := b.compare(op, l[i], r[i])
		if err != nil {
			return nil, err
		}
		if acc == nil {
			acc = c
		} else if acc, err = b.ctx.Call(join.String(), acc, c); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// tupleIn binds (a, b) IN ((1, 2), ..) and, if it does not become a join, (a, b) IN (query).
func (eb *exprBinder) tupleIn(x *parse.In, t *parse.Tuple) (expr.Expr, error) {
	if len(t.Items) == 0 {
		return nil, parse.PlaceError(planError("an empty tuple is in no list"), t.Position())
	}
	parts, err := eb.bindList(t.Items)
	if err != nil {
		return nil, err
	}
	if x.Query != nil {
		return eb.tupleInQuery(x, parts)
	}
	var list [][]expr.Expr
	for _, item := range x.List {
		var row []expr.Expr
		if row, err = eb.tuple(item, len(parts)); err != nil {
			break
		}
		list = append(list, row)
	}
	if err != nil {
		return nil, err
	}
	return eb.b.tupleInList(parts, list, x.Not)
}

// tupleInQuery compares parts with the rows of a subquery.
func (eb *exprBinder) tupleInQuery(x *parse.In, parts []expr.Expr) (expr.Expr, error) {
	a, err := eb.ask(x.Query, askTuples, func(columns int) error {
		if columns != len(parts) {
			return planError("the subquery of IN has %d columns, %d are compared with it", columns, len(parts))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !a.done {
		return eb.compared(a, map[bool]string{false: "IN", true: "NOT IN"}[x.Not], parts...)
	}
	list := make([][]expr.Expr, a.rows.N)
	for i := range list {
		for _, c := range a.rows.Cols {
			list[i] = append(list[i], &expr.Const{Value: constAt(c, i)})
		}
	}
	return eb.b.tupleInList(parts, list, x.Not)
}

// tupleInList compares parts with each of a list of tuples. The condition on the first parts stands first, so that a
// scan can decide it.
func (b *binder) tupleInList(parts []expr.Expr, list [][]expr.Expr, not bool) (expr.Expr, error) {
	var acc expr.Expr = &expr.Const{Value: vector.ConstBool(not)}
	op, join := expr.Equal, expr.Or
	if not {
		op, join = expr.NotEqual, expr.And
	}
	for _, row := range list {
		c, err := b.tuples(op, parts, row)
		if err != nil {
			return nil, err
		}
		if acc, err = b.ctx.Call(join.String(), acc, c); err != nil {
			return nil, err
		}
	}
	if not || len(list) < 2 {
		return acc, nil
	}
	for i := range parts {
		column := make([]expr.Expr, len(list))
		for k, row := range list {
			column[k] = row[i]
		}
		if slices.ContainsFunc(column, func(e expr.Expr) bool {
			c, ok := e.(*expr.Const)
			return !ok || c.Value.IsNull(0)
		}) {
			continue // the answer may be NULL where no part is equal
		}
		among, err := b.inList(parts[i], column, false)
		if err != nil {
			return nil, err
		}
		if acc, err = b.ctx.Call("and", among, acc); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// tupleSemiJoin makes a join of (a, b) [NOT] IN (query), which does not refer to the query around it; nil: the
// condition is another one.
func (b *binder) tupleSemiJoin(in Node, sc *scope, c parse.Expr) (Node, error) {
	x, ok := c.(*parse.In)
	if !ok || x.Query == nil || len(correlatedIn(x.X)) > 0 {
		return nil, nil
	}
	t, ok := x.X.(*parse.Tuple)
	if !ok {
		return nil, nil
	}
	r, o, err := b.probe(x.Query, sc)
	if err != nil || len(o.used) > 0 {
		return nil, err
	}
	parts, err := (&exprBinder{b: b, sc: sc, where: "WHERE"}).bindList(t.Items)
	if err != nil {
		return nil, err
	}
	if len(r.Columns()) != len(parts) {
		return nil, parse.PlaceError(planError("the subquery of IN has %d columns, %d are compared with it",
			len(r.Columns()), len(parts)), c.Position())
	}
	j := &Join{Kind: LeftSemiJoin, L: in, R: r, Cols: in.Columns()}
	if x.Not {
		j.Kind = LeftAntiJoin
	}
	width := len(in.Columns())
	rsc := &scope{cols: r.Columns()}
	known := true // no part can be NULL
	var others []expr.Expr
	for i, p := range parts {
		others = append(others, shift(rsc.column(i), width))
		known = known && !p.Nullable() && !r.Columns()[i].Nullable
	}
	same, err := b.tuples(expr.Equal, parts, others)
	if err != nil {
		return nil, err
	}
	if !x.Not || known {
		return j, b.joinOn(j, splitAnd(same, nil))
	}
	// A row goes where a tuple may be equal to it: where the comparison is true or NULL.
	j.Residual, err = b.compare(expr.IsDistinct, same, &expr.Const{Value: vector.ConstBool(false)})
	return j, err
}

// aggregated binds the arguments of an aggregate. count(DISTINCT a, b) counts the different pairs without NULL,
// count(DISTINCT (a, b)) all of them.
func (eb *exprBinder) aggregated(c *parse.Call) ([]expr.Expr, error) {
	if !expr.PropertiesOf(c.Name).Counts {
		return eb.bindList(c.Args)
	}
	items, key := c.Args, "tuple key without null"
	if len(items) == 1 && isTuple(items[0]) {
		items, key = items[0].(*parse.Tuple).Items, "tuple key"
	} else if len(items) < 2 || !c.Distinct {
		return eb.bindList(c.Args)
	}
	parts, err := eb.bindList(items)
	if err != nil {
		return nil, err
	}
	x, err := eb.b.ctx.Call(key, parts...)
	return []expr.Expr{x}, err
}
