package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"varve/engine/admission"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
	"varve/wal"
)

// committed is a committer with a log, a table and a disk, and no store around them.
type committed struct {
	*committer
	disk   *vfs.Mem
	broken error // of writing to the log
	region *region
	closed chan struct{}
	asked  []*region // for a flush
}

func newCommitted(t *testing.T) *committed {
	t.Helper()
	c := &committed{disk: vfs.NewMem(), closed: make(chan struct{})}
	fs := vfs.WithFaults(c.disk, func(op vfs.Op, _ string) error {
		if op == vfs.OpWrite {
			return c.broken
		}
		return nil
	})
	log, err := wal.Open(fs, "/wal", wal.Options{Sync: "always", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Replay(0, func(wal.LSN, []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	c.committer = &committer{primary: &Primary{}, log: log,
		memory:  newMemory(ownMemory(&Options{MemtableLimit: 1 << 20}), 0),
		space:   newSpace(&Options{FS: c.disk, Dir: "/", Now: time.Now}, nil),
		batches: newBatches(time.Now, slog.Default()),
		metrics: newMetrics(&Engine{}), now: time.Now,
		patience: time.Millisecond, closing: c.closed, flushBytes: 1 << 20,
		flush:        func(r *region) { c.asked = append(c.asked, r) },
		flushLargest: func() { c.asked = append(c.asked, nil) }}
	c.region = newRegion(c.memory, &schema.Table{ID: 7, Name: public("t"), NextColumn: 2,
		Columns: []schema.Column{{ID: 1, Name: "ts", Type: vector.Timestamp(3), Semantic: schema.Timestamp}}})
	return c
}

// rows are rows of the table under its present schema, at some times.
func (c *committed) rows(times ...int64) *tableWrite {
	t := c.region.snap.Load().schema
	b := &vector.Batch{N: len(times)}
	rec := &record{table: t.ID, batch: b}
	rec.add(&t.Columns[0], &vector.Vector{Type: t.Columns[0].Type, Ints: times})
	return &tableWrite{at: home{region: c.region}, schema: t, rec: rec, batch: b}
}

// logged returns the sequence numbers of the records in the log.
func (c *committed) logged(t *testing.T) (seqs []uint64) {
	t.Helper()
	_, err := wal.Check(c.disk, "/wal", wal.Range{}, func(_ wal.LSN, rec []byte) error {
		r, _, err := readRecordHead(rec)
		if err == nil {
			seqs = append(seqs, r.seq)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return seqs
}

func (c *committed) inMemory() int { return c.region.snap.Load().live.table.Rows() }

// TestCommit: rows are in the log under rising numbers, then in memory, which is counted.
func TestCommit(t *testing.T) {
	c := newCommitted(t)
	c.seen(10)
	for i := range int64(3) {
		if again, err := c.commit(ctx, []*tableWrite{c.rows(2*i, 2*i+1)}); err != nil || len(again) > 0 {
			t.Fatalf("%d writes again, %v", len(again), err)
		}
	}
	if got := c.logged(t); !slices.Equal(got, []uint64{11, 12, 13}) {
		t.Errorf("numbers %v are in the log", got)
	}
	if m := c.region.snap.Load().live; c.inMemory() != 6 || m.lastSeq != 13 || c.memory.used() == 0 ||
		len(c.asked) > 0 {
		t.Errorf("%d rows up to %d in memory, %d bytes counted, %d flushes asked for", c.inMemory(), m.lastSeq,
			c.memory.used(), len(c.asked))
	}
	c.flushBytes = 1
	if _, err := c.commit(ctx, []*tableWrite{c.rows(9)}); err != nil || !slices.Equal(c.asked, []*region{c.region}) {
		t.Errorf("a memtable that is full asks for %v: %v", c.asked, err)
	}
}

// TestCommitRefuses: what is not written is neither in the log nor in memory, and nobody who flushes waits for it.
func TestCommitRefuses(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	boom := errors.New("broken disk")
	for _, c := range []struct {
		name string
		ctx  context.Context
		set  func(c *committed)
		want status.Code
	}{
		{"the client is gone", gone, func(*committed) {}, status.DeadlineExceeded},
		{"the log cannot be written", ctx, func(c *committed) { c.broken = boom }, status.StorageUnavailable},
	} {
		x := newCommitted(t)
		c.set(x)
		if _, err := x.commit(c.ctx, []*tableWrite{x.rows(1)}); status.Of(err) != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
		x.region.snap.Load().live.writers.Wait()
		if got := x.logged(t); x.inMemory() != 0 || len(got) > 0 {
			t.Errorf("%s: %d rows in memory, %v in the log", c.name, x.inMemory(), got)
		}
	}
}

// TestCommitAfterAlter: rows that were made for another schema come back, after the change.
func TestCommitAfterAlter(t *testing.T) {
	c := newCommitted(t)
	w := c.rows(1)
	open := c.region.close()
	if _, err := c.commit(ctx, []*tableWrite{w}); status.Of(err) != status.RegionBusy {
		t.Errorf("a table that is altered for long: %v", err)
	}
	c.patience = time.Hour
	ended := make(chan error)
	var again []*tableWrite
	go func() {
		var err error
		again, err = c.commit(ctx, []*tableWrite{w})
		ended <- err
	}()
	next := *c.region.snap.Load().schema
	c.region.mu.Lock()
	home{region: c.region}.publish(&next)
	c.region.mu.Unlock()
	open()
	if err := <-ended; err != nil || len(again) != 1 || again[0] != w || c.inMemory() != 0 {
		t.Errorf("%d writes come back, %d rows in memory: %v", len(again), c.inMemory(), err)
	}
}

// TestAdmit: at the limit of memory a write asks for a flush and waits, and goes on when there is room.
func TestAdmit(t *testing.T) {
	c := newCommitted(t)
	c.memory.account.Add(admission.Memtable, c.memory.limit)
	if err := c.admit(ctx); status.Of(err) != status.RegionBusy || len(c.asked) == 0 {
		t.Errorf("at the limit, %d flushes asked for: %v", len(c.asked), err)
	}
	c.patience = time.Hour
	c.flushLargest = func() {
		c.memory.account.Add(admission.Memtable, -c.memory.rows())
	}
	if err := c.admit(ctx); err != nil {
		t.Errorf("when there is room: %v", err)
	}
	c.memory.account.Add(admission.Memtable, c.memory.limit)
	c.flushLargest = func() { close(c.closed) }
	if err := c.admit(ctx); !errors.Is(err, ErrClosed) {
		t.Errorf("while the store closes: %v", err)
	}
	c.space.free = 1 << 60
	c.space.at = time.Time{}
	if err := c.admit(ctx); status.Of(err) != status.StorageUnavailable {
		t.Errorf("without room on the disk: %v", err)
	}
}
