package plan

import (
	"fmt"
	"math"
	"strings"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/sqlexec/expr"
)

// Print draws a plan as a tree, one node a line.
func Print(n Node) string {
	var b strings.Builder
	printNode(&b, n, 0)
	return strings.TrimRight(b.String(), "\n")
}

func printNode(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	b.WriteString(n.line())
	b.WriteByte('\n')
	for _, in := range n.inputs() {
		printNode(b, in, depth+1)
	}
}

func (n *Series) line() string     { return fmt.Sprintf("Series: %d rows", n.Count) }
func (n *Filter) line() string     { return "Filter: " + exprTexts(n.Conds, " AND ") }
func (n *Sort) line() string       { return "Sort: " + keyTexts(n.Keys) + limits(n.Limit, n.Offset) }
func (n *Limit) line() string      { return "Limit:" + limits(n.Limit, n.Offset) }
func (n *Distinct) line() string   { return "Distinct" }
func (n *DistinctOn) line() string { return "DistinctOn: " + exprTexts(n.Keys, ", ") }
func (n *Union) line() string      { return "Union" }
func (n *FillSlots) line() string  { return "FillSlots" }
func (n *Unnest) line() string     { return "Unnest: " + exprTexts(n.Lists, ", ") }

func (n *Values) line() string {
	if n.Of != "" {
		return "Values: " + n.Of
	}
	return fmt.Sprintf("Values: %d rows", n.Batch.N)
}

func (n *Expand) line() string {
	return fmt.Sprintf("Slots: step=%d, ranges=%v, origin=%d", n.Step, n.Ranges, n.Origin)
}

func (n *Project) line() string {
	list := make([]string, len(n.Exprs))
	for i, e := range n.Exprs {
		list[i] = e.String()
		if list[i] != n.Cols[i].Name {
			list[i] += " AS " + n.Cols[i].Name
		}
	}
	return "Projection: " + strings.Join(list, ", ")
}

func (n *Aggregate) line() string {
	aggs := make([]string, len(n.Aggs))
	for i, a := range n.Aggs {
		aggs[i] = a.String()
	}
	return fmt.Sprintf("Aggregate: groupBy=[%s], aggr=[%s]", exprTexts(n.Keys, ", "), strings.Join(aggs, ", "))
}

func (n *Window) line() string {
	list := make([]string, len(n.Funcs))
	for i := range n.Funcs {
		list[i] = n.Funcs[i].Text
	}
	return "Window: " + strings.Join(list, ", ")
}

func (n *AsofJoin) line() string {
	kind := "Asof Join: "
	if n.Outer {
		kind = "Asof left Join: "
	}
	nearest := n.LTime.String() + " " + n.Op.String() + " " + n.RTime.String()
	return kind + strings.Join(append(equalTexts(n.LKeys, n.RKeys), nearest), ", ")
}

func (n *Join) line() string {
	text := n.Kind.String() + " Join: " + strings.Join(equalTexts(n.LKeys, n.RKeys), ", ")
	if n.Residual != nil {
		text += " Filter: " + n.Residual.String()
	}
	return text
}

// equalTexts are the equalities of the keys of a join.
func equalTexts(l, r []expr.Expr) []string {
	on := make([]string, len(l))
	for i := range l {
		on[i] = l[i].String() + " = " + r[i].String()
	}
	return on
}

func exprTexts(list []expr.Expr, sep string) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.String()
	}
	return strings.Join(out, sep)
}

func keyTexts(keys []expr.SortKey) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = k.Expr.String() + map[bool]string{true: " DESC", false: " ASC"}[k.Desc] +
			map[bool]string{true: " NULLS FIRST", false: " NULLS LAST"}[k.NullsFirst]
	}
	return strings.Join(out, ", ")
}

func limits(limit, offset int64) string {
	text := ""
	if limit >= 0 {
		text += fmt.Sprintf(" limit=%d", limit)
	}
	if offset > 0 {
		text += fmt.Sprintf(" offset=%d", offset)
	}
	return text
}

// line describes a scan with what was pushed into it.
func (s *Scan) line() string {
	names := make([]string, len(s.Cols))
	for i, c := range s.Cols {
		names[i] = c.Name
	}
	text := fmt.Sprintf("TableScan: %s.%s columns=[%s]", s.Rel.Name.DB, s.Rel.Name.Table, strings.Join(names, ", "))
	if s.Never {
		return text + " (no rows: a condition is false)"
	}
	if s.Rel.Table != nil {
		table := s.Rel.Table.Schema
		if s.Time != scan.All {
			text += " time=" + timeText(s.Time, table.TimeColumn().Type)
		}
		if len(s.Filter) > 0 {
			text += " filter=[" + filterText(s.Filter, table) + "]"
		}
	}
	if len(s.Residual) > 0 {
		text += " residual=[" + exprTexts(s.Residual, " AND ") + "]"
	}
	if s.Ordered {
		text += " ordered"
	}
	return text
}

func timeText(r scan.Range, t vector.Type) string {
	text := "(-inf, "
	if r.From != math.MinInt64 {
		text = "[" + string(timefmt.AppendTimestamp(nil, r.From, t.Precision)) + ", "
	}
	if r.To == math.MaxInt64 {
		return text + "inf)"
	}
	return text + string(timefmt.AppendTimestamp(nil, r.To+1, t.Precision)) + ")"
}

var opTexts = map[filter.Op]string{
	filter.Equal: "=", filter.NotEqual: "<>", filter.Less: "<", filter.LessEqual: "<=", filter.Greater: ">",
	filter.GreaterEqual: ">=",
	filter.In:           "IN", filter.NotIn: "NOT IN", filter.IsNull: "IS NULL", filter.IsNotNull: "IS NOT NULL",
	filter.Prefix:   "starts with",
	filter.Contains: "contains", filter.ContainsFold: "contains", filter.Term: "@@", filter.Regex: "~",
	filter.NotRegex: "!~",
	filter.Like:     "LIKE", filter.NotLike: "NOT LIKE", filter.ILike: "ILIKE", filter.NotILike: "NOT ILIKE",
	filter.NotTerm: "NOT @@", filter.NotContains: "does not contain", filter.NotPrefix: "does not start with",
}

func filterText(f filter.And, t *schema.Table) string {
	list := make([]string, len(f))
	for i := range f {
		list[i] = condText(&f[i], t)
	}
	return strings.Join(list, " AND ")
}

func condText(c *filter.Cond, t *schema.Table) string {
	if c.Op == filter.AnyOf {
		list := make([]string, len(c.Any))
		for i, and := range c.Any {
			list[i] = filterText(and, t)
		}
		return "(" + strings.Join(list, " OR ") + ")"
	}
	text := fmt.Sprint(c.Column)
	if at := t.ByID(c.Column); at >= 0 {
		text = t.Columns[at].Name
	}
	if c.Lower {
		text = "lower(" + text + ")"
	}
	text += " " + opTexts[c.Op]
	switch {
	case c.NArgs == 1:
		text += " " + (&expr.Const{Value: constAt(c.Args, 0)}).String()
	case c.NArgs > 1:
		text += fmt.Sprintf(" (%d values)", c.NArgs)
	}
	return text
}
