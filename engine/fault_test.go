package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

// breaker fails file system operations: the n'th one, or from the n'th on, while on.
type breaker struct {
	mu    sync.Mutex
	count int
	at    int  // which operation fails; 0: none
	ever  bool // and all later ones
	err   error
	hit   string // the operation that failed first
}

func (b *breaker) before(op vfs.Op, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	if b.at == 0 || b.count < b.at || b.count > b.at && !b.ever {
		return nil
	}
	if b.hit == "" {
		b.hit = fmt.Sprint(op, " ", name)
	}
	return b.err
}

// hits is the operation that failed first; empty: none has.
func (b *breaker) hits() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hit
}

func (b *breaker) mend() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = 0
}

// TestFaults lets every file system call of a workload fail once, and from then on: the error reaches the caller,
// nothing acknowledged is lost, reading goes on, and writing works again when the fault is gone. In a plain run every
// call fails in one of the three ways, and `make long` takes all three.
func TestFaults(t *testing.T) {
	for i, c := range []struct {
		name string
		err  error
		ever bool
	}{{"once", syscall.EIO, false}, {"for ever", syscall.EIO, true}, {"no space", syscall.ENOSPC, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			step := effort(9, 3, 1)
			for at := 1 + i%step; ; at += step {
				if !faultRun(t, at, c.ever, c.err) || t.Failed() {
					t.Logf("%d calls failed, each in a run of its own", at/step)
					return
				}
			}
		})
	}
}

// faultRun returns false when the workload has fewer than at calls.
func faultRun(t *testing.T, at int, ever bool, err error) bool {
	b := &breaker{at: at, ever: ever, err: err}
	disk := vfs.NewMem()
	o := testOptions(vfs.WithFaults(disk, b.before))
	w := newWorkload(rand.New(rand.NewPCG(7, 7)))
	e, err := Open(o)
	if err != nil {
		if b.hits() == "" {
			t.Fatalf("call %d: open failed without a fault: %v", at, err)
		}
		b.mend()
		e = mustOpen(t, o)
	}
	for i := range 45 {
		op := w.next()
		err := op.run(e)
		when := fmt.Sprintf("call %d (%s): %s", at, b.hits(), op.name)
		if err != nil {
			if b.hits() == "" {
				t.Fatalf("%s failed without a fault: %v", when, err)
			}
			if status.Of(err) == status.Success || strings.Contains(err.Error(), "panic") {
				t.Fatalf("%s: %v", when, err)
			}
			b.mend()
		}
		possible := op.outcomes(w.model)
		if err == nil {
			possible = possible[len(possible)-1:]
		}
		if w.model = possible[len(possible)-1]; err != nil || i%9 == 8 {
			w.model = settle(t, e, possible, when)
		}
	}
	b.mend()
	if err := e.Close(ctx, true); err != nil {
		t.Fatalf("call %d (%s): close: %v", at, b.hits(), err)
	}
	o.FS = disk.Crash(rand.New(rand.NewPCG(uint64(at), 3)))
	e = mustOpen(t, o)
	compare(t, e, w.model, fmt.Sprintf("call %d (%s), reopened", at, b.hits()))
	mustClose(t, e)
	return b.hits() != ""
}

// settle reports which of the possible states the store is in. Reading must work once the fault is gone.
func settle(t *testing.T, e *Engine, possible []model, when string) model {
	t.Helper()
	got, err := dump(e)
	if err != nil {
		got, err = dump(e) // the fault may have met the reading
	}
	if err != nil {
		t.Fatalf("%s: reading: %v", when, err)
	}
	for _, m := range possible {
		if m.dump() == got {
			return m
		}
	}
	t.Fatalf("%s:\n%s", when, difference(got, possible[0].dump()))
	return nil
}

// TestDiskFull refuses writes while there is little room, answers queries meanwhile, and takes writes again by itself.
func TestDiskFull(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	o.MinFree = 1 << 20
	now := time.Unix(1_700_000_000, 0)
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	rows := []modelRow{{"ts": int64(1), "v": int64(1)}}
	if err := put(e, "log", appendOnly, rows); err != nil {
		t.Fatal(err)
	}
	disk.SetFree(1 << 10)
	now = now.Add(time.Second)
	if err := put(e, "log", appendOnly, rows); status.Of(err) != status.StorageUnavailable {
		t.Fatalf("write on a full disk: %v, want %v", err, status.StorageUnavailable)
	}
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 1 {
		t.Fatalf("query on a full disk: %v %v", lines, err)
	}
	disk.SetFree(1 << 30)
	now = now.Add(time.Second)
	if err := put(e, "log", appendOnly, rows); err != nil {
		t.Fatalf("write with room again: %v", err)
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 2 {
		t.Fatalf("after reopening: %v %v", lines, err)
	}
	mustClose(t, e)
}

// TestNoSpace lets every write fail with ENOSPC for a while.
func TestNoSpace(t *testing.T) {
	disk := vfs.NewMem()
	var full bool
	var mu sync.Mutex
	o := testOptions(vfs.WithFaults(disk, func(op vfs.Op, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if full && (op == vfs.OpWrite || op == vfs.OpCreate || op == vfs.OpSync) {
			return syscall.ENOSPC
		}
		return nil
	}))
	set := func(x bool) { mu.Lock(); full = x; mu.Unlock() }
	e := mustOpen(t, o)
	want := 0
	for round := range 5 {
		for i := range 20 {
			if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(i), "v": int64(round)}}); err != nil {
				t.Fatal(err)
			}
			want++
		}
		set(true)
		if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(0), "v": int64(-1)}}); status.Of(err) !=
			status.StorageUnavailable {
			t.Fatalf("round %d: write without space: %v", round, err)
		}
		if err := e.Flush(ctx, public("log")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("round %d: flush without space: %v", round, err)
		}
		if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
			t.Fatalf("round %d: %d rows, want %d: %v", round, len(lines), want, err)
		}
		set(false)
		if round%2 == 0 {
			if err := e.Flush(ctx, public("log")); err != nil {
				t.Fatalf("round %d: flush with space again: %v", round, err)
			}
		}
	}
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
		t.Fatalf("%d rows, want %d: %v", len(lines), want, err)
	}
	mustClose(t, e)
}

// TestReadOnlyMount: a file system that becomes read-only while the store is open and does not say so: the store
// refuses writes, answers queries, and takes writes again when it can. One that is opened there answers queries.
func TestReadOnlyMount(t *testing.T) {
	disk := vfs.NewMem()
	var mu sync.Mutex
	readOnly := false
	set := func(x bool) { mu.Lock(); readOnly = x; mu.Unlock() }
	o := testOptions(vfs.WithFaults(disk, func(op vfs.Op, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		switch op {
		case vfs.OpCreate, vfs.OpWrite, vfs.OpRename, vfs.OpRemove, vfs.OpLink, vfs.OpMkdir, vfs.OpSync, vfs.OpSyncDir:
			if readOnly {
				return syscall.EROFS
			}
		}
		return nil
	}))
	now := time.Unix(1_700_000_000, 0)
	o.Now = func() time.Time { return now }
	e := mustOpen(t, o)
	want := 0
	write := func() error { return put(e, "log", appendOnly, []modelRow{{"ts": int64(want), "v": int64(want)}}) }
	for range 3 {
		now = now.Add(spaceCheck)
		for range 2 {
			if err := write(); err != nil {
				t.Fatal(err)
			}
			want++
		}
		set(true)
		if err := write(); status.Of(err) != status.RegionReadonly {
			t.Fatalf("a write to a read-only disk: %v", err)
		}
		if err := e.Flush(ctx, public("log")); !errors.Is(err, syscall.EROFS) {
			t.Fatalf("a flush to a read-only disk: %v", err)
		}
		if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
			t.Fatalf("%d rows, want %d: %v", len(lines), want, err)
		}
		set(false)
		now = now.Add(spaceCheck)
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	set(true)
	e = mustOpen(t, o)
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
		t.Fatalf("%d rows on a read-only disk, want %d: %v", len(lines), want, err)
	}
	if err := write(); status.Of(err) != status.RegionReadonly {
		t.Fatalf("a write to a store on a read-only disk: %v", err)
	}
	mustClose(t, e)
	set(false)
	e = mustOpen(t, o)
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
		t.Fatalf("%d rows after reopening, want %d: %v", len(lines), want, err)
	}
	mustClose(t, e)
}

// TestClockJumpsBack: a clock that jumps back, by an hour and by years, keeps nothing from being written, flushed,
// merged and served, within the run and after a restart.
func TestClockJumpsBack(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	now := time.Unix(1_700_000_000, 0)
	o.Now = func() time.Time { return now }
	want := 0
	for _, back := range []time.Duration{0, time.Hour, 30 * 365 * 24 * time.Hour} {
		e := mustOpen(t, o)
		for i := range 9 {
			if i == 4 {
				now = now.Add(-back)
			}
			if err := put(e, "log", appendOnly, []modelRow{{"ts": int64(i), "v": int64(want)}}); err != nil {
				t.Fatalf("back by %s: %v", back, err)
			}
			want++
			if i%3 == 2 {
				if err := e.Flush(ctx, public("log")); err != nil {
					t.Fatalf("back by %s: %v", back, err)
				}
			}
		}
		if err := e.Compact(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
		if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
			t.Fatalf("back by %s: %d rows, want %d: %v", back, len(lines), want, err)
		}
		mustClose(t, e)
	}
	e := mustOpen(t, o)
	if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != want {
		t.Fatalf("%d rows after reopening, want %d: %v", len(lines), want, err)
	}
	mustClose(t, e)
}

// TestDamagedPart sets a part aside that is not what the manifest says, serves the rest and keeps the file.
func TestDamagedPart(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	for i := range int64(3) {
		if err := put(e, "log", appendOnly, []modelRow{{"ts": i, "v": i}}); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, e)
	names, err := disk.List("/data/parts")
	if err != nil || len(names) != 3 {
		t.Fatalf("parts: %v %v", names, err)
	}
	if err := disk.Damage("/data/parts/"+names[1], -5); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second start finds the same
		e = mustOpen(t, o)
		aside := e.Recovery().SetAside
		if len(aside) != 1 || !strings.Contains(aside[0].File, names[1]) {
			t.Fatalf("set aside: %v, want %s", aside, names[1])
		}
		if strings.Contains(aside[0].Reason, "/data") { // clients see it
			t.Errorf("reason names the data directory: %s", aside[0].Reason)
		}
		if lines, err := scanTable(e, public("log"), everything); err != nil || len(lines) != 2 {
			t.Fatalf("rows of the other parts: %v %v", lines, err)
		}
		if err := e.Compact(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
		if _, err := disk.Stat("/data/parts/" + names[1]); err != nil {
			t.Fatalf("the damaged file is gone: %v", err)
		}
		mustClose(t, e)
	}
}

// TestSecondServer refuses a second store on the same directory with a sentence.
func TestSecondServer(t *testing.T) {
	o := testOptions(vfs.NewMem())
	e := mustOpen(t, o)
	if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "in use by another server") {
		t.Fatalf("second open: %v", err)
	}
	mustClose(t, e)
	mustClose(t, mustOpen(t, o))
}
