package engine

import (
	"log/slog"
	"net/netip"
	"slices"
	"testing"

	"varve/engine/admission"
	"varve/engine/admission/ledger"
)

// TestDamages: what is found again is listed once, and files that are gone leave the list with all that was found in
// them.
func TestDamages(t *testing.T) {
	d := &damages{log: slog.New(slog.DiscardHandler)}
	first := SetAside{File: "00000001.part", Reason: "page", Block: 3}
	second := SetAside{File: "00000001.part", Reason: "page", Block: 4}
	other := SetAside{File: "wal/000001.wal", Reason: "frame"}
	for _, s := range []SetAside{first, second, first, other} {
		d.note(s)
	}
	all := d.all()
	if want := []SetAside{first, second, other}; !slices.Equal(all, want) {
		t.Errorf("%v are listed, want %v", all, want)
	}
	d.forget(first.File)
	if got := d.all(); !slices.Equal(got, []SetAside{other}) {
		t.Errorf("%v are left, want %v", got, other)
	}
	if len(all) != 3 || all[0] != first {
		t.Error("a list that was given out changed")
	}
}

// TestMemory counts memtables and the series they share, and wakes who waits when one is given up.
func TestMemory(t *testing.T) {
	c := newMemory(ownMemory(&Options{MemtableLimit: 100}), 0)
	if c.full() {
		t.Error("full without rows")
	}
	m := c.newMem(nil)
	next := c.newMem(m.series)
	m.counted.Store(40)
	m.series.counted.Store(60)
	c.account.Add(admission.Memtable, 40)
	c.account.Add(admission.Series, 60)
	if !c.full() {
		t.Error("not full at the limit")
	}
	m.acquire(c)
	var writer ledger.Ticket
	c.account.Begin(&writer, admission.Memtable, netip.Addr{}, nil)
	goes := make(chan error)
	go func() { goes <- writer.Grow(t.Context(), 0, ledger.Wait{Most: ledger.Forever}) }()
	c.forget(m)
	if err := <-goes; err != nil {
		t.Errorf("a writer that waits: %v", err)
	}
	if c.used() != 60 || c.series() != 60 || c.kept() != 40 {
		t.Errorf("after the first memtable: %d used, %d by series, %d kept", c.used(), c.series(), c.kept())
	}
	m.release(c)
	c.forget(next)
	if c.used() != 0 || c.series() != 0 || c.kept() != 0 {
		t.Errorf("at the end: %d used, %d by series, %d kept", c.used(), c.series(), c.kept())
	}
}
