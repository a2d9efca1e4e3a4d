package engine

import (
	"errors"
	"sync"
	"sync/atomic"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/sst"
)

// part is an open part with its readers. It is closed when the last one lets go, and its file removed when the part was
// replaced or dropped.
type part struct {
	files    *partFiles
	meta     manifest.PartMeta
	file     *sst.Part
	run      scan.Run
	refs     atomic.Int64 // one for the snapshots that list it, and one for each reader
	obsolete atomic.Bool
	shrunk   atomic.Bool                            // its stub has its place now
	unlisted atomic.Bool                            // the manifest does not list it yet
	tables   atomic.Pointer[map[schema.TableID]int] // rows by logical table; made when they are asked for

	sizeMu   sync.Mutex // protects what follows; held while the part is measured
	measured *partSize  // see size; nil: not yet

	hurtMu sync.Mutex // protects hurt
	hurt   []manifest.Damage
}

// overlaps reports whether the times of two parts overlap.
func (p *part) overlaps(o *part) bool {
	return p.meta.MinTime <= o.meta.MaxTime && o.meta.MinTime <= p.meta.MaxTime
}

// acquire takes a reference; false when the part is closed already.
func (p *part) acquire() bool {
	for {
		n := p.refs.Load()
		if n == 0 {
			return false
		}
		if p.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// rowsOf returns the rows of a logical table; 0 also when the part is closed or its keys cannot be read.
func (p *part) rowsOf(id schema.TableID) int64 {
	all := p.tables.Load()
	if all == nil {
		if !p.acquire() {
			return 0
		}
		defer p.release()
		all = &map[schema.TableID]int{}
		err := p.file.Tables(func(id schema.TableID, rows int) bool {
			(*all)[id] = rows
			return true
		})
		if err != nil {
			p.files.log.Error("rows of logical tables cannot be counted", "part", parts.Name(p.meta.File), "error", err)
		}
		if !errors.Is(err, sst.ErrUnavailable) {
			p.tables.Store(all)
		}
	}
	return int64((*all)[id])
}

// release lets go of a reference.
func (p *part) release() {
	if p.refs.Add(-1) > 0 {
		return
	}
	if err := p.file.Close(); err != nil {
		p.files.log.Error("part cannot be closed", "part", parts.Name(p.meta.File), "error", err)
	}
	if p.shrunk.Load() {
		// A file that stays is removed at the next start, as the manifest lists the stub.
		if err := p.files.store.Remove(parts.Entry{File: p.meta.File}); err != nil {
			p.files.log.Warn("the file of a cold part cannot be removed", "part", parts.Name(p.meta.File), "error", err)
		}
	}
	if p.obsolete.Load() {
		// A file that stays is swept at the next start: the manifest knows that it was given up.
		if err := p.files.unlink(p.meta.File); err != nil {
			p.files.log.Warn("replaced part cannot be removed", "part", parts.Name(p.meta.File), "error", err)
		}
	}
}

// retire drops the snapshots' reference of a part that no list names any more.
func (p *part) retire() {
	p.obsolete.Store(true)
	if p.unlisted.Load() {
		p.files.stray(p.meta.File)
	}
	if !p.whole() {
		p.files.damages.forget(parts.Name(p.meta.File))
	}
	p.release()
}

// shrink drops the snapshots' reference of a part whose stub they list instead. The file of the whole part is removed
// with the last reader.
func (p *part) shrink() {
	p.shrunk.Store(true)
	p.release()
}
