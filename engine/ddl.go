package engine

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

func (e *core) createDatabase(_ context.Context, d Database) error {
	if err := checkFileName("database", d.Name); err != nil {
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

// checkFileName holds names of tables and databases, which become names of files and of figures, to what these can be:
// whoever writes rows may make tables, and SQL's own rules are stricter.
func checkFileName(what, name string) error {
	if size := len(name) + 2*strings.Count(name, "%"); name == "" || size > maxFileNameBytes {
		return status.New(status.InvalidArguments, "Invalid %s name: %d bytes (%% counts as 3), the limit is %d and it may not be empty", what, size, maxFileNameBytes)
	}
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' }
	if name == "." || name == ".." || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return status.New(status.InvalidArguments, "Invalid %s name: %q holds control characters, slashes or what is no UTF-8", what, name)
	}
	return nil
}

func checkTable(t *schema.Table) error {
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
		r.dropped, r.pending = true, nil
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
		if m.built != nil { // nobody lists it any more
			m.built.unlisted.Store(true)
			m.built.retire()
		}
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
		r.pending = nil
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
