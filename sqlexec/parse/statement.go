package parse

import (
	"slices"
	"strings"

	"varve/engine/status"
)

// outOfScope are words that begin known statements that are not supported.
var outOfScope = wordSet(`begin start commit rollback savepoint release prepare execute deallocate declare close move
	update merge grant revoke lock unlock call do load analyze vacuum pragma flush optimize check cluster reindex listen notify`)

// statement reads one statement; the first word decides.
func (p *parser) statement() (Statement, error) {
	if p.isOp("(") {
		q, err := p.query()
		return &SelectStmt{Query: q}, err
	}
	if p.tok.kind != tokWord {
		return nil, p.expected("a statement")
	}
	switch word := p.tok.text; word {
	case "select", "with", "values", "from", "table", "summarize", "pivot", "unpivot":
		q, err := p.query()
		if err == nil {
			if a := adminOf(q); a != nil {
				return a, nil
			}
		}
		return &SelectStmt{Query: q}, err
	case "create":
		return p.create()
	case "drop":
		return p.drop()
	case "alter":
		return p.alter()
	case "insert", "replace":
		return p.insert()
	case "delete":
		return p.deleteFrom()
	case "truncate":
		return p.truncate()
	case "show":
		return p.show()
	case "desc", "describe":
		return p.describe()
	case "explain":
		return p.explain()
	case "admin":
		return p.admin()
	case "set":
		return p.set()
	case "use":
		return p.use()
	case "kill":
		return p.kill()
	case "comment":
		return p.comment()
	case "tql":
		return p.tql(false)
	case "copy":
		return p.copy()
	}
	return nil, p.notSupported()
}

// notSupported is the error for a statement that begins with the current word.
func (p *parser) notSupported() error {
	word := p.src[p.tok.pos:p.tok.end]
	if len(word) > 40 {
		word = strings.ToValidUTF8(word[:40], "")
	}
	line, column := Place(p.src, p.tok.pos)
	hint := p.hint(statementWords)
	if outOfScope[p.tok.text] {
		word, hint = strings.ToUpper(word), ""
	}
	err := status.New(status.Unsupported, "SQL statement is not supported, keyword: %s at line %d, column %d%s", word,
		line, column, hint).
		At(line, column, tokenLength(p.src, p.tok.pos))
	return status.Hinted(err, hint)
}

// unsupported is the error for a statement that is known but not supported; what are its first words.
func (p *parser) unsupported(what string) error {
	return status.New(status.Unsupported, "SQL statement is not supported: %s", what)
}

func (p *parser) insert() (Statement, error) {
	s := &Insert{Replace: p.is("replace")}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("into"); err != nil {
		return nil, err
	}
	if p.is("table") && !p.peek().op("(") && !p.peek().is("values") && !p.peek().is("select") && !p.peek().op(".") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Table, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	if p.isOp("(") && !p.queryAhead() {
		if p.peek().op(")") {
			return nil, p.expected("a column name")
		}
		if s.Columns, err = p.identList("a column name"); err != nil {
			return nil, err
		}
	}
	if p.is("values") || p.is("value") {
		if err := p.advance(); err != nil {
			return nil, err
		}
		p.inValues = true
		s.Rows, err = p.rows()
		p.inValues = false
		return s, err
	}
	if s.ByName, err = p.takeWords("by", "name"); err != nil {
		return nil, err
	}
	if s.ByName && s.Columns != nil {
		return nil, p.fail(p.prev, "BY NAME takes its columns from the query, not from a list")
	}
	if _, err := p.takeWords("by", "position"); err != nil {
		return nil, err
	}
	switch {
	case p.is("values"): // without BY it was read above
		return nil, p.fail(p.tok.pos, "BY NAME and BY POSITION take a query, not VALUES")
	case !p.queryBegins():
		return nil, p.expected("VALUES or SELECT")
	}
	s.Query, err = p.query()
	return s, err
}

func (p *parser) deleteFrom() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("from"); err != nil {
		return nil, err
	}
	s := &Delete{}
	var err error
	if s.Table, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	if ok, err := p.take("where"); err != nil {
		return nil, err
	} else if ok {
		if s.Where, err = p.expr(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *parser) truncate() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if _, err := p.take("table"); err != nil {
		return nil, err
	}
	s := &Truncate{}
	var err error
	if s.Name, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	if p.is("file") {
		return nil, p.unsupported("TRUNCATE TABLE ... FILE RANGE")
	}
	return s, nil
}

func (p *parser) describe() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is("table") && (p.peek().kind == tokWord || p.peek().kind == tokQuoted || p.peek().kind == tokString) {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	s := &Describe{}
	var err error
	if next := p.peek(); p.isOp("(") || p.overTable(false) ||
		p.isAny("select", "with", "values", "from") && next.kind != tokEOF && !next.op(";") && !next.op(".") {
		s.Query, err = p.query()
		return s, err
	}
	s.Name, err = p.name("a table name", true)
	return s, err
}

func (p *parser) explain() (Statement, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &Explain{}
	var err error
	if s.Analyze, err = p.take("analyze"); err != nil {
		return nil, err
	}
	if s.Verbose, err = p.take("verbose"); err != nil {
		return nil, err
	}
	if ok, err := p.take("format"); err != nil {
		return nil, err
	} else if ok {
		id, err := p.ident("a format")
		if err != nil {
			return nil, err
		}
		s.Format = id.Name
	}
	at := p.tok
	s.Of, err = p.statement()
	if err != nil {
		return nil, err
	}
	s.Of.setSource(p.src, at.pos, p.prev)
	return s, nil
}

func (p *parser) admin() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind != tokWord || !p.peek().op("(") || QuoteIdent(p.tok.text) != p.tok.text {
		return nil, p.expected("a function call")
	}
	x, err := p.columnOrCall()
	if err != nil {
		return nil, err
	}
	c, ok := x.(*Call)
	if !ok { // COLUMNS('..')
		return nil, p.fail(x.Position(), "ADMIN needs one of its functions")
	}
	return &Admin{Call: c}, nil
}

// AdminFunctions are the functions of ADMIN. A SELECT of one such function alone calls it as well.
var AdminFunctions = []string{"backup", "drop_backup", "flush_table", "compact_table", "build_index", "export_table",
	"flush_region", "compact_region"}

// adminOf is the ADMIN that SELECT flush_table('t') means; nil: the query is another.
func adminOf(q *Query) *Admin {
	s, ok := q.Body.(*Select)
	if !ok || len(q.With) > 0 || q.OrderBy != nil || q.Limit != nil || q.Offset != nil || len(s.Items) != 1 {
		return nil
	}
	if s.Distinct || s.DistinctOn != nil || s.From != nil || s.Where != nil || s.GroupBy != nil || s.Having != nil ||
		s.Qualify != nil || s.Align != nil {
		return nil
	}
	c, ok := s.Items[0].X.(*Call)
	if !ok || !slices.Contains(AdminFunctions, c.Name) {
		return nil
	}
	a := &Admin{Call: c, Column: PrintExpr(c)}
	if s.Items[0].Alias != nil {
		a.Column = s.Items[0].Alias.Name
	}
	return a
}

// set reads SET [SESSION|LOCAL|GLOBAL] name {=|TO} value[, ..] and SET TIME ZONE value.
func (p *parser) set() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	for p.isAny("session", "local", "global") && p.peek().kind == tokWord {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	s := &Set{}
	if p.isOp("@@") || p.isOp("@") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.is("time") && p.peek().is("zone") {
		s.Name = "time_zone"
		if _, err := p.takeWords("time", "zone"); err != nil {
			return nil, err
		}
	} else {
		n, err := p.name("a variable", false)
		if err != nil {
			return nil, err
		}
		s.Name = strings.ToLower(n[len(n)-1].Name)
		if !p.isOp("=") && !p.isOp(":=") && !p.is("to") {
			if s.Name == "names" || p.tok.kind == tokWord { // SET NAMES utf8, SET CHARACTER SET x, SET TRANSACTION ..
				return s, p.setRest(s)
			}
			return nil, p.expected("'='")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	for {
		x, err := p.setValue()
		if err != nil {
			return nil, err
		}
		s.Values = append(s.Values, x)
		if !p.isOp(",") {
			return s, nil
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if next := p.peek(); (p.tok.kind == tokWord || p.isOp("@@")) && !next.op(",") && next.kind != tokEOF &&
			!next.op(";") {
			return s, p.setRest(s) // SET a = 1, b = 2: only the first counts
		}
	}
}

// setRest keeps the rest of the statement as text.
func (p *parser) setRest(s *Set) error {
	start := p.tok.pos
	err := p.skipStatement()
	s.Rest = strings.TrimSpace(p.src[start:max(start, p.prev)])
	return err
}

// setValue reads a value; ON and DEFAULT are words here.
func (p *parser) setValue() (Expr, error) {
	if p.tok.kind == tokWord && (p.is("on") || p.is("default") || p.is("all")) {
		x := &Literal{Node: Node{p.tok.pos}, Kind: StringLiteral, Text: p.tok.text}
		return x, p.advance()
	}
	return p.expr()
}

// skipStatement moves to the end of the statement.
func (p *parser) skipStatement() error {
	for p.tok.kind != tokEOF && !p.isOp(";") {
		if err := p.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) use() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &Use{}
	var err error
	if s.Name, err = p.name("a database name", true); err == nil && len(s.Name) > 2 {
		err = p.fail(s.Name[0].At, "a database name has at most two parts: %s", s.Name)
	}
	return s, err
}

func (p *parser) kill() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isAny("query", "connection") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokNumber && p.tok.kind != tokString {
		return nil, p.expected("the id of a query")
	}
	s := &Kill{ID: p.tok.text}
	return s, p.advance()
}

func (p *parser) comment() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.expect("on"); err != nil {
		return nil, err
	}
	s := &Comment{}
	column := p.is("column")
	if !column && !p.is("table") {
		return nil, p.expected("TABLE or COLUMN")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	n, err := p.name("a name", true)
	if err != nil {
		return nil, err
	}
	if column {
		if len(n) < 2 {
			return nil, p.fail(n[0].At, "expected table.column")
		}
		s.Column = n[len(n)-1].Name
		n = n[:len(n)-1]
	}
	s.Table = n
	if err := p.expect("is"); err != nil {
		return nil, err
	}
	if ok, err := p.take("null"); ok || err != nil {
		s.Null = true
		return s, err
	}
	s.Text, err = p.text("the comment")
	return s, err
}
