package engine

import (
	"log/slog"
	"slices"
	"testing"
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
	told := int64(0)
	c := newMemory(100, 0, func(bytes int64) { told += bytes })
	if c.full() {
		t.Error("full without rows")
	}
	c.used.Store(100)
	if !c.full() {
		t.Error("not full at the limit")
	}
	c.used.Store(0)
	m := newMem(nil)
	next := newMem(m.series)
	m.counted.Store(40)
	m.series.counted.Store(60)
	c.used.Store(100)
	c.series.Store(60)
	m.acquire(c)
	wait := c.freed.wait()
	c.forget(m)
	select {
	case <-wait:
	default:
		t.Error("nobody is woken")
	}
	if c.used.Load() != 60 || c.series.Load() != 60 || c.kept.Load() != 40 || told != 40 {
		t.Errorf("after the first memtable: %d used, %d by series, %d kept, %d told", c.used.Load(), c.series.Load(),
			c.kept.Load(), told)
	}
	m.release(c)
	c.forget(next)
	if c.used.Load() != 0 || c.series.Load() != 0 || c.kept.Load() != 0 || told != 0 {
		t.Errorf("at the end: %d used, %d by series, %d kept, %d told", c.used.Load(), c.series.Load(), c.kept.Load(),
			told)
	}
}
