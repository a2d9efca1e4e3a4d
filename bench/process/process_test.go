package process

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestOwnUsage(t *testing.T) {
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	start, after := time.Now(), before
	for after == before { // spend some: on a loaded machine that may take a while
		if after, err = CPU(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	most := time.Duration(runtime.NumCPU())*time.Since(start) + 20*time.Millisecond
	if used := after - before; used < 0 || used > most {
		t.Errorf("used %v while %v passed", used, time.Since(start))
	}
	if rss, err := PeakRSS(os.Getpid()); err != nil || rss < 1<<20 || rss > 1<<34 {
		t.Errorf("peak memory %d, %v", rss, err)
	}
	if _, err := CPU(1 << 30); err == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestDiskUse(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a.sst": 10, "wal/1.wal": 200, "x/wal": 3000, "BALLAST": 40000} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d, err := DiskUse(dir)
	if err != nil || d != (Disk{DataBytes: 3010, LogBytes: 200, Files: 3}) {
		t.Errorf("got %+v, %v", d, err)
	}
	if d, err := DiskUse(filepath.Join(dir, "gone")); err != nil || d.Files != 0 {
		t.Errorf("a missing directory: %+v, %v", d, err)
	}
}

func TestStartTellsWhyNot(t *testing.T) {
	s, err := Start(t.Context(), Options{Binary: "/bin/false", Dir: t.TempDir()})
	if err == nil {
		t.Fatal("a program that ends at once serves", s.Kill())
	}
}

// TestFreeAddresses: each is another, and one that a server can have.
func TestFreeAddresses(t *testing.T) {
	given := map[string]bool{}
	for range 100 {
		addr, err := FreeAddr()
		if err != nil || given[addr] {
			t.Fatalf("%s, %v", addr, err)
		}
		given[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
