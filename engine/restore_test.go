package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"varve/engine/manifest"
	"varve/engine/vfs"
)

const refusedRestore = "/restored is not whole: a restore into it is under way, or was cut short. Run varve restore with this --data once more"

// backedUp is a disk with a backup of some small tables in /data/backups/b, its manifest, and what is in it.
func backedUp(t *testing.T) (disk *vfs.Mem, state *manifest.State, want string) {
	t.Helper()
	disk = vfs.NewMem()
	e := mustOpen(t, testOptions(disk))
	for i := range 6 {
		writeMany(t, e, public(fmt.Sprint("t", i%2)), appendOnly, int64(i*10), 10)
		if err := e.Flush(ctx, public(fmt.Sprint("t", i%2))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := e.Backups().Make(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	want = closedDump(t, e)
	state, _, err := manifest.Read(disk, "/data/backups/b")
	if err != nil {
		t.Fatal(err)
	}
	return disk, state, want
}

// openedRestore opens /restored: it must hold what was backed up.
func openedRestore(t *testing.T, disk *vfs.Mem, want, when string) {
	t.Helper()
	o := testOptions(disk)
	o.Dir = "/restored"
	e := mustOpen(t, o)
	if aside := e.SetAside(); len(aside) > 0 {
		t.Errorf("%s: set aside: %v", when, aside)
	}
	if _, err := disk.Stat("/restored/" + RestoringName); !vfs.NotExist(err) {
		t.Errorf("%s: the mark of the restore is there: %v", when, err)
	}
	if got := closedDump(t, e); got != want {
		t.Errorf("%s: %s", when, difference(got, want))
	}
}

// TestRestoreCut cuts a restore at each of its operations, by a kill and by power loss, and the next one at a random
// operation, too: each time the directory is whole, or refused by whoever opens it, or empty. Another restore then
// makes it whole.
func TestRestoreCut(t *testing.T) {
	for _, power := range []bool{false, true} {
		r := rand.New(rand.NewPCG(1, 2))
		refused, whole := 0, 0
		for cut, ended := 0, false; !ended; cut++ {
			disk, state, want := backedUp(t)
			for _, left := range []int{cut, r.IntN(cut + 1)} {
				when := fmt.Sprintf("power loss %v, cut after %d", power, left)
				f := &fuse{left: left}
				err := Restore(vfs.WithFaults(disk, f.before), "/data/backups/b", "/restored", state)
				if power {
					disk = disk.Crash(r)
				}
				if err == nil {
					ended = left == cut
				} else if !errors.Is(err, errPower) && whole == 0 {
					t.Fatalf("%s: %v", when, err)
				}
				switch inRestored(t, disk, when) {
				case "refused":
					refused++
				case "whole":
					whole++
					openedRestore(t, disk, want, when)
				}
			}
			err := Restore(disk, "/data/backups/b", "/restored", state)
			if err != nil && !strings.Contains(err.Error(), "/restored is not empty: it holds MANIFEST") &&
				!strings.Contains(err.Error(), "/restored is not empty: it holds wal") {
				t.Fatalf("the restore after cut %d: %v", cut, err)
			}
			openedRestore(t, disk, want, fmt.Sprintf("the restore after cut %d", cut))
		}
		if refused < 20 || whole < 2 {
			t.Errorf("power loss %v: refused %d times, whole %d times", power, refused, whole)
		}
	}
}

// inRestored tells what is in /restored: nothing, "refused" or "whole". A directory that is refused is so by all who
// look into it, and none of them changes it.
func inRestored(t *testing.T, disk *vfs.Mem, when string) string {
	t.Helper()
	names, err := disk.List("/restored")
	if vfs.NotExist(err) {
		return ""
	}
	if slices.Contains(names, manifest.FileName) {
		return "whole"
	}
	if !slices.Contains(names, RestoringName) {
		for _, n := range names {
			if n != "LOCK" && n != RestoringName+vfs.TempSuffix {
				t.Errorf("%s: there is %v", when, names)
			}
		}
		return ""
	}
	files := disk.Files()
	o := testOptions(disk)
	o.Dir = "/restored"
	_, opened := Open(o)
	_, checked := Check(CheckOptions{FS: disk, Dir: "/restored"})
	_, rebuilt := RebuildManifest(disk, "/restored", "")
	for _, err := range []error{opened, checked, rebuilt, RequireStore(disk, "/restored")} {
		if err == nil || !strings.HasPrefix(err.Error(), refusedRestore) {
			t.Errorf("%s: %v", when, err)
		}
	}
	if now := disk.Files(); now != files {
		t.Errorf("%s: files were\n%sand are\n%s", when, files, now)
	}
	return "refused"
}

// TestRestoreElsewhere: a directory that holds something is left as it is, be it beside the mark of a restore, and so
// is one that is in use.
func TestRestoreElsewhere(t *testing.T) {
	for _, c := range []struct{ files, says string }{
		{"/restored/note", "/restored is not empty: it holds note"},
		{"/restored/parts/00000001.part", "/restored is not empty: it holds parts"},
		{"/restored/RESTORING /restored/parts/note", "/restored/parts is not empty: it holds note"},
		{"/restored/RESTORING /restored/wal/000001.wal", "/restored is not empty: it holds wal"},
	} {
		disk, state, _ := backedUp(t)
		for _, name := range strings.Fields(c.files) {
			if err := disk.MkdirAll(path.Dir(name)); err != nil {
				t.Fatal(err)
			}
			if f, err := disk.Create(name); err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}
		files := disk.Files()
		if err := Restore(disk, "/data/backups/b", "/restored", state); err == nil || err.Error() != c.says {
			t.Errorf("%s: %v", c.files, err)
		}
		if now := disk.Files(); now != files {
			t.Errorf("%s: files were\n%sand are\n%s", c.files, files, now)
		}
	}
	disk, state, want := backedUp(t)
	lock, err := disk.Lock("/restored/LOCK")
	if err != nil {
		t.Fatal(err)
	}
	if err := Restore(disk, "/data/backups/b", "/restored", state); !errors.Is(err, vfs.ErrLocked) ||
		!strings.Contains(err.Error(), "another restore") {
		t.Errorf("in use: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Restore(disk, "/data/backups/b", "/restored", state); err != nil {
		t.Fatal(err)
	}
	openedRestore(t, disk, want, "at last")
}
