package engine

import (
	"errors"
	"strings"
	"testing"

	"varve/engine/vfs"
	"varve/wal"
)

// TestLogOfAnotherStore starts a second store on the directory of the log of a first one, which has stopped or was
// killed: it is refused, whether it is new or has rows of its own, and the first one finds all of its rows afterwards.
func TestLogOfAnotherStore(t *testing.T) {
	for _, c := range []struct {
		name        string
		flush, used bool
	}{{"a killed one, a new one", false, false}, {"a stopped one, a new one", true, false},
		{"a killed one, a used one", false, true}, {"a stopped one, a used one", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			disk := vfs.NewMem()
			first, second := testOptions(disk), testOptions(disk)
			second.Dir = "/other"
			rows := 0
			if c.used {
				e := mustOpen(t, second)
				writeMany(t, e, public("log"), appendOnly, 0, 50)
				mustClose(t, e)
				rows = 50
			}
			first.WALDir, second.WALDir = "/log", "/log"
			e := mustOpen(t, first)
			writeMany(t, e, public("log"), appendOnly, 0, 100)
			if err := e.Close(ctx, c.flush); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				switch _, err := Open(second); {
				case err == nil:
					t.Fatal("the second store started on the log of the first")
				case c.used && !errors.Is(err, wal.ErrOtherStore),
					!strings.Contains(err.Error(), "/log") || !strings.Contains(err.Error(), "(wal.dir)"):
					t.Errorf("the second store: %v", err)
				}
			}
			e = mustOpen(t, first)
			if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 100 ||
				len(e.SetAside()) > 0 {
				t.Errorf("%d rows of the first, want 100: %v, %v", len(lines), err, e.SetAside())
			}
			mustClose(t, e)
			second.WALDir = ""
			e = mustOpen(t, second)
			defer mustClose(t, e)
			writeMany(t, e, public("log"), appendOnly, 1000, 10)
			if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != rows+10 {
				t.Errorf("%d rows of the second, want %d: %v", len(lines), rows+10, err)
			}
		})
	}
}

// TestRebuiltStoreKeepsItsLog loses the manifest of a store: the one that is made anew has the name of the store, whose
// log it goes on with.
func TestRebuiltStoreKeepsItsLog(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	o.WALDir = "/log"
	e := mustOpen(t, o)
	writeMany(t, e, public("log"), appendOnly, 0, 100)
	if err := e.Flush(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	writeMany(t, e, public("log"), appendOnly, 1000, 10)
	name := e.Store()
	if err := e.Close(ctx, false); err != nil {
		t.Fatal(err)
	}
	if err := disk.Remove("/data/MANIFEST"); err != nil {
		t.Fatal(err)
	}
	if _, err := RebuildManifest(disk, "/data", "/log"); err != nil {
		t.Fatal(err)
	}
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 110 || e.Store() != name {
		t.Errorf("%d rows, want 110, of %s, want %s: %v", len(lines), e.Store(), name, err)
	}
}

// TestDamagedNameOfTheLog damages the name beside the log: the store goes on, the name is right again, and others are
// refused.
func TestDamagedNameOfTheLog(t *testing.T) {
	disk := vfs.NewMem()
	o, other := testOptions(disk), testOptions(disk)
	other.Dir = "/other"
	mustClose(t, mustOpen(t, other))
	o.WALDir, other.WALDir = "/log", "/log"
	e := mustOpen(t, o)
	name := e.Store()
	mustClose(t, e)
	for cut := range len(name) + 10 {
		if err := disk.Truncate("/log/STORE", cut); err != nil {
			t.Fatal(err)
		}
		mustClose(t, mustOpen(t, o))
		if got, err := wal.Store(disk, "/log"); got != name || err != nil {
			t.Fatalf("cut at %d the log is that of %q, %v", cut, got, err)
		}
	}
	if _, err := Open(other); !errors.Is(err, wal.ErrOtherStore) {
		t.Errorf("another store: %v", err)
	}
}
