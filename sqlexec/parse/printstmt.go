package parse

import "strings"

func (w *printer) statement(st Statement) {
	switch s := st.(type) {
	case *SelectStmt:
		w.query(s.Query)
	case *CreateTable:
		w.createTable(s)
	case *CreateDatabase:
		w.put("CREATE DATABASE ", textIf(s.IfNotExists, "IF NOT EXISTS "))
		w.name(s.Name)
		w.with(s.Options)
	case *DropDatabase:
		w.put("DROP DATABASE ", textIf(s.IfExists, "IF EXISTS "))
		w.name(s.Name)
	case *AlterDatabase:
		w.put("ALTER DATABASE ")
		w.name(s.Name)
		w.setUnset(s.Set, s.Unset)
	case *AlterTable:
		w.put("ALTER TABLE ")
		w.name(s.Name)
		for i, op := range s.Ops {
			w.put(textIf(i > 0, ","))
			w.alterOp(op)
		}
	case *DropTable:
		w.put("DROP ", textIf(s.View, "VIEW "), textIf(!s.View, "TABLE "), textIf(s.IfExists, "IF EXISTS "))
		for i, n := range s.Names {
			w.put(textIf(i > 0, ", "))
			w.name(n)
		}
	case *Truncate:
		w.put("TRUNCATE TABLE ")
		w.name(s.Name)
	case *Comment:
		w.put("COMMENT ON ", textIf(s.Column == "", "TABLE "), textIf(s.Column != "", "COLUMN "))
		w.name(s.Table)
		if s.Column != "" {
			w.put(".", QuoteIdent(s.Column))
		}
		w.put(" IS ", textIf(s.Null, "NULL"), textIf(!s.Null, QuoteText(s.Text)))
	case *CreateView:
		w.put("CREATE ", textIf(s.OrReplace, "OR REPLACE "), "VIEW ", textIf(s.IfNotExists, "IF NOT EXISTS "))
		w.name(s.Name)
		if len(s.Columns) > 0 {
			w.put(" (")
			w.idents(s.Columns)
			w.put(")")
		}
		w.put(" AS ")
		if s.TQL != nil {
			w.tql(s.TQL)
		} else {
			w.query(s.Query)
		}
	case *Insert:
		w.insert(s)
	case *Delete:
		w.put("DELETE FROM ")
		w.name(s.Table)
		if s.Where != nil {
			w.put(" WHERE ")
			w.expr(s.Where, 0)
		}
	case *Show:
		w.show(s)
	case *Describe:
		w.put("DESC ")
		if s.Query != nil {
			w.query(s.Query)
		} else {
			w.put("TABLE ")
			w.name(s.Name)
		}
	case *Explain:
		w.put("EXPLAIN ", textIf(s.Analyze, "ANALYZE "), textIf(s.Verbose, "VERBOSE "))
		if s.Format != "" {
			w.put("FORMAT ", QuoteIdent(s.Format), " ")
		}
		w.statement(s.Of)
	case *Admin:
		w.put(textIf(s.Column == "", "ADMIN "), textIf(s.Column != "", "SELECT "))
		w.call(s.Call)
		if s.Column != "" {
			w.put(" AS ", QuoteIdent(s.Column))
		}
	case *Set:
		w.put("SET ", QuoteIdent(s.Name))
		if len(s.Values) > 0 {
			w.put(" = ")
			w.exprs(s.Values)
		}
		if s.Rest != "" {
			w.put(textIf(len(s.Values) > 0, ","), " ", s.Rest)
		}
	case *Use:
		w.put("USE ")
		w.name(s.Name)
	case *Kill:
		w.put("KILL ", s.ID)
	case *TQL:
		w.tql(s)
	case *Copy:
		w.copy(s)
	}
}

// textIf is text if cond holds, else nothing.
func textIf(cond bool, text string) string {
	if cond {
		return text
	}
	return ""
}

func (w *printer) options(list []Option) {
	for i, o := range list {
		w.put(textIf(i > 0, ", "), QuoteText(o.Key), " = ")
		if o.Null {
			w.put("NULL")
		} else {
			w.put(QuoteText(o.Value))
		}
	}
}

func (w *printer) with(list []Option) {
	if list == nil {
		return
	}
	w.put(" WITH (")
	w.options(list)
	w.put(")")
}

func (w *printer) setUnset(set []Option, unset []string) {
	if len(set) > 0 {
		w.put(" SET ")
		w.options(set)
	}
	for i, k := range unset {
		w.put(textIf(i == 0, " UNSET "), textIf(i > 0, ", "), QuoteText(k))
	}
}

func (w *printer) createTable(s *CreateTable) {
	w.put("CREATE ", textIf(s.OrReplace, "OR REPLACE "), textIf(s.External, "EXTERNAL "), "TABLE ",
		textIf(s.IfNotExists, "IF NOT EXISTS "))
	w.name(s.Name)
	if s.Like != nil {
		w.put(" LIKE ")
		w.name(s.Like)
		return
	}
	if len(s.Columns)+len(s.TimeIndexes)+len(s.PrimaryKeys) > 0 {
		w.put(" (")
		sep := ""
		for _, c := range s.Columns {
			w.put(sep)
			w.columnDef(c)
			sep = ", "
		}
		for _, list := range s.TimeIndexes {
			w.put(sep, "TIME INDEX (")
			w.idents(list)
			w.put(")")
			sep = ", "
		}
		for _, list := range s.PrimaryKeys {
			w.put(sep, "PRIMARY KEY (")
			w.idents(list)
			w.put(")")
			sep = ", "
		}
		w.put(")")
	}
	if s.Partition != "" {
		w.put(" ", strings.Join(strings.Fields(s.Partition), " "))
	}
	if s.Engine != "" {
		w.put(" ENGINE=", QuoteIdent(s.Engine))
	}
	w.with(s.Options)
	if s.Query != nil {
		w.put(" AS ")
		w.query(s.Query)
	}
}

func (w *printer) columnDef(c ColumnDef) {
	w.ident(c.Name)
	w.put(" ", c.Type.String())
	switch c.Null {
	case NullAllowed:
		w.put(" NULL")
	case NullForbidden:
		w.put(" NOT NULL")
	}
	if c.Default != nil {
		w.put(" DEFAULT ")
		w.expr(c.Default, powCompare)
	}
	w.put(textIf(c.TimeIndex > 0, " TIME INDEX"), textIf(c.PrimaryKey > 0, " PRIMARY KEY"))
	if c.Comment != "" {
		w.put(" COMMENT ", QuoteText(c.Comment))
	}
	for _, d := range c.Indexes {
		w.put(" ")
		w.indexDef(d)
	}
}

func (w *printer) indexDef(d IndexDef) {
	w.put(strings.ToUpper(d.Kind), " INDEX")
	w.with(d.Options)
}

func (w *printer) alterOp(op AlterOp) {
	switch o := op.(type) {
	case *AddColumn:
		w.put(" ADD COLUMN ", textIf(o.IfNotExists, "IF NOT EXISTS "))
		w.columnDef(o.Column)
		w.put(textIf(o.First, " FIRST"))
		if o.After != "" {
			w.put(" AFTER ", QuoteIdent(o.After))
		}
	case *DropColumn:
		w.put(" DROP COLUMN ", textIf(o.IfExists, "IF EXISTS "))
		w.ident(o.Name)
	case *ModifyType:
		w.put(" MODIFY COLUMN ")
		w.ident(o.Name)
		w.put(" ", o.Type.String())
	case *ModifyDefault:
		w.put(" MODIFY COLUMN ")
		w.ident(o.Name)
		if o.Default == nil {
			w.put(" DROP DEFAULT")
			return
		}
		w.put(" SET DEFAULT ")
		w.expr(o.Default, powCompare)
	case *ModifyIndex:
		w.put(" MODIFY COLUMN ")
		w.ident(o.Name)
		w.put(textIf(o.Unset, " UNSET "), textIf(!o.Unset, " SET "))
		w.indexDef(o.Index)
	case *RenameTable:
		w.put(" RENAME ")
		w.name(o.To)
	case *RenameColumn:
		w.put(" RENAME COLUMN ")
		w.ident(o.Name)
		w.put(" TO ")
		w.ident(o.To)
	case *SetOptions:
		w.setUnset(o.Options, nil)
	case *UnsetOptions:
		w.setUnset(nil, o.Keys)
	}
}

func (w *printer) insert(s *Insert) {
	w.put(textIf(s.Replace, "REPLACE"), textIf(!s.Replace, "INSERT"), " INTO ")
	w.name(s.Table)
	if s.Columns != nil {
		w.put(" (")
		w.idents(s.Columns)
		w.put(")")
	}
	if s.Query != nil {
		w.put(textIf(s.ByName, " BY NAME"), " ")
		w.query(s.Query)
		return
	}
	w.put(" VALUES ")
	w.rows(s.Rows)
}

func (w *printer) show(s *Show) {
	w.put("SHOW ", textIf(s.Full, "FULL "), strings.ToUpper(s.What))
	switch {
	case strings.HasPrefix(s.What, "create"):
		w.put(" ")
		w.name(s.Table)
	case s.Table != nil:
		w.put(" FROM ")
		w.name(s.Table)
	}
	if s.DBSet {
		w.put(" FROM ", QuoteIdent(s.DB))
	}
	if s.Arg != "" {
		w.put(" ", QuoteIdent(s.Arg))
	}
	if s.Like != nil {
		w.put(" LIKE ", QuoteText(*s.Like))
	}
	if s.Where != nil {
		w.put(" WHERE ")
		w.expr(s.Where, 0)
	}
}

func (w *printer) copy(s *Copy) {
	w.put("COPY ")
	switch {
	case s.Query != nil:
		w.parenQuery(s.Query)
	case s.Database != "":
		w.put("DATABASE ", QuoteIdent(s.Database))
	default:
		w.name(s.Table)
	}
	w.put(textIf(s.To, " TO "), textIf(!s.To, " FROM "), QuoteText(s.Path))
	w.with(s.Options)
	if s.Connection != nil {
		w.put(" CONNECTION (")
		w.options(s.Connection)
		w.put(")")
	}
	if s.Limit != nil {
		w.put(" LIMIT ")
		w.expr(s.Limit, 0)
	}
}
