package query

import (
	"varve/server/web"
	"varve/sqlexec/parse"
)

// rights are what a statement needs and what a user has.
type rights uint8

const (
	reads  rights = 1 << iota // what is stored may come out, be it in an answer, in a file or in the text of an error
	writes                    // the store, the session or another's query changes
)

// rightsOf are the rights of the users of a mode.
func rightsOf(m web.Mode) rights {
	switch m {
	case web.ReadWrite:
		return reads | writes
	case web.ReadOnly:
		return reads
	case web.WriteOnly:
		return writes
	}
	return 0
}

// grants are the rights of the users of a mode, as GRANT would name them.
var grants = map[web.Mode]string{
	web.ReadWrite: "ALL PRIVILEGES", web.ReadOnly: "SELECT", web.WriteOnly: "INSERT, CREATE, ALTER, DROP",
}

// allowed reports whether a user of a mode may execute a statement.
func allowed(m web.Mode, st parse.Statement) bool { return needs(st)&^rightsOf(m) == 0 }

// needs are the rights that a statement needs; what is not listed needs all of them. A statement that writes needs the
// right to read as well when any clause of it reads stored rows: how many rows a DELETE finds and which value an
// INSERT .. SELECT cannot convert tell what is stored as well as a SELECT does.
func needs(st parse.Statement) rights {
	switch s := st.(type) {
	case *parse.SelectStmt, *parse.Show, *parse.Describe, *parse.TQL:
		return reads
	case *parse.Explain:
		if !s.Analyze {
			return reads
		}
		return reads | needs(s.Of)
	case *parse.Insert:
		if s.Query != nil {
			return reads | writes
		}
		for _, row := range s.Rows {
			if !constants(row...) {
				return reads | writes
			}
		}
		return writes
	case *parse.Delete:
		if s.Where != nil {
			return reads | writes
		}
		return writes
	case *parse.CreateTable:
		if s.Query != nil {
			return reads | writes
		}
		for i := range s.Columns {
			if !constants(s.Columns[i].Default) {
				return reads | writes
			}
		}
		return writes
	case *parse.AlterTable:
		for _, o := range s.Ops {
			if !constants(defaultOf(o)) {
				return reads | writes
			}
		}
		return writes
	case *parse.Set:
		if !constants(s.Values...) {
			return reads | writes
		}
		return writes
	case *parse.Admin:
		if !constants(s.Call.Args...) {
			return reads | writes
		}
		return writes
	case *parse.Copy:
		if s.To || s.Query != nil || !constants(s.Limit) {
			return reads | writes
		}
		return writes
	case *parse.CreateDatabase, *parse.AlterDatabase, *parse.DropTable, *parse.DropDatabase, *parse.Truncate,
		*parse.Comment,
		*parse.Use, *parse.Kill:
		return writes
	}
	return reads | writes
}

// defaultOf is the default that an operation of ALTER TABLE gives a column; nil: none.
func defaultOf(o parse.AlterOp) parse.Expr {
	switch o := o.(type) {
	case *parse.AddColumn:
		return o.Column.Default
	case *parse.ModifyDefault:
		return o.Default
	}
	return nil
}

// constants reports whether expressions are made of nothing but literals, names and functions of them, so that no
// stored row is read for them. Kinds of expression that are not known here read.
func constants(list ...parse.Expr) bool {
	constant := true
	for _, x := range list {
		parse.Walk(x, func(x parse.Expr) bool {
			switch x := x.(type) {
			case *parse.Literal, *parse.Column, *parse.Default, *parse.Interval, *parse.Unary, *parse.Binary, *parse.Is,
				*parse.Between,
				*parse.Like, *parse.Case, *parse.Cast, *parse.Array, *parse.Index, *parse.Tuple, *parse.Struct,
				*parse.AtTimeZone:
			case *parse.In:
				constant = constant && x.Query == nil
			case *parse.Call:
				constant = constant && x.Over == nil
			default:
				constant = false
			}
			return constant
		})
	}
	return constant
}
