package engine

import (
	"fmt"
	"time"

	"varve/engine/convert"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// TypeClash is the cause of a write's error: a column of another type than the table's.
type TypeClash struct {
	Column string
	Want   vector.Type
	Given  vector.Type
	Row    int // the first with a value, of Rows
	// Value is the value of that row, as a copy: the memory of a write is reused before somebody looks at the error.
	Value *vector.Vector
	Rows  int
}

// clashOf is the clash of a column with n rows of values.
func clashOf(c *schema.Column, v *vector.Vector, n int) *TypeClash {
	e := &TypeClash{Column: c.Name, Want: c.Type, Given: v.Type, Rows: n, Value: &vector.Vector{}}
	for e.Row < n-1 && v.IsNull(e.Row) {
		e.Row++
	}
	e.Value.Reset(v.Type)
	e.Value.Append(0, v, e.Row, e.Row+1)
	return e
}

func (e *TypeClash) Error() string {
	return fmt.Sprintf("%d rows have the type %s for the column %s of type %s", e.Rows, e.Given, e.Column, e.Want)
}

// ClashText is the error text for values whose type differs from the type of the column, with advice for their sender.
// With StrictNumbers, both types may be numbers; a sender that chose it knows that.
func ClashText(column string, want, given vector.Type) string {
	text := fmt.Sprintf("column %s expect type %s, given: %s", column, want, given)
	if OneKind(want, given) {
		return text
	}
	as := "as " + want.String()
	if want.IsText() {
		as = "in quotes"
	}
	return text + ": send it " + as + " or under another name, or change the column by ALTER TABLE .. MODIFY COLUMN"
}

var errEvolve = fmt.Errorf("the table lacks a column, or has one that becomes another")

// align holds the rows against the schema and gives the record to write: column ids, absent columns with a default
// filled in, numbers as the table has them. errEvolve says that the schema lacks a column, or has one of integers for
// floats.
func (w *tableWrite) align(t *schema.Table, longest int, now time.Time) (*record, error) {
	h := &w.hint
	if h.Planned != nil && h.Planned.ID != t.ID {
		return nil, droppedError(t.Name)
	}
	rec := &record{table: t.ID, batch: &vector.Batch{N: w.batch.N}}
	set := make([]bool, len(t.Columns))
	evolve := false
	for i, f := range w.fields {
		p := h.column(t, f.Name)
		if why := w.refused.columns[i]; why != nil {
			if p >= 0 && h.widens(&t.Columns[p], f.Type) {
				set[p] = true
				rec.add(&t.Columns[p], w.wholes(i, t.Columns[p].Type, why))
			} else {
				w.refuseColumn(i, why)
			}
			continue
		}
		if p < 0 {
			evolve = true
			continue
		}
		c := &t.Columns[p]
		v, err := w.fit(c, i)
		if err == nil && !c.Nullable && hasNull(v, w.batch.N) {
			err = w.nullsOrError(i, status.New(status.InvalidArguments,
				"column %s is NOT NULL, a row has no value for it", c.Name))
		} else if err != nil && err != errEvolve {
			err = w.columnOrError(i, err)
			v = nil
		}
		switch {
		case err == errEvolve:
			evolve = true
		case err != nil:
			return nil, err
		case v != nil:
			set[p] = true
			rec.add(c, v)
		}
	}
	if evolve {
		return nil, errEvolve
	}
	if err := rec.fillIn(t, set, now); err != nil {
		return nil, w.allOrError(err)
	}
	return w.within(rec, longest)
}

// fit returns the i-th column of the rows in the type of c. errEvolve: c must become a column of floats first.
func (w *tableWrite) fit(c *schema.Column, i int) (*vector.Vector, error) {
	h, f, v := &w.hint, w.fields[i], w.batch.Cols[i]
	if c.Type != f.Type {
		switch {
		case h.Planned != nil && convert.Possible(f.Type, c.Type), h.takesNumber(c, f.Type):
			v = convert.All(&vector.Vector{}, v, c.Type, w.batch.N)
		case h.Planned == nil && h.AutoCreate && h.widens(c, f.Type):
			return nil, errEvolve
		default:
			return nil, status.Wrap(clashOf(c, v, w.batch.N), status.InvalidArguments, "%s",
				ClashText(c.Name, c.Type, f.Type))
		}
	}
	role := h.role(f.Name)
	if h.TableRoles && role == schema.Tag && c.Semantic == schema.Field {
		role = schema.Field
	}
	if h.TimeIndex != "" && role != c.Semantic &&
		(role == schema.Timestamp || c.Semantic == schema.Timestamp || role == schema.Tag || h.Strict) {
		return nil, status.New(status.InvalidArguments, "column %s expect semantic type %s, given: %s", c.Name,
			c.Semantic, role)
	}
	return v, nil
}

// within returns the record without the rows that no part or this table takes; nil: none is left.
func (w *tableWrite) within(rec *record, longest int) (*record, error) {
	if w.hint.Reject == nil {
		return rec, rec.checkBounds(longest)
	}
	if !rec.withinBounds(longest) {
		for i := range rec.batch.N {
			if w.refused.why(i) != nil {
				continue
			}
			if err := rec.misfit(i, longest); err != nil {
				w.refuse(i, status.Wrap(err, status.InvalidArguments, "%v", err))
			}
		}
	}
	if w.left == 0 {
		return rec, nil
	}
	keep := make([]uint32, 0, w.batch.N-w.left)
	for i := range w.batch.N {
		if w.refused.why(i) == nil {
			keep = append(keep, uint32(i))
		}
	}
	if len(keep) == 0 {
		return nil, nil
	}
	w.refused.kept = keep
	rec.keep(keep)
	return rec, nil
}

// keep leaves all rows out of the record but some.
func (r *record) keep(rows []uint32) {
	some := &vector.Batch{N: len(rows)}
	for _, v := range r.batch.Cols {
		var of vector.Vector
		of.Gather(v, rows)
		some.Cols = append(some.Cols, &of)
	}
	r.batch = some
}

// column returns the position in a table of the column that a builder calls name; -1 if there is none.
func (h *Hint) column(t *schema.Table, name string) int {
	if h.Planned == nil || h.Planned == t {
		return t.Column(name)
	}
	return t.ByID(h.Planned.Columns[h.Planned.Column(name)].ID)
}

// fillIn adds what rows have in the columns that are not set. The tags of a record of series are in their keys.
func (r *record) fillIn(t *schema.Table, set []bool, now time.Time) error {
	for p := range t.Columns {
		c := &t.Columns[p]
		switch {
		case set[p] || c.Semantic == schema.Tag && r.refs != nil:
		case c.DefaultExpr != "":
			r.add(c, vector.ConstInt(c.Type, inUnit(now, c.Type)))
		case c.Default != nil:
			r.add(c, c.Default)
		case c.Initial != nil:
			r.add(c, vector.ConstNull(c.Type)) // a row that lacks the column reads the initial value
		case !c.Nullable:
			return status.New(status.InvalidArguments, "column %s is NOT NULL and has no default value", c.Name)
		}
	}
	return nil
}
