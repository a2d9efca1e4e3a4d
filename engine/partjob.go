package engine

import (
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// flushMode decides which rows of a memtable go into its part. The sequence numbers of the memtable lie between those
// of all others, so replaced rows can be dropped at once; tombstones must stay, because they hide rows of older parts.
func flushMode(t *schema.Table) mergeMode {
	return mergeMode{keepAll: t.Options.AppendMode, lastNonNull: t.Options.MergeMode == schema.LastNonNull,
		tombstones: true}
}

// partJob is a part to be written.
type partJob struct {
	table          *schema.Table
	runs           []scan.Run
	minSeq, maxSeq uint64
	level          uint8
	mode           mergeMode
	workers        int
	time           scan.Range            // what is written of the runs
	pace           func() error          // called between batches; nil: none
	lives          func(key []byte) bool // series that are left out have false; nil: none is
	any            bool                  // a row was written
	batch          vector.Batch          // on its way to the part
	indexUS        int64                 // spent on the indexes of what is merged
	replaces       []uint64              // files of the parts that are merged
	flushed        uint64                // rows up to this sequence number are in parts, including this part
	seen           []schema.TableID      // logical tables that rows were written of
	describe       func(w *sst.Writer, unique bool) error
	held           int64 // Options.MergeBytes
	block          int64 // Options.BlockBytes
	spliceRows     int   // Options.spliceRows; only merges take blocks over
}

// write writes the merged rows of the runs. Tables that are not append-only keep sequence and kind of every row. unique
// reports that no two rows have the same key and none is a tombstone.
func (j *partJob) write(f vfs.File) (meta sst.Meta, unique bool, err error) {
	hidden := !j.table.Options.AppendMode
	var columns []schema.Column
	for _, c := range j.table.Columns {
		if c.Semantic != schema.Tag { // tags are in the series keys
			columns = append(columns, readColumn(c))
		}
	}
	w := sst.NewWriter(f, sst.WriterOptions{Table: j.table, Columns: columns, Hidden: hidden, MinSeq: j.minSeq,
		MaxSeq: j.maxSeq, BlockBytes: int(j.block),
		Workers: j.workers})
	spec := &scan.Spec{Columns: columns, TimeColumn: j.table.TimeColumn(), Time: j.time,
		Holding: heldBy(len(j.runs), j.held)}
	if hidden {
		spec.Columns = append(slices.Clone(columns), schema.SequenceColumn, schema.KindColumn)
	}
	parts, key, err := j.spliceable()
	if err != nil {
		return sst.Meta{}, false, err
	}
	if parts != nil {
		if err := j.writeSpliced(w, spec, parts, key); err != nil {
			return sst.Meta{}, false, err
		}
		if !j.any {
			return sst.Meta{}, false, errNoRows
		}
		return j.finish(w, false)
	}
	walk, err := mergeRuns(j.runs, spec, j.mode)
	if err != nil {
		return sst.Meta{}, false, err
	}
	defer walk.Close()
	for {
		key, ok, err := walk.Next()
		if err != nil {
			return sst.Meta{}, false, err
		}
		if !ok && !j.any {
			return sst.Meta{}, false, errNoRows
		}
		if !ok {
			return j.finish(w, hidden && !j.mode.keepAll && walk.tombs == 0)
		}
		if j.lives != nil {
			if !j.lives(key) {
				continue
			}
			j.see(schema.KeyTable(key))
		}
		if err := j.writeSeries(w, key, walk); err != nil {
			return sst.Meta{}, false, err
		}
	}
}

// writeSeries writes the rows of the walk's current series, if any are left of it.
func (j *partJob) writeSeries(w *sst.Writer, key []byte, walk *merged) error {
	return j.writeRows(w, walk, func() error {
		j.any = true
		return w.Series(key)
	})
}

// writeRows writes the rows of the walk's current series; begin is called before the first.
func (j *partJob) writeRows(w *sst.Writer, walk *merged, begin func() error) error {
	b := &j.batch
	for {
		if j.pace != nil {
			if err := j.pace(); err != nil {
				return err
			}
		}
		ok, err := walk.Rows(b)
		if err != nil || !ok {
			return err
		}
		if begin != nil {
			if err := begin(); err != nil {
				return err
			}
			begin = nil
		}
		if err := w.Write(b); err != nil {
			return err
		}
	}
}
