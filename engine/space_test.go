package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// until calls f until it is true, at most for a minute.
func until(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within a minute", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

// bulky is a row that takes a thousand bytes wherever it is.
func bulky(r *rand.Rand, at int) modelRow {
	text := make([]byte, 1000)
	for i := range text {
		text[i] = byte(' ' + r.IntN(90))
	}
	return modelRow{"ts": int64(at), "s": string(text)}
}

// fillDisk writes until that is refused, and gives the number of rows that were taken.
func fillDisk(t *testing.T, e *Engine, tables int) (rows int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 1 << 20 {
		err := put(e, fmt.Sprint("t", i%tables), appendOnly, []modelRow{bulky(r, i)})
		if status.Of(err) == status.StorageUnavailable {
			return i
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the disk does not fill")
	return 0
}

// onSmallDisk are options of a store that works in the background on disks of 2 MiB.
func onSmallDisk(disk *vfs.Mem, dirs ...string) Options {
	for _, dir := range dirs {
		disk.SetRoom(dir, 2<<20)
	}
	o := testOptions(disk)
	o.NoBackground, o.Now, o.WALFileSize, o.FlushBytes = false, time.Now, 1<<30, 1<<30
	return o
}

// TestFullDiskIsCured fills the disk, drops all tables, and writes again: the log, whose one segment holds rows of
// nobody, gives its room back without a restart. With storage.min_free, and without, where the log itself finds no
// room.
func TestFullDiskIsCured(t *testing.T) {
	for _, free := range []int64{512 << 10, -1} {
		t.Run(fmt.Sprint("min_free=", free), func(t *testing.T) {
			disk := vfs.NewMem()
			o := onSmallDisk(disk, "/data")
			o.MinFree, o.Ballast, o.NoBackground = free, 128<<10, true
			e := mustOpen(t, o)
			fillDisk(t, e, 2)
			mustClose(t, e)
			o.NoBackground = false
			e = mustOpen(t, o)
			if err := e.DropTables(ctx, []schema.Name{public("t0"), public("t1")}); err != nil {
				t.Fatal(err)
			}
			row := []modelRow{{"ts": int64(1), "s": strings.Repeat("large", 50<<10)}}
			until(t, "writing after all was dropped", func() bool { return put(e, "later", appendOnly, row) == nil })
			if err := e.Ready(); err != nil {
				t.Errorf("ready: %v", err)
			}
			if size := e.log.Size(); size > 512<<10 {
				t.Errorf("the log still has %d bytes", size)
			}
			mustClose(t, e)
			e = mustOpen(t, o)
			if lines, err := scanTable(e, public("later"), everything); err != nil || len(lines) != 1 {
				t.Errorf("after a start: %v, %v", lines, err)
			}
			if aside := e.SetAside(); len(aside) > 0 {
				t.Errorf("set aside: %v", aside)
			}
			mustClose(t, e)
		})
	}
}

// TestFullDiskOfTheLog fills a disk of the log's own: rows go into parts, the log is cut, and writes are taken again by
// themselves. No row that was acknowledged is lost, by a crash neither.
func TestFullDiskOfTheLog(t *testing.T) {
	disk := vfs.NewMem()
	o := onSmallDisk(disk, "/log")
	o.WALDir, o.MinFree, o.NoBackground = "/log", -1, true
	e := mustOpen(t, o)
	rows := fillDisk(t, e, 3)
	if err := e.Ready(); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("ready on a full disk of the log: %v", err)
	}
	count := func() (n int) {
		for i := range 3 {
			lines, err := scanTable(e, public(fmt.Sprint("t", i)), everything)
			if err != nil {
				t.Fatal(err)
			}
			n += len(lines)
		}
		return n
	}
	crashed := disk.Crash(rand.New(rand.NewPCG(2, 2)))
	o.FS, o.NoBackground = crashed, false
	e = mustOpen(t, o)
	row := []modelRow{{"ts": int64(1), "s": "after"}}
	until(t, "writing again", func() bool { return put(e, "t0", appendOnly, row) == nil })
	if n := count(); n < rows+1 || n > rows+2 { // what was refused may be there
		t.Errorf("%d rows are there, %d were acknowledged", n, rows+1)
	}
	// With room for it the log is cut before it is full.
	o.MinFree = 1 << 30
	mustClose(t, e)
	e = mustOpen(t, o)
	r := rand.New(rand.NewPCG(3, 3))
	for i := range 4000 {
		until(t, "a write", func() bool { return put(e, "t0", appendOnly, []modelRow{bulky(r, i)}) == nil })
	}
	if n := count(); n < rows+4001 {
		t.Errorf("%d rows are there, %d were acknowledged", n, rows+4001)
	}
	mustClose(t, e)
}

// TestReadyLooksAtFiles: who asks whether the store can be written to learns of a directory that is gone, and of one
// that is read-only.
func TestReadyLooksAtFiles(t *testing.T) {
	dir := t.TempDir()
	o := testOptions(vfs.OS())
	o.Dir = dir
	e := mustOpen(t, o)
	defer func() { _ = e.Close(ctx, false) }()
	if err := e.Ready(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MANIFEST", "parts", "wal"} {
		if err := os.Rename(dir+"/"+name, dir+"/x"); err != nil {
			t.Fatal(err)
		}
		if err := e.Ready(); status.Of(err) != status.RegionNotReady || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.Rename(dir+"/x", dir+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Ready(); err != nil {
		t.Errorf("with all again: %v", err)
	}
	e.space.fs = readOnly{o.FS, e.o.WALDir}
	if err := e.Ready(); status.Of(err) != status.RegionNotReady ||
		!strings.Contains(err.Error(), "read-only file system") {
		t.Errorf("read-only: %v", err)
	}
}

// readOnly is a file system with a directory to which nothing can be written.
type readOnly struct {
	vfs.FS
	dir string
}

func (f readOnly) Writable(dir string) error {
	if dir == f.dir {
		return &os.PathError{Op: "write", Path: dir, Err: syscall.EROFS}
	}
	return f.FS.Writable(dir)
}

// TestAwaitWritable: who waits goes on when the store can be written to, and gives up with its context.
func TestAwaitWritable(t *testing.T) {
	d, disk := aloneDoor(t)
	if !d.space.awaitWritable(ctx, time.Hour) {
		t.Error("a store that can be written to was not awaited")
	}
	disk.SetReadOnly("data", true)
	now := time.Now()
	d.space.now = func() time.Time { now = now.Add(spaceCheck); return now }
	over, cancel := context.WithCancel(ctx)
	cancel()
	if d.space.awaitWritable(over, time.Hour) {
		t.Error("a read-only store was awaited with a context that is over")
	}
	goes := make(chan bool)
	go func() { goes <- d.space.awaitWritable(ctx, time.Millisecond) }()
	disk.SetReadOnly("data", false)
	if !<-goes {
		t.Error("a store that can be written to again was not awaited")
	}
}
