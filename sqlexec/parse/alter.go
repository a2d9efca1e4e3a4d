package parse

// alter reads ALTER TABLE and ALTER DATABASE.
func (p *parser) alter() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case p.isAny("database", "schema"):
		return p.alterDatabase()
	case p.is("table"):
		return p.alterTable()
	}
	return nil, p.expected("TABLE or DATABASE")
}

func (p *parser) alterDatabase() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &AlterDatabase{}
	var err error
	if s.Name, err = p.name("a database name", true); err != nil {
		return nil, err
	}
	switch {
	case p.is("set"):
		s.Set, err = p.setOptions()
	case p.is("unset"):
		s.Unset, err = p.unsetKeys()
	default:
		err = p.expected("SET or UNSET")
	}
	return s, err
}

// setOptions reads SET 'k' = 'v', ..
func (p *parser) setOptions() ([]Option, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []Option
	for {
		o, err := p.option()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
		if ok, err := p.takeOp(","); err != nil || !ok {
			return list, err
		}
	}
}

// unsetKeys reads UNSET 'k', ..
func (p *parser) unsetKeys() ([]string, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	var list []string
	for {
		k, err := p.optionKey()
		if err != nil {
			return nil, err
		}
		list = append(list, k)
		if ok, err := p.takeOp(","); err != nil || !ok {
			return list, err
		}
	}
}

func (p *parser) alterTable() (Statement, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	s := &AlterTable{}
	var err error
	if s.Name, err = p.name("a table name", true); err != nil {
		return nil, err
	}
	for {
		op, err := p.alterOp()
		if err != nil {
			return nil, err
		}
		s.Ops = append(s.Ops, op)
		if ok, err := p.takeOp(","); err != nil || !ok {
			return s, err
		}
	}
}

func (p *parser) alterOp() (AlterOp, error) {
	var err error
	switch {
	case p.is("add"):
		return p.addColumn()
	case p.is("drop"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if err := p.expect("column"); err != nil {
			return nil, err
		}
		d := &DropColumn{}
		if d.IfExists, err = p.ifExists(); err != nil {
			return nil, err
		}
		d.Name, err = p.ident("a column name")
		return d, err
	case p.isAny("modify", "alter", "change"):
		return p.modifyColumn()
	case p.is("rename"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		return p.rename()
	case p.is("set"):
		s := &SetOptions{}
		s.Options, err = p.setOptions()
		return s, err
	case p.is("unset"):
		u := &UnsetOptions{}
		u.Keys, err = p.unsetKeys()
		return u, err
	case p.isAny("partition", "split", "merge", "reorganize"):
		return nil, p.unsupported("ALTER TABLE ... PARTITION")
	}
	return nil, p.expected("ADD, DROP, MODIFY, RENAME, SET or UNSET")
}

// rename reads what follows RENAME: [TO] table, or [COLUMN] column TO name.
func (p *parser) rename() (AlterOp, error) {
	to, err := p.take("to")
	if err != nil {
		return nil, err
	}
	if !to {
		if to, err = p.take("as"); err != nil {
			return nil, err
		}
	}
	if !to && p.is("column") && p.peek2().is("to") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if to || !p.peek().is("to") {
		r := &RenameTable{}
		r.To, err = p.name("the new name", true)
		return r, err
	}
	r := &RenameColumn{}
	if r.Name, err = p.ident("a column name"); err != nil {
		return nil, err
	}
	if err := p.expect("to"); err != nil {
		return nil, err
	}
	r.To, err = p.ident("the new name")
	return r, err
}

func (p *parser) addColumn() (AlterOp, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.is("constraint") || p.is("primary") && p.peek().is("key") {
		return nil, p.unsupported("ALTER TABLE ... ADD CONSTRAINT")
	}
	if p.is("column") && p.peek2().kind != tokEOF && !p.peek2().op(";") && !p.peek2().op(",") {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	a := &AddColumn{}
	var err error
	if a.IfNotExists, err = p.ifNotExists(); err != nil {
		return nil, err
	}
	if a.Column, err = p.columnDef(); err != nil {
		return nil, err
	}
	switch {
	case p.is("first"):
		a.First = true
		err = p.advance()
	case p.is("after"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		var id Ident
		id, err = p.ident("a column name")
		a.After = id.Name
	}
	return a, err
}

func (p *parser) modifyColumn() (AlterOp, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if _, err := p.take("column"); err != nil {
		return nil, err
	}
	name, err := p.ident("a column name")
	if err != nil {
		return nil, err
	}
	switch {
	case p.is("set"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		if ok, err := p.take("default"); err != nil {
			return nil, err
		} else if ok {
			m := &ModifyDefault{Name: name}
			m.Default, err = p.binary(powCompare)
			return m, err
		}
		if ok, err := p.takeWords("data", "type"); err != nil {
			return nil, err
		} else if ok {
			m := &ModifyType{Name: name}
			m.Type, err = p.dataType()
			return m, err
		}
		m := &ModifyIndex{Name: name}
		m.Index, err = p.indexDef()
		return m, err
	case p.is("unset"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		m := &ModifyIndex{Name: name, Unset: true}
		m.Index, err = p.indexDef()
		return m, err
	case p.is("drop") && p.peek().is("default"):
		_, err := p.takeWords("drop", "default")
		return &ModifyDefault{Name: name}, err
	}
	if p.is("type") && p.peek().kind == tokWord {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	m := &ModifyType{Name: name}
	m.Type, err = p.dataType()
	return m, err
}
