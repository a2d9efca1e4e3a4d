package sqlexec

import (
	"context"
	"slices"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/exec"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// target is the table of an INSERT: the column for each value of a row, and a builder over all columns.
type target struct {
	table   *schema.Table
	columns []int // columns[k] is the table's column of value k
	given   []bool
	b       *vector.Builder
	cols    []*vector.ColumnBuilder
	fill    []filler
}

// filler sets the default of a column that the statement does not name.
type filler struct {
	col   *vector.ColumnBuilder
	value *vector.Vector // Const
}

func (x *Executor) insert(ctx context.Context, sess *Session, s *parse.Insert) (*Result, error) {
	table, err := x.table(sess, s.Table)
	if err != nil {
		return nil, err
	}
	if s.ByName {
		if s, err = x.byName(ctx, sess, s); err != nil {
			return nil, err
		}
	}
	return x.insertAs(ctx, sess, s, table.Schema)
}

// insertAs runs an INSERT planned for the columns that its table has, and again when the table has lost one of them
// since: whether the statement names that column or leaves it out is looked at anew.
func (x *Executor) insertAs(ctx context.Context, sess *Session, s *parse.Insert, planned *schema.Table) (*Result,
	error) {
	for {
		r, err := x.insertOnce(ctx, sess, s, planned)
		if err == nil {
			return r, nil
		}
		now, gone := x.table(sess, s.Table)
		if gone != nil || !slices.ContainsFunc(planned.Columns,
			func(c schema.Column) bool { return now.Schema.ByID(c.ID) < 0 }) {
			return nil, err
		}
		planned = now.Schema
	}
}

func (x *Executor) insertOnce(ctx context.Context, sess *Session, s *parse.Insert, table *schema.Table) (*Result,
	error) {
	set := x.sets.Get()
	defer x.sets.Put(set)
	t, err := x.target(sess, table, s, set)
	if err != nil {
		return nil, err
	}
	if s.Query != nil {
		held := x.held(ctx)
		defer held.Close() // after the write, whose copies it counts
		err = x.insertQuery(ctx, sess, s, t, held)
	} else {
		err = x.insertRows(ctx, sess, s, t)
	}
	if err != nil {
		return nil, err
	}
	if t.b.Rows() == 0 {
		return &Result{}, nil
	}
	written, err := x.e.Write(ctx, set)
	if err != nil {
		return nil, err
	}
	var n int64
	for _, w := range written {
		n += int64(w.Rows)
	}
	return &Result{Affected: n}, nil
}

// target finds the columns of an INSERT and the defaults of those it leaves out.
func (x *Executor) target(sess *Session, table *schema.Table, s *parse.Insert, set *engine.WriteSet) (*target, error) {
	t := &target{table: table, given: make([]bool, len(table.Columns))}
	if s.Columns == nil {
		for i := range table.Columns {
			t.columns = append(t.columns, i)
		}
	}
	for _, id := range s.Columns {
		i := table.Column(id.Name)
		if i < 0 {
			return nil, parse.PlaceError(columnNotFound(id.Name, table), id.At)
		}
		t.columns = append(t.columns, i)
	}
	for _, i := range t.columns {
		if t.given[i] {
			return nil, status.New(status.InvalidArguments, "Column %s is named twice", table.Columns[i].Name)
		}
		t.given[i] = true
	}
	t.b = set.Rows(table.Name, hintOf(table))
	for i := range table.Columns {
		c, err := t.b.Column(table.Columns[i].Name, table.Columns[i].Type)
		if err != nil {
			return nil, err
		}
		t.cols = append(t.cols, c)
	}
	t.b.Pin()
	for i := range table.Columns {
		if t.given[i] {
			continue
		}
		def, err := x.defaultOf(sess, &table.Columns[i])
		if err != nil {
			return nil, err
		}
		if def != nil {
			t.fill = append(t.fill, filler{t.cols[i], def})
		}
	}
	return t, nil
}

// hintOf gives the engine the columns of the statement and their roles; it creates nothing.
func hintOf(t *schema.Table) engine.Hint {
	h := engine.Hint{TimeIndex: t.Columns[t.Time].Name, Planned: t}
	for _, i := range t.Tags {
		h.Tags = append(h.Tags, t.Columns[i].Name)
	}
	return h
}

// defaultOf is the value of a column that a row does not name; nil is NULL.
func (x *Executor) defaultOf(sess *Session, c *schema.Column) (*vector.Vector, error) {
	switch {
	case c.DefaultExpr != "":
		now := x.now(sess)
		n, ok := plan.Count(now.Unix(), int64(now.Nanosecond()), c.Type)
		if !ok {
			return nil, status.New(status.InvalidArguments, "the current time does not fit column %s of type %s",
				c.Name, c.Type)
		}
		return vector.ConstInt(c.Type, n), nil
	case c.Default != nil:
		return c.Default, nil
	case !c.Nullable:
		return nil, status.New(status.InvalidArguments, "Column %s is NOT NULL and has no default, a value is needed",
			c.Name)
	}
	return nil, nil
}

// cancelRows is the number of rows of VALUES after which the statement may have been cancelled.
const cancelRows = 1 << 10

func (x *Executor) insertRows(ctx context.Context, sess *Session, s *parse.Insert, t *target) error {
	v := x.valuer(ctx, sess)
	for n, row := range s.Rows {
		if n%cancelRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(row) != len(t.columns) {
			return status.New(status.InvalidArguments, "column count mismatch: row %d has %d values for %d columns",
				n+1, len(row), len(t.columns))
		}
		for k, e := range row {
			if err := x.insertValue(sess, v, t, t.columns[k], e); err != nil {
				return err
			}
		}
		for _, f := range t.fill {
			setValue(f.col, f.value, 0)
		}
		if err := t.endRow(); err != nil {
			return err
		}
	}
	return nil
}

func (x *Executor) insertValue(sess *Session, v *valuer, t *target, i int, e parse.Expr) error {
	if !isDefault(e) {
		return parse.PlaceError(v.set(t.cols[i], e), e.Position())
	}
	def, err := x.defaultOf(sess, &t.table.Columns[i])
	if err != nil {
		return err
	}
	if def == nil {
		t.cols[i].SetNull()
	} else {
		setValue(t.cols[i], def, 0)
	}
	return nil
}

func isDefault(e parse.Expr) bool {
	if c, ok := e.(*parse.Column); ok && len(c.Parts) == 1 && c.Parts[0].Quote == 0 && c.Parts[0].Name == "default" {
		return true
	}
	_, ok := e.(*parse.Default)
	return ok
}

// endRow checks NOT NULL columns and commits the row.
func (t *target) endRow() error {
	for i, c := range t.cols {
		if !t.table.Columns[i].Nullable && !c.IsSet() {
			return status.New(status.InvalidArguments, "Column %s is NOT NULL, row %d has no value for it", c.Name(),
				t.b.Rows()+1)
		}
	}
	t.b.EndRow()
	return nil
}

// byName sets the columns of INSERT .. BY NAME query to the names of the query's.
func (x *Executor) byName(ctx context.Context, sess *Session, s *parse.Insert) (*parse.Insert, error) {
	n, err := x.statement(sess, x.context(sess)).Shape(ctx, s.Query)
	if err != nil {
		return nil, err
	}
	named := *s
	for _, c := range n.Columns() {
		named.Columns = append(named.Columns, parse.Ident{Name: c.Name, Quote: '"'})
	}
	return &named, nil
}

// insertQuery runs the query of INSERT .. SELECT and collects its rows; columns match by position.
func (x *Executor) insertQuery(ctx context.Context, sess *Session, s *parse.Insert, t *target,
	held *exec.Budget) error {
	ectx := x.context(sess)
	n, err := x.statement(sess, ectx).Complete(ctx, s.Query)
	if err != nil {
		return err
	}
	if got, want := len(n.Columns()), len(t.columns); got != want {
		return status.New(status.PlanQuery, "Failed to plan SQL: INSERT has %d columns but the query gives %d", want,
			got)
	}
	types := make([]vector.Type, len(t.columns))
	for k, i := range t.columns {
		types[k] = t.table.Columns[i].Type
	}
	if n, err = plan.CastTo(ectx, n, types); err != nil {
		return err
	}
	rows, err := x.stream(ctx, sess, n)
	if err != nil {
		return err
	}
	defer rows.Close()
	var b vector.Batch
	for {
		ok, err := rows.Next(&b)
		if err != nil || !ok {
			return err
		}
		size := t.b.Bytes()
		if size > x.mostInserted {
			return status.New(status.RuntimeResourcesExhausted,
				"the query of INSERT gives more than %d MiB, which one write may have; insert less at once, a day at a time say", x.mostInserted>>20)
		}
		if err := held.Reserve(max(0, writeCopies*size-held.Used())); err != nil {
			return err
		}
		if err := t.add(&b); err != nil {
			return err
		}
	}
}

// writeCopies is how often a write is in memory at its end: the rows, their record for the log, the memtable.
const writeCopies = 3

// add checks NOT NULL columns and adds the rows of a batch, which has a column for each value.
func (t *target) add(b *vector.Batch) error {
	cols, values := make([]*vector.ColumnBuilder, 0, len(t.cols)), make([]*vector.Vector, 0, len(t.cols))
	for k, i := range t.columns {
		cols, values = append(cols, t.cols[i]), append(values, b.Cols[k])
	}
	for _, f := range t.fill {
		cols, values = append(cols, f.col), append(values, f.value)
	}
	row, lacking := b.N, ""
	for i, c := range t.cols {
		if t.table.Columns[i].Nullable {
			continue
		}
		first := 0 // row without a value
		if k := slices.Index(cols, c); k >= 0 {
			first = firstNull(values[k], row)
		}
		if first < row {
			row, lacking = first, c.Name()
		}
	}
	if lacking != "" {
		return status.New(status.InvalidArguments, "Column %s is NOT NULL, row %d has no value for it", lacking,
			t.b.Rows()+row+1)
	}
	t.b.AppendRows(cols, values, b.N)
	return nil
}

// firstNull is the first of n rows that is NULL; n: none is.
func firstNull(v *vector.Vector, n int) int {
	if v.Valid == nil && v.Form != vector.Dict {
		return n
	}
	for i := range n {
		if v.IsNull(i) {
			return i
		}
	}
	return n
}

// held counts the rows that a statement collects before it writes them against the memory of queries.
func (x *Executor) held(ctx context.Context) *exec.Budget {
	if x.o.Memory == nil {
		return exec.NewPool(0).Budget(ctx)
	}
	return x.o.Memory.Budget(ctx)
}
