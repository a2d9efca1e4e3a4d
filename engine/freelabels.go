package engine

import (
	"context"
	"errors"
	"time"

	"varve/engine/schema"
)

// The labels of metrics are columns, of which a table has a bound. Exporters whose labels change their names would fill
// it for ever: when a table has no room, the labels that no series has any more are dropped from the tables of its
// region.

// errFull is the cause where a table cannot have a further column.
var errFull = errors.New("the table has reached its limit of columns")

// tableLabel is a label of a table.
type tableLabel struct {
	table  schema.TableID
	column schema.ColumnID
}

// labelKept is how long a label stays that no series has: rows of the series that it was made for are on their way.
const labelKept = time.Minute

// manyYoung is the number of recently created labels above which older ones are forgotten.
const manyYoung = 1 << 16

// noteYoung notes the labels that a definition makes. The caller holds inventory.ddl.
func (e *Engine) noteYoung(d *definition) {
	now := e.o.Now()
	for _, t := range d.changed {
		if t.Physical == 0 {
			continue
		}
		known := map[schema.ColumnID]bool{}
		if p, ok := d.c.find(t.ID); ok {
			for _, at := range p.schema().Tags {
				known[p.schema().Columns[at].ID] = true
			}
		}
		for _, at := range t.Tags {
			if id := t.Columns[at].ID; !known[id] {
				e.young[tableLabel{t.ID, id}] = now
			}
		}
	}
	if len(e.young) > manyYoung {
		e.forgetYoung(now)
	}
}

func (e *Engine) forgetYoung(now time.Time) {
	for l, made := range e.young {
		if now.Sub(made) > labelKept {
			delete(e.young, l)
		}
	}
}

// freeLabels drops the labels of the tables of a region that no series has, and reports whether there were any. It
// reads the keys of all series, so it rests after that.
func (e *Engine) freeLabels(ctx context.Context, r *region) (any bool, err error) {
	if err := r.altering.lock(ctx); err != nil {
		return false, err
	}
	defer r.altering.unlock()
	start := time.Now()
	if r.freeTook > briefCensus && e.o.Now().Sub(r.freed) < restBetween*r.freeTook {
		return false, nil
	}
	defer func() { r.freed, r.freeTook = e.o.Now(), time.Since(start) }()
	u := &labelUse{walked: map[*part]bool{}, used: map[tableLabel]bool{}}
	if !u.read(e, r) || !e.hasUnused(r, u) {
		return false, nil
	}
	open := r.close()
	defer open()
	for _, m := range r.snap.Load().mems() {
		m.writers.Wait()
	}
	if !u.read(e, r) {
		return false, nil
	}
	err = e.define(func(d *definition) error {
		any = d.dropUnused(e, r, u)
		return nil
	})
	return any && err == nil, err
}

// labelUse is the labels that the series of a region have.
type labelUse struct {
	walked map[*part]bool
	used   map[tableLabel]bool
}

// read adds the labels of the series in memtables and in parts that were not read yet; false: some series cannot be
// read.
func (u *labelUse) read(e *Engine, r *region) bool {
	snap := r.pin()
	defer r.unpin(snap)
	r.maintain.Lock()
	unlisted := len(r.pending)
	r.maintain.Unlock()
	if unlisted+len(e.damages.asideOf(r, snap)) > 0 {
		return false
	}
	whole := true
	add := func(key []byte) {
		id := schema.KeyTable(key)
		_, err := schema.ParseSeriesKey(key, func(c schema.ColumnID, _ []byte) { u.used[tableLabel{id, c}] = true })
		whole = whole && err == nil
	}
	for _, m := range snap.mems() {
		m.table.EachKey(add)
	}
	for _, p := range snap.parts {
		if u.walked[p] {
			continue
		}
		if err := p.file.EachKey(add); err != nil {
			e.o.Logger.Error("the labels of a part cannot be read", "part", partName(p.meta.File), "error", err)
			return false
		}
		u.walked[p] = true
	}
	return whole
}

// hasUnused reports whether a table of a region has a label to be dropped.
func (e *Engine) hasUnused(r *region, u *labelUse) bool {
	e.ddl.Lock()
	defer e.ddl.Unlock()
	return (&definition{c: e.catalog.Load(), changed: map[schema.Name]*schema.Table{}}).dropUnused(e, r, u)
}

// dropUnused drops the labels that no series has from the tables of a region, and reports whether there were any. The
// caller holds inventory.ddl.
func (d *definition) dropUnused(e *Engine, r *region, u *labelUse) bool {
	e.forgetYoung(e.o.Now())
	kept := map[schema.ColumnID]bool{schema.TableTagID: true, schema.SeriesTagID: true}
	for _, m := range d.c.logicalsOf(r) {
		old := m.schema.Load()
		next := old.FreeTags(func(id schema.ColumnID) bool {
			l := tableLabel{old.ID, id}
			_, young := e.young[l]
			return !u.used[l] && !young
		})
		if next != old {
			d.put(next)
		}
		for _, at := range next.Tags {
			kept[next.Columns[at].ID] = true
		}
	}
	p := r.snap.Load().schema
	if next := p.FreeTags(func(id schema.ColumnID) bool { return !kept[id] }); next != p {
		d.put(next)
	}
	return len(d.order) > 0
}
