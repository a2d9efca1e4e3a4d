package engine

import (
	"context"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// alterer gives tables that have a region of their own another schema. region.altering is held for a whole change,
// inventory.ddl while it is published. Safe for concurrent use.
type alterer struct {
	*inventory
	views    *Views
	definer  *definer
	rewriter *rewriter
	dropper  *dropper
}

// alter alters a table that has a region of its own. What takes long is done without the DDL lock, so that other
// tables get their columns meanwhile. exact refuses a change to floats if a stored integer has no exact float.
func (x *alterer) alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error),
	exact bool) error {
	tab, err := x.catalog.Load().table(n)
	if err != nil {
		return err
	}
	if err := tab.region.altering.lock(ctx); err != nil {
		return err
	}
	defer tab.region.altering.unlock()
	for {
		if tab, err = x.catalog.Load().table(n); err != nil {
			return err
		}
		next, err := nextSchema(tab.Schema, change)
		if err != nil || next == tab.Schema {
			return err
		}
		if err := x.space.readOnly(); err != nil { // before the rows are rewritten
			return err
		}
		need := rewriteOf(tab.Schema, next)
		need.exact = exact && len(need.columns) > 0
		done, err := x.alterTo(ctx, tab.home, n, need, change)
		if err != nil || done {
			return err
		}
	}
}

// alterTo prepares the rows for a change that needs the given rewrite, and publishes it. false: the change needs
// another one by now.
func (x *alterer) alterTo(ctx context.Context, p home, n schema.Name, need rewrite,
	change func(*schema.Table) (*schema.Table, error)) (bool, error) {
	if !need.none() {
		open, err := x.rewriter.rewrite(ctx, p.region, need)
		if err != nil {
			return false, err
		}
		defer open()
	}
	x.ddl.Lock()
	defer x.ddl.Unlock()
	tab, err := x.catalog.Load().table(n)
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
	if err := x.mayChange(ctx, next.Name.DB); err != nil {
		return true, err
	}
	if !need.equal(rewriteOf(tab.Schema, next)) {
		return false, nil
	}
	return true, x.publish(tab, next)
}

// publish replaces the schema of a table. The caller holds ddl.
func (x *alterer) publish(tab *Table, next *schema.Table) error {
	old, c := tab.Schema.Name, x.catalog.Load()
	if next.Name != old {
		if _, ok := c.databases[next.Name.DB]; !ok {
			return status.New(status.DatabaseNotFound, "Database not found: %s", next.Name.DB)
		}
		if _, ok := c.byName[next.Name]; ok {
			return status.New(status.TableAlreadyExists, "Table already exists: `%s`", next.Name)
		}
		if err := x.views.taken(next.Name); err != nil {
			return err
		}
	}
	if err := x.definer.begin().hasColumns(next, len(next.Columns)-len(tab.Schema.Columns)); err != nil {
		return err
	}
	if err := x.put(tab, next); err != nil {
		return err
	}
	if next.Name != old {
		x.change(func(c *catalog) {
			delete(c.byName, old)
			c.byName[next.Name] = tab.home
		})
	}
	return nil
}

// put makes the next schema of a table its schema. A table that keeps no rows from now on loses those it has by
// the same edit: they do not come back when its time to live changes again.
func (x *alterer) put(tab *Table, next *schema.Table) error {
	if next.Options.TTL == schema.TTLInstant {
		return x.dropper.empty(tab.region, tab.Schema.Name, next)
	}
	tab.region.mu.Lock()
	defer tab.region.mu.Unlock()
	if err := x.redefine(manifest.Edit{PutTable: []*schema.Table{next}}); err != nil {
		return err
	}
	tab.home.publish(next)
	return nil
}
