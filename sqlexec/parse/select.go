package parse

import "strings"

// queryAhead tells whether the current '(' opens a query.
func (p *parser) queryAhead() bool {
	next := p.peek()
	return next.is("select") || next.is("with") || next.is("values") || next.is("from")
}

// queryGoesOn tells whether the current token continues a query that was in parentheses.
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
		right, err := p.term()
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
		name, err := p.name("a table name", true)
		all.From = []TableRef{&Table{Node: at, Name: name}}
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
	return s, p.clauses(s)
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
	return item, err
}

// alias reads [AS] name; nil when there is none.
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
	if !as && p.tok.kind != tokQuoted && (p.tok.kind != tokWord || notAlias[p.tok.text]) {
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

func (p *parser) groupBy(s *Select) error {
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expect("by"); err != nil {
		return err
	}
	s.GroupBy = []GroupItem{}
	for {
		item, err := p.groupItem()
		if err != nil {
			return err
		}
		s.GroupBy = append(s.GroupBy, item)
		if err := p.checkColumns("GROUP BY", len(s.GroupBy)); err != nil {
			return err
		}
		if ok, err := p.more(); err != nil {
			return err
		} else if !ok {
			return p.withRollup(s)
		}
	}
}

// withRollup reads WITH ROLLUP and WITH CUBE behind the keys, which are ROLLUP (keys) and CUBE (keys).
func (p *parser) withRollup(s *Select) error {
	for _, kind := range []string{"rollup", "cube"} {
		ok, err := p.takeWords("with", kind)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		g := GroupItem{Kind: kind, Sets: [][]Expr{}}
		for _, item := range s.GroupBy {
			if item.X == nil {
				return p.expected("GROUP BY expressions before WITH " + strings.ToUpper(kind))
			}
			g.Sets = append(g.Sets, []Expr{item.X})
		}
		s.GroupBy = []GroupItem{g}
		return nil
	}
	return nil
}

// exprOrAll reads an expression, or the word ALL where it stands alone.
func (p *parser) exprOrAll() (Expr, error) {
	next := p.peek()
	alone := next.kind == tokEOF || next.op(",") || next.op(")") || next.op(";") || next.kind == tokWord && (afterOperand[next.text] || listEnds[next.text])
	if !p.is("all") || !alone {
		return p.expr()
	}
	x := &All{Node{p.tok.pos}}
	return x, p.advance()
}

func (p *parser) groupItem() (GroupItem, error) {
	kind := ""
	switch {
	case p.isAny("rollup", "cube") && p.peek().op("("):
		kind = p.tok.text
	case p.is("grouping") && p.peek().is("sets"):
		kind = "grouping sets"
		if err := p.advance(); err != nil {
			return GroupItem{}, err
		}
	default:
		x, err := p.exprOrAll()
		return GroupItem{X: x}, err
	}
	if err := p.advance(); err != nil {
		return GroupItem{}, err
	}
	if err := p.expectOp("("); err != nil {
		return GroupItem{}, err
	}
	g := GroupItem{Kind: kind, Sets: [][]Expr{}}
	for {
		x, err := p.expr()
		if err != nil {
			return g, err
		}
		if t, ok := x.(*Tuple); ok {
			g.Sets = append(g.Sets, t.Items)
		} else {
			g.Sets = append(g.Sets, []Expr{x})
		}
		if ok, err := p.more(); err != nil {
			return g, err
		} else if !ok {
			return g, p.expectOp(")")
		}
	}
}

// align reads ALIGN step [TO origin] [BY (..)] [FILL f]; the parts may come in any order.
func (p *parser) align() (*Align, error) {
	a := &Align{At: p.tok.pos}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if a.Step, err = p.prefix(); err != nil {
		return nil, err
	}
	for {
		switch {
		case p.is("to") && a.To == nil:
			if err := p.advance(); err != nil {
				return nil, err
			}
			if a.To, err = p.expr(); err != nil {
				return nil, err
			}
		case p.is("by") && !a.HasBy:
			if err := p.alignBy(a); err != nil {
				return nil, err
			}
		case p.is("fill") && a.Fill == nil:
			if a.Fill, err = p.fill(); err != nil {
				return nil, err
			}
		default:
			return a, nil
		}
	}
}

func (p *parser) alignBy(a *Align) error {
	a.HasBy = true
	if err := p.advance(); err != nil {
		return err
	}
	if err := p.expectOp("("); err != nil {
		return err
	}
	if ok, err := p.takeOp(")"); ok || err != nil {
		return err
	}
	var err error
	if a.By, err = p.exprList(); err != nil {
		return err
	}
	return p.expectOp(")")
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
