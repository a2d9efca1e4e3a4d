package engine

import (
	"context"
	"slices"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// definition is new schemas that become part of the catalog together, by one edit of the manifest.
type definition struct {
	c       *catalog
	next    schema.TableID
	nowMS   int64
	changed map[schema.Name]*schema.Table
	own     map[*schema.Table]bool // physical tables of changed that grow as they are
	order   []schema.Name          // of changed: a physical table comes before its logical ones
	most    int                    // tables of the store; 0: no bound
	made    int                    // of changed, those that are new
	full    error                  // why no more are made; nil: more may be

	mostColumns int    // bound of the columns of all tables with storage of their own; 0: none
	columns     int    // columns that these tables have and will have; valid once counted is set
	counted     bool   // columns was counted
	refused     func() // counts a refusal for want of columns

	ofView func(schema.Name) error // says why a name that is a view's is no table's
}

// table returns a table as it is, or as the change will make it; nil if it does not exist.
func (d *definition) table(n schema.Name) *schema.Table {
	if t := d.changed[n]; t != nil {
		return t
	}
	if p, ok := d.c.byName[n]; ok {
		return p.schema()
	}
	return nil
}

// put adds a new or changed schema.
func (d *definition) put(t *schema.Table) {
	if d.changed[t.Name] == nil {
		d.order = append(d.order, t.Name)
	}
	d.changed[t.Name] = t
}

// create adds a new table. TableAlreadyExists, DatabaseNotFound, InvalidArguments.
func (d *definition) create(t *schema.Table) error {
	if err := schema.CheckName("table", t.Finished().Name.Table); err != nil {
		return err
	}
	if err := checkTable(t); err != nil {
		return err
	}
	if _, ok := d.c.databases[t.Name.DB]; !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", t.Name.DB)
	}
	if d.table(t.Name) != nil {
		return status.New(status.TableAlreadyExists, "Table already exists: `%s`", t.Name)
	}
	if err := d.ofView(t.Name); err != nil {
		return err
	}
	if err := d.hasRoom(t); err != nil {
		return err
	}
	n := *t
	n.Version, n.CreatedMS, n.Columns = 1, d.nowMS, slices.Clone(t.Columns)
	for i := range n.Columns {
		n.Columns[i].ID = schema.ColumnID(i + 1)
	}
	n.NextColumn = schema.ColumnID(len(n.Columns) + 1)
	next := &n
	var err error
	if _, logical := t.Options.Find(schema.LogicalOption); !logical {
		if err := d.hasColumns(t, len(t.Columns)); err != nil {
			return err
		}
	}
	if name, logical := t.Options.Find(schema.LogicalOption); logical {
		next, err = d.logical(&n, name)
	} else if t.Shared() {
		next, err = physicalOf(&n)
	}
	if err != nil {
		return err
	}
	next.ID, d.next = d.next, d.next+1
	d.put(next)
	d.made++
	return nil
}

// hasRoom returns the reason why one more table cannot be created: each table takes memory as long as it exists.
func (d *definition) hasRoom(t *schema.Table) error {
	if ofServer(t) {
		return nil
	}
	if d.full != nil {
		return d.full
	}
	switch tables := len(d.c.byName) + d.made; {
	case d.made >= maxMade:
		d.full = status.New(status.InvalidArguments, "the request would create more than %d tables: send fewer at a time",
			maxMade)
	case d.most > 0 && tables >= d.most:
		d.full = status.New(status.InvalidArguments,
			"there are %d tables, and memory_limit has room for %d: raise it, or drop some", tables, d.most)
	}
	return d.full
}

// hasColumns says why a table with storage of its own gets no more columns: each takes memory in every memtable and
// part of it.
func (d *definition) hasColumns(t *schema.Table, more int) error {
	if d.mostColumns <= 0 || more <= 0 || ofServer(t) {
		return nil
	}
	if !d.counted {
		d.counted = true
		for _, r := range d.c.regions {
			d.columns += len(r.snap.Load().schema.Columns)
		}
	}
	if d.columns+more > d.mostColumns {
		d.refused()
		return status.New(status.InvalidArguments,
			"table %s would raise the columns of all tables to %d, and memory_limit has room for %d: raise it, drop tables, "+
				"or send fewer fields",
			t.Name.Table, d.columns+more, d.mostColumns)
	}
	d.columns += more
	return nil
}

// CreateTable makes a table. Ids are given here: t's ids and version are ignored. TableAlreadyExists,
// DatabaseNotFound.
func (e *Engine) CreateTable(ctx context.Context, t *schema.Table) (*Table, error) {
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, t.Name.DB); err != nil {
		return nil, err
	}
	if err := e.definer.define(func(d *definition) error { return d.create(t) }); err != nil {
		return nil, err
	}
	return e.Table(t.Name)
}

// tableOf is the schema that a write creates: its columns in order, nullable but for the time index.
func tableOf(w *writeEntry, fields []vector.Field) (*schema.Table, error) {
	t := &schema.Table{Name: w.name, Time: -1, Options: w.hint.Options, Engine: "mito"}
	if _, own := t.Options.Find("comment"); !own && w.hint.Comment != "" {
		t.Options = t.Options.WithComment(w.hint.Comment)
	}
	for i, f := range fields {
		c := schema.Column{Name: f.Name, Type: f.Type, Nullable: true, Semantic: w.hint.role(f.Name),
			Indexes: w.hint.Indexes[f.Name]}
		if c.Semantic == schema.Timestamp {
			c.Nullable = false
			t.Time = i
		}
		t.Columns = append(t.Columns, c)
	}
	for _, tag := range w.hint.Tags {
		if p := t.Column(tag); p >= 0 {
			t.Tags = append(t.Tags, p)
		}
	}
	if t.Time < 0 {
		return nil, status.New(status.InvalidArguments, "the rows for table %s have no time index column %s",
			w.name.Table, w.hint.TimeIndex)
	}
	return t, nil
}

func (h *Hint) role(name string) schema.Semantic {
	if name == h.TimeIndex {
		return schema.Timestamp
	}
	if slices.Contains(h.Tags, name) {
		return schema.Tag
	}
	return schema.Field
}

// addLacking adds the columns that a write brings and its table lacks. Those that the table cannot get are given up
// where the write allows it: it is aligned again without them.
func (d *definition) addLacking(w *tableWrite) error {
	t := d.table(w.name)
	if t == nil || d.c.byName[w.name].refuses() {
		return nil // dropped or read-only since: the write looks again
	}
	places := w.lacking(t)
	if len(places) == 0 {
		return nil
	}
	if !w.hint.AutoCreate {
		return w.giveUpAll(places,
			w.hint.refuse("column %s does not exist in table `%s`", w.fields[places[0]].Name, w.name.Table))
	}
	var add []schema.Column
	for _, i := range places {
		c := w.newColumn(i)
		err := schema.CheckColumnName(c.Name)
		if n := len(t.Columns) + len(add) + 1; err == nil && n > schema.MaxColumns {
			err = errTooMany(t, len(t.Columns)+len(places), schema.MaxColumns)
		}
		if err == nil {
			add = append(add, c)
		} else if err = w.giveUp(i, err); err != nil {
			return err
		}
	}
	if len(add) == 0 {
		return nil
	}
	if err := d.evolve(t, add); err != nil {
		return w.giveUpAll(places, err)
	}
	return nil
}

// lacking are the places of the columns of a write that a table lacks, but for those that it was found not to get.
func (w *tableWrite) lacking(t *schema.Table) (places []int) {
	for i, f := range w.fields {
		if w.refused.columns[i] == nil && w.hint.column(t, f.Name) < 0 {
			places = append(places, i)
		}
	}
	return places
}

// newColumn is the i-th column of a write, as its table gets it.
func (w *tableWrite) newColumn(i int) schema.Column {
	f := w.fields[i]
	return schema.Column{Name: f.Name, Type: f.Type, Nullable: true, Semantic: w.hint.role(f.Name),
		Indexes: w.hint.Indexes[f.Name]}
}

// evolve adds columns to a table.
func (d *definition) evolve(t *schema.Table, add []schema.Column) error {
	if n := len(t.Columns) + len(add); n > schema.MaxColumns {
		return errTooMany(t, n, schema.MaxColumns)
	}
	for _, c := range add {
		if err := schema.CheckColumnName(c.Name); err != nil {
			return err
		}
	}
	var next *schema.Table
	var err error
	if t.Physical != 0 {
		next, err = d.evolveLogical(t, add)
	} else if err = d.hasColumns(t, len(add)); err == nil {
		next, err = t.Evolve(add)
	}
	if err != nil {
		return err
	}
	d.put(next)
	return nil
}
