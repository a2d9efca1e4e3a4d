// Package private reads and writes the server's own tables: the tables of the database service_private in which the
// server keeps pipelines, views and the like. They are ordinary tables, so that a backup has them and a crash loses no
// acknowledged row. The package engine names them, refuses changes by anybody else, and sets aside one that is broken.
package private

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"varve/engine"
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Table describes one of the tables. Stores keep their tables for years: change a Table only by columns that are Later.
type Table struct {
	// OwnTable is the form. The table is made with the columns in their order, all of them nullable but the time index.
	engine.OwnTable
	// TTL and Comment are those that the table is made with; empty: none.
	TTL, Comment string
}

// name is the full name of the table.
func (t *Table) name() schema.Name { return schema.Name{DB: engine.PrivateDB, Table: t.Name} }

// options are the options that the table is made with.
func (t *Table) options() (schema.Options, error) {
	given := map[string]string{}
	if t.AppendMode {
		given["append_mode"] = "true"
	}
	if t.TTL != "" {
		given["ttl"] = t.TTL
	}
	return schema.ParseOptions(given)
}

// Writer takes rows; engine.Engine does.
type Writer interface {
	Write(ctx context.Context, s *engine.WriteSet) ([]engine.Written, error)
}

// Put writes rows, and creates the table with the first of them. The values of a row are in the order of the columns:
// string, []byte, int64, uint64, float64 or bool, nil for NULL. A row replaces an earlier row with the same tags and
// time.
func (t *Table) Put(ctx context.Context, w Writer, rows ...[]any) error {
	options, err := t.options()
	if err != nil {
		return err
	}
	var set engine.WriteSet
	b := set.Rows(t.name(), engine.Hint{AutoCreate: true, TimeIndex: t.Time, Tags: t.Tags, Options: options,
		Comment: t.Comment})
	if err := fill(b, t.Columns, rows); err != nil {
		return err
	}
	_, err = w.Write(engine.AsServer(ctx), &set)
	return err
}

// Delete removes the rows with some keys. The values of a key are those of the tags, then the time.
func (t *Table) Delete(ctx context.Context, e *engine.Engine, keys ...[]any) error {
	b := vector.NewBuilder()
	if err := fill(b, t.key(), keys); err != nil {
		return err
	}
	_, batch := b.Finish()
	tab, err := e.Table(t.name())
	if err != nil {
		return err
	}
	_, err = e.Delete(engine.AsServer(ctx), tab.Schema, batch)
	return err
}

// key is the columns of the key.
func (t *Table) key() []vector.Field {
	var key []vector.Field
	for _, name := range append(slices.Clone(t.Tags), t.Time) {
		key = append(key, t.Columns[slices.IndexFunc(t.Columns, func(f vector.Field) bool { return f.Name == name })])
	}
	return key
}

// fill appends rows to a builder, whose columns get the order of the fields.
func fill(b *vector.Builder, fields []vector.Field, rows [][]any) error {
	for _, row := range rows {
		for i, f := range fields {
			c, err := b.Column(f.Name, f.Type)
			if err != nil {
				return err
			}
			set(c, row[i])
		}
		b.Pin()
		b.EndRow()
	}
	return nil
}

// set sets a value of the current row.
func set(c *vector.ColumnBuilder, value any) {
	switch x := value.(type) {
	case nil:
	case string:
		c.SetString(x)
	case []byte:
		c.SetBytes(x)
	case int64:
		c.SetInt(x)
	case uint64:
		c.SetUint(x)
	case float64:
		c.SetFloat(x)
	case bool:
		c.SetBool(x)
	default:
		panic(fmt.Sprintf("no column of the server's own tables takes a %T", value))
	}
}

// Query says what Rows reads.
type Query struct {
	Columns []string
	// Where are the texts that columns must have.
	Where map[string]string
	// Time bounds the time index. nil: all times.
	Time *scan.Range
}

// Row is the values that a query asked for, in the order of its columns. It is valid until the next one.
type Row struct {
	batch *vector.Batch
	i     int
	at    []int // the columns of batch; -1: the table is from before the column
}

// IsNull reports whether a value is NULL.
func (r Row) IsNull(k int) bool { return r.at[k] < 0 || r.batch.Cols[r.at[k]].IsNull(r.i) }

// AnyNull reports whether one of the first n values is NULL.
func (r Row) AnyNull(n int) bool {
	for k := range n {
		if r.IsNull(k) {
			return true
		}
	}
	return false
}

// Bytes is a text, nothing for NULL.
func (r Row) Bytes(k int) []byte {
	if r.IsNull(k) {
		return nil
	}
	return r.batch.Cols[r.at[k]].Bytes(r.i)
}

// Text is a copy of a text, empty for NULL.
func (r Row) Text(k int) string { return string(r.Bytes(k)) }

// Int is an integer or a time, 0 for NULL.
func (r Row) Int(k int) int64 {
	if r.IsNull(k) {
		return 0
	}
	return r.batch.Cols[r.at[k]].Int(r.i)
}

// Float is a float, 0 for NULL.
func (r Row) Float(k int) float64 {
	if r.IsNull(k) {
		return 0
	}
	return r.batch.Cols[r.at[k]].Float(r.i)
}

// Rows reads rows, none where the table is not there or is broken. An error is the last that it yields.
func (t *Table) Rows(ctx context.Context, e *engine.Engine, q Query) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		table, err := e.Own(&t.OwnTable)
		if status.Of(err) == status.TableNotFound {
			return
		}
		if err == nil {
			err = read(ctx, e, table, q, func(r Row) bool { return yield(r, nil) })
		}
		if err != nil {
			yield(Row{}, err)
		}
	}
}

// read shows the rows of a table that a query asks for, until show has enough.
func read(ctx context.Context, e *engine.Engine, table *engine.Table, q Query, show func(Row) bool) error {
	request := engine.Request{Table: table, Time: scan.All}
	if q.Time != nil {
		request.Time = *q.Time
	}
	for name, text := range q.Where {
		request.Filter = append(request.Filter,
			filter.Cond{Column: table.Schema.IDs(name)[0], Op: filter.Equal, Args: vector.ConstString(text), NArgs: 1})
	}
	r := Row{at: make([]int, len(q.Columns))}
	for k, name := range q.Columns {
		if r.at[k] = -1; table.Schema.Column(name) >= 0 {
			r.at[k] = len(request.Columns)
			request.Columns = append(request.Columns, table.Schema.IDs(name)...)
		}
	}
	rows, err := e.Scan(ctx, request)
	if err != nil {
		return err
	}
	return rows.Each(func(b *vector.Batch) (bool, error) {
		for r.batch, r.i = b, 0; r.i < b.N; r.i++ {
			if !show(r) {
				return false, nil
			}
		}
		return true, nil
	})
}

// KeepTTL gives a table that was made with another ttl the one of t. there reports whether there is a table.
func (t *Table) KeepTTL(ctx context.Context, e *engine.Engine) (there bool, err error) {
	if _, err = e.Own(&t.OwnTable); err == nil {
		err = e.Alter(engine.AsServer(ctx), t.name(), t.withTTL)
	}
	if status.Of(err) == status.TableNotFound {
		return false, nil
	}
	return err == nil, err
}

// withTTL is a schema with the ttl of t.
func (t *Table) withTTL(s *schema.Table) (*schema.Table, error) {
	given := map[string]string{}
	for _, o := range s.Options.All {
		given[o.Key] = o.Value
	}
	given["ttl"] = t.TTL
	options, err := schema.ParseOptions(given)
	if err != nil || options.Equal(&s.Options) {
		return s, err
	}
	next := *s
	next.Version++
	next.Columns, next.Options = slices.Clone(s.Columns), options
	return &next, nil
}
