package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// An aggregate in a subquery whose columns all belong to queries around is an aggregate over the rows of the nearest of
// these queries, by the standard. That query computes it with its own aggregates, and the subquery reads it as it reads
// a key.

// markOuter marks the aggregates of a SELECT that belong to queries around it.
func markOuter(s *parse.Select, q *parse.Query, sc *scope) {
	if sc.outer == nil {
		return
	}
	list := s.Clauses()
	for _, o := range q.OrderBy {
		list = append(list, o.X)
	}
	for _, x := range list {
		parse.Walk(x, func(y parse.Expr) bool {
			if c, ok := y.(*parse.Call); ok && c.Over == nil && expr.IsAggregate(c.Name) {
				c.Outer = ofOuter(c, sc)
			}
			return true
		})
	}
}

// ofOuter reports whether an aggregate call names columns of the queries around and none of its own.
func ofOuter(c *parse.Call, sc *scope) bool {
	return !namesColumn(c, sc) && ownerOf(c, sc) != nil
}

// namesColumn reports whether a call names a column of a scope.
func namesColumn(c *parse.Call, sc *scope) (found bool) {
	parse.Walk(c, func(x parse.Expr) bool {
		if x, ok := x.(*parse.Column); ok && len(sc.find(x.Parts)) > 0 {
			found = true
		}
		return !found
	})
	return found
}

// ownerOf returns the nearest query around that has a column of an aggregate call; nil: none.
func ownerOf(c *parse.Call, sc *scope) *outer {
	for o := sc.outer; o != nil; o = o.scope.outer {
		rows := o.scope
		if rows.rows != nil {
			rows = rows.rows
		}
		if namesColumn(c, rows) {
			return o
		}
	}
	return nil
}

// outerAggregate binds an aggregate of a query around.
func (eb *exprBinder) outerAggregate(c *parse.Call) (expr.Expr, error) {
	o := ownerOf(c, eb.sc)
	if o == nil || o.scope.aggregate == nil {
		return nil,
			planError(
				"%s is an aggregate of the outer query, because it names columns of that query alone, and stands "+
					"where that query "+
					"has no aggregates, as in its WHERE, ON and GROUP BY", parse.PrintExpr(c))
	}
	o.hits++
	return o.scope.aggregate(o, c)
}

// outerCalls lists the aggregates of this query that its subqueries name: in clauses they are looked for by looking at
// each subquery.
func (sel *selection) outerCalls(clauses []parse.Expr) (calls []*parse.Call, err error) {
	sc := *sel.sc
	sc.aggregate = func(_ *outer, c *parse.Call) (expr.Expr, error) {
		calls = append(calls, c)
		a, err := sel.b.aggregate(c, &exprBinder{b: sel.b, sc: sel.sc, where: "an aggregate"})
		if err != nil {
			return nil, err
		}
		return &expr.Const{Value: vector.ConstNull(a.Type()), Typed: true}, nil
	}
	for _, x := range clauses {
		for _, q := range correlatedIn(x) {
			if !mayNameAggregate(q, sel.sc) {
				continue
			}
			if _, _, err := sel.b.probe(q, &sc); err != nil {
				return nil, err
			}
		}
	}
	return calls, nil
}

// mayNameAggregate reports whether a subquery has an aggregate that names a column of sc, perhaps hidden by one of its
// own.
func mayNameAggregate(q *parse.Query, sc *scope) bool {
	found := false
	parse.WalkQuery(q, func(x parse.Expr) bool {
		if c, ok := x.(*parse.Call); ok && c.Over == nil && expr.IsAggregate(c.Name) {
			parse.Walk(c, func(y parse.Expr) bool {
				if y, ok := y.(*parse.Column); ok && len(sc.find(y.Parts)) > 0 {
					found = true
				}
				return !found
			})
		}
		return !found
	})
	return found
}
