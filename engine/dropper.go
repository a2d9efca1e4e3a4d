package engine

import (
	"sync/atomic"

	"varve/engine/manifest"
	"varve/engine/schema"
)

// dropper takes databases, tables and rows out of the store. Its callers hold inventory.ddl.
type dropper struct {
	*inventory
	memory  *memory
	damages *damages
	seq     *atomic.Uint64 // the last that was given to rows
	count   atomic.Uint64  // see Removals
}

// dropAll applies an edit that drops databases and tables, and releases the tables. more, which may be nil, makes the
// further changes of the edit in the catalog.
func (x *dropper) dropAll(edit manifest.Edit, gone []home, more func(c *catalog)) error {
	var aside []*part
	for _, p := range gone {
		if p.logical == nil {
			p.region.maintain.Lock() // a flush lists its part in the manifest first
			aside = append(aside, x.damages.asideOf(p.region, p.region.snap.Load())...)
			p.region.maintain.Unlock()
		}
	}
	if err := x.redefine(edit); err != nil {
		return err
	}
	x.count.Add(1)
	x.change(func(c *catalog) {
		for _, name := range edit.DropDatabase {
			delete(c.databases, name)
		}
		for _, p := range gone {
			c.remove(p)
		}
		if more != nil {
			more(c)
		}
	})
	x.discard(gone)
	x.damages.forgetAside(aside)
	return nil
}

// discard releases everything that dropped tables hold; readers keep the parts that they pinned.
func (x *dropper) discard(gone []home) {
	for _, p := range gone {
		if p.logical != nil {
			p.leave()
			continue
		}
		r := p.region
		r.maintain.Lock()
		r.mu.Lock()
		r.dropped.Store(true)
		r.pending = nil
		old := r.snap.Load()
		r.replace(func(s *regionSnap) { s.live, s.frozen, s.parts = x.memory.newMem(nil), nil, nil })
		r.mu.Unlock()
		r.maintain.Unlock()
		x.letGo(old)
	}
}

// letGo releases the memtables and parts of a region that were in a snapshot and are in none now.
func (x *dropper) letGo(old *regionSnap) {
	for _, m := range old.mems() {
		m.writers.Wait()
		x.memory.forget(m)
		if m.built != nil { // no snapshot lists it any more
			m.built.unlisted.Store(true)
			m.built.retire()
		}
	}
	for _, p := range old.parts {
		p.retire()
	}
}

// empty removes all rows of a region. next is the schema that its table gets by the same edit; nobody else has it yet.
// The caller holds ddl.
func (x *dropper) empty(r *region, n schema.Name, next *schema.Table) error {
	r.maintain.Lock()
	defer r.maintain.Unlock()
	r.mu.Lock()
	old := r.snap.Load()
	aside := x.damages.asideOf(r, old)
	next.Emptied = x.seq.Load()
	edit := manifest.Edit{PutTable: []*schema.Table{next},
		Flushed: []manifest.FlushedEdit{{Table: r.id, Sequence: next.Emptied}}}
	if t := x.manifest.State().Tables[r.id]; t != nil {
		for _, m := range t.Parts { // those that are set aside as well
			edit.RemoveParts = append(edit.RemoveParts,
				manifest.PartEdit{Table: r.id, Part: manifest.PartMeta{File: m.File}})
		}
	}
	var err error
	if r.dropped.Load() || !x.lists(r) {
		err = droppedError(n)
	} else if err = x.apply(edit); err == nil {
		x.count.Add(1)
		r.pending = nil
		r.replace(func(s *regionSnap) {
			s.live, s.frozen, s.parts, s.schema = x.memory.newMem(nil), nil, nil, next
		})
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	x.letGo(old)
	x.damages.forgetAside(aside)
	return nil
}

// truncateLogical sets a new id for a logical table: readers no longer see the rows of the old id, and merges drop
// them.
func (x *dropper) truncateLogical(tab *Table) error {
	p, t := tab.home, *tab.Schema
	t.ID = x.nextTable()
	if err := x.apply(manifest.Edit{PutTable: []*schema.Table{&t}, DropTable: []schema.TableID{p.logical.id}}); err !=
		nil {
		return err
	}
	x.count.Add(1)
	x.change(func(c *catalog) {
		c.remove(p)
		c.put(home{p.region, newLogical(p.region, &t)})
	})
	p.leave()
	return nil
}
