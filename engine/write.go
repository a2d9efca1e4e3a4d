package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Written is the outcome of one group of equal table options.
type Written struct{ Rows int }

// tableWrite is the rows of one builder on their way into the log and a memtable.
type tableWrite struct {
	*writeEntry
	fields  []vector.Field
	batch   *vector.Batch
	samples *Samples // instead of a builder's rows; nil: none

	at     home
	schema *schema.Table // that rec was aligned with
	rec    *record       // nil: the rows expire at once
	mem    *mem          // takes the rows; nil: the schema is another one now
	log    *[]byte       // the record as bytes; nil: the table has no log

	part  []byte // names its part of a batch; nil: the batch has no id
	known bool   // the table has it already

	stored bool // a memtable has the rows

	left    int   // rows that are left out, see Hint.LeftOut and Hint.Reject
	leftWhy error // why those of new series are; nil: none are
	refused refusals
}

// Write writes all rows of the set: absent tables are created, absent columns added, then every table's batch is logged
// and appended. It returns when the rows are as durable as the log's mode promises and visible. All rows are held
// against the schemas before the first is logged; after a crash each table's batch is there wholly or not at all. The
// result has one element per group of equal options, in order of first use. Large rows are gone from the set
// afterwards: the memtable has their memory. Of a batch with an id (WithBatch), what tables have is not written again,
// and counts as written.
func (e *Engine) Write(ctx context.Context, s *WriteSet) ([]Written, error) {
	if err := e.views.refuseAll(s); err != nil {
		return nil, err
	}
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	if err := s.checkOwner(ctx); err != nil {
		return nil, err
	}
	if err := e.mayChange(ctx, PublicDB); err != nil {
		return nil, err
	}
	paid, err := e.toll.pay(ctx, e.catalog.Load(), s)
	if err != nil {
		e.metrics.Refused.WithLabelValues("rate").Inc()
		return nil, err
	}
	all, err := e.writeAll(ctx, s)
	if storedNothing(all, err) {
		e.toll.refund(paid)
	}
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		w.tell()
	}
	return tally(all), nil
}

// storedNothing reports whether a write left all rows out, or ended before the first was stored.
func storedNothing(all []*tableWrite, err error) bool {
	return !slices.ContainsFunc(all, func(w *tableWrite) bool { return w.stored || err == nil && w.left < w.batch.N })
}

// writeAll writes what a write has paid for.
func (e *Engine) writeAll(ctx context.Context, s *WriteSet) (all []*tableWrite, err error) {
	if err := e.committer.admit(ctx); err != nil {
		return nil, err
	}
	for _, w := range s.entries {
		if w.builder.Rows() > 0 {
			t := &tableWrite{writeEntry: w}
			t.fields, t.batch = w.builder.Finish()
			all = append(all, t)
		}
	}
	for _, g := range s.samples {
		if g.Rows() > 0 {
			all = append(all, g.write())
		}
	}
	return all, e.writer.write(ctx, all)
}

// tally counts the rows by groups of equal options, in order of first use. Rows that expire at once are not counted.
func tally(all []*tableWrite) []Written {
	var out []Written
	var keys []string
	for _, w := range all {
		key := fmt.Sprint(w.hint.AutoCreate, w.hint.Options.All)
		at := slices.Index(keys, key)
		if at < 0 {
			at, keys, out = len(keys), append(keys, key), append(out, Written{})
		}
		if w.rec != nil || w.known {
			out[at].Rows += w.batch.N - w.left
		}
	}
	return out
}

// instant reports whether the table drops everything that is written to it; for a table in a physical table, the
// physical table decides.
func (w *tableWrite) instant() bool {
	return w.schema.Options.TTL == schema.TTLInstant || w.at.region.snap.Load().schema.Options.TTL == schema.TTLInstant
}

// refuse is the error for what a write would have to create while AutoCreate is off.
func (h *Hint) refuse(format string, args ...any) error {
	if h.Disabled {
		return status.New(status.InvalidArguments,
			"Invalid InsertRequest, reason: %s, auto-create table is disabled by frontend config",
			fmt.Sprintf(format, args...))
	}
	return status.New(status.InvalidArguments,
		"Invalid InsertRequest, reason: %s, and `auto_create_table` hint is disabled", fmt.Sprintf(format, args...))
}

// inUnit is a moment in the unit of a timestamp type.
func inUnit(t time.Time, typ vector.Type) int64 {
	switch typ.Precision {
	case 0:
		return t.Unix()
	case 3:
		return t.UnixMilli()
	case 6:
		return t.UnixMicro()
	}
	return t.UnixNano()
}

func hasNull(v *vector.Vector, n int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Form == vector.Const {
		return v.Valid[0]&1 == 0
	}
	return !v.Valid.All(n)
}

// Delete writes tombstones for the rows that have the keys. The columns of keys are the tags of t, then its time
// index; t is the table as it was when the keys were read. Overtaken where it has another key by now, or another table
// its name; RateLimited as rows are. Not for append-only tables.
func (e *Engine) Delete(ctx context.Context, t *schema.Table, keys *vector.Batch) (int, error) {
	if err := e.door.enter(); err != nil {
		return 0, err
	}
	defer e.door.leave()
	if err := e.mayChange(ctx, t.Name.DB); err != nil {
		return 0, err
	}
	var paid *receipt
	if tab, err := e.Table(t.Name); err == nil && keys.N > 0 { // else refused below
		if paid, err = e.toll.payKeys(ctx, tab.region.snap.Load().schema, keys); err != nil {
			e.metrics.Refused.WithLabelValues("rate").Inc()
			return 0, err
		}
	}
	n, err := e.deleteAll(ctx, t, keys)
	if err != nil {
		e.toll.refund(paid)
	}
	return n, err
}

// deleteAll deletes what a deletion has paid for.
func (e *Engine) deleteAll(ctx context.Context, t *schema.Table, keys *vector.Batch) (int, error) {
	if err := e.committer.admit(ctx); err != nil {
		return 0, err
	}
	for {
		tab, err := e.Table(t.Name)
		if err != nil {
			return 0, err
		}
		w, err := tab.tombstones(t, keys, e.o.MaxValue)
		if err != nil || w == nil {
			return 0, err
		}
		again, err := e.committer.commit(ctx, []*tableWrite{w})
		if err != nil {
			return 0, err
		}
		if len(again) == 0 {
			return keys.N, nil
		}
	}
}

// tombstones is the write that deletes the keys of the table, which was t when they were read; nil: there are none. No
// value is longer than maxValue.
func (tab *Table) tombstones(t *schema.Table, keys *vector.Batch, maxValue int) (*tableWrite, error) {
	now := tab.Schema
	if err := tab.refusing(); err != nil {
		return nil, err
	}
	if now.Shared() {
		return nil, errPhysical(now.Name, "written to")
	}
	if now.Options.AppendMode {
		return nil, status.New(status.InvalidArguments,
			"DELETE is not possible on table %s: it has append_mode = 'true'", now.Name)
	}
	if keys.N == 0 {
		return nil, nil
	}
	if now.ID != t.ID {
		return nil, droppedError(t.Name)
	}
	key := now.Key()
	if !slices.EqualFunc(key, t.Key(), sameColumn) {
		return nil, status.Wrap(errAltered, status.RegionBusy,
			"the primary key of table %s has just changed, try again", t.Name)
	}
	rec := &record{table: now.ID, kind: schema.KindDelete, batch: &vector.Batch{N: keys.N}}
	if len(keys.Cols) != len(key) {
		return nil, fmt.Errorf("delete from %s: %d key columns, want %d", t.Name, len(keys.Cols), len(key))
	}
	for i := range key {
		rec.add(&key[i], keys.Cols[i])
	}
	if err := rec.checkBounds(maxValue); err != nil {
		return nil, err
	}
	return &tableWrite{at: tab.home, schema: now, rec: rec, batch: keys}, nil
}

// sameColumn reports whether a column holds values of the same type at two moments.
func sameColumn(a, b schema.Column) bool { return a.ID == b.ID && a.Type == b.Type }
