package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/scan"
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

	found    Recovery
	replayed map[*region][]*part // parts made by replay that the manifest does not list yet
	work     chan *region        // regions that want a flush
	merge    chan *region        // regions that got a part
	run      context.Context     // over when the store closes
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// The databases that are always there; information_schema is made by the SQL layer.
const (
	PublicDB  = "public"
	PrivateDB = "service_private"
)

func open(o Options) (_ *Engine, err error) {
	o = o.withDefaults()
	start := o.Now()
	e := &Engine{core{o: o, room: newSignal(), work: make(chan *region, 1024), merge: make(chan *region, 1024), replayed: map[*region][]*part{}}}
	e.catalog.Store(&catalog{})
	e.run, e.stop = context.WithCancel(context.Background())
	e.ready = make(chan struct{})
	if err := o.FS.MkdirAll(path.Join(o.Dir, partsDir)); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	if e.lock, err = o.FS.Lock(path.Join(o.Dir, "LOCK")); err != nil {
		return nil, fmt.Errorf("data directory %s is in use by another server: %w", o.Dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.abort())
		}
	}()
	e.cache = sst.NewCache(o.CacheBytes)
	e.metrics = newMetrics(&e.core)
	var state *manifest.State
	if e.manifest, state, err = manifest.Open(o.FS, o.Dir); err != nil {
		return nil, err
	}
	e.list(state)
	e.log, err = wal.Open(o.FS, o.WALDir, wal.Options{Sync: o.WALSync, SyncPeriod: o.WALSyncPeriod, FileSize: o.WALFileSize, Now: o.Now, Logger: o.Logger})
	if err != nil {
		return nil, err
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

// recover opens the parts, replays the log and starts the work in the background.
func (e *core) recover(state *manifest.State, start time.Time) error {
	e.openParts(state)
	if err := e.sweep(state); err != nil {
		return err
	}
	if err := e.replay(); err != nil {
		return err
	}
	e.layBallast()
	e.found.Took = e.o.Now().Sub(start)
	if !e.o.NoBackground {
		e.wg.Go(func() { e.flushLoop(e.run) })
		e.wg.Go(func() { e.mergeLoop(e.run) })
	}
	return nil
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

// sweep removes files of parts that the manifest does not list: what a crash left of flushes and merges.
func (e *core) sweep(state *manifest.State) error {
	listed := map[uint64]bool{}
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			listed[p.File] = true
		}
	}
	dir := path.Join(e.o.Dir, partsDir)
	names, err := e.o.FS.List(dir)
	if err != nil {
		return fmt.Errorf("parts directory: %w", err)
	}
	for _, name := range names {
		n, isPart := partNumber(strings.TrimSuffix(name, vfs.TempSuffix))
		if !isPart || listed[n] && !strings.HasSuffix(name, vfs.TempSuffix) {
			continue
		}
		e.nextFile.Store(max(e.nextFile.Load(), n+1))
		if err := e.o.FS.Remove(path.Join(dir, name)); err != nil {
			e.o.Logger.Warn("left-over file cannot be removed", "file", name, "error", err)
		}
	}
	return nil
}

// replay applies the log's records that are in no part, flushing when memory runs out.
func (e *core) replay() error {
	last := e.o.Now()
	result, err := e.log.Replay(0, func(at wal.LSN, rec []byte) error {
		if err := e.run.Err(); err != nil {
			return err // closed before it was ready
		}
		if now := e.o.Now(); now.Sub(last) > 2*time.Second {
			last = now
			e.o.Logger.Info("replaying the log", "at", at.String(), "rows", e.found.ReplayedRows)
		}
		return e.replayRecord(at, rec)
	})
	if err != nil {
		return fmt.Errorf("replay of the log: %w", err)
	}
	if err := e.finishReplay(); err != nil {
		return err
	}
	e.found.ReplayedBytes = result.Bytes
	for _, d := range result.Damaged {
		e.noteDamage(SetAside{File: "wal/" + d.File, Reason: d.String()})
	}
	return nil
}

func (e *core) replayRecord(at wal.LSN, rec []byte) error {
	r, body, err := readRecordHead(rec)
	if err != nil {
		e.noteDamage(SetAside{File: "wal " + at.String(), Reason: err.Error()})
		return nil
	}
	e.seq.Store(max(e.seq.Load(), r.seq))
	p, ok := e.catalog.Load().find(r.table)
	if !ok || r.seq <= e.manifest.State().Tables[p.region.id].Flushed {
		return nil
	}
	region, t := p.region, p.schema()
	// Strings of a decoded batch point into the mapped log; the memtable copies them.
	if err := r.decode(body, t); err != nil {
		e.noteDamage(SetAside{File: "wal " + at.String(), Reason: err.Error()})
		return nil
	}
	if lost, why := r.leaveOut(); lost > 0 {
		e.noteDamage(SetAside{File: "wal " + at.String(), Reason: fmt.Sprintf("%d of %d rows of table %s cannot be kept: %v", lost, lost+r.batch.N, t.Name, why)})
	}
	m := region.snap.Load().live
	region.mu.Lock()
	m.began(at, r.seq, e.o.Now())
	region.mu.Unlock()
	m.append(r, t)
	e.account(m)
	e.found.ReplayedRows += int64(r.batch.N)
	e.metrics.ReplayedRows.Add(float64(r.batch.N))
	if m.table.Bytes() > e.o.FlushBytes || e.memBytes.Load() > e.o.MemtableLimit {
		return e.flushReplayed(region)
	}
	return nil
}

// flushReplayed writes what has been replayed of a region into a part that the manifest learns of at the end of replay.
// The log is not in the order of sequence numbers, so until then nobody can say up to which one everything is in parts;
// a crash before the end leaves files that no manifest lists, and the log.
func (e *core) flushReplayed(r *region) error {
	m := r.snap.Load().live
	run := m.table.Freeze()
	if run.Rows() == 0 {
		return nil
	}
	t := r.snap.Load().schema
	lo, hi := run.Sequences()
	mode := flushMode(t)
	mode.keepAll = mode.keepAll || mode.lastNonNull // sequence numbers of the following parts may lie in between
	p, err := e.writePart(&partJob{table: t, runs: []scan.Run{run}, time: scan.All, minSeq: lo, maxSeq: hi, mode: mode, workers: flushWorkers, lives: e.lives(r)})
	if errors.Is(err, errNoRows) {
		return nil // all of dropped tables; they wait for a flush
	}
	if err != nil {
		return err
	}
	r.replace(func(s *regionSnap) { s.live, s.parts = e.after(m), append(s.parts, p) })
	e.replayed[r] = append(e.replayed[r], p)
	e.forget(m)
	return nil
}

// finishReplay tells the manifest of the parts made by replay: all of them and the last sequence number in one edit.
func (e *core) finishReplay() error {
	var edit manifest.Edit
	for r := range e.replayed {
		if err := e.flushReplayed(r); err != nil {
			return err
		}
		last := uint64(0)
		for _, p := range e.replayed[r] {
			last = max(last, p.meta.MaxSeq)
			edit.AddParts = append(edit.AddParts, manifest.PartEdit{Table: r.id, Part: p.meta})
		}
		edit.Flushed = append(edit.Flushed, manifest.FlushedEdit{Table: r.id, Sequence: last})
	}
	if len(edit.AddParts) == 0 {
		return nil
	}
	e.replayed = nil
	return e.apply(edit)
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
	errs = append(errs, e.log.Close(), e.manifest.Close())
	for _, r := range e.catalog.Load().regions {
		for _, p := range r.snap.Load().parts {
			p.release()
		}
	}
	return errors.Join(append(errs, e.lock.Close())...)
}
