package main

import (
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryIsSharedOut(t *testing.T) {
	for _, c := range []struct {
		limit                     string
		memtables, cache, queries int64
	}{
		{"512MiB", 64 << 20, 32 << 20, 256 << 20},
		{"1GiB", 128 << 20, 64 << 20, 512 << 20},
		{"16GiB", 144 << 20, 512 << 20, 8 << 30}, // configured sizes are not stretched
	} {
		config, err := loadConfig("", []string{"VARVE_MEMORY_LIMIT=" + c.limit}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := config.memory()
		if m.memtables != c.memtables || m.cache != c.cache || m.queries != c.queries {
			t.Errorf("memory_limit %s: %+v, want %d, %d, %d", c.limit, m, c.memtables, c.cache, c.queries)
		}
		if m.flush > m.memtables/4 {
			t.Errorf("memory_limit %s: parts are made of %d bytes, memtables hold %d", c.limit, m.flush, m.memtables)
		}
	}
}

func TestMemoryLimitDefaultsToHalfOfTheMachine(t *testing.T) {
	config, err := loadConfig("", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, machine := config.memoryLimit(), machineMemory(); got != machine/2 || machine < minMemory {
		t.Errorf("limit %d on a machine of %d", got, machine)
	}
}

func TestMemoryLimitIsChecked(t *testing.T) {
	for _, bad := range []string{"1MiB", "0%", "120%", "much"} {
		if _, err := loadConfig("", []string{"VARVE_MEMORY_LIMIT=" + bad}, nil); err == nil {
			t.Errorf("memory_limit = %s is taken", bad)
		}
	}
}

func TestCollectorFollows(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	var cached atomic.Int64
	g := &collector{target: 400 << 20, limit: 1000 << 20, cached: cached.Load, shrinking: true} // no timer is started
	g.tell(0)
	for _, c := range []struct{ held, cached, want int64 }{
		{0, 0, 400 << 20},
		{20 << 20, 0, 400 << 20}, // below the step
		{200 << 20, 0, 600 << 20},
		{220 << 20, 0, 600 << 20},
		{200 << 20, 50 << 20, 650 << 20},
		{1200 << 20, 50 << 20, 1000 << 20},
		{0, 50 << 20, 1000 << 20}, // goes down in steps
	} {
		cached.Store(c.cached)
		g.follow(c.held)
		if got := debug.SetMemoryLimit(-1); got != c.want {
			t.Errorf("%d MiB are held, in the cache %d: the heap may take %d MiB, want %d", c.held>>20,
				c.cached>>20, got>>20, c.want>>20)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		before := debug.SetMemoryLimit(-1)
		g.shrink()
		if got := debug.SetMemoryLimit(-1); got != before-shrinkStep {
			t.Errorf("a step from %d MiB goes to %d", before>>20, got>>20)
		}
		cached.Store(0)
		<-time.After(time.Minute)
		synctest.Wait()
		if got := debug.SetMemoryLimit(-1); got != g.target || g.shrinking {
			t.Errorf("the heap may take %d MiB after the last query, want %d; shrinking: %v", got>>20, g.target>>20,
				g.shrinking)
		}
		g.follow(400 << 20)
		g.follow(0)
		<-time.After(time.Minute)
		if got := debug.SetMemoryLimit(-1); got != g.target {
			t.Errorf("the heap may take %d MiB after another query, want %d", got>>20, g.target>>20)
		}
	})
	var none *collector
	none.follow(1 << 30)
}
