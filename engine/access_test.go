package engine

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

// TestModes: nobody but the server's user and its group reads files of the store, of whatever kind.
func TestModes(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	o := testOptions(vfs.OS())
	o.Dir, o.Ballast = filepath.Join(t.TempDir(), "data"), 1<<10
	e := mustOpen(t, o)
	writeMany(t, e, public("log"), appendOnly, 0, 10)
	if err := e.Flush(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Backups().Make(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	kinds := map[string]bool{}
	err := filepath.WalkDir(o.Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := vfs.FileMode
		if d.IsDir() {
			want = vfs.DirMode | fs.ModeDir
		}
		if info.Mode() != want {
			t.Errorf("%s: mode %v, want %v", name, info.Mode(), want)
		}
		kinds[filepath.Ext(name)+strings.TrimLeft(filepath.Base(name), "0123456789.")] = true
		return nil
	})
	if err != nil || len(kinds) < 7 {
		t.Errorf("%v %v", kinds, err)
	}
}

// TestForbidden: a directory that may not be written to is not taken for one that is in use, and the error says the way
// out.
func TestForbidden(t *testing.T) {
	o := testOptions(vfs.WithFaults(vfs.NewMem(), func(op vfs.Op, name string) error {
		if op == vfs.OpMkdir {
			return &os.PathError{Op: "mkdir", Path: name, Err: syscall.EACCES}
		}
		return nil
	}))
	_, err := Open(o)
	if err == nil || strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), "permission denied") ||
		!strings.Contains(err.Error(), "chown -R") {
		t.Errorf("%v", err)
	}
	if err := lockError("/d", &os.PathError{Op: "open", Path: "/d/LOCK", Err: syscall.EACCES}); strings.Contains(
		err.Error(), "in use") || !strings.Contains(err.Error(), "chown -R") {
		t.Errorf("%v", err)
	}
	o.FS = vfs.NewMem()
	e := mustOpen(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "in use by another server") {
		t.Errorf("%v", err)
	}
	mustClose(t, e)
}

// TestMinFree: what is set holds, none as well.
func TestMinFree(t *testing.T) {
	for given, want := range map[int64]int64{0: 256 << 20, -1: 0, 1 << 20: 1 << 20} {
		if got := (Options{MinFree: given}).withDefaults().MinFree; got != want {
			t.Errorf("MinFree %d acts as %d, want %d", given, got, want)
		}
	}
}

// TestReady: neither at the start, nor on a full disk, nor at the end.
func TestReady(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	o.MinFree = 1 << 20
	now := time.Unix(1_700_000_000, 0)
	o.Now = func() time.Time { return now }
	mustClose(t, mustOpen(t, o))
	gate := make(chan struct{})
	o.FS = vfs.WithFaults(disk, func(op vfs.Op, name string) error {
		if op == vfs.OpList && name == "/data/parts" {
			<-gate
		}
		return nil
	})
	o.InBackground = true
	e := mustOpen(t, o)
	check := func(when, want string) {
		t.Helper()
		err := e.Ready()
		if want == "" && err != nil || want != "" &&
			(status.Of(err) != status.RegionNotReady || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", when, err)
		}
	}
	check("starting", "starting")
	close(gate)
	if err := e.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	check("started", "")
	disk.SetFree(0)
	now = now.Add(time.Second)
	check("full", "nearly full")
	disk.SetFree(1 << 40)
	now = now.Add(time.Second)
	check("with room", "")
	mustClose(t, e)
	check("closed", "shutting down")
}

// TestReadyWithoutMinFree: with storage.min_free = 0 a disk is full when the log finds no room, whatever the system
// says is free: a quota or a disk of the log's own may be. Writing resumes as soon as there is some.
func TestReadyWithoutMinFree(t *testing.T) {
	disk := vfs.NewMem()
	now := time.Unix(1_700_000_000, 0)
	o := testOptions(disk)
	o.Now, o.MinFree = func() time.Time { return now }, -1
	var full atomic.Bool
	o.FS = vfs.WithFaults(disk, func(op vfs.Op, name string) error {
		if full.Load() && (op == vfs.OpWrite || op == vfs.OpCreate) {
			return &os.PathError{Op: string(op), Path: name, Err: vfs.ErrNoSpace}
		}
		return nil
	})
	e := mustOpen(t, o)
	defer mustClose(t, e)
	for _, c := range []struct {
		name           string
		full           bool
		free           uint64
		written, ready bool
	}{
		{"room", false, 1 << 40, true, true},
		{"room of which the system knows nothing", false, 0, true, true},
		{"full", true, 0, false, false},
		{"full by a quota", true, 1 << 40, false, false},
		{"room again", false, 0, true, true},
	} {
		full.Store(c.full)
		disk.SetFree(c.free)
		now = now.Add(time.Second)
		if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); (err == nil) != c.written ||
			err != nil && status.Of(err) != status.StorageUnavailable {
			t.Errorf("%s: a write: %v", c.name, err)
		}
		if err := e.Ready(); (err == nil) != c.ready || err != nil &&
			(status.Of(err) != status.RegionNotReady || !strings.Contains(err.Error(), "the disk is full")) {
			t.Errorf("%s: ready: %v", c.name, err)
		}
	}
}

// TestReadyAfterAStartWithoutRoom: who asks after a start on a full disk learns of it before the first write does, with
// storage.min_free = 0 too, and of the room that comes. What a system says that knows nothing of its room is not
// believed.
func TestReadyAfterAStartWithoutRoom(t *testing.T) {
	disk := vfs.NewMem()
	now := time.Unix(1_700_000_000, 0)
	o := testOptions(disk)
	o.Now, o.MinFree = func() time.Time { return now }, -1
	var full atomic.Bool
	o.FS = vfs.WithFaults(disk, func(op vfs.Op, name string) error {
		if full.Load() && op == vfs.OpWrite {
			return &os.PathError{Op: string(op), Path: name, Err: vfs.ErrNoSpace}
		}
		return nil
	})
	e := mustOpen(t, o)
	if err := put(e, "t", lastRow, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	disk.SetFree(0)
	for _, is := range []bool{true, false} {
		full.Store(is)
		e = mustOpen(t, o)
		if err := e.Ready(); (err != nil) != is || is && !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("full %v: %v", is, err)
		}
		full.Store(false)
		disk.SetFree(1 << 20)
		now = now.Add(time.Second)
		if err := e.Ready(); err != nil {
			t.Errorf("with room: %v", err)
		}
		mustClose(t, e)
		disk.SetFree(0)
		if names, err := disk.List(o.Dir); err != nil || slices.Contains(names, probeName) {
			t.Errorf("the directory has %v, %v", names, err)
		}
	}
}

// TestDropBackup: backups go when they are told to, those that failed at once, and forgotten snapshots after a day.
func TestDropBackup(t *testing.T) {
	dir := t.TempDir()
	broken := false
	o := testOptions(vfs.WithFaults(vfs.OS(), func(op vfs.Op, name string) error {
		if broken && op == vfs.OpCreate && strings.Contains(name, "MANIFEST") {
			return &os.PathError{Op: "create", Path: name, Err: syscall.EIO}
		}
		return nil
	}))
	o.Dir = dir
	now := time.Unix(1_700_000_000, 0).UTC()
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	writeMany(t, e, public("log"), appendOnly, 0, 10)
	backups := func() string {
		names, err := filepath.Glob(dir + "/backups/*")
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range names {
			names[i] = filepath.Base(n)
		}
		return strings.Join(names, " ")
	}
	old, fresh := SnapshotPrefix+now.Add(-25*time.Hour).Format(SnapshotTime),
		SnapshotPrefix+now.Add(-time.Hour).Format(SnapshotTime)
	for _, n := range []string{"a", "b", "snapshot-mine", old, fresh} {
		if _, err := e.Backups().Make(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Backups().Drop(ctx, "b"); err != nil {
		t.Error(err)
	}
	for _, n := range []string{"b", "../parts", ""} {
		if err := e.Backups().Drop(ctx, n); status.Of(err) != status.InvalidArguments {
			t.Errorf("dropping %q: %v", n, err)
		}
	}
	broken = true
	if _, err := e.Backups().Make(ctx, "failed"); err == nil {
		t.Error("the backup did not fail")
	}
	broken = false
	mustClose(t, e)
	e = mustOpen(t, o)
	if got, want := backups(), "a "+fresh+" snapshot-mine"; got != want {
		t.Errorf("there are %s, want %s", got, want)
	}
	mustClose(t, e)
}

// TestDenied starts where the rights for one call after the other are missing: a start that fails says what to do.
func TestDenied(t *testing.T) {
	disk, random := vfs.NewMem(), rand.New(rand.NewPCG(1, 1))
	e := mustOpen(t, testOptions(disk))
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	failed := 0
	for call := 0; ; call++ {
		n, what := 0, ""
		disk = disk.Crash(random)
		o := testOptions(vfs.WithFaults(disk, func(op vfs.Op, name string) error {
			if n++; n-1 != call {
				return nil
			}
			what = fmt.Sprint(op, " ", name)
			return &os.PathError{Op: string(op), Path: name, Err: syscall.EACCES}
		}))
		e, err := Open(o)
		if err == nil {
			mustClose(t, e)
			if what == "" {
				break
			}
			continue
		}
		if failed++; !strings.Contains(err.Error(), "chown -R") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if failed == 0 {
		t.Error("no start failed")
	}
}
