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
func (e *Engine) CreateDatabase(ctx context.Context, d Database) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, PublicDB); err != nil {
		return err
	}
	if err := schema.CheckName("database", d.Name); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if _, ok := e.catalog.Load().databases[d.Name]; ok {
		return status.New(status.DatabaseAlreadyExists, "Schema %s already exists", d.Name)
	}
	return e.definer.makeDatabase(d.Name, d.Options)
}

// AlterDatabase replaces a database's options; DatabaseNotFound.
func (e *Engine) AlterDatabase(ctx context.Context, d Database) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, d.Name); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	put, ok := e.catalog.Load().databases[d.Name]
	if !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", d.Name)
	}
	put.Options = d.Options
	return e.definer.putDatabase(d.Name, put)
}

// DropDatabase drops a database with its tables; DatabaseNotFound.
func (e *Engine) DropDatabase(ctx context.Context, name string) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, PublicDB); err != nil {
		return err
	}
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
			if err := p.refusing(); err != nil {
				return err
			}
			gone = append(gone, p)
			edit.DropTable = append(edit.DropTable, p.schema().ID)
		}
	}
	return e.dropper.dropAll(edit, gone, nil)
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
		if err := e.mayDrop(ctx, n); err != nil {
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
	return e.dropper.dropAll(edit, gone, nil)
}

// dropping returns the edit that drops tables, none of which may be read-only. A physical table can be
// dropped only together with its logical tables.
func (c *catalog) dropping(gone []home) (edit manifest.Edit, err error) {
	for _, p := range gone {
		if err := p.refusing(); err != nil {
			return edit, err
		}
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

// Truncate removes all rows of a table.
func (e *Engine) Truncate(ctx context.Context, n schema.Name) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, n.DB); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return err
	case tab.refusing() != nil:
		return tab.refusing()
	case tab.logical != nil:
		return e.dropper.truncateLogical(tab)
	case tab.Schema.Shared():
		return errPhysical(n, "truncated")
	}
	next := *tab.Schema
	next.Version++
	return e.dropper.empty(tab.region, n, &next)
}
