package engine

import (
	"context"

	"varve/engine/schema"
	"varve/engine/status"
)

// A draft is a table that is made and filled before anybody can find it under its name: an edit of the manifest then
// gives it the name and drops the table that had it. A crash before that edit leaves the draft, which the next start
// drops, and the old table; a crash after it leaves the new one.

// CreateDraft creates a table under a hidden name; PublishDraft gives it its real name. DropTables removes a draft, and
// so does a start.
func (e *Engine) CreateDraft(ctx context.Context, t *schema.Table) (*Table, error) {
	if err := e.door.enterToChange(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, t.Name.DB); err != nil {
		return nil, err
	}
	draft := *t
	draft.Draft = true
	err := e.definer.define(func(d *definition) error {
		draft.Name = schema.DraftName(t.Name, d.next)
		return d.create(&draft)
	})
	if err != nil {
		return nil, err
	}
	return e.Table(draft.Name)
}

// PublishDraft renames a draft to the table that it was made as and, with replace, drops the table that has that name,
// all at once. TableAlreadyExists without replace.
func (e *Engine) PublishDraft(ctx context.Context, draft schema.Name, replace bool) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, draft.DB); err != nil {
		return err
	}
	if replace { // rows of the old table must not be gone before the new ones are as durable
		tab, err := e.Table(draft)
		if err == nil {
			err = e.flusher.flush(ctx, tab.region)
		}
		if err != nil {
			return err
		}
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.Table(draft)
	if err != nil {
		return err
	}
	next, c := *tab.Schema.Finished(), e.catalog.Load()
	next.Version++
	if err := e.views.taken(next.Name); err != nil {
		return err
	}
	var gone []home
	if old, ok := c.byName[next.Name]; ok {
		if !replace {
			return status.New(status.TableAlreadyExists, "Table already exists: `%s`", next.Name)
		}
		gone = append(gone, old)
	}
	edit, err := c.dropping(gone)
	if err != nil {
		return err
	}
	edit.PutTable = []*schema.Table{&next}
	return e.dropper.dropAll(edit, gone, func(c *catalog) {
		tab.region.mu.Lock()
		tab.home.publish(&next)
		tab.region.mu.Unlock()
		delete(c.byName, draft)
		c.byName[next.Name] = tab.home
	})
}
