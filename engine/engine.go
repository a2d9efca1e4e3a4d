// Package engine is the store: tables, their regions, writing, flushing, merging and scanning.
package engine

import (
	"context"
	"log/slog"
	"time"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/sst"
)

// Options say where the store lives and what its limits are. Zero values mean the documented default.
type Options struct {
	FS  vfs.FS // default: the operating system's
	Dir string // the data directory
	// WALDir is the directory of the log. Default: Dir/wal.
	WALDir string
	// WALSync is "always" (default), "interval" or "never".
	WALSync       string
	WALSyncPeriod time.Duration // default 1s
	WALFileSize   int64         // default 128 MiB
	// WALPurgeThreshold is the size of the log past which the oldest memtables are flushed. Default 1 GiB.
	WALPurgeThreshold int64
	// FlushBytes is the memtable size that starts a flush. Default 64 MiB.
	FlushBytes int64
	// FlushAge is the age of the oldest row in a memtable that starts a flush. Default 5m.
	FlushAge time.Duration
	// MemtableLimit bounds the memory of all memtables, frozen ones included. Default 144 MiB. At the limit writers wait
	// up to WriteWait (default 5s), then get RegionBusy.
	MemtableLimit int64
	WriteWait     time.Duration
	// Held, if not nil, is told of memory that scans begin (bytes > 0) or cease to keep: of memtables that were flushed or
	// dropped while they are read. It must not call the store.
	Held func(bytes int64)
	// CacheBytes bounds the cache of decoded blocks. Default 128 MiB.
	CacheBytes int64
	Ballast    int64 // bytes kept on the disk for the day when it is full; 0: none
	// MinFree is the room on the device under which writes are refused. Default 256 MiB; negative: none.
	MinFree int64
	// Background switches flush by age and merging; tests may switch it off and drive both by hand.
	NoBackground bool
	Parallelism  int // of replay and open. Default 16
	// InBackground opens parts and replays the log after Open has returned: until then calls that need rows fail with
	// ErrStarting, see Wait.
	InBackground bool
	mergeParts   int // neighbours of one level that are merged into one part of the next, at most twice as many. Default 8
	mergedRows   int // of one piece of runs that are merged. Default 128 Ki
	spliceRows   int // of a block, at least, that merges take over: smaller ones grow with their neighbours. Default: half a block
	Now          func() time.Time
	Logger       *slog.Logger
}

// Engine is the store. Safe for concurrent use.
type Engine struct{ core }

// Open recovers the store of a data directory: manifest, parts, log. A second server on the directory is an error.
func Open(o Options) (*Engine, error) { return open(o) }

// Recovery says what Open found; nothing before the store is ready.
type Recovery struct {
	Tables, Parts int
	DiskBytes     int64
	ReplayedBytes int64
	ReplayedRows  int64
	SetAside      []SetAside // damaged files: named, kept, not served
	Took          time.Duration
}

// SetAside is a damaged file, block of a part or stretch of log that is not served.
type SetAside struct {
	File, Reason string
	// Of parts: the table, the block or -1 for the whole part, and the rows and span of times (both inclusive) of it.
	Table    schema.Name
	Block    int
	Rows     int64
	Min, Max int64
}

// Hint says what to create when the table of a write is absent.
type Hint struct {
	// AutoCreate false: an absent table is an error, and so are new columns.
	AutoCreate bool
	// Disabled tells that the configuration turned AutoCreate off, not a hint of the client: the error says so.
	Disabled bool
	// TimeIndex names the time index column of the builder; Tags the tag columns, in key order.
	TimeIndex string
	Tags      []string
	// Typed tells that the builder's columns have the types that the table's had when it was made: where the table has others
	// by now, values convert as those of rows that were there before.
	Typed bool
	// Indexes are the indexes of created columns, by name.
	Indexes map[string][]schema.Index
	// Options are the table options of a created table, already checked (schema.ParseOptions). Two builders of one table
	// with different options are two groups.
	Options schema.Options
	Comment string
}

// Written is the outcome of one group of equal table options.
type Written struct{ Rows int }

// WriteSet is the rows of one request: a builder per table and group of options. Reused through a pool. One goroutine
// at a time.
type WriteSet struct{ writeSet }

// Rows gives the builder of the rows for table t with hint h. The hint's time index column need not exist yet.
func (s *WriteSet) Rows(t schema.Name, h Hint) *vector.Builder { return s.rows(t, h) }

// Reset empties the set and keeps its builders' buffers.
func (s *WriteSet) Reset() { s.reset() }

// Held is the memory of the set's buffers in bytes, used or not.
func (s *WriteSet) Held() int64 { return s.held() }

// Write writes all rows of the set: absent tables are created, absent columns added, then every table's batch is
// logged and appended. It returns when the rows are as durable as the log's mode promises and visible. All rows are
// held against the schemas before the first is logged; after a crash each table's batch is there wholly or not at all.
// The result has one element per group of equal options, in order of first use.
func (e *Engine) Write(ctx context.Context, s *WriteSet) ([]Written, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	return e.write(ctx, s)
}

// Delete writes tombstones for the row keys in keys: its columns are the table's tags, then the time index. Not for
// append-only tables.
func (e *Engine) Delete(ctx context.Context, t schema.Name, keys *vector.Batch) (int, error) {
	if err := e.enter(); err != nil {
		return 0, err
	}
	defer e.leave()
	return e.delete(ctx, t, keys)
}

// Table is a handle of a table at one schema version.
type Table struct {
	Schema *schema.Table
	table
}

// Table finds a table: TableNotFound, or DatabaseNotFound.
func (e *Engine) Table(n schema.Name) (*Table, error) { return e.findTable(n) }

// Tables lists the tables of a database, sorted by name. DatabaseNotFound.
func (e *Engine) Tables(db string) ([]*Table, error) { return e.listTables(db) }

// Databases lists the databases of the store, sorted: public and service_private are always there.
func (e *Engine) Databases() []Database { return e.databases() }

// Database is a database with its options.
type Database struct {
	Name    string
	Options []schema.Option
}

// CreateDatabase makes a database; DatabaseAlreadyExists.
func (e *Engine) CreateDatabase(ctx context.Context, d Database) error {
	return e.during(func() error { return e.createDatabase(ctx, d) })
}

// AlterDatabase replaces a database's options; DatabaseNotFound.
func (e *Engine) AlterDatabase(ctx context.Context, d Database) error {
	return e.during(func() error { return e.alterDatabase(ctx, d) })
}

// DropDatabase drops a database with its tables; DatabaseNotFound.
func (e *Engine) DropDatabase(ctx context.Context, name string) error {
	return e.during(func() error { return e.dropDatabase(ctx, name) })
}

// CreateTable makes a table. Ids are given here: t's ids and version are ignored. TableAlreadyExists,
// DatabaseNotFound.
func (e *Engine) CreateTable(ctx context.Context, t *schema.Table) (*Table, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	return e.createTable(ctx, t)
}

// Alter publishes the schema that change makes of the current one (same table id). change may be called again when
// another change came in between. A new name in it renames the table.
func (e *Engine) Alter(ctx context.Context, n schema.Name, change func(*schema.Table) (*schema.Table, error)) error {
	return e.during(func() error { return e.alter(ctx, n, change) })
}

// DropTables drops tables: all of them or, when one is missing, none.
func (e *Engine) DropTables(ctx context.Context, names []schema.Name) error {
	return e.during(func() error { return e.dropTables(ctx, names) })
}

// Truncate removes all rows of a table.
func (e *Engine) Truncate(ctx context.Context, n schema.Name) error {
	return e.during(func() error { return e.truncate(ctx, n) })
}

// Flush writes all rows of a table that are in memory into parts.
func (e *Engine) Flush(ctx context.Context, n schema.Name) error {
	return e.during(func() error { return e.flush(ctx, n) })
}

// Compact merges the parts of a table as far as its rules want it.
func (e *Engine) Compact(ctx context.Context, n schema.Name) error {
	return e.during(func() error { return e.compact(ctx, n) })
}

// BuildIndexes writes the parts of a table anew with the indexes that its schema asks for.
func (e *Engine) BuildIndexes(ctx context.Context, n schema.Name) error {
	return e.during(func() error { return e.buildIndexes(ctx, n) })
}

// Request is what a reader wants of a table.
type Request struct {
	Table   *Table
	Columns []schema.ColumnID
	Time    scan.Range
	Filter  filter.And
	// Newest asks for pieces newest first.
	Newest bool
	// Stats counts what the scan did; may be nil.
	Stats *scan.Stats
}

// Scan is a pinned snapshot of a table handed out as pieces of work. Close unpins. Cursor is safe for concurrent use.
type Scan struct{ tableScan }

// Scan pins the table's rows as they are now. Columns come out in the order of r.Columns with the types of
// r.Table.Schema; expired rows, replaced rows and deleted rows do not come out; r.Filter has been applied.
func (e *Engine) Scan(ctx context.Context, r Request) (*Scan, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	return e.scan(ctx, r)
}

// Cursor gives the next piece of work with the span of times it can hold; ok is false when none is
// left. With Newest, pieces come by falling Span.To, so that a reader with enough rows newer than every remaining
// piece can stop. The caller closes the cursor.
func (s *Scan) Cursor() (c scan.Cursor, span scan.Range, ok bool, err error) { return s.next() }

// Narrow has the scan ask f before each piece of work for conditions that wanted rows pass besides the request's filter. They
// are on columns of the request and may change from piece to piece; rows that fail them may come all the same. Call it before the first Cursor;
// f is called by many goroutines.
func (s *Scan) Narrow(f func() filter.And) { s.narrower = f }

// Series is the merged walk over the i'th of n disjoint ranges of series keys.
func (s *Scan) Series(i, n int) (scan.Series, error) { return s.series(i, n) }

// Stat answers count, min and max of a column over the whole snapshot from statistics, when that is exact: no filter,
// no time restriction that cuts a run, append-only. ok false: scan instead.
func (s *Scan) Stat(c schema.ColumnID) (st scan.ColumnStat, ok bool) { return s.stat(c) }

// Rows is the number of rows in the snapshot before filters, or an upper bound of it.
func (s *Scan) Rows() int { return s.rowBound() }

// Close unpins the snapshot.
func (s *Scan) Close() { s.unpin() }

// Wait waits until parts are open and the log is replayed; an error says why they will not be.
func (e *Engine) Wait(ctx context.Context) error { return e.wait(ctx) }

// Ready is nil when rows can be read and written; otherwise a RegionNotReady that says why not.
func (e *Engine) Ready() error { return e.readiness() }

// Recovery says what Open found; nothing before the store is ready.
func (e *Engine) Recovery() Recovery { return e.recovery() }

// HeldBytes is the memory that is held for long: the cache of decoded blocks and the keys of series.
func (e *Engine) HeldBytes() int64 { return e.cache.Bytes() + e.seriesBytes.Load() }

// SetAside lists damaged files that are not served, those found after Open included.
func (e *Engine) SetAside() []SetAside { return e.setAside() }

// PartInfo describes one part of a table, for information_schema and /status.
type PartInfo struct {
	Table      schema.TableID
	File       string
	Bytes      int64
	Rows       int
	Min, Max   int64 // time span, both inclusive
	IndexBytes int64
	Columns    []sst.ColumnMeta
}

// TableStats are the sizes of a table.
type TableStats struct {
	Rows, MemtableRows       int64
	DiskBytes, MemtableBytes int64
	IndexBytes               int64
	// IndexTime is the work that the indexes of the parts have cost, merges before included.
	IndexTime time.Duration
	Parts     []PartInfo
}

// Stats gives the sizes of a table. Bytes and parts of logical tables are those of their physical table.
func (t *Table) Stats() TableStats { return t.stats() }

// Close stops background work, syncs the log and releases the directory. With flush, memtables go to parts first as
// far as ctx allows; nothing acknowledged is lost either way.
func (e *Engine) Close(ctx context.Context, flush bool) error { return e.close(ctx, flush) }
