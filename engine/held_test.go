package engine

import (
	"errors"
	"testing"
	"time"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vfs"
)

// memtablesOnly are limits of an account for a store alone.
var memtablesOnly = func() (l admission.Limits) {
	l.Of[admission.Memtable] = 1 << 20
	return l
}()

// TestHeldBytesWaitForNoCensus: who is told of what readers keep asks for the memory held, while a census waits for the
// memtable.
func TestHeldBytesWaitForNoCensus(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxSeries = 10
	var e *Engine
	o.Memory = ledger.Single(admission.Memtable, 1<<20, func(int64) {
		if e != nil {
			e.HeldBytes()
		}
	})
	e = mustOpen(t, o)
	defer mustClose(t, e)
	if err := put(e, "log", lastRow, []modelRow{{"ts": int64(1), "host": "a", "v": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Scan(t.Context(), Request{Table: tab, Time: scan.All})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	flushed := make(chan error, 1)
	e.census.mu.Lock()
	go func() { flushed <- e.Flush(t.Context(), public("log")) }()
	select {
	case err = <-flushed:
	case <-time.After(30 * time.Second):
		err = errors.New("the flush waits for the census")
	}
	e.census.mu.Unlock()
	if err != nil {
		t.Error(err)
	}
}

// TestHeld: what a scan keeps of memtables that are gone is told once, and told back at its end, however many scans
// keep it.
func TestHeld(t *testing.T) {
	o := testOptions(vfs.NewMem())
	var held int64
	o.Memory = ledger.New(memtablesOnly, func(c *admission.Control) { held = c.Bytes(admission.Held) })
	e := mustOpen(t, o)
	defer mustClose(t, e)
	write := func(at int64) Request {
		t.Helper()
		if err := put(e, "log", lastRow, []modelRow{{"ts": at, "host": "a", "v": at}}); err != nil {
			t.Fatal(err)
		}
		tab, err := e.Table(public("log"))
		if err != nil {
			t.Fatal(err)
		}
		return Request{Table: tab, Time: scan.All}
	}
	open := func(r Request) *Scan {
		t.Helper()
		s, err := e.Scan(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}

	r := write(1)
	size := e.memory.used()
	first, second := open(r), open(r)
	if held != 0 {
		t.Fatalf("%d bytes are told before the flush", held)
	}
	if err := e.Flush(t.Context(), public("log")); err != nil {
		t.Fatal(err)
	}
	if held <= 0 || held > size {
		t.Fatalf("%d bytes are told of a memtable of %d that two scans keep", held, size)
	}
	behind := open(r) // sees the part
	first.Close()
	first.Close()
	if held <= 0 {
		t.Fatal("nothing is told while one of two scans is open")
	}
	second.Close()
	if held != 0 {
		t.Fatalf("%d bytes are told after the scans, while one is open that began behind the flush", held)
	}
	behind.Close()

	dropped := open(write(2))
	if err := e.DropTables(t.Context(), []schema.Name{public("log")}); err != nil {
		t.Fatal(err)
	}
	if held <= 0 {
		t.Error("nothing is told of a memtable of a dropped table that is read")
	}
	dropped.Close()
	if held != 0 || e.memory.kept() != 0 {
		t.Errorf("%d bytes are told in the end, %d counted", held, e.memory.kept())
	}
}

// TestMergesKeepNoMemtables: a merge may be long; what is flushed meanwhile leaves the memory.
func TestMergesKeepNoMemtables(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Memory = ledger.New(memtablesOnly, func(c *admission.Control) {
		if bytes := c.Bytes(admission.Held); bytes != 0 {
			t.Errorf("%d bytes are kept", bytes)
		}
	})
	e := mustOpen(t, o)
	defer mustClose(t, e)
	at := int64(0)
	write := func() {
		t.Helper()
		at++
		if err := put(e, "log", lastRow, []modelRow{{"ts": at, "host": "a", "v": at}}); err != nil {
			t.Fatal(err)
		}
	}
	flush := func() {
		t.Helper()
		if err := e.Flush(t.Context(), public("log")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		write()
		flush()
	}
	write()
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := e.compactor.mergeChosen(t.Context(), tab.region, func(s *regionSnap, _ windows) []*part {
		flush()
		return s.parts
	})
	if !merged || err != nil {
		t.Errorf("merged %v: %v", merged, err)
	}
}
