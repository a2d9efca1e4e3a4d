package engine

import (
	"context"
	"slices"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// Database is a database with its options.
type Database struct {
	Name    string
	Options []schema.Option
	// Made tells the database from those before it that had its name. It is given when the database is made.
	Made int64
}

// CreateDatabase makes a database; DatabaseAlreadyExists.
func (e *Engine) CreateDatabase(_ context.Context, d Database) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := schema.CheckName("database", d.Name); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if _, ok := e.catalog.Load().databases[d.Name]; ok {
		return status.New(status.DatabaseAlreadyExists, "Schema %s already exists", d.Name)
	}
	e.lastMade = max(e.o.Now().UnixNano(), e.lastMade+1)
	return e.putDatabase(d.Name, manifest.Database{Options: d.Options, Made: e.lastMade})
}

// AlterDatabase replaces a database's options; DatabaseNotFound.
func (e *Engine) AlterDatabase(ctx context.Context, d Database) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := MayChange(ctx, d.Name); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	put, ok := e.catalog.Load().databases[d.Name]
	if !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", d.Name)
	}
	put.Options = d.Options
	return e.putDatabase(d.Name, put)
}

func (e *Engine) putDatabase(name string, put manifest.Database) error {
	if err := e.redefine(manifest.Edit{PutDatabase: map[string]manifest.Database{name: put}}); err != nil {
		return err
	}
	e.change(func(c *catalog) { c.databases[name] = put })
	return nil
}

// DropDatabase drops a database with its tables; DatabaseNotFound.
func (e *Engine) DropDatabase(_ context.Context, name string) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c := e.catalog.Load()
	if _, ok := c.databases[name]; !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", name)
	}
	if name == PublicDB || name == PrivateDB {
		return status.New(status.InvalidArguments, "database %s cannot be dropped", name)
	}
	edit := manifest.Edit{DropDatabase: []string{name}}
	var gone []home
	for n, p := range c.byName { // drafts among them
		if n.DB == name {
			gone = append(gone, p)
			edit.DropTable = append(edit.DropTable, p.schema().ID)
		}
	}
	return e.dropAll(edit, gone, nil)
}

// dropAll applies an edit that drops databases and tables, and releases the tables. more, which may be nil, makes the
// further changes of the edit in the catalog.
func (e *Engine) dropAll(edit manifest.Edit, gone []home, more func(c *catalog)) error {
	var aside []*part
	for _, p := range gone {
		if p.logical == nil {
			p.region.maintain.Lock() // a flush lists its part in the manifest first
			aside = append(aside, e.damages.asideOf(p.region, p.region.snap.Load())...)
			p.region.maintain.Unlock()
		}
	}
	if err := e.redefine(edit); err != nil {
		return err
	}
	e.removals.Add(1)
	e.change(func(c *catalog) {
		for _, name := range edit.DropDatabase {
			delete(c.databases, name)
		}
		for _, p := range gone {
			c.remove(p)
		}
		if more != nil {
			more(c)
		}
	})
	e.discard(gone)
	e.damages.forgetAside(aside)
	return nil
}

func checkTable(t *schema.Table) error {
	if len(t.Columns) > schema.MaxColumns {
		return status.New(status.InvalidArguments, "table %s has %d columns, the limit is %d", t.Name.Table,
			len(t.Columns), schema.MaxColumns)
	}
	for i := range t.Columns {
		if err := schema.CheckColumnName(t.Columns[i].Name); err != nil {
			return err
		}
		if p := t.Column(t.Columns[i].Name); p != i {
			return status.New(status.InvalidArguments, "column %s is defined twice", t.Columns[i].Name)
		}
	}
	if t.Time < 0 || t.Time >= len(t.Columns) || !t.Columns[t.Time].Type.IsTimestamp() {
		return status.New(status.InvalidArguments, "table %s needs a time index column of a TIMESTAMP type",
			t.Name.Table)
	}
	return nil
}

// DropTables drops tables: all of them or, when one is missing, none.
func (e *Engine) DropTables(ctx context.Context, names []schema.Name) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	for _, n := range names {
		if err := mayDrop(ctx, n); err != nil {
			return err
		}
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c := e.catalog.Load()
	var gone []home
	for _, n := range names {
		p, ok := c.byName[n]
		if !ok {
			return c.missing(n)
		}
		if !slices.Contains(gone, p) {
			gone = append(gone, p)
		}
	}
	edit, err := c.dropping(gone)
	if err != nil {
		return err
	}
	return e.dropAll(edit, gone, nil)
}

// dropping returns the edit that drops tables. A physical table can be dropped only together with its logical tables.
func (c *catalog) dropping(gone []home) (edit manifest.Edit, err error) {
	for _, p := range gone {
		edit.DropTable = append(edit.DropTable, p.schema().ID)
		if p.logical != nil {
			continue
		}
		for _, m := range c.logicalsOf(p.region) {
			if !slices.Contains(gone, home{p.region, m}) {
				return edit, status.New(status.InvalidArguments,
					"physical table %s cannot be dropped: table %s is stored in it", p.schema().Name.Table,
					m.schema.Load().Finished().Name.Table)
			}
		}
	}
	return edit, nil
}

// discard releases everything that dropped tables hold; readers keep the parts that they pinned.
func (e *Engine) discard(gone []home) {
	for _, p := range gone {
		if p.logical != nil {
			p.leave()
			continue
		}
		r := p.region
		r.maintain.Lock()
		r.mu.Lock()
		r.dropped.Store(true)
		r.pending = nil
		old := r.snap.Load()
		r.replace(func(s *regionSnap) { s.live, s.frozen, s.parts = e.memory.newMem(nil), nil, nil })
		r.mu.Unlock()
		r.maintain.Unlock()
		e.letGo(old)
	}
}

func (e *Engine) letGo(old *regionSnap) {
	for _, m := range old.mems() {
		m.writers.Wait()
		e.memory.forget(m)
		if m.built != nil { // no snapshot lists it any more
			m.built.unlisted.Store(true)
			m.built.retire()
		}
	}
	for _, p := range old.parts {
		p.retire()
	}
}

// Truncate removes all rows of a table.
func (e *Engine) Truncate(ctx context.Context, n schema.Name) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := MayChange(ctx, n.DB); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return err
	case tab.logical != nil:
		return e.truncateLogical(tab)
	case tab.Schema.Shared():
		return errPhysical(n, "truncated")
	}
	next := *tab.Schema
	next.Version++
	return e.empty(tab.region, n, &next)
}

// empty removes all rows of a region. next is the schema that its table gets by the same edit; nobody else has it yet.
// The caller holds inventory.ddl.
func (e *Engine) empty(r *region, n schema.Name, next *schema.Table) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	r.mu.Lock()
	old := r.snap.Load()
	aside := e.damages.asideOf(r, old)
	next.Emptied = e.committer.seq.Load()
	edit := manifest.Edit{PutTable: []*schema.Table{next},
		Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: next.Emptied}}}
	if t := e.manifest.State().Tables[r.id]; t != nil {
		for _, m := range t.Parts { // those that are set aside as well
			edit.RemoveParts = append(edit.RemoveParts,
				manifest.PartEdit{Table: r.id, Part: manifest.PartMeta{File: m.File}})
		}
	}
	var err error
	if r.dropped.Load() || !e.lists(r) {
		err = droppedError(n)
	} else if err = e.apply(edit); err == nil {
		e.removals.Add(1)
		r.pending = nil
		r.replace(func(s *regionSnap) {
			s.live, s.frozen, s.parts, s.schema = e.memory.newMem(nil), nil, nil, next
		})
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	e.letGo(old)
	e.damages.forgetAside(aside)
	return nil
}
