package engine

import (
	"cmp"
	"slices"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
)

type table struct{ region *region }

func (e *core) findTable(n schema.Name) (*Table, error) {
	c := e.catalog.Load()
	if r := c.byName[n]; r != nil {
		return &Table{r.snap.Load().schema, table{r}}, nil
	}
	if _, ok := c.databases[n.DB]; !ok {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", n.DB)
	}
	return nil, status.New(status.TableNotFound, "Table not found: %s", n)
}

func (e *core) listTables(db string) ([]*Table, error) {
	c := e.catalog.Load()
	if _, ok := c.databases[db]; !ok {
		return nil, status.New(status.DatabaseNotFound, "Database not found: %s", db)
	}
	var tables []*Table
	for n, r := range c.byName {
		if n.DB == db {
			tables = append(tables, &Table{r.snap.Load().schema, table{r}})
		}
	}
	slices.SortFunc(tables, func(a, b *Table) int { return cmp.Compare(a.Schema.Name.Table, b.Schema.Name.Table) })
	return tables, nil
}

func (e *core) databases() []Database {
	var all []Database
	for name, d := range e.catalog.Load().databases {
		all = append(all, Database{name, d.Options})
	}
	slices.SortFunc(all, func(a, b Database) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func (t *table) stats() TableStats {
	var st TableStats
	s := t.region.snap.Load()
	for _, p := range s.parts {
		st.Rows += p.meta.Rows
		st.DiskBytes += p.meta.Bytes
		st.IndexBytes += p.meta.IndexBytes
		st.IndexTime += time.Duration(p.meta.IndexUS) * time.Microsecond
		st.Parts = append(st.Parts, PartInfo{t.region.id, partName(p.meta.File), p.meta.Bytes, int(p.meta.Rows), p.meta.MinTime, p.meta.MaxTime,
			p.meta.IndexBytes, p.file.Meta().Columns})
	}
	for _, m := range s.mems() {
		st.MemtableRows += int64(m.table.Rows())
		st.MemtableBytes += m.table.Bytes()
	}
	st.Rows += st.MemtableRows
	return st
}
