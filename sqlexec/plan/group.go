package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// isAggregate reports whether x is an aggregate call over the rows of its query that is not a window function.
func isAggregate(x parse.Expr) bool {
	c, ok := x.(*parse.Call)
	return ok && c.Over == nil && !c.Outer && expr.IsAggregate(c.Name)
}

// hasAggregate reports whether an aggregate lies in x.
func hasAggregate(x parse.Expr) bool {
	found := false
	parse.Walk(x, func(y parse.Expr) bool {
		found = found || isAggregate(y)
		return !found
	})
	return found
}

// grouped reports whether the SELECT aggregates.
func (sel *selection) grouped(q *parse.Query) bool {
	if sel.s.GroupBy != nil || sel.s.Having != nil {
		return true
	}
	for _, it := range sel.items {
		if hasAggregate(it.x) {
			return true
		}
	}
	for _, o := range q.OrderBy {
		if hasAggregate(o.X) {
			return true
		}
	}
	return false
}

// grouping is an Aggregate while it is bound.
type grouping struct {
	sel   *selection
	input *exprBinder // over the rows that are aggregated
	keys  []expr.Expr
	aggs  []*expr.Agg
	texts []string // aggs[i] as written, to find it again
	marks []mark   // grouping() calls; columns after the aggregates
	cols  []Column // of the keys
	inner []Column
}

// mark is a call of grouping(): for each row the keys that its grouping set leaves out, as bits, the first key the
// highest.
type mark struct {
	text string
	keys []int
}

// group binds GROUP BY, the aggregates of all clauses and HAVING. Afterwards items are bound over the aggregate.
func (sel *selection) group(q *parse.Query) error {
	clauses := sel.clauses(q)
	if sel.s.Having != nil {
		clauses = append(clauses, sel.s.Having)
	}
	named, err := sel.outerCalls(clauses)
	if err != nil || len(named) == 0 && !sel.grouped(q) {
		return err
	}
	sets, err := sel.groupingSets()
	if err != nil {
		return err
	}
	var inside []parse.Expr
	for _, x := range sets.all {
		it, err := sel.meant(x)
		if err != nil {
			return err
		}
		if it != nil {
			x = it.x
		}
		inside = append(inside, x)
	}
	for _, c := range named {
		inside = append(inside, parse.Children(c)...)
	}
	for _, x := range clauses {
		parse.Walk(x, func(y parse.Expr) bool {
			if isAggregate(y) {
				inside = append(inside, parse.Children(y)...)
			}
			return !isAggregate(y)
		})
	}
	if err := sel.lift(inside); err != nil {
		return err
	}
	g := &grouping{sel: sel, input: &exprBinder{b: sel.b, sc: sel.sc, special: sel.eb.special, where: "GROUP BY"},
		inner: sel.node.Columns()}
	for _, x := range sets.all {
		if err := g.addKey(x); err != nil {
			return err
		}
	}
	if err := g.collect(q); err != nil {
		return err
	}
	for _, c := range named {
		if _, err := g.aggregate(c); err != nil {
			return err
		}
	}
	sel.eb = &exprBinder{b: sel.b, sc: g.scope(), special: g.special, where: "this clause"}
	if sel.node, err = sets.node(g, sel.node); err != nil {
		return err
	}
	return sel.having()
}

// meant is the item that an element of GROUP BY names by its position, its alias or the text of its subquery. nil: the
// element is an expression.
func (sel *selection) meant(x parse.Expr) (*item, error) {
	if it, ok, err := sel.position(x, "GROUP BY"); ok || err != nil {
		return it, err
	}
	if c, ok := x.(*parse.Column); ok {
		if len(sel.sc.find(c.Parts)) == 0 {
			return sel.aliasOf(x), nil
		}
		return nil, nil
	}
	if len(correlatedIn(x)) > 0 {
		text := parse.PrintExpr(x)
		for i := range sel.items {
			if parse.PrintExpr(sel.items[i].x) == text {
				return &sel.items[i], nil
			}
		}
	}
	return nil, nil
}

// addKey binds an element of GROUP BY.
func (g *grouping) addKey(x parse.Expr) error {
	sel := g.sel
	it, err := sel.meant(x)
	if err != nil {
		return err
	}
	name := ""
	if it != nil {
		x, name = it.x, it.name
	} else {
		name = outputName(x, sel.sc)
	}
	if hasAggregate(x) {
		return planError("aggregate functions are not possible in GROUP BY: %s", parse.PrintExpr(x))
	}
	e, err := aliased(g.input, sel.sc, sel.items).bind(x)
	if err != nil {
		return err
	}
	for _, k := range g.keys {
		if equal(k, e) {
			return nil
		}
	}
	col := Column{Name: name, Type: e.Type(), Nullable: e.Nullable()}
	if c, ok := e.(*expr.Column); ok {
		col = g.inner[c.Index]
	}
	g.keys, g.cols = append(g.keys, e), append(g.cols, col)
	return nil
}

// collect binds every aggregate of the items, HAVING, ORDER BY and DISTINCT ON, each once.
func (g *grouping) collect(q *parse.Query) error {
	var err error
	add := func(x parse.Expr) {
		parse.Walk(x, func(y parse.Expr) bool {
			switch {
			case err != nil:
				return false
			case isAggregate(y):
				_, err = g.aggregate(y.(*parse.Call))
			case isGrouping(y):
				_, err = g.mark(y.(*parse.Call))
			default:
				return true
			}
			return false
		})
	}
	for _, it := range g.sel.items {
		add(it.x)
	}
	if g.sel.s.Having != nil {
		add(g.sel.s.Having)
	}
	for _, o := range q.OrderBy {
		add(o.X)
	}
	for _, x := range g.sel.s.DistinctOn {
		add(x)
	}
	if g.sel.s.Qualify != nil {
		add(g.sel.s.Qualify)
	}
	return err
}

func isGrouping(x parse.Expr) bool {
	c, ok := x.(*parse.Call)
	return ok && (roleOf[c.Name] == groupMark || roleOf[c.Name] == groupMarks) && c.Over == nil
}

// mark returns the number of a grouping() call.
func (g *grouping) mark(c *parse.Call) (int, error) {
	text := parse.PrintExpr(c)
	for i, m := range g.marks {
		if m.text == text {
			return i, nil
		}
	}
	m := mark{text: text}
	switch n := len(c.Args); {
	case n == 0 && roleOf[c.Name] == groupMarks && len(g.keys) <= 31: // of all keys
		for i := range g.keys {
			m.keys = append(m.keys, i)
		}
	case n == 0 || n > 31:
		return 0, parse.PlaceError(planError("function '%s' takes 1 to 31 arguments, found %d", c.Name, n),
			c.Position())
	}
	for _, x := range c.Args {
		e, err := g.input.bind(x)
		if err != nil {
			return 0, err
		}
		at := slices.IndexFunc(g.keys, func(k expr.Expr) bool { return equal(k, e) })
		if at < 0 {
			return 0, parse.PlaceError(planError("grouping: %s is not in GROUP BY", parse.PrintExpr(x)), x.Position())
		}
		m.keys = append(m.keys, at)
	}
	g.marks = append(g.marks, m)
	return len(g.marks) - 1, nil
}

// aggregate returns the number of the bound aggregate of a call.
func (g *grouping) aggregate(c *parse.Call) (int, error) {
	text := parse.PrintExpr(c)
	for i, t := range g.texts {
		if t == text {
			return i, nil
		}
	}
	a, err := g.sel.b.aggregate(c, g.input)
	if err != nil {
		return 0, err
	}
	g.aggs, g.texts = append(g.aggs, a), append(g.texts, text)
	return len(g.aggs) - 1, nil
}

// aggregate binds an aggregate call over the rows that in describes.
func (b *binder) aggregate(c *parse.Call, in *exprBinder) (*expr.Agg, error) {
	for _, x := range parse.Children(c) {
		if hasAggregate(x) {
			return nil, planError("aggregate functions cannot be nested: %s", parse.PrintExpr(c))
		}
	}
	eb := *in
	eb.where = "an aggregate"
	args, err := eb.aggregated(c)
	if err != nil {
		return nil, err
	}
	var order []expr.SortKey
	for _, o := range c.OrderBy {
		e, err := eb.bind(o.X)
		if err != nil {
			return nil, err
		}
		order = append(order, expr.SortKey{Expr: e, Desc: o.Desc, NullsFirst: o.NullsFirst()})
	}
	of := expr.PropertiesOf(c.Name)
	if c.Within && len(order) == 1 { // percentile(p) WITHIN GROUP (ORDER BY x) is percentile(x, p)
		args = append([]expr.Expr{order[0].Expr}, args...)
		if !of.Ordered && order[0].Desc && len(args) > 1 {
			if args[1], err = b.ctx.Call("-", &expr.Const{Value: constFloat(1)}, args[1]); err != nil {
				return nil, err
			}
		}
	}
	if c.Within != of.Ordered {
		order = nil
	}
	if len(order) == 0 && of.ByTime {
		for i := range in.sc.cols { // by time unless said otherwise
			if in.sc.cols[i].Time {
				order = append(order, expr.SortKey{Expr: in.sc.column(i)})
				break
			}
		}
	}
	var cond expr.Expr
	if c.Filter != nil {
		if cond, err = eb.bind(c.Filter); err != nil {
			return nil, err
		}
		if cond, err = b.boolean(cond, "FILTER"); err != nil {
			return nil, err
		}
	}
	if c.Star && !of.Counts {
		return nil, planError("%s(*) is not possible", c.Name)
	}
	a, err := b.ctx.Aggregate(c.Name, args, c.Distinct, order, cond)
	return a, parse.PlaceError(err, c.Position())
}

// output are the columns of the aggregate: keys, aggregates, marks.
func (g *grouping) output() []Column {
	cols := append([]Column(nil), g.cols...)
	for i, a := range g.aggs {
		cols = append(cols, Column{Name: g.texts[i], Type: a.Type(), Nullable: true})
	}
	for _, m := range g.marks {
		cols = append(cols, Column{Name: m.text, Type: vector.Int32Type})
	}
	return cols
}

// scope is what clauses over the aggregate and their subqueries refer to.
func (g *grouping) scope() *scope {
	sc := &scope{cols: g.output(), outer: g.sel.sc.outer, rows: g.sel.sc}
	sc.aggregate = func(o *outer, c *parse.Call) (expr.Expr, error) {
		i, err := g.aggregate(c)
		if at := len(g.keys) + i; err != nil || at < len(sc.cols) {
			return o.value(at), err
		}
		return nil, planError("%s is not possible in this clause", parse.PrintExpr(c))
	}
	return sc
}

// special finds what became a column of the aggregate: aggregates and group keys. Other columns are an error.
func (g *grouping) special(x parse.Expr) (expr.Expr, bool, error) {
	out := g.sel.eb.sc
	if isAggregate(x) {
		i, err := g.aggregate(x.(*parse.Call))
		if err != nil {
			return nil, false, err
		}
		return out.column(len(g.keys) + i), true, nil
	}
	if isGrouping(x) {
		i, err := g.mark(x.(*parse.Call))
		if err != nil {
			return nil, false, err
		}
		return out.column(len(g.keys) + len(g.aggs) + i), true, nil
	}
	switch x := x.(type) {
	case *parse.Literal, *parse.Interval:
		return nil, false, nil
	case *parse.Subquery, *parse.Exists: // unless it became a column for a key
		if g.input.special == nil {
			return nil, false, nil
		}
		if _, ok, err := g.input.special(x); !ok {
			return nil, false, err
		}
	case *parse.Call:
		if x.Over != nil {
			return nil, false, nil
		}
	}
	if hasAggregate(x) || hasWindow(x) {
		return nil, false, nil
	}
	e, err := g.input.bind(x)
	if err != nil {
		if _, ok := x.(*parse.Column); ok {
			return nil, false, err
		}
		return nil, false, nil
	}
	for i, k := range g.keys {
		if equal(k, e) {
			return out.column(i), true, nil
		}
	}
	switch e := e.(type) {
	case *expr.Const: // an outer query's column, or a constant expression
		return e, true, nil
	case *expr.Column:
		return nil, false, planError("Column in SELECT must be in GROUP BY or an aggregate function: %s",
			g.inner[e.Index].label())
	}
	return nil, false, nil
}

// having puts HAVING over the aggregate.
func (sel *selection) having() error {
	if sel.s.Having == nil {
		return nil
	}
	if err := sel.lift([]parse.Expr{sel.s.Having}); err != nil {
		return err
	}
	cond, err := sel.bindAliased(sel.s.Having)
	if err != nil {
		return err
	}
	if cond, err = sel.b.boolean(cond, "HAVING"); err != nil {
		return err
	}
	sel.node = &Filter{Input: sel.node, Conds: splitAnd(cond, nil)}
	return nil
}

// groupingSets are the sets of keys to aggregate by: one for a plain GROUP BY.
type groupingSets struct {
	all  []parse.Expr   // every key once
	sets [][]parse.Expr // nil: one set of all
}

// Bounds of the sets of a GROUP BY.
const (
	maxGroupingSets = 1024
	maxCube         = 10
)

// groupingSets multiplies the elements of GROUP BY out.
func (sel *selection) groupingSets() (groupingSets, error) {
	var gs groupingSets
	sets := [][]parse.Expr{nil}
	plain := true
	for _, item := range sel.s.GroupBy {
		element, err := setsOf(item)
		if err != nil {
			return gs, err
		}
		plain = plain && item.Kind == ""
		if len(sets)*len(element) > maxGroupingSets {
			return gs, tooManySets()
		}
		var product [][]parse.Expr
		for _, a := range sets {
			for _, b := range element {
				product = append(product, concatLists([][]parse.Expr{a, b}))
			}
		}
		sets = product
	}
	for _, set := range sets {
		gs.all = append(gs.all, set...)
	}
	if !plain {
		gs.sets = sets
	}
	return gs, nil
}

// setsOf are the sets of one element of GROUP BY.
func setsOf(item parse.GroupItem) (sets [][]parse.Expr, err error) {
	switch item.Kind {
	case "grouping sets":
		for k, set := range item.Sets {
			nested := [][]parse.Expr{set}
			if n := item.Nested[k]; n != nil {
				if nested, err = setsOf(*n); err != nil {
					return nil, err
				}
			}
			if sets = append(sets, nested...); len(sets) > maxGroupingSets {
				return nil, tooManySets()
			}
		}
	case "rollup":
		for n := len(item.Sets); n >= 0; n-- {
			sets = append(sets, concatLists(item.Sets[:n]))
		}
	case "cube":
		if len(item.Sets) > maxCube {
			return nil, planError("CUBE of %d expressions is too large, at most %d", len(item.Sets), maxCube)
		}
		for mask := 1<<len(item.Sets) - 1; mask >= 0; mask-- {
			var set []parse.Expr
			for i, s := range item.Sets {
				if mask>>i&1 != 0 {
					set = append(set, s...)
				}
			}
			sets = append(sets, set)
		}
	default:
		if t, ok := item.X.(*parse.Tuple); ok {
			return [][]parse.Expr{t.Items}, nil
		}
		return [][]parse.Expr{{item.X}}, nil
	}
	return sets, nil
}

func tooManySets() error {
	return planError("GROUP BY makes more than %d grouping sets", maxGroupingSets)
}

func concatLists(lists [][]parse.Expr) []parse.Expr {
	var out []parse.Expr
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// node makes the Aggregate; several sets are a Union of one each, with NULL for the keys that a set leaves out.
func (gs groupingSets) node(g *grouping, in Node) (Node, error) {
	cols := g.output()
	if gs.sets == nil && len(g.marks) == 0 {
		return &Aggregate{Input: in, Keys: g.keys, Aggs: g.aggs, Cols: cols}, nil
	}
	for i := range g.keys {
		cols[i].Nullable = true
	}
	u := &Union{Cols: cols}
	sets := gs.sets
	if sets == nil {
		sets = [][]parse.Expr{gs.all}
	}
	for _, set := range sets {
		in, err := gs.one(g, in, set, cols)
		if err != nil {
			return nil, err
		}
		u.Inputs = append(u.Inputs, in)
	}
	return u, nil
}

func (gs groupingSets) one(g *grouping, in Node, set []parse.Expr, cols []Column) (Node, error) {
	part := &grouping{sel: g.sel, input: g.input, inner: g.inner}
	for _, x := range set {
		if err := part.addKey(x); err != nil {
			return nil, err
		}
	}
	a := &Aggregate{Input: in, Keys: part.keys, Aggs: g.aggs,
		Cols: append(append([]Column(nil), part.cols...), cols[len(g.keys):len(g.keys)+len(g.aggs)]...)}
	p := &Project{Input: a, Cols: cols}
	for i, k := range g.keys {
		var e expr.Expr = nullOf(cols[i].Type)
		for j, have := range part.keys {
			if equal(have, k) {
				e = &expr.Column{Index: j, Name: cols[i].Name, T: cols[i].Type, Null: true}
			}
		}
		p.Exprs = append(p.Exprs, e)
	}
	for i := range g.aggs {
		c := cols[len(g.keys)+i]
		p.Exprs = append(p.Exprs, &expr.Column{Index: len(part.keys) + i, Name: c.Name, T: c.Type, Null: true})
	}
	for _, m := range g.marks {
		bits := int64(0)
		for _, k := range m.keys {
			bits <<= 1
			if !slices.ContainsFunc(part.keys, func(have expr.Expr) bool { return equal(have, g.keys[k]) }) {
				bits |= 1
			}
		}
		p.Exprs = append(p.Exprs, &expr.Const{Value: vector.ConstInt(vector.Int32Type, bits)})
	}
	return p, nil
}
