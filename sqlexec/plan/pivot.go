package plan

import (
	"varve/engine/vector"
	"varve/sqlexec/parse"
)

// PIVOT, UNPIVOT and SUMMARIZE are other queries over their table, whose columns they have to know. What is made here
// refers to these by position.

// source binds the table of one of them for its columns, which a query over the table has at the same places.
func (b *binder) source(t parse.TableRef, out *outer) (*scope, error) {
	n, err := b.tableRef(t, out)
	if err != nil {
		return nil, err
	}
	return &scope{cols: n.Columns(), outer: out}, nil
}

// uses marks the columns that an expression names.
func (s *scope) uses(x parse.Expr, used map[int]bool) {
	parse.Walk(x, func(y parse.Expr) bool {
		switch y := y.(type) {
		case *parse.Slot:
			used[y.Index] = true
		case *parse.Column:
			if i, err := s.resolve(y.Parts); err == nil {
				used[i] = true
			}
		}
		return true
	})
}

func columnSlot(at parse.Node, i int, cols []Column) *parse.Slot {
	return &parse.Slot{Node: at, Index: i, Name: cols[i].Name}
}

func named(x parse.Expr, name string) parse.SelectItem {
	return parse.SelectItem{X: x, Alias: &parse.Ident{Name: name, Quote: '"', At: x.Position()}}
}

func text(at parse.Node, s string) *parse.Literal {
	return &parse.Literal{Node: at, Kind: parse.StringLiteral, Text: s}
}

func call(at parse.Node, name string, args ...parse.Expr) *parse.Call {
	return &parse.Call{Node: at, Name: name, Args: args}
}

func castOf(at parse.Node, x parse.Expr, typ string, args ...int) *parse.Cast {
	return &parse.Cast{Node: at, X: x, Type: parse.DataType{At: at.At, Name: typ, Args: args}}
}

// pivotCell is a combination of values: the condition that a row has them, and the name of its column.
type pivotCell struct {
	cond parse.Expr
	name string
}

// pivot binds PIVOT: its aggregates for each combination of values, grouped by the columns that it does not name.
func (b *binder) pivot(p *parse.Pivot, out *outer) (Node, error) {
	sc, err := b.source(p.Source, out)
	if err != nil {
		return nil, err
	}
	cols := sc.cols
	used := map[int]bool{}
	cells := []pivotCell{{}}
	for i := range p.On {
		sc.uses(p.On[i].X, used)
		values, err := b.pivotValues(p, &p.On[i], out)
		if err != nil {
			return nil, err
		}
		if len(cells)*len(values) > parse.MaxColumns {
			return nil, parse.PlaceError(planError("PIVOT would make more than %d columns", parse.MaxColumns),
				p.Position())
		}
		cells = combined(cells, values, p.On[i].X.Position())
	}
	aggs := p.Aggs
	if aggs == nil {
		aggs = []parse.SelectItem{{X: &parse.Call{Node: p.Node, Name: "count", Star: true}}}
	}
	for _, a := range aggs {
		if a.X == nil || !hasAggregate(a.X) {
			return nil, parse.PlaceError(planError("PIVOT takes aggregates"), p.Position())
		}
		sc.uses(a.X, used)
		if err := b.countCopies(a.X, len(cells)); err != nil {
			return nil, err
		}
	}
	if len(cells)*len(aggs) > parse.MaxColumns {
		return nil, parse.PlaceError(planError("PIVOT would make more than %d columns", parse.MaxColumns), p.Position())
	}
	s := &parse.Select{Node: p.Node, From: []parse.TableRef{p.Source}}
	if p.Group != nil {
		for _, g := range p.Group {
			s.Items, s.GroupBy = append(s.Items, parse.SelectItem{X: g}), append(s.GroupBy, parse.GroupItem{X: g})
		}
	} else {
		for i := range cols {
			if used[i] || cols[i].Shadow || cols[i].Hidden {
				continue
			}
			x := columnSlot(p.Node, i, cols)
			s.Items, s.GroupBy = append(s.Items, named(x, cols[i].Name)), append(s.GroupBy, parse.GroupItem{X: x})
		}
	}
	for _, c := range cells {
		for _, a := range aggs {
			s.Items = append(s.Items, named(filtered(a.X, c.cond), c.columnName(a, len(aggs), sc)))
		}
	}
	return b.derived(s, p.Alias, out)
}

// columnName returns the name of the column of an aggregate: the name of the values, and the name of the aggregate if
// it has one or is one of several.
func (c *pivotCell) columnName(a parse.SelectItem, aggs int, sc *scope) string {
	switch {
	case a.Alias != nil:
		return c.name + "_" + a.Alias.Name
	case aggs > 1:
		return c.name + "_" + describe(a.X, sc)
	}
	return c.name
}

// filtered adds a condition to every aggregate of an expression.
func filtered(x, cond parse.Expr) parse.Expr {
	return parse.Replace(x, func(y parse.Expr) parse.Expr {
		if !isAggregate(y) {
			return nil
		}
		c := *y.(*parse.Call)
		if c.Filter == nil {
			c.Filter = cond
		} else {
			c.Filter = &parse.Binary{Node: c.Node, Op: "and", L: c.Filter, R: cond}
		}
		return &c
	})
}

// combined returns every cell with every value.
func combined(cells, values []pivotCell, at parse.Pos) []pivotCell {
	var all []pivotCell
	for _, c := range cells {
		for _, v := range values {
			if c.cond != nil {
				v = pivotCell{&parse.Binary{Node: parse.Node{At: at}, Op: "and", L: c.cond, R: v.cond},
					c.name + "_" + v.name}
			}
			all = append(all, v)
		}
	}
	return all
}

// pivotValues returns the values of one expression: the given values, or the values that occur in the rows, in order.
func (b *binder) pivotValues(p *parse.Pivot, on *parse.PivotOn, out *outer) ([]pivotCell, error) {
	at := parse.Node{At: on.X.Position()}
	var cells []pivotCell
	if on.In != nil {
		for _, v := range on.In {
			if v.X == nil {
				return nil, parse.PlaceError(planError("IN of PIVOT takes values"), v.Star.At)
			}
			if err := b.countCopies(on.X, 1); err != nil {
				return nil, err
			}
			cell := pivotCell{&parse.Binary{Node: at, Op: "is not distinct from", L: on.X, R: v.X},
				parse.PrintExpr(v.X)}
			if lit, ok := v.X.(*parse.Literal); ok {
				cell.name = lit.Text
			}
			if v.Alias != nil {
				cell.name = v.Alias.Name
			}
			cells = append(cells, cell)
		}
		return cells, nil
	}
	s := &parse.Select{Node: at, Items: []parse.SelectItem{named(on.X, "v"), named(castOf(at, on.X, "STRING"), "t")},
		From:  []parse.TableRef{p.Source},
		Where: &parse.Is{Node: at, X: on.X, What: "null", Not: true}, Distinct: true}
	first := &parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: "1"}
	n, err := b.selectBlock(s, &parse.Query{Node: at, OrderBy: []parse.OrderItem{{X: first}}}, out)
	if err != nil {
		return nil, err
	}
	rows, err := b.runNow(&Limit{Input: n, Limit: parse.MaxColumns + 1}, parse.MaxColumns+2)
	if err != nil {
		return nil, err
	}
	if rows.N > parse.MaxColumns {
		return nil, parse.PlaceError(planError(
			"PIVOT would make a column of each of more than %d values; IN (..) chooses some", parse.MaxColumns), at.At)
	}
	v := &vector.Vector{Type: vector.StringType}
	v.Append(0, rows.Cols[1], 0, rows.N)
	for i := range rows.N {
		cond := &parse.Binary{Node: at, Op: "=", L: castOf(at, on.X, "STRING"), R: text(at, v.Str(i))}
		cells = append(cells, pivotCell{cond, v.Str(i)})
	}
	if len(cells) == 0 {
		return nil, parse.PlaceError(planError("PIVOT finds no values of %s to make columns of; IN (..) names some",
			parse.PrintExpr(on.X)), at.At)
	}
	return cells, nil
}

// derived binds a SELECT as an element of FROM.
func (b *binder) derived(s *parse.Select, a *parse.Alias, out *outer) (Node, error) {
	n, err := b.selectBlock(s, &parse.Query{Node: s.Node}, out)
	if err != nil {
		return nil, err
	}
	return rename(n, a, "")
}

// unpivotChoice is a column, or several side by side, and the name of its rows.
type unpivotChoice struct {
	name  string
	parts []parse.Expr
}

func (b *binder) unpivoted(u *parse.Unpivot, sc *scope) ([]unpivotChoice, error) {
	items, err := b.items(&parse.Select{Items: u.Items}, sc)
	if err != nil {
		return nil, err
	}
	choices := make([]unpivotChoice, len(items))
	for i, it := range items {
		c := unpivotChoice{it.name, []parse.Expr{it.x}}
		if t, ok := it.x.(*parse.Tuple); ok {
			c.parts = t.Items
			if !it.alias {
				c.name = ""
				for k, x := range t.Items {
					if k > 0 {
						c.name += "_"
					}
					c.name += outputName(x, sc)
				}
			}
		}
		if len(c.parts) != len(u.Values) {
			return nil, parse.PlaceError(planError("UNPIVOT gives %d columns of values, %s is %d", len(u.Values),
				c.name, len(c.parts)), u.Position())
		}
		choices[i] = c
	}
	return choices, nil
}

// summary binds SUMMARIZE: what each column of a query holds, as lists of one entry a column that are made rows.
func (b *binder) summary(s *parse.Summary, out *outer) (Node, error) {
	source := &parse.Derived{Node: s.Node, Query: s.Query}
	sc, err := b.source(source, out)
	if err != nil {
		return nil, err
	}
	cols := sc.cols
	lists := make([][]parse.Expr, len(summaryColumns))
	shown := 0
	for i := range cols {
		if cols[i].Shadow || cols[i].Hidden {
			continue
		}
		shown++
		for k, x := range summaryOf(s.Node, columnSlot(s.Node, i, cols), cols[i].Type) {
			lists[k] = append(lists[k], x)
		}
	}
	if shown*len(summaryColumns) > maxBound/8 {
		return nil, parse.PlaceError(planError("SUMMARIZE takes at most %d columns, found %d",
			maxBound/8/len(summaryColumns), shown), s.Position())
	}
	sel := &parse.Select{Node: s.Node, From: []parse.TableRef{source}}
	for k, name := range summaryColumns {
		sel.Items = append(sel.Items, named(call(s.Node, "unnest", &parse.Array{Node: s.Node, Items: lists[k]}), name))
	}
	return b.derived(sel, s.Alias, out)
}

var summaryColumns = []string{"column_name", "column_type", "min", "max", "approx_unique", "avg", "std", "q25", "q50",
	"q75", "count", "null_percentage"}

// maxSummed is the precision up to which SUMMARIZE takes the mean of decimals as they are: the sum of 10^10 of them
// still has no more than 38 digits. Longer decimals become doubles first, so that one column cannot make the summary
// fail.
const maxSummed = 28

// summaryOf returns the row of SUMMARIZE for a column, in the order of summaryColumns. Values are texts; a value that
// the type does not have is NULL.
func summaryOf(at parse.Node, x *parse.Slot, t vector.Type) []parse.Expr {
	null := castOf(at, &parse.Literal{Node: at, Kind: parse.NullLiteral}, "STRING")
	asText := func(x parse.Expr) parse.Expr { return castOf(at, x, "STRING") }
	count := &parse.Call{Node: at, Name: "count", Star: true}
	least, most, mean, spread := parse.Expr(null), parse.Expr(null), parse.Expr(null), parse.Expr(null)
	quarters := []parse.Expr{null, null, null}
	counted := parse.Expr(x)
	switch {
	case t.ID == vector.TypeList:
		counted = asText(x)
	case t.ID == vector.TypeJSON:
		counted = asText(x)
		least, most = asText(call(at, "min", counted)), asText(call(at, "max", counted))
	case orderable(t) || t.ID == vector.TypeDecimal:
		least, most = asText(call(at, "min", x)), asText(call(at, "max", x))
	}
	number, back := parse.Expr(x), asText
	if t.IsTimestamp() { // by their counts
		number = castOf(at, x, "BIGINT")
		back = func(x parse.Expr) parse.Expr {
			return asText(castOf(at, castOf(at, x, "BIGINT"), "TIMESTAMP", int(t.Precision)))
		}
	}
	if t.IsNumber() || t.IsTimestamp() {
		averaged := number
		if t.ID == vector.TypeDecimal && t.Precision > maxSummed {
			averaged = castOf(at, x, "DOUBLE")
		}
		mean = back(call(at, "avg", averaged))
		for i, share := range []string{"0.25", "0.5", "0.75"} {
			quarters[i] = back(call(at, "approx_percentile_cont", number,
				&parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: share}))
		}
	}
	if t.IsNumber() {
		spread = asText(call(at, "stddev", number))
	}
	hundred := &parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: "100.0"}
	two := &parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: "2"}
	nulls := &parse.Binary{Node: at, Op: "-", L: count, R: call(at, "count", x)}
	zero := &parse.Literal{Node: at, Kind: parse.NumberLiteral, Text: "0"}
	share := &parse.Binary{Node: at, Op: "/", L: &parse.Binary{Node: at, Op: "*", L: hundred, R: nulls},
		R: call(at, "nullif", count, zero)}
	return []parse.Expr{text(at, x.Name), text(at, t.String()), least, most, call(at, "approx_distinct", counted), mean,
		spread,
		quarters[0], quarters[1], quarters[2], count, call(at, "round", share, two)}
}
