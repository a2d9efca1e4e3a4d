package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/sst"
	"varve/wal"
)

// starting is a store while it starts: from the manifest that was read until the parts are open and the log is
// replayed. One goroutine uses it, except that openParts opens parts on several.
type starting struct {
	*inventory
	damages   *damages
	memory    *memory
	batches   *batches
	positions *positions
	metrics   *Metrics
	run       context.Context // over when the store closes

	// There once the log is open.
	log       *wal.Log
	committer *committer
	flusher   *flusher
	census    *census
	backups   *Backups

	state *manifest.State // what the manifest lists
	store string          // see Engine.Store
	began time.Time
	found Recovery // what the start has found so far

	logWhole   bool // replay found no damage
	unwritable bool // rows of the log stay in memory: no part can be written

	// Of a standby; nil otherwise. noted gets the place of each record that is applied: then nothing is flushed.
	// unknown gets those of tables that the manifest does not have.
	noted   func(r *region, at wal.LSN, seq uint64)
	unknown func(table schema.TableID, at wal.LSN, seq uint64)
}

// read makes the catalog that the manifest describes, without what earlier runs of the server left unfinished. It
// returns the name of the store that lasts, see nameStore.
func (st *starting) read(state *manifest.State) (named string) {
	st.endRestoring()
	st.state = st.dropDrafts(state)
	st.found.Tables = len(st.state.Tables)
	st.list()
	st.positions.begin(st.state.Positions)
	return st.nameStore()
}

// endRestoring removes the mark of a restore that was cut short after its manifest was written.
func (st *starting) endRestoring() {
	name := path.Join(st.o.Dir, RestoringName)
	if _, err := st.o.FS.Stat(name); err == nil {
		st.left(RestoringName, st.o.FS.Remove(name))
	}
}

// dropDrafts drops the drafts that a crash has left and gives the state without them. Where that cannot be written
// down, as on a full disk, they stay for the next start: nobody sees them.
func (st *starting) dropDrafts(state *manifest.State) *manifest.State {
	var edit manifest.Edit
	for id, t := range state.Tables {
		if t.Schema.Draft {
			edit.DropTable = append(edit.DropTable, id)
		}
	}
	if len(edit.DropTable) == 0 || st.reads {
		return state
	}
	if err := st.manifest.Apply(edit); err != nil {
		st.o.Logger.Warn("tables that were being made when the server ended cannot be dropped yet", "tables",
			len(edit.DropTable), "error", err)
		return state
	}
	st.o.Logger.Info("tables that were being made when the server ended are dropped", "tables", len(edit.DropTable))
	return st.manifest.State()
}

// list makes the catalog that the manifest describes; its regions have no parts yet.
func (st *starting) list() {
	c := newCatalog(st.memory, st.state)
	for _, t := range st.state.Tables {
		if _, ok := c.find(t.Schema.ID); !ok {
			st.damages.note(SetAside{File: manifest.FileName,
				Reason: fmt.Sprintf("table %s lies in table %d, which does not exist", t.Schema.Name,
					t.Schema.Physical)})
		}
	}
	st.files.next.Store(st.state.NextFile)
	st.catalog.Store(c)
}

// nameStore gives a store a name that has none, and returns the one that lasts: where the disk cannot be written to,
// the name holds until the server ends, and none lasts.
func (st *starting) nameStore() string {
	if st.store = st.manifest.State().Store; st.store != "" {
		return st.store
	}
	st.store = manifest.NewStore()
	if err := st.apply(manifest.Edit{Store: st.store}); err != nil {
		if st.reads {
			return ""
		}
		st.o.Logger.Warn(
			"the name of the store cannot be written into the manifest; it gets another one at the next start", "error",
			err)
		return ""
	}
	return st.store
}

// recover opens the parts, replays the log and tidies up.
func (st *starting) recover() error {
	found, err := st.strangers()
	if err == nil {
		err = st.knows(found)
	}
	if err != nil {
		return denied(st.o.Dir, err)
	}
	if err := st.openParts(); err != nil {
		return err
	}
	st.ballast.find()
	if err := st.replay(); err != nil {
		return denied(st.o.WALDir, err)
	}
	st.sweep(found)
	st.finishReplay()
	if st.census != nil {
		st.census.take()
	}
	if !st.reads {
		st.ballast.lay()
		st.space.probeEmpty()
		st.backups.sweep()
	}
	st.found.Took = st.o.Now().Sub(st.began)
	return nil
}

// openParts opens the parts that the manifest lists, several at a time. Damaged parts are set aside. A part that cannot
// be read now is an error: a store that went on without it would merge and answer as if its rows had never been.
func (st *starting) openParts() error {
	var wg sync.WaitGroup
	room := make(chan struct{}, st.o.Parallelism)
	opened := map[*region][]*part{}
	var changed damageEdits
	var away firstError
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
				parts[i] = st.openListed(t.Schema, m, &changed, &away)
			})
		}
		if r := st.catalog.Load().regions[t.Schema.ID]; r != nil { // logical tables have no parts of their own
			opened[r] = parts
		}
	}
	wg.Wait()
	if away.err != nil {
		for _, parts := range opened {
			for _, p := range parts {
				if p != nil {
					p.release()
				}
			}
		}
		return away.err
	}
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
	return nil
}

// firstError keeps the first error that it is told. Safe for concurrent use.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) note(err error) { f.once.Do(func() { f.err = err }) }

// damageEdits collects edits. Safe for concurrent use.
type damageEdits struct {
	mu   sync.Mutex
	list []manifest.DamageEdit
}

// openListed opens a part that the manifest lists; nil when it is set aside, or away because it cannot be read now.
func (st *starting) openListed(t *schema.Table, m manifest.PartMeta, changed *damageEdits, away *firstError) *part {
	p, err := st.files.open(m)
	if err == nil && p.file.Meta().Checksum != m.Checksum {
		err = fmt.Errorf("%w: checksum %08x, the manifest has %08x", sst.ErrCorrupt, p.file.Meta().Checksum, m.Checksum)
		p.release()
	}
	if errors.Is(err, sst.ErrUnavailable) {
		away.note(fmt.Errorf("table %s: %w", t.Name, err))
		return nil
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
