package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"varve/engine/parts"
	"varve/engine/parts/partstest"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// far puts the parts of a store far away, see partstest.Slow.
func far(o *Options, before func(ctx context.Context, op partstest.Op) error) *partstest.Slow {
	s := &partstest.Slow{Before: before}
	o.place = func(local *parts.Local) parts.Store {
		s.Store = local
		return s
	}
	return s
}

// TestFarParts does random operations on a store whose parts are no mappings: what is released is overwritten, so what
// is used after that shows, and nothing stays lent.
func TestFarParts(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(2, 3, 20)) {
		r := rand.New(rand.NewPCG(seed, 1))
		o := testOptions(vfs.NewMem())
		slow := far(&o, func(ctx context.Context, _ partstest.Op) error {
			runtime.Gosched()
			return ctx.Err()
		})
		e := mustOpen(t, o)
		w := newWorkload(rand.New(rand.NewPCG(seed, 2)))
		for i := range 60 {
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
				if r.IntN(3) == 0 {
					if err := e.Compact(ctx, public(name)); err != nil {
						t.Fatal(err)
					}
				}
			}
			when := fmt.Sprintf("seed %d, operation %d: %s", seed, i, op.name)
			compareQueries(t, e, w.model, r, when)
			compareSeries(t, e, w.model, r, when)
			if i%20 == 19 {
				compare(t, e, w.model, when)
				mustClose(t, e)
				e = mustOpen(t, o)
				compare(t, e, w.model, when+", reopened")
			}
		}
		mustClose(t, e)
		if slow.Lent() != 0 || slow.Reads() < 1000 {
			t.Errorf("seed %d: %d of %d reads are lent at the end", seed, slow.Lent(), slow.Reads())
		}
	}
}

// TestFarPartsFail reads, merges and writes while some reads of parts, or all, fail: each call gives the right answer
// or says that the part cannot be read now. Nothing is taken for damage, and nothing is lost.
func TestFarPartsFail(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_MODEL_SEEDS", effort(2, 3, 20)) {
		var mu sync.Mutex // protects r and percent
		r, percent := rand.New(rand.NewPCG(seed, 7)), 0
		fails := func(p int) {
			mu.Lock()
			defer mu.Unlock()
			percent = p
		}
		o := testOptions(vfs.NewMem())
		o.CacheBytes = 1 // each query reads
		slow := far(&o, func(_ context.Context, op partstest.Op) error {
			mu.Lock()
			defer mu.Unlock()
			if op == partstest.OpRead && r.IntN(100) < percent {
				return errors.New("the bucket is away")
			}
			return nil
		})
		e := mustOpen(t, o)
		w := newWorkload(rand.New(rand.NewPCG(seed, 2)))
		failed := 0
		told := func(what string, err error) {
			t.Helper()
			if err == nil {
				return
			}
			failed++
			if status.Of(err) != status.StorageUnavailable {
				t.Errorf("seed %d: %s: %v (%v)", seed, what, err, status.Of(err))
			}
		}
		for i := range 60 {
			op := w.next()
			if err := op.run(e); err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.name, err)
			}
			if op.change != nil {
				op.change(w.model)
			}
			fails([]int{1, 10, 50, 100}[i%4])
			for name := range w.model {
				told("flush", e.Flush(ctx, public(name)))
				told("compact", e.Compact(ctx, public(name)))
			}
			got, err := dump(e)
			told("dump", err)
			if want := w.model.dump(); err == nil && got != want {
				t.Fatalf("seed %d, operation %d: while reads fail:\n%s", seed, i, difference(got, want))
			}
			fails(0)
			when := fmt.Sprintf("seed %d, operation %d: %s", seed, i, op.name)
			compare(t, e, w.model, when)
			if aside := e.SetAside(); len(aside) > 0 {
				t.Fatalf("%s: set aside: %v", when, aside)
			}
			if i%20 == 19 {
				mustClose(t, e)
				e = mustOpen(t, o)
				compare(t, e, w.model, when+", reopened")
			}
		}
		mustClose(t, e)
		if slow.Lent() != 0 || failed < 20 {
			t.Errorf("seed %d: %d calls failed, %d reads are lent at the end", seed, failed, slow.Lent())
		}
	}
}

// TestFarPartsWait ends a query and a merge that wait for a read of a part which never comes.
func TestFarPartsWait(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(ctx context.Context, e *Engine, n schema.Name) error
	}{
		{"scan", func(ctx context.Context, e *Engine, n schema.Name) error {
			s, err := e.Scan(ctx, requestOf(t, e, n))
			if err != nil {
				return err
			}
			defer s.Close()
			w, err := s.Series(0, 1)
			if err != nil {
				return err
			}
			defer w.Close()
			for {
				if _, ok, err := w.Next(); err != nil || !ok {
					return err
				}
			}
		}},
		{"merge", func(ctx context.Context, e *Engine, n schema.Name) error { return e.Compact(ctx, n) }},
	} {
		for _, kind := range []modelKind{appendOnly, lastRow} {
			t.Run(fmt.Sprint(c.name, kind), func(t *testing.T) {
				var never atomic.Bool
				waits := make(chan struct{}, 1)
				o := testOptions(vfs.NewMem())
				o.CacheBytes = 1
				far(&o, func(ctx context.Context, op partstest.Op) error {
					if op != partstest.OpRead || !never.Load() {
						return nil
					}
					select {
					case waits <- struct{}{}:
					default:
					}
					<-ctx.Done()
					return ctx.Err()
				})
				e := mustOpen(t, o)
				n := public("t")
				for from := range 3 {
					writeMany(t, e, n, kind, int64(from*100), 4_000)
					if err := e.Flush(ctx, n); err != nil {
						t.Fatal(err)
					}
				}
				never.Store(true)
				gone, end := context.WithCancel(ctx)
				defer end()
				done := make(chan error, 1)
				go func() { done <- c.call(gone, e, n) }()
				select {
				case <-waits:
				case err := <-done:
					t.Fatalf("nothing was read: %v", err)
				}
				end()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("who waits and ends: %v", err)
				}
				never.Store(false)
				rows, err := scanTable(e, n, everything)
				if err != nil || len(rows) == 0 || len(e.SetAside()) > 0 {
					t.Errorf("%d rows afterwards: %v, set aside: %v", len(rows), err, e.SetAside())
				}
				mustClose(t, e)
			})
		}
	}
}
