package infoschema

import (
	"varve/engine"
	"varve/engine/schema"
)

// column_indexes and table_indexes show the indexes in the files; SHOW INDEX and statistics show those of the DDL. No
// standard has these two tables: they exist because a store also builds indexes that the DDL does not name.

// The physical kinds of an index.
const (
	zoneMap     = "ZONE MAP"     // bounds of each block
	postings    = "POSTINGS"     // the blocks of each value of a dictionary
	tokenFilter = "TOKEN FILTER" // a filter of each block's words or values
	seriesKeys  = "SERIES KEYS"  // where each combination of tags begins
)

// columnIndexRows are the indexes that the parts of each table hold, by column.
func columnIndexRows(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		found, err := physical(t)
		if err != nil {
			return err
		}
		n, parts := t.Schema.Name, len(t.Stats().Parts)
		for i := range t.Schema.Columns {
			c := &t.Schema.Columns[i]
			if c.Semantic == schema.Tag {
				r.add(Catalog, n.DB, n.Table, c.Name, seriesKeys, parts, nil, "PRIMARY")
				continue
			}
			x := found[c.ID]
			if x == nil {
				continue // no part has the column
			}
			for _, x := range x {
				if x.parts > 0 {
					r.add(Catalog, n.DB, n.Table, c.Name, x.kind, x.parts, x.bytes, asker(c, x.kind))
				}
			}
		}
		return nil
	})
}

// columnIndex is one kind of index of a column over all parts.
type columnIndex struct {
	kind         string
	parts, bytes int64
}

// physical sums up what the parts of a table hold, by column.
func physical(t *engine.Table) (map[schema.ColumnID]*[3]columnIndex, error) {
	found := map[schema.ColumnID]*[3]columnIndex{}
	err := t.PartColumns(func(columns []engine.PartColumn) {
		for i := range columns {
			c := &columns[i]
			x := found[c.ID]
			if x == nil {
				x = &[3]columnIndex{{kind: zoneMap}, {kind: postings}, {kind: tokenFilter}}
				found[c.ID] = x
			}
			for k, bytes := range [3]int64{c.IndexBytes - c.PostingBytes - c.FilterBytes, c.PostingBytes,
				c.FilterBytes} {
				if bytes > 0 {
					x[k].parts++
					x[k].bytes += bytes
				}
			}
		}
	})
	return found, err
}

// asker returns the kind of index in the DDL that a physical index serves; nil if the DDL has none.
func asker(c *schema.Column, kind string) any {
	if c.Semantic == schema.Timestamp && kind == zoneMap {
		return "TIME"
	}
	for _, x := range c.Indexes {
		if kind == tokenFilter || kind == postings && x.Kind == schema.Inverted {
			return IndexWord(x.Kind)
		}
	}
	return nil
}

// tableIndexRows are the sizes of each table's indexes and what building them has cost.
func tableIndexRows(e *Env, w Where, r *rows) error {
	return eachTable(e, w, func(t *engine.Table) error {
		st := t.Stats()
		found, err := physical(t)
		if err != nil {
			return err
		}
		var sizes [3]int64
		for _, x := range found {
			for k := range sizes {
				sizes[k] += x[k].bytes
			}
		}
		rest := st.IndexBytes - sizes[0] - sizes[1] - sizes[2]
		n := t.Schema.Name
		r.add(Catalog, n.DB, n.Table, int(t.Schema.ID), len(st.Parts), st.DiskBytes-st.IndexBytes, st.IndexBytes,
			sizes[0], sizes[1], sizes[2], rest,
			st.IndexTime.Seconds())
		return nil
	})
}
