package engine

import (
	"context"
	"slices"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

func (e *core) createDatabase(_ context.Context, d Database) error {
	if err := checkName("database", d.Name); err != nil {
		return err
	}
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if _, ok := e.catalog.Load().databases[d.Name]; ok {
		return status.New(status.DatabaseAlreadyExists, "Schema %s already exists", d.Name)
	}
	return e.putDatabase(d)
}

func (e *core) alterDatabase(_ context.Context, d Database) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	if _, ok := e.catalog.Load().databases[d.Name]; !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", d.Name)
	}
	return e.putDatabase(d)
}

func (e *core) putDatabase(d Database) error {
	put := manifest.Database{Options: d.Options}
	if err := e.apply(manifest.Edit{PutDatabase: map[string]manifest.Database{d.Name: put}}); err != nil {
		return err
	}
	e.change(func(c *catalog) { c.databases[d.Name] = put })
	return nil
}

func (e *core) dropDatabase(_ context.Context, name string) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c := e.catalog.Load()
	if _, ok := c.databases[name]; !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", name)
	}
	if name == PublicDB || name == PrivateDB {
		return status.New(status.InvalidArguments, "database %s is always there", name)
	}
	edit := manifest.Edit{DropDatabase: []string{name}}
	var gone []place
	for n, p := range c.byName {
		if n.DB == name {
			gone = append(gone, p)
			edit.DropTable = append(edit.DropTable, p.schema().ID)
		}
	}
	return e.dropAll(edit, gone)
}

// dropAll applies an edit that drops databases and tables and lets go of those.
func (e *core) dropAll(edit manifest.Edit, gone []place) error {
	var aside []*part
	for _, p := range gone {
		if p.member == nil {
			p.region.maintain.Lock() // a flush lists its part in the manifest first
			aside = append(aside, e.asideOf(p.region, p.region.snap.Load())...)
			p.region.maintain.Unlock()
		}
	}
	if err := e.apply(edit); err != nil {
		return err
	}
	e.change(func(c *catalog) {
		for _, name := range edit.DropDatabase {
			delete(c.databases, name)
		}
		for _, p := range gone {
			c.remove(p)
		}
	})
	e.discard(gone)
	e.forgetAside(aside)
	return nil
}

func checkName(what, name string) error {
	if name == "" || len(name) > maxNameBytes {
		return status.New(status.InvalidArguments, "Invalid %s name: %d bytes, the limit is %d and it may not be empty", what, len(name), maxNameBytes)
	}
	return nil
}

func checkTable(t *schema.Table) error {
	if err := checkName("table", t.Name.Table); err != nil {
		return err
	}
	if len(t.Columns) > maxColumns {
		return status.New(status.InvalidArguments, "table %s has %d columns, the limit is %d", t.Name.Table, len(t.Columns), maxColumns)
	}
	for i := range t.Columns {
		if err := checkName("column", t.Columns[i].Name); err != nil {
			return err
		}
		if p := t.Column(t.Columns[i].Name); p != i {
			return status.New(status.InvalidArguments, "column %s is defined twice", t.Columns[i].Name)
		}
	}
	if t.Time < 0 || t.Time >= len(t.Columns) || !t.Columns[t.Time].Type.IsTimestamp() {
		return status.New(status.InvalidArguments, "table %s needs a time index column of a TIMESTAMP type", t.Name.Table)
	}
	return nil
}

func (e *core) alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	tab, err := e.findTable(n)
	switch {
	case err != nil:
		return err
	case tab.Schema.Shared():
		return errPhysical(n, "altered")
	case tab.member != nil:
		next, err := change(tab.Schema)
		if err != nil || next == tab.Schema {
			return err
		}
		return e.alterMember(tab.Schema, next)
	}
	return e.alterOwn(ctx, n, change)
}

// alterOwn alters a table that has a region of its own.
func (e *core) alterOwn(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	tab, err := e.findTable(n)
	if err != nil {
		return err
	}
	next, err := change(tab.Schema)
	if err != nil || next == tab.Schema {
		return err
	}
	if next.Version == tab.Schema.Version {
		c := *next
		c.Version++
		next = &c
	}
	if err := checkTable(next); err != nil {
		return err
	}
	next = keepInitial(tab.Schema, next)
	c := e.catalog.Load()
	if next.Name != n {
		if _, ok := c.databases[next.Name.DB]; !ok {
			return status.New(status.DatabaseNotFound, "Database not found: %s", next.Name.DB)
		}
		if _, ok := c.byName[next.Name]; ok {
			return status.New(status.TableAlreadyExists, "Table already exists: `%s`", next.Name)
		}
	}
	r := tab.region
	appends := next.Options.AppendMode && !tab.Schema.Options.AppendMode
	if appends {
		if err := e.unify(ctx, r); err != nil {
			return err
		}
	}
	// Rows in memory have the old type, parts know how to read it as the new one; and they replace rows in parts.
	changed := retyped(tab.Schema, next)
	if err := e.settle(ctx, r, changed); err != nil {
		return err
	}
	empty := appends || len(changed) > 0
	if empty {
		r.maintain.Lock()
		defer r.maintain.Unlock()
		if err := e.flushFrozen(ctx, r, true); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.snap.Load(); empty && s.live.table.Rows() > 0 || appends && !unified(s.parts) {
		return status.New(status.RegionBusy, "table %s is being written to: column types and append_mode cannot change now, try again", n)
	}
	if err := e.apply(manifest.Edit{PutTable: []*schema.Table{next}}); err != nil {
		return err
	}
	r.replace(func(s *regionSnap) { s.schema = next })
	if next.Name != n {
		e.change(func(c *catalog) {
			delete(c.byName, n)
			c.byName[next.Name] = tab.place
		})
	}
	return nil
}

// keepInitial gives next with what rows read that were written before a column existed: as in the old schema, whatever
// the default is now; a column of another type now begins with its default in that type.
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
			c.Initial = c.Default
		}
	}
	return &n
}

// unify merges all of a table's parts, so that rows that were replaced or deleted are gone and not only hidden: a table
// that becomes append-only shows every row it has.
func (e *core) unify(ctx context.Context, r *region) error {
	s := r.snap.Load()
	if _, damaged := sound(s.parts); len(damaged)+len(e.asideOf(r, s)) > 0 {
		return status.New(status.Unsupported, "append_mode cannot be switched on while parts of the table are damaged: rows that they replace could not be told")
	}
	if err := e.flushRegion(ctx, r); err != nil {
		return err
	}
	for again := true; again; {
		var err error
		if again, err = e.mergeAll(ctx, r); err != nil {
			return err
		}
	}
	if parts := r.snap.Load().parts; !unified(parts) {
		return status.New(status.Unsupported, "append_mode cannot be switched on: the table has more rows than one part may hold (%d), so that replaced rows would come back", maxMergeRows)
	}
	return nil
}

// unified tells whether no row of the parts replaces or deletes another.
func unified(parts []*part) bool {
	for i, p := range parts {
		for _, o := range parts[:i] {
			if p.meta.MinTime <= o.meta.MaxTime && o.meta.MinTime <= p.meta.MaxTime {
				return false
			}
		}
		if !p.meta.Unique {
			return false
		}
	}
	return true
}

// retyped gives the columns that have another type in the next schema, as they are now.
func retyped(old, next *schema.Table) (changed []schema.Column) {
	for _, c := range old.Columns {
		if p := next.ByID(c.ID); p >= 0 && next.Columns[p].Type != c.Type {
			changed = append(changed, c)
		}
	}
	return changed
}

// settle writes the parts anew that still have values of a type before the present one of some columns, before these get yet
// another: values that do not convert are lost with the first change, whether a merge came in between or not.
func (e *core) settle(ctx context.Context, r *region, columns []schema.Column) error {
	older := func(p *part) bool {
		return slices.ContainsFunc(columns, func(c schema.Column) bool {
			t, ok := p.file.TypeOf(c.ID)
			return ok && t != c.Type
		})
	}
	whole, _ := sound(r.snap.Load().parts)
	for _, p := range whole {
		_, err := e.mergeChosen(ctx, r, func(s *regionSnap, _ windows) []*part {
			if !slices.Contains(s.parts, p) || !p.whole() || !older(p) {
				return nil
			}
			return []*part{p}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *core) dropTables(_ context.Context, names []schema.Name) error {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	c := e.catalog.Load()
	var edit manifest.Edit
	var gone []place
	for _, n := range names {
		p, ok := c.byName[n]
		if !ok {
			return c.missing(n)
		}
		if !slices.Contains(gone, p) {
			gone = append(gone, p)
			edit.DropTable = append(edit.DropTable, p.schema().ID)
		}
	}
	for _, p := range gone {
		if p.member != nil {
			continue
		}
		for _, m := range c.membersOf(p.region) {
			if !slices.Contains(gone, place{p.region, m}) {
				return status.New(status.InvalidArguments, "physical table %s cannot be dropped: table %s lies in it", p.schema().Name.Table, m.schema.Load().Name.Table)
			}
		}
	}
	return e.dropAll(edit, gone)
}

// discard lets go of everything that dropped tables hold; readers keep what they pinned.
func (e *core) discard(gone []place) {
	for _, p := range gone {
		if p.member != nil {
			p.leave()
			continue
		}
		r := p.region
		r.maintain.Lock()
		r.mu.Lock()
		r.dropped = true
		old := r.snap.Load()
		r.replace(func(s *regionSnap) { s.live, s.frozen, s.parts = newMem(nil), nil, nil })
		r.mu.Unlock()
		r.maintain.Unlock()
		e.letGo(old)
	}
}

func (e *core) letGo(old *regionSnap) {
	for _, m := range old.mems() {
		m.writers.Wait()
		e.forget(m)
	}
	for _, p := range old.parts {
		p.retire()
	}
}

func (e *core) truncate(ctx context.Context, n schema.Name) error {
	tab, err := e.findTable(n)
	switch {
	case err != nil:
		return err
	case tab.member != nil:
		return e.truncateMember(ctx, n)
	case tab.Schema.Shared():
		return errPhysical(n, "truncated")
	}
	r := tab.region
	r.maintain.Lock()
	defer r.maintain.Unlock()
	r.mu.Lock()
	old := r.snap.Load()
	aside := e.asideOf(r, old)
	edit := manifest.Edit{Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: e.seq.Load()}}}
	if t := e.manifest.State().Tables[r.id]; t != nil {
		for _, m := range t.Parts { // those that are set aside as well
			edit.RemoveParts = append(edit.RemoveParts, manifest.PartEdit{Table: r.id, Part: manifest.PartMeta{File: m.File}})
		}
	}
	err = nil
	if r.dropped {
		err = status.New(status.TableNotFound, "Table not found: %s", n)
	} else if err = e.apply(edit); err == nil {
		r.replace(func(s *regionSnap) { s.live, s.frozen, s.parts = newMem(nil), nil, nil })
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	e.letGo(old)
	e.forgetAside(aside)
	return nil
}
