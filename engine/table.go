package engine

import (
	"time"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sst"
)

// Table is a handle of a table at one schema version.
type Table struct {
	Schema *schema.Table
	home
}

// PartInfo describes one part of a table, for information_schema and /status.
type PartInfo struct {
	Table      schema.TableID
	File       string
	Bytes      int64
	Rows       int
	Min, Max   int64 // time span, both inclusive
	IndexBytes int64
	// Object is the object of the bucket that holds a cold part; empty: the part lies in the data directory.
	Object string
	// LocalBytes is what the part takes in the data directory.
	LocalBytes int64
}

// PartColumn describes a column as a part stores it.
type PartColumn = sst.ColumnMeta

// TableStats are the sizes of a table.
type TableStats struct {
	Rows, MemtableRows       int64
	DiskBytes, MemtableBytes int64
	IndexBytes               int64
	// IndexTime is the work that the indexes of the parts have cost, merges before included.
	IndexTime time.Duration
	Parts     []PartInfo
}

// Stats returns the sizes of a table. Bytes and parts of logical tables are those of their physical table.
func (t *Table) Stats() TableStats {
	var st TableStats
	s := t.region.snap.Load()
	if t.logical != nil {
		return t.logical.stats(s)
	}
	for _, p := range s.parts {
		st.Rows += p.meta.Rows
		st.DiskBytes += p.meta.Bytes
		st.IndexBytes += p.meta.IndexBytes
		st.IndexTime += time.Duration(p.meta.IndexUS) * time.Microsecond
		st.Parts = append(st.Parts, PartInfo{t.region.id, parts.Name(p.meta.File), p.meta.Bytes, int(p.meta.Rows),
			p.meta.MinTime, p.meta.MaxTime,
			p.meta.IndexBytes, p.meta.Object(), p.meta.LocalBytes()})
	}
	for _, m := range s.mems() {
		st.MemtableRows += int64(m.table.Rows())
		st.MemtableBytes += m.table.Bytes()
	}
	st.Rows += st.MemtableRows
	return st
}

// PartColumns calls f once for each part, with all its columns. The parts of a logical table belong to its physical
// table, so f is not called for them.
func (t *Table) PartColumns(f func(columns []PartColumn)) error {
	if t.logical != nil {
		return nil
	}
	s := t.region.openParts()
	defer s.closeParts()
	for _, p := range s.parts {
		columns, err := p.file.ColumnMetas()
		if err != nil {
			return status.Wrap(err, status.StorageUnavailable, "the size of the indexes of a part cannot be read: %v",
				err)
		}
		f(columns)
	}
	return nil
}

// stats are the rows of a logical table; what they take is the physical table's.
func (m *logicalTable) stats(s *regionSnap) (st TableStats) {
	for _, p := range s.parts {
		st.Rows += p.rowsOf(m.id)
	}
	for _, x := range s.mems() {
		st.MemtableRows += x.table.RowsOf(m.id)
	}
	st.Rows += st.MemtableRows
	return st
}
