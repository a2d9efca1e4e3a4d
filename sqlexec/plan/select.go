package plan

import (
	"slices"

	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// item is one output column of a SELECT: its syntax and its name.
type item struct {
	x     parse.Expr
	name  string
	alias bool // the name was given, so other clauses may use it
}

// selectBlock binds a SELECT with the ORDER BY, LIMIT and OFFSET that belong to it.
func (b *binder) selectBlock(s *parse.Select, q *parse.Query, out *outer) (Node, error) {
	in, sc, err := b.from(s.From, out)
	if err != nil {
		return nil, err
	}
	markOuter(s, q, sc)
	items, err := b.items(s, sc)
	if err != nil {
		return nil, err
	}
	if s.Where != nil {
		if in, err = b.where(in, sc, s.Where, items); err != nil {
			return nil, err
		}
	}
	if err := b.countNode(len(items)); err != nil {
		return nil, err
	}
	s, q = groupByAll(s, items), orderByAll(q, len(items))
	if s.Align != nil || hasRange(items) {
		return b.rangeSelect(s, q, in, sc, items)
	}
	sel := &selection{b: b, sc: sc, items: items, s: s, node: in}
	sel.eb = &exprBinder{b: b, sc: sc, where: "this clause"}
	if err := sel.group(q); err != nil {
		return nil, err
	}
	if err := sel.lift(sel.clauses(q)); err != nil {
		return nil, err
	}
	if err := sel.windows(q); err != nil {
		return nil, err
	}
	if err := sel.unnest(); err != nil {
		return nil, err
	}
	return sel.finish(q)
}

// selection is a SELECT while it is bound: node is what its items are computed from, eb binds over node's columns.
type selection struct {
	b     *binder
	s     *parse.Select
	sc    *scope // of FROM: what names mean
	items []item
	node  Node
	eb    *exprBinder
}

// clauses are the expressions of the select list, ORDER BY and QUALIFY.
func (sel *selection) clauses(q *parse.Query) []parse.Expr {
	var list []parse.Expr
	for _, it := range sel.items {
		list = append(list, it.x)
	}
	for _, o := range q.OrderBy {
		list = append(list, o.X)
	}
	if sel.s.Qualify != nil {
		list = append(list, sel.s.Qualify)
	}
	return list
}

// where puts a condition over a node; it may use the aliases of items.
func (b *binder) where(in Node, sc *scope, x parse.Expr, items []item) (Node, error) {
	x, err := b.columnConditions(x, sc)
	if err != nil {
		return nil, err
	}
	in, sc, x, err = b.semiJoins(in, sc, x)
	if err != nil || x == nil {
		return in, err
	}
	eb := aliased(&exprBinder{b: b, sc: sc, where: "WHERE"}, sc, items)
	cond, err := eb.bind(x)
	if err != nil {
		return nil, err
	}
	if cond, err = b.boolean(cond, "WHERE"); err != nil {
		return nil, err
	}
	return &Filter{Input: in, Conds: splitAnd(cond, nil)}, nil
}

// items expands stars and names the columns.
func (b *binder) items(s *parse.Select, sc *scope) ([]item, error) {
	var items []item
	for i := range s.Items {
		it := &s.Items[i]
		if it.Star == nil {
			cols, err := b.columnItems(it, sc)
			if err != nil {
				return nil, err
			}
			if cols != nil {
				if items = append(items, cols...); len(items) > parse.MaxColumns {
					return nil, planError("a SELECT has at most %d columns", parse.MaxColumns)
				}
				continue
			}
			n := item{x: it.X}
			if it.Alias != nil {
				n.name, n.alias = it.Alias.Name, true
			} else {
				n.name = outputName(it.X, sc)
			}
			items = append(items, n)
			continue
		}
		star, err := expandStar(it.Star, sc)
		if err != nil {
			return nil, err
		}
		if items = append(items, star...); len(items) > parse.MaxColumns {
			return nil, planError("a SELECT has at most %d columns", parse.MaxColumns)
		}
	}
	return items, nil
}

func expandStar(star *parse.Star, sc *scope) ([]item, error) {
	var items []item
	exclude := map[string]bool{}
	for _, id := range star.Exclude {
		if len(sc.find(parse.Name{id})) == 0 {
			return nil, sc.noField(parse.Name{id})
		}
		exclude[id.Name] = true
	}
	replace := map[string]parse.Expr{}
	for _, r := range star.Replace {
		if len(sc.find(parse.Name{*r.Alias})) == 0 {
			return nil, sc.noField(parse.Name{*r.Alias})
		}
		replace[r.Alias.Name] = r.X
	}
	rename := map[string]string{}
	for _, r := range star.Rename {
		c := r.X.(*parse.Column)
		if len(sc.find(c.Parts)) == 0 {
			return nil, sc.noField(c.Parts)
		}
		rename[c.Parts[len(c.Parts)-1].Name] = r.Alias.Name
	}
	found := false
	for i := range sc.cols {
		c := &sc.cols[i]
		if !c.qualifies(star.Table) || c.Shadow && len(star.Table) == 0 || c.Hidden {
			continue
		}
		found = true
		if exclude[c.Name] {
			continue
		}
		it := item{x: &parse.Slot{Index: i, Name: c.Name}, name: c.Name}
		if x := replace[c.Name]; x != nil {
			it.x = x
		}
		if to := rename[c.Name]; to != "" {
			it.name, it.alias = to, true
		}
		items = append(items, it)
	}
	if !found {
		if len(star.Table) > 0 {
			return nil, planError("Invalid qualifier %s", star.Table)
		}
		return nil, planError("SELECT * with no tables specified is not valid")
	}
	return items, nil
}

// aliasOf finds the item with an alias; nil if there is none.
func (sel *selection) aliasOf(x parse.Expr) *item {
	c, ok := x.(*parse.Column)
	if !ok || len(c.Parts) != 1 {
		return nil
	}
	for i := range sel.items {
		if sel.items[i].alias && sel.items[i].name == c.Parts[0].Name {
			return &sel.items[i]
		}
	}
	return nil
}

// position reads a literal as the number of an item; ok false when x is no integer literal.
func (sel *selection) position(x parse.Expr, clause string) (*item, bool, error) {
	lit, ok := x.(*parse.Literal)
	if !ok || lit.Kind != parse.NumberLiteral {
		return nil, false, nil
	}
	e, err := literal(lit)
	if err != nil || e.Type() != vector.Int64Type {
		return nil, false, err
	}
	n := e.(*expr.Const).Value.Int(0)
	if n < 0 { // a constant like any other
		return nil, false, nil
	}
	if n < 1 || n > int64(len(sel.items)) {
		return nil, true, parse.PlaceError(planError("%s position %d is not in the select list of %d columns", clause,
			n, len(sel.items)), lit.Position())
	}
	return &sel.items[n-1], true, nil
}

// finish binds what follows HAVING: the items, DISTINCT, ORDER BY and the limits.
func (sel *selection) finish(q *parse.Query) (Node, error) {
	b := sel.b
	p := &Project{Input: sel.node}
	input := sel.node.Columns()
	for i, it := range sel.items {
		e, err := aliased(sel.eb, sel.sc, sel.items[:i]).bind(it.x)
		if err != nil {
			return nil, err
		}
		col := Column{Name: it.name, Type: e.Type(), Nullable: e.Nullable()}
		if c, ok := e.(*expr.Column); ok {
			from := input[c.Index]
			col.Time, col.Tag = from.Time, from.Tag
			if !it.alias {
				col.DB, col.Table = from.DB, from.Table
			}
		}
		p.Exprs, p.Cols = append(p.Exprs, e), append(p.Cols, col)
	}
	shown := len(p.Exprs)
	keys, err := sel.sortKeys(q, p)
	if err != nil {
		return nil, err
	}
	limit, offset, err := b.limits(q)
	if err != nil {
		return nil, err
	}
	var node Node = p
	switch {
	case len(sel.s.DistinctOn) > 0:
		return sel.distinctOn(p, keys, shown, limit, offset)
	case sel.s.Distinct:
		if len(p.Exprs) > shown {
			return nil, parse.PlaceError(planError(
				"For SELECT DISTINCT, ORDER BY expressions must appear in select list"), q.OrderBy[0].X.Position())
		}
		node = &Distinct{Input: node}
	}
	node = sortLimit(node, keys, limit, offset)
	return cut(node, shown), nil
}

// sortLimit puts ORDER BY and the limits over a node.
func sortLimit(n Node, keys []expr.SortKey, limit, offset int64) Node {
	switch {
	case limit == 0: // what gives nothing need not be read
		return &Values{Cols: n.Columns(), Batch: vector.NewBatch(types(n.Columns())...)}
	case len(keys) > 0:
		return &Sort{Input: n, Keys: keys, Limit: limit, Offset: offset}
	case limit >= 0 || offset > 0:
		return &Limit{Input: n, Limit: limit, Offset: offset}
	}
	return n
}

// cut drops the columns after the first n: those that only ORDER BY needed.
func cut(node Node, n int) Node {
	cols := node.Columns()
	if len(cols) == n {
		return node
	}
	p := &Project{Input: node}
	for i := range n {
		c := cols[i]
		p.Exprs = append(p.Exprs, &expr.Column{Index: i, Name: c.Name, T: c.Type, Null: c.Nullable})
		p.Cols = append(p.Cols, c)
	}
	return p
}

// sortKeys binds ORDER BY over the projection; expressions that are not selected become further columns of it.
func (sel *selection) sortKeys(q *parse.Query, p *Project) ([]expr.SortKey, error) {
	var keys []expr.SortKey
	for _, o := range q.OrderBy {
		at, err := sel.sortColumn(o.X, p)
		if err != nil {
			return nil, err
		}
		if at < 0 { // a constant orders nothing
			continue
		}
		keys = append(keys, sortKey(p.Cols, at, o))
	}
	return keys, nil
}

func sortKey(cols []Column, at int, o parse.OrderItem) expr.SortKey {
	c := cols[at]
	return expr.SortKey{
		Expr: &expr.Column{Index: at, Name: c.Name, T: c.Type, Null: c.Nullable},
		Desc: o.Desc, NullsFirst: o.NullsFirst(),
	}
}

// sortColumn returns the column of p that an ORDER BY expression means; -1 for a constant.
func (sel *selection) sortColumn(x parse.Expr, p *Project) (int, error) {
	it, ok, err := sel.position(x, "ORDER BY")
	if err != nil {
		return -1, err
	}
	if !ok {
		it = sel.aliasOf(x)
	}
	if it != nil {
		for i := range sel.items {
			if &sel.items[i] == it {
				return i, nil
			}
		}
	}
	e, err := sel.bindAliased(x)
	if err != nil {
		return -1, err
	}
	if _, ok := e.(*expr.Const); ok {
		return -1, nil
	}
	for i, have := range p.Exprs {
		if equal(have, e) {
			return i, nil
		}
	}
	p.Exprs = append(p.Exprs, e)
	p.Cols = append(p.Cols, Column{Name: outputName(x, sel.sc), Type: e.Type(), Nullable: e.Nullable()})
	return len(p.Exprs) - 1, nil
}

// bindAliased binds an expression that may contain aliases of items. Columns take precedence over aliases.
func (sel *selection) bindAliased(x parse.Expr) (expr.Expr, error) {
	inner := sel.eb.special
	eb := *sel.eb
	eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
		if inner != nil {
			if e, ok, err := inner(x); ok && err == nil {
				return e, ok, nil
			} else if err != nil && sel.aliasOf(x) == nil {
				return nil, false, err
			}
		}
		c, isColumn := x.(*parse.Column)
		if it := sel.aliasOf(x); it != nil && isColumn && (inner != nil || len(sel.sc.find(c.Parts)) == 0) {
			e, err := sel.eb.bind(it.x)
			return e, true, err
		}
		return nil, false, nil
	}
	return eb.bind(x)
}

// distinctOn keeps the first row per key in ORDER BY order, which must begin with the keys.
func (sel *selection) distinctOn(p *Project, keys []expr.SortKey, shown int, limit, offset int64) (Node, error) {
	var on []int
	for _, x := range sel.s.DistinctOn {
		at, err := sel.sortColumn(x, p)
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			on = append(on, at)
		}
	}
	seen := map[int]bool{}
	for _, k := range keys {
		at := k.Expr.(*expr.Column).Index
		if len(seen) == len(unique(on)) {
			break
		}
		if !slices.Contains(on, at) {
			return nil,
				parse.PlaceError(planError("SELECT DISTINCT ON expressions must match initial ORDER BY expressions"),
					sel.s.DistinctOn[0].Position())
		}
		seen[at] = true
	}
	for _, at := range on { // keys that ORDER BY does not name: rows of a key must lie together
		if !seen[at] {
			keys = append(keys, sortKey(p.Cols, at, parse.OrderItem{}))
			seen[at] = true
		}
	}
	var cols []expr.Expr
	for _, at := range unique(on) {
		c := p.Cols[at]
		cols = append(cols, &expr.Column{Index: at, Name: c.Name, T: c.Type, Null: c.Nullable})
	}
	var node Node = &Sort{Input: p, Keys: keys, Limit: -1}
	node = &DistinctOn{Input: node, Keys: cols}
	return cut(sortLimit(node, nil, limit, offset), shown), nil
}

func unique(list []int) []int {
	var out []int
	seen := map[int]bool{}
	for _, n := range list {
		if !seen[n] {
			out = append(out, n)
		}
		seen[n] = true
	}
	return out
}
