package plan

import (
	"strings"

	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/expr"
	"varve/sqlexec/parse"
)

// COLUMNS(..) in an item makes an item of each of its columns, and in WHERE a condition of each; all must hold.

// columnsOf finds the COLUMNS in an expression and returns its columns; nil if there is none. Several COLUMNS must be
// equal.
func (b *binder) columnsOf(x parse.Expr, sc *scope) (*parse.Columns, []item, error) {
	var found *parse.Columns
	var err error
	parse.Walk(x, func(y parse.Expr) bool {
		c, ok := y.(*parse.Columns)
		switch {
		case !ok:
		case found == nil:
			found = c
		case parse.PrintExpr(found) != parse.PrintExpr(c):
			err = parse.PlaceError(planError("two different COLUMNS stand in one expression"), c.Position())
		}
		return !ok
	})
	if found == nil || err != nil {
		return nil, nil, err
	}
	all, err := expandStar(found.Star, sc)
	if err != nil {
		return nil, nil, parse.PlaceError(err, found.Position())
	}
	chosen, err := b.chosen(found, all)
	if err == nil {
		err = b.countCopies(x, len(chosen))
	}
	if err == nil && len(chosen) == 0 {
		err = planError("%s stands for no column", parse.PrintExpr(found))
	}
	return found, chosen, parse.PlaceError(err, found.Position())
}

// countCopies counts the expressions of so many copies of x, before they are made.
func (b *binder) countCopies(x parse.Expr, copies int) error {
	size := 0
	parse.Walk(x, func(parse.Expr) bool {
		size++
		return true
	})
	if b.exprs += size * copies; b.exprs > maxBound {
		return parse.PlaceError(planError(
			"the query has more than %d expressions, with those that are made for each column", maxBound), x.Position())
	}
	return nil
}

// chosen are the columns that COLUMNS names.
func (b *binder) chosen(c *parse.Columns, all []item) ([]item, error) {
	if list, ok := c.Match.(*parse.Array); ok {
		return namedColumns(list, all)
	}
	if c.Match == nil {
		return all, nil
	}
	var chosen []item
	for _, it := range all {
		ok, err := b.names(c.Match, it.name)
		if err != nil {
			return nil, err
		}
		if ok {
			chosen = append(chosen, it)
		}
	}
	return chosen, nil
}

func namedColumns(list *parse.Array, all []item) ([]item, error) {
	var chosen []item
	for _, x := range list.Items {
		name, found := x.(*parse.Literal).Text, false
		for _, it := range all {
			if it.name == name {
				chosen, found = append(chosen, it), true
			}
		}
		if !found {
			err := status.Because(planError("No field named %s.", quoteMixed(name)), status.NoColumn)
			return nil, parse.PlaceError(err, x.Position())
		}
	}
	return chosen, nil
}

// names reports whether a regular expression matches a name, or a lambda is true for it.
func (b *binder) names(match parse.Expr, name string) (bool, error) {
	eb := &exprBinder{b: b, sc: &scope{}, where: "COLUMNS"}
	var e expr.Expr
	var err error
	if l, ok := match.(*parse.Lambda); ok {
		eb.special = func(x parse.Expr) (expr.Expr, bool, error) {
			c, ok := x.(*parse.Column)
			return expr.Text(name), ok && len(c.Parts) == 1 && c.Parts[0].Name == l.Params[0].Name, nil
		}
		e, err = eb.bind(l.Body)
	} else {
		e, err = b.ctx.Call("regexp_like", expr.Text(name), expr.Text(match.(*parse.Literal).Text))
	}
	if err == nil {
		e, err = b.boolean(e, "COLUMNS")
	}
	if err != nil {
		return false, err
	}
	k, ok := e.(*expr.Const)
	if !ok {
		return false, planError("the lambda of COLUMNS must depend on the name alone")
	}
	return !k.Value.IsNull(0) && k.Value.Bool(0), nil
}

// perColumn is an expression for each column of the COLUMNS in it.
func perColumn(x parse.Expr, cols []item, sc *scope) []parse.Expr {
	out := make([]parse.Expr, len(cols))
	for i, it := range cols {
		out[i] = parse.Replace(x, func(y parse.Expr) parse.Expr {
			if _, ok := y.(*parse.Columns); ok {
				return sc.written(it.x, y.Position())
			}
			return nil
		})
	}
	return out
}

// written is a column as its name, where that means no other.
func (s *scope) written(x parse.Expr, at parse.Pos) parse.Expr {
	slot, ok := x.(*parse.Slot)
	if !ok {
		return x
	}
	c := &s.cols[slot.Index]
	name := parse.Name{{Name: c.Name, Quote: '"', At: at}}
	if c.Table != "" {
		name = parse.Name{{Name: c.Table, Quote: '"', At: at}, name[0]}
	}
	if i, err := s.resolve(name); err != nil || i != slot.Index {
		return x
	}
	for i := range name { // without quotes if it then reads back as the same name
		if parse.QuoteIdent(name[i].Name) == name[i].Name {
			name[i].Quote = 0
		}
	}
	return &parse.Column{Node: parse.Node{At: at}, Parts: name}
}

// columnItems are the items that an item with COLUMNS makes; nil: it has none. An alias may take groups of the regular
// expression that has found the column: '\1_total'.
func (b *binder) columnItems(it *parse.SelectItem, sc *scope) ([]item, error) {
	c, cols, err := b.columnsOf(it.X, sc)
	if c == nil || err != nil {
		return nil, err
	}
	items := make([]item, len(cols))
	for i, x := range perColumn(it.X, cols, sc) {
		items[i] = item{x: x, name: outputName(x, sc)}
		if it.X == parse.Expr(c) {
			items[i] = cols[i]
		}
		if it.Alias != nil {
			items[i].alias = true
			if items[i].name, err = b.columnAlias(it.Alias.Name, c.Match, cols[i].name); err != nil {
				return nil, parse.PlaceError(err, it.Alias.At)
			}
		}
	}
	return items, nil
}

// columnAlias puts groups of the match of a name in for \0 to \9 in an alias.
func (b *binder) columnAlias(alias string, match parse.Expr, name string) (string, error) {
	re, ok := match.(*parse.Literal)
	if !ok || !strings.Contains(alias, `\`) {
		return alias, nil
	}
	var out strings.Builder
	for i := 0; i < len(alias); i++ {
		if alias[i] != '\\' || i+1 == len(alias) || alias[i+1] < '0' || alias[i+1] > '9' {
			out.WriteByte(alias[i])
			continue
		}
		i++
		e, err := b.ctx.Call("regexp_extract", expr.Text(name), expr.Text(re.Text), expr.Int(int64(alias[i]-'0')))
		if err != nil {
			return "", err
		}
		if k, ok := e.(*expr.Const); ok && k.Value.Type == vector.StringType && !k.Value.IsNull(0) {
			out.WriteString(k.Value.Str(0))
		}
	}
	return out.String(), nil
}

// columnConditions puts a condition for each column in for one with COLUMNS.
func (b *binder) columnConditions(x parse.Expr, sc *scope) (parse.Expr, error) {
	c, cols, err := b.columnsOf(x, sc)
	if c == nil || err != nil {
		return x, err
	}
	list := perColumn(x, cols, sc)
	for _, y := range list[1:] {
		list[0] = &parse.Binary{Node: parse.Node{At: x.Position()}, Op: "and", L: list[0], R: y}
	}
	return list[0], nil
}

// misplaced is the error for COLUMNS and lambdas where they have no meaning.
func misplaced(x parse.Expr) error {
	if _, ok := x.(*parse.Lambda); ok {
		return planError("a lambda is possible as an argument of functions of lists that take one, found %s",
			parse.PrintExpr(x))
	}
	return status.New(status.Unsupported, "COLUMNS is possible in the items of SELECT and in WHERE, found %s",
		parse.PrintExpr(x))
}
