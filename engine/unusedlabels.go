package engine

import (
	"context"
	"errors"
	"time"

	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/status"
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

// youngLabels are the labels that were made a short while ago. Whoever calls its methods holds inventory.ddl.
type youngLabels struct {
	now  func() time.Time
	made map[tableLabel]time.Time
}

// note notes the labels that a definition makes.
func (y *youngLabels) note(d *definition) {
	now := y.now()
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
				y.made[tableLabel{t.ID, id}] = now
			}
		}
	}
	if len(y.made) > manyYoung {
		y.forget(now)
	}
}

// forget forgets the labels that are not young any more.
func (y *youngLabels) forget(now time.Time) {
	for l, made := range y.made {
		if now.Sub(made) > labelKept {
			delete(y.made, l)
		}
	}
}

// has reports whether a label was young when the others were last forgotten.
func (y *youngLabels) has(l tableLabel) bool {
	_, young := y.made[l]
	return young
}

// unusedLabels frees the room that labels without series take in the schemas of physical tables. It has no lock of its
// own: region.altering keeps it off ALTER, inventory.ddl guards the young labels. Safe for concurrent use.
type unusedLabels struct {
	*inventory
	damages *damages
	definer *definer
}

// freeFor makes room for labels in the regions of series whose tables are full, and reports whether there is any.
func (l *unusedLabels) freeFor(ctx context.Context, r *SeriesRequest, full []int) (freed bool, err error) {
	c, looked := l.catalog.Load(), map[*region]bool{}
	for _, i := range full {
		n := &r.Names[i]
		p, ok := c.byName[n.Table]
		if !ok {
			p, ok = c.byName[schema.Name{DB: n.Table.DB, Table: n.Physical}]
		}
		if !ok || looked[p.region] || !p.region.snap.Load().schema.Shared() {
			continue
		}
		looked[p.region] = true
		some, err := l.free(ctx, p.region)
		if err != nil {
			return false, status.Wrap(err, status.DeadlineExceeded,
				"the request ended while unused labels were looked for")
		}
		freed = freed || some
	}
	return freed, nil
}

// free drops the labels of the tables of a region that no series has, and reports whether there were any. It reads the
// keys of all series, so it rests after that.
func (l *unusedLabels) free(ctx context.Context, r *region) (any bool, err error) {
	if err := r.altering.lock(ctx); err != nil {
		return false, err
	}
	defer r.altering.unlock()
	start := time.Now()
	if r.freeTook > briefCensus && l.o.Now().Sub(r.freed) < restBetween*r.freeTook {
		return false, nil
	}
	defer func() { r.freed, r.freeTook = l.o.Now(), time.Since(start) }()
	u := &labelUse{walked: map[*part]bool{}, used: map[tableLabel]bool{}}
	if !l.read(u, r) || !l.hasUnused(r, u) {
		return false, nil
	}
	open := r.close()
	defer open()
	for _, m := range r.snap.Load().mems() {
		m.writers.Wait()
	}
	if !l.read(u, r) {
		return false, nil
	}
	err = l.definer.define(func(d *definition) error {
		any = l.dropUnused(d, r, u)
		return nil
	})
	return any && err == nil, err
}

// labelUse is the labels that the series of a region have.
type labelUse struct {
	walked map[*part]bool
	used   map[tableLabel]bool
}

// read adds to u the labels of the series in memtables and in parts that were not read yet; false: some series cannot
// be read.
func (l *unusedLabels) read(u *labelUse, r *region) bool {
	snap := r.pin()
	defer r.unpin(snap)
	r.maintain.Lock()
	unlisted := len(r.pending)
	r.maintain.Unlock()
	if unlisted+len(l.damages.asideOf(r, snap)) > 0 {
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
			l.o.Logger.Error("the labels of a part cannot be read", "part", parts.Name(p.meta.File), "error", err)
			return false
		}
		u.walked[p] = true
	}
	return whole
}

// hasUnused reports whether a table of a region has a label to be dropped.
func (l *unusedLabels) hasUnused(r *region, u *labelUse) bool {
	l.ddl.Lock()
	defer l.ddl.Unlock()
	return l.dropUnused(&definition{c: l.catalog.Load(), changed: map[schema.Name]*schema.Table{}}, r, u)
}

// dropUnused drops the labels that no series has from the tables of a region, and reports whether there were any. The
// caller holds inventory.ddl.
func (l *unusedLabels) dropUnused(d *definition, r *region, u *labelUse) bool {
	l.definer.young.forget(l.o.Now())
	kept := map[schema.ColumnID]bool{schema.TableTagID: true, schema.SeriesTagID: true}
	for _, m := range d.c.logicalsOf(r) {
		old := m.schema.Load()
		next := old.FreeTags(func(id schema.ColumnID) bool {
			at := tableLabel{old.ID, id}
			return !u.used[at] && !l.definer.young.has(at)
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
