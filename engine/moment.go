package engine

import (
	"sync"

	"varve/memtable"
)

// Moment is a snapshot of tables that the scans of one statement share. It has no tables until Pin; from then on every
// scan with it reads a table as it was when Pin, or the first such scan, came to it. Safe for concurrent use. The nil
// Moment never has tables.
type Moment struct {
	mu      sync.Mutex // protects what follows
	begun   bool
	regions map[*region]*pinnedRegion
}

// pinnedRegion is the snapshot of a region, with the rows that its memtables had.
type pinnedRegion struct {
	snap *regionSnap
	rows map[*mem]*memtable.Run
}

// Pin adds tables as they are now. A table that is gone is an error that is Overtaken.
func (m *Moment) Pin(tables ...*Table) error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun = true
	for _, t := range tables {
		if err := m.pin(t); err != nil {
			return err
		}
	}
	return nil
}

// pin adds a table, if it is not there. The caller holds mu.
func (m *Moment) pin(t *Table) error {
	r := t.region
	if m.regions[r] != nil {
		return nil
	}
	at := &pinnedRegion{snap: r.pin(), rows: map[*mem]*memtable.Run{}}
	if t.dropped() { // the snapshot may be the remains of the table
		r.unpin(at.snap)
		return droppedError(t.Schema.Name)
	}
	for _, from := range at.snap.mems() {
		at.rows[from] = from.table.Live()
	}
	if m.regions == nil {
		m.regions = map[*region]*pinnedRegion{}
	}
	m.regions[r] = at
	return nil
}

// at returns a table at the moment; nil: the moment has not begun. The snapshot is pinned once more, for the caller.
func (m *Moment) at(t *Table) (*pinnedRegion, error) {
	if m == nil {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.begun {
		return nil, nil
	}
	if err := m.pin(t); err != nil {
		return nil, err
	}
	at := m.regions[t.region]
	t.region.pinAgain(at.snap)
	return at, nil
}

// Close unpins the tables. Scans that are open go on.
func (m *Moment) Close() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for r, at := range m.regions {
		r.unpin(at.snap)
	}
	m.regions, m.begun = nil, false
}
