package parse

import "strings"

// from reads a, b JOIN c ..: a comma is a cross join of the list.
func (p *parser) from() ([]TableRef, error) {
	var list []TableRef
	for {
		t, err := p.joined()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
		if ok, err := p.more(); err != nil || !ok {
			return list, err
		}
	}
}

// joined reads a table and the joins after it.
func (p *parser) joined() (TableRef, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	left, err := p.table()
	if err != nil {
		return nil, err
	}
	return p.joins(left)
}

func (p *parser) joins(left TableRef) (TableRef, error) {
	for chain := 0; ; chain++ {
		if chain > maxDepth {
			return nil, p.fail(p.tok.pos, "more than %d joins in a row", maxDepth)
		}
		j := &Join{Node: Node{p.tok.pos}, L: left}
		ok, err := p.joinHead(j)
		if err != nil {
			return nil, err
		}
		if !ok {
			return left, nil
		}
		if j.R, err = p.table(); err != nil {
			return nil, err
		}
		if err := p.joinTail(j); err != nil {
			return nil, err
		}
		left = j
	}
}

// joinHead reads [NATURAL] [INNER|LEFT [OUTER|SEMI|ANTI]|..|CROSS] JOIN.
func (p *parser) joinHead(j *Join) (bool, error) {
	m := p.mark()
	if p.is("asof") && (p.peek().is("join") || p.peek2().is("join") || p.peek2().is("outer")) {
		return true, p.asofHead(j)
	}
	var err error
	if j.Natural, err = p.take("natural"); err != nil {
		return false, err
	}
	switch {
	case p.isAny("semi", "anti") && p.peek().is("join"):
		j.Kind = semiKinds["left"][p.tok.text]
		err = p.advance()
	case p.is("inner"):
		err = p.advance()
	case p.is("cross"):
		j.Kind = CrossJoin
		err = p.advance()
	case p.isAny("left", "right", "full"):
		side := p.tok.text
		j.Kind = outerKinds[side]
		if err = p.advance(); err != nil {
			return false, err
		}
		if p.isAny("semi", "anti") && side != "full" {
			j.Kind = semiKinds[side][p.tok.text]
			err = p.advance()
		} else {
			_, err = p.take("outer")
		}
	}
	if err != nil {
		return false, err
	}
	ok, err := p.take("join")
	if err == nil && !ok {
		if p.tok != m.tok {
			return false, p.expected("JOIN")
		}
		p.back(m)
	}
	return ok, err
}

// asofHead reads ASOF [INNER|LEFT [OUTER]] JOIN.
func (p *parser) asofHead(j *Join) error {
	if err := p.advance(); err != nil {
		return err
	}
	j.Kind = AsofJoin
	switch {
	case p.isAny("right", "full"):
		return p.unsupported("ASOF " + strings.ToUpper(p.tok.text) + " JOIN")
	case p.is("left"):
		j.Kind = AsofLeftJoin
		if err := p.advance(); err != nil {
			return err
		}
		if _, err := p.take("outer"); err != nil {
			return err
		}
	default:
		if _, err := p.take("inner"); err != nil {
			return err
		}
	}
	return p.expect("join")
}

func (p *parser) joinTail(j *Join) error {
	var err error
	switch {
	case p.is("on"):
		if err := p.advance(); err != nil {
			return err
		}
		j.On, err = p.expr()
		return err
	case p.is("using"):
		if err := p.advance(); err != nil {
			return err
		}
		j.Using, err = p.identList("a column name")
		return err
	}
	if j.Kind == InnerJoin && !j.Natural {
		j.Kind = CrossJoin
	}
	if j.Kind != CrossJoin && !j.Natural {
		return p.expected("ON or USING")
	}
	return nil
}

// table reads one element of FROM, including PIVOT and UNPIVOT after it.
func (p *parser) table() (TableRef, error) {
	t, err := p.element()
	for chain := 0; err == nil && p.pivotAhead(); chain++ {
		if chain > maxDepth {
			return nil, p.fail(p.tok.pos, "more than %d of PIVOT and UNPIVOT in a row", maxDepth)
		}
		t, err = p.pivoted(t)
	}
	return t, err
}

// tableAhead reports whether the current token may be the name of a table.
func (p *parser) tableAhead() bool {
	return p.tok.kind == tokQuoted || p.tok.kind == tokString || p.tok.kind == tokWord && !reserved[p.tok.text]
}

// tableOf reads the name of a table that a query is made of.
func (p *parser) tableOf(at Node) (*Table, error) {
	if !p.tableAhead() {
		return nil, p.expected("a table")
	}
	name, err := p.name("a table name", true)
	if err == nil && len(name) > 3 {
		err = p.fail(at.At, "a table name has at most three parts: %s", name)
	}
	return &Table{Node: at, Name: name}, err
}

func (p *parser) element() (TableRef, error) {
	at := Node{p.tok.pos}
	lateral, err := p.take("lateral")
	if err != nil {
		return nil, err
	}
	if p.isOp("(") {
		return p.parenTable(at, lateral)
	}
	if !p.tableAhead() {
		return nil, p.expected("a table")
	}
	if err := p.skipCatalog(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokString && p.peek().op("(") {
		x, err := p.columnOrCall()
		if err != nil {
			return nil, err
		}
		if p.dialect != nil {
			if t, err := p.dialectTable(at, x); t != nil || err != nil {
				return t, err
			}
		}
		call, ok := x.(*Call)
		if !ok {
			return nil, p.fail(at.At, "expected a table function")
		}
		f := &TableFunc{Node: at, Call: call}
		if f.Ordinality, err = p.takeWords("with", "ordinality"); err != nil {
			return nil, err
		}
		f.Alias, err = p.tableAlias()
		return f, err
	}
	t, err := p.tableOf(at)
	if err != nil {
		return nil, err
	}
	if t.Alias, err = p.tableAlias(); err != nil {
		return nil, err
	}
	return t, p.sample()
}

// sample refuses TABLESAMPLE: rows are not drawn by lot.
func (p *parser) sample() error {
	if p.is("tablesample") {
		return p.unsupported("TABLESAMPLE")
	}
	return nil
}

// parenTable reads (query) alias or (table join ..).
func (p *parser) parenTable(at Node, lateral bool) (TableRef, error) {
	if !lateral && p.overTable(true) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		t, err := p.tableStatement()
		if err != nil {
			return nil, err
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		alias, err := p.tableAlias()
		switch t := t.(type) {
		case *Summary:
			t.Alias = alias
		case *Pivot:
			t.Alias = alias
		case *Unpivot:
			t.Alias = alias
		}
		return t, err
	}
	if p.queryAhead() {
		q, err := p.parenQuery()
		if err != nil {
			return nil, err
		}
		d := &Derived{Node: at, Query: q, Lateral: lateral}
		d.Alias, err = p.tableAlias()
		return d, err
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	inner, err := p.joined()
	if err != nil {
		return nil, err
	}
	if d, ok := inner.(*Derived); ok && d.Alias == nil { // ((SELECT ..) UNION ..) alias
		if p.queryGoesOn() {
			if d.Query, err = p.queryAfter(d.Query); err != nil {
				return nil, err
			}
		}
		if err := p.expectOp(")"); err != nil {
			return nil, err
		}
		d.Alias, err = p.tableAlias()
		return d, err
	}
	return inner, p.expectOp(")")
}

// tableAlias reads [AS] name [(columns)]; nil if there is none.
func (p *parser) tableAlias() (*Alias, error) {
	if p.is("window") || p.is("values") || p.pivotAhead() || p.is("include") && p.peek().is("nulls") {
		return nil, nil
	}
	id, err := p.alias()
	if err != nil || id == nil {
		return nil, err
	}
	a := &Alias{Name: *id}
	if p.isOp("(") {
		a.Columns, err = p.identList("a column name")
	}
	return a, err
}
