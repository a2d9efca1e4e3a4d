package engine

import (
	"fmt"
	"slices"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
)

// combine makes the state of a standby of the state that it has and that of its primary. A table gets the parts of the
// primary when all of them are there, and keeps its own until then: what they lack, the log of the standby has. Schemas
// come at once, so that rows of the log find their tables and columns, except where the primary has written the rows
// anew for a schema. whole: all parts are the primary's; current: all schemas are.
func combine(have, remote *manifest.State, there func(*manifest.PartMeta) bool) (
	next *manifest.State, whole, current bool) {
	n := *remote
	n.Retired, n.Tables = nil, make(map[schema.TableID]*manifest.TableState, len(remote.Tables))
	whole, current = true, true
	for id, t := range remote.Tables {
		if !slices.ContainsFunc(t.Parts, func(p manifest.PartMeta) bool { return !there(&p) }) {
			n.Tables[id] = t
			continue
		}
		whole = false
		kept := &manifest.TableState{Schema: t.Schema}
		if old := have.Tables[id]; old != nil {
			kept.Flushed, kept.Parts = old.Flushed, old.Parts
			if !rewriteOf(old.Schema, t.Schema).none() {
				before := *old.Schema
				before.Name = t.Schema.Name // another table may have the former one
				kept.Schema, current = &before, false
			}
		}
		n.Tables[id] = kept
	}
	return &n, whole, current
}

// entriesOf are what the standby must have of a part.
func entryOfPart(m *manifest.PartMeta) parts.Entry {
	return parts.Entry{File: m.File, Cold: m.Object() != ""}
}

// has reports whether a part is there, or cannot be had. The caller holds s.mu.
func (s *Standby) has(m *manifest.PartMeta) bool {
	e := entryOfPart(m)
	return s.there[e] || s.tries[e] >= maxTries
}

// install makes a state of the primary take effect, as far as its parts are there.
func (s *Standby) install(remote *manifest.State) error {
	s.installing.Lock()
	defer s.installing.Unlock()
	have := s.manifest.State()
	if remote.Edit < have.Edit {
		return nil // a later one took effect meanwhile
	}
	s.mu.Lock()
	next, whole, current := combine(have, remote, s.has)
	s.mu.Unlock()
	segments := s.copy.Segments()
	// Rows that are in no part are in the log from remote.Log.First on: the copy has to begin there, or before.
	if !have.Standing.Whole {
		whole = whole && s.begins > 0 && s.begins <= max(remote.Log.First, 1)
	}
	next.Standing = have.Standing
	next.Standing.Whole = have.Standing.Whole || whole
	if !whole {
		next.Log.First, next.Positions = have.Log.First, have.Positions
	}
	next.Log.Last = max(segments.Last, max(next.Log.First, 1)-1)
	if err := s.manifest.Install(s.disk, next); err != nil {
		return fmt.Errorf("the manifest cannot be written: %w", err)
	}
	err := s.show(have, next)
	s.mu.Lock()
	if current {
		s.current = next.Edit
	}
	became := next.Standing.Whole && !s.figures.Whole
	s.figures.Whole = next.Standing.Whole
	s.mu.Unlock()
	if became {
		s.door.open(nil)
		s.log.Info("the first copy of the primary is whole", "primary", s.o.Primary)
	}
	if whole {
		s.reader.Skip(next.Log.First)
		if failed := s.copy.Remove(next.Log.First); err == nil {
			err = failed
		}
	}
	s.changed.broadcast()
	return err
}

// show changes the catalog and the regions from one state to the next, and removes what only the former had.
func (s *Standby) show(before, next *manifest.State) error {
	s.ddl.Lock()
	defer s.ddl.Unlock()
	old := s.catalog.Load()
	c := emptyCatalog(next)
	var away firstError
	for id, t := range next.Tables {
		if t.Schema.Physical != 0 {
			continue
		}
		r := old.regions[id]
		if r == nil {
			r = newRegion(s.memory, t.Schema)
		}
		early := s.takeEarly(id, next)
		if before.Tables[id] != t || early {
			s.showRegion(r, next, t, early, &away)
		}
		c.put(home{region: r})
	}
	for id, t := range next.Tables {
		r := c.regions[t.Schema.Physical]
		if t.Schema.Physical == 0 || r == nil {
			continue
		}
		m := old.logicals[id]
		if m == nil || m.region != r {
			m = newLogical(r, t.Schema)
		}
		r.mu.Lock()
		m.schema.Store(t.Schema)
		r.mu.Unlock()
		c.put(home{r, m})
	}
	s.catalog.Store(c)
	s.leave(old, c)
	s.removeParts(before, next)
	return away.err
}

// takeEarly adds the records of a region's tables that were read before the tables were known to its index.
func (s *Standby) takeEarly(id schema.TableID, next *manifest.State) (some bool) {
	for table, places := range s.early {
		if t := next.Tables[table]; t != nil && (table == id || t.Schema.Physical == id) {
			s.index[id] = append(s.index[id], places...)
			delete(s.early, table)
			some = true
		} else if t == nil && table < next.NextTable {
			delete(s.early, table) // it was dropped
		}
	}
	return some
}

// leave lets go of the tables that are in no catalog any more. The caller holds ddl.
func (s *Standby) leave(old, c *catalog) {
	for id, m := range old.logicals {
		if c.logicals[id] != m {
			m.region.mu.Lock()
			m.gone.Store(true)
			m.region.mu.Unlock()
			s.dropper.count.Add(1)
		}
	}
	for id, r := range old.regions {
		if c.regions[id] != r {
			r.drop()
			s.dropper.letGo(r.snap.Load())
			delete(s.index, id)
			s.dropper.count.Add(1)
		}
	}
}

// removeParts removes the parts that are listed no more, and forgets their damage. Files that readers have open go with
// the last of them.
func (s *Standby) removeParts(before, next *manifest.State) {
	listed := map[parts.Entry]bool{}
	for _, state := range []*manifest.State{next, s.wanted()} {
		for _, t := range state.Tables {
			for i := range t.Parts {
				listed[entryOfPart(&t.Parts[i])] = true
			}
		}
	}
	for _, t := range before.Tables {
		for i := range t.Parts {
			if e := entryOfPart(&t.Parts[i]); !listed[e] {
				s.damages().forget(parts.Name(e.File))
			}
		}
	}
	s.mu.Lock()
	var gone []parts.Entry
	for e := range s.tries {
		if !listed[e] {
			delete(s.tries, e)
		}
	}
	for e := range s.there {
		if !listed[e] {
			gone = append(gone, e)
			delete(s.there, e)
		}
	}
	s.mu.Unlock()
	for _, e := range gone {
		// The file of a part that is read stays on the disk until the reader lets go.
		s.left(e.String(), s.parts.Remove(e))
	}
}

// wanted is the newest state of the primary; before one is known, the standby's own.
func (s *Standby) wanted() *manifest.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.remote != nil {
		return s.remote
	}
	return s.manifest.State()
}

func (s *Standby) damages() *damages { return s.st.damages }

// showRegion gives a region the schema and the parts of a state, and takes the rows out of its memtable that are in
// parts.
func (s *Standby) showRegion(r *region, next *manifest.State, t *manifest.TableState, early bool, away *firstError) {
	was := r.snap.Load()
	open := map[parts.Entry]*part{}
	for _, p := range was.parts {
		open[entryOfPart(&p.meta)] = p
	}
	var list []*part
	var changed damageEdits // of damage that is there no more: the primary notes it
	for i := range t.Parts {
		m := &t.Parts[i]
		p := open[entryOfPart(m)]
		if p != nil {
			delete(open, entryOfPart(m))
		} else {
			p = s.st.openListed(t.Schema, *m, &changed, away)
		}
		if p != nil {
			list = append(list, p)
		}
	}
	live := was.live
	if early || !rewriteOf(was.schema, t.Schema).none() ||
		slices.ContainsFunc(s.index[r.id], func(p place) bool { return p.seq <= t.Flushed }) {
		live = s.rebuild(r, next, t.Flushed)
	}
	r.mu.Lock()
	r.replace(func(n *regionSnap) { n.schema, n.live, n.parts = t.Schema, live, list })
	r.mu.Unlock()
	if live != was.live {
		s.memory.forget(was.live)
	}
	for _, p := range open {
		p.release() // removeParts removes the file
	}
}

// rebuild makes the memtable of a region anew, of the records whose rows are in no part.
func (s *Standby) rebuild(r *region, next *manifest.State, flushed uint64) *mem {
	m := s.memory.newMem(nil)
	kept := slices.DeleteFunc(slices.Clone(s.index[r.id]), func(p place) bool { return p.seq <= flushed })
	for _, p := range kept {
		err := s.copy.Record(p.at, func(rec []byte) error {
			return eachRecord(rec, func(rec []byte) error {
				k, body, err := readRecordHead(rec)
				if err != nil || k.seq != p.seq || k.kind == recordBatches {
					return err
				}
				t := next.Tables[k.table]
				if t == nil {
					return nil // a logical table that is gone
				}
				if err := k.decode(body, t.Schema); err != nil {
					return err
				}
				if err := k.leaveOut(); err != nil {
					s.log.Warn("rows of the log are left out", "table", t.Schema.Name.String(), "reason", err)
				}
				m.began(p.at, k.seq, s.now())
				m.append(k, t.Schema, false)
				return nil
			})
		})
		if err != nil {
			s.st.keepRecord(p.at, err)
		}
	}
	s.index[r.id] = kept
	s.memory.count(m)
	return m
}
