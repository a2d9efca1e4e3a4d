package engine

import (
	"errors"
	"testing"

	"varve/engine/status"
	"varve/engine/vfs"
)

// TestStartInBackground: tables are known at once, rows when the store is ready, and nothing is lost on the way.
func TestStartInBackground(t *testing.T) {
	fs := vfs.NewMem()
	e := mustOpen(t, testOptions(fs))
	for i := range int64(4) {
		if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := e.Flush(ctx, public("log")); err != nil {
				t.Fatal(err)
			}
		}
	}
	before, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)

	gate := make(chan struct{})
	o := testOptions(vfs.WithFaults(fs, func(op vfs.Op, name string) error {
		if op == vfs.OpMap && name != "/data/MANIFEST" {
			<-gate
		}
		return nil
	}))
	o.InBackground = true
	e = mustOpen(t, o)
	if _, err := e.Table(public("log")); err != nil {
		t.Errorf("a table is not known while the store starts: %v", err)
	}
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(9)}}); !errors.Is(err, ErrStarting) ||
		status.Of(err) != status.RegionNotReady {
		t.Errorf("a write while the store starts: %v", err)
	}
	if _, err := dump(e); !errors.Is(err, ErrStarting) {
		t.Errorf("a scan while the store starts: %v", err)
	}
	if r := e.Recovery(); r.Parts != 0 {
		t.Errorf("recovery while the store starts: %+v", r)
	}
	close(gate)
	if err := e.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	if got, err := dump(e); err != nil || got != before {
		t.Errorf("%v\n%s\nwant\n%s", err, got, before)
	}
	if r := e.Recovery(); r.Parts != 1 || r.ReplayedRows != 2 {
		t.Errorf("recovery: %+v", r)
	}
	mustClose(t, e)
}

// TestCloseWhileStarting: a store that is closed before it is ready has lost nothing.
func TestCloseWhileStarting(t *testing.T) {
	fs := vfs.NewMem()
	e := mustOpen(t, testOptions(fs))
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1), "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	before, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	for range 20 {
		o := testOptions(fs)
		o.InBackground = true
		e = mustOpen(t, o)
		if err := e.Close(ctx, true); err != nil {
			t.Fatal(err)
		}
	}
	e = mustOpen(t, testOptions(fs))
	if got, err := dump(e); err != nil || got != before {
		t.Errorf("%v\n%s\nwant\n%s", err, got, before)
	}
	mustClose(t, e)
}

// TestStartFails: what keeps a store from starting in the background is what every call answers.
func TestStartFails(t *testing.T) {
	fs := vfs.NewMem()
	mustClose(t, mustOpen(t, testOptions(fs)))
	o := testOptions(vfs.WithFaults(fs, func(op vfs.Op, name string) error {
		if op == vfs.OpList && name == "/data/parts" {
			return errors.New("no more lists")
		}
		return nil
	}))
	o.InBackground = true
	e := mustOpen(t, o)
	if err := e.Wait(ctx); err == nil || status.Of(err) != status.RegionNotReady {
		t.Errorf("a start that failed: %v", err)
	}
	if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(1)}}); status.Of(err) != status.RegionNotReady {
		t.Errorf("a write after a start that failed: %v", err)
	}
	mustClose(t, e)
}
