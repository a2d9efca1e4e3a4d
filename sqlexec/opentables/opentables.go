// Package opentables writes tables as Apache Iceberg tables for other engines: Parquet files and metadata in a bucket,
// a day of rows at a time.
//
//	opentables.go  options, the exporter and its passes
//	table.go       what is kept of one table, and its commits
//	days.go        which days are to be written
//	write.go       writing a day
//	columns.go     columns of the table as columns of Iceberg
//	parquet.go     Parquet files
//	zstd.go        compression of pages
//	values.go      values of a batch as those of Parquet, with their bounds
//	sum.go         the sum over the content of rows by which days are compared
//	sweep.go       removing files that no snapshot needs
//	catalog.go     what a catalog says of tables
//	figures.go     figures for /metrics
//
// # Where files lie
//
// A table has a directory, STORE/DATABASE/ID, so that neither two servers nor a table that was made anew share one, and
// a table that is renamed keeps its own:
//
//	data/day=2026-11-28/NAME.parquet   rows of one day
//	metadata/NAME.avro                 a manifest, or a manifest list
//	metadata/state-N-NAME.json         which days version N has, and how columns map: ours
//	metadata/vN.metadata.json          version N of the table
//
// # A commit
//
// All other files are there before vN.metadata.json is, which names them. It is created, never replaced, so that it
// appears whole or not at all and of two writers one wins: that is the commit. A process that ends before leaves files
// that nothing names, which a sweep removes; one that ends after has committed, and the next process reads so in the
// state. A window is one commit, so it is there once whatever happens.
package opentables

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"varve/engine"
	"varve/engine/bucket"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/exec"
)

// What Options are without a setting.
const (
	DefaultPeriod     = time.Minute
	DefaultKeep       = 7 * 24 * time.Hour
	DefaultMaxColumns = 1000
)

// Options of an Exporter.
type Options struct {
	Engine *engine.Engine
	Bucket bucket.Bucket
	// TempDir is where files are written before they go to the bucket. It is the exporter's own.
	TempDir string
	// CloseAfter is how long after its end a day is written.
	CloseAfter time.Duration
	// RewriteEvery is the least time between two looks at a day that was written; 0: every pass looks.
	RewriteEvery time.Duration
	// Period is the pause between passes. Default: DefaultPeriod.
	Period time.Duration
	// Keep is how long snapshots are kept that are no longer current, and the age from which on files go that nothing
	// names. Default: DefaultKeep.
	Keep time.Duration
	// MaxColumns is how many columns a table has; values of further ones go into a map. Default: DefaultMaxColumns.
	MaxColumns int
	// Memory is what exports and queries together may keep; nil: exports have some of their own.
	Memory *exec.Pool
	Now    func() time.Time
	Logger *slog.Logger
}

// Exporter writes tables with the option open_format. Safe for concurrent use.
type Exporter struct {
	o      Options
	cancel context.CancelFunc
	done   chan struct{}
	totals totals

	mu     sync.Mutex // protects what follows
	tables map[schema.TableID]*table
	told   time.Time // when it was last logged that passes fail
}

// remindPeriod is how often the log says that exports still fail.
const remindPeriod = time.Hour

// New makes an exporter, which does nothing before Start. What an earlier process left in TempDir is removed.
func New(o Options) (*Exporter, error) {
	set := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	set(&o.Period, DefaultPeriod)
	set(&o.Keep, DefaultKeep)
	if o.MaxColumns == 0 {
		o.MaxColumns = DefaultMaxColumns
	}
	if o.Memory == nil {
		o.Memory = exec.NewPool(0)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.TempDir, 0o700); err != nil {
		return nil, err
	}
	old, err := filepath.Glob(filepath.Join(o.TempDir, "*"+tempSuffix))
	if err != nil {
		return nil, err
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return &Exporter{o: o, tables: map[schema.TableID]*table{}, done: make(chan struct{})}, nil
}

// tempSuffix ends the names of files on their way to the bucket.
const tempSuffix = ".parquet.tmp"

// Start begins to write days as they close, in the background, until Close.
func (x *Exporter) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	go func() {
		defer close(x.done)
		clock := time.NewTicker(x.o.Period)
		defer clock.Stop()
		for {
			if err := x.Pass(ctx); err != nil && ctx.Err() == nil {
				x.tell(err)
			}
			select {
			case <-ctx.Done():
				return
			case <-clock.C:
			}
		}
	}()
}

// Close ends what Start began and waits for it.
func (x *Exporter) Close() {
	if x == nil || x.cancel == nil {
		return
	}
	x.cancel()
	<-x.done
}

// tell logs that a pass failed, once an hour.
func (x *Exporter) tell(err error) {
	x.mu.Lock()
	now := x.o.Now()
	due := now.Sub(x.told) >= remindPeriod
	if due {
		x.told = now
	}
	x.mu.Unlock()
	if due {
		x.o.Logger.Error("open tables: what failed is tried again", "bucket", x.o.Bucket.String(), "error", err)
	}
}

// Pass writes the days of all tables that are closed and not written, or have other rows by now. A table that fails
// keeps no other from its turn.
func (x *Exporter) Pass(ctx context.Context) error {
	var failed error
	live := map[schema.TableID]bool{}
	for _, db := range x.o.Engine.Databases() {
		list, err := x.o.Engine.Tables(db.Name)
		if err != nil {
			continue // the database was dropped meanwhile
		}
		for _, t := range list {
			if x.o.Engine.Opens(t.Schema) != schema.OpenIceberg {
				continue
			}
			live[t.Schema.ID] = true
			if err := x.export(ctx, t, false); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !engine.Overtaken(err) {
					x.totals.failed()
					failed = errors.Join(failed, fmt.Errorf("table %s: %w", t.Schema.Name, err))
				}
			}
		}
	}
	x.forget(live)
	return failed
}

// forget lets go of what is kept of tables that are gone.
func (x *Exporter) forget(live map[schema.TableID]bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for id := range x.tables {
		if !live[id] {
			delete(x.tables, id)
		}
	}
}

// Export writes what a table has now, the current day included. InvalidArguments for a table without the option.
func (x *Exporter) Export(ctx context.Context, name schema.Name) error {
	if x == nil {
		return status.New(status.InvalidArguments, "open tables have no place to go: set open.url in the configuration")
	}
	t, err := x.o.Engine.Table(name)
	if err != nil {
		return err
	}
	if x.o.Engine.Opens(t.Schema) != schema.OpenIceberg {
		return status.New(status.InvalidArguments, "Table %s is no open table: ALTER TABLE %s SET 'open_format' = 'iceberg'",
			name, name.Table)
	}
	if err := x.o.Engine.Flush(ctx, name); err != nil {
		return err
	}
	if err := x.export(ctx, t, true); err != nil {
		x.totals.failed()
		return err
	}
	return nil
}

// fresh is a table as it is now. Call it with the table locked: who waited for that has an older schema, and by that a
// column that was added or widened meanwhile would go again. ErrDropped also after a renaming.
func (x *Exporter) fresh(t *schema.Table) (*engine.Table, error) {
	now, err := x.o.Engine.Table(t.Name)
	if err != nil || now.Schema.ID != t.ID {
		return nil, status.Wrap(engine.ErrDropped, status.TableNotFound, "Table not found: %s", t.Name)
	}
	return now, nil
}

// table is what is kept of a table.
func (x *Exporter) table(t *schema.Table) *table {
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.tables[t.ID]
	if k == nil {
		k = &table{x: x, dir: x.dirOf(t), busy: make(chan struct{}, 1), looked: map[int32]look{}}
		x.tables[t.ID] = k
	}
	return k
}

// dirOf is the directory of a table in the bucket. Bytes of names that objects cannot have are written as =XX.
func (x *Exporter) dirOf(t *schema.Table) string {
	return fmt.Sprintf("%s/%s/%d", x.o.Engine.Store(), escaped(t.Name.DB), t.ID)
}

// maxNamed is how many bytes of a database's name the directory shows; the ids of tables tell them apart.
const maxNamed = 80

func escaped(name string) string {
	var b strings.Builder
	for i, c := range []byte(name) {
		switch {
		case i >= maxNamed:
			return b.String()
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}
