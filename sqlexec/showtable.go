package sqlexec

import (
	"context"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/sqlexec/parse"
	"varve/sqlexec/plan"
)

// table is an answer of SHOW while it is made: named columns of text and numbers.
type table struct {
	fields []vector.Field
	b      *vector.Builder
}

// newTable makes a table of STRING columns.
func newTable(names ...string) *table {
	t := &table{b: vector.NewBuilder()}
	for _, n := range names {
		t.fields = append(t.fields, vector.Field{Name: n, Type: vector.StringType})
	}
	return t
}

// typed sets another type than STRING for a column.
func (t *table) typed(name string, typ vector.Type) *table {
	for i := range t.fields {
		if t.fields[i].Name == name {
			t.fields[i].Type = typ
		}
	}
	return t
}

// nullCell is the cell of a NULL.
type nullCell struct{}

var null = nullCell{}

// add appends a row: string, int or null.
func (t *table) add(cells ...any) {
	for i, cell := range cells {
		c, err := t.b.Column(t.fields[i].Name, t.fields[i].Type)
		if err != nil {
			panic("sqlexec: a SHOW table has two columns of one name and different types")
		}
		switch cell := cell.(type) {
		case string:
			c.SetString(cell)
		case int:
			c.SetInt(int64(cell))
		case nullCell:
			c.SetNull()
		}
	}
	t.b.Pin()
	t.b.EndRow()
}

func (t *table) result() (*Result, error) {
	for _, f := range t.fields {
		if _, err := t.b.Column(f.Name, f.Type); err != nil {
			return nil, err
		}
	}
	t.b.Pin()
	_, b := t.b.Finish()
	return rowsResult(t.fields, b), nil
}

// filtered returns the rows that LIKE on the first column and WHERE let through, sorted by the first column. names are
// further names of the first column in WHERE.
func (t *table) filtered(ctx context.Context, x *Executor, s *Session, st *parse.Show, names ...string) (*Result,
	error) {
	if st.Like == nil && st.Where == nil {
		return t.result()
	}
	r, err := t.result()
	if err != nil {
		return nil, err
	}
	defer r.Rows.Close()
	all, err := collect(ctx, r.Rows, t.fields, 1<<31-1, s.memory)
	if err != nil {
		return nil, err
	}
	fields := t.fields
	for range names { // a column more for each further name
		fields = append(fields[:len(fields):len(fields)], fields[0])
		all.Cols = append(all.Cols, all.Cols[0])
	}
	for i, n := range names {
		fields[len(t.fields)+i].Name = n
	}
	q, err := t.filterQuery(st, fields)
	if err != nil {
		return nil, err
	}
	rel := &plan.Relation{Name: schema.Name{Table: "show"}, Virtual: &plan.Virtual{
		Fields: fields, Rows: func(context.Context, map[string]string) (*vector.Batch, error) { return all, nil },
	}}
	stmt := x.statement(s, x.context(s))
	stmt.Catalog = only{rel}
	n, err := stmt.Complete(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := x.stream(ctx, s, n)
	if err != nil {
		return nil, err
	}
	return &Result{Fields: t.fields, Rows: rows}, nil
}

// filterQuery is SELECT columns FROM show WHERE first LIKE p AND condition; names are folded as SHOW's are written.
func (t *table) filterQuery(st *parse.Show, fields []vector.Field) (*parse.Query, error) {
	sel := &parse.Select{From: []parse.TableRef{&parse.Table{Name: parse.Name{{Name: "show"}}}}}
	for _, f := range t.fields {
		name := parse.Ident{Name: f.Name, Quote: '"'}
		sel.Items = append(sel.Items, parse.SelectItem{X: &parse.Column{Parts: parse.Name{name}}, Alias: &name})
	}
	if st.Like != nil {
		first := &parse.Column{Parts: parse.Name{{Name: t.fields[0].Name, Quote: '"'}}}
		sel.Where = &parse.Like{X: first, Op: "like",
			Pattern: &parse.Literal{Kind: parse.StringLiteral, Text: *st.Like}}
	}
	if st.Where != nil {
		parse.Walk(st.Where, func(e parse.Expr) bool {
			if c, ok := e.(*parse.Column); ok && len(c.Parts) == 1 {
				for _, f := range fields {
					if strings.EqualFold(f.Name, c.Parts[0].Name) {
						c.Parts = parse.Name{{Name: f.Name, Quote: '"', At: c.Parts[0].At}}
						break
					}
				}
			}
			return true
		})
		sel.Where = and(sel.Where, st.Where)
	}
	return &parse.Query{Body: sel}, nil
}

func and(a, b parse.Expr) parse.Expr {
	if a == nil {
		return b
	}
	return &parse.Binary{Op: "and", L: a, R: b}
}

// only is a catalog of one relation, whatever its name.
type only struct{ rel *plan.Relation }

func (o only) Relation(parse.Name, string) (*plan.Relation, error) { return o.rel, nil }

func (o only) TQL(context.Context, *parse.TQL) ([]vector.Field, *vector.Batch, error) {
	return nil, nil, status.New(status.Unsupported, "SHOW .. WHERE with TQL is not supported")
}
