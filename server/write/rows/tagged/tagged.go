// Package tagged turns lines and points with tags into rows. It looks columns up by name while a body is read, checks
// them against the table that exists, and counts their memory before they grow. Protocols decode their bodies straight
// into it.
package tagged

import (
	"maps"
	"math"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/server/write/rows"
)

// Request is what the rows of a request have in common.
type Request struct {
	DB     string
	Tables rows.Tables
	// Hint is the hint of all tables, but without their tags, and without the time index of tables that exist.
	Hint engine.Hint
	// Time is the type of the time index of tables that are made.
	Time vector.Type
	// Most bounds the memory of the rows, about, in bytes; Hold, if not nil, is called with the bytes so far.
	Most int64
	Hold func(bytes int64) error
}

// Rows are the rows of one request. One goroutine at a time.
type Rows struct {
	*Request
	set    *engine.WriteSet
	byName map[string]*Table
	last   *Table
	count  int

	held int64 // bytes that the rows take
	told int64 // held up to which Hold need not be called again
}

// Bytes that a table and a column take besides their values, and that rows grow by before Hold is called again.
const (
	tableBytes  = 4 << 10
	columnBytes = 1 << 10
	holdStep    = 1 << 20
)

// New begins the rows of a request in a set.
func New(r *Request, set *engine.WriteSet) *Rows {
	return &Rows{Request: r, set: set, byName: map[string]*Table{}}
}

// Count is the number of rows.
func (r *Rows) Count() int { return r.count }

// Grow counts bytes of values, which come from a body of body bytes.
func (r *Rows) Grow(bytes, body int64) error {
	if r.held += bytes; r.held <= r.told {
		return nil
	}
	if r.held > r.Most {
		return status.New(status.InvalidArguments,
			"the rows of the request take %d bytes, the limit is %d, send fewer at a time", r.held, r.Most)
	}
	r.told = r.held + holdStep
	if r.Hold == nil {
		return nil
	}
	return r.Hold(body + r.held)
}

// Table is the rows of a table.
type Table struct {
	rows   *Rows
	name   string
	b      *vector.Builder
	hint   *engine.Hint
	there  *schema.Table // nil: there is none yet
	byName map[string]*Column
	time   *vector.ColumnBuilder
	unit   int64 // of its values, ns

	columns, tags int // of the rows that have ended
}

// Column is a column of a table.
type Column struct {
	*vector.ColumnBuilder
	role schema.Semantic
}

// Table finds the rows of a table, or begins them.
func (r *Rows) Table(name []byte) (*Table, error) {
	if t := r.last; t != nil && t.name == string(name) {
		return t, nil
	}
	t := r.byName[string(name)]
	if t == nil {
		if len(name) == 0 {
			return nil, status.New(status.InvalidArguments, "the name of a table is empty")
		}
		full := schema.Name{DB: r.DB, Table: string(name)}
		t = &Table{rows: r, name: full.Table, byName: map[string]*Column{}}
		hint, typ := r.Hint, r.Time
		// a table that is absent is made, or refused, when the rows are written
		if there, err := r.Tables.Table(full); err == nil {
			t.there = there.Schema
			index := &t.there.Columns[t.there.Time]
			hint.TimeIndex, typ = index.Name, index.Type
		}
		t.unit = int64(time.Second) / typ.UnitsPerSecond()
		t.b, t.hint = r.set.Table(full, hint)
		var err error
		if t.time, err = t.b.Column(hint.TimeIndex, typ); err != nil {
			return nil, err
		}
		t.b.Pin()
		t.columns, t.tags = t.b.Columns(), len(t.hint.Tags)
		r.byName[full.Table] = t
		r.held += tableBytes
	}
	r.last = t
	return t, nil
}

// Tag finds or adds a tag.
func (t *Table) Tag(name []byte) (*Column, error) {
	return t.Column(name, vector.StringType, schema.Tag)
}

// Column finds or adds a column. If the table has another role or type for it, the error is InvalidArguments.
func (t *Table) Column(name []byte, typ vector.Type, role schema.Semantic) (*Column, error) {
	if c := t.byName[string(name)]; c != nil {
		switch {
		case c.role != role:
			return nil, status.New(status.InvalidArguments,
				"Column: %s, semantic_type incompatible, expected: %s, actual: %s", name, c.role, role)
		case c.Type() != typ && !texts(typ, c.Type()):
			return nil, status.New(status.InvalidArguments,
				"Column: %s, datatype incompatible, expected: %s, actual: %s", name, c.Type(), typ)
		}
		return c, nil
	}
	key := string(name)
	if err := schema.CheckColumnName(key); err != nil {
		return nil, err
	}
	if len(t.byName) >= schema.MaxColumns-1 {
		return nil, status.New(status.InvalidArguments,
			"column '%.80s': a request can have at most %d columns of a table", key, schema.MaxColumns)
	}
	typ, err := Agree(t.there, t.hint, key, typ, role)
	if err != nil {
		return nil, err
	}
	if err := t.rows.Grow(columnBytes+8*int64(t.b.Rows()), 0); err != nil {
		return nil, err
	}
	b, err := t.b.Column(key, typ)
	if err != nil {
		return nil, err
	}
	t.b.Pin()
	c := &Column{b, role}
	t.byName[key] = c
	if role == schema.Tag {
		t.hint.Tags = append(t.hint.Tags, key)
	}
	return c, nil
}

// Agree holds a new column of rows against the existing table, nil for none, and against the hint of the rows. It
// returns the type in which values of the column are kept. If the table has another role or type for the column, the
// error is InvalidArguments.
func Agree(there *schema.Table, hint *engine.Hint, key string, typ vector.Type, role schema.Semantic) (vector.Type,
	error) {
	if key == hint.TimeIndex {
		return typ, status.New(status.InvalidArguments,
			"Column: %s, semantic_type incompatible, expected: %s, actual: %s", key, schema.Timestamp, role)
	}
	if there == nil {
		return typ, nil
	}
	p := there.Column(key)
	if p < 0 {
		return typ, nil
	}
	switch c := &there.Columns[p]; {
	case c.Semantic != role:
		return typ, status.New(status.InvalidArguments, "column %s expect semantic type %s, given: %s", key, c.Semantic,
			role)
	case c.Type == typ || texts(typ, c.Type):
		return c.Type, nil
	case !hint.StrictNumbers && engine.OneKind(c.Type, typ):
		return typ, nil // the store widens integers to floats
	default:
		return typ, status.New(status.InvalidArguments, "%s", engine.ClashText(key, c.Type, typ))
	}
}

// texts reports whether JSON is written into a column of strings.
func texts(typ, column vector.Type) bool {
	return typ == vector.JSONType && column == vector.StringType
}

// From notes the entry of a body that the rows from now on come from, see engine.Hint.Reject.
func (t *Table) From(entry int) { t.b.From(entry) }

// SetTime sets the time of the row in hand, in ns, in the unit of the table.
func (t *Table) SetTime(ns int64) { t.time.SetInt(timefmt.FloorDiv(ns, t.unit)) }

// EndRow ends a row whose values take values bytes, of a body of body bytes.
func (t *Table) EndRow(values int, body int64) error {
	t.b.EndRow()
	t.columns, t.tags = t.b.Columns(), len(t.hint.Tags)
	t.rows.count++
	return t.rows.Grow(16*int64(len(t.byName)+1)+int64(values), body)
}

// DropRow undoes the row in hand, with the columns that it added: they must not take the places of columns of later
// rows. The caller must look up columns again that it found for the row.
func (t *Table) DropRow() {
	t.b.Unpin(t.columns)
	if removed := t.b.AbandonRow(); removed > 0 {
		maps.DeleteFunc(t.byName, func(name string, _ *Column) bool { return t.b.Lookup(name) == nil })
		t.hint.Tags = t.hint.Tags[:t.tags]
		t.rows.held -= int64(removed) * (columnBytes + 8*int64(t.b.Rows()))
	}
	t.b.Pin()
}

// SetMillis is SetTime for a time in ms. False: it does not fit the unit of the table.
func (t *Table) SetMillis(ms int64) bool {
	const unit = int64(time.Millisecond)
	if t.unit >= unit {
		t.time.SetInt(timefmt.FloorDiv(ms, t.unit/unit))
		return true
	}
	factor := unit / t.unit
	if ms > math.MaxInt64/factor || ms < math.MinInt64/factor {
		return false
	}
	t.time.SetInt(ms * factor)
	return true
}
