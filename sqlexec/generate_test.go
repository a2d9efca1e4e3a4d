package sqlexec

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator writes random queries in the part of SQL that two engines agree on: whole numbers that do not overflow,
// floats that are exact, texts of ASCII letters, no division by zero, and NULLs placed in every ORDER BY.
type generator struct {
	*rand.Rand
	names int // aliases given out
}

// fields is what FROM gives: its columns by type.
type fields struct {
	ints, floats, texts []string
}

// base are the columns of the test tables behind an alias.
func base(alias string) fields {
	return fields{
		ints:   []string{alias + ".id", alias + ".a", alias + ".c"},
		floats: []string{alias + ".b"},
		texts:  []string{alias + ".s", alias + ".k"},
	}
}

func (t fields) with(o fields) fields {
	return fields{append(append([]string{}, t.ints...), o.ints...),
		append(append([]string{}, t.floats...), o.floats...), append(append([]string{}, t.texts...), o.texts...)}
}

func (g *generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) alias() string {
	g.names++
	return fmt.Sprint("q", g.names)
}

func (g *generator) text() string {
	return "'" + g.pick("", "a", "b", "ab", "abc", "x", "Ab", "xyz", "b a", "error") + "'"
}

// number is an expression of whole numbers of moderate size.
func (g *generator) number(t fields, depth int) string {
	if depth <= 0 || g.IntN(4) == 0 {
		if g.IntN(3) == 0 || len(t.ints) == 0 {
			return fmt.Sprint(g.IntN(21) - 10)
		}
		return g.pick(t.ints...)
	}
	x := func() string { return g.number(t, depth-1) }
	switch g.IntN(11) {
	case 0, 1:
		return "(" + x() + g.pick(" + ", " - ") + x() + ")"
	case 2:
		return "((" + x() + ") % 17 * ((" + x() + ") % 19))"
	case 3:
		return "(" + x() + g.pick(" / ", " % ") + g.pick("2", "3", "-7", "10") + ")"
	case 4:
		return "coalesce(" + x() + ", " + x() + ")"
	case 5:
		return "nullif(" + x() + ", " + x() + ")"
	case 6:
		return "abs(" + x() + ")"
	case 7:
		return "length(" + g.str(t, depth-1) + ")"
	case 8:
		return "CASE WHEN " + g.cond(t, depth-1) + " THEN " + x() + " ELSE " + x() + " END"
	case 9:
		return "CASE " + g.number(t, depth-2) + " WHEN 1 THEN " + x() + " WHEN " + g.number(t, 0) + " THEN " + x() +
			" END"
	}
	return "CAST(" + g.float(t, depth-1) + " AS BIGINT)"
}

// float is an expression of floats that binary fractions hold exactly.
func (g *generator) float(t fields, depth int) string {
	if depth <= 0 || g.IntN(4) == 0 {
		if g.IntN(3) == 0 || len(t.floats) == 0 {
			return fmt.Sprintf("%.2f", float64(g.IntN(80)-40)/4)
		}
		return g.pick(t.floats...)
	}
	x := func() string { return g.float(t, depth-1) }
	switch g.IntN(7) {
	case 0, 1:
		return "(" + x() + g.pick(" + ", " - ") + x() + ")"
	case 2:
		return "(" + x() + " * " + g.pick("0.5", "2.0", "-1.0", "4") + ")"
	case 3:
		return "(" + x() + " + " + g.number(t, depth-1) + ")"
	case 4:
		return "coalesce(" + x() + ", " + x() + ")"
	case 5:
		return "round(" + x() + ")"
	}
	return "CASE WHEN " + g.cond(t, depth-1) + " THEN " + x() + " ELSE " + x() + " END"
}

// str is an expression of texts.
func (g *generator) str(t fields, depth int) string {
	if depth <= 0 || g.IntN(4) == 0 {
		if g.IntN(3) == 0 || len(t.texts) == 0 {
			return g.text()
		}
		return g.pick(t.texts...)
	}
	x := func() string { return g.str(t, depth-1) }
	switch g.IntN(8) {
	case 0:
		return "(" + x() + " || " + x() + ")"
	case 1:
		return g.pick("upper", "lower", "trim", "ltrim", "rtrim") + "(" + x() + ")"
	case 2:
		return "substr(" + x() + ", " + g.pick("1", "2", "3") + g.pick("", ", 1", ", 2", ", 0") + ")"
	case 3:
		return "replace(" + x() + ", " + g.pick("'a'", "'b'", "'ab'") + ", " + g.text() + ")"
	case 4:
		return "coalesce(" + x() + ", " + x() + ")"
	case 5:
		return "nullif(" + x() + ", " + x() + ")"
	case 6:
		return "CAST(" + g.number(t, depth-1) + " AS TEXT)"
	}
	return "CASE WHEN " + g.cond(t, depth-1) + " THEN " + x() + " END"
}

// cond is a condition.
func (g *generator) cond(t fields, depth int) string {
	op := g.pick("=", "<>", "<", "<=", ">", ">=")
	if depth <= 0 {
		return g.number(t, 0) + " " + op + " " + g.number(t, 0)
	}
	switch g.IntN(16) {
	case 0, 1:
		return "(" + g.cond(t, depth-1) + g.pick(" AND ", " OR ") + g.cond(t, depth-1) + ")"
	case 2:
		return "NOT (" + g.cond(t, depth-1) + ")"
	case 3:
		return g.number(t, depth-1) + g.pick("", " NOT") + " BETWEEN " + g.number(t, depth-1) + " AND " +
			g.number(t, depth-1)
	case 4:
		return g.number(t, depth-1) + g.pick("", " NOT") + " IN (" + g.number(t, 0) + ", " + g.number(t, depth-1) +
			g.pick("", ", NULL") + ")"
	case 5:
		return g.str(t, depth-1) + g.pick("", " NOT") + " IN (" + g.text() + ", " + g.text() + ", " + g.str(t, 0) + ")"
	case 6:
		return g.str(t, depth-1) + g.pick("", " NOT") + " LIKE " +
			g.pick("'a%'", "'%b%'", "'_'", "'%'", "'a_c'", "''", "'%r_r'", "'x%z'")
	case 7:
		return g.pick(g.number(t, depth-1), g.str(t, depth-1), g.float(t, depth-1)) + " IS " + g.pick("", "NOT ") +
			"NULL"
	case 8:
		return g.number(t, depth-1) + " IS " + g.pick("", "NOT ") + "DISTINCT FROM " + g.number(t, depth-1)
	case 9:
		return g.str(t, depth-1) + " " + op + " " + g.str(t, depth-1)
	case 10:
		return g.float(t, depth-1) + " " + op + " " + g.float(t, depth-1)
	case 11:
		return g.number(t, depth-1) + " " + op + " " + g.float(t, depth-1)
	case 12:
		in := g.alias()
		return g.number(t, depth-1) + g.pick("", " NOT") + " IN (SELECT " + g.pick(in+".a", in+".c") + " FROM t2 AS " +
			in + " WHERE " + g.cond(base(in), 1) + ")"
	case 13:
		in := g.alias()
		return g.pick("", "NOT ") + "EXISTS (SELECT 1 FROM t2 AS " + in + " WHERE " + in + "." +
			g.pick("a = ", "c = ", "c < ") + g.number(t, 0) + " AND " + g.cond(base(in), 1) + ")"
	case 14:
		in := g.alias()
		return g.number(t, depth-1) + " " + op + " (SELECT " + g.pick("max", "min", "count", "sum") + "(" + in +
			".a) FROM t2 AS " + in + " WHERE " + in + ".k = " + g.str(t, 0) + ")"
	}
	return g.number(t, depth-1) + " " + op + " " + g.number(t, depth-1)
}

// from is a FROM clause with what its columns are called.
func (g *generator) from() (string, fields) {
	l := g.alias()
	if g.IntN(2) == 0 {
		return g.pick("t1", "t2") + " AS " + l, base(l)
	}
	r := g.alias()
	t := base(l).with(base(r))
	left, right := g.pick("t1", "t2")+" AS "+l, g.pick("t1", "t2")+" AS "+r
	if g.IntN(4) == 0 {
		right = "(SELECT id, a, c, b, s, k FROM t2 WHERE " +
			g.cond(fields{ints: []string{"id", "a", "c"}, floats: []string{"b"}, texts: []string{"s", "k"}}, 2) +
			") AS " + r
	}
	switch g.IntN(6) {
	case 0:
		return left + " CROSS JOIN " + right, t
	case 1:
		return left + ", " + right, t
	}
	on := l + "." + g.pick("a", "c", "id") + " = " + r + "." + g.pick("a", "c", "id")
	switch g.IntN(4) {
	case 0:
		on = l + ".k = " + r + ".k"
	case 1:
		on += " AND " + g.cond(t, 0)
	case 2:
		on += " AND " + l + ".k = " + r + ".k"
	}
	return left + " " + g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "INNER JOIN") + " " + right + " ON " +
		on, t
}

func (g *generator) any(t fields, depth int) string {
	switch g.IntN(3) {
	case 0:
		return g.str(t, depth)
	case 1:
		return g.float(t, depth)
	}
	return g.number(t, depth)
}

func (g *generator) where(t fields) string {
	switch g.IntN(4) {
	case 0:
		return ""
	case 1:
		return " WHERE " + g.many(func() string { return g.cond(t, 2) }, func() string { return g.passing(t) })
	}
	return " WHERE " + g.cond(t, 3)
}

// many joins two to six conditions with AND. One in two of them keeps every row, because what such a condition leaves
// is handed on and not copied.
func (g *generator) many(cond, passing func() string) string {
	list := make([]string, 2+g.IntN(5))
	for i := range list {
		if list[i] = cond(); g.IntN(2) == 0 {
			list[i] = passing()
		}
	}
	return strings.Join(list, " AND ")
}

// passing is a condition that every row fulfils and that is computed all the same.
func (g *generator) passing(t fields) string {
	x := g.pick(t.ints...)
	switch g.IntN(4) {
	case 0:
		return "coalesce(" + x + ", 0) < 1000000"
	case 1:
		return "(" + x + " IS NULL OR " + x + " % 100 > -100)"
	case 2:
		return "length(coalesce(" + g.pick(t.texts...) + ", '')) >= 0"
	}
	return "abs(coalesce(" + x + ", 1)) > -1"
}

// order is an ORDER BY over the n columns of the output.
func (g *generator) order(n int) string {
	var keys []string
	for _, i := range g.Perm(n) {
		keys = append(keys, fmt.Sprint(i+1, " ", g.pick("ASC", "DESC"), " NULLS ", g.pick("FIRST", "LAST")))
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

// tail orders by all columns and cuts, so that the rows that stay are the same ones; or nothing.
func (g *generator) tail(n int) string {
	if g.IntN(2) == 0 {
		return ""
	}
	s := g.order(n)
	if g.IntN(2) == 0 {
		s += fmt.Sprint(" LIMIT ", g.IntN(20))
		if g.IntN(2) == 0 {
			s += fmt.Sprint(" OFFSET ", g.IntN(10))
		}
	}
	return s
}

// plain is a SELECT without groups.
func (g *generator) plain() string {
	from, t := g.from()
	n := 1 + g.IntN(4)
	items := make([]string, n)
	for i := range items {
		items[i] = g.any(t, 3)
	}
	return "SELECT " + g.pick("", "", "DISTINCT ") + strings.Join(items, ", ") + " FROM " + from + g.where(t) +
		g.tail(n)
}

// aggregate is an aggregate over the rows of t.
func (g *generator) aggregate(t fields) string {
	filter := ""
	if g.IntN(4) == 0 {
		filter = " FILTER (WHERE " + g.cond(t, 2) + ")"
	}
	switch g.IntN(7) {
	case 0:
		return "count(*)" + filter
	case 1:
		return "count(" + g.pick("", "DISTINCT ") + g.any(t, 2) + ")" + filter
	case 2:
		return "sum(" + g.pick("", "DISTINCT ") + g.number(t, 2) + ")" + filter
	case 3:
		return "sum(" + g.float(t, 1) + ")" + filter
	case 4:
		return "avg(" + g.pick("", "DISTINCT ") + g.number(t, 1) + ")" + filter
	}
	return g.pick("min", "max") + "(" + g.any(t, 2) + ")" + filter
}

// having is a condition over groups, or several.
func (g *generator) having(t fields) string {
	cond := func() string {
		return g.pick("count(*) > 1", "sum("+t.ints[0]+") > 10", "max("+t.ints[1]+") IS NOT NULL",
			"min("+t.ints[2]+") < 5", "count("+g.pick(t.texts...)+") <> 1")
	}
	if g.IntN(2) == 0 {
		return cond()
	}
	return g.many(cond, func() string {
		return g.pick("count(*) > 0", "count("+t.ints[1]+") >= 0", "coalesce(sum("+t.ints[0]+"), 0) < 1000000000",
			"coalesce(min("+t.ints[2]+"), 0) > -1000000")
	})
}

// derived is a SELECT from a subquery of any kind, with conditions that stay above it.
func (g *generator) derived() string {
	in, l := g.alias(), g.alias()
	from, t := g.from()
	body := "SELECT " + g.number(t, 1) + " AS a, " + g.str(t, 1) + " AS s, row_number() OVER (ORDER BY " +
		strings.Join(t.ints, " NULLS FIRST, ") + " NULLS FIRST, " + strings.Join(t.texts, ", ") + ") AS n FROM " +
		from + g.where(t)
	if g.IntN(2) == 0 {
		body = "SELECT " + g.pick(in+".a", in+".c") + " AS a, max(" + in + ".s) AS s, count(*) AS n FROM " +
			g.pick("t1", "t2") + " AS " + in + " GROUP BY 1"
	}
	out := fields{ints: []string{l + ".a", l + ".n"}, texts: []string{l + ".s"}}
	where := g.many(func() string { return g.cond(out, 1) }, func() string { return g.passing(out) })
	return "SELECT " + l + ".a, " + l + ".s, " + l + ".n FROM (" + body + ") AS " + l + " WHERE " + where + g.tail(3)
}

// grouped is a SELECT with GROUP BY, or over all rows.
func (g *generator) grouped() string {
	from, t := g.from()
	var keys, items []string
	for range g.IntN(3) {
		k := g.any(t, 2)
		if !strings.ContainsAny(k, ".") || strings.Contains(k, "SELECT") { // not a constant
			k = g.pick(t.texts...)
		}
		keys, items = append(keys, k), append(items, k)
	}
	for range 1 + g.IntN(3) {
		items = append(items, g.aggregate(t))
	}
	s := "SELECT " + strings.Join(items, ", ") + " FROM " + from + g.where(t)
	if len(keys) > 0 {
		s += " GROUP BY " + strings.Join(keys, ", ")
		if g.IntN(3) == 0 {
			s += " HAVING " + g.having(t)
		}
	}
	return s + g.tail(len(items))
}

// windowed is a SELECT with window functions over one table. Rows are ordered by id, so that no two are peers.
func (g *generator) windowed() string {
	l := g.alias()
	t := base(l)
	items := []string{l + ".id"}
	for range 1 + g.IntN(3) {
		partition := g.pick("", "PARTITION BY "+l+".k ", "PARTITION BY "+l+".c % 3 ")
		unique := "ORDER BY " + l + ".id " + g.pick("ASC", "DESC")
		peers := "ORDER BY " + l + "." + g.pick("a", "c", "k") + g.pick(" ASC", " DESC") + " NULLS " +
			g.pick("FIRST", "LAST")
		rows := g.pick("", " ROWS BETWEEN "+g.span("PRECEDING", "CURRENT ROW")+" AND "+
			g.span("FOLLOWING", "CURRENT ROW"))
		var f string
		switch g.IntN(6) {
		case 0:
			f = g.pick("rank()", "dense_rank()", "percent_rank()", "cume_dist()") + " OVER (" + partition + peers + ")"
		case 1:
			f = g.pick("row_number()", "ntile(3)", "lag("+l+".a)", "lead("+l+".s, 2)", "lag("+l+".c, 1, -99)") +
				" OVER (" + partition + unique + ")"
		case 2:
			f = g.pick("first_value", "last_value") + "(" + g.number(t, 1) + ") OVER (" + partition + unique + rows +
				")"
		case 3:
			f = "nth_value(" + g.str(t, 1) + ", 2) OVER (" + partition + unique + rows + ")"
		case 4:
			mode := g.pick("GROUPS", "RANGE")
			if mode == "RANGE" { // offsets need a number
				peers = "ORDER BY " + l + "." + g.pick("a", "c", "b") + g.pick(" ASC", " DESC") + " NULLS " +
					g.pick("FIRST", "LAST")
			}
			f = g.aggregate(t) + " OVER (" + partition + peers +
				g.pick("", " "+mode+" BETWEEN "+g.span("PRECEDING", "CURRENT ROW")+" AND "+
					g.span("FOLLOWING", "CURRENT ROW")) + ")"
		default:
			f = g.aggregate(t) + " OVER (" + partition + unique + rows + ")"
		}
		// The other engine has no DISTINCT here, and leaves the FILTER of min and max aside where a frame loses rows.
		f = strings.Replace(f, "(DISTINCT ", "(", 1)
		if strings.Contains(f, "FILTER") && (strings.HasPrefix(f, "min") || strings.HasPrefix(f, "max")) {
			f = "count" + f[3:]
		}
		items = append(items, f)
	}
	return "SELECT " + strings.Join(items, ", ") + " FROM t1 AS " + l + g.where(t) + g.tail(len(items))
}

func (g *generator) span(side, here string) string {
	return g.pick("UNBOUNDED "+side, here, "1 "+side, "2 "+side, "3 "+side)
}

// set is a set operation of queries with the same types.
func (g *generator) set() string {
	one := func() string {
		from, t := g.from()
		return "SELECT " + g.number(t, 2) + " AS x, " + g.str(t, 2) + " AS y FROM " + from + g.where(t)
	}
	s := one()
	for range 1 + g.IntN(2) {
		s = "SELECT * FROM (" + s + ") AS " + g.alias() + " " + g.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT") +
			" " + one()
	}
	return s + g.tail(2)
}

// nested is a query over a query: in FROM or by WITH.
func (g *generator) nested() string {
	from, t := g.from()
	inner := "SELECT " + g.number(t, 2) + " AS x, " + g.str(t, 2) + " AS y, " + g.float(t, 2) + " AS z FROM " + from +
		g.where(t)
	o := g.alias()
	outer := fields{ints: []string{o + ".x"}, texts: []string{o + ".y"}, floats: []string{o + ".z"}}
	list := g.any(outer, 2) + ", " + g.number(outer, 1)
	tail := g.where(outer)
	if g.IntN(2) == 0 {
		list = o + ".y, " + g.aggregate(outer)
		tail += " GROUP BY " + o + ".y"
	}
	if g.IntN(2) == 0 {
		return "WITH " + o + "w AS (" + inner + ") SELECT " + list + " FROM " + o + "w AS " + o + tail + g.tail(2)
	}
	return "SELECT " + list + " FROM (" + inner + ") AS " + o + tail + g.tail(2)
}

// scalar is a query with subqueries in its select list.
func (g *generator) scalar() string {
	l, r := g.alias(), g.alias()
	sub := "(SELECT " + g.aggregate(base(r)) + " FROM t2 AS " + r + " WHERE " + r + "." +
		g.pick("k = "+l+".k", "a < "+l+".c", "c = "+l+".c") + ")"
	if strings.Contains(sub, "FILTER") {
		sub = "(SELECT count(*) FROM t2 AS " + r + " WHERE " + r + ".k = " + l + ".k)"
	}
	return "SELECT " + l + ".id, " + sub + " FROM t1 AS " + l + g.where(base(l)) + g.tail(2)
}

// query is any of the above.
func (g *generator) query() string {
	switch g.IntN(9) {
	case 0, 1:
		return g.plain()
	case 2, 3:
		return g.grouped()
	case 4:
		return g.windowed()
	case 5:
		return g.set()
	case 6:
		return g.nested()
	case 7:
		return g.derived()
	}
	return g.scalar()
}

// rows are the rows of a test table as VALUES: id, a, c, b, s, k.
func (g *generator) rows(n int) [][]string {
	null := func(x string) string {
		if g.IntN(5) == 0 {
			return "NULL"
		}
		return x
	}
	var out [][]string
	for i := range n {
		out = append(out, []string{fmt.Sprint(i), null(fmt.Sprint(g.IntN(20) - 5)), fmt.Sprint(g.IntN(8)),
			null(fmt.Sprintf("%.2f", float64(g.IntN(200)-100)/4)),
			null(g.text()), g.text()})
	}
	return out
}
