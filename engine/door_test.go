package engine

import (
	"context"
	"errors"
	"testing"

	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
)

// aloneDoor is a door without a store; disk is where the store would be.
func aloneDoor(t *testing.T) (d *door, disk *vfs.Mem) {
	t.Helper()
	disk = vfs.NewMem()
	o := Options{FS: disk, Dir: "data"}.withDefaults()
	for _, dir := range []string{o.Dir, parts.At(disk, o.Dir).Dir(), o.WALDir} {
		if err := disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	return newDoor(newSpace(&o, nil), context.Background()), disk
}

// TestDoor: calls are let in between the start and the end of a store.
func TestDoor(t *testing.T) {
	d, _ := aloneDoor(t)
	if err := d.enter(); !errors.Is(err, ErrStarting) {
		t.Errorf("before the start was over, enter gave %v", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	if err := d.wait(over); !errors.Is(err, context.Canceled) {
		t.Errorf("wait gave %v", err)
	}
	d.open(nil)
	if err := d.wait(ctx); err != nil {
		t.Errorf("after the start, wait gave %v", err)
	}
	if err := d.enterToChange(); err != nil {
		t.Fatal(err)
	}
	if !d.shut() || d.shut() {
		t.Error("the door is to be shut once")
	}
	if d.calls.TryLock() {
		t.Error("drained would not wait for a call under way")
	}
	d.leave()
	d.drained()()
	if err := d.enter(); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end, enter gave %v", err)
	}
}

// TestDoorOfFailedStart: who waits for the start, and who calls, learns why it failed.
func TestDoorOfFailedStart(t *testing.T) {
	d, _ := aloneDoor(t)
	failed := errors.New("no")
	d.open(failed)
	for _, err := range []error{d.wait(ctx), d.enter(), d.enterToChange(), d.isOpen()} {
		if !errors.Is(err, failed) {
			t.Errorf("the door gave %v", err)
		}
	}
}

// TestDoorOfReadOnlyStore: reads are let in, changes are not, and a refused one has left.
func TestDoorOfReadOnlyStore(t *testing.T) {
	d, disk := aloneDoor(t)
	disk.SetReadOnly("data", true)
	d.open(nil)
	if err := d.enterToChange(); status.Of(err) != status.RegionReadonly {
		t.Errorf("enterToChange gave %v", err)
	}
	if err := d.enter(); err != nil {
		t.Errorf("enter gave %v", err)
	}
	d.leave()
	d.drained()() // waits for ever if the refused call is still inside
}
