package engine

import (
	"context"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/wal"
)

// inventory is what a store has: the catalog in memory, the manifest on disk, and the files that the manifest lists.
type inventory struct {
	o        Options
	reads    bool       // the store was opened for reading alone, see openedReadOnly
	ddl      sync.Mutex // held while the catalog or a schema changes
	catalog  atomic.Pointer[catalog]
	manifest *manifest.Manifest
	files    *partFiles
	ballast  *ballast
	space    *space
	// leastTable is above the ids of all tables that the log and the parts name. It is set before the store is ready.
	leastTable schema.TableID
}

// tendPeriod is the period of the maintenance that nothing else triggers.
const tendPeriod = 10 * time.Second

// tending calls f each tendPeriod, and at each element of now, until ctx is done; not while the store is read-only. A
// nil channel never has an element.
func (v *inventory) tending(ctx context.Context, now <-chan struct{}, f func()) {
	tick := time.NewTicker(tendPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-now:
		}
		if v.space.readOnly() == nil {
			f()
		}
	}
}

// apply makes an edit of the manifest. If the disk is full, it gives up the ballast and tries again.
func (v *inventory) apply(edit manifest.Edit) error {
	failed := v.files.enter(&edit)
	err := v.manifest.Apply(edit)
	if err != nil && v.ballast.give(err) {
		err = v.manifest.Apply(edit)
	}
	if err != nil {
		failed()
		return v.space.noted(err)
	}
	for _, file := range edit.Retired {
		v.left(parts.Name(file), v.files.unlink(file))
	}
	return nil
}

// redefine applies an edit of databases and tables. A read-only store refuses it.
func (v *inventory) redefine(edit manifest.Edit) error {
	if err := v.space.readOnly(); err != nil {
		return err
	}
	return v.apply(edit)
}

// segmentBegun notes in the manifest what of the log must be there at the next start.
func (v *inventory) segmentBegun(all wal.Range) error {
	edit := manifest.Edit{Log: manifest.LogRange{Last: all.Last}}
	if v.manifest.State().Log.First == 0 {
		edit.Log.First = all.First
	}
	return v.manifest.Apply(edit)
}

// left logs why a left-over file could not be removed. A store that is opened for reading keeps such files.
func (v *inventory) left(name string, err error) {
	if err != nil && !v.reads {
		v.o.Logger.Warn("left-over file cannot be removed", "file", name, "error", err)
	}
}

// change publishes a changed copy of the catalog. The caller holds ddl.
func (v *inventory) change(f func(c *catalog)) {
	old := v.catalog.Load()
	c := &catalog{databases: maps.Clone(old.databases), byName: maps.Clone(old.byName),
		regions:  maps.Clone(old.regions),
		logicals: maps.Clone(old.logicals)}
	f(c)
	v.catalog.Store(c)
}

// lists reports whether the manifest has the table of a region. It learns first that a table was dropped, so that edits
// may fail before the region knows.
func (v *inventory) lists(r *region) bool { return v.manifest.State().Tables[r.id] != nil }

// flushedOf is the sequence number up to which all rows of a region are in parts.
func (v *inventory) flushedOf(r *region) uint64 {
	if t := v.manifest.State().Tables[r.id]; t != nil {
		return t.Flushed
	}
	return 0
}

// lives reports, for a series of a shared region, whether its logical table still exists; nil if the region is not
// shared.
func (v *inventory) lives(r *region) func(key []byte) bool {
	if !r.snap.Load().schema.Shared() {
		return nil
	}
	logicals := v.catalog.Load().logicals
	return func(key []byte) bool { return logicals[schema.KeyTable(key)] != nil }
}

// oldest is the time before which a table's rows have expired.
func (v *inventory) oldest(t *schema.Table) int64 {
	ttl := v.catalog.Load().ttl(t)
	switch {
	case ttl == schema.TTLInstant:
		return math.MaxInt64
	case ttl <= 0:
		return math.MinInt64
	}
	return inUnit(v.o.Now().Add(-time.Duration(ttl)), t.TimeColumn().Type)
}

// nextTable is the smallest id of a table that neither the manifest nor any file knows.
func (v *inventory) nextTable() schema.TableID {
	return max(v.manifest.State().NextTable, v.leastTable)
}
