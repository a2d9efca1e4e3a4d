package sqlexec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/rowfile"
)

// loadBytes is the most bytes of rows that are written at once. They are at most a loadShare-th of the memory for rows,
// so that it takes eight statements to fill it. A file that fits is written whole or not at all. A larger file is read
// twice: the first time only to see whether all of it can be taken.
const (
	loadBytes = 32 << 20
	loadShare = 8
)

// copyIn loads files into a table: one file, or the files of a directory.
func (x *Executor) copyIn(ctx context.Context, s *Session, root *os.Root, st *parse.Copy, name string, o *copyOptions,
	limit int64) (int64, error) {
	t, err := x.table(s, st.Table)
	if err != nil {
		return 0, err
	}
	list := []string{name}
	if strings.HasSuffix(st.Path, "/") || name == "." || o.pattern != nil {
		if list, err = x.matching(root, name, o); err != nil {
			return 0, err
		}
	}
	var total int64
	for _, name := range list {
		if total >= limit {
			break
		}
		n, err := x.loadFile(ctx, s, root, t.Schema, name, o, limit-total)
		total += n
		if err != nil {
			return 0, loaded(err, total)
		}
	}
	return total, nil
}

// loaded says how many rows are in the table although the statement failed.
func loaded(err error, rows int64) error {
	if rows == 0 {
		return err
	}
	return status.Wrap(err, status.Of(err), "%v (%d rows before it are written)", err, rows)
}

// matching lists the files of a directory for the statement: those that match PATTERN, or all files of the format.
func (x *Executor) matching(root *os.Root, dir string, o *copyOptions) ([]string, error) {
	all, err := files(root, dir)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range all {
		format, ok := rowfile.FormatOf(name)
		if o.pattern != nil && o.pattern.MatchString(path.Base(name)) || o.pattern == nil && ok && format == o.format {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, status.New(status.InvalidArguments, "No file of '%s' matches", dir)
	}
	return list, nil
}

// copyDatabaseFrom loads every file of a directory into the table of its name.
func (x *Executor) copyDatabaseFrom(ctx context.Context, s *Session, root *os.Root, st *parse.Copy, dir string,
	o *copyOptions) (int64, error) {
	db, err := x.copyDatabase(st)
	if err != nil {
		return 0, err
	}
	list, err := x.matching(root, dir, o)
	if err != nil {
		return 0, err
	}
	var tables []*schema.Table
	for _, name := range list {
		base := cutLast(path.Base(name), "."+o.format.String())
		t, err := x.table(s, quoted(schema.Name{DB: db, Table: fileTable(base)}))
		if err != nil {
			return 0, err
		}
		tables = append(tables, t.Schema)
	}
	var total int64
	for i, name := range list {
		n, err := x.loadFile(ctx, s, root, tables[i], name, o, math.MaxInt64)
		total += n
		if err != nil {
			return 0, loaded(err, total)
		}
	}
	return total, nil
}

// cutLast is s before the last sep in it; all of s if there is none.
func cutLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i]
	}
	return s
}

// loader puts the rows of a file into a table.
type loader struct {
	x       *Executor
	session *Session
	table   *schema.Table
	o       *copyOptions
	name    string // of the file
	limit   int64  // rows still wanted
	// Only rows with first <= time < end are taken.
	first, end int64

	set     *engine.WriteSet
	b       *vector.Builder
	cols    []*vector.ColumnBuilder
	names   []string
	raw     []bool           // columns of JSON
	defs    []*vector.Vector // values of columns that a row does not have; nil: NULL
	defErrs []error          // why a column has no default
	convert []*converter     // nil: the file does not have the column
	most    int64            // bytes of rows that are written at once
	written int64
}

// loadFile loads a file and gives the number of rows that are in the table, on errors too.
func (x *Executor) loadFile(ctx context.Context, s *Session, root *os.Root, t *schema.Table, name string,
	o *copyOptions, limit int64) (int64, error) {
	l := &loader{x: x, session: s, table: t, o: o, name: name, limit: limit, set: x.sets.Get(),
		most: min(loadBytes, x.e.MemtableLimit()/loadShare)}
	defer x.sets.Put(l.set)
	var err error
	if l.first, l.end, err = o.span(s, t); err != nil {
		return 0, err
	}
	for i := range t.Columns {
		def, err := x.defaultOf(s, &t.Columns[i])
		l.names, l.defs, l.defErrs = append(l.names, t.Columns[i].Name), append(l.defs, def), append(l.defErrs, err)
		l.raw = append(l.raw, t.Columns[i].Type.ID == vector.TypeJSON)
	}
	f, size, err := openFile(root, name)
	if err != nil {
		return 0, err
	}
	whole, err := l.pass(ctx, f, size, false)
	if err == nil && !whole {
		if _, err = f.Seek(0, 0); err == nil {
			l.limit = limit
			_, err = l.pass(ctx, f, size, true)
		}
	}
	err = errors.Join(err, f.Close())
	if err != nil && status.Of(err) == status.Internal && ctx.Err() == nil {
		err = status.Wrap(err, status.InvalidArguments, "COPY FROM '%s': %v", name, err)
	}
	return l.written, err
}

// pass reads the file. Without write, it writes only what fits at once: else whole is false and the rows were merely
// looked at.
func (l *loader) pass(ctx context.Context, f *os.File, size int64, write bool) (whole bool, err error) {
	reading := l.x.held(ctx)
	defer reading.Close()
	hold := func(bytes int64) error { return reading.Reserve(max(0, bytes-reading.Used())) }
	r, err := rowfile.NewReader(f, size, l.names, rowfile.ReadOptions{
		Format: l.o.format, Compression: l.o.compression, Delimiter: l.o.delimiter, Raw: l.raw, Bad: l.bad, Hold: hold,
	})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := l.prepare(r); err != nil {
		return false, err
	}
	held := l.x.held(ctx)
	defer held.Close()
	whole = true
	var rows rowfile.Rows
	for l.limit > 0 {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		ok, err := r.Next(&rows)
		if err != nil {
			return false, err
		}
		if !ok {
			break
		}
		if err := l.take(&rows); err != nil {
			return false, err
		}
		bytes := l.b.Bytes()
		if err := held.Reserve(max(0, bytes-held.Used())); err != nil {
			return false, err
		}
		if bytes < l.most {
			continue
		}
		if whole = false; write {
			if err := l.write(ctx); err != nil {
				return false, err
			}
		}
		if err := l.begin(); err != nil {
			return false, err
		}
	}
	if whole || write {
		err = l.write(ctx)
	}
	return whole, err
}

// begin empties the builder.
func (l *loader) begin() error {
	l.set.Reset()
	l.b, l.cols = l.set.Rows(l.table.Name, hintOf(l.table)), l.cols[:0]
	for i := range l.table.Columns {
		c, err := l.b.Column(l.table.Columns[i].Name, l.table.Columns[i].Type)
		if err != nil {
			return err
		}
		l.cols = append(l.cols, c)
	}
	l.b.Pin()
	return nil
}

func (l *loader) write(ctx context.Context) error {
	if l.b.Rows() == 0 {
		return nil
	}
	written, err := l.x.e.Write(ctx, l.set)
	for _, w := range written {
		l.written += int64(w.Rows)
	}
	return err
}

// prepare chooses how each column is read.
func (l *loader) prepare(r rowfile.Reader) error {
	l.convert = make([]*converter, len(l.names))
	some := false
	for k := range l.names {
		if r.Has(k) {
			some = true
			l.convert[k] = &converter{to: l.table.Columns[k].Type, times: l.o.times, context: l.x.context(l.session)}
		}
	}
	if !some {
		return status.New(status.InvalidArguments,
			"COPY FROM '%s': no column of the file has the name of a column of %s", l.name, l.table.Name)
	}
	return l.begin()
}

// bad is told of a record that cannot be taken: it is left out where the statement says so.
func (l *loader) bad(_ int64, err error) error {
	if l.o.skipBad {
		return nil
	}
	return status.New(status.InvalidArguments, "COPY FROM '%s': %v", l.name, err)
}

// take appends rows to the builder.
func (l *loader) take(rows *rowfile.Rows) error {
	values := make([]*vector.Vector, len(l.cols))
	for k, c := range l.convert {
		if c == nil {
			continue
		}
		var err error
		if values[k], err = c.run(rows.Cols[k], rows.N); err != nil {
			return fmt.Errorf("column %q: %w", l.names[k], err)
		}
	}
	for i := range rows.N {
		if l.limit == 0 {
			return nil
		}
		if l.outside(rows, values, i) {
			continue
		}
		if err := l.row(rows, values, i); err != nil {
			l.b.DropRow(l.cols...)
			if err := l.bad(rows.At[i], err); err != nil {
				return err
			}
			continue
		}
		l.b.EndRow()
		l.limit--
	}
	return nil
}

// span is the range of times that START_TIME and END_TIME leave.
func (o *copyOptions) span(s *Session, t *schema.Table) (first, end int64, err error) {
	first, end = math.MinInt64, math.MaxInt64
	if unit := t.Columns[t.Time].Type; o.start != "" {
		first, err = firstCount("START_TIME", o.start, s.Zone, unit)
	}
	if unit := t.Columns[t.Time].Type; o.end != "" && err == nil {
		end, err = firstCount("END_TIME", o.end, s.Zone, unit)
	}
	return first, end, err
}

// outside reports whether the time of row i is not in the range that the statement asks for. A row without a time is
// not outside: row refuses it.
func (l *loader) outside(rows *rowfile.Rows, values []*vector.Vector, i int) bool {
	at := l.table.Time
	if l.o.start == "" && l.o.end == "" || l.convert[at] == nil || rows.Cols[at].IsNull(i) || values[at].IsNull(i) {
		return false
	}
	x := values[at].Int(i)
	return x < l.first || x >= l.end && l.o.end != ""
}

// row sets the values of row i.
func (l *loader) row(rows *rowfile.Rows, values []*vector.Vector, i int) error {
	for k, c := range l.cols {
		src := rows.Cols[k]
		absent := l.convert[k] == nil || rows.Missing != nil && rows.Missing[k] != nil && rows.Missing[k].Get(i)
		switch {
		case absent && l.defErrs[k] != nil:
			return fmt.Errorf("%s: %w", l.place(rows, i), l.defErrs[k])
		case absent && l.defs[k] != nil:
			setValue(c, l.defs[k], 0)
			continue
		case absent || src.IsNull(i):
			if !l.table.Columns[k].Nullable {
				return fmt.Errorf("%s: column %q is NOT NULL and has no value", l.place(rows, i), l.names[k])
			}
			c.SetNull()
			continue
		case values[k].IsNull(i):
			return fmt.Errorf("%s: column %q: %s does not fit %s", l.place(rows, i), l.names[k], l.shown(src, i),
				l.table.Columns[k].Type)
		}
		setValue(c, values[k], i)
	}
	return nil
}

// shown is value i of a file for the text of an error. Files are what COPY TO wrote, and so are not for every user's
// eyes.
func (l *loader) shown(src *vector.Vector, i int) string {
	if l.session.Blind {
		return "the value"
	}
	return "'" + shorten(src, i) + "'"
}

// place says where row i stands.
func (l *loader) place(rows *rowfile.Rows, i int) string {
	if l.o.format == rowfile.Parquet {
		return fmt.Sprintf("row %d", rows.At[i])
	}
	return fmt.Sprintf("line %d", rows.At[i])
}
