// Package schema describes tables: columns, which are found by name and stored by id, options, and how a schema
// changes. All values are immutable once published.
package schema

import "varve/engine/vector"

// ColumnID names a column of a table for ever; ids are never reused within a table.
type ColumnID uint32

// TableID names a table for ever; ids are never reused within a data directory.
type TableID uint32

// Ids of the hidden columns that every run carries; merging alone looks at them.
const (
	SequenceID ColumnID = 1<<32 - 1 // the write's sequence number, UInt64
	KindID     ColumnID = 1<<32 - 2 // UInt8: KindPut or KindDelete
	SeriesID   ColumnID = 1<<32 - 3 // UInt32: number of the series inside its run
)

// Ids of the tags of a physical table that say whose row it is. They are in the series key and nowhere else.
const (
	TableTagID  ColumnID = 1<<32 - 4 // UInt32: the logical table
	SeriesTagID ColumnID = 1<<32 - 5 // UInt64: hash of the labels
)

// TableTag and SeriesTag are the tags of a physical table that say whose row it is.
var (
	TableTag  = Column{ID: TableTagID, Name: "__table_id", Type: vector.Uint32Type, Semantic: Tag}
	SeriesTag = Column{ID: SeriesTagID, Name: "__tsid", Type: vector.Uint64Type, Semantic: Tag}
)

// Values of the kind column.
const (
	KindPut    = 0
	KindDelete = 1
)

// SequenceColumn and KindColumn ask a run for the hidden columns.
var (
	SequenceColumn = Column{ID: SequenceID, Name: "__sequence", Type: vector.Uint64Type, Semantic: Field}
	KindColumn     = Column{ID: KindID, Name: "__kind", Type: vector.Uint8Type, Semantic: Field}
)

// Semantic is the role of a column.
type Semantic uint8

// The roles. Tags make up the series, the Timestamp column is the time index, the rest are fields.
const (
	Field Semantic = iota
	Tag
	Timestamp
)

// String is the role as DESC shows it.
func (s Semantic) String() string { return [...]string{"FIELD", "TAG", "TIMESTAMP"}[s] }

// Index is one index that DDL asked for, with its options as SHOW CREATE TABLE prints them.
type Index struct {
	Kind    IndexKind         `json:"kind"`
	Options map[string]string `json:"options,omitempty"`
}

// IndexKind is the kind of an index of DDL.
type IndexKind uint8

// The kinds of index.
const (
	Inverted IndexKind = iota + 1
	Skipping
	Fulltext
)

// Column is one column of a table.
type Column struct {
	ID       ColumnID
	Name     string
	Type     vector.Type
	Semantic Semantic
	Nullable bool
	// Default is the value that a row without a value reads: one row, Const; nil for NULL. With DefaultExpr, it is the
	// value of rows written before the column existed.
	Default *vector.Vector
	// DefaultExpr is the default as DDL text when it is evaluated at each write: current_timestamp(). Empty otherwise.
	DefaultExpr string
	// Initial is the value for rows written before the column existed: the default at the time when it was added; one
	// row, Const; nil for NULL. Later changes of the default do not change it.
	Initial *vector.Vector
	// DefaultText is the default as DESC and SHOW CREATE TABLE print it; empty if there is none.
	DefaultText string
	Indexes     []Index
	Comment     string
}
