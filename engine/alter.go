package engine

import (
	"context"
	"slices"

	"varve/engine/convert"
	"varve/engine/schema"
)

// Alter publishes the schema that change makes from the current one (with the same table id). change may be called
// again if another change came in between. A new name in the result renames the table.
func (e *Engine) Alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	if err := e.door.enter(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, n.DB); err != nil {
		return err
	}
	change = optionsOnly(change)
	tab, err := e.Table(n)
	switch {
	case err != nil:
		return err
	case tab.Schema.Shared():
		return e.alterer.alter(ctx, n, onlyLive(change), false)
	case tab.logical != nil:
		next, err := change(tab.Schema)
		if err != nil || next == tab.Schema {
			return err
		}
		if err := tab.refusing(); err != nil {
			return err
		}
		return e.definer.alterLogical(tab.Schema, next)
	}
	return e.alterer.alter(ctx, n, change, false)
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
