// Package infoschema provides the tables of information_schema: the catalog as rows. A table is made when a query reads
// it. Conditions on schema and table names limit how much of the catalog is walked.
package infoschema

import (
	"strconv"
	"strings"
	"time"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/vector"
)

// Names of the databases that are always there besides public.
const (
	DB      = "information_schema"
	Private = "service_private"
	Catalog = "service"
)

// Env is what the tables are made from.
type Env struct {
	Engine    *engine.Engine
	Version   string
	User      string // of the session
	Rights    string // of the user, as GRANT would name them; empty: all
	Now       func() time.Time
	Processes func() []Process
	Views     func() ([]View, error)
	// Metrics returns the largest contributors to the series of a database's metrics; nothing if it has no metrics.
	Metrics func(db string) ([]Count, error)
	// Settings are the parameters of the session; nil: it has none that clients know.
	Settings func() []Setting
}

// Numbers is the table of the numbers from 0 to 99 in the database public. It is not a table of the store.
const Numbers = "numbers"

// NumbersSchema is the schema of the table of numbers for SHOW, DESC and information_schema.
func NumbersSchema() *schema.Table {
	return &schema.Table{Name: schema.Name{DB: engine.PublicDB, Table: Numbers}, Time: -1, Tags: []int{0},
		Columns: []schema.Column{{Name: "number", Type: vector.Uint32Type, Semantic: schema.Tag}}}
}

// View is a stored query.
type View struct {
	DB, Name, Definition string
	Query                string // of the definition
	// Columns are the current columns of the query; none if it can no longer be planned because a table is gone.
	Columns func() []schema.Column
}

// Count is how often something is there; Name is empty where all of a kind are counted.
type Count struct {
	Kind, Name string
	N          int64
}

// Process is a running query.
type Process struct {
	ID     string
	DB     string
	Query  string
	Client string
	User   string // empty: the request named none
	// Application is what the client calls itself; empty: nothing.
	Application string
	Backend     uint32 // the number of its connection of PostgreSQL's protocol; 0: it came by another one
	Started     time.Time
	Elapsed     time.Duration
}

// Where restricts the schema and table names of the rows; empty means all. It may give more rows than match.
type Where struct{ Schema, Table string }

func (w Where) schema(name string) bool { return w.Schema == "" || w.Schema == name }
func (w Where) table(name string) bool  { return w.Table == "" || w.Table == name }

// Table is one table of information_schema.
type Table struct {
	Name    string
	Columns []schema.Column
	Fields  []vector.Field // of Columns
	Hidden  int            // how many of the last columns are found by name only
	// SchemaColumn and TableColumn name the columns that Where restricts; empty: none.
	SchemaColumn, TableColumn string
	fill                      func(e *Env, w Where, r *rows) error
	number                    int64 // that clients find the table by; 0: none
}

// Rows makes the rows.
func (t *Table) Rows(e *Env, w Where) (*vector.Batch, error) {
	r := &rows{b: vector.NewBuilder(), number: t.number, frozen: t.Hidden > 1,
		places: make(map[string]int, len(t.Fields))}
	for i, f := range t.Fields {
		c, err := r.b.Column(f.Name, f.Type)
		if err != nil {
			return nil, err
		}
		r.cols = append(r.cols, c)
		if r.places[f.Name] = i; !t.Columns[i].Nullable {
			r.filled = append(r.filled, i)
		}
	}
	r.b.Pin()
	if err := t.fill(e, w, r); err != nil {
		return nil, err
	}
	_, b := r.b.Finish()
	return b, nil
}

// Find finds a table by name in any case; nil if it does not exist.
func Find(name string) *Table {
	name = strings.ToLower(name)
	for _, t := range definitions {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Tables are all tables, by name.
func Tables() []*Table { return definitions }

// rows collects rows of a few hundred cells at most each: metadata, not data.
type rows struct {
	b      *vector.Builder
	cols   []*vector.ColumnBuilder
	places map[string]int // of cols, by name
	filled []int          // places of the columns that are never NULL
	number int64          // of the table, in its last column; 0: there is no such column
	frozen bool           // the column before it is a transaction
}

// add appends a row; nil is NULL. Missing values at the end are NULL.
func (r *rows) add(values ...any) {
	for i, v := range values {
		set(r.cols[i], v)
	}
	r.end()
}

// frozen is the transaction that made the rows of the catalog: one that all clients see.
const frozen = 2

// end ends a row, which has the number of its table if others see it.
func (r *rows) end() {
	if r.number != 0 {
		if r.frozen {
			r.cols[len(r.cols)-2].SetUint(frozen)
		}
		r.cols[len(r.cols)-1].SetUint(uint64(r.number))
	}
	r.b.EndRow()
}

// row appends a row of names of columns, each with its value behind it. A column without a value is NULL, or zero where
// it is never NULL.
func (r *rows) row(named ...any) {
	for i := 0; i < len(named); i += 2 {
		place, ok := r.places[named[i].(string)]
		if !ok {
			panic("infoschema: a value of no column: " + named[i].(string))
		}
		set(r.cols[place], named[i+1])
	}
	for _, i := range r.filled {
		c := r.cols[i]
		if c.IsSet() {
			continue
		}
		switch {
		case c.Type().ID == vector.TypeList:
			c.SetString("[]")
		case c.Type().Kind() == vector.Bool:
			c.SetBool(false)
		case c.Type().Kind() == vector.Int64:
			c.SetInt(0)
		case c.Type().Kind() == vector.Uint64:
			c.SetUint(0)
		case c.Type().Kind() == vector.Float64:
			c.SetFloat(0)
		default:
			c.SetString("")
		}
	}
	r.end()
}

// set sets a value of the current row.
func set(c *vector.ColumnBuilder, v any) {
	switch v := v.(type) {
	case nil:
	case string:
		c.SetString(v)
	case bool:
		c.SetBool(v)
	case int64:
		if c.Type().Kind() == vector.Uint64 {
			c.SetUint(uint64(v))
		} else {
			c.SetInt(v)
		}
	case int:
		if c.Type().Kind() == vector.Uint64 {
			c.SetUint(uint64(v))
		} else {
			c.SetInt(int64(v))
		}
	case uint64:
		c.SetUint(v)
	case float64:
		c.SetFloat(v)
	case []int64: // lists are arrays of JSON
		list := []byte{'['}
		for i, x := range v {
			if i > 0 {
				list = append(list, ',')
			}
			list = strconv.AppendInt(list, x, 10)
		}
		c.SetBytes(append(list, ']'))
	default:
		panic("infoschema: a value of no column's kind")
	}
}

// columns makes columns of words: "name" is a string, "name:u32" and the like have their type, and one that ends in "?"
// may be NULL.
func columns(list string) []schema.Column {
	types := map[string]vector.Type{
		"": vector.StringType, "u64": vector.Uint64Type, "u32": vector.Uint32Type, "i64": vector.Int64Type,
		"i16": vector.Int16Type, "i32": vector.Int32Type,
		"f64": vector.FloatType,
		"s":   vector.Timestamp(0), "ms": vector.Timestamp(3), "ns": vector.Timestamp(9), "bool": vector.BoolType,
		"u8": vector.Uint8Type, "us": vector.Timestamp(6), "texts": vector.List(vector.StringType),
		"ints": vector.List(vector.Int64Type), "oids": vector.List(vector.Uint32Type),
		"floats": vector.List(vector.FloatType),
	}
	var made []schema.Column
	for _, word := range strings.Fields(list) {
		word, nullable := strings.CutSuffix(word, "?")
		name, t, _ := strings.Cut(word, ":")
		made = append(made, schema.Column{Name: name, Type: types[t], Nullable: nullable, Semantic: schema.Field})
	}
	return made
}

// databases are the names of all databases that the condition lets through, information_schema included, sorted.
func databases(e *Env, w Where) []engine.Database {
	var list []engine.Database
	info := false
	for _, d := range e.Engine.Databases() {
		if !info && d.Name > DB {
			info = true
			list = appendIf(list, w.schema(DB), engine.Database{Name: DB})
		}
		list = appendIf(list, w.schema(d.Name), d)
	}
	if !info {
		list = appendIf(list, w.schema(DB), engine.Database{Name: DB})
	}
	return list
}

func appendIf[T any](list []T, ok bool, x T) []T {
	if ok {
		return append(list, x)
	}
	return list
}

// eachTable calls f for every table of the store that the condition lets through. A database dropped in between has
// no tables.
func eachTable(e *Env, w Where, f func(t *engine.Table) error) error {
	for _, d := range databases(e, w) {
		if d.Name == DB {
			continue
		}
		if w.Table != "" {
			t, err := e.Engine.Table(schema.Name{DB: d.Name, Table: w.Table})
			if err != nil {
				continue // the table does not exist: no rows
			}
			if err := f(t); err != nil {
				return err
			}
			continue
		}
		list, err := e.Engine.Tables(d.Name)
		if err != nil {
			continue
		}
		for _, t := range list {
			if err := f(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachView calls f for every view that the condition lets through.
func eachView(e *Env, w Where, f func(v View)) error {
	list, err := e.Views()
	for _, v := range list {
		if w.schema(v.DB) && w.table(v.Name) {
			f(v)
		}
	}
	return err
}

// hasNumbers reports whether the condition lets the table of numbers through and no table of the store has its name.
func hasNumbers(e *Env, w Where) bool {
	if !w.schema(engine.PublicDB) || !w.table(Numbers) {
		return false
	}
	_, err := e.Engine.Table(schema.Name{DB: engine.PublicDB, Table: Numbers})
	return err != nil
}

// eachOwn calls f for every table of information_schema itself that the condition lets through.
func eachOwn(w Where, f func(id int, t *Table)) {
	if !w.schema(DB) {
		return
	}
	for i, t := range definitions {
		if w.table(t.Name) {
			f(i+1, t)
		}
	}
}
