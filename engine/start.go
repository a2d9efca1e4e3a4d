package engine

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/sst"
)

// starting is a store while it starts: from the manifest that was read until the parts are open and the log is
// replayed. One goroutine uses it, except that openParts opens parts on several.
type starting struct {
	*Engine
	state *manifest.State // what the manifest lists
	began time.Time
	found Recovery // what the start has found so far

	logWhole   bool // replay found no damage
	unwritable bool // rows of the log stay in memory: no part can be written
}

// end hands what the start has found to the store.
func (st *starting) end() {
	st.found.Took = st.o.Now().Sub(st.began)
	st.recovery = st.found
}

// recover opens the parts, replays the log and starts the work in the background.
func (st *starting) recover() error {
	found, err := st.strangers()
	if err == nil {
		err = st.knows(found)
	}
	if err != nil {
		return denied(st.o.Dir, err)
	}
	st.openParts()
	st.ballast.find()
	if err := st.replay(); err != nil {
		return denied(st.o.WALDir, err)
	}
	st.sweep(found)
	st.finishReplay()
	if st.census != nil {
		st.census.take()
	}
	if st.reads {
		st.end()
		return nil
	}
	st.ballast.lay()
	st.space.probeEmpty()
	st.backups.sweep()
	st.end()
	if !st.o.NoBackground {
		st.wg.Go(func() { st.flusher.loop(st.run) })
		st.wg.Go(func() { st.merger.loop(freshParts) })
		st.wg.Go(func() { st.merger.loop(mergedParts) })
		st.wg.Go(func() { st.expiry.tend(st.run) })
	}
	return nil
}

// openParts opens the parts that the manifest lists, several at a time. Parts that cannot be read are set aside.
func (st *starting) openParts() {
	var wg sync.WaitGroup
	room := make(chan struct{}, st.o.Parallelism)
	opened := map[*region][]*part{}
	var changed damageEdits
	for _, t := range st.state.Tables {
		st.committer.seen(t.Flushed)
		parts := make([]*part, len(t.Parts))
		for i, m := range t.Parts {
			st.found.Parts++
			st.found.DiskBytes += m.Bytes
			st.committer.seen(m.MaxSeq)
			room <- struct{}{}
			wg.Go(func() {
				defer func() { <-room }()
				parts[i] = st.openListed(t.Schema, m, &changed)
			})
		}
		if r := st.catalog.Load().regions[t.Schema.ID]; r != nil { // logical tables have no parts of their own
			opened[r] = parts
		}
	}
	wg.Wait()
	for r, parts := range opened {
		r.replace(func(s *regionSnap) {
			s.parts = slices.DeleteFunc(parts, func(p *part) bool { return p == nil })
		})
	}
	if len(changed.list) > 0 && !st.reads {
		if err := st.apply(manifest.Edit{Damaged: changed.list}); err != nil {
			st.o.Logger.Error("what is left of earlier damage cannot be noted in the manifest", "error", err)
		}
	}
}

// damageEdits collects edits. Safe for concurrent use.
type damageEdits struct {
	mu   sync.Mutex
	list []manifest.DamageEdit
}

// openListed opens a part that the manifest lists; nil when it is set aside.
func (st *starting) openListed(t *schema.Table, m manifest.PartMeta, changed *damageEdits) *part {
	p, err := st.files.open(m)
	if err == nil && p.file.Meta().Checksum != m.Checksum {
		err = fmt.Errorf("%w: checksum %08x, the manifest has %08x", sst.ErrCorrupt, p.file.Meta().Checksum, m.Checksum)
		p.release()
	}
	if err != nil {
		st.damages.note(setAsideOf(t, m, nil, manifest.Damage{Block: -1, Reason: err.Error()}))
		return nil
	}
	if len(m.Damage) == 0 {
		return p
	}
	left, whole := st.damages.recheck(p)
	if !slices.Equal(left, m.Damage) {
		changed.mu.Lock()
		changed.list = append(changed.list, manifest.DamageEdit{Table: t.ID, File: m.File, Damage: left})
		changed.mu.Unlock()
	}
	p.hurt = left
	for _, d := range left {
		st.damages.note(setAsideOf(t, m, p.file, d))
		p.file.SetAside(d.Block)
	}
	if whole {
		p.release()
		return nil
	}
	return p
}
