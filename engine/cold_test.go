package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/bucket"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
)

// badBucket is a bucket whose calls wait, fail and lie as a test says.
type badBucket struct {
	bucket.Bucket
	mu     sync.Mutex
	before func(ctx context.Context, call, name string) error // nil: nothing happens
	after  func(call string, p []byte)                        // may change what was read; nil: nothing happens
	reads  int

	modified time.Time // of all objects; zero: as the bucket says
}

func (b *badBucket) set(before func(ctx context.Context, call, name string) error, after func(string, []byte)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before, b.after = before, after
}

func (b *badBucket) call(ctx context.Context, call, name string) error {
	b.mu.Lock()
	before := b.before
	if call == "read" {
		b.reads++
	}
	b.mu.Unlock()
	if before == nil {
		return nil
	}
	return before(ctx, call, name)
}

func (b *badBucket) readCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reads
}

func (b *badBucket) Put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	if err := b.call(ctx, "put", name); err != nil {
		return err
	}
	if err := b.Bucket.Put(ctx, name, body, size); err != nil {
		return err
	}
	return b.call(ctx, "put done", name)
}

func (b *badBucket) Read(ctx context.Context, name string, p []byte, off int64) error {
	if err := b.call(ctx, "read", name); err != nil {
		return err
	}
	err := b.Bucket.Read(ctx, name, p, off)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil && b.after != nil {
		b.after("read", p)
	}
	return err
}

func (b *badBucket) Stat(ctx context.Context, name string) (bucket.Object, error) {
	if err := b.call(ctx, "stat", name); err != nil {
		return bucket.Object{}, err
	}
	return b.Bucket.Stat(ctx, name)
}

func (b *badBucket) List(ctx context.Context, prefix string, each func(bucket.Object) error) error {
	if err := b.call(ctx, "list", prefix); err != nil {
		return err
	}
	return b.Bucket.List(ctx, prefix, func(o bucket.Object) error {
		if !b.modified.IsZero() {
			o.Modified = b.modified
		}
		return each(o)
	})
}

func (b *badBucket) Remove(ctx context.Context, name string) error {
	if err := b.call(ctx, "remove", name); err != nil {
		return err
	}
	return b.Bucket.Remove(ctx, name)
}

// coldOptions are those of a store whose parts are old at once; the bucket is a directory in memory.
func coldOptions(t testing.TB, o Options) (Options, *badBucket) {
	t.Helper()
	dir, err := bucket.Open(ctx, bucket.Options{URL: "/bucket", FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	b := &badBucket{Bucket: dir}
	o.CacheBytes = 1 // each query reads
	o.Cold = &ColdOptions{Bucket: b, After: time.Nanosecond, Timeout: time.Minute, Keep: time.Nanosecond}
	return o, b
}

// settleCold moves what can move and removes what can be removed. It holds that nothing is left in the bucket that no
// cold part needs, and nothing in the data directory beside the stubs of cold parts.
func settleCold(t *testing.T, e *Engine, b bucket.Bucket, when string) {
	t.Helper()
	for range 3 {
		if err := passNow(e); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
	}
	if s := e.Cold(); s.Waiting > 0 || s.LastFailure != "" {
		t.Fatalf("%s: %+v", when, s)
	}
	got, want, files := objectsOf(t, b), []string{}, map[parts.Entry]bool{}
	for _, table := range e.manifest.State().Tables {
		for _, p := range table.Parts {
			files[entryOf(p.File, p.Location)] = true
			if p.Location != "" {
				want = append(want, p.Object())
				continue
			}
			// A part that was on its way when a merge came to want it: its stub stays as long as the part does.
			if s, err := e.files.local.Stub(p.File); err == nil {
				files[parts.Entry{File: p.File, Cold: true}] = true
				if slices.Contains(got, s.Object) {
					want = append(want, s.Object)
				}
			}
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("%s: the bucket has\n%s\nthe manifest names\n%s", when, strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	entries, err := e.files.local.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range entries {
		if !files[f] {
			t.Errorf("%s: %s is there, and no list names it", when, f)
		}
		delete(files, f)
	}
	for f := range files {
		t.Errorf("%s: %s is not there", when, f)
	}
}

// passNow does a pass of the mover in which all is due.
func passNow(e *Engine) error {
	e.mover.swept, e.mover.snapshots.due, e.mover.holder.looked = time.Time{}, time.Time{}, time.Time{}
	return e.mover.pass(ctx)
}

// objectsOf are the objects of parts in the bucket.
func objectsOf(t *testing.T, b bucket.Bucket) []string {
	t.Helper()
	names := []string{}
	if err := b.List(ctx, "parts/", func(o bucket.Object) error {
		names = append(names, o.Name)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestCold does random operations on a store whose parts go to a bucket: all answers are those of a store that has
// everything on its disk, whatever has moved, and after a start.
func TestCold(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(3, 4, 30)) {
		r := rand.New(rand.NewPCG(seed, 21))
		o, b := coldOptions(t, testOptions(vfs.NewMem()))
		e := mustOpen(t, o)
		w := newWorkload(rand.New(rand.NewPCG(seed, 22)))
		moved := int64(0)
		for i := range 60 {
			op := w.next()
			if err := op.run(e); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.name, err)
			}
			if op.change != nil {
				op.change(w.model)
			}
			when := fmt.Sprintf("seed %d, operation %d: %s", seed, i, op.name)
			for name := range w.model {
				if r.IntN(2) == 0 {
					if err := e.Flush(ctx, public(name)); err != nil {
						t.Fatal(err)
					}
				}
				if r.IntN(6) == 0 {
					if err := e.Compact(ctx, public(name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if r.IntN(2) == 0 {
				settleCold(t, e, b, when)
			}
			compareQueries(t, e, w.model, r, when)
			compareSeries(t, e, w.model, r, when)
			if i%20 == 19 {
				compare(t, e, w.model, when)
				moved += e.Cold().Moved
				mustClose(t, e)
				e = mustOpen(t, o)
				compare(t, e, w.model, when+", reopened")
			}
			if aside := e.SetAside(); len(aside) > 0 {
				t.Fatalf("%s: set aside: %v", when, aside)
			}
		}
		settleCold(t, e, b, "at the end")
		if moved < 5 {
			t.Errorf("seed %d: %d parts moved", seed, moved)
		}
		mustClose(t, e)
	}
}

// TestColdCrash cuts the power at any call of the file system or of the bucket while parts move and objects are
// removed: nothing is lost, and no object stays that no part needs.
func TestColdCrash(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_CRASH_SEEDS", effort(12, 30, 500)) {
		r := rand.New(rand.NewPCG(seed, 31))
		w := newWorkload(rand.New(rand.NewPCG(seed, 32)))
		disk := vfs.NewMem()
		o, b := coldOptions(t, testOptions(disk))
		for round := range 4 {
			when := fmt.Sprintf("seed %d, round %d", seed, round)
			f := &fuse{left: 50 + r.IntN(600)}
			o.FS = vfs.WithFaults(disk, f.before)
			b.set(func(_ context.Context, call, name string) error { return f.before(vfs.Op(call), name) }, nil)
			o.Cold.Timeout = time.Millisecond // once the power is cut all reads fail
			possible := coldCrash(t, o, w, when)
			o.Cold.Timeout = time.Minute
			disk = disk.Crash(r)
			o.FS = disk
			b.set(nil, nil)
			restorable(t, b, when)
			e := mustOpen(t, o)
			if aside := e.SetAside(); len(aside) > 0 {
				t.Fatalf("%s: damage after a mere crash: %v", when, aside)
			}
			got, err := dump(e)
			if err != nil {
				t.Fatalf("%s: %v", when, err)
			}
			k := slices.IndexFunc(possible, func(m model) bool { return m.dump() == got })
			if k < 0 {
				t.Fatalf("%s:\n%s", when, difference(got, possible[0].dump()))
			}
			w.model = possible[k]
			settleCold(t, e, b, when)
			compare(t, e, w.model, when+", settled")
			mustClose(t, e)
		}
	}
}

// coldCrash runs random operations and moves until the power is cut. It gives the states that the store may be found
// in.
func coldCrash(t *testing.T, o Options, w *workload, when string) []model {
	e, err := Open(o)
	if err != nil {
		if !errors.Is(err, errPower) {
			t.Fatalf("%s: open: %v", when, err)
		}
		return []model{w.model}
	}
	defer func() { _ = e.Close(ctx, false) }() // what it still does must not make things worse
	for {
		op := w.next()
		possible := op.outcomes(w.model)
		err := op.run(e)
		if err == nil {
			w.model = possible[len(possible)-1]
			for name := range w.model {
				if err = e.Flush(ctx, public(name)); err != nil {
					break
				}
			}
			possible = []model{w.model}
		}
		if err == nil {
			_ = passNow(e) // told by Cold
			if e.Cold().LastFailure == "" {
				continue
			}
			// Moves fail now; what is done with the store from here on must be right all the same.
			_, _ = dump(e)
			continue
		}
		return possible
	}
}

// TestColdFaults reads, writes and moves while the bucket fails, gives what it was not given, and cuts: each call gives
// the right answer or says that the data cannot be read now. Nothing is taken for damage, and nothing is lost.
func TestColdFaults(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(2, 3, 20)) {
		r := rand.New(rand.NewPCG(seed, 41))
		o, b := coldOptions(t, testOptions(vfs.NewMem()))
		e := mustOpen(t, o)
		w := newWorkload(rand.New(rand.NewPCG(seed, 42)))
		var mu sync.Mutex // protects r in calls
		told := 0
		for i := range 50 {
			op := w.next()
			if err := op.run(e); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.name, err)
			}
			if op.change != nil {
				op.change(w.model)
			}
			for name := range w.model {
				if err := e.Flush(ctx, public(name)); err != nil {
					t.Fatal(err)
				}
			}
			percent, lies := []int{0, 10, 50, 100}[i%4], i%3 == 0
			dice := func(p int) bool {
				mu.Lock()
				defer mu.Unlock()
				return r.IntN(100) < p
			}
			b.set(func(_ context.Context, call, _ string) error {
				if dice(percent) {
					return errors.New("503 SlowDown")
				}
				return nil
			}, func(_ string, p []byte) {
				if lies && dice(20) && len(p) > 0 {
					p[len(p)/2]++
				}
			})
			e.mover.pass(ctx)
			remote := e.files.objects.(*parts.Remote)
			remote.Timeout = 2 * time.Millisecond
			got, err := dump(e)
			remote.Timeout = time.Minute
			if err != nil && status.Of(err) != status.StorageUnavailable {
				t.Fatalf("seed %d, operation %d: %v (%v)", seed, i, err, status.Of(err))
			}
			if want := w.model.dump(); err == nil && got != want {
				t.Fatalf("seed %d, operation %d: while the bucket fails:\n%s", seed, i, difference(got, want))
			}
			if err != nil {
				told++
			}
			b.set(nil, nil)
			when := fmt.Sprintf("seed %d, operation %d: %s", seed, i, op.name)
			compare(t, e, w.model, when)
			if aside := e.SetAside(); len(aside) > 0 {
				t.Fatalf("%s: set aside: %v", when, aside)
			}
		}
		settleCold(t, e, b, "at the end")
		if told == 0 || e.Cold().Failures == 0 {
			t.Errorf("seed %d: %d queries and %d moves failed", seed, told, e.Cold().Failures)
		}
		mustClose(t, e)
	}
}
