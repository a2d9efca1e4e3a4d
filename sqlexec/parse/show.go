package parse

// show reads every SHOW.
func (p *parser) show() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &Show{}
	var err error
	if s.Full, err = p.take("full"); err != nil {
		return nil, err
	}
	switch {
	case p.isAny("databases", "schemas"):
		s.What = "databases"
		return p.showFilter(s)
	case p.is("tables"):
		s.What = "tables"
		return p.showFrom(s)
	case p.is("table") && p.peek().is("status"):
		s.What = "table status"
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.showFrom(s)
	case p.is("views"):
		s.What = "views"
		return p.showFrom(s)
	case p.isAny("columns", "fields"):
		s.What = "columns"
		return p.showOf(s)
	case p.isAny("index", "indexes", "indices", "keys"):
		s.What = "index"
		return p.showOf(s)
	case p.isAny("region", "regions"):
		s.What = "region"
		return p.showOf(s)
	case p.is("create"):
		return p.showCreate(s)
	case p.is("processlist"):
		s.What = "processlist"
		return s, p.advance()
	case p.is("variables"), p.isAny("session", "global") && p.peek().is("variables"):
		return p.showVariables(s)
	case p.isAny("status", "charset", "collation", "search_path", "engines", "warnings"):
		s.What = p.tok.text
		return p.showFilter(s)
	case p.is("grants"):
		return p.showGrants(s)
	case p.is("character") && p.peek().is("set"):
		s.What = "charset"
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.showFilter(s)
	case p.isAny("flows", "triggers", "functions", "privileges"):
		return nil, p.unsupported("SHOW " + p.tok.text)
	}
	return nil, p.expected("what to show")
}

func (p *parser) showVariables(s *Show) (Statement, error) {
	s.What = "variables"
	if !p.is("variables") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.isAny("like", "where") || p.tok.kind == tokEOF || p.isOp(";") {
		return s, p.showCondition(s)
	}
	id, err := p.ident("a variable")
	s.Arg = id.Name
	return s, err
}

// showGrants reads GRANTS [FOR user]. The user is the one of the session; another one is refused.
func (p *parser) showGrants(s *Show) (Statement, error) {
	s.What = "grants"
	if err := p.advance(); err != nil {
		return nil, err
	}
	if ok, err := p.take("for"); err != nil || !ok {
		return s, err
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	if c, ok := x.(*Call); !ok || c.Name != "current_user" && c.Name != "user" && c.Name != "session_user" {
		return nil, p.unsupported("SHOW GRANTS FOR another user")
	}
	return s, nil
}

func (p *parser) showCreate(s *Show) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	switch {
	case p.is("table"):
		s.What = "create table"
	case p.isAny("database", "schema"):
		s.What = "create database"
	case p.is("view"):
		s.What = "create view"
	case p.isAny("flow", "trigger"):
		return nil, p.unsupported("SHOW CREATE " + p.tok.text)
	default:
		return nil, p.expected("TABLE, DATABASE or VIEW")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if s.What == "create database" {
		if _, err := p.ifNotExists(); err != nil {
			return nil, err
		}
	}
	if s.Table, err = p.name("a name", true); err != nil {
		return nil, err
	}
	if ok, err := p.take("for"); err != nil || !ok {
		return s, err
	}
	return s, p.skipStatement() // FOR postgres_foreign_table and the like change nothing
}

// showOf reads FROM t [FROM d] and a condition.
func (p *parser) showOf(s *Show) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if !p.isAny("from", "in") {
		return nil, p.expected("FROM and a table")
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	var err error
	if s.Table, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	if err := p.showDB(s); err != nil {
		return nil, err
	}
	return s, p.showCondition(s)
}

// showFrom reads [FROM d] and a condition after the current word.
func (p *parser) showFrom(s *Show) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if err := p.showDB(s); err != nil {
		return nil, err
	}
	return s, p.showCondition(s)
}

func (p *parser) showDB(s *Show) error {
	if !p.isAny("from", "in") {
		return nil
	}
	if err := p.advance(); err != nil {
		return err
	}
	n, err := p.name("a database name", true)
	if err != nil {
		return err
	}
	s.DB, s.DBSet = n[len(n)-1].Name, true
	return nil
}

func (p *parser) showFilter(s *Show) (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	return s, p.showCondition(s)
}

// showCondition reads [LIKE 'p'] [WHERE e].
func (p *parser) showCondition(s *Show) error {
	if ok, err := p.take("like"); err != nil {
		return err
	} else if ok {
		like, err := p.text("a pattern")
		if err != nil {
			return err
		}
		s.Like = &like
	}
	if ok, err := p.take("where"); err != nil {
		return err
	} else if ok {
		s.Where, err = p.expr()
		return err
	}
	return nil
}
