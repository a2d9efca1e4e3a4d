package engine

import "time"

type table struct{ place }

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
