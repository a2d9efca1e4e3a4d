package engine

import (
	"cmp"
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Physical tables store logical tables: many small tables of one shape (a time index, one float, string tags) in one
// region. Besides the float there may be a binary column, for histogram samples, and a time column, for start times.
//  A column of a logical table has the id of the physical table's column of the same role or label, and a series
// key begins with the id of the logical table, which is thus a key range. The physical table itself shows all its
// logical tables with all labels, and two tags more that the series keys imply.

// The names of the columns of a physical table that a write makes.
const (
	physicalTime  = "service_timestamp"
	physicalValue = "service_value"
)

// physicalOf completes the schema of a new physical table.
func physicalOf(t *schema.Table) (*schema.Table, error) {
	if err := metricShape(t); err != nil {
		return nil, err
	}
	if err := keepsLast(t); err != nil {
		return nil, err
	}
	n := *t
	n.Engine = "metric"
	n.Columns, n.Tags = slices.Clone(t.Columns), slices.Clone(t.Tags)
	for _, c := range []schema.Column{schema.TableTag, schema.SeriesTag} {
		if n.Column(c.Name) >= 0 {
			return nil, status.New(status.InvalidArguments, "column %s of physical table %s is created by the server",
				c.Name, t.Name.Table)
		}
		n.Tags = append(n.Tags, len(n.Columns))
		n.Columns = append(n.Columns, c)
	}
	return &n, nil
}

// keepsLast ensures that the last of equal rows counts, because all tables of a region are merged alike.
func keepsLast(t *schema.Table) error {
	if t.Options.AppendMode || t.Options.MergeMode != schema.LastRow {
		return status.New(status.InvalidArguments,
			"table %s is a table of metrics: append_mode = 'true' and merge_mode = 'last_non_null' are not possible",
			t.Name.Table)
	}
	return nil
}

// metricShape returns the reason why a table cannot be a physical or a logical table.
func metricShape(t *schema.Table) error {
	fields := map[vector.Type]int{}
	for _, c := range t.Columns {
		switch {
		case c.Semantic == schema.Tag && !c.Type.IsText():
			return shapeError(t, "tag %s is of type %s", c.Name, c.Type)
		case c.Semantic == schema.Field && !sampleType(c.Type):
			return shapeError(t, "field %s is of type %s", c.Name, c.Type)
		case (c.Default != nil || c.DefaultExpr != "") && c.Semantic != schema.Field:
			return shapeError(t, "column %s has a default value", c.Name)
		case c.Semantic == schema.Field:
			fields[c.Type]++
		}
	}
	if fields[vector.FloatType] != 1 || fields[vector.BinaryType] > 1 || fields[vector.Timestamp(3)] > 1 || t.Time < 0 {
		return shapeError(t, "it has %d fields of Float64, %d of Binary and %d of times", fields[vector.FloatType],
			fields[vector.BinaryType], fields[vector.Timestamp(3)])
	}
	return nil
}

// sampleType reports whether a field of a table in metric shape may have a type.
func sampleType(t vector.Type) bool {
	return t == vector.FloatType || t == vector.BinaryType || t == vector.Timestamp(3)
}

func shapeError(t *schema.Table, format string, args ...any) error {
	return status.New(status.InvalidArguments,
		"table %s cannot be stored in a physical table, which needs String tags, one Float64 field and a time index: "+format,
		append([]any{t.Name.Table}, args...)...)
}

// logical completes the schema of a new logical table of the physical table with a name, which is made when absent.
func (d *definition) logical(t *schema.Table, name string) (*schema.Table, error) {
	if err := metricShape(t); err != nil {
		return nil, err
	}
	full := schema.Name{DB: t.Name.DB, Table: name}
	if d.table(full) == nil {
		time := schema.Column{Name: physicalTime, Type: t.TimeColumn().Type, Semantic: schema.Timestamp}
		value := schema.Column{Name: physicalValue, Type: vector.FloatType, Nullable: true}
		options, err := schema.ParseOptions(map[string]string{schema.PhysicalOption: "",
			schema.EncodingOption: schema.SparseEncoding})
		if err != nil {
			return nil, err
		}
		if err := d.create(&schema.Table{Name: full, Columns: []schema.Column{time, value}, Options: options}); err !=
			nil {
			return nil, err
		}
	}
	p := d.table(full)
	switch {
	case !p.Shared():
		return nil, status.New(status.InvalidArguments, "table %s is not a physical table: it was created without %s", name,
			schema.PhysicalOption)
	case p.TimeColumn().Type != t.TimeColumn().Type:
		return nil, status.New(status.InvalidArguments,
			"time index %s of table %s is %s, but that of physical table %s is %s", t.TimeColumn().Name, t.Name.Table,
			t.TimeColumn().Type, name, p.TimeColumn().Type)
	}
	if err := keepsLast(t); err != nil {
		return nil, err
	}
	n := *t
	n.Physical, n.Engine, n.Columns = p.ID, "metric", slices.Clone(t.Columns)
	given := make([]int, len(n.Columns))
	for i := range given {
		given[i] = i
	}
	if err := d.lodge(&n, p, given); err != nil {
		return nil, err
	}
	return inOrder(&n), nil
}

// columnIn finds the column of a physical table that stores a column of a logical table: a field by its type, a label
// by its name. -1 if there is none.
func columnIn(p *schema.Table, c *schema.Column) int {
	if c.Semantic == schema.Field {
		return sampleColumn(p, true, c.Type, "")
	}
	return p.Column(c.Name)
}

// labelIn is an error where a column of a physical table cannot be a label of a logical one.
func labelIn(t, p *schema.Table, at int) error {
	if c := &p.Columns[at]; c.Semantic != schema.Tag || !c.Type.IsText() {
		return status.New(status.InvalidArguments,
			"tag %s of table %s has the same name as a column of physical table %s that is not a label", c.Name, t.Name.Table,
			p.Name.Table)
	}
	return nil
}

// freeName is a name that no column of a physical table has: name, or name with underscores behind it where it is the
// label of some logical table.
func freeName(p *schema.Table, name string) string {
	for p.Column(name) >= 0 {
		name += "_"
	}
	return name
}

// lodge sets the ids of the columns of a logical table to the ids of the physical table's columns, and adds missing
// columns to the physical table.
func (d *definition) lodge(t, p *schema.Table, columns []int) error {
	var add []schema.Column
	for _, at := range columns {
		if at == t.Time {
			continue
		}
		name, i := t.Columns[at].Name, columnIn(p, &t.Columns[at])
		if t.Columns[at].Semantic == schema.Field {
			if i < 0 {
				add = append(add, schema.Column{Name: freeName(p, name), Type: t.Columns[at].Type, Nullable: true})
			}
			continue
		}
		if i < 0 {
			add = append(add, schema.Column{Name: name, Type: vector.StringType, Semantic: schema.Tag, Nullable: true})
		} else if err := labelIn(t, p, i); err != nil {
			return err
		}
	}
	if len(add) > 0 {
		if n := len(p.Columns) + len(add); n > schema.MaxLabels {
			return errTooMany(p, n, schema.MaxLabels)
		}
		var err error
		if p, err = d.widened(p, add); err != nil {
			return err
		}
	}
	for _, at := range columns {
		c := &t.Columns[at]
		if at == t.Time {
			c.ID = p.TimeColumn().ID
			continue
		}
		c.ID, c.Nullable = p.Columns[columnIn(p, c)].ID, c.Nullable || c.Semantic == schema.Tag
	}
	return nil
}

// widened is a physical table with more columns. A request may bring thousands of tables with a label each: the table
// is copied for the first of them, and the copy, which nobody knows until the definition is published, grows with the
// others.
func (d *definition) widened(p *schema.Table, add []schema.Column) (*schema.Table, error) {
	if d.own[p] {
		return p, p.Grow(add)
	}
	next, err := p.Evolve(add)
	if err != nil {
		return nil, err
	}
	d.own[next] = true
	d.put(next)
	return next, nil
}

// storageOf returns the physical table of a logical table, with pending changes; nil if it is gone.
func (d *definition) storageOf(t *schema.Table) *schema.Table {
	if name, logical := t.Options.Find(schema.LogicalOption); logical {
		if p := d.table(schema.Name{DB: t.Name.DB, Table: name}); p != nil && p.ID == t.Physical {
			return p
		}
	}
	p, ok := d.c.find(t.Physical)
	if !ok {
		return nil
	}
	return p.schema()
}

// evolveLogical returns a logical table with further tags, or fields of samples.
func (d *definition) evolveLogical(t *schema.Table, add []schema.Column) (*schema.Table, error) {
	p := d.storageOf(t)
	if p == nil {
		return nil, status.New(status.TableNotFound, "Table not found: %s", t.Name)
	}
	for _, c := range add {
		field := c.Semantic == schema.Field && sampleType(c.Type) && sampleColumn(t, true, c.Type, "") < 0
		if !field && (c.Semantic != schema.Tag || !c.Type.IsText()) || c.Default != nil || c.DefaultExpr != "" ||
			!c.Nullable {
			return nil, status.New(status.InvalidArguments,
				"column %s cannot be added to table %s: it is stored in a physical table, which takes only nullable String tags "+
					"without default", c.Name, t.Name.Table)
		}
	}
	next, err := t.Evolve(add)
	if err != nil {
		return nil, err
	}
	added := make([]int, len(add))
	for i := range add {
		added[i] = len(t.Columns) + i
	}
	if err := d.lodge(next, p, added); err != nil {
		return nil, err
	}
	return inOrder(next), nil
}

// inOrder lists the columns of a logical table by name, those named as in protocols of metrics first.
func inOrder(t *schema.Table) *schema.Table {
	n := *t
	at := make([]int, len(t.Columns))
	for i := range at {
		at[i] = i
	}
	rank := func(i int) int { return slices.Index([]string{physicalValue, physicalTime}, t.Columns[i].Name) }
	slices.SortFunc(at, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(b), rank(a)), strings.Compare(t.Columns[a].Name, t.Columns[b].Name))
	})
	n.Columns, n.Tags = make([]schema.Column, len(at)), slices.Clone(t.Tags)
	for to, from := range at {
		n.Columns[to] = t.Columns[from]
		if from == t.Time {
			n.Time = to
		}
		if k := slices.Index(t.Tags, from); k >= 0 {
			n.Tags[k] = to
		}
	}
	return &n
}

// onlyLive checks a change of a physical table. Only options may change that hold for all its logical tables.
func onlyLive(change func(*schema.Table) (*schema.Table, error)) func(*schema.Table) (*schema.Table, error) {
	return func(old *schema.Table) (*schema.Table, error) {
		next, err := change(old)
		if err != nil || next == old {
			return next, err
		}
		others := func(t *schema.Table) []schema.Option {
			return slices.DeleteFunc(slices.Clone(t.Options.All), func(o schema.Option) bool {
				return slices.Contains(liveOptions, o.Key)
			})
		}
		same := *next
		same.Version, same.Altered, same.Options = old.Version, old.Altered, old.Options
		if !sameTable(&same, old) || !slices.Equal(others(next), others(old)) {
			return nil, errPhysical(old.Name, "altered, but for its "+strings.Join(liveOptions, ", "))
		}
		return next, nil
	}
}

// leave ends writing to a logical table that is gone from the catalog.
func (p home) leave() {
	p.region.mu.Lock()
	p.logical.gone.Store(true)
	p.region.mu.Unlock()
}

// errPhysical is the error for what cannot be done to a physical table itself.
func errPhysical(n schema.Name, what string) error {
	return status.New(status.Unsupported, "physical table %s cannot be %s: its logical tables can", n.Table, what)
}
