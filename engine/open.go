package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// Recovery says what Open found; nothing before the store is ready.
type Recovery struct {
	Tables, Parts int
	DiskBytes     int64
	ReplayedBytes int64
	ReplayedRows  int64
	SetAside      []SetAside // damaged files: named, kept, not served
	Took          time.Duration
}

// Open recovers the store of a data directory: manifest, parts, log. A second server on the directory is an error.
// Where a file system of the store is read-only it is opened for reading, and stays so: see openedReadOnly.
func Open(o Options) (_ *Engine, err error) {
	o = o.withDefaults()
	began := o.Now()
	disk := o.FS
	var reads error
	if o.Follow != nil && tookOver(disk, o.Dir, o.Follow.Primary) {
		o.Logger.Warn("this server took over from the one that it is told to follow: it does not follow it any more",
			"former primary", o.Follow.Primary)
		o.Follow = nil
	}
	if o.Follow != nil {
		reads = following(&o)
	} else {
		reads = openedReadOnly(&o)
	}
	e := newEngine(o, reads)
	if err := unfinished(o.FS, o.Dir); err != nil {
		return nil, err
	}
	local := parts.At(o.FS, o.Dir)
	if err := makeDirs(local, disk, &o); err != nil {
		return nil, unwritable(o.Dir, err)
	}
	if e.lock, err = o.FS.Lock(path.Join(o.Dir, "LOCK")); err != nil {
		return nil, lockError(o.Dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.release())
		}
	}()
	if o.Follow != nil {
		err = prepareStandby(disk, &o)
	} else {
		err = requireManifest(o.FS, o.Dir, o.WALDir, e.reads)
	}
	if err != nil {
		return nil, denied(o.Dir, err)
	}
	_ = e.space.readOnly() // it is logged
	e.cache = sst.NewCache(o.CacheBytes)
	e.metrics = newMetrics(e)
	e.census = newCensus(e.inventory, e.metrics.Refused)
	objects := parts.NoObjects
	if c := o.Cold; c != nil {
		objects = &parts.Remote{Bucket: c.Bucket, Timeout: c.Timeout, Cache: c.Cache}
	}
	local = local.With(objects)
	e.files = &partFiles{store: local, local: local, objects: objects, stubs: map[uint64]bool{}, log: o.Logger,
		cache:   e.cache,
		metrics: e.metrics.SST, damages: e.damages, ballast: e.ballast, space: e.space,
		mergeBytes: o.MergeBytes, blockBytes: o.BlockBytes, describe: e.describe}
	if o.place != nil {
		e.files.store = o.place(local)
	}
	var state *manifest.State
	if e.manifest, state, err = manifest.Open(o.FS, o.Dir); err != nil {
		if errors.Is(err, manifest.ErrCorrupt) {
			err = fmt.Errorf("%w. %s", err, wayOut(o.Dir))
		}
		return nil, denied(o.Dir, err)
	}
	if err := e.mayOpen(&state.Standing); err != nil {
		return nil, err
	}
	st := &starting{inventory: e.inventory, began: began, unwritable: e.reads, damages: e.damages, memory: e.memory,
		batches: e.batches, positions: e.positions, metrics: e.metrics, run: e.run}
	named := st.read(state)
	e.store = st.store
	e.log, err = wal.Open(o.FS, o.WALDir, wal.Options{Sync: logSync(o.WALSync), SyncPeriod: o.WALSyncPeriod,
		FileSize: o.WALFileSize, Now: o.Now, Logger: o.Logger,
		Store: named, Needs: wal.Range(st.state.Log), Begun: e.segmentBegun,
		Edit: func() uint64 { return e.manifest.State().Edit }})
	if err != nil {
		return nil, denied(o.WALDir, err)
	}
	e.assemble()
	if o.Follow == nil {
		err = e.mover.begin(e.run)
	} else if e.standby, err = newStandby(e, st, disk); err != nil {
		err = denied(o.WALDir, err)
	}
	if err != nil {
		return nil, err
	}
	st.log, st.committer, st.flusher, st.census, st.backups = e.log, e.committer, e.flusher, e.census, e.backups
	if o.Follow != nil {
		if err := e.standby.openParts(); err != nil {
			e.stop()
			e.wg.Wait()
			return nil, err
		}
		e.recovery = st.found
		e.standby.begin(e.run, e.wg.Go)
		return e, nil
	}
	if o.InBackground {
		e.wg.Go(func() {
			err := e.begin(st)
			if err != nil {
				err = status.Wrap(err, status.RegionNotReady, "the server could not start: %v", err)
			}
			e.door.open(err)
		})
		return e, nil
	}
	if err := e.begin(st); err != nil {
		return nil, err
	}
	e.door.open(nil)
	return e, nil
}

// makeDirs makes the directories of a store. A standby makes that of the log as well, which it writes by itself.
func makeDirs(local *parts.Local, disk vfs.FS, o *Options) error {
	if o.Follow == nil {
		return local.Make()
	}
	if err := parts.At(disk, o.Dir).Make(); err != nil {
		return err
	}
	return disk.MkdirAll(o.WALDir)
}

// mayOpen refuses the directory of a standby to a server that does not follow. If another server took over, the store
// is opened, and takes no changes.
func (e *Engine) mayOpen(s *manifest.Standing) error {
	if s.Follows != "" && e.o.Follow == nil {
		return fmt.Errorf("%s is the data directory of a standby of %s. To let it take over: varve promote --data-dir %s. "+
			"To follow: varve serve --follow %s", e.o.Dir, s.Follows, e.o.Dir, s.Follows)
	}
	if s.Replaced > s.Epoch {
		e.space.replace(s)
	}
	return nil
}

// syncStandby is the mode of Options.WALSync in which writes wait for the standby too.
const syncStandby = "standby"

// logSync is the mode of the log itself.
func logSync(mode string) string {
	if mode == syncStandby {
		return wal.SyncAlways
	}
	return mode
}

// newEngine makes what needs no directory. reads is why the store is opened for reading alone; nil: it is not.
func newEngine(o Options, reads error) *Engine {
	e := &Engine{
		inventory: &inventory{o: o, reads: reads != nil, space: newSpace(&o, reads),
			ballast: &ballast{fs: o.FS, dir: o.Dir, size: o.Ballast, free: o.MinFree, log: o.Logger}},
		memory: newMemory(o.Memory, o.SeriesBytes)}
	e.damages = &damages{of: e.inventory, log: o.Logger}
	e.views = newViews(e.inventory)
	e.reading = &reading{inventory: e.inventory, damages: e.damages}
	e.batches = newBatches(o.Now, o.Logger)
	e.positions = newPositions()
	e.catalog.Store(&catalog{})
	e.run, e.stop = context.WithCancel(context.Background())
	e.door = newDoor(e.space, e.run)
	return e
}

// begin recovers the rows and starts the work in the background.
func (e *Engine) begin(st *starting) error {
	if err := st.recover(); err != nil {
		return err
	}
	e.recovery = st.found
	if !e.o.NoBackground {
		e.wg.Go(func() { e.flusher.loop(e.run) })
		e.wg.Go(func() { e.merger.loop(freshParts) })
		e.wg.Go(func() { e.merger.loop(mergedParts) })
		e.wg.Go(func() { e.expiry.tend(e.run) })
		e.wg.Go(func() { e.sizes.loop(e.run) })
		if e.o.Cold != nil {
			e.wg.Go(func() { e.mover.loop(e.run) })
		}
	}
	return nil
}

// assemble makes what works on the store, once its log and its manifest are open.
func (e *Engine) assemble() {
	o := &e.o
	e.flusher = &flusher{inventory: e.inventory, log: e.log, memory: e.memory, batches: e.batches,
		positions: e.positions, metrics: e.metrics,
		asked: make(chan *region, 1024)}
	e.primary = &Primary{inventory: e.inventory, door: e.door, log: e.log, wait: o.StandbyWait,
		sync: o.WALSync == syncStandby}
	e.committer = &committer{log: e.log, primary: e.primary, memory: e.memory, space: e.space, batches: e.batches,
		positions: e.positions, metrics: e.metrics,
		now: o.Now, patience: o.WriteWait, closing: e.run.Done(),
		flushBytes: o.FlushBytes, flush: e.flusher.request, flushLargest: e.flusher.requestLargest}
	x := &exchanger{inventory: e.inventory, damages: e.damages, memory: e.memory, flusher: e.flusher,
		reading: e.reading}
	e.merger = newMerger(e.run, o, x, e.files, e.metrics)
	e.flusher.merger = e.merger
	e.compactor = &compactor{inventory: e.inventory, run: e.run, damages: e.damages, merger: e.merger}
	e.definer = &definer{inventory: e.inventory, memory: e.memory, views: e.views, refused: e.metrics.Refused,
		young: &youngLabels{now: o.Now, made: map[tableLabel]time.Time{}}}
	e.dropper = &dropper{inventory: e.inventory, memory: e.memory, damages: e.damages, seq: &e.committer.seq}
	e.alterer = &alterer{inventory: e.inventory, views: e.views, definer: e.definer, dropper: e.dropper,
		rewriter: &rewriter{damages: e.damages, flusher: e.flusher, compactor: e.compactor, seq: &e.committer.seq,
			maxPart: o.maxPart}}
	e.toll = &toll{o: o, closing: e.run.Done(), buckets: map[payer]*rateBucket{}}
	e.writer = &writer{inventory: e.inventory, batches: e.batches, census: e.census, committer: e.committer,
		definer: e.definer, alterer: e.alterer}
	e.finder = &seriesFinder{inventory: e.inventory, census: e.census, definer: e.definer,
		labels: &unusedLabels{inventory: e.inventory, damages: e.damages, definer: e.definer}}
	e.backups = &Backups{inventory: e.inventory, door: e.door, flusher: e.flusher}
	e.expiry = &expiry{inventory: e.inventory, merger: e.merger, exchanger: x, backups: e.backups,
		parts: e.metrics.ExpiredParts}
	e.mover = newMover(e.inventory, e.merger)
	e.sizes = &sizeBound{inventory: e.inventory, damages: e.damages, merger: e.merger, exchanger: x,
		grown: make(chan struct{}, 1), known: map[string]*sizeState{}}
	e.flusher.grown = e.sizes.look
}

// openedReadOnly changes the options of a store for reading if the file system of its data directory, its parts or its
// log is read-only, and says why; nil: none is. Such a store reads all acknowledged rows and changes no file. It takes
// shared locks: several servers may read, and none may write meanwhile.
func openedReadOnly(o *Options) error {
	found := newSpace(o, nil).findReadOnly(true)
	if found == nil {
		return nil
	}
	o.FS, o.NoBackground, o.Ballast = vfs.ReadOnly(o.FS), true, 0
	found.Msg += ". To write again, make it writable, then start the server again"
	return found
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
		return fmt.Errorf(
			"data directory %s cannot be written to by this user: %w. Give it to the user that runs the server: "+
				"chown -R %d:%d %s", dir, err, os.Getuid(), os.Getgid(), dir)
	}
	return fmt.Errorf("data directory %s cannot be used: %w", dir, err)
}

// requireManifest refuses a directory whose manifest is gone: without it everything else would look left over. One
// without anything can be made a store of, unless it is only read.
func requireManifest(fs vfs.FS, dir, walDir string, reads bool) error {
	switch _, err := fs.Stat(path.Join(dir, manifest.FileName)); {
	case err == nil:
		return nil
	case !vfs.NotExist(err):
		return fmt.Errorf("data directory: %w", err)
	}
	hasParts, err := parts.At(fs, dir).HoldsAny()
	if err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	logs, err := fs.List(walDir)
	if err != nil && !hasParts && !vfs.NotExist(err) {
		return fmt.Errorf("data directory: %w", err)
	}
	hasLog := slices.ContainsFunc(logs, func(n string) bool { return strings.HasSuffix(n, wal.Suffix) })
	removed := func(what string) error {
		return fmt.Errorf(
			"%s holds %s but no %s, which lists the tables and their parts: it was removed. Nothing was changed. %s",
			dir, what, manifest.FileName, wayOut(dir))
	}
	switch {
	case hasParts:
		return removed("parts")
	case hasLog && !strings.HasPrefix(walDir, dir+"/"):
		return fmt.Errorf(
			"%s has no %s, and %s, the directory of its log, holds a log: that of another store, or the file was "+
				"removed. Nothing was changed. "+
				"Give each server a directory of its own for its log (wal.dir). %s", dir, manifest.FileName, walDir,
			wayOut(dir))
	case hasLog:
		return removed("a log")
	case reads:
		return fmt.Errorf("%s holds no store, and none can be created there: %w", dir, vfs.ErrReadOnly)
	}
	return nil
}

// Recovery says what Open found; nothing before the store is ready.
func (e *Engine) Recovery() Recovery {
	if e.door.isOpen() != nil {
		return Recovery{SetAside: e.SetAside()}
	}
	r := e.recovery
	r.SetAside = e.SetAside()
	return r
}
