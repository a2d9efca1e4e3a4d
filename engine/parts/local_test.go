package parts_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"varve/engine/parts"
	"varve/engine/parts/partstest"
	"varve/engine/vfs"
	"varve/sst"
)

var ctx = context.Background()

// inMemory is a directory of a file system that forgets at a crash what was not synced.
func inMemory(t *testing.T) partstest.Place {
	t.Helper()
	disk := vfs.NewMem()
	if err := parts.At(disk, "/data").Make(); err != nil {
		t.Fatal(err)
	}
	if err := disk.SyncDir("/data"); err != nil {
		t.Fatal(err)
	}
	return placeOn(disk, rand.New(rand.NewPCG(1, 1)))
}

func placeOn(disk *vfs.Mem, r *rand.Rand) partstest.Place {
	return partstest.Place{Store: parts.At(disk, "/data"),
		Damage: func(file uint64, off int) error { return disk.Damage("/data/parts/"+parts.Name(file), off) },
		Reopen: func() partstest.Place { return placeOn(disk.Crash(r), r) }}
}

// onDisk is a directory of the operating system.
func onDisk(t *testing.T) partstest.Place {
	t.Helper()
	dir := t.TempDir()
	p := partstest.Place{Store: parts.At(vfs.OS(), dir)}
	if err := parts.At(vfs.OS(), dir).Make(); err != nil {
		t.Fatal(err)
	}
	p.Damage = func(file uint64, off int) error {
		name := filepath.Join(dir, "parts", parts.Name(file))
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		b[(off+len(b))%len(b)] ^= 1
		return os.WriteFile(name, b, 0o600)
	}
	p.Reopen = func() partstest.Place { return p }
	return p
}

// slowly puts a store far away: others go on while a call waits, and what is released is overwritten.
func slowly(p partstest.Place) partstest.Place {
	reopen := p.Reopen
	p.Store = &partstest.Slow{Store: p.Store, Before: func(ctx context.Context, _ partstest.Op) error {
		for range 3 {
			runtime.Gosched()
		}
		return ctx.Err()
	}}
	p.Reopen = func() partstest.Place { return slowly(reopen()) }
	return p
}

// TestConform holds stores against what each must do.
func TestConform(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(*testing.T) partstest.Place
	}{
		{"in memory", inMemory}, {"on disk", onDisk},
		{"slow", func(t *testing.T) partstest.Place { return slowly(inMemory(t)) }},
	} {
		t.Run(c.name, func(t *testing.T) { partstest.Conform(t, c.open) })
	}
}

// TestFails lets each call of the file system, and each of a store far away, fail once, and once and for ever.
func TestFails(t *testing.T) {
	for _, forever := range []bool{false, true} {
		faults := vfs.FailAt(0, forever, errors.New("the disk is broken"))
		local := parts.At(vfs.WithFaults(vfs.NewMem(), faults.Before), "/data")
		if err := local.Make(); err != nil {
			t.Fatal(err)
		}
		before, at := 0, 0
		partstest.Fails(t, local, func(n int) {
			faults.Arm(n)
			before, at = faults.Count(), n
		}, func() bool { return faults.Count()-before >= at })

		var left atomic.Int64
		var did atomic.Bool
		far := &partstest.Slow{Store: inMemory(t).Store, Before: func(context.Context, partstest.Op) error {
			if n := left.Add(-1); n == 0 || forever && n < 0 && did.Load() {
				did.Store(true)
				return errors.New("the bucket is away")
			}
			return nil
		}}
		partstest.Fails(t, far, func(n int) { did.Store(false); left.Store(int64(n)) }, did.Load)
		if n := far.Lent(); n != 0 {
			t.Errorf("%d reads were not released", n)
		}
	}
}

// TestFailedReadIsNoDamage: a part whose reads fail tells its readers so, and is as good as before afterwards.
func TestFailedReadIsNoDamage(t *testing.T) {
	var left atomic.Int64
	far := &partstest.Slow{Store: inMemory(t).Store, Before: func(context.Context, partstest.Op) error {
		if left.Add(-1) == 0 {
			return errors.New("the bucket is away")
		}
		return nil
	}}
	if err := far.Publish(1, func(out vfs.File) error {
		_, err := partstest.WritePart(out, 20_000, "one")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	f, err := far.Open(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	metrics := sst.NewMetrics()
	p, err := sst.OpenFile(f, "one", sst.OpenOptions{Metrics: metrics})
	if err != nil {
		t.Fatal(err)
	}
	fails := 0
	for n := 1; ; n++ {
		left.Store(int64(n))
		err := partstest.Rows(ctx, t, p, 20_000, "one")
		if err == nil {
			break
		}
		fails++
		if !errors.Is(err, sst.ErrUnavailable) || errors.Is(err, sst.ErrCorrupt) {
			t.Errorf("read %d fails: %v", n, err)
		}
	}
	if fails < 10 {
		t.Errorf("%d reads failed: one of each page at least", fails)
	}
	if err := p.Close(); err != nil || far.Lent() != 0 {
		t.Errorf("%d reads are lent at the end: %v", far.Lent(), err)
	}
}

// TestWaitEnds: who waits for a read that never comes goes when the context ends, whatever is read.
func TestWaitEnds(t *testing.T) {
	var left atomic.Int64
	left.Store(-1)
	waits := make(chan struct{}, 1)
	far := &partstest.Slow{Store: inMemory(t).Store, Before: func(ctx context.Context, _ partstest.Op) error {
		if left.Add(-1) != 0 {
			return nil
		}
		waits <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}}
	if err := far.Publish(1, func(out vfs.File) error {
		_, err := partstest.WritePart(out, 5000, "one")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		left.Store(int64(n))
		gone, end := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- partstest.Read(gone, t, far, 1, 5000, "one") }()
		var err error
		select {
		case <-waits:
			end()
			err = <-done
			if !errors.Is(err, context.Canceled) || errors.Is(err, sst.ErrCorrupt) ||
				errors.Is(err, sst.ErrUnavailable) {
				t.Errorf("call %d waits: %v", n, err)
			}
		case err = <-done:
			end()
			if err != nil || n < 6 {
				t.Errorf("%d calls: %v", n, err)
			}
			if far.Lent() != 0 {
				t.Errorf("%d reads are lent at the end", far.Lent())
			}
			return
		}
	}
}

// TestLocal holds what directories of parts do beside.
func TestLocal(t *testing.T) {
	disk := vfs.NewMem()
	from, to := parts.At(disk, "/from"), parts.At(disk, "/to")
	if any, err := from.HoldsAny(); any || err != nil {
		t.Errorf("a directory that is not there holds parts: %v, %v", any, err)
	}
	for _, l := range []*parts.Local{from, to} {
		if err := l.Make(); err != nil {
			t.Fatal(err)
		}
	}
	for file := range uint64(3) {
		if err := from.Publish(file, func(out vfs.File) error {
			_, err := out.Write(bytes.Repeat([]byte{byte(file)}, 3<<20+int(file)))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(to.Link(from, parts.Entry{File: 0}), to.Copy(from, parts.Entry{File: 1}), to.Sync())
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Link(from, parts.Entry{File: 0}); !vfs.Exist(err) {
		t.Errorf("a link that is there: %v", err)
	}
	if err := to.Link(from, parts.Entry{File: 9}); !vfs.NotExist(err) {
		t.Errorf("a link to nothing: %v", err)
	}
	if err := to.Copy(from, parts.Entry{File: 9}); !vfs.NotExist(err) {
		t.Errorf("a copy of nothing: %v", err)
	}
	for file := range uint64(2) {
		want, _ := from.Size(file)
		if n, err := to.Size(file); err != nil || n != want {
			t.Errorf("part %d has %d bytes, want %d: %v", file, n, want, err)
		}
	}
	for _, name := range []string{"00000005.part.tmp", "5.part", "note"} {
		f, err := disk.Create("/to/parts/" + name)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []parts.Entry{{File: 0}, {File: 1}, {File: 5, Unfinished: true}}
	if all, err := to.List(); err != nil || !slices.Equal(all, want) {
		t.Errorf("entries %v, want %v: %v", all, want, err)
	}
	if err := to.Clear(); err == nil {
		t.Error("what is of others was cleared")
	}
	if names, _ := disk.List("/to/parts"); !slices.Contains(names, "note") || !slices.Contains(names, "5.part") {
		t.Errorf("what is of others is gone: %v", names)
	}
	if err := to.Link(from, parts.Entry{File: 2}); err != nil {
		t.Fatal(err)
	}
	if err := to.Keep(func(e parts.Entry) bool { return e.File == 2 }); err != nil {
		t.Fatal(err)
	}
	if names, err := disk.List("/to/parts"); err != nil || !slices.Equal(names, []string{"00000002.part"}) {
		t.Errorf("kept: %v, %v", names, err)
	}
	if err := errors.Join(to.Destroy(), to.Destroy()); err != nil {
		t.Error(err)
	}
	if names, err := disk.List("/to/parts"); len(names) > 0 {
		t.Errorf("the directory holds %v, %v", names, err)
	}
	if all, err := from.List(); err != nil || len(all) != 3 {
		t.Errorf("the other directory: %v, %v", all, err)
	}
}

// TestSoleOwner holds that the engine goes to the files of parts by this package alone.
func TestSoleOwner(t *testing.T) {
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) < 50 {
		t.Fatal(len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, past := range []string{`.part"`, `"/parts`, `"parts/`, "sst.Map(", "sst.Open(", "sst.Verify(",
			"sst.Check("} {
			if bytes.Contains(b, []byte(past)) {
				t.Errorf("%s goes past this package: %s", name, past)
			}
		}
	}
}
