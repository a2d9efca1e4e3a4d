package schema

import (
	"strconv"
	"strings"

	"varve/engine/status"
	"varve/engine/vector"
)

// Name is a table's full name. The catalog is always "service".
type Name struct{ DB, Table string }

// String is the name as error texts show it.
func (n Name) String() string { return "service." + n.DB + "." + n.Table }

// Option is one table option as given, key and normalised value.
type Option struct{ Key, Value string }

// Options are the table options. The typed members are what the engine acts on; All holds every option in normal form,
// sorted by key, as SHOW CREATE TABLE prints them.
type Options struct {
	AppendMode bool
	MergeMode  MergeMode
	SkipWAL    bool
	// ReadOnly refuses changes of rows and of columns.
	ReadOnly bool `json:",omitempty"`
	// RowRate and ByteRate bound the rows and bytes that are written in a second; 0: no bound.
	RowRate, ByteRate int64 `json:",omitempty"`
	// TTL in nanoseconds; 0 keeps rows for ever, TTLInstant drops them at once.
	TTL     int64
	Comment string
	All     []Option
}

// TTLInstant is the TTL of tables that accept rows and drop them.
const TTLInstant = -1

// MergeMode says what happens to rows of equal key in tables that are not append-only.
type MergeMode uint8

// The merge modes.
const (
	LastRow MergeMode = iota
	LastNonNull
)

// Table is one version of a table's schema. Immutable.
type Table struct {
	ID      TableID
	Name    Name
	Version uint32
	// Altered counts the changes by ALTER since the store was opened. Cached knowledge about the columns of a table
	// stays valid as long as the count is the same, whatever columns writes add. It is not stored.
	Altered uint32
	// Freed counts how often labels that no series has were dropped from a table of metrics since the store was opened.
	// It is not stored.
	Freed   uint32
	Columns []Column
	// Time is the position of the time index in Columns.
	Time int
	// Tags are the positions of the tag columns, in key order.
	Tags    []int
	Options Options
	// NextColumn is the id that the next new column gets.
	NextColumn ColumnID
	// CreatedMS is the time of creation, ms since the epoch.
	CreatedMS int64
	// Engine is "mito" or "metric", as SHOW CREATE TABLE prints it.
	Engine string
	// Physical is set for a logical table: the id of the physical table that stores its rows. The columns of a logical
	// table have the ids of the physical table's columns, and its series keys begin with its own id. 0: the table
	// stores its own rows.
	Physical TableID
	// Emptied is the sequence number up to which the last TRUNCATE removed all rows. It shows a client that its rows
	// may be gone. 0: the table was never truncated. A logical table gets another ID instead.
	Emptied uint64
	// Draft marks a table that is being created and filled. Its name is the name of the table that it will become, a
	// slash and a number. Lists leave it out, and a start drops it.
	Draft bool
}

// DraftName is the name of a draft of a table; n makes it a name of its own.
func DraftName(of Name, n TableID) Name {
	return Name{DB: of.DB, Table: of.Table + "/" + strconv.FormatUint(uint64(n), 10)}
}

// Finished returns the table that a draft becomes; for any other table, t itself.
func (t *Table) Finished() *Table {
	if !t.Draft {
		return t
	}
	n := *t
	n.Draft = false
	n.Name.Table = n.Name.Table[:strings.LastIndexByte(n.Name.Table, '/')]
	return &n
}

// Shared reports whether the table is a physical one: storage for logical tables.
func (t *Table) Shared() bool {
	_, ok := t.Options.Find(PhysicalOption)
	return ok
}

// The options that make physical and logical tables. A physical table shows the tags that the server made only where
// EncodingOption is SparseEncoding.
const (
	PhysicalOption = "physical_metric_table"
	LogicalOption  = "on_physical_table"
	EncodingOption = "primary_key_encoding"
	SparseEncoding = "sparse"
)

// SemanticOption marks with the value SemanticMetric a table that a metrics protocol made, so that it is listed among
// the metrics though it is no logical table.
const (
	SemanticOption = "service.semantic.signal"
	SemanticMetric = "metric"
)

// Hides reports whether a column is one that the server made and that is not shown.
func (t *Table) Hides(c *Column) bool {
	if c.ID != TableTagID && c.ID != SeriesTagID {
		return false
	}
	encoding, _ := t.Options.Find(EncodingOption)
	return encoding != SparseEncoding
}

// Shown is the table without the columns that it hides.
func (t *Table) Shown() *Table { return t.without(t.Hides) }

// Given is the table without the columns that the server made: what makes it anew.
func (t *Table) Given() *Table {
	return t.without(func(c *Column) bool { return c.ID == TableTagID || c.ID == SeriesTagID })
}

// FreeTags returns the table without those tags that no row has; t itself if there are none.
func (t *Table) FreeTags(free func(ColumnID) bool) *Table {
	n := t.without(func(c *Column) bool { return c.Semantic == Tag && free(c.ID) })
	if n != t {
		n.Version++
		n.Freed++
	}
	return n
}

// without returns the table without some columns, none of which is the time index; t itself if no column is to go.
func (t *Table) without(drop func(*Column) bool) *Table {
	n := *t
	n.Columns, n.Tags = nil, nil
	moved := make([]int, len(t.Columns))
	for i := range t.Columns {
		if moved[i] = -1; !drop(&t.Columns[i]) {
			moved[i] = len(n.Columns)
			n.Columns = append(n.Columns, t.Columns[i])
		}
	}
	if len(n.Columns) == len(t.Columns) {
		return t
	}
	for _, i := range t.Tags {
		if moved[i] >= 0 {
			n.Tags = append(n.Tags, moved[i])
		}
	}
	n.Time = moved[t.Time]
	return &n
}

// TimeColumn is the time index.
func (t *Table) TimeColumn() Column { return t.Columns[t.Time] }

// Key is the columns that tell one row from another: the tags, then the time index.
func (t *Table) Key() []Column {
	key := make([]Column, 0, len(t.Tags)+1)
	for _, p := range t.Tags {
		key = append(key, t.Columns[p])
	}
	return append(key, t.TimeColumn())
}

// Column finds a column by name; -1 if it does not exist.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// IDs are the ids of columns that are there.
func (t *Table) IDs(names ...string) []ColumnID {
	ids := make([]ColumnID, len(names))
	for i, name := range names {
		ids[i] = t.Columns[t.Column(name)].ID
	}
	return ids
}

// ByID finds a column by id; -1 if it does not exist.
func (t *Table) ByID(id ColumnID) int {
	for i := range t.Columns {
		if t.Columns[i].ID == id {
			return i
		}
	}
	return -1
}

// Evolve returns the next version with the columns added at the end, in order. New columns must be nullable or have a
// default, and their names must be new: otherwise TableColumnExists or InvalidArguments. Ids are given here.
func (t *Table) Evolve(add []Column) (*Table, error) {
	n := *t
	n.Version++
	n.Columns = append(make([]Column, 0, len(t.Columns)+len(add)), t.Columns...)
	n.Tags = append([]int(nil), t.Tags...)
	if err := n.Grow(add); err != nil {
		return nil, err
	}
	return &n, nil
}

// Grow is like Evolve for a version that no other goroutine knows yet: it appends the columns in place and does not
// copy the existing ones. After an error the table is unchanged.
func (t *Table) Grow(add []Column) error {
	old := len(t.Columns)
	t.Columns = append(t.Columns, add...)
	for i := old; i < len(t.Columns); i++ {
		if err := t.checkNew(i); err != nil {
			t.Columns = t.Columns[:old]
			return err
		}
	}
	for i := old; i < len(t.Columns); i++ {
		c := &t.Columns[i]
		if c.Semantic == Tag {
			t.Tags = append(t.Tags, i)
		}
		c.ID, c.Initial = t.NextColumn, c.Default
		t.NextColumn++
	}
	return nil
}

// checkNew says why the column at a place cannot join those before it.
func (t *Table) checkNew(at int) error {
	switch c := &t.Columns[at]; {
	case t.Column(c.Name) != at:
		return status.New(status.TableColumnExists, "Column %s already exists in table %s", c.Name, t.Name)
	case !c.Nullable && c.Default == nil:
		return status.New(status.InvalidArguments, "no default value for the new column %s, which is NOT NULL", c.Name)
	case c.Semantic == Timestamp:
		return status.New(status.InvalidArguments, "column %s cannot be a time index: table %s already has the time index %s",
			c.Name, t.Name.Table, t.TimeColumn().Name)
	}
	return nil
}

// Types are the types of the columns with the given positions.
func (t *Table) Types(positions []int) []vector.Type {
	types := make([]vector.Type, len(positions))
	for i, p := range positions {
		types[i] = t.Columns[p].Type
	}
	return types
}
