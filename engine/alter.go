package engine

import (
	"context"
	"slices"

	"varve/engine/convert"
	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// Alter publishes the schema that change makes from the current one (with the same table id). change may be called
// again if another change came in between. A new name in the result renames the table.
func (e *Engine) Alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := MayChange(ctx, n.DB); err != nil {
		return err
	}
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return err
	case tab.Schema.Shared():
		return e.alterOwn(ctx, n, onlyTTL(change), false)
	case tab.logical != nil:
		next, err := change(tab.Schema)
		if err != nil || next == tab.Schema {
			return err
		}
		return e.definer.alterLogical(tab.Schema, next)
	}
	return e.alterOwn(ctx, n, change, false)
}

// alterOwn alters a table that has a region of its own. What takes long is done without the DDL lock, so that other
// tables get their columns meanwhile. exact refuses a change to floats if a stored integer has no exact float.
func (e *Engine) alterOwn(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error),
	exact bool) error {
	tab, err := e.Table(n)
	if err != nil {
		return err
	}
	if err := tab.region.altering.lock(ctx); err != nil {
		return err
	}
	defer tab.region.altering.unlock()
	for {
		if tab, err = e.Table(n); err != nil {
			return err
		}
		next, err := nextSchema(tab.Schema, change)
		if err != nil || next == tab.Schema {
			return err
		}
		if err := e.space.readOnly(); err != nil { // before the rows are rewritten
			return err
		}
		need := rewriteOf(tab.Schema, next)
		need.exact = exact && len(need.columns) > 0
		done, err := e.alterTo(ctx, tab.home, n, need, change)
		if err != nil || done {
			return err
		}
	}
}

// alterTo prepares the rows for a change that needs the given rewrite, and publishes it. false: the change needs
// another one by now.
func (e *Engine) alterTo(ctx context.Context, p home, n schema.Name, need rewrite,
	change func(*schema.Table) (*schema.Table, error)) (bool, error) {
	if !need.none() {
		open, err := e.rewriter.rewrite(ctx, p.region, need)
		if err != nil {
			return false, err
		}
		defer open()
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return false, err
	case tab.home != p:
		return false, status.New(status.TableNotFound, "Table not found: %s", n) // dropped; another has its name
	}
	next, err := nextSchema(tab.Schema, change)
	if err != nil || next == tab.Schema {
		return true, err
	}
	if err := MayChange(ctx, next.Name.DB); err != nil {
		return true, err
	}
	if !need.equal(rewriteOf(tab.Schema, next)) {
		return false, nil
	}
	return true, e.publishAltered(tab, next)
}

// publishAltered replaces the schema of a table. The caller holds inventory.ddl.
func (e *Engine) publishAltered(tab *Table, next *schema.Table) error {
	old, c := tab.Schema.Name, e.catalog.Load()
	if next.Name != old {
		if _, ok := c.databases[next.Name.DB]; !ok {
			return status.New(status.DatabaseNotFound, "Database not found: %s", next.Name.DB)
		}
		if _, ok := c.byName[next.Name]; ok {
			return status.New(status.TableAlreadyExists, "Table already exists: `%s`", next.Name)
		}
		if err := e.views.taken(next.Name); err != nil {
			return err
		}
	}
	if err := e.definer.begin().hasColumns(next, len(next.Columns)-len(tab.Schema.Columns)); err != nil {
		return err
	}
	if err := e.putAltered(tab, next); err != nil {
		return err
	}
	if next.Name != old {
		e.change(func(c *catalog) {
			delete(c.byName, old)
			c.byName[next.Name] = tab.home
		})
	}
	return nil
}

// putAltered makes the next schema of a table its schema. A table that keeps no rows from now on loses those it has by
// the same edit: they do not come back when its time to live changes again.
func (e *Engine) putAltered(tab *Table, next *schema.Table) error {
	if next.Options.TTL == schema.TTLInstant {
		return e.dropper.empty(tab.region, tab.Schema.Name, next)
	}
	tab.region.mu.Lock()
	defer tab.region.mu.Unlock()
	if err := e.redefine(manifest.Edit{PutTable: []*schema.Table{next}}); err != nil {
		return err
	}
	tab.home.publish(next)
	return nil
}

// nextSchema is what a change makes of a schema; the schema itself when nothing changes.
func nextSchema(old *schema.Table, change func(*schema.Table) (*schema.Table, error)) (*schema.Table, error) {
	next, err := change(old)
	if err != nil || next == old {
		return old, err
	}
	if next.Name != old.Name {
		if err := schema.CheckName("table", next.Name.Table); err != nil {
			return nil, err
		}
	}
	if err := checkTable(next); err != nil {
		return nil, err
	}
	next = keepInitial(old, next)
	next.Version, next.Altered = old.Version+1, old.Altered+1
	return next, nil
}

// keepInitial returns next with what rows read that were written before a column existed: as in the old schema,
// whatever the default is now, and as the column's type where that is another.
func keepInitial(old, next *schema.Table) *schema.Table {
	n := *next
	n.Columns = slices.Clone(next.Columns)
	for i := range n.Columns {
		c := &n.Columns[i]
		p := old.ByID(c.ID)
		switch {
		case p < 0:
			c.Initial = c.Default
		case old.Columns[p].Type == c.Type || old.Columns[p].Initial == nil:
			c.Initial = old.Columns[p].Initial
		default:
			c.Initial = convert.One(old.Columns[p].Initial, c.Type)
		}
	}
	return &n
}
