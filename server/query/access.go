package query

import (
	"varve/server/web"
	"varve/sqlexec/parse"
)

// allowed tells whether a user of a mode may execute a statement. What is not listed is for users who may do both.
func allowed(m web.Mode, st parse.Statement) bool {
	switch m {
	case web.ReadWrite:
		return true
	case web.ReadOnly:
		return reads(st)
	}
	return writes(st)
}

// reads tells whether a statement only reads.
func reads(st parse.Statement) bool {
	switch s := st.(type) {
	case *parse.SelectStmt, *parse.Show, *parse.Describe, *parse.TQL:
		return true
	case *parse.Explain:
		return !s.Analyze || reads(s.Of)
	}
	return false
}

// writes tells whether a statement is one of those that a write-only user may execute: what changes the store or the
// session and does not show stored rows.
func writes(st parse.Statement) bool {
	switch st.(type) {
	case *parse.Insert, *parse.Delete, *parse.CreateTable, *parse.CreateDatabase, *parse.AlterTable, *parse.AlterDatabase,
		*parse.DropTable, *parse.DropDatabase, *parse.Truncate, *parse.Comment, *parse.CreateView, *parse.Set, *parse.Use,
		*parse.Admin, *parse.Kill, *parse.Copy:
		return true
	}
	return false
}
