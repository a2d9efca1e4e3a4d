package engine

import (
	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
)

// definer publishes definitions, one at a time, under inventory.ddl: what is made and what gets more columns. Safe for
// concurrent use.
type definer struct {
	*inventory
	memory   *memory
	views    *Views
	young    *youngLabels
	refused  *prometheus.CounterVec // writes, by reason
	lastMade int64                  // Made of the last database that was made; under ddl
}

// begin begins a definition without tables. The caller holds ddl.
func (f *definer) begin() *definition {
	return &definition{c: f.catalog.Load(), next: f.nextTable(), nowMS: f.o.Now().UnixMilli(),
		changed: map[schema.Name]*schema.Table{}, own: map[*schema.Table]bool{}, most: f.o.MaxTables,
		mostColumns: f.o.MaxColumns, ofView: f.views.taken, refused: f.refused.WithLabelValues("columns").Inc}
}

// define lets fill make a definition and publishes it.
func (f *definer) define(fill func(d *definition) error) error {
	f.ddl.Lock()
	defer f.ddl.Unlock()
	d := f.begin()
	if err := fill(d); err != nil || len(d.order) == 0 {
		return err
	}
	var edit manifest.Edit
	for _, n := range d.order {
		edit.PutTable = append(edit.PutTable, d.changed[n])
	}
	if err := f.redefine(edit); err != nil {
		return err
	}
	f.young.note(d)
	var fresh []*schema.Table
	for _, t := range edit.PutTable {
		p, ok := d.c.find(t.ID)
		if !ok {
			fresh = append(fresh, t)
			continue
		}
		p.region.mu.Lock()
		p.publish(t)
		p.region.mu.Unlock()
	}
	if len(fresh) == 0 {
		return nil
	}
	f.change(func(c *catalog) {
		for _, t := range fresh {
			if t.Physical == 0 {
				c.put(home{region: newRegion(f.memory, t)})
			} else {
				r := c.regions[t.Physical]
				c.put(home{r, newLogical(r, t)})
			}
		}
	})
	return nil
}

// createAbsent makes the tables that writes lack.
func (f *definer) createAbsent(ws []*tableWrite) error {
	return f.define(func(d *definition) error {
		for _, w := range ws {
			if d.table(w.name) != nil {
				continue // somebody else was first
			}
			t, err := tableOf(w.writeEntry, w.fields)
			if err == nil {
				t.Options, err = t.Options.WithDefaults(d.c.databases[w.name.DB].Options)
			}
			if err == nil {
				err = d.create(t)
			}
			if err != nil && status.Of(err) != status.TableAlreadyExists {
				err = w.allOrError(err)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// addColumns adds the columns that writes bring and their tables lack.
func (f *definer) addColumns(ws []*tableWrite) error {
	return f.define(func(d *definition) error {
		for _, w := range ws {
			if w.samples != nil {
				if err := d.addSampleColumns(w.samples); err != nil {
					return err
				}
				continue
			}
			if err := d.addLacking(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// alterLogical takes what ALTER made of a logical table: only tags may have been added.
func (f *definer) alterLogical(old, next *schema.Table) error {
	same := next.Name == old.Name && next.Options.Equal(&old.Options) && next.Options.Comment == old.Options.Comment
	kept := 0
	var add []schema.Column
	for _, c := range next.Columns {
		p := old.Column(c.Name)
		if p < 0 {
			add = append(add, c)
			continue
		}
		kept++
		same = same && old.Columns[p].Type == c.Type && old.Columns[p].DefaultText == c.DefaultText &&
			old.Columns[p].Comment == c.Comment && len(old.Columns[p].Indexes) == len(c.Indexes)
	}
	if !same || kept != len(old.Columns) {
		return status.New(status.InvalidArguments, "table %s is stored in a physical table: only tags can be added to it",
			old.Name.Table)
	}
	return f.define(func(d *definition) error {
		t := d.table(old.Name)
		if t == nil {
			return status.New(status.TableNotFound, "Table not found: %s", old.Name)
		}
		return d.evolve(t, add)
	})
}

// makeDatabase makes a database. The caller holds ddl.
func (f *definer) makeDatabase(name string, options []schema.Option) error {
	f.lastMade = max(f.o.Now().UnixNano(), f.lastMade+1)
	return f.putDatabase(name, manifest.Database{Options: options, Made: f.lastMade})
}

// putDatabase gives a database its options. The caller holds ddl.
func (f *definer) putDatabase(name string, put manifest.Database) error {
	if err := f.redefine(manifest.Edit{PutDatabase: map[string]manifest.Database{name: put}}); err != nil {
		return err
	}
	f.change(func(c *catalog) { c.databases[name] = put })
	return nil
}
