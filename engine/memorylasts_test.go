package engine

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"varve/engine/admission"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// trouble is what keeps flushes from giving memory back.
type trouble int

const (
	noTrouble   trouble = iota
	diskFull            // nothing finds room, the log neither
	partsFull           // parts and the manifest find no room
	partsBroken         // no part can be made durable
	logBroken           // nor the log
	manifestBroken
	diskStalls // parts are written once the trouble is over
	pressed    // other memory is short: a second merge does not begin
	troubles
)

// troubled is a store with little memory on a disk that can be broken and mended.
type troubled struct {
	t     *testing.T
	e     *Engine
	o     Options
	disk  *vfs.Mem
	kinds map[string]modelKind

	at     atomic.Int64 // the trouble
	mu     sync.Mutex   // protects what follows
	mended chan struct{}
	scans  []*Scan
}

func newTroubled(t *testing.T, r *rand.Rand) *troubled {
	s := &troubled{t: t, disk: vfs.NewMem(), kinds: map[string]modelKind{}, mended: make(chan struct{})}
	s.o = testOptions(vfs.WithFaults(s.disk, s.before))
	s.o.NoBackground, s.o.retryFlush, s.o.MinFree, s.o.Ballast = false, time.Millisecond, 64<<10, 64<<10
	s.o.Now = time.Now
	s.o.FlushBytes, s.o.FlushAge = int64(8<<10)<<r.IntN(6), time.Hour
	s.o.MemtableLimit, s.o.SeriesBytes = int64(16<<10)<<r.IntN(4), int64(1)<<(10+r.IntN(7))
	s.o.WriteWait = 5 * time.Millisecond
	kinds := []modelKind{appendOnly, lastRow, lastNonNull, metric}
	for i := range 2 + r.IntN(12) {
		s.kinds[fmt.Sprint("t", i)] = kinds[i%len(kinds)]
	}
	s.e = mustOpen(t, s.o)
	return s
}

// before fails what the present trouble has fail.
func (s *troubled) before(op vfs.Op, name string) error {
	part, log := strings.Contains(name, "/parts/"), strings.Contains(name, "/wal/")
	changes := op == vfs.OpWrite || op == vfs.OpCreate
	durable := op == vfs.OpSync || op == vfs.OpRename || op == vfs.OpSyncDir
	var err error
	switch trouble(s.at.Load()) {
	case diskFull:
		if changes {
			err = syscall.ENOSPC
		}
	case partsFull:
		if changes && !log {
			err = syscall.ENOSPC
		}
	case partsBroken:
		if part && durable {
			err = syscall.EIO
		}
	case logBroken:
		if log && durable {
			err = syscall.EIO
		}
	case manifestBroken:
		if strings.Contains(name, "MANIFEST") && (changes || durable) {
			err = syscall.EIO
		}
	case diskStalls:
		if part && changes {
			s.mu.Lock()
			mended := s.mended
			s.mu.Unlock()
			<-mended
		}
	}
	if err == nil {
		return nil
	}
	return &os.PathError{Op: string(op), Path: name, Err: err}
}

// begin has a trouble begin.
func (s *troubled) begin(what trouble) {
	if what == diskFull {
		s.disk.SetFree(0)
	}
	if what == pressed {
		s.e.o.Memory.Add(admission.Body, 1)
	}
	s.at.Store(int64(what))
}

// mend ends the trouble, and the scans that keep memtables.
func (s *troubled) mend() {
	if trouble(s.at.Swap(int64(noTrouble))) == pressed {
		s.e.o.Memory.Add(admission.Body, -1)
	}
	s.disk.SetFree(1 << 40)
	s.mu.Lock()
	close(s.mended)
	s.mended = make(chan struct{})
	scans := s.scans
	s.scans = nil
	s.mu.Unlock()
	for _, c := range scans {
		c.Close()
	}
	s.look()
}

// look has the store look at its disks at once.
func (s *troubled) look() {
	s.e.space.mu.Lock()
	defer s.e.space.mu.Unlock()
	s.e.space.at, s.e.space.probed = time.Time{}, time.Time{}
}

// act does one thing at random; what fails for want of a table, of memory or of a disk fails.
func (s *troubled) act(r *rand.Rand) {
	names := slices.Sorted(maps.Keys(s.kinds))
	name := names[r.IntN(len(names))]
	n := public(name)
	var err error
	switch k := r.IntN(100); {
	case k < 62:
		err = s.write(name, r)
	case k < 66:
		err = remove(s.e, name, []modelRow{{"host": "0-", "ts": int64(r.IntN(40))}})
	case k < 70:
		err = s.e.Flush(ctx, n)
	case k < 73:
		err = s.e.Compact(ctx, n)
	case k < 79:
		err = s.e.Truncate(ctx, n)
	case k < 84:
		err = s.e.DropTables(ctx, []schema.Name{n})
	case k < 86:
		err = s.e.DropTables(ctx, []schema.Name{public("phys")})
	case k < 90:
		err = s.e.Alter(ctx, n, renamed(public(names[r.IntN(len(names))])))
	case k < 96:
		err = s.e.Alter(ctx, n, schemaChanges[r.IntN(len(schemaChanges))])
	default:
		err = s.scan(n)
	}
	if code := status.Of(err); err != nil && code == status.Internal && !errors.Is(err, syscall.EIO) {
		s.t.Errorf("%s: %v", name, err)
	}
}

func (s *troubled) write(name string, r *rand.Rand) error {
	rows := rowsOfTags(r.IntN(1000), 1+r.IntN(40), 1<<r.IntN(12))
	kind := s.kinds[name]
	for _, row := range rows {
		switch kind {
		case appendOnly:
			row["s1"] = row["host"]
			delete(row, "host")
		case metric:
			row["value"] = float64(row["v"].(int64)) //nolint:errcheck // rowsOfTags made it
			delete(row, "v")
		}
	}
	var set WriteSet
	if err := fill(set.Rows(public(name), hintOf(kind)), rows); err != nil {
		return err
	}
	_, err := s.e.Write(ctx, &set)
	return err
}

// scan opens a scan that stays open until the trouble is over: what it reads is not freed before.
func (s *troubled) scan(n schema.Name) error {
	tab, err := s.e.Table(n)
	if err != nil {
		return err
	}
	scan, err := s.e.Scan(ctx, Request{Table: tab, Time: everything.time})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scans = append(s.scans, scan)
	return nil
}

func renamed(to schema.Name) func(*schema.Table) (*schema.Table, error) {
	return func(t *schema.Table) (*schema.Table, error) {
		n := *t
		n.Name = to
		return &n, nil
	}
}

// keepNothing is the place of a change, and of the one back, that has a table keep no rows.
const keepNothing = 1

// schemaChanges are changes of a schema.
var schemaChanges = []func(*schema.Table) (*schema.Table, error){
	func(t *schema.Table) (*schema.Table, error) { // the type of a column, there and back
		at := t.Column("v")
		if at < 0 {
			return t, nil
		}
		n := *t
		n.Columns = slices.Clone(t.Columns)
		if n.Columns[at].Type = vector.FloatType; t.Columns[at].Type == vector.FloatType {
			n.Columns[at].Type = vector.Int64Type
		}
		return &n, nil
	},
	func(t *schema.Table) (*schema.Table, error) { // a table keeps nothing for a while
		n := *t
		if n.Options.TTL = schema.TTLInstant; t.Options.TTL == schema.TTLInstant {
			n.Options.TTL = 0
		}
		return &n, nil
	},
	func(t *schema.Table) (*schema.Table, error) { // shows what it had replaced, from now on
		n := *t
		n.Options.AppendMode = true
		return &n, nil
	},
	func(t *schema.Table) (*schema.Table, error) { // no log for a while
		n := *t
		n.Options.SkipWAL = !t.Options.SkipWAL
		return &n, nil
	},
}

// recovers holds that every table takes rows again, by itself and soon.
func (s *troubled) recovers(r *rand.Rand, after trouble) {
	s.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		var err error
		for end := time.Now().Add(10 * time.Second); ; <-time.After(time.Millisecond) {
			err = s.write(name, r)
			code := status.Of(err)
			if err == nil || code != status.RegionBusy && code != status.StorageUnavailable && code != status.Internal {
				break // it takes rows, or the table is another one now
			}
			if time.Now().After(end) {
				s.t.Fatalf("trouble %d is over, %s: %v", after, name, err)
			}
		}
	}
	until(s.t, "being ready", func() bool { s.look(); return s.e.Ready() == nil })
}

// counted holds that memory counts what is there, and nothing else.
func (s *troubled) counted() {
	s.t.Helper()
	for _, r := range s.e.catalog.Load().regions {
		if err := s.e.flusher.flush(ctx, r); err != nil {
			s.t.Fatal(err)
		}
	}
	c := s.e.memory
	var used, series int64
	for _, r := range s.e.catalog.Load().regions {
		for _, m := range r.snap.Load().mems() {
			used += m.table.RowBytes()
			series += m.series.Bytes()
		}
	}
	if got, want := [3]int64{c.used(), c.series(), c.kept()},
		[3]int64{used + series, series, 0}; got != want {
		s.t.Errorf("memory counts %d (used, series, kept), the tables have %d", got, want)
	}
}

// TestFullMemoryEnds plays random loads of several writers with drops, changes and names of tables, while flushes fail
// or do not come to an end, and starts that find the disk full. Once the cause is gone all tables take rows, and memory
// counts no more than there is.
func TestFullMemoryEnds(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_CRASH_SEEDS", effort(4, 10, 200)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 13))
			s := newTroubled(t, r)
			for round := range 6 {
				what := trouble(r.IntN(int(troubles)))
				var writers sync.WaitGroup
				for w := range uint64(3) {
					own := rand.New(rand.NewPCG(seed*100+uint64(round), w))
					writers.Go(func() {
						for range 40 {
							s.act(own)
						}
					})
				}
				<-time.After(time.Duration(r.IntN(5)) * time.Millisecond)
				s.begin(what)
				<-time.After(time.Duration(5+r.IntN(30)) * time.Millisecond)
				s.mend()
				writers.Wait()
				s.mend() // the scans of later
				s.recovers(r, what)
				s.counted()
			}
			s.o.MemtableLimit *= 8 // what a start takes where nothing can be written, one large write more included
			for _, what := range []trouble{noTrouble, diskFull, partsFull} {
				for range 20 {
					s.act(r)
				}
				s.mend()
				mustClose(t, s.e)
				s.begin(what)
				s.e = mustOpen(t, s.o)
				s.mend()
				s.recovers(r, what)
				s.counted()
			}
			mustClose(t, s.e)
		})
	}
}
