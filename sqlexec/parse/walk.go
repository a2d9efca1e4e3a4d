package parse

import "slices"

// Slot is a column of the binder's input by position. The grammar never makes it: the binder does when it expands a
// star.
type Slot struct {
	Node
	Index int
	Name  string
}

func (*Slot) expr() {}

// Children are the expressions directly inside x, subqueries and what chooses the columns of COLUMNS left out.
func Children(x Expr) []Expr {
	switch x := x.(type) {
	case *Unary:
		return []Expr{x.X}
	case *Binary:
		return []Expr{x.L, x.R}
	case *Is:
		return []Expr{x.X}
	case *Between:
		return []Expr{x.X, x.Lo, x.Hi}
	case *In:
		return append([]Expr{x.X}, x.List...)
	case *Like:
		return []Expr{x.X, x.Pattern}
	case *Quantified:
		return append([]Expr{x.X}, x.List...)
	case *Case:
		var list []Expr
		if x.Operand != nil {
			list = append(list, x.Operand)
		}
		for _, w := range x.Whens {
			list = append(list, w.If, w.Then)
		}
		if x.Else != nil {
			list = append(list, x.Else)
		}
		return list
	case *Cast:
		return []Expr{x.X}
	case *Array:
		return x.Items
	case *Index:
		return []Expr{x.X, x.I}
	case *Tuple:
		return x.Items
	case *Struct:
		return x.Items
	case *AtTimeZone:
		return []Expr{x.X, x.Zone}
	case *Range:
		return []Expr{x.X}
	case *Lambda:
		return []Expr{x.Body}
	case *Call:
		list := append([]Expr(nil), x.Args...)
		for _, o := range x.OrderBy {
			list = append(list, o.X)
		}
		if x.Filter != nil {
			list = append(list, x.Filter)
		}
		if x.Over != nil {
			list = append(list, x.Over.Partition...)
			for _, o := range x.Over.OrderBy {
				list = append(list, o.X)
			}
		}
		return list
	}
	return nil
}

// Walk calls visit for x. If visit returns true, it continues with the expressions inside x, except subqueries.
func Walk(x Expr, visit func(Expr) bool) {
	if x == nil || !visit(x) {
		return
	}
	for _, c := range Children(x) {
		Walk(c, visit)
	}
}

// WalkQuery calls visit for the expressions of a query as Walk does, and for those of its subqueries and of what is in
// FROM.
func WalkQuery(q *Query, visit func(Expr) bool) {
	for _, c := range q.With {
		if c.Query != nil {
			WalkQuery(c.Query, visit)
		}
	}
	walkBody(q.Body, visit)
	for _, o := range q.OrderBy {
		walkDeep(o.X, visit)
	}
}

func walkBody(body Body, visit func(Expr) bool) {
	switch body := body.(type) {
	case *Query:
		WalkQuery(body, visit)
	case *SetOp:
		walkBody(body.L, visit)
		walkBody(body.R, visit)
	case *Values:
		for _, row := range body.Rows {
			for _, x := range row {
				walkDeep(x, visit)
			}
		}
	case *Select:
		for _, t := range body.From {
			walkTable(t, visit)
		}
		for _, x := range body.Clauses() {
			walkDeep(x, visit)
		}
	}
}

// Clauses are the expressions of a SELECT, those in FROM, grouping sets and windows left out.
func (s *Select) Clauses() []Expr {
	list := append([]Expr(nil), s.DistinctOn...)
	for _, it := range s.Items {
		list = append(list, it.X)
	}
	list = append(list, s.Where)
	for _, g := range s.GroupBy {
		list = append(list, g.X)
	}
	list = append(list, s.Having, s.Qualify)
	return slices.DeleteFunc(list, func(x Expr) bool { return x == nil })
}

func walkTable(t TableRef, visit func(Expr) bool) {
	switch t := t.(type) {
	case *Derived:
		WalkQuery(t.Query, visit)
	case *Join:
		walkTable(t.L, visit)
		walkTable(t.R, visit)
		walkDeep(t.On, visit)
	case *TableFunc:
		walkDeep(t.Call, visit)
	case *Pivot:
		walkTable(t.Source, visit)
		for _, x := range t.exprs() {
			walkDeep(x, visit)
		}
	case *Unpivot:
		walkTable(t.Source, visit)
	case *Summary:
		WalkQuery(t.Query, visit)
	}
}

// exprs are the expressions of a PIVOT, its table left out.
func (p *Pivot) exprs() []Expr {
	list := slices.Clone(p.Group)
	for _, a := range p.Aggs {
		list = append(list, a.X)
	}
	for _, o := range p.On {
		list = append(list, o.X)
		for _, v := range o.In {
			list = append(list, v.X)
		}
	}
	return list
}

// walkDeep is Walk that goes into subqueries.
func walkDeep(x Expr, visit func(Expr) bool) {
	Walk(x, func(y Expr) bool {
		if !visit(y) {
			return false
		}
		if q := QueryOf(y); q != nil {
			WalkQuery(q, visit)
		}
		return true
	})
}

// QueryOf is the subquery of an expression that has one; nil: none.
func QueryOf(x Expr) *Query {
	switch x := x.(type) {
	case *Subquery:
		return x.Query
	case *Exists:
		return x.Query
	case *In:
		return x.Query
	case *Quantified:
		return x.Query
	}
	return nil
}
