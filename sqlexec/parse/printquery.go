package parse

import "strings"

func (w *printer) query(q *Query) {
	if len(q.With) > 0 {
		w.put("WITH ")
		if q.Recursive {
			w.put("RECURSIVE ")
		}
		for i, c := range q.With {
			if i > 0 {
				w.put(", ")
			}
			w.ident(c.Name)
			if len(c.Columns) > 0 {
				w.put(" (")
				w.idents(c.Columns)
				w.put(")")
			}
			w.put(" AS ")
			if c.Materialized != "" {
				w.put(strings.ToUpper(c.Materialized), " ")
			}
			if c.TQL != nil {
				w.put("(")
				w.tql(c.TQL)
				w.put(")")
			} else {
				w.parenQuery(c.Query)
			}
		}
		w.put(" ")
	}
	w.body(q.Body, 0)
	if len(q.OrderBy) > 0 {
		w.put(" ORDER BY ")
		w.orderItems(q.OrderBy)
	}
	if q.Limit != nil {
		w.put(" LIMIT ")
		w.expr(q.Limit, 0)
	}
	if q.Offset != nil {
		w.put(" OFFSET ")
		w.expr(q.Offset, 0)
	}
}

// body prints a query's middle; min is 1 right of UNION, 2 right of INTERSECT.
func (w *printer) body(b Body, min int) {
	switch b := b.(type) {
	case *Query:
		w.parenQuery(b)
	case *Values:
		w.put("VALUES ")
		w.rows(b.Rows)
	case *SetOp:
		pow := 1
		if b.Op == "intersect" {
			pow = 2
		}
		w.open(pow <= min)
		w.body(b.L, pow-1)
		w.put(" ", strings.ToUpper(b.Op))
		if b.All {
			w.put(" ALL")
		}
		if b.ByName {
			w.put(" BY NAME")
		}
		w.put(" ")
		w.body(b.R, pow)
		w.close(pow <= min)
	case *Select:
		w.selectBlock(b)
	}
}

func (w *printer) rows(rows [][]Expr) {
	for i, row := range rows {
		if i > 0 {
			w.put(", ")
		}
		w.put("(")
		w.exprs(row)
		w.put(")")
	}
}

func (w *printer) selectBlock(s *Select) {
	w.put("SELECT ")
	if s.Distinct {
		w.put("DISTINCT ")
	}
	if len(s.DistinctOn) > 0 {
		w.put("DISTINCT ON (")
		w.exprs(s.DistinctOn)
		w.put(") ")
	}
	for i, item := range s.Items {
		if i > 0 {
			w.put(", ")
		}
		w.item(item)
	}
	for i, t := range s.From {
		w.put(map[bool]string{true: " FROM ", false: ", "}[i == 0])
		w.tableRef(t, false)
	}
	if s.Where != nil {
		w.put(" WHERE ")
		w.expr(s.Where, 0)
	}
	if len(s.GroupBy) > 0 {
		w.put(" GROUP BY ")
		w.groupBy(s.GroupBy)
	}
	if s.Having != nil {
		w.put(" HAVING ")
		w.expr(s.Having, 0)
	}
	for i, nw := range s.Windows {
		w.put(map[bool]string{true: " WINDOW ", false: ", "}[i == 0])
		w.ident(nw.Name)
		w.put(" AS ")
		w.window(nw.Window)
	}
	if s.Qualify != nil {
		w.put(" QUALIFY ")
		w.expr(s.Qualify, 0)
	}
	if a := s.Align; a != nil {
		w.put(" ALIGN ")
		w.parenUnlessText(a.Step)
		if a.To != nil {
			w.put(" TO ")
			w.expr(a.To, powLike)
		}
		if a.HasBy {
			w.put(" BY (")
			w.exprs(a.By)
			w.put(")")
		}
		w.fill(a.Fill)
	}
}

func (w *printer) item(item SelectItem) {
	if item.Star == nil {
		w.expr(item.X, 0)
		w.as(item.Alias)
		return
	}
	if len(item.Star.Table) > 0 {
		w.name(item.Star.Table)
		w.put(".")
	}
	w.put("*")
	if len(item.Star.Exclude) > 0 {
		w.put(" EXCLUDE (")
		w.idents(item.Star.Exclude)
		w.put(")")
	}
	for i, r := range item.Star.Replace {
		w.put(map[bool]string{true: " REPLACE (", false: ", "}[i == 0])
		w.expr(r.X, 0)
		w.as(r.Alias)
	}
	w.close(len(item.Star.Replace) > 0)
	for i, r := range item.Star.Rename {
		w.put(map[bool]string{true: " RENAME (", false: ", "}[i == 0])
		w.expr(r.X, 0)
		w.as(r.Alias)
	}
	w.close(len(item.Star.Rename) > 0)
}

func (w *printer) as(alias *Ident) {
	if alias != nil {
		w.put(" AS ")
		w.ident(*alias)
	}
}

func (w *printer) groupBy(list []GroupItem) {
	for i, g := range list {
		if i > 0 {
			w.put(", ")
		}
		if g.Sets == nil {
			w.expr(g.X, 0)
			continue
		}
		w.put(strings.ToUpper(g.Kind), " (")
		for j, set := range g.Sets {
			if j > 0 {
				w.put(", ")
			}
			if j < len(g.Nested) && g.Nested[j] != nil {
				w.groupBy([]GroupItem{*g.Nested[j]})
				continue
			}
			if len(set) == 1 {
				w.expr(set[0], 0)
				continue
			}
			w.put("(")
			w.exprs(set)
			w.put(")")
		}
		w.put(")")
	}
}

// tableRef prints an element of FROM; nested joins on the right side need parentheses.
func (w *printer) tableRef(t TableRef, right bool) {
	switch t := t.(type) {
	case *Table:
		w.name(t.Name)
		w.tableAlias(t.Alias)
	case *Derived:
		if t.Lateral {
			w.put("LATERAL ")
		}
		w.parenQuery(t.Query)
		w.tableAlias(t.Alias)
	case *TableFunc:
		w.call(t.Call)
		if t.Ordinality {
			w.put(" WITH ORDINALITY")
		}
		w.tableAlias(t.Alias)
	case *Pivot:
		w.pivot(t)
	case *Unpivot:
		w.unpivot(t)
	case *Summary:
		w.put("(SUMMARIZE ")
		w.query(t.Query)
		w.put(")")
		w.tableAlias(t.Alias)
	case *Join:
		w.open(right)
		w.tableRef(t.L, false)
		if t.Natural {
			w.put(" NATURAL")
		}
		if t.Kind != InnerJoin {
			w.put(" ", t.Kind.String())
		}
		w.put(" JOIN ")
		w.tableRef(t.R, true)
		if t.On != nil {
			w.put(" ON ")
			w.expr(t.On, 0)
		}
		if len(t.Using) > 0 {
			w.put(" USING (")
			w.idents(t.Using)
			w.put(")")
		}
		w.close(right)
	}
}

func (w *printer) tableAlias(a *Alias) {
	if a == nil {
		return
	}
	w.put(" AS ")
	w.ident(a.Name)
	if len(a.Columns) > 0 {
		w.put(" (")
		w.idents(a.Columns)
		w.put(")")
	}
}

func (w *printer) tql(t *TQL) {
	w.put("TQL ", strings.ToUpper(t.Kind))
	if t.Verbose {
		w.put(" VERBOSE")
	}
	if t.Format != "" {
		w.put(" FORMAT ", t.Format)
	}
	if t.Start != nil {
		w.put(" (")
		w.expr(t.Start, 0)
		w.put(", ")
		w.expr(t.End, 0)
		w.put(", ")
		w.expr(t.Step, 0)
		if t.Lookback != nil {
			w.put(", ")
			w.expr(t.Lookback, 0)
		}
		w.put(")")
	}
	w.put(" ", t.Expr)
	if t.Alias != "" {
		w.put(" AS ", QuoteIdent(t.Alias))
	}
}
