package parse

type (
	// Pivot makes columns of the values of some columns of a table: an aggregate for each value, or each combination of
	// values.
	Pivot struct {
		Node
		Source TableRef
		Aggs   []SelectItem // nil: count(*)
		On     []PivotOn
		Group  []Expr // what rows there are; nil: all columns that are not named otherwise
		Alias  *Alias
	}
	// PivotOn is an expression whose values become columns.
	PivotOn struct {
		X  Expr
		In []SelectItem // the values, with the names of their columns; nil: those that there are
	}
	// Unpivot makes rows of some columns of a table.
	Unpivot struct {
		Node
		Source TableRef
		Items  []SelectItem // the columns; tuples where there are several Values
		Name   Ident        // the column that gets their names
		Values []Ident      // the columns that get their values
		Nulls  bool         // rows without a value as well
		Alias  *Alias
	}
	// Summary describes the columns of a query, one row for each column.
	Summary struct {
		Node
		Query *Query
		Alias *Alias
	}
)

func (*Pivot) tableRef()   {}
func (*Unpivot) tableRef() {}
func (*Summary) tableRef() {}

// overTable reports whether SUMMARIZE, PIVOT or UNPIVOT stands at the current token, or the one after it: a table
// follows.
func (p *parser) overTable(behind bool) bool {
	word, next := p.tok, p.peek()
	if behind {
		word, next = next, p.peek2()
	}
	return (word.is("summarize") || word.is("pivot") || word.is("unpivot")) &&
		(next.kind == tokQuoted || next.op("(") || next.kind == tokWord &&
			(!reserved[next.text] || next.is("select") || next.is("from") || next.is("values")))
}

// tableStatement reads SUMMARIZE, PIVOT and UNPIVOT.
func (p *parser) tableStatement() (TableRef, error) {
	at := Node{p.tok.pos}
	what := p.tok.text
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch what {
	case "summarize":
		return p.summary(at)
	case "pivot":
		return p.pivotStatement(at)
	}
	return p.unpivotStatement(at)
}

func (p *parser) summary(at Node) (TableRef, error) {
	s := &Summary{Node: at}
	var err error
	if p.isAny("select", "with", "values", "from") || p.isOp("(") {
		s.Query, err = p.query()
		return s, err
	}
	if _, err := p.take("table"); err != nil {
		return nil, err
	}
	t, err := p.tableOf(Node{p.tok.pos})
	s.Query = &Query{Node: at, Body: allOf(t)}
	return s, err
}

// allOf is SELECT * FROM t.
func allOf(t TableRef) *Select {
	return &Select{Items: []SelectItem{{Star: &Star{}}}, From: []TableRef{t}}
}

// pivotStatement reads t ON x [IN (..)], .. [USING agg, ..] [GROUP BY a, ..].
func (p *parser) pivotStatement(at Node) (TableRef, error) {
	v := &Pivot{Node: at}
	var err error
	if v.Source, err = p.joined(); err != nil {
		return nil, err
	}
	if err := p.expect("on"); err != nil {
		return nil, err
	}
	for {
		on, err := p.pivotOn()
		if err != nil {
			return nil, err
		}
		v.On = append(v.On, on)
		if ok, err := p.takeOp(","); err != nil {
			return nil, err
		} else if !ok {
			break
		}
	}
	if ok, err := p.take("using"); err != nil {
		return nil, err
	} else if ok {
		if v.Aggs, err = p.itemList(); err != nil {
			return nil, err
		}
	}
	v.Group, err = p.pivotGroup()
	return v, err
}

func (p *parser) pivotGroup() ([]Expr, error) {
	if ok, err := p.takeWords("group", "by"); err != nil || !ok {
		return nil, err
	}
	return p.exprList()
}

// itemList reads items as those of SELECT.
func (p *parser) itemList() ([]SelectItem, error) {
	var s Select
	err := p.items(&s)
	return s.Items, err
}

// pivotOn reads x [IN (value [AS name], ..)].
func (p *parser) pivotOn() (PivotOn, error) {
	var on PivotOn
	var err error
	if on.X, err = p.binary(powLike); err != nil {
		return on, err
	}
	if ok, err := p.take("in"); err != nil || !ok {
		return on, err
	}
	if err := p.expectOp("("); err != nil {
		return on, err
	}
	if on.In, err = p.itemList(); err != nil {
		return on, err
	}
	return on, p.expectOp(")")
}

// unpivotStatement reads [INCLUDE NULLS] t [INCLUDE NULLS] ON a, b, .. [INTO NAME n VALUE v, ..].
func (p *parser) unpivotStatement(at Node) (TableRef, error) {
	u := &Unpivot{Node: at, Name: Ident{Name: "name"}, Values: []Ident{{Name: "value"}}}
	before, err := p.unpivotNulls()
	if err != nil {
		return nil, err
	}
	if u.Source, err = p.joined(); err != nil {
		return nil, err
	}
	after, err := p.unpivotNulls()
	if err != nil {
		return nil, err
	}
	u.Nulls = before || after
	if err := p.expect("on"); err != nil {
		return nil, err
	}
	if u.Items, err = p.itemList(); err != nil {
		return nil, err
	}
	if ok, err := p.takeWords("into", "name"); err != nil || !ok {
		return u, err
	}
	if u.Name, err = p.ident("the name of a column"); err != nil {
		return nil, err
	}
	if err := p.expect("value"); err != nil {
		return nil, err
	}
	u.Values = nil
	for {
		if p.tok.kind == tokWord && listEnds[p.tok.text] {
			return nil, p.expected("the name of a column")
		}
		id, err := p.ident("the name of a column")
		if err != nil {
			return nil, err
		}
		u.Values = append(u.Values, id)
		if ok, err := p.takeOp(","); err != nil || !ok {
			return u, err
		}
	}
}

// unpivotNulls reads INCLUDE NULLS or EXCLUDE NULLS.
func (p *parser) unpivotNulls() (bool, error) {
	if ok, err := p.takeWords("include", "nulls"); err != nil || ok {
		return ok, err
	}
	_, err := p.takeWords("exclude", "nulls")
	return false, err
}

// pivotAhead reports whether PIVOT (..) or UNPIVOT (..) follows a table.
func (p *parser) pivotAhead() bool {
	next := p.peek()
	return p.isAny("pivot", "unpivot") && next.op("(") || p.is("unpivot") && (next.is("include") || next.is("exclude"))
}

// pivoted reads PIVOT (agg, .. FOR x [IN (..)] .. [GROUP BY a, ..]) and UNPIVOT [INCLUDE NULLS] (v FOR n IN (a, ..))
// behind a table.
func (p *parser) pivoted(source TableRef) (TableRef, error) {
	at := Node{p.tok.pos}
	pivot := p.is("pivot")
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !pivot {
		return p.unpivoted(&Unpivot{Node: at, Source: source})
	}
	v := &Pivot{Node: at, Source: source}
	err := p.expectOp("(")
	if err != nil {
		return nil, err
	}
	if v.Aggs, err = p.itemList(); err != nil {
		return nil, err
	}
	if err := p.expect("for"); err != nil {
		return nil, err
	}
	for len(v.On) == 0 || !p.isOp(")") && !p.is("group") {
		on, err := p.pivotOn()
		if err != nil {
			return nil, err
		}
		v.On = append(v.On, on)
		if _, err := p.takeOp(","); err != nil {
			return nil, err
		}
	}
	if v.Group, err = p.pivotGroup(); err != nil {
		return nil, err
	}
	if err := p.expectOp(")"); err != nil {
		return nil, err
	}
	v.Alias, err = p.tableAlias()
	return v, err
}

func (p *parser) unpivoted(u *Unpivot) (TableRef, error) {
	var err error
	if u.Nulls, err = p.unpivotNulls(); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if p.isOp("(") {
		u.Values, err = p.identList("the name of a column")
	} else {
		var id Ident
		id, err = p.ident("the name of a column")
		u.Values = []Ident{id}
	}
	if err != nil {
		return nil, err
	}
	if err := p.expect("for"); err != nil {
		return nil, err
	}
	if u.Name, err = p.ident("the name of a column"); err != nil {
		return nil, err
	}
	if err := p.expect("in"); err != nil {
		return nil, err
	}
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	if u.Items, err = p.itemList(); err != nil {
		return nil, err
	}
	for range 2 {
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
	}
	u.Alias, err = p.tableAlias()
	return u, err
}

func (w *printer) items(list []SelectItem) {
	for i, it := range list {
		if i > 0 {
			w.put(", ")
		}
		w.item(it)
	}
}

func (w *printer) pivot(v *Pivot) {
	w.tableRef(v.Source, true)
	w.put(" PIVOT (")
	if v.Aggs == nil {
		w.put("count(*)")
	}
	w.items(v.Aggs)
	w.put(" FOR ")
	for i, on := range v.On {
		if i > 0 {
			w.put(", ")
		}
		w.expr(on.X, powLike)
		if on.In != nil {
			w.put(" IN (")
			w.items(on.In)
			w.put(")")
		}
	}
	if v.Group != nil {
		w.put(" GROUP BY ")
		w.exprs(v.Group)
	}
	w.put(")")
	w.tableAlias(v.Alias)
}

func (w *printer) unpivot(u *Unpivot) {
	w.tableRef(u.Source, true)
	w.put(" UNPIVOT ", textIf(u.Nulls, "INCLUDE NULLS "), "(")
	w.open(len(u.Values) > 1)
	w.idents(u.Values)
	w.close(len(u.Values) > 1)
	w.put(" FOR ")
	w.ident(u.Name)
	w.put(" IN (")
	w.items(u.Items)
	w.put("))")
	w.tableAlias(u.Alias)
}
