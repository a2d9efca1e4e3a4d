// Package engine is the store: tables of rows with a time index, kept in memtables, in a write-ahead log and in column
// files.
//
// # Promises
//
// An acknowledged write survives a crash, as far as the sync mode of the log goes, and is stored once. Of a write
// without an acknowledgement each table has all rows or none. A scan sees the rows of one moment: a flush, merge, ALTER
// or DROP beside it changes nothing for it. Of rows with one key the last row counts, or the last value of each field,
// or all rows, as the table's options say, whichever parts the rows are in. Data that cannot be read is set aside and
// reported by name; the rest is served, and no other data stands in for it. The number of parts stays small and memory
// stays within its limit: writers wait before either is exceeded.
//
// # How rows go
//
//	WriteSet -> committer -> log, memtable -> flush -> part -> merges -> larger parts -> expiry
//	                              \_____________________\________________/
//	                                          Scan, Select
//
// A table is a region of its own, or one of many logical tables in the region of a physical table. A region publishes
// its memtables and parts as an immutable snapshot behind an atomic pointer: readers pin the snapshot, flushes and
// merges replace it. The manifest lists the parts that count; each change is one edit of it, and files are removed
// after the edit that gives them up.
//
// # Where things are
//
//	engine.go open.go start.go replay.go the store, its start, what the log gives back
//	door.go                              which calls are let in
//	inventory.go                         what a store has: catalog, manifest, files
//	catalog.go views.go                  names of tables and views
//	region.go table.go                   where rows are, sizes
//	writeset.go spareset.go              rows of a request, spare sets for them
//	write.go writer.go align.go          rows held against schemas
//	refused.go widen.go                  rows left out, integers that become floats
//	private.go                           the server's own tables
//	readonlytable.go                     tables and stores that take no changes
//	rates.go                             what is written in a second
//	limits.go                            bounds of the store, defaults of Options
//	record.go seriesrecord.go bounds.go  what the log takes
//	batches.go                           batches that a client may send twice
//	positions.go                         how far queues are read
//	commit.go memory.go                  the committer: admission, log, memtables
//	space.go ballast.go                  room on the disk
//	census.go                            how many series there are
//	series.go seriesfinder.go samples.go rows of series that are found once
//	unusedlabels.go                      labels of no series
//	create.go definer.go dropper.go      tables that are made, and dropped
//	ddl.go alter.go draft.go             statements that change schemas
//	alterer.go rewriter.go               changes of a schema, rows made ready for another schema
//	physical.go physicalscan.go          many tables in one region
//	flush.go partjob.go origin.go        memtables into parts
//	cutlog.go                            what of the log is not needed any more
//	timemarks.go                         which days may have other rows by now
//	schedule.go pick.go timewindow.go    which merge goes on, of which parts, cut where
//	merger.go exchanger.go compactor.go  merges, in the background and asked for
//	merge.go mergepick.go splice.go      rows of several runs as one, blocks taken over whole
//	files.go                             parts on their way in and out; package parts is where they lie
//	expiry.go sizebound.go sweep.go      what goes
//	sizegroups.go                        in which order max_size takes parts
//	cold.go mover.go coldsweep.go        parts that go to a bucket, objects that nobody needs
//	epoch.go manifestobjects.go          who uses the bucket, the manifests in it
//	part.go guard.go damage.go           open parts, and those that are damaged
//	scan.go pieces.go scanseries.go      reading by pieces, in the order of series
//	turns.go                             the first rows by time
//	reach.go                             pages of cold parts, requested before they are read
//	reading.go moment.go                 what readers need, the snapshot that the scans of a statement share
//	allowance.go                         what a query may read
//	select.go selectmerge.go matcher.go  reading by series: which, and
//	sampleblock.go blockinterleave.go blockmerge.go   their samples
//	labelvalues.go symbols.go            values of a label, and their numbers
//	textsizes.go                         bytes of texts by groups of series
//	backups.go restore.go                copies, and stores made of them
//	standbymetrics.go                    figures of both
//	primary.go                           what a standby asks for, and whether it has what was written
//	standby.go standbystate.go standbylog.go   a store that follows another: manifest and parts, log
//	promote.go                           a standby that takes over
//	restorebucket.go                     a store made of a bucket
//	check.go rebuild.go                  verifying, a manifest of what parts say
//	metrics.go tablemetrics.go           figures
//
// # Locks
//
// A goroutine that holds a lock takes only locks below it in this list:
//
//   - door.calls: held for reading by each call from outside, for writing by Close.
//   - region.altering: one ALTER a table; held while its rows are written anew.
//   - A place among the merges that are asked for (admission.Merge), while one of them goes on.
//   - mover.moving: parts move to the bucket, which nobody else waits for.
//   - A place among the merges of a region (merger.alone, merger.next): nobody else merges these parts; held as long as
//     the merge takes. ALTER gives it back before it takes the next.
//   - Standby.installing: a state of the primary takes effect, or rows of its log are shown.
//   - inventory.ddl: the catalog and schemas change; held over an edit of the manifest.
//   - region.maintain: memtables or parts are replaced; a flush holds it while it writes, a merge while it exchanges.
//   - region.mu: a snapshot is published, a writer takes its sequence number.
//   - census.mu: series are entered, or counted anew while writers wait to enter theirs. Nobody who holds it waits for
//     the log. A census takes mem.mu below it, to pin what it reads.
//   - Moment.mu: the tables of a statement are pinned or let go, which takes mem.mu and partFiles.mu below it.
//   - mem.mu, merger.mu, partFiles.mu, mover.mu, batches.mu, space.mu, ballast.mu, damages.mu, signal.mu,
//     Standby.mu, Primary.mu, and those of the log, of its copy and of the manifest, sizeBound.mu, toll.mu: of these
//     only one is held at a time, with two exceptions: whoever has positions.mu looks at the end of the log, and
//     whoever appends to the log holds its closing lock while the log begins a segment and takes the manifest's lock.
//     merger.mu is released while a merge waits.
//   - The lock of the account of memory (Options.Memory).
//
// Beside the list are locks under which nothing else is taken: Scan.mu, the pieces that are left of a scan;
// reach.turn, which pieces are looked at ahead, with Scan.mu below it; part.hurtMu, the damage of a part; part.sizeMu,
// its size while it is measured; damageEdits.mu, what is found while parts are opened; measuring.mu, what TextSizes has
// added up, whose reader may count memory below it.
//
// Readers take none of the list but Moment.mu, of their own statement, mem.mu, to count the readers of a memtable, and
// below it the lock of the account of memory, where the store itself is done with that memtable.
package engine

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"varve/engine/admission/ledger"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// Options say where the store lives and what its limits are. Zero values mean the documented default.
type Options struct {
	FS  vfs.FS // default: the operating system's
	Dir string // the data directory
	// WALDir is the directory of the log. Default: Dir/wal.
	WALDir string
	// WALSync is "always" (default), "interval", "never", or "standby": as always, and on the disk of the standby too.
	WALSync       string
	WALSyncPeriod time.Duration // default 1s
	WALFileSize   int64         // default 128 MiB
	// WALPurgeThreshold is the size of the log past which the oldest memtables are flushed. Default 1 GiB.
	WALPurgeThreshold int64
	// FlushBytes is the memtable size that starts a flush. Default 64 MiB.
	FlushBytes int64
	// FlushAge is the age of the oldest row in a memtable that starts a flush. Default 5m.
	FlushAge time.Duration
	// Memory is the account of memory of the process, see package admission. The store takes Memtable, Series and Merge
	// from it, and counts memtables as Held that were flushed or dropped while scans read them. While bodies exceed
	// their share, no second merge begins in the background beside a running one, unless a flush waits for a merge.
	// Default: an account of the store alone, of MemtableLimit, SeriesBytes and AskedMerges.
	Memory *ledger.Ledger
	// MemtableLimit bounds the memory of all memtables, frozen ones included. Default 144 MiB; if Memory is given, its
	// limit of Memtable. At the limit writers wait up to WriteWait (default 5s), then get RegionBusy.
	MemtableLimit int64
	WriteWait     time.Duration
	// MaxValue is the longest string or binary value that is written: flushes and merges hold some of each. Default,
	// and at most, what a part takes, sst.MaxValue.
	MaxValue int
	// MergeBytes bounds the rows that a merge holds of all its parts; BlockBytes bounds the rows of a block, whose
	// columns the merge writes together. Defaults are 64 MiB and sst.DefaultBlockBytes. A merge reads fewer rows at a
	// time if they are wide.
	MergeBytes, BlockBytes int64
	// PartPages bounds the pages of a part that merges write: a reader of the part keeps some 80 bytes for each page. A
	// million is both the default and the maximum.
	PartPages int64
	// PartKeys bounds the bytes of the series keys of a part that merges write: readers and merges have all of a tag's
	// values in hand. Default, and at most, what a part takes.
	PartKeys int64
	// AskedMerges bounds the merges that run at once because a caller waits for them: compaction, BuildIndexes, ALTER.
	// Each has MergeBytes in hand. Default 4; if Memory is given, as many as its limit of Merge has room for.
	AskedMerges int
	// SeriesBytes is the memory for keys of series in memtables, in addition to MemtableLimit. Keys beyond it count
	// against MemtableLimit.
	SeriesBytes int64
	// CacheBytes bounds the cache of decoded blocks. Default 128 MiB.
	CacheBytes int64
	Ballast    int64 // bytes kept on the disk for the day when it is full; 0: none
	// MinFree is the room on the device under which writes are refused. Default 256 MiB; negative: none.
	MinFree int64
	// NoBackground starts no flushes, no merges and no expiry: tests drive them by hand.
	NoBackground bool
	Parallelism  int // of replay and open. Default 16
	// MaxSeries bounds the series of all tables, MaxSeriesPerTable those of each; 0: no bound.
	MaxSeries, MaxSeriesPerTable int
	// MaxTables bounds the tables, besides the server's own; 0: no bound.
	MaxTables int
	// MaxDatabaseBytes bounds the parts of each database that has no option max_size; 0: no bound.
	MaxDatabaseBytes int64
	// Rates bounds what users write in a second.
	Rates Rates
	// ReadOnly refuses changes that the server does not ask for itself. Flushes, merges and expiry go on.
	ReadOnly bool
	// MaxColumns bounds the columns of all tables with storage of their own together, besides the server's; 0: no
	// bound.
	MaxColumns int
	// StandbyWait is how long a write waits for the standby if WALSync is "standby". Default 10s.
	StandbyWait time.Duration
	// Follow makes the store the standby of another; nil: it is none.
	Follow *FollowOptions
	// Cold says where old parts go; nil: nowhere. Parts that went there can then be read as far as their stubs do.
	Cold *ColdOptions
	// InBackground opens parts and replays the log after Open has returned: until then calls that need rows fail with
	// ErrStarting, see Wait.
	InBackground bool
	// mergeParts is the least number of neighbouring parts of one level that a merge takes; it takes at most twice as
	// many. Default 8
	mergeParts int
	maxPart    partSize // bounds of a part that a merge writes. Default: maxPart
	mergedRows int      // of a piece of a scan that merges runs, about. Default 128 Ki
	// spliceRows is the least number of rows of a block that a merge copies as it is; smaller blocks are merged with
	// their neighbours. Default: half a block
	spliceRows int
	retryFlush time.Duration // pause after a flush that failed. Default 1s
	// place puts another store of parts before the one in the data directory; nil: none. For the tests
	place  func(*parts.Local) parts.Store
	Now    func() time.Time
	Logger *slog.Logger
}

// Engine is the store: it lets calls in and passes them to the types below, of which each has one concern and the
// fields for it. assemble makes them, in an order that shows who needs whom. Safe for concurrent use.
type Engine struct {
	*inventory
	lock    io.Closer // of the data directory
	store   string    // see Store
	log     *wal.Log
	cache   *sst.Cache
	metrics *Metrics

	// Schemas.
	views   *Views
	definer *definer
	dropper *dropper
	alterer *alterer

	// Rows on their way in.
	toll      *toll
	writer    *writer
	finder    *seriesFinder
	census    *census // nil: series are not bounded
	batches   *batches
	positions *positions
	committer *committer
	memory    *memory

	// Parts.
	flusher   *flusher
	merger    *merger
	compactor *compactor
	expiry    *expiry
	mover     *mover
	sizes     *sizeBound
	damages   *damages
	backups   *Backups

	reading *reading // for scans and selections

	primary *Primary
	standby *Standby // nil: the store follows none

	door     *door
	recovery Recovery        // what the start found; set before the door opens
	run      context.Context // over when the store closes
	stop     context.CancelFunc
	wg       sync.WaitGroup
}

// HeldBytes is the memory that the store keeps for long and that Options.Memory does not count: the cache of decoded
// blocks, the census of series, and ids of batches. It takes no lock.
func (e *Engine) HeldBytes() int64 {
	held := e.cache.Bytes() + int64(e.census.len())*countedBytes + e.batches.bytes()
	if e.standby != nil {
		held += e.standby.held.Load()
	}
	return held
}

// MemtableLimit is the memory that rows of all tables may have before they are in parts.
func (e *Engine) MemtableLimit() int64 { return e.memory.limit }

// Store returns the name by which clients recognise this store. An empty store in its place has another name.
func (e *Engine) Store() string { return e.store }

// Memory is what the store's budgets have taken: the rows of memtables, the keys of their series, decoded blocks.
func (e *Engine) Memory() (memtables, series, cache int64) {
	return e.memory.rows(), e.memory.series(), e.cache.Bytes()
}

// The databases that are always there; information_schema is made by the SQL layer.
const (
	PublicDB  = "public"
	PrivateDB = "service_private"
)

// Wait waits until parts are open and the log is replayed; an error says why they will not be.
func (e *Engine) Wait(ctx context.Context) error {
	return e.door.wait(ctx)
}

// Ready is nil when rows can be read and written; otherwise a RegionNotReady that says why not.
func (e *Engine) Ready() error {
	err := e.door.isOpen()
	switch {
	case e.door.closed.Load():
		err = ErrClosed
	case err == nil:
		if err = e.space.ready(); err == nil {
			err = e.committer.ready()
		}
		if err == nil {
			err = e.primary.mayWrite()
		}
	}
	if err == nil {
		return nil
	}
	return status.Wrap(err, status.RegionNotReady, "%v", err)
}

// Removals counts how often tables were dropped or emptied since the start.
func (e *Engine) Removals() uint64 { return e.dropper.count.Load() }

// ReadOnly says why clients can change nothing of the store; nil: they can.
func (e *Engine) ReadOnly() error {
	if err := e.space.readOnly(); err != nil || !e.o.ReadOnly {
		return err
	}
	return ErrReadOnly
}

// Close stops background work, syncs the log and releases the directory. With flush, memtables go to parts first as
// far as ctx allows; nothing acknowledged is lost either way.
func (e *Engine) Close(ctx context.Context, flush bool) error {
	if !e.door.shut() {
		return nil
	}
	e.stop() // ends background work, and calls that wait for memory or merge
	defer e.door.drained()()
	e.wg.Wait()
	ready := e.door.isOpen() == nil && !e.reads
	still := 0
	for _, r := range e.catalog.Load().inOrder() {
		if !ready {
			break // nothing is in memory that the log does not have
		}
		s := r.snap.Load()
		// Rows of tables without a log live only in memory.
		if (flush || s.unlogged()) && ctx.Err() == nil {
			if err := e.flusher.flush(ctx, r); vfs.IsReadOnly(err) {
				still++
			} else if err != nil {
				e.o.Logger.Warn("flush at close failed; the log has the rows", "table", s.schema.Name.String(), "error",
					err)
			}
		}
	}
	if still > 0 {
		e.o.Logger.Warn("not all is flushed at close: the store is read-only; the log has the rows", "tables", still)
	} else if ready && flush {
		e.flusher.leaveLog()
	}
	return e.release()
}

// release gives back what Open took, or a failed Open so far.
func (e *Engine) release() error {
	var errs []error
	if e.log != nil {
		errs = append(errs, e.log.Close())
	}
	if e.standby != nil {
		errs = append(errs, e.standby.copy.Close())
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
