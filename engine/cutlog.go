package engine

import (
	"slices"

	"varve/engine/manifest"
	"varve/wal"
)

// needed returns the place in the log from which on the memtables, except one, still need the log.
func (f *flusher) needed(but *mem) wal.LSN {
	before := f.log.End() // first: whoever writes from now on keeps the log from a later place
	for _, r := range f.catalog.Load().regions {
		r.mu.Lock()
		for _, m := range r.snap.Load().mems() {
			if m != but && m.first != 0 && m.first < before {
				before = m.first
			}
		}
		r.mu.Unlock()
	}
	return f.positions.needed(before)
}

// truncateLog removes the segments that no memtable needs any more. It keeps the newest, unless the disk is short of
// room. It changes the manifest first, because a segment that is missing and that the manifest calls needed is damage.
func (f *flusher) truncateLog() error {
	keep := wal.KeepNewest
	if f.shortOfRoom() {
		keep = wal.KeepOpen
		f.log.EndSegment()
	}
	before := f.needed(nil)
	if before.Segment() > f.manifest.State().Log.First && f.log.Holds(before, keep) {
		f.batches.save(f.log, before.Segment())
		if err := f.apply(f.cut(before.Segment())); err != nil {
			return err
		}
	}
	return f.log.Truncate(before, keep)
}

// cut is the edit that gives up the segments of the log before first. It takes over the positions that they have.
func (f *flusher) cut(first uint64) manifest.Edit {
	return manifest.Edit{Log: manifest.LogRange{First: first}, Positions: f.positions.before(first, f.manifest.State())}
}

// leastCut is the size of a log that is worth cutting.
const leastCut = 64 << 10

// shortOfRoom reports whether the log takes room that a disk lacks.
func (f *flusher) shortOfRoom() bool {
	size := f.log.Size()
	return size >= leastCut && f.space.short(size)
}

// relieve frees room on a full disk. It flushes rows to parts, which are smaller than their log, and removes the log
// that is no longer needed. If the log could not be written, it tries the log again.
func (f *flusher) relieve() {
	if f.shortOfRoom() {
		for _, r := range f.catalog.Load().regions {
			if r.logged() {
				f.request(r)
			}
		}
		if err := f.truncateLog(); err != nil {
			f.o.Logger.Warn("the log cannot be cut", "error", err)
		}
	}
	f.space.retry()
}

// leaveLog tells the manifest that all rows are in parts, so that the next start needs no log.
func (f *flusher) leaveLog() {
	for _, r := range f.catalog.Load().regions {
		if len(r.pending) > 0 || slices.ContainsFunc(r.snap.Load().mems(),
			func(m *mem) bool { return !m.born.IsZero() }) {
			return
		}
	}
	log := f.manifest.State().Log
	if log.First > log.Last {
		return
	}
	if err := f.apply(f.cut(log.Last + 1)); err != nil {
		f.o.Logger.Warn("the manifest cannot be told that no log is needed", "error", err)
	}
}
