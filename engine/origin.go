package engine

import (
	"fmt"
	"slices"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/sst"
)

// see records a logical table whose rows are written; the series of a table follow each other.
func (j *partJob) see(id schema.TableID) {
	if k := len(j.seen); k == 0 || j.seen[k-1] != id {
		j.seen = append(j.seen, id)
	}
}

// finish lets the part say what it is and ends it.
func (j *partJob) finish(w *sst.Writer, unique bool) (sst.Meta, bool, error) {
	if err := j.describe(w, unique); err != nil {
		return sst.Meta{}, false, err
	}
	meta, err := w.Finish()
	return meta, unique, err
}

// describe writes into a part what it is.
func (v *inventory) describe(j *partJob, w *sst.Writer, unique bool) error {
	c := v.catalog.Load()
	o := manifest.Origin{Edit: v.manifest.State().Edit, Table: j.table.ID, Schemas: []*schema.Table{j.table},
		Options:  c.databases[j.table.Name.DB].Options,
		Replaces: j.replaces, Flushed: j.flushed, MinSeq: j.minSeq, MaxSeq: j.maxSeq, Level: j.level, Unique: unique,
		IndexUS: j.indexUS}
	for _, id := range slices.Compact(j.seen) {
		if m := c.logicals[id]; m != nil {
			o.Schemas = append(o.Schemas, m.schema.Load())
		}
	}
	b, err := o.Encode()
	if err != nil {
		return fmt.Errorf("what a part says of itself: %w", err)
	}
	w.Describe(b)
	return nil
}
