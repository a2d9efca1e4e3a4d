package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"varve/engine/status"
	"varve/engine/vfs"
)

// TestCrash cuts the power at a random operation of the file system, several times in a row, recovery included. What
// was acknowledged is there exactly once; the operation that the crash met is there wholly or not at all.
// VARVE_CRASH_SEEDS asks for more runs, as before a release.
func TestCrash(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_CRASH_SEEDS", effort(50, 100, 1000)) {
		crashRun(t, seed)
		if t.Failed() {
			return
		}
	}
}

// seedsOf is the number of random runs of a test: that of an environment variable, if it is set.
func seedsOf(t *testing.T, name string, usual int) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return uint64(usual)
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// errPower is what the file system answers once the power is cut.
var errPower = errors.New("the power is cut")

// fuse lets a number of file system operations happen and fails all later ones.
type fuse struct {
	mu   sync.Mutex
	left int
}

func (f *fuse) before(vfs.Op, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left == 0 {
		return errPower
	}
	f.left--
	return nil
}

func crashRun(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	w := newWorkload(rand.New(rand.NewPCG(seed, 12)))
	disk := vfs.NewMem()
	for round := range 4 {
		when := fmt.Sprintf("seed %d, round %d", seed, round)
		f := &fuse{left: 20 + r.IntN(400)}
		o := testOptions(vfs.WithFaults(disk, f.before))
		if r.IntN(3) == 0 {
			o.MemtableLimit = 16 << 10 // replay must flush
		}
		o.WriteWait = 1
		last, possible := crashOperations(t, o, w, when)
		disk = disk.Crash(r)
		o.FS, o.MemtableLimit = disk, 0
		e, err := Open(o)
		if err != nil {
			t.Fatalf("%s: open after the crash: %v\n%s", when, err, disk.Files())
		}
		if aside := e.SetAside(); len(aside) > 0 {
			t.Fatalf("%s: damage after a mere crash: %v", when, aside)
		}
		got, err := dump(e)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		k := slices.IndexFunc(possible, func(m model) bool { return m.dump() == got })
		if k < 0 {
			t.Fatalf("%s: crashed in %q:\nagainst the state before it:\n%sagainst the state after it:\n%s", when, last,
				difference(got, possible[0].dump()), difference(got, possible[len(possible)-1].dump()))
		}
		w.model = possible[k]
		mustClose(t, e)
	}
}

// crashOperations runs random operations until the power is cut and gives the last one with the states that the store
// may be found in. Writes that are refused for lack of memory make room by a flush.
func crashOperations(t *testing.T, o Options, w *workload, when string) (last string, possible []model) {
	e, err := Open(o)
	if err != nil {
		if !errors.Is(err, errPower) {
			t.Fatalf("%s: open: %v", when, err)
		}
		return "open", []model{w.model}
	}
	for {
		op := w.next()
		possible := op.outcomes(w.model)
		err := op.run(e)
		if err == nil {
			w.model = possible[len(possible)-1]
			continue
		}
		if status.Of(err) == status.RegionBusy {
			// Refused before anything happened: a flush makes room, of tables that are no longer in the model as well.
			tables, failed := e.Tables("public")
			for i := 0; failed == nil && i < len(tables); i++ {
				failed = e.Flush(ctx, tables[i].Schema.Name)
			}
			err = failed
			op.name, possible = "flush after "+op.name, []model{w.model}
		}
		if err != nil {
			if !errors.Is(err, errPower) {
				t.Fatalf("%s: %s: %v", when, op.name, err)
			}
			// What the store still does on its way down must not make things worse.
			_ = e.Close(ctx, true)
			return op.name, possible
		}
	}
}

// TestCrashConcurrent cuts the power while several writers write and a flusher flushes: every acknowledged batch is
// there exactly once, every other one wholly or not at all.
func TestCrashConcurrent(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 21))
		disk := vfs.NewMem()
		f := &fuse{left: 60 + r.IntN(300)}
		o := testOptions(vfs.WithFaults(disk, f.before))
		o.NoBackground = false
		e, err := Open(o)
		if err != nil {
			continue
		}
		const writers = 4
		var wg sync.WaitGroup
		acked := make([][]bool, writers)
		for k := range writers {
			wg.Go(func() {
				for i := 0; ; i++ {
					rows := make([]modelRow, 30)
					for j := range rows {
						rows[j] = modelRow{"ts": int64(i), "batch": int64(k*100000 + i), "row": int64(j)}
					}
					err := put(e, "log", appendOnly, rows)
					acked[k] = append(acked[k], err == nil)
					if err != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		_ = e.Close(ctx, false)
		disk = disk.Crash(r)
		o.FS = disk
		if r.IntN(2) == 0 {
			o.MemtableLimit = 4 << 10
		}
		e = mustOpen(t, o)
		checkBatches(t, e, acked, fmt.Sprintf("seed %d", seed))
		mustClose(t, e)
	}
}

// checkBatches reads the batches of TestCrashConcurrent back.
func checkBatches(t *testing.T, e *Engine, acked [][]bool, when string) {
	t.Helper()
	tables, err := e.Tables("public")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	if len(tables) > 0 {
		lines, err := scanTable(e, public("log"), everything)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		for _, l := range lines {
			seen[l]++
		}
	}
	for k, batches := range acked {
		for i, ok := range batches {
			found := 0
			for j := range 30 {
				n := seen[modelRow{"ts": int64(i), "batch": int64(k*100000 + i), "row": int64(j)}.String()]
				if n > 1 {
					t.Fatalf("%s: writer %d, batch %d: row %d is there %d times", when, k, i, j, n)
				}
				found += n
			}
			if ok && found != 30 || found != 0 && found != 30 {
				t.Fatalf("%s: writer %d, batch %d, acknowledged %v: %d of 30 rows", when, k, i, ok, found)
			}
		}
	}
}
