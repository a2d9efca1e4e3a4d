package promql

import (
	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine/schema"
)

// Source is what the columns of an answer are called when it is shown as a table.
type Source struct {
	Time, Value string
}

// Source names the columns of an answer: the time as the time index of the first table that the query reads, the value as its
// field, or as the expression when it was computed.
func (t *Tables) Source(query string) (Source, error) {
	s := Source{Time: "time", Value: "value"}
	x, err := Parse(query)
	if err != nil {
		return s, err
	}
	selectors, err := Selectors(x)
	if err != nil || len(selectors) == 0 {
		return s, err
	}
	r, err := t.sortOut(selectors[0])
	if err != nil {
		return s, err
	}
	tables, err := t.tables(r)
	if err != nil || len(tables) == 0 {
		return s, err
	}
	s.Time, s.Value = tables[0].Schema.TimeColumn().Name, x.String()
	if field := t.fieldOf(tables[0].Schema, r); plain(x) && field != "" {
		s.Value = field
	}
	return s, nil
}

func (t *Tables) fieldOf(table *schema.Table, r *request) string {
	if w := fieldsOf(table, r.fields); len(w.fields) > 0 {
		return w.fields[0].name
	}
	return ""
}

// plain reports whether an expression gives samples as they are: a selector, or what a comparison leaves of one.
func plain(x parser.Expr) bool {
	switch n := x.(type) {
	case *parser.VectorSelector:
		return true
	case *parser.ParenExpr:
		return plain(n.Expr)
	case *parser.StepInvariantExpr:
		return plain(n.Expr)
	case *parser.BinaryExpr:
		return n.Op.IsComparisonOperator() && !n.ReturnBool && plain(n.LHS)
	}
	return false
}
