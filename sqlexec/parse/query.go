package parse

import "strings"

// queryAhead reports whether the current '(' opens a query.
func (p *parser) queryAhead() bool {
	next := p.peek()
	return next.is("select") || next.is("with") || next.is("values") || next.is("from") || p.overTable(true)
}

// queryBegins reports whether the current token begins a query where nothing else can stand.
func (p *parser) queryBegins() bool {
	return p.isAny("select", "with", "values", "from", "table") || p.isOp("(") || p.overTable(false)
}

// queryGoesOn reports whether the current token continues a query that was in parentheses.
func (p *parser) queryGoesOn() bool {
	return p.isAny("union", "except", "intersect", "minus", "order", "limit", "offset", "fetch")
}

// parenQuery reads (query).
func (p *parser) parenQuery() (*Query, error) {
	if err := p.expectOp("("); err != nil {
		return nil, err
	}
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return q, p.expectOp(")")
}

// query reads [WITH ..] body [ORDER BY ..] [LIMIT ..] [OFFSET ..].
func (p *parser) query() (*Query, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	q := &Query{Node: Node{p.tok.pos}}
	if p.is("with") {
		if err := p.with(q); err != nil {
			return nil, err
		}
	}
	left, err := p.term()
	if err != nil {
		return nil, err
	}
	return p.queryRest(q, left)
}

// queryAfter reads what follows a query in parentheses that turned out to be the first operand.
func (p *parser) queryAfter(first *Query) (*Query, error) {
	return p.queryRest(&Query{Node: first.Node}, first)
}

func (p *parser) queryRest(q *Query, left Body) (*Query, error) {
	var err error
	if q.Body, err = p.setOps(left, 0); err != nil {
		return nil, err
	}
	if p.is("order") {
		if q.OrderBy, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	if err := p.limits(q); err != nil {
		return nil, err
	}
	if inner, ok := q.Body.(*Query); ok && len(q.With) == 0 && q.OrderBy == nil && q.Limit == nil && q.Offset == nil {
		return inner, nil
	}
	return q, nil
}

func (p *parser) with(q *Query) error {
	if err := p.advance(); err != nil {
		return err
	}
	var err error
	if q.Recursive, err = p.take("recursive"); err != nil {
		return err
	}
	for {
		var c CTE
		if c.Name, err = p.ident("a name for the query"); err != nil {
			return err
		}
		if p.isOp("(") {
			if c.Columns, err = p.identList("a column name"); err != nil {
				return err
			}
		}
		if err := p.expect("as"); err != nil {
			return err
		}
		if c.Materialized, err = p.materialized(); err != nil {
			return err
		}
		if p.isOp("(") && p.peek().is("tql") {
			if err := p.advance(); err != nil {
				return err
			}
			if c.TQL, err = p.tql(true); err != nil {
				return err
			}
			if err := p.expectOp(")"); err != nil {
				return err
			}
		} else if c.Query, err = p.parenQuery(); err != nil {
			return err
		}
		q.With = append(q.With, c)
		if ok, err := p.more(); err != nil || !ok {
			return err
		}
	}
}

// materialized reads [NOT] MATERIALIZED.
func (p *parser) materialized() (string, error) {
	for _, words := range [][]string{{"materialized"}, {"not", "materialized"}} {
		if ok, err := p.takeWords(words...); err != nil || ok {
			return strings.Join(words, " "), err
		}
	}
	return "", nil
}

// setOps reads operators after left: INTERSECT binds stronger than UNION and EXCEPT.
func (p *parser) setOps(left Body, min int) (Body, error) {
	for chain := 0; ; chain++ {
		if chain > maxDepth {
			return nil, p.fail(p.tok.pos, "more than %d set operations in a row", maxDepth)
		}
		op := p.tok.text
		pow := 0
		switch {
		case p.isAny("union", "except", "minus"):
			pow = 1
		case p.is("intersect"):
			pow = 2
		}
		if pow <= min {
			return left, nil
		}
		at := Node{p.tok.pos}
		if op == "minus" {
			op = "except"
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		all, err := p.take("all")
		if err != nil {
			return nil, err
		}
		if !all {
			if _, err := p.take("distinct"); err != nil {
				return nil, err
			}
		}
		byName, err := p.byName(op)
		if err != nil {
			return nil, err
		}
		if err := p.enter(); err != nil {
			return nil, err
		}
		right, err := p.operand()
		if err != nil {
			return nil, err
		}
		if right, err = p.setOps(right, pow); err != nil {
			return nil, err
		}
		p.leave()
		left = &SetOp{Node: at, Op: op, All: all, ByName: byName, L: left, R: right}
	}
}

// operand reads the right side of a set operation: a term, or a query with WITH, which includes everything that
// follows.
func (p *parser) operand() (Body, error) {
	if p.is("with") {
		return p.query()
	}
	return p.term()
}

// byName reads BY NAME of a union.
func (p *parser) byName(op string) (bool, error) {
	if !p.is("by") {
		return false, nil
	}
	at := p.tok.pos
	ok, err := p.takeWords("by", "name")
	switch {
	case err != nil:
		return false, err
	case !ok:
		return false, p.expected("BY NAME or a query")
	case op != "union":
		return false, p.fail(at, "BY NAME is for UNION")
	}
	return true, nil
}

// orderBy reads ORDER BY x [ASC|DESC] [NULLS FIRST|LAST], ...
func (p *parser) orderBy() ([]OrderItem, error) {
	if err := p.expect("order"); err != nil {
		return nil, err
	}
	if err := p.expect("by"); err != nil {
		return nil, err
	}
	var list []OrderItem
	for {
		x, err := p.exprOrAll()
		if err != nil {
			return nil, err
		}
		o := OrderItem{X: x}
		if p.isAny("asc", "desc") {
			o.Desc = p.is("desc")
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		if p.is("nulls") {
			if err := p.advance(); err != nil {
				return nil, err
			}
			if !p.isAny("first", "last") {
				return nil, p.expected("FIRST or LAST")
			}
			o.Nulls = p.tok.text
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
		list = append(list, o)
		if err := p.checkColumns("ORDER BY", len(list)); err != nil {
			return list, err
		}
		if ok, err := p.more(); err != nil || !ok {
			return list, err
		}
	}
}

// exprOrAll reads an expression, or the word ALL if it stands alone.
func (p *parser) exprOrAll() (Expr, error) {
	next := p.peek()
	alone := next.kind == tokEOF || next.op(",") || next.op(")") || next.op(";") ||
		next.kind == tokWord && (afterOperand[next.text] || listEnds[next.text])
	if !p.is("all") || !alone {
		return p.expr()
	}
	x := &All{Node{p.tok.pos}}
	return x, p.advance()
}

// limits reads LIMIT n [OFFSET m], LIMIT m, n, OFFSET m ROWS, FETCH FIRST n ROWS ONLY, in any order, each once.
func (p *parser) limits(q *Query) error {
	limited := false
	for {
		var err error
		switch {
		case p.is("limit") && !limited:
			limited = true
			err = p.limit(q)
		case p.is("offset") && q.Offset == nil:
			if err := p.advance(); err != nil {
				return err
			}
			if q.Offset, err = p.expr(); err == nil && p.isAny("rows", "row") {
				err = p.advance()
			}
		case p.is("fetch") && !limited:
			limited = true
			err = p.fetch(q)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) limit(q *Query) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.is("all") {
		return p.advance()
	}
	var err error
	if q.Limit, err = p.expr(); err != nil {
		return err
	}
	if ok, err := p.takeOp(","); err != nil || !ok {
		return err
	}
	q.Offset = q.Limit
	q.Limit, err = p.expr()
	return err
}

func (p *parser) fetch(q *Query) error {
	if err := p.advance(); err != nil {
		return err
	}
	if !p.isAny("first", "next") {
		return p.expected("FIRST or NEXT")
	}
	if err := p.advance(); err != nil {
		return err
	}
	q.Limit = &Literal{Node: Node{p.tok.pos}, Kind: NumberLiteral, Text: "1"}
	if !p.isAny("row", "rows") {
		var err error
		if q.Limit, err = p.expr(); err != nil {
			return err
		}
	}
	if !p.isAny("row", "rows") {
		return p.expected("ROWS")
	}
	if err := p.advance(); err != nil {
		return err
	}
	return p.expect("only")
}
