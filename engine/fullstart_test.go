package engine

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"testing"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// TestStartOnAFullDisk starts where nothing can be written, with more in the log than memtables should hold and an edit
// of the manifest that a crash cut short: all rows are read, writes are refused, and all goes on by itself once there
// is room. A store that was opened for reading, because the file system is read-only, is to be started again.
func TestStartOnAFullDisk(t *testing.T) {
	for _, cause := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		t.Run(cause.Error(), func(t *testing.T) {
			disk := vfs.NewMem()
			o := testOptions(disk)
			o.FlushBytes, o.MinFree = 1<<30, 1<<20
			e := mustOpen(t, o)
			kinds := []modelKind{appendOnly, lastRow, lastNonNull, metric}
			for round := range 5 {
				for i, kind := range kinds {
					writeMany(t, e, public(fmt.Sprint("t", i)), kind, int64(round*300), 300)
				}
			}
			memory := e.memory.used()
			want := closedDump(t, e)
			torn, err := disk.OpenAppend("/data/MANIFEST")
			if err == nil {
				_, err = torn.Write([]byte("the begin of an edit"))
			}
			if err != nil {
				t.Fatal(err)
			}

			var full atomic.Bool
			full.Store(true)
			o.FS = vfs.WithFaults(disk, func(op vfs.Op, name string) error {
				if full.Load() && (op == vfs.OpWrite || op == vfs.OpCreate) {
					return &os.PathError{Op: string(op), Path: name, Err: cause}
				}
				return nil
			})
			disk.SetFree(0)
			o.FlushBytes, o.MemtableLimit = memory/16, memory*2/3
			e = mustOpen(t, o)
			if got, err := dump(e); err != nil || got != want {
				t.Errorf("on the full disk: %v\n%s", err, difference(got, want))
			}
			row := []modelRow{{"ts": int64(1), "v": int64(1)}}
			refusal := status.StorageUnavailable
			if cause == syscall.EROFS {
				refusal = status.RegionReadonly
			}
			if err := put(e, "t0", appendOnly, row); status.Of(err) != refusal {
				t.Errorf("a write: %v", err)
			}
			if err := e.Flush(ctx, public("t0")); err == nil {
				t.Error("a flush works")
			}

			full.Store(false)
			disk.SetFree(1 << 40)
			e.space.at = e.space.at.Add(-spaceCheck)
			if cause == syscall.EROFS {
				mustClose(t, e)
				e = mustOpen(t, o)
			}
			for i := range kinds {
				if err := e.Flush(ctx, public(fmt.Sprint("t", i))); err != nil {
					t.Fatal(err)
				}
				if err := e.Compact(ctx, public(fmt.Sprint("t", i))); err != nil {
					t.Fatal(err)
				}
			}
			writeMany(t, e, public("later"), appendOnly, 0, 10)
			if err := e.DropTables(ctx, []schema.Name{public("later")}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := closedDump(t, e); got != want {
					t.Errorf("with room again:\n%s", difference(got, want))
				}
				e = mustOpen(t, o)
				if aside := e.SetAside(); len(aside) > 0 {
					t.Errorf("set aside: %v", aside)
				}
			}
			mustClose(t, e)
		})
	}
}

// TestFullInTheMiddleOfReplay lets the disk fill up after any number of writes of a start: what replay has written
// until then is listed later, once.
func TestFullInTheMiddleOfReplay(t *testing.T) {
	for writes := 1; ; writes += 3 {
		disk := vfs.NewMem()
		o := testOptions(disk)
		o.FlushBytes = 1 << 30
		e := mustOpen(t, o)
		for round := range 4 {
			writeMany(t, e, public("log"), appendOnly, int64(round*100), 100)
			writeMany(t, e, public("last"), lastNonNull, int64(round*100), 100)
		}
		memory := e.memory.used()
		want := closedDump(t, e)
		left := atomic.Int64{}
		left.Store(int64(writes))
		o.FS = vfs.WithFaults(disk, func(op vfs.Op, name string) error {
			if (op == vfs.OpWrite || op == vfs.OpCreate) && left.Add(-1) < 0 {
				return &os.PathError{Op: string(op), Path: name, Err: syscall.ENOSPC}
			}
			return nil
		})
		o.FlushBytes, o.MemtableLimit = memory/8, memory
		e = mustOpen(t, o)
		if got, err := dump(e); err != nil || got != want {
			t.Errorf("%d writes: %v\n%s", writes, err, difference(got, want))
		}
		if err := e.Compact(ctx, public("log")); left.Load() < 0 && err != nil &&
			status.Of(err) != status.StorageUnavailable {
			t.Errorf("%d writes: compaction: %v", writes, err)
		}
		done := left.Load() >= 0
		left.Store(1 << 40)
		for _, n := range []string{"log", "last"} {
			if err := e.Flush(ctx, public(n)); err != nil {
				t.Fatal(err)
			}
			if err := e.Compact(ctx, public(n)); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got := closedDump(t, e); got != want {
				t.Errorf("%d writes, with room again:\n%s", writes, difference(got, want))
			}
			e = mustOpen(t, o)
			if aside := e.SetAside(); len(aside) > 0 {
				t.Errorf("%d writes: set aside: %v", writes, aside)
			}
		}
		mustClose(t, e)
		if done || t.Failed() {
			return
		}
	}
}
