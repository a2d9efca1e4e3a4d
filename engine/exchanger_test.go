package engine

import (
	"testing"
	"time"

	"varve/engine/admission"
)

// TestTraffic: merges learn of each kind of load besides them, and of no load when there is none.
func TestTraffic(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name string
		load func(x *exchanger)
		want traffic
	}{
		{"none", func(*exchanger) {}, traffic{}},
		{"flush", func(x *exchanger) { x.flusher.busy.Store(true) }, traffic{flushing: true}},
		{"flushed", func(x *exchanger) { x.flusher.last.Store(&now) }, traffic{flushed: now}},
		{"scan", func(x *exchanger) { x.reading.open.Add(1) }, traffic{scanning: true}},
		{"rows", func(x *exchanger) { x.memory.account.Add(admission.Memtable, crowdedMemtables*100) }, traffic{}},
		{"many rows", func(x *exchanger) { x.memory.account.Add(admission.Memtable, crowdedMemtables*100+1) },
			traffic{crowded: true}},
		{"bodies", func(x *exchanger) { x.o.Memory.Add(admission.Body, 1<<40) }, traffic{pressed: true}},
	} {
		o := Options{FlushBytes: 100, MemtableLimit: 1 << 20}.withDefaults()
		x := &exchanger{inventory: &inventory{o: o}, memory: newMemory(o.Memory, 0), flusher: &flusher{},
			reading: &reading{}}
		c.load(x)
		if got := x.traffic(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
