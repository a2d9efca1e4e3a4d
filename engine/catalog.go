package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// catalog is all names of one moment. Immutable.
type catalog struct {
	databases map[string]manifest.Database
	byName    map[schema.Name]home
	regions   map[schema.TableID]*region // by the id of the table that is stored there, or of the physical one
	logicals  map[schema.TableID]*logicalTable
}

// home is where the rows of a table are: in a region of its own, or between others in that of a physical table.
type home struct {
	region  *region
	logical *logicalTable // nil: the region's own table
}

// logicalTable is one of many tables in the region of a physical table: the series whose keys begin with its id. Rows
// belong to the id: a dropped or truncated table leaves its id and rows behind, until a merge drops the rows of ids
// without a table.
type logicalTable struct {
	id     schema.TableID
	region *region
	schema atomic.Pointer[schema.Table] // replaced under region.mu
	gone   atomic.Bool                  // set under region.mu
}

func newLogical(r *region, t *schema.Table) *logicalTable {
	m := &logicalTable{id: t.ID, region: r}
	m.schema.Store(t)
	return m
}

// schema is the table's schema as it is now.
func (p home) schema() *schema.Table {
	if p.logical != nil {
		return p.logical.schema.Load()
	}
	return p.region.snap.Load().schema
}

// dropped reports whether the table is gone; it stays as it is while the caller holds region.mu.
func (p home) dropped() bool {
	return p.region.dropped.Load() || p.logical != nil && p.logical.gone.Load()
}

// publish replaces the schema. The caller holds region.mu.
func (p home) publish(t *schema.Table) {
	if p.logical != nil {
		p.logical.schema.Store(t)
		return
	}
	p.region.replace(func(s *regionSnap) { s.schema = t })
}

// find returns the home of a table id.
func (c *catalog) find(id schema.TableID) (home, bool) {
	if m := c.logicals[id]; m != nil {
		return home{m.region, m}, true
	}
	r := c.regions[id]
	return home{region: r}, r != nil
}

// logicalsOf are the logical tables of a region, by rising id.
func (c *catalog) logicalsOf(r *region) []*logicalTable {
	var all []*logicalTable
	for _, m := range c.logicals {
		if m.region == r {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *logicalTable) int { return cmp.Compare(a.id, b.id) })
	return all
}

// put enters a table under its name and id.
func (c *catalog) put(p home) {
	t := p.schema()
	c.byName[t.Name] = p
	if p.logical != nil {
		c.logicals[t.ID] = p.logical
	} else {
		c.regions[t.ID] = p.region
	}
}

// remove takes a table out.
func (c *catalog) remove(p home) {
	t := p.schema()
	delete(c.byName, t.Name)
	if p.logical != nil {
		delete(c.logicals, t.ID)
	} else {
		delete(c.regions, t.ID)
	}
}

// inOrder returns the regions in the order of their creation, so that work on all of them always has the same order.
func (c *catalog) inOrder() []*region {
	return slices.SortedFunc(maps.Values(c.regions), func(a, b *region) int { return cmp.Compare(a.id, b.id) })
}

// newCatalog is the catalog of a manifest; its regions have no parts yet.
func newCatalog(m *memory, state *manifest.State) *catalog {
	c := emptyCatalog(state)
	for _, t := range state.Tables {
		if t.Schema.Physical == 0 {
			c.put(home{region: newRegion(m, t.Schema)})
		}
	}
	for _, t := range state.Tables {
		if r := c.regions[t.Schema.Physical]; t.Schema.Physical != 0 && r != nil {
			c.put(home{r, newLogical(r, t.Schema)})
		}
	}
	return c
}

// emptyCatalog is the databases of a manifest, without tables.
func emptyCatalog(state *manifest.State) *catalog {
	c := &catalog{databases: map[string]manifest.Database{}, byName: map[schema.Name]home{},
		regions: map[schema.TableID]*region{}, logicals: map[schema.TableID]*logicalTable{}}
	maps.Copy(c.databases, state.Databases)
	for _, name := range []string{PublicDB, PrivateDB} {
		if _, ok := c.databases[name]; !ok {
			c.databases[name] = manifest.Database{}
		}
	}
	c.databases[PrivateDB] = manifest.Database{} // options that older programs stored would change its tables
	return c
}

// ttl is the time to live of a table's rows: its own, or that of the physical table that it lies in, or its database's.
func (c *catalog) ttl(t *schema.Table) int64 {
	if _, own := t.Options.Find("ttl"); own {
		return t.Options.TTL
	}
	if r := c.regions[t.Physical]; t.Physical != 0 && r != nil {
		return c.ttl(r.snap.Load().schema)
	}
	if text, ok := c.option(t, "ttl"); ok {
		ns, _, err := schema.ParseTTL(text)
		if err != nil {
			return 0 // was checked when it was set: what cannot be read keeps rows
		}
		return ns
	}
	return t.Options.TTL
}

// option is an option of a table: its own or, of those that act live, its database's.
func (c *catalog) option(t *schema.Table, key string) (string, bool) {
	if text, own := t.Options.Find(key); own {
		return text, true
	}
	for _, o := range c.databases[t.Name.DB].Options {
		if o.Key == key {
			return o.Value, true
		}
	}
	return "", false
}

// Table finds a table: TableNotFound, or DatabaseNotFound.
func (e *Engine) Table(n schema.Name) (*Table, error) { return e.catalog.Load().table(n) }

// table finds a table: TableNotFound, or DatabaseNotFound.
func (c *catalog) table(n schema.Name) (*Table, error) {
	if p, ok := c.byName[n]; ok {
		return &Table{p.schema(), p}, nil
	}
	return nil, c.missing(n)
}

// missing is the error for a table that is not there.
func (c *catalog) missing(n schema.Name) error {
	if _, ok := c.databases[n.DB]; !ok {
		return status.New(status.DatabaseNotFound, "Database not found: %s", n.DB)
	}
	return status.New(status.TableNotFound, "Table not found: %s", n)
}

// Tables lists the tables of a database, sorted by name. DatabaseNotFound.
func (e *Engine) Tables(db string) ([]*Table, error) {
	c := e.catalog.Load()
	if _, ok := c.databases[db]; !ok {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", db)
	}
	var tables []*Table
	for n, p := range c.byName {
		if n.DB == db && !p.schema().Draft {
			tables = append(tables, &Table{p.schema(), p})
		}
	}
	slices.SortFunc(tables, func(a, b *Table) int { return cmp.Compare(a.Schema.Name.Table, b.Schema.Name.Table) })
	return tables, nil
}

// Databases lists the databases of the store, sorted: public and service_private are always there.
func (e *Engine) Databases() []Database {
	var all []Database
	for name, d := range e.catalog.Load().databases {
		all = append(all, Database{name, d.Options, d.Made})
	}
	slices.SortFunc(all, func(a, b Database) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Database finds a database; false if it does not exist.
func (e *Engine) Database(name string) (Database, bool) {
	d, ok := e.catalog.Load().databases[name]
	return Database{name, d.Options, d.Made}, ok
}
