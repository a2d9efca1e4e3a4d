package parse

import (
	"strings"
)

// create reads CREATE TABLE, DATABASE and VIEW.
func (p *parser) create() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	replace, err := p.takeWords("or", "replace")
	if err != nil {
		return nil, err
	}
	switch {
	case replace && !p.isAny("view", "table"):
		return nil, p.expected("VIEW or TABLE")
	case p.is("view"):
		return p.createView(replace)
	case p.isAny("database", "schema"):
		return p.createDatabase()
	case p.is("table"):
		return p.createTable(false, replace)
	case p.is("external"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if !p.is("table") {
			return nil, p.expected("TABLE")
		}
		return p.createTable(true, false)
	case p.isAny("flow", "trigger", "function", "procedure", "user", "role", "index", "sequence", "temporary", "unique",
		"materialized", "type", "extension"):
		return nil, p.unsupported("CREATE " + strings.ToUpper(p.tok.text))
	}
	return nil, p.expected("TABLE, DATABASE or VIEW")
}

func (p *parser) ifNotExists() (bool, error) {
	if !p.is("if") || !p.peek().is("not") {
		return false, nil
	}
	ok, err := p.takeWords("if", "not", "exists")
	if err == nil && !ok {
		err = p.expected("IF NOT EXISTS")
	}
	return ok, err
}

func (p *parser) ifExists() (bool, error) {
	if !p.is("if") || !p.peek().is("exists") {
		return false, nil
	}
	return p.takeWords("if", "exists")
}

func (p *parser) createDatabase() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &CreateDatabase{}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.name("a database name", true); err != nil {
		return nil, err
	}
	if ok, err := p.take("with"); err != nil {
		return nil, err
	} else if ok {
		if s.Options, err = p.optionList(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (p *parser) createView(replace bool) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &CreateView{OrReplace: replace}
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.Name, err = p.name("a view name", true); err != nil {
		return nil, err
	}
	if p.isOp("(") {
		if s.Columns, err = p.identList("a column name"); err != nil {
			return nil, err
		}
	}
	if err := p.expect("as"); err != nil {
		return nil, err
	}
	start := p.tok.pos
	if p.is("tql") {
		s.TQL, err = p.tql(false)
	} else {
		if !p.queryBegins() {
			return nil, p.expected("a query")
		}
		s.Query, err = p.query()
	}
	if err != nil {
		return nil, err
	}
	s.Definition = strings.TrimSpace(p.src[start:p.prev])
	return s, nil
}

func (p *parser) createTable(external, replace bool) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &CreateTable{External: external, OrReplace: replace}
	at := p.tok.pos
	var err error
	if s.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if s.IfNotExists && replace {
		return nil, p.fail(at, "CREATE TABLE has OR REPLACE or IF NOT EXISTS, found both")
	}
	if s.Name, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	if ok, err := p.take("like"); err != nil {
		return nil, err
	} else if ok {
		s.Like, err = p.name("a table name", true)
		return s, err
	}
	if p.isOp("(") {
		if err := p.tableElements(s); err != nil {
			return nil, err
		}
	} else if !external && !p.isAny("as", "with", "engine") {
		return nil, p.expected("'(' and the columns")
	}
	if err := p.tableTail(s); err != nil {
		return nil, err
	}
	if ok, err := p.take("as"); err != nil {
		return nil, err
	} else if ok && !external {
		s.Query, err = p.query()
		return s, err
	}
	if s.Columns == nil && !external {
		return nil, p.expected("AS and a query")
	}
	return s, nil
}

// tableElements reads the columns and constraints in parentheses; a trailing comma is fine.
func (p *parser) tableElements(s *CreateTable) error {
	if err := p.expectOp("("); err != nil {
		return err
	}
	for !p.isOp(")") {
		if err := p.tableElement(s); err != nil {
			return err
		}
		if ok, err := p.takeOp(","); err != nil {
			return err
		} else if !ok {
			break
		}
	}
	return p.expectOp(")")
}

func (p *parser) tableElement(s *CreateTable) error {
	next := p.peek()
	switch {
	case p.is("time") && next.is("index"):
		if _, err := p.takeWords("time", "index"); err != nil {
			return err
		}
		list, err := p.identList("a column name")
		s.TimeIndexes = append(s.TimeIndexes, list)
		return err
	case p.is("primary") && next.is("key"):
		if _, err := p.takeWords("primary", "key"); err != nil {
			return err
		}
		if p.isOp("(") && next.is("key") && p.peek().op(")") {
			if err := p.advance(); err != nil {
				return err
			}
			s.PrimaryKeys = append(s.PrimaryKeys, nil)
			return p.advance()
		}
		list, err := p.identList("a column name")
		s.PrimaryKeys = append(s.PrimaryKeys, list)
		return err
	case p.is("constraint") && next.kind == tokWord && p.peek2().is("primary"):
		if err := p.advance(); err != nil {
			return err
		}
		if err := p.advance(); err != nil {
			return err
		}
		return p.tableElement(s)
	}
	c, err := p.columnDef()
	if err != nil {
		return err
	}
	s.Columns = append(s.Columns, c)
	return p.checkColumns("a table", len(s.Columns))
}

// columnDef reads name type [options].
func (p *parser) columnDef() (ColumnDef, error) {
	var c ColumnDef
	var err error
	if p.tok.kind == tokString {
		c.Name = Ident{Name: p.tok.text, Quote: '\'', At: p.tok.pos}
		err = p.advance()
	} else {
		c.Name, err = p.ident("a column name")
	}
	if err != nil {
		return c, err
	}
	if c.Type, err = p.dataType(); err != nil {
		return c, err
	}
	for {
		ok, err := p.columnOption(&c)
		if err != nil || !ok {
			return c, err
		}
	}
}

// columnOption reads one option of a column definition; false if there is none.
func (p *parser) columnOption(c *ColumnDef) (bool, error) {
	next := p.peek()
	switch {
	case p.is("null"):
		if c.Null == NullForbidden {
			return false, p.fail(p.tok.pos, "column %s is both NULL and NOT NULL", c.Name.Name)
		}
		c.Null = NullAllowed
		return true, p.advance()
	case p.is("not") && next.is("null"):
		if c.Null == NullAllowed {
			return false, p.fail(p.tok.pos, "column %s is both NULL and NOT NULL", c.Name.Name)
		}
		c.Null = NullForbidden
		return p.takeWords("not", "null")
	case p.is("default"):
		if c.Default != nil {
			return false, p.fail(p.tok.pos, "column %s has two defaults", c.Name.Name)
		}
		if err := p.advance(); err != nil {
			return false, err
		}
		var err error
		c.Default, err = p.binary(powCompare)
		return true, err
	case p.is("time") && next.is("index"):
		c.TimeIndex++
		return p.takeWords("time", "index")
	case p.is("primary") && next.is("key"):
		c.PrimaryKey++
		return p.takeWords("primary", "key")
	case p.is("comment"):
		if err := p.advance(); err != nil {
			return false, err
		}
		var err error
		c.Comment, err = p.text("the comment")
		return true, err
	case p.isAny("inverted", "skipping", "fulltext") && (next.is("index") || p.is("fulltext")):
		d, err := p.indexDef()
		c.Indexes = append(c.Indexes, d)
		return true, err
	}
	return false, nil
}

// indexDef reads {INVERTED|SKIPPING|FULLTEXT} INDEX [WITH (..)].
func (p *parser) indexDef() (IndexDef, error) {
	d := IndexDef{At: p.tok.pos, Kind: p.tok.text}
	if !p.isAny("inverted", "skipping", "fulltext") {
		return d, p.expected("INVERTED, SKIPPING or FULLTEXT")
	}
	if err := p.advance(); err != nil {
		return d, err
	}
	if err := p.expect("index"); err != nil {
		return d, err
	}
	if p.is("with") && p.peek().op("(") {
		if err := p.advance(); err != nil {
			return d, err
		}
		var err error
		d.Options, err = p.optionList()
		return d, err
	}
	return d, nil
}

// tableTail reads PARTITION, ENGINE and WITH after the columns, in any order.
func (p *parser) tableTail(s *CreateTable) error {
	for {
		var err error
		switch {
		case p.is("partition"):
			err = p.partition(s)
		case p.is("engine"):
			if err := p.advance(); err != nil {
				return err
			}
			if err := p.expectOp("="); err != nil {
				return err
			}
			var id Ident
			id, err = p.ident("an engine")
			s.Engine = strings.ToLower(id.Name)
		case p.is("with") && s.Options == nil:
			if err := p.advance(); err != nil {
				return err
			}
			s.Options, err = p.optionList()
			if s.Options == nil {
				s.Options = []Option{}
			}
		case p.is("comment"):
			if err := p.advance(); err != nil {
				return err
			}
			if _, err := p.takeOp("="); err != nil {
				return err
			}
			o := Option{At: p.tok.pos, Key: "comment"}
			o.Value, err = p.text("the comment")
			s.Options = append(s.Options, o)
		default:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// partition reads PARTITION ON|BY .. (..) (..) and keeps its text; it has no effect.
func (p *parser) partition(s *CreateTable) error {
	start := p.tok.pos
	depth := 0
	for {
		switch {
		case p.isOp("("):
			depth++
		case p.isOp(")"):
			depth--
		}
		if err := p.advance(); err != nil {
			return err
		}
		if p.tok.kind == tokEOF || depth < 0 ||
			depth == 0 && (p.isOp(";") || p.is("engine") || p.is("with") && p.peek().op("(")) {
			break
		}
	}
	if depth != 0 {
		return p.expected("')'")
	}
	s.Partition = strings.TrimSpace(p.src[start:p.prev])
	return nil
}

// drop reads DROP TABLE, VIEW and DATABASE.
func (p *parser) drop() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.isAny("database", "schema"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		s := &DropDatabase{}
		if s.IfExists, err = p.ifExists(); err != nil {
			return nil, err
		}
		s.Name, err = p.name("a database name", true)
		return s, err
	case p.isAny("table", "view"):
		s := &DropTable{View: p.is("view")}
		if err := p.advance(); err != nil {
			return nil, err
		}
		if s.IfExists, err = p.ifExists(); err != nil {
			return nil, err
		}
		for {
			n, err := p.name("a table name", true)
			if err != nil {
				return nil, err
			}
			s.Names = append(s.Names, n)
			if ok, err := p.takeOp(","); err != nil || !ok {
				return s, err
			}
		}
	case p.isAny("flow", "trigger", "function", "procedure", "user", "role", "index", "sequence"):
		return nil, p.unsupported("DROP " + strings.ToUpper(p.tok.text))
	}
	return nil, p.expected("TABLE, DATABASE or VIEW")
}
