package engine

import (
	"strings"
	"sync"
	"syscall"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// fullDisk is a disk on which nothing can be written while it is full; removing the ballast makes room.
type fullDisk struct {
	mu   sync.Mutex
	full bool
}

func (d *fullDisk) set(full bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full = full
}

func (d *fullDisk) before(op vfs.Op, name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case op == vfs.OpRemove && strings.HasSuffix(name, ballastName):
		d.full = false
	case d.full && (op == vfs.OpWrite || op == vfs.OpCreate || op == vfs.OpSync):
		return syscall.ENOSPC
	}
	return nil
}

func TestBallastIsGivenUp(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(e *Engine) error
	}{
		{"flush", func(e *Engine) error { return e.Flush(ctx, public("log")) }},
		{"drop", func(e *Engine) error { return e.DropTables(ctx, []schema.Name{public("log")}) }},
		{"truncate", func(e *Engine) error { return e.Truncate(ctx, public("log")) }},
		{"compact", func(e *Engine) error { return e.Compact(ctx, public("log")) }},
	} {
		disk, d := vfs.NewMem(), &fullDisk{}
		o := testOptions(vfs.WithFaults(disk, d.before))
		o.Ballast = 3<<20 + 5
		e := mustOpen(t, o)
		if info, err := disk.Stat("/data/" + ballastName); err != nil || info.Size() != o.Ballast {
			t.Fatalf("%s: the ballast: %v", c.name, err)
		}
		for i := range int64(3) {
			if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
				t.Fatal(err)
			}
			if i < 2 {
				if err := e.Flush(ctx, public("log")); err != nil {
					t.Fatal(err)
				}
			}
		}
		d.set(true)
		if err := c.run(e); err != nil {
			t.Errorf("%s on a full disk: %v", c.name, err)
		}
		if _, err := disk.Stat("/data/" + ballastName); !vfs.NotExist(err) {
			t.Errorf("%s: the ballast is still there: %v", c.name, err)
		}
		d.set(true)
		if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(9)}}); status.Of(err) != status.StorageUnavailable {
			t.Errorf("%s: a write on a full disk without ballast: %v", c.name, err)
		}
		d.set(false)
		disk.SetFree(uint64(o.MinFree) + uint64(o.Ballast)) // not plenty
		e.ballast.lay()
		if _, err := disk.Stat("/data/" + ballastName); !vfs.NotExist(err) {
			t.Errorf("%s: the ballast takes the last room: %v", c.name, err)
		}
		disk.SetFree(1 << 30)
		e.ballast.lay()
		if _, err := disk.Stat("/data/" + ballastName); err != nil {
			t.Errorf("%s: the ballast is not laid again: %v", c.name, err)
		}
		mustClose(t, e)
	}
}
