package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// core is the engine's state.
type core struct {
	o           Options
	lock        io.Closer
	manifest    *manifest.Manifest
	log         *wal.Log
	cache       *sst.Cache
	metrics     *Metrics
	catalog     atomic.Pointer[catalog]
	ddl         sync.Mutex // held while the catalog or a schema changes
	seq         atomic.Uint64
	nextFile    atomic.Uint64
	memBytes    atomic.Int64 // of memtables and their series
	heldBytes   atomic.Int64 // of memtables that are gone but for their readers
	seriesBytes atomic.Int64 // of series alone
	room        *signal      // broadcast when memtable memory was given back
	closed      atomic.Bool
	calls       sync.RWMutex // held for reading by calls of the public face
	flushes     atomic.Int64 // memtables written into parts
	flushing    atomic.Bool  // the flush loop is at work: merges wait
	scanning    atomic.Int64 // scans that are open: merges yield

	spaceMu  sync.Mutex // protects the next two
	spaceAt  time.Time
	spaceErr error

	ballastMu sync.Mutex // protects ballast
	ballast   bool       // the file is there

	damageMu sync.Mutex // protects damaged
	damaged  []SetAside

	ready  chan struct{} // closed when parts are open and the log is replayed, or failed is set
	failed error         // why not

	filesMu sync.Mutex // protects files
	files   fileList

	// Of the start, before it is ready:
	found      Recovery
	leastTable schema.TableID  // above all that log and parts name; afterwards never changed
	logWhole   bool            // replay found no damage
	unwritable bool            // replay could not write a part
	work       chan *region    // regions that want a flush
	merge      chan *region    // regions that got a part
	run        context.Context // over when the store closes
	stop       context.CancelFunc
	wg         sync.WaitGroup
}

// The databases that are always there; information_schema is made by the SQL layer.
const (
	PublicDB  = "public"
	PrivateDB = "service_private"
)

func open(o Options) (_ *Engine, err error) {
	o = o.withDefaults()
	start := o.Now()
	e := &Engine{core{o: o, room: newSignal(), work: make(chan *region, 1024), merge: make(chan *region, 1024)}}
	e.catalog.Store(&catalog{})
	e.run, e.stop = context.WithCancel(context.Background())
	e.ready = make(chan struct{})
	if err := o.FS.MkdirAll(path.Join(o.Dir, partsDir)); err != nil {
		return nil, unwritable(o.Dir, err)
	}
	if e.lock, err = o.FS.Lock(path.Join(o.Dir, "LOCK")); err != nil {
		return nil, lockError(o.Dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.abort())
		}
	}()
	if err := requireManifest(o.FS, o.Dir, o.WALDir); err != nil {
		return nil, denied(o.Dir, err)
	}
	e.cache = sst.NewCache(o.CacheBytes)
	e.metrics = newMetrics(&e.core)
	var state *manifest.State
	if e.manifest, state, err = manifest.Open(o.FS, o.Dir); err != nil {
		if errors.Is(err, manifest.ErrCorrupt) {
			err = fmt.Errorf("%w. %s", err, wayOut(o.Dir))
		}
		return nil, denied(o.Dir, err)
	}
	e.list(state)
	e.log, err = wal.Open(o.FS, o.WALDir, wal.Options{Sync: o.WALSync, SyncPeriod: o.WALSyncPeriod, FileSize: o.WALFileSize, Now: o.Now, Logger: o.Logger,
		Needs: wal.Range(state.Log), Begun: e.segmentBegun, Edit: func() uint64 { return e.manifest.State().Edit }})
	if err != nil {
		return nil, denied(o.WALDir, err)
	}
	if o.InBackground {
		e.wg.Go(func() {
			if err := e.recover(state, start); err != nil {
				e.failed = status.Wrap(err, status.RegionNotReady, "the server could not start: %v", err)
			}
			close(e.ready)
		})
		return e, nil
	}
	if err := e.recover(state, start); err != nil {
		return nil, err
	}
	close(e.ready)
	return e, nil
}

// lockError says why the lock of a data directory cannot be had.
func lockError(dir string, err error) error {
	if errors.Is(err, vfs.ErrLocked) {
		return fmt.Errorf("data directory %s is in use by another server: %w", dir, err)
	}
	return unwritable(dir, err)
}

// denied says of an error that is a matter of rights what can be done about the directory.
func denied(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return unwritable(dir, err)
	}
	return err
}

// unwritable says what can be done about a data directory that may not be written to.
func unwritable(dir string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("data directory %s cannot be written to by this user: %w. Give it to the user that runs the server: chown -R %d:%d %s", dir, err, os.Getuid(), os.Getgid(), dir)
	}
	return fmt.Errorf("data directory %s cannot be used: %w", dir, err)
}

// recover opens the parts, replays the log and starts the work in the background.
func (e *core) recover(state *manifest.State, start time.Time) error {
	found, err := e.strangers(state)
	if err == nil {
		err = e.knows(state, found)
	}
	if err != nil {
		return denied(e.o.Dir, err)
	}
	e.openParts(state)
	e.findBallast()
	if err := e.replay(); err != nil {
		return denied(e.o.WALDir, err)
	}
	e.sweep(state, found)
	e.finishReplay()
	e.layBallast()
	e.sweepSnapshots()
	e.found.Took = e.o.Now().Sub(start)
	if !e.o.NoBackground {
		e.wg.Go(func() { e.flushLoop(e.run) })
		e.wg.Go(func() { e.mergeLoop(e.run) })
	}
	return nil
}

// requireManifest refuses a directory whose manifest is gone: without it everything else would look left over.
func requireManifest(fs vfs.FS, dir, walDir string) error {
	switch _, err := fs.Stat(path.Join(dir, manifest.FileName)); {
	case err == nil:
		return nil
	case !vfs.NotExist(err):
		return fmt.Errorf("data directory: %w", err)
	}
	for _, of := range []struct{ dir, suffix, what string }{{path.Join(dir, partsDir), partSuffix, "parts"}, {walDir, wal.Suffix, "a log"}} {
		names, err := fs.List(of.dir)
		if err != nil && !vfs.NotExist(err) {
			return fmt.Errorf("data directory: %w", err)
		}
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, of.suffix) }) {
			return fmt.Errorf("%s holds %s but no %s, which lists the tables and their parts: it was removed. Nothing was changed. %s", dir, of.what, manifest.FileName, wayOut(dir))
		}
	}
	return nil
}

// segmentBegun notes in the manifest what of the log must be there at the next start.
func (e *core) segmentBegun(all wal.Range) error {
	edit := manifest.Edit{Log: manifest.LogRange{Last: all.Last}}
	if e.manifest.State().Log.First == 0 {
		edit.Log.First = all.First
	}
	return e.manifest.Apply(edit)
}

// abort releases what a failed Open took.
func (e *core) abort() error {
	var errs []error
	if e.log != nil {
		errs = append(errs, e.log.Close())
	}
	if e.manifest != nil {
		errs = append(errs, e.manifest.Close())
	}
	for _, r := range e.catalog.Load().regions {
		for _, p := range r.snap.Load().parts {
			p.release()
		}
	}
	return errors.Join(append(errs, e.lock.Close())...)
}

// list makes the catalog that the manifest describes; its regions have no parts yet.
func (e *core) list(state *manifest.State) {
	c := newCatalog(e, state)
	for _, t := range state.Tables {
		if _, ok := c.find(t.Schema.ID); !ok {
			e.noteDamage(SetAside{File: manifest.FileName, Reason: fmt.Sprintf("table %s lies in table %d, which does not exist", t.Schema.Name, t.Schema.Physical)})
		}
	}
	e.found.Tables = len(state.Tables)
	e.nextFile.Store(state.NextFile)
	e.catalog.Store(c)
}

// openParts opens the parts that the manifest lists, several at a time. Parts that cannot be read are set aside.
func (e *core) openParts(state *manifest.State) {
	var wg sync.WaitGroup
	room := make(chan struct{}, e.o.Parallelism)
	opened := map[*region][]*part{}
	var changed damageEdits
	for _, t := range state.Tables {
		e.seq.Store(max(e.seq.Load(), t.Flushed))
		parts := make([]*part, len(t.Parts))
		for i, m := range t.Parts {
			e.found.Parts++
			e.found.DiskBytes += m.Bytes
			e.seq.Store(max(e.seq.Load(), m.MaxSeq))
			room <- struct{}{}
			wg.Go(func() {
				defer func() { <-room }()
				parts[i] = e.openListed(t.Schema, m, &changed)
			})
		}
		if r := e.catalog.Load().regions[t.Schema.ID]; r != nil { // logical tables have no parts of their own
			opened[r] = parts
		}
	}
	wg.Wait()
	for r, parts := range opened {
		r.replace(func(s *regionSnap) {
			s.parts = slices.DeleteFunc(parts, func(p *part) bool { return p == nil })
		})
	}
	if len(changed.list) > 0 {
		if err := e.apply(manifest.Edit{Damaged: changed.list}); err != nil {
			e.o.Logger.Error("what is left of earlier damage cannot be noted in the manifest", "error", err)
		}
	}
}

// damageEdits collects edits. Safe for concurrent use.
type damageEdits struct {
	mu   sync.Mutex
	list []manifest.DamageEdit
}

// openListed opens a part that the manifest lists; nil when it is set aside.
func (e *core) openListed(t *schema.Table, m manifest.PartMeta, changed *damageEdits) *part {
	p, err := e.openPart(m)
	if err == nil && p.file.Meta().Checksum != m.Checksum {
		err = fmt.Errorf("%w: checksum %08x, the manifest has %08x", sst.ErrCorrupt, p.file.Meta().Checksum, m.Checksum)
		p.release()
	}
	if err != nil {
		e.noteDamage(setAsideOf(t, m, nil, manifest.Damage{Block: -1, Reason: err.Error()}))
		return nil
	}
	if len(m.Damage) == 0 {
		return p
	}
	left, whole := e.recheck(p)
	if !slices.Equal(left, m.Damage) {
		changed.mu.Lock()
		changed.list = append(changed.list, manifest.DamageEdit{Table: t.ID, File: m.File, Damage: left})
		changed.mu.Unlock()
	}
	p.hurt = left
	for _, d := range left {
		e.noteDamage(setAsideOf(t, m, p.file, d))
		p.file.SetAside(d.Block)
	}
	if whole {
		p.release()
		return nil
	}
	return p
}

// began notes a write: the log must be kept from at on, if at is not 0. The caller holds region.mu.
func (m *mem) began(at wal.LSN, seq uint64, now time.Time) {
	if m.first == 0 {
		m.first = at
	}
	if m.born.IsZero() {
		m.born = now
	}
	m.lastSeq = max(m.lastSeq, seq)
}

func (m *mem) append(r *record, t *schema.Table) {
	if r.kind == schema.KindDelete {
		m.table.AppendDelete(r.seq, t, r.fields, r.batch)
	} else {
		m.table.Append(r.seq, t, r.fields, r.batch)
	}
}

func (e *core) noteDamage(s SetAside) {
	e.damageMu.Lock()
	defer e.damageMu.Unlock()
	if slices.Contains(e.damaged, s) {
		return
	}
	e.damaged = append(e.damaged, s)
	e.o.Logger.Error("set aside, not served", "file", s.File, "reason", s.Reason)
}

func (e *core) setAside() []SetAside {
	e.damageMu.Lock()
	defer e.damageMu.Unlock()
	return slices.Clone(e.damaged)
}

func (e *core) recovery() Recovery {
	if e.isReady() != nil {
		return Recovery{SetAside: e.setAside()}
	}
	r := e.found
	r.SetAside = e.setAside()
	return r
}

// ErrClosed is returned by calls after Close.
var ErrClosed = status.New(status.Suspended, "the server is shutting down")

// ErrStarting is returned by calls that need rows before the log is replayed.
var ErrStarting = status.New(status.RegionNotReady, "the server is starting: parts are opened and the log is replayed, try again")

func (e *core) readiness() error {
	err := e.isReady()
	switch {
	case e.closed.Load():
		err = ErrClosed
	case err == nil:
		err = e.checkSpace()
	}
	if err == nil {
		return nil
	}
	return status.Wrap(err, status.RegionNotReady, "%v", err)
}

// isReady is nil when rows can be read and written.
func (e *core) isReady() error {
	select {
	case <-e.ready:
		return e.failed
	default:
		return ErrStarting
	}
}

// wait waits until the store is ready, or says why it will not be.
func (e *core) wait(ctx context.Context) error {
	select {
	case <-e.ready:
		return e.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter admits a call of the public face that Close waits for; leave ends it. Not to be nested.
func (e *core) enter() error {
	e.calls.RLock()
	if e.closed.Load() {
		e.calls.RUnlock()
		return ErrClosed
	}
	if err := e.isReady(); err != nil {
		e.calls.RUnlock()
		return err
	}
	return nil
}

func (e *core) leave() { e.calls.RUnlock() }

func (e *core) during(f func() error) error {
	if err := e.enter(); err != nil {
		return err
	}
	defer e.leave()
	return f()
}

func (e *core) close(ctx context.Context, flush bool) error {
	if !e.closed.CompareAndSwap(false, true) {
		return nil
	}
	e.stop() // ends background work, and calls that wait for memory or merge
	e.calls.Lock()
	defer e.calls.Unlock()
	e.wg.Wait()
	var errs []error
	ready := e.isReady() == nil
	for _, r := range e.catalog.Load().inOrder() {
		if !ready {
			break // nothing is in memory that the log does not have
		}
		s := r.snap.Load()
		// Rows of tables without a log live only in memory.
		if (flush || s.unlogged()) && ctx.Err() == nil {
			if err := e.flushRegion(ctx, r); err != nil {
				e.o.Logger.Warn("flush at close failed; the log has the rows", "table", s.schema.Name.String(), "error", err)
			}
		}
	}
	if ready && flush {
		e.leaveLog()
	}
	errs = append(errs, e.log.Close(), e.manifest.Close())
	for _, r := range e.catalog.Load().regions {
		for _, p := range r.snap.Load().parts {
			p.release()
		}
	}
	return errors.Join(append(errs, e.lock.Close())...)
}
