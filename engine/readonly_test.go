package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// lines is a log that tests read while it is written. Safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// troubles are the lines but for those of work that was done, as some may have begun before.
func (l *lines) troubles() (all string) {
	for line := range strings.Lines(l.String()) {
		if !strings.Contains(line, "msg=flushed") && !strings.Contains(line, "msg=merged") {
			all += line
		}
	}
	return all
}

// logger writes all levels to lines.
func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// refusedCalls are the outcomes of all calls of the public face that change something, on a store that has table t0.
func refusedCalls(e *Engine) map[string]error {
	n := public("t0")
	t := &schema.Table{Name: public("more"),
		Columns: []schema.Column{{Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}}}
	_, create := e.CreateTable(ctx, t)
	_, draft := e.CreateDraft(ctx, t)
	_, deleted := e.Delete(ctx, &schema.Table{Name: public("t1")}, &vector.Batch{})
	_, backup := e.Backups().Make(ctx, "b")
	_, errs, series := e.Series(ctx, &SeriesRequest{Names: []SeriesName{{Table: public("series")}}})
	return map[string]error{
		"write":                put(e, "t0", appendOnly, []modelRow{{"ts": int64(1)}}),
		"write to a new table": put(e, "other", appendOnly, []modelRow{{"ts": int64(1)}}),
		"delete":               deleted, "create table": create, "create draft": draft,
		"publish draft":   e.PublishDraft(ctx, n, true),
		"alter":           e.Alter(ctx, n, commented),
		"truncate":        e.Truncate(ctx, n),
		"drop tables":     e.DropTables(ctx, []schema.Name{n}),
		"create database": e.CreateDatabase(ctx, Database{Name: "d"}),
		"alter database":  e.AlterDatabase(ctx, Database{Name: "public"}), "drop database": e.DropDatabase(ctx, "d"),
		"flush": e.Flush(ctx, n), "compact": e.Compact(ctx, n), "build indexes": e.BuildIndexes(ctx, n),
		"backup": backup, "drop backup": e.Backups().Drop(ctx, "b"), "series": errors.Join(append(errs, series)...),
	}
}

// commented is a table with another comment.
func commented(t *schema.Table) (*schema.Table, error) {
	next := *t
	next.Options.Comment = "changed"
	return &next, nil
}

// checkRefused checks that a store refuses every change with the one error, and answers queries.
func checkRefused(t *testing.T, e *Engine, want, why string) {
	t.Helper()
	for what, err := range refusedCalls(e) {
		if status.Of(err) != status.RegionReadonly ||
			!strings.Contains(fmt.Sprint(err), "the store is read-only: the file system of "+why) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := e.ReadOnly(); err == nil || strings.Contains(err.Error(), "/data") { // clients see it
		t.Errorf("read-only: %v", err)
	}
	if err := e.Ready(); status.Of(err) != status.RegionNotReady ||
		!strings.Contains(err.Error(), "the store is read-only") {
		t.Errorf("ready: %v", err)
	}
	if got, err := dump(e); err != nil || got != want {
		t.Errorf("%v\n%s", err, difference(got, want))
	}
	tab, err := e.Table(public("t0"))
	if err != nil {
		t.Fatal(err)
	}
	same := func(t *schema.Table) (*schema.Table, error) { return t, nil }
	if err := e.Alter(ctx, public("t0"), same); err != nil {
		t.Errorf("alter that changes nothing: %v", err)
	}
	if _, err := e.CreateTable(ctx, tab.Schema); status.Of(err) != status.TableAlreadyExists {
		t.Errorf("create table that is there: %v", err)
	}
}

// lying is a file system that is read-only and says that it can be written to, as one does that the system found at
// fault.
type lying struct{ vfs.FS }

func (lying) Writable(string) error { return nil }

// TestReadOnly opens a store whose directory, or that of its log, is on a read-only file system: all that was
// acknowledged is read, what is in the log alone included, every change is refused, and no file is changed. Several may
// read; nobody writes meanwhile. Later the store can be written to again.
func TestReadOnly(t *testing.T) {
	for _, c := range []struct {
		name, walDir, still, why string
		lies                     bool
	}{
		{"all", "", "/data", "the data directory is", false},
		{"all, and it is not said", "", "/data", "the data directory is", true},
		{"the log", "/log", "/log", "the log is", false},
		{"all but the log", "/log", "/data", "the data directory is", false},
		{"the parts", "", "/data/parts", "the parts is", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := vfs.NewMem()
			o := testOptions(disk)
			o.WALDir = c.walDir
			want := lostStore(t, o)
			// of a crash
			left := map[string]string{"/data/parts/00009999.part.tmp": "", "/data/parts/00009998.part": ""}
			for name, text := range left {
				f, err := disk.Create(name)
				if err == nil {
					_, err = f.Write([]byte(text))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			disk.SetReadOnly(c.still, true)
			files := disk.Files()
			var log lines
			o.NoBackground, o.Ballast, o.Logger = false, 1<<10, log.logger()
			if c.lies {
				o.FS = lying{disk}
			}
			e := mustOpen(t, o)
			checkRefused(t, e, want, c.why)
			second := mustOpen(t, o)
			checkRefused(t, second, want, c.why)
			disk.SetReadOnly(c.still, false)
			if err := put(e, "t0", appendOnly, []modelRow{{"ts": int64(1)}}); status.Of(err) != status.RegionReadonly ||
				!strings.Contains(err.Error(), "start the server again") {
				t.Errorf("once it can be written to: %v", err)
			}
			if _, err := Open(o); !errors.Is(err, vfs.ErrLocked) {
				t.Errorf("somebody writes while others read: %v", err)
			}
			for _, e := range []*Engine{e, second} {
				if err := e.Close(ctx, true); err != nil {
					t.Errorf("close: %v", err)
				}
			}
			if now := disk.Files(); now != files {
				t.Errorf("files were\n%sand are\n%s", files, now)
			}
			if said := strings.Count(log.String(), "the store is read-only"); said != 2 {
				t.Errorf("it is said %d times by two stores:\n%s", said, log.String())
			}
			if strings.Contains(log.String(), "level=ERROR") || strings.Count(log.String(), "level=WARN") != 2 {
				t.Error(log.String())
			}
			o.Logger = nil
			e = mustOpen(t, o)
			if err := put(e, "t0", appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
				t.Error(err)
			}
			mustClose(t, e)
		})
	}
}

// TestReadOnlyWithoutStore: where there is nothing to read, or not enough memory for it, the error says so.
func TestReadOnlyWithoutStore(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	if err := disk.MkdirAll("/data"); err != nil {
		t.Fatal(err)
	}
	disk.SetReadOnly("/data", true)
	if _, err := Open(o); err == nil ||
		!strings.Contains(err.Error(), "/data holds no store, and none can be created there: read-only file system") {
		t.Errorf("an empty directory: %v", err)
	}
	disk.SetReadOnly("/data", false)
	want := lostStore(t, o)
	disk.SetReadOnly("/data", true)
	files := disk.Files()
	for _, background := range []bool{false, true} {
		o.MemtableLimit, o.InBackground = 1<<10, background
		e, err := Open(o)
		if background {
			err = e.Wait(ctx)
			mustClose(t, e)
		}
		if err == nil || !strings.Contains(err.Error(), "do not fit into memory") ||
			!strings.Contains(err.Error(), "storage.memtable_limit") {
			t.Errorf("with little memory: %v", err)
		}
	}
	o.MemtableLimit, o.InBackground = 0, false
	e := mustOpen(t, o)
	checkRefused(t, e, want, "the data directory is")
	mustClose(t, e)
	if now := disk.Files(); now != files {
		t.Errorf("files were\n%sand are\n%s", files, now)
	}
}

// TestReadOnlyBackup: a backup can be looked into where it lies. It has no log and no locks.
func TestReadOnlyBackup(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	lostStore(t, o)
	e := mustOpen(t, o)
	if _, err := e.Backups().Make(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	want := closedDump(t, e)
	disk.SetReadOnly("/data/backups", true)
	o.Dir = "/data/backups/b"
	e = mustOpen(t, o)
	if got := closedDump(t, e); got != want {
		t.Error(difference(got, want))
	}
}

// watched counts how often somebody looks whether a file system can be written to. It lies, as one does that the system
// found at fault, if it is told to.
type watched struct {
	vfs.FS
	lies  bool
	looks *atomic.Int64
}

func (w watched) Writable(dir string) error {
	w.looks.Add(1)
	if w.lies {
		return nil
	}
	return w.FS.Writable(dir)
}

// TestTurnsReadOnly lets the file system become read-only under a store at work, whether it says so or not: writes are
// refused, reading goes on, and nothing in the background fails again and again.
func TestTurnsReadOnly(t *testing.T) {
	for _, c := range []struct {
		name, still string
		lies, crash bool
	}{
		{"and is writable again", "/data", false, false},
		{"without saying so, and is writable again", "/data", true, false},
		{"for the log", "/data/wal", true, false}, {"for parts", "/data/parts", true, false},
		{"and crashes", "/data", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			disk := vfs.NewMem()
			var log lines
			var looks atomic.Int64
			o := testOptions(disk)
			o.NoBackground, o.Now, o.FlushAge, o.Logger = false, time.Now, time.Millisecond, log.logger()
			o.FS = watched{disk, c.lies, &looks}
			e := mustOpen(t, o)
			for i := range 20 {
				writeMany(t, e, public(fmt.Sprint("t", i%3)), appendOnly, int64(i*100), 100)
			}
			disk.SetReadOnly(c.still, true)
			until(t, "a write that is refused", func() bool {
				return status.Of(writeLate(e, 9_000)) == status.RegionReadonly
			})
			want, err := dump(e)
			if err != nil {
				t.Fatal(err)
			}
			checkRefused(t, e, want, "")
			said, before := log.troubles(), looks.Load()
			until(t, "further looks", func() bool { return looks.Load() > before+20 })
			if now := log.troubles(); now != said || strings.Count(said, "\n") != 1 ||
				!strings.Contains(said, "the store is read-only") {
				t.Errorf("the log:\n%s", now)
			}
			if c.crash {
				disk = disk.Crash(rand.New(rand.NewPCG(1, 1)))
				_ = e.Close(ctx, true)
				o.FS = disk
			} else {
				want = resume(t, e, disk, c.still)
				if !strings.Contains(log.String(), "the store is writable again") {
					t.Errorf("the log:\n%s", log.String())
				}
			}
			disk.SetReadOnly(c.still, false)
			e = mustOpen(t, o)
			if got := closedDump(t, e); got != want {
				t.Error(difference(got, want))
			}
		})
	}
}

// writeLate writes one row.
func writeLate(e *Engine, at int64) error {
	return put(e, "t0", appendOnly, []modelRow{{"ts": at, "s": "late"}})
}

// resume lets a directory be written to again, and gives what is in the store after it has gone on and closed.
func resume(t *testing.T, e *Engine, disk *vfs.Mem, still string) string {
	t.Helper()
	disk.SetReadOnly(still, false)
	until(t, "writing again", func() bool { return writeLate(e, 9_999) == nil })
	until(t, "being ready", func() bool { return e.Ready() == nil })
	for i := range 3 {
		if err := e.Flush(ctx, public(fmt.Sprint("t", i))); err != nil {
			t.Error(err)
		}
	}
	if got, err := scanTable(e, public("t0"), query{time: scan.Range{From: 9_999, To: 9_999}}); err != nil ||
		len(got) != 1 {
		t.Errorf("%v %v", got, err)
	}
	return closedDump(t, e)
}
