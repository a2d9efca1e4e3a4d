package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// Correlated subqueries that meet the query around them in equalities are joins: EXISTS and IN semi joins, NOT EXISTS
// an anti join, aggregates an outer join with the groups of the subquery. Those that pick the row with the nearest time
// are ASOF joins (nearest.go). Others are run for each combination (correlated.go).

// inside is a SELECT of a correlated subquery, without its items: the rows that do not depend on the query around it,
// and the conditions that do.
type inside struct {
	node Node
	sc   *scope
	sel  *parse.Select
	// conds are over the columns of node, then those of the enclosing query.
	conds []expr.Expr
}

// eb binds expressions of the subquery: columns of the enclosing query follow its own columns.
func (s *inside) eb(b *binder) *exprBinder { return &exprBinder{b: b, sc: s.sc, where: "a subquery"} }

// inside parts a subquery; nil: it has clauses that make it more than the rows of a join.
func (b *binder) inside(q *parse.Query, sc *scope) (*inside, error) {
	s, ok := q.Body.(*parse.Select)
	if !ok || len(q.With) > 0 || q.Limit != nil || q.Offset != nil || s.GroupBy != nil || s.Having != nil ||
		s.Qualify != nil ||
		s.Align != nil || len(s.DistinctOn) > 0 || len(s.From) == 0 {
		return nil, nil
	}
	o := &outer{scope: sc, used: map[int]bool{}}
	node, isc, err := b.from(s.From, o)
	if err != nil || len(o.used) > 0 {
		return nil, err
	}
	o.behind = len(node.Columns())
	in := &inside{node: node, sc: isc, sel: s}
	var own parse.Expr
	if s.Where != nil {
		parts := conjuncts(s.Where, nil)
		slices.Reverse(parts)
		for _, c := range parts {
			refers, cond, err := b.refers(c, isc)
			switch {
			case err != nil:
				return nil, err
			case refers && cond == nil:
				return nil, nil
			case refers:
				in.conds = splitAnd(cond, in.conds)
			case own == nil:
				own = c
			default:
				own = &parse.Binary{Node: parse.Node{At: c.Position()}, Op: "and", L: own, R: c}
			}
		}
	}
	if own != nil {
		in.node, err = b.where(node, isc, own, nil)
	}
	return in, err
}

// refers reports whether a condition of a subquery refers to the query around it, and gives it bound; nil when it does
// so in a subquery of its own.
func (b *binder) refers(c parse.Expr, sc *scope) (bool, expr.Expr, error) {
	o := sc.outer
	clear(o.used)
	if len(correlatedIn(c)) > 0 {
		looking := outer{scope: o.scope, used: o.used}
		err := b.usedBy(c, &scope{cols: sc.cols, outer: &looking}, map[int]bool{})
		return len(o.used) > 0, nil, err
	}
	e, err := (&exprBinder{b: b, sc: sc, where: "WHERE"}).bind(c)
	if err != nil || len(o.used) == 0 {
		return false, nil, err
	}
	e, err = b.boolean(e, "WHERE")
	return true, e, err
}

// has reports whether the rows of the subquery have all columns that an expression names.
func (s *inside) has(x parse.Expr) bool {
	all := true
	parse.Walk(x, func(y parse.Expr) bool {
		if c, ok := y.(*parse.Column); ok && len(s.sc.find(c.Parts)) == 0 {
			all = false
		}
		return all
	})
	return all
}

// joined joins in with a subquery by the subquery's conditions; nil: they have no equality.
func (b *binder) joined(kind JoinKind, in Node, s *inside) (*Join, error) {
	j := &Join{Kind: kind, L: s.node, R: in}
	if err := b.joinOn(j, s.conds); err != nil || len(j.LKeys) == 0 {
		return nil, err
	}
	out, _ := j.exchanged()
	out.Cols = in.Columns()
	return out, nil
}

// semiJoin makes a join of [NOT] EXISTS (query) or of x IN (query); nil: it cannot.
func (b *binder) semiJoin(in Node, sc *scope, c parse.Expr) (Node, error) {
	kind := LeftSemiJoin
	if n, ok := c.(*parse.Unary); ok && n.Op == "not" {
		if _, ok := n.X.(*parse.Exists); !ok {
			return nil, nil
		}
		c, kind = n.X, LeftAntiJoin
	}
	member, isIn := c.(*parse.In)
	if _, ok := c.(*parse.Exists); !ok && (!isIn || member.Not || member.Query == nil) {
		return nil, nil
	}
	s, err := b.inside(parse.QueryOf(c), sc)
	if err != nil || s == nil || slices.ContainsFunc(s.sel.Items,
		func(it parse.SelectItem) bool { return it.X != nil && (hasAggregate(it.X) || hasWindow(it.X)) }) {
		return nil, err
	}
	if isIn {
		parts := []parse.Expr{member.X}
		if t, ok := member.X.(*parse.Tuple); ok {
			parts = t.Items
		}
		if len(s.sel.Items) != len(parts) {
			return nil, nil
		}
		for i, x := range parts {
			same, err := b.equals(sc, x, s, s.sel.Items[i].X)
			if err != nil || same == nil {
				return nil, err
			}
			s.conds = append(s.conds, same)
		}
	}
	j, err := b.joined(kind, in, s)
	if err != nil || j == nil {
		return nil, err
	}
	return j, nil
}

// equals is the equality of an expression over sc with an item of a subquery; nil: there are subqueries in it, or the
// item is a star.
func (b *binder) equals(sc *scope, x parse.Expr, s *inside, item parse.Expr) (expr.Expr, error) {
	if item == nil || len(correlatedIn(item)) > 0 || len(correlatedIn(x)) > 0 {
		return nil, nil
	}
	l, err := (&exprBinder{b: b, sc: sc, where: "WHERE"}).bind(x)
	if err != nil {
		return nil, err
	}
	r, err := s.eb(b).bind(item)
	if err != nil {
		return nil, err
	}
	return b.ctx.Call("=", r, shift(l, len(s.node.Columns())))
}

// filterJoined keeps the rows for which a condition is true whose correlated subqueries are all such that liftJoined
// makes columns of them; nil: they are not.
func (b *binder) filterJoined(in Node, sc *scope, c parse.Expr, subs []*parse.Query) (Node, error) {
	sel := &selection{b: b, node: in, eb: &exprBinder{b: b, sc: sc, where: "WHERE"}}
	at := map[parse.Expr]*expr.Column{}
	var err error
	parse.Walk(c, func(x parse.Expr) bool {
		query := parse.QueryOf(x)
		if query == nil || err != nil {
			return err == nil
		}
		if sub, ok := x.(*parse.Subquery); ok && slices.Contains(subs, query) {
			if at[x], err = sel.liftJoined(sub); at[x] == nil {
				delete(at, x)
			}
		}
		return false
	})
	if err != nil || len(at) < len(subs) {
		return nil, err
	}
	eb := &exprBinder{b: b, sc: sc, special: columnsFor(at, nil), where: "WHERE"}
	cond, err := eb.bind(c)
	if err != nil {
		return nil, err
	}
	if cond, err = b.boolean(cond, "WHERE"); err != nil {
		return nil, err
	}
	return cut(&Filter{Input: sel.node, Conds: splitAnd(cond, nil)}, len(in.Columns())), nil
}

// liftJoined makes a column of a correlated scalar subquery by a join with its groups or its rows; nil: it cannot.
func (sel *selection) liftJoined(x *parse.Subquery) (*expr.Column, error) {
	if c, err := sel.liftGrouped(x); c != nil || err != nil {
		return c, err
	}
	return sel.liftNearest(x)
}

// liftGrouped makes a column of a correlated scalar subquery that aggregates: its groups, by the expressions that equal
// columns of the selection, are joined to the rows. nil: it is no such subquery.
func (sel *selection) liftGrouped(x *parse.Subquery) (*expr.Column, error) {
	b, in, sc := sel.b, sel.node, sel.eb.sc
	s, err := b.inside(x.Query, sc)
	if err != nil || s == nil || s.sel.Distinct || len(s.sel.Items) != 1 {
		return nil, err
	}
	if it := s.sel.Items[0].X; it == nil || !hasAggregate(it) || hasWindow(it) || !s.has(it) {
		return nil, nil
	}
	j, err := b.joined(LeftJoin, in, s)
	if err != nil || j == nil || j.Residual != nil {
		return nil, err
	}
	groups, err := b.groupsOf(s, j.RKeys)
	if err != nil {
		return nil, err
	}
	empty, err := b.ofNothing(s)
	if err != nil {
		return nil, err
	}
	right := &scope{cols: unqualified(groups.Columns())}
	for i := range right.cols {
		right.cols[i].Shadow, right.cols[i].Nullable = true, true
	}
	j.R, j.Cols, j.RKeys = groups, concat(in.Columns(), right.cols), nil
	for k := range j.LKeys {
		j.RKeys = append(j.RKeys, right.column(1+k))
	}
	sel.node = j
	joined := &scope{cols: j.Cols}
	n := len(in.Columns())
	if empty.Value.IsNull(0) {
		return joined.column(n).(*expr.Column), nil
	}
	missing, err := b.ctx.Call("is null", joined.column(n+1))
	if err != nil {
		return nil, err
	}
	value, err := b.ctx.Case([]expr.Expr{missing}, []expr.Expr{empty}, joined.column(n))
	if err != nil {
		return nil, err
	}
	p := &Project{Input: j}
	for i := range j.Cols {
		p.Exprs, p.Cols = append(p.Exprs, joined.column(i)), append(p.Cols, j.Cols[i])
	}
	p.Exprs[n] = value
	p.Cols[n].Type = value.Type()
	sel.node = p
	return &expr.Column{Index: n, Name: p.Cols[n].Name, T: value.Type(), Null: true}, nil
}

// ofNothing is the value of an aggregate subquery over no rows. No table is read for it.
func (b *binder) ofNothing(s *inside) (*expr.Const, error) {
	cols := s.node.Columns()
	none := &Values{Cols: cols, Batch: vector.NewBatch(types(cols)...)}
	n, err := b.groupsOf(&inside{node: none, sc: s.sc, sel: s.sel}, nil)
	if err != nil {
		return nil, err
	}
	if b.st.open > 0 && len(correlatedIn(s.sel.Items[0].X)) > 0 {
		return nil, errOpen
	}
	rows, _, err := b.st.run(b.goctx, n, askValue.most())
	if err != nil {
		return nil, err
	}
	return valueOf(rows, n), nil
}

// groupsOf aggregates a subquery by keys over its rows: the value of its only item, then the keys.
func (b *binder) groupsOf(s *inside, keys []expr.Expr) (Node, error) {
	p := &Project{Input: s.node}
	for i, c := range s.node.Columns() {
		p.Exprs, p.Cols = append(p.Exprs, s.sc.column(i)), append(p.Cols, c)
	}
	it := item{x: s.sel.Items[0].X, name: outputName(s.sel.Items[0].X, s.sc)}
	sel := &selection{b: b, s: &parse.Select{Items: s.sel.Items}, items: []item{it}, node: p}
	for _, k := range keys {
		slot := &parse.Slot{Index: len(p.Cols), Name: "key"}
		p.Exprs, p.Cols = append(p.Exprs, k),
			append(p.Cols, Column{Name: slot.Name, Type: k.Type(), Nullable: true, Shadow: true})
		sel.s.GroupBy = append(sel.s.GroupBy, parse.GroupItem{X: slot})
		sel.items = append(sel.items, item{x: slot, name: slot.Name})
	}
	sel.sc = &scope{cols: p.Cols}
	sel.eb = &exprBinder{b: b, sc: sel.sc, where: "a subquery"}
	q := &parse.Query{Body: sel.s}
	if err := sel.group(q); err != nil {
		return nil, err
	}
	return sel.finish(q)
}

// correlatedOf are those of some subqueries that refer to the query around them.
func (b *binder) correlatedOf(list []*parse.Query, sc *scope) (refer []*parse.Query, err error) {
	for _, q := range list {
		_, o, err := b.probe(q, sc)
		if err != nil {
			return nil, err
		}
		if len(o.used) > 0 {
			refer = append(refer, q)
		}
	}
	return refer, nil
}

// unnested makes a join of a condition with correlated subqueries; nil: it cannot.
func (b *binder) unnested(in Node, sc *scope, c parse.Expr, subs []*parse.Query) (Node, error) {
	n, err := b.semiJoin(in, sc, c)
	if err != nil || n != nil {
		return n, err
	}
	return b.filterJoined(in, sc, c, subs)
}

// value is the enclosing query's column i: behind those of the subquery where both are joined, its value for the row at
// hand, or a NULL of its type while only looking.
func (o *outer) value(i int) expr.Expr {
	o.used[i] = true
	o.hits++
	switch c := &o.scope.cols[i]; {
	case o.behind > 0:
		return &expr.Column{Index: o.behind + i, Name: c.Name, T: c.Type, Null: c.Nullable}
	case o.values == nil:
		o.blanks++
		return &expr.Const{Value: vector.ConstNull(c.Type), Typed: true}
	}
	return &expr.Const{Value: o.values[i], Typed: true}
}
