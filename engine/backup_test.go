package engine

import (
	"fmt"
	"path"
	"strings"
	"sync"
	"testing"

	"varve/engine/manifest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// TestBackup: a backup opens as a store of its own, holds what was acknowledged before it, and is not touched by what
// the store does afterwards.
func TestBackup(t *testing.T) {
	fs := vfs.NewMem()
	e, err := Open(testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(3) {
		if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": 10 + i}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(e, "other", appendOnly, []modelRow{{"ts": int64(7), "v": int64(70)}}); err != nil {
		t.Fatal(err)
	}
	before, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Backups().Make(ctx, "monday")
	if err != nil {
		t.Fatal(err)
	}
	if b.Tables != 2 || b.Parts != 4 || b.Rows != 4 {
		t.Errorf("the backup has %s", b)
	}
	if _, err := e.Backups().Make(ctx, "monday"); status.Of(err) != status.InvalidArguments {
		t.Errorf("the same name again: %v", err)
	}
	for _, bad := range []string{"", ".", "..", "a/b", "-x", strings.Repeat("x", 200)} {
		if _, err := e.Backups().Make(ctx, bad); status.Of(err) != status.InvalidArguments {
			t.Errorf("name %q: %v", bad, err)
		}
	}
	if err := e.Compact(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	if err := e.DropTables(ctx, []schema.Name{public("other")}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)

	o := testOptions(fs)
	o.Dir, o.WALDir = b.Dir, ""
	if r, err := Check(CheckOptions{FS: fs, Dir: b.Dir, Deep: true}); err != nil || len(r.Faults)+len(r.Notes) > 0 ||
		r.Rows != 4 {
		t.Errorf("check of the backup: %+v, %v", r, err)
	}
	for round := range 2 { // what is written into a restored store is found again
		e, err = Open(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dump(e)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 && got != before {
			t.Errorf("the backup holds\n%s\nwant\n%s", got, before)
		}
		if round == 1 && got == before {
			t.Error("a write into the restored store is gone")
		}
		if err := put(e, "other", appendOnly, []modelRow{{"ts": int64(8), "v": int64(80)}}); err != nil {
			t.Fatal(err)
		}
		mustClose(t, e)
	}
}

// TestBackupUnderWrites takes backups while rows arrive and parts are merged: each holds at least what was acknowledged
// before it began, and each row once.
func TestBackupUnderWrites(t *testing.T) {
	fs := vfs.NewMem()
	e, err := Open(testOptions(fs))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop, turn := make(chan struct{}), make(chan int64, 1)
	wg.Go(func() {
		for i := int64(0); ; i++ {
			if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
				t.Error(err)
				return
			}
			if i%7 == 0 {
				if err := e.Flush(ctx, public("log")); err != nil {
					t.Error(err)
				}
			}
			if i%50 == 0 {
				if err := e.Compact(ctx, public("log")); err != nil {
					t.Error(err)
				}
			}
			select {
			case <-stop:
				return
			case turn <- i + 1:
			default:
				select {
				case <-turn:
				default:
				}
				turn <- i + 1
			}
		}
	})
	for k := range 10 {
		acknowledged := <-turn
		b, err := e.Backups().Make(ctx, fmt.Sprint("b", k))
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows < acknowledged {
			t.Errorf("backup %d has %d rows, %d were acknowledged before it", k, b.Rows, acknowledged)
		}
		r, err := Check(CheckOptions{FS: fs, Dir: b.Dir, Deep: true})
		if err != nil || len(r.Faults) > 0 || r.Rows != b.Rows {
			t.Fatalf("backup %d: %+v, %v", k, r, err)
		}
	}
	close(stop)
	wg.Wait()
	mustClose(t, e)
}

// TestBackupFaults fails each file system call of a backup once, but for questions of free space, which decide nothing:
// an error, and the next try with the same name succeeds.
func TestBackupFaults(t *testing.T) {
	calls := []vfs.Op{vfs.OpCreate, vfs.OpOpen, vfs.OpMap, vfs.OpRename, vfs.OpRemove, vfs.OpLink, vfs.OpMkdir,
		vfs.OpList, vfs.OpStat,
		vfs.OpSyncDir, vfs.OpWrite, vfs.OpRead, vfs.OpSync}
	for k := 1; ; k++ {
		fs := vfs.NewMem()
		fault := vfs.FailAt(0, false, vfs.ErrNoSpace, calls...)
		e, err := Open(testOptions(vfs.WithFaults(fs, fault.Before)))
		if err != nil {
			t.Fatal(err)
		}
		if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
		fault.Arm(k)
		_, failed := e.Backups().Make(ctx, "b")
		if failed != nil {
			if _, err := e.Backups().Make(ctx, "b"); err != nil {
				t.Fatalf("call %d: second try: %v", k, err)
			}
		}
		r, err := Check(CheckOptions{FS: fs, Dir: "/data/backups/b", Deep: true})
		if err != nil || len(r.Faults) > 0 || r.Rows != 1 {
			t.Fatalf("call %d: %+v, %v", k, r, err)
		}
		fault.Arm(0)
		mustClose(t, e)
		if failed == nil {
			if k < 5 {
				t.Errorf("a backup without errors after %d calls", k)
			}
			return
		}
	}
}

// TestCheck damages each kind of file in turn.
func TestCheck(t *testing.T) {
	make := func() *vfs.Mem {
		fs := vfs.NewMem()
		e, err := Open(testOptions(fs))
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(2) {
			if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				if err := e.Flush(ctx, public("log")); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(9), "v": int64(9)}}); err != nil {
			t.Fatal(err)
		}
		mustClose(t, e)
		return fs
	}
	for _, c := range []struct {
		name, file string
		damage     func(fs *vfs.Mem, file string) error
		faults     int
		notes      int
	}{
		{"nothing", "", func(*vfs.Mem, string) error { return nil }, 0, 0},
		{"part", "parts", func(fs *vfs.Mem, f string) error { return fs.Damage(f, 40) }, 1, 0},
		{"part gone", "parts", func(fs *vfs.Mem, f string) error { return fs.Remove(f) }, 1, 0},
		{"log", "wal", func(fs *vfs.Mem, f string) error { return fs.Damage(f, 60) }, 1, 0},
		{"manifest", "MANIFEST", func(fs *vfs.Mem, f string) error { return fs.Damage(f, 20) }, 1, 0},
		{"file of a crash", "parts/00000099.part", func(fs *vfs.Mem, f string) error {
			file, err := fs.Create(f)
			if err != nil {
				return err
			}
			return file.Close()
		}, 0, 1},
	} {
		fs := make()
		file := path.Join("/data", c.file)
		if names, err := fs.List(file); err == nil && len(names) > 0 && c.file != manifest.FileName {
			file = path.Join(file, names[0])
		}
		if err := c.damage(fs, file); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, deep := range []bool{false, true} {
			r, err := Check(CheckOptions{FS: fs, Dir: "/data", Deep: deep})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if len(r.Faults) != c.faults || len(r.Notes) != c.notes || r.Running {
				t.Errorf("%s, deep %t: %+v", c.name, deep, r)
			}
		}
	}
	if _, err := Check(CheckOptions{FS: vfs.NewMem(), Dir: "nowhere"}); err == nil {
		t.Error("a directory without a store was checked")
	}
}
