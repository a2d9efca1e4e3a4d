package parse

// term reads SELECT, VALUES or a query in parentheses.
func (p *parser) term() (Body, error) {
	switch {
	case p.is("select"):
		return p.selectBlock()
	case p.is("values"):
		return p.values()
	case p.isOp("("):
		return p.parenQuery()
	case p.is("from"), p.is("table"):
		return p.fromFirst()
	case p.overTable(false):
		t, err := p.tableStatement()
		return allOf(t), err
	}
	return nil, p.expected("SELECT, VALUES or '('")
}

// fromFirst reads TABLE t, and FROM .. [SELECT ..] with the clauses after it: without items these are all columns.
func (p *parser) fromFirst() (*Select, error) {
	at := Node{p.tok.pos}
	table := p.is("table")
	if err := p.advance(); err != nil {
		return nil, err
	}
	all := &Select{Node: at, Items: []SelectItem{{Star: &Star{At: at.At}}}}
	if table {
		t, err := p.tableOf(at)
		all.From = []TableRef{t}
		return all, err
	}
	from, err := p.from()
	if err != nil {
		return nil, err
	}
	if !p.is("select") {
		all.From = from
		return all, p.clauses(all)
	}
	s := &Select{Node: at}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.distinct(s); err != nil {
		return nil, err
	}
	if err := p.items(s); err != nil {
		return nil, err
	}
	s.From = from
	return s, p.clauses(s)
}

func (p *parser) values() (*Values, error) {
	v := &Values{Node: Node{p.tok.pos}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	v.Rows, err = p.rows()
	return v, err
}

// rows reads (a, b), (c, d); a comma before a closing parenthesis is fine.
func (p *parser) rows() ([][]Expr, error) {
	var rows [][]Expr
	for {
		if err := p.expectOp("("); err != nil {
			return nil, err
		}
		var row []Expr
		for !p.isOp(")") {
			x, err := p.expr()
			if err != nil {
				return nil, err
			}
			if err := p.hold(cellBytes); err != nil {
				return nil, err
			}
			row = append(row, x)
			if ok, err := p.more(); err != nil {
				return nil, err
			} else if !ok {
				break
			}
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		rows = append(rows, row)
		if next := p.peek(); !p.isOp(",") || !next.op("(") && !(p.inValues && (next.op(";") || next.kind == tokEOF)) {
			return rows, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.isOp("(") { // behind the last row of an INSERT
			return rows, nil
		}
	}
}

func (p *parser) selectBlock() (*Select, error) {
	s := &Select{Node: Node{p.tok.pos}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.distinct(s); err != nil {
		return nil, err
	}
	if err := p.items(s); err != nil {
		return nil, err
	}
	if ok, err := p.take("from"); err != nil {
		return nil, err
	} else if ok {
		if s.From, err = p.from(); err != nil {
			return nil, err
		}
	}
	err := p.clauses(s)
	if err == nil && p.dialect != nil {
		aliasColumns(s)
		if p.dialect.Select != nil {
			p.dialect.Select(s)
		}
	}
	return s, err
}

func (p *parser) distinct(s *Select) error {
	if ok, err := p.take("distinct"); err != nil {
		return err
	} else if !ok {
		if p.is("all") && !p.peek().op(",") && !p.peek().is("from") && !p.peek().op(".") {
			return p.advance()
		}
		return nil
	}
	if !p.is("on") {
		s.Distinct = true
		return nil
	}
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expectOp("("); err != nil {
		return err
	}
	var err error
	if s.DistinctOn, err = p.exprList(); err != nil {
		return err
	}
	if err := p.checkColumns("DISTINCT ON", len(s.DistinctOn)); err != nil {
		return err
	}
	return p.expectOp(")")
}

func (p *parser) items(s *Select) error {
	for {
		item, err := p.item()
		if err != nil {
			return err
		}
		s.Items = append(s.Items, item)
		if err := p.checkColumns("a SELECT", len(s.Items)); err != nil {
			return err
		}
		if ok, err := p.more(); err != nil || !ok {
			return err
		}
	}
}

func (p *parser) item() (SelectItem, error) {
	if p.isOp("*") {
		return p.star(nil)
	}
	x, err := p.expr()
	if err != nil {
		return SelectItem{}, err
	}
	if c, ok := x.(*Column); ok && p.isOp(".") && p.peek().op("*") {
		if err := p.advance(); err != nil {
			return SelectItem{}, err
		}
		return p.star(c.Parts)
	}
	item := SelectItem{X: x}
	item.Alias, err = p.alias()
	if err == nil && item.Alias == nil && p.stood == x { // the column has the name of the call
		item.Alias = &Ident{Name: p.stoodFor, At: x.Position()}
	}
	return item, err
}

// alias reads [AS] name; nil if there is none.
func (p *parser) alias() (*Ident, error) {
	as, err := p.take("as")
	if err != nil {
		return nil, err
	}
	if as && p.tok.kind == tokString {
		id := Ident{Name: p.tok.text, Quote: '\'', At: p.tok.pos}
		return &id, p.advance()
	}
	if !as && p.is("minus") && (p.peek().is("select") || p.peek().is("values") || p.peek().op("(")) {
		return nil, nil
	}
	named := !notAlias[p.tok.text] || p.is("at") && !p.peek().is("time")
	if !as && p.tok.kind != tokQuoted && (p.tok.kind != tokWord || !named) {
		return nil, nil
	}
	id, err := p.ident("an alias")
	return &id, err
}

// star reads the modifiers after * or t.*; the current token is the star.
func (p *parser) star(table Name) (SelectItem, error) {
	star := &Star{At: p.tok.pos, Table: table}
	item := SelectItem{Star: star}
	if err := p.advance(); err != nil {
		return item, err
	}
	if like, err := p.starLike(star); like != nil || err != nil {
		item = SelectItem{X: like}
		if err == nil {
			item.Alias, err = p.alias()
		}
		return item, err
	}
	if p.is("exclude") || p.is("except") && p.peek().op("(") && !p.peek2().is("select") {
		if err := p.advance(); err != nil {
			return item, err
		}
		var err error
		if p.isOp("(") {
			star.Exclude, err = p.identList("a column name")
		} else {
			var id Ident
			id, err = p.ident("a column name")
			star.Exclude = []Ident{id}
		}
		if err != nil {
			return item, err
		}
	}
	var err error
	if star.Replace, err = p.starList("replace"); err != nil {
		return item, err
	}
	star.Rename, err = p.starList("rename")
	for _, r := range star.Rename {
		if _, ok := r.X.(*Column); err == nil && !ok {
			err = p.fail(r.X.Position(), "RENAME takes columns and their new names")
		}
	}
	return item, err
}

// starList reads REPLACE (x AS c, ..) or RENAME (c AS d, ..) behind a star; nil: the word is not there.
func (p *parser) starList(word string) ([]SelectItem, error) {
	if !p.is(word) || !p.peek().op("(") {
		return nil, nil
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []SelectItem
	for {
		x, err := p.expr()
		if err != nil {
			return nil, err
		}
		alias, err := p.alias()
		if err != nil {
			return nil, err
		}
		if alias == nil {
			return nil, p.expected("AS and a column")
		}
		list = append(list, SelectItem{X: x, Alias: alias})
		if ok, err := p.more(); err != nil {
			return nil, err
		} else if !ok {
			return list, p.expectOp(")")
		}
	}
}

// clauses reads WHERE, GROUP BY, HAVING, WINDOW, QUALIFY and ALIGN.
func (p *parser) clauses(s *Select) error {
	var err error
	if ok, err := p.take("where"); err != nil {
		return err
	} else if ok {
		if s.Where, err = p.expr(); err != nil {
			return err
		}
	}
	for p.is("align") && s.Align == nil || p.is("group") && s.GroupBy == nil {
		if p.is("align") {
			s.Align, err = p.align()
		} else {
			err = p.groupBy(s)
		}
		if err != nil {
			return err
		}
	}
	if ok, err := p.take("having"); err != nil {
		return err
	} else if ok {
		if s.Having, err = p.expr(); err != nil {
			return err
		}
	}
	if p.is("window") {
		if err := p.namedWindows(s); err != nil {
			return err
		}
	}
	if ok, err := p.take("qualify"); err != nil {
		return err
	} else if ok {
		if s.Qualify, err = p.expr(); err != nil {
			return err
		}
	}
	if p.is("align") && s.Align == nil {
		s.Align, err = p.align()
	}
	return err
}

func (p *parser) namedWindows(s *Select) error {
	if err := p.advance(); err != nil {
		return err
	}
	for {
		name, err := p.ident("a window name")
		if err != nil {
			return err
		}
		if err := p.expect("as"); err != nil {
			return err
		}
		w, err := p.window()
		if err != nil {
			return err
		}
		s.Windows = append(s.Windows, NamedWindow{Name: name, Window: w})
		if ok, err := p.more(); err != nil || !ok {
			return err
		}
	}
}
