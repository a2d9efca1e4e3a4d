package promql

import (
	"slices"

	"github.com/prometheus/prometheus/promql/parser"

	"varve/engine"
	"varve/engine/status"
)

// Source is what the columns of an answer are called when it is shown as a table.
type Source struct {
	Time, Value string
}

// Source names the columns of an answer. The time has the name of the time index of the first table that the query
// reads. The value has the name of that table's field, of Value if there are several fields, or of the expression if it
// was computed. A named field that the table does not have is an error here: a request for a table names its columns.
func (t *Tables) Source(query string) (Source, error) {
	s := Source{Time: "time", Value: "value"}
	x, err := Parse(query)
	if err != nil {
		return s, err
	}
	made := constant(x)
	if made {
		s.Value = ConstantValue
	}
	selectors, err := Selectors(x)
	if err != nil || len(selectors) == 0 {
		return s, err
	}
	for i, matchers := range selectors {
		r, err := t.sortOut(matchers)
		if err != nil {
			return s, err
		}
		tables, err := t.tables(r)
		if err != nil {
			return s, err
		}
		if err := knownFields(tables, r.fields); err != nil {
			return s, err
		}
		if i > 0 || len(tables) == 0 {
			continue
		}
		s.Time = tables[0].Schema.TimeColumn().Name
		switch fields := fieldsOf(tables[0].Schema, r.fields).fields; {
		case made:
		case !plain(x) || len(fields) == 0:
			s.Value = x.String()
		case len(fields) == 1:
			s.Value = fields[0].name
		}
	}
	return s, nil
}

// knownFields checks that one of the tables has each field that is named.
func knownFields(tables []*engine.Table, ms []*Matcher) error {
	for _, m := range ms {
		has := func(x *engine.Table) bool { return len(fieldsOf(x.Schema, []*Matcher{m}).fields) > 0 }
		if m.Type == MatchEqual && len(tables) > 0 && !slices.ContainsFunc(tables, has) {
			return status.New(status.InvalidArguments, "table %s has no numeric field %q", tables[0].Schema.Name.Table,
				m.Value)
		}
	}
	return nil
}

// ConstantValue is the name of the values of vector() and time(), which have no field.
const ConstantValue = "service_value"

// constant reports whether an expression is a call of vector() or time().
func constant(x parser.Expr) bool {
	c, ok := unwrap(x).(*parser.Call)
	if !ok {
		return false
	}
	f := functionOf(c)
	return f != nil && f.constant
}

// plain reports whether the values of an expression are called after a field: it is a selector, or what orders,
// relabels or picks of one.
func plain(x parser.Expr) bool {
	switch n := unwrap(x).(type) {
	case *parser.VectorSelector:
		return true
	case *parser.Call:
		f := functionOf(n)
		return f != nil && f.field > 0 && plain(n.Args[f.field-1])
	case *parser.AggregateExpr:
		return (n.Op == parser.TOPK || n.Op == parser.BOTTOMK) && plain(n.Expr)
	case *parser.BinaryExpr:
		return (n.Op.IsSetOperator() || n.Op.IsComparisonOperator() && !n.ReturnBool) && plain(n.LHS)
	}
	return false
}
