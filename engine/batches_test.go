package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// putBatch writes rows of two tables as a batch with an id; the same number is the same batch.
func putBatch(e *Engine, id string, n, rows int) error {
	var set WriteSet
	for _, table := range []string{"a", "b"} {
		all := make([]modelRow, rows)
		for j := range all {
			all[j] = modelRow{"ts": int64(n), "batch": int64(n), "row": int64(j)}
		}
		if err := fill(set.Rows(public(table), hintOf(appendOnly)), all); err != nil {
			return err
		}
	}
	out, err := e.Write(WithBatch(ctx, id), &set)
	if err == nil && (len(out) != 1 || out[0].Rows != 2*rows) {
		err = fmt.Errorf("%d rows written, answer %v", 2*rows, out)
	}
	return err
}

// batchRows is how often each row of a table is there.
func batchRows(t *testing.T, e *Engine, table string) map[string]int {
	t.Helper()
	lines, err := scanTable(e, public(table), everything)
	if err != nil && status.Of(err) != status.TableNotFound {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, l := range lines {
		seen[l]++
	}
	return seen
}

// TestBatchesCrash cuts the power at random operations while batches are sent, and sends each until it is answered,
// some of them again after that: flushes, merges and starts do not make the store forget one, and no row is there
// twice.
func TestBatchesCrash(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_CRASH_SEEDS", effort(40, 100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 31))
		disk, sent := vfs.NewMem(), 0
		for round := 0; round < 5; round++ {
			f := &fuse{left: 20 + r.IntN(300)}
			o := testOptions(vfs.WithFaults(disk, f.before))
			o.WALFileSize = 4 << 10
			e, err := Open(o)
			for err == nil {
				switch n := max(0, sent-r.IntN(20)); r.IntN(8) {
				case 0:
					err = errors.Join(e.Flush(ctx, public("a")), e.Flush(ctx, public("b")))
				case 1:
					err = e.Flush(ctx, public([]string{"a", "b"}[r.IntN(2)]))
				case 2:
					err = putBatch(e, fmt.Sprint("id", n), n, 3+n%5) // its answer was lost, or it is the next
				default:
					if err = putBatch(e, fmt.Sprint("id", sent), sent, 3+sent%5); err == nil {
						sent++
					}
				}
				if status.Of(err) == status.TableNotFound {
					err = nil
				}
			}
			if !errors.Is(err, errPower) {
				t.Fatalf("seed %d, round %d: %v", seed, round, err)
			}
			if e != nil {
				_ = e.Close(ctx, r.IntN(2) == 0)
			}
			disk = disk.Crash(r)
		}
		e := mustOpen(t, testOptions(disk))
		for n := range sent + 1 { // the last may be there in part
			if err := putBatch(e, fmt.Sprint("id", n), n, 3+n%5); n == sent && err != nil {
				t.Fatal(err)
			}
		}
		for _, table := range []string{"a", "b"} {
			want := 0
			for n := range sent + 1 {
				want += 3 + n%5
			}
			seen := batchRows(t, e, table)
			twice := slices.DeleteFunc(slices.Collect(maps.Keys(seen)), func(l string) bool { return seen[l] == 1 })
			if len(seen) != want || len(twice) > 0 {
				t.Fatalf("seed %d: table %s has %d rows of %d; more than once: %v", seed, table, len(seen), want, twice)
			}
		}
		mustClose(t, e)
	}
}

// TestBatchesLogFails: a batch whose record reached the log although the log said otherwise is there once, whether it
// is sent again before or after a start, or a flush has taken what was written meanwhile.
func TestBatchesLogFails(t *testing.T) {
	for _, between := range []string{"nothing", "flush", "start", "flush and start"} {
		t.Run(between, func(t *testing.T) {
			disk := vfs.NewMem()
			var broken error
			o := testOptions(vfs.WithFaults(disk, func(op vfs.Op, name string) error {
				if op == vfs.OpSync && strings.HasSuffix(name, ".wal") {
					return broken // what was written before stays written
				}
				return nil
			}))
			e := mustOpen(t, o)
			if err := putBatch(e, "first", 1, 4); err != nil {
				t.Fatal(err)
			}
			broken = errPower
			if err := putBatch(e, "second", 2, 4); err == nil {
				t.Fatal("the log failed, and the batch is answered as stored")
			}
			broken = nil
			if err := putBatch(e, "third", 3, 4); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(between, "flush") {
				if err := errors.Join(e.Flush(ctx, public("a")), e.Flush(ctx, public("b"))); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(between, "start") {
				_ = e.Close(ctx, false)
				e = mustOpen(t, o)
			}
			for n, id := range []string{"first", "second", "third"} {
				if err := putBatch(e, id, n+1, 4); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, e)
			e = mustOpen(t, o)
			defer mustClose(t, e)
			for _, table := range []string{"a", "b"} {
				seen := batchRows(t, e, table)
				for l, n := range seen {
					if n != 1 {
						t.Errorf("%s: %d times", l, n)
					}
				}
				if len(seen) != 12 {
					t.Errorf("table %s has %d rows of 12", table, len(seen))
				}
			}
		})
	}
}

// TestBatchesOthers: the id is of a table's rows, not of a name: a table that was dropped and made anew takes the
// batch, and so does one that is emptied by nobody but its client, under another id. A part of another size is none of
// the batch.
func TestBatchesOthers(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	want := func(rows int) {
		t.Helper()
		if got := len(batchRows(t, e, "a")); got != rows {
			t.Fatalf("%d rows, want %d", got, rows)
		}
	}
	for range 2 {
		if err := putBatch(e, "id", 1, 5); err != nil {
			t.Fatal(err)
		}
		want(5)
	}
	if err := e.DropTables(ctx, []schema.Name{public("a")}); err != nil {
		t.Fatal(err)
	}
	if err := putBatch(e, "id", 1, 5); err != nil {
		t.Fatal(err)
	}
	want(5)
	if n := len(batchRows(t, e, "b")); n != 5 {
		t.Errorf("%d rows in the table that stayed", n)
	}
	if err := errors.Join(putBatch(e, "other", 2, 5), putBatch(e, "id", 3, 6)); err != nil {
		t.Fatal(err)
	}
	want(16)
}

// TestBatchesAtOnce: of requests with one id that are at work at once, one is stored.
func TestBatchesAtOnce(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			if err := putBatch(e, fmt.Sprint("id", i%8), i%8, 5); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for l, n := range batchRows(t, e, "a") {
		if n != 1 {
			t.Errorf("%s: %d times", l, n)
		}
	}
	leave, err := e.batches.enter(ctx, &batch{id: "held"})
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := e.Write(WithBatch(short, "held"), &WriteSet{}); status.Of(err) != status.DeadlineExceeded {
		t.Errorf("a request that ended while it waited: %v", err)
	}
	leave()
}

// TestBatchesForgotten: the oldest are forgotten when there are too many, and all when their time is over.
func TestBatchesForgotten(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	s := newBatches(func() time.Time { return now }, slog.New(slog.DiscardHandler))
	note := func(n int) batchNote { return batchNote{schema.TableID(n), batchKey{1}} }
	for n := range rememberedBatches + 5 {
		s.remember(note(n), now.Unix())
	}
	if len(s.at) != rememberedBatches || s.bytes() != rememberedBatches*batchBytes {
		t.Errorf("%d are remembered", len(s.at))
	}
	if _, old := s.at[note(4)]; old {
		t.Error("the oldest is remembered")
	}
	now = now.Add(rememberBatches + time.Second)
	s.remember(note(-1), now.Unix())
	if len(s.at) != 1 || len(s.order) != 1 {
		t.Errorf("%d are remembered a day later", len(s.at))
	}
}

// TestBatchesTruncated sends a batch again after its tables were emptied, in memory, in parts and by a start in
// between: the rows are stored, once, whatever was remembered of the batch.
func TestBatchesTruncated(t *testing.T) {
	empty := map[string]func(e *Engine, n schema.Name) error{
		"TRUNCATE": func(e *Engine, n schema.Name) error { return e.Truncate(ctx, n) },
		"keep none": func(e *Engine, n schema.Name) error {
			for range 2 { // and keep all again
				if err := e.Alter(ctx, n, schemaChanges[keepNothing]); err != nil {
					return err
				}
			}
			return nil
		},
	}
	for name, empty := range empty {
		for _, flushed := range []bool{false, true} {
			for _, started := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s flushed=%v started=%v", name, flushed, started), func(t *testing.T) {
					o := testOptions(vfs.NewMem())
					e := mustOpen(t, o)
					for round := range 3 {
						for range 2 {
							if err := putBatch(e, "one", 1, 3); err != nil {
								t.Fatal(err)
							}
						}
						for _, table := range []string{"a", "b"} {
							if flushed {
								if err := e.Flush(ctx, public(table)); err != nil {
									t.Fatal(err)
								}
							}
							if n := batchRows(t, e, table); len(n) != 3 ||
								slices.Max(slices.Collect(maps.Values(n))) > 1 {
								t.Errorf("round %d: table %s has %v", round, table, n)
							}
							if err := empty(e, public(table)); err != nil {
								t.Fatal(err)
							}
						}
						if started {
							mustClose(t, e)
							e = mustOpen(t, o)
						}
					}
					mustClose(t, e)
				})
			}
		}
	}
}
