package parse

import (
	"strings"

	"varve/engine/status"
)

// Statement is one SQL statement.
type Statement interface {
	// Source is the statement's text as the client wrote it, without the semicolon.
	Source() string
	setSource(text string, from, to Pos)
	// place is the line and column of a position of the statement, and the length of the token there.
	place(at Pos) (line, column, length int)
}

// Stmt is what every statement has.
type Stmt struct {
	Text string
	all  string // the text that the statement stands in: positions count from its beginning
}

// Source is the statement's text.
func (s *Stmt) Source() string { return s.Text }

func (s *Stmt) setSource(text string, from, to Pos) {
	s.Text, s.all = strings.TrimSpace(text[from:to]), text
}

func (s *Stmt) place(at Pos) (line, column, length int) {
	line, column = Place(s.all, at)
	return line, column, nameLength(s.all, at)
}

// Option is a key with a value of WITH (..) or SET; Value is the text of the literal, Null tells NULL.
type Option struct {
	At    Pos
	Key   string
	Value string
	Null  bool
}

// IndexDef is an index of a column definition: kind is inverted, skipping or fulltext.
type IndexDef struct {
	At      Pos
	Kind    string
	Options []Option
}

// NullSpec is what a column definition says of NULL.
type NullSpec uint8

// A column definition says nothing, NULL or NOT NULL.
const (
	NullUnsaid NullSpec = iota
	NullAllowed
	NullForbidden
)

// ColumnDef is a column of CREATE TABLE or ADD COLUMN.
type ColumnDef struct {
	Name       Ident
	Type       DataType
	Null       NullSpec
	Default    Expr
	TimeIndex  int // how often TIME INDEX was said
	PrimaryKey int // how often PRIMARY KEY was said
	Comment    string
	Indexes    []IndexDef
}

type (
	// SelectStmt is a query as a statement.
	SelectStmt struct {
		Stmt
		Query *Query
	}
	// CreateTable is CREATE TABLE.
	CreateTable struct {
		Stmt
		Name        Name
		IfNotExists bool
		OrReplace   bool
		External    bool
		Columns     []ColumnDef
		TimeIndexes [][]Ident // table constraints
		PrimaryKeys [][]Ident // table constraints
		Like        Name
		Partition   string // text of the partition clause, kept
		Engine      string
		Options     []Option
		// Query is the rows of CREATE TABLE .. AS; without Columns they are its columns.
		Query *Query
	}
	// CreateDatabase is CREATE DATABASE.
	CreateDatabase struct {
		Stmt
		Name        Name
		IfNotExists bool
		Options     []Option
	}
	// DropDatabase is DROP DATABASE.
	DropDatabase struct {
		Stmt
		Name     Name
		IfExists bool
	}
	// AlterDatabase is ALTER DATABASE SET or UNSET.
	AlterDatabase struct {
		Stmt
		Name  Name
		Set   []Option
		Unset []string
	}
	// AlterTable is ALTER TABLE with its operations.
	AlterTable struct {
		Stmt
		Name Name
		Ops  []AlterOp
	}
	// DropTable is DROP TABLE or DROP VIEW.
	DropTable struct {
		Stmt
		Names    []Name
		IfExists bool
		View     bool
	}
	// Truncate is TRUNCATE TABLE.
	Truncate struct {
		Stmt
		Name Name
	}
	// Comment is COMMENT ON TABLE or COLUMN.
	Comment struct {
		Stmt
		Table  Name
		Column string // empty: the table
		Text   string
		Null   bool
	}
	// CreateView is CREATE VIEW; Definition is the text of the query.
	CreateView struct {
		Stmt
		Name        Name
		Columns     []Ident
		OrReplace   bool
		IfNotExists bool
		Query       *Query
		TQL         *TQL
		Definition  string
	}
	// Insert is INSERT or REPLACE; exactly one of Rows and Query is set.
	Insert struct {
		Stmt
		Table   Name
		Columns []Ident // nil: all
		Rows    [][]Expr
		Query   *Query
		ByName  bool // the columns are those of the query
		Replace bool
	}
	// Delete is DELETE FROM.
	Delete struct {
		Stmt
		Table Name
		Where Expr
	}
	// Show is every SHOW: What is the lower-case words that name it: "databases", "tables", "create table", ...
	Show struct {
		Stmt
		What  string
		Full  bool
		Table Name   // of SHOW CREATE, COLUMNS, INDEX
		DB    string // FROM d
		DBSet bool
		Like  *string
		Where Expr
		Arg   string // SHOW VARIABLES name
	}
	// Describe is DESC of a table or of the columns of a query: exactly one of Name and Query is set.
	Describe struct {
		Stmt
		Name  Name
		Query *Query
	}
	// Explain is EXPLAIN [ANALYZE] [VERBOSE] of a statement.
	Explain struct {
		Stmt
		Analyze, Verbose bool
		Format           string
		Of               Statement
	}
	// Admin is ADMIN f(..), or a SELECT of it alone.
	Admin struct {
		Stmt
		Call   *Call
		Column string // of a SELECT: the name of its column
	}
	// Set is SET name = value.
	Set struct {
		Stmt
		Name   string // lower case
		Values []Expr
		Rest   string // what follows in a form that has no effect: SET NAMES utf8
	}
	// Use is USE db.
	Use struct {
		Stmt
		Name Name
	}
	// Kill is KILL [QUERY] id.
	Kill struct {
		Stmt
		ID string
	}
	// TQL is a metrics-language statement.
	TQL struct {
		Stmt
		At        Pos
		Kind      string // eval, explain, analyze
		Verbose   bool
		Format    string
		Start     Expr // nil when the parentheses are left out
		End, Step Expr
		Lookback  Expr // nil: default
		Expr      string
		ExprAt    status.Place // of the expression in the text; zero where it is a text of its own
		Alias     string
	}
	// Copy is COPY ... TO|FROM.
	Copy struct {
		Stmt
		Table    Name
		Query    *Query
		Database string
		To       bool
		Path     string
		Options  []Option
		// Connection is how to reach a store of objects.
		Connection []Option
		Limit      Expr
	}
)

// AlterOp is one operation of ALTER TABLE.
type AlterOp interface{ alterOp() }

type (
	// AddColumn is ADD COLUMN.
	AddColumn struct {
		Column      ColumnDef
		IfNotExists bool
		First       bool
		After       string // empty: at the end
	}
	// DropColumn is DROP COLUMN.
	DropColumn struct {
		Name     Ident
		IfExists bool
	}
	// ModifyType is MODIFY COLUMN c type.
	ModifyType struct {
		Name Ident
		Type DataType
	}
	// ModifyDefault is MODIFY COLUMN c SET DEFAULT v; Default nil is DROP DEFAULT.
	ModifyDefault struct {
		Name    Ident
		Default Expr
	}
	// ModifyIndex is MODIFY COLUMN c SET|UNSET .. INDEX.
	ModifyIndex struct {
		Name  Ident
		Index IndexDef
		Unset bool
	}
	// RenameTable is RENAME [TO] new.
	RenameTable struct{ To Name }
	// RenameColumn is RENAME [COLUMN] c TO new.
	RenameColumn struct{ Name, To Ident }
	// SetOptions is SET 'k' = 'v'.
	SetOptions struct{ Options []Option }
	// UnsetOptions is UNSET 'k'.
	UnsetOptions struct{ Keys []string }
)

func (*AddColumn) alterOp()     {}
func (*DropColumn) alterOp()    {}
func (*ModifyType) alterOp()    {}
func (*ModifyDefault) alterOp() {}
func (*ModifyIndex) alterOp()   {}
func (*RenameTable) alterOp()   {}
func (*RenameColumn) alterOp()  {}
func (*SetOptions) alterOp()    {}
func (*UnsetOptions) alterOp()  {}
