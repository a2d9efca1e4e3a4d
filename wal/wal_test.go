package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"varve/engine/status"
	"varve/engine/vfs"
)

const dir = "/wal"

func openLog(t *testing.T, fs vfs.FS, o Options) *Log {
	t.Helper()
	l, err := Open(fs, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func replayAll(t *testing.T, l *Log) ([]string, ReplayResult) {
	t.Helper()
	var got []string
	r, err := l.Replay(0, func(_ LSN, rec []byte) error {
		got = append(got, string(rec))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, r
}

func appendAll(t *testing.T, l *Log, recs ...string) []LSN {
	t.Helper()
	var at []LSN
	for _, r := range recs {
		p, err := l.Append(Record{[]byte(r)})
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, p)
	}
	return at
}

func closeLog(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func checkRecords(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAppendAndReplay(t *testing.T) {
	fs := vfs.NewMem()
	big := string(bytes.Repeat([]byte("x"), 3*gatherBytes))
	l := openLog(t, fs, Options{FileSize: 100 << 10})
	replayAll(t, l)
	at := appendAll(t, l, "a", big, "", "b", big, "c")
	closeLog(t, l)
	if _, err := l.Append(Record{[]byte("late")}); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
	l = openLog(t, fs, Options{})
	got, r := replayAll(t, l)
	checkRecords(t, got, "a", big, "", "b", big, "c")
	if r.Records != 6 || len(r.Damaged) != 0 {
		t.Errorf("result %+v", r)
	}
	appendAll(t, l, "d")
	closeLog(t, l)
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	var tail []string
	if _, err := l.Replay(at[3], func(p LSN, rec []byte) error {
		tail = append(tail, string(rec))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	checkRecords(t, tail, "b", big, "c", "d")
}

func TestTruncateKeepsWhatIsNeeded(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{FileSize: 1})
	replayAll(t, l)
	at := appendAll(t, l, "a", "b", "c", "d")
	if err := l.Truncate(at[2], KeepNewest); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	checkRecords(t, got, "c", "d")
	if len(r.Damaged) != 0 {
		t.Errorf("damage %v", r.Damaged)
	}
}

// TestCrashWhileTruncating cuts the power after every operation: what comes back is no damage, and what lies behind is
// there.
func TestCrashWhileTruncating(t *testing.T) {
	for k := 1; k < 14; k++ {
		for seed := range uint64(20) {
			fs := vfs.NewMem()
			fault := vfs.FailAt(0, true, vfs.ErrNoSpace)
			l := openLog(t, vfs.WithFaults(fs, fault.Before), Options{FileSize: 1})
			replayAll(t, l)
			at := appendAll(t, l, "a", "b", "c", "d", "e", "f")
			fault.Arm(k)
			if err := l.Truncate(at[4], KeepNewest); err != nil && !vfs.IsNoSpace(err) {
				t.Fatal(err)
			}
			crashed := fs.Crash(rand.New(rand.NewPCG(seed, uint64(k))))
			closeLog(t, l) // every segment is closed already
			l = openLog(t, crashed, Options{})
			got, r := replayAll(t, l)
			checkSubsequence(t, seed, got, []string{"e", "f"})
			if len(r.Damaged) != 0 {
				t.Fatalf("cut at %d, seed %d: damage %v", k, seed, r.Damaged)
			}
			closeLog(t, l)
		}
	}
}

// TestCutHeaderIsNoDamage: a crash cut the header of a new segment; later the log goes on behind it, and what was
// before it is truncated.
func TestCutHeaderIsNoDamage(t *testing.T) {
	for _, truncate := range []bool{false, true} {
		for size := range segmentHead + 1 {
			fs := vfs.NewMem()
			l := openLog(t, fs, Options{FileSize: 1})
			replayAll(t, l)
			appendAll(t, l, "a", "b")
			closeLog(t, l)
			f, err := fs.Create(path.Join(dir, segmentName(3)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(head{segment: 3, first: 5, synced: 4}.append(nil)[:size]); err != nil {
				t.Fatal(err)
			}
			l = openLog(t, fs, Options{FileSize: 1})
			replayAll(t, l)
			at := appendAll(t, l, "c", "d")
			want := []string{"a", "b", "c", "d"}
			if truncate {
				if err := l.Truncate(at[0]-1<<32, KeepNewest); err != nil {
					t.Fatal(err)
				}
				want = want[2:]
			}
			closeLog(t, l)
			l = openLog(t, fs, Options{})
			got, r := replayAll(t, l)
			checkRecords(t, got, want...)
			if len(r.Damaged) != 0 {
				t.Errorf("header of %d bytes, truncated %v: damage %v", size, truncate, r.Damaged)
			}
			closeLog(t, l)
		}
	}
}

// TestIntervalSyncsByItself: what an Append of this mode left to the writer is on disk after the next tick.
func TestIntervalSyncsByItself(t *testing.T) {
	fs := vfs.NewMem()
	synced := make(chan struct{}, 1000)
	writes := 0
	l := openLog(t, vfs.WithFaults(fs, func(op vfs.Op, _ string) error {
		switch op {
		case vfs.OpWrite:
			writes++
		case vfs.OpSync:
			if writes > 1 { // not the sync of the header
				synced <- struct{}{}
			}
		}
		return nil
	}), Options{Sync: SyncInterval, SyncPeriod: time.Millisecond})
	replayAll(t, l)
	appendAll(t, l, "a", "b")
	<-synced
	if got := counted(t, l.Metrics().Appends); got != 2 {
		t.Errorf("%v appends counted", got)
	}
	closeLog(t, l) // waits until the sync at hand is over
	l = openLog(t, fs.Crash(rand.New(rand.NewPCG(1, 1))), Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	checkRecords(t, got, "a", "b")
	if len(r.Damaged) != 0 {
		t.Errorf("damage %v", r.Damaged)
	}
}

func counted(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%d families, %v", len(families), err)
	}
	return families[0].GetMetric()[0].GetCounter().GetValue()
}

func TestNeverLeavesSyncingToTheKernel(t *testing.T) {
	fs := vfs.NewMem()
	fault := vfs.FailAt(0, false, vfs.ErrNoSpace, vfs.OpSync)
	l := openLog(t, vfs.WithFaults(fs, fault.Before), Options{Sync: SyncNever, FileSize: 100})
	replayAll(t, l)
	appendAll(t, l, "a", "b", "c", "d")
	closeLog(t, l)
	if n := fault.Count(); n != 0 {
		t.Errorf("%d syncs", n)
	}
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	got, _ := replayAll(t, l)
	checkRecords(t, got, "a", "b", "c", "d")
}

func TestUnknownModeIsRefused(t *testing.T) {
	if _, err := Open(vfs.NewMem(), dir, Options{Sync: "often"}); err == nil {
		t.Error("wal.sync = often was taken")
	}
}

func TestConcurrentAppendsKeepAll(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{FileSize: 4 << 10})
	replayAll(t, l)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := l.Append(Record{fmt.Appendf(nil, "%d/%d", g, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	crashed := fs.Crash(rand.New(rand.NewPCG(1, 1)))
	closed := l.Close() // the file system is gone: an error is right
	if closed == nil {
		t.Error("close on a dead file system gave no error")
	}
	l = openLog(t, crashed, Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	seen := map[string]bool{}
	for _, s := range got {
		seen[s] = true
	}
	if len(seen) != 400 || len(r.Damaged) != 0 {
		t.Errorf("%d distinct records, damage %v", len(seen), r.Damaged)
	}
}

// TestCrashLosesNothingAcknowledged cuts the power after random appends and looks for what was acknowledged.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		fs := vfs.NewMem()
		var want []string
		for round := range 3 {
			fail := -1 // set once the log is open
			faulty := vfs.WithFaults(fs, func(op vfs.Op, _ string) error {
				if op == vfs.OpWrite || op == vfs.OpSync || op == vfs.OpSyncDir || op == vfs.OpCreate {
					if fail--; fail == 0 {
						return errors.New("injected")
					}
				}
				return nil
			})
			l := openLog(t, faulty, Options{FileSize: 200})
			got, res := replayAll(t, l)
			checkSubsequence(t, seed, got, want)
			if len(res.Damaged) != 0 {
				t.Fatalf("seed %d: damage reported after a crash: %v\n%s", seed, res.Damaged, fs.Files())
			}
			want = got
			fail = 1 + r.IntN(40)
			for i := range 10 {
				rec := fmt.Sprintf("%d.%d", round, i)
				_, err := l.Append(Record{[]byte(rec)})
				if err == nil {
					want = append(want, rec)
				} else if status.Of(err) != status.StorageUnavailable {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			next := fs.Crash(r)
			if err := l.Close(); err != nil {
				t.Logf("seed %d: close on a dead file system: %v", seed, err)
			}
			fs = next
		}
	}
}

// checkSubsequence wants all of want in got, in order; got may hold records that were not acknowledged.
func checkSubsequence(t *testing.T, seed uint64, got, want []string) {
	t.Helper()
	i := 0
	for _, g := range got {
		if i < len(want) && g == want[i] {
			i++
		}
	}
	if i < len(want) {
		t.Fatalf("seed %d: acknowledged record %q is lost\n got %v\nwant %v", seed, want[i], got, want)
	}
}

func TestDamageInTheMiddleIsReportedAndPassedOver(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{})
	replayAll(t, l)
	at := appendAll(t, l, "aaaa", "bbbb", "cccc", "dddd")
	closeLog(t, l)
	name := path.Join(dir, segmentName(1))
	for _, c := range []struct {
		what string
		off  int
	}{{"body", int(at[1].Offset()) + FrameHead}, {"header", int(at[1].Offset()) + 9},
		{"checksum", int(at[1].Offset())}} {
		if err := fs.Damage(name, c.off); err != nil {
			t.Fatal(err)
		}
		l = openLog(t, fs, Options{})
		got, r := replayAll(t, l)
		checkRecords(t, got, "aaaa", "cccc", "dddd")
		if len(r.Damaged) != 1 || r.Damaged[0].Offset != at[1].Offset() || r.Damaged[0].Bytes != int64(FrameHead+4) {
			t.Errorf("%s: damage %v", c.what, r.Damaged)
		}
		closeLog(t, l)
		if err := fs.Damage(name, c.off); err != nil { // the same bit again: mended
			t.Fatal(err)
		}
	}
}

func TestTornTailIsSilent(t *testing.T) {
	for cut := 1; cut < FrameHead+4; cut++ {
		fs := vfs.NewMem()
		l := openLog(t, fs, Options{})
		replayAll(t, l)
		at := appendAll(t, l, "aaaa", "bbbb")
		closeLog(t, l)
		if err := fs.Truncate(path.Join(dir, segmentName(1)), int(at[1].Offset())+cut); err != nil {
			t.Fatal(err)
		}
		again := openLog(t, fs, Options{})
		got, r := replayAll(t, again)
		checkRecords(t, got, "aaaa")
		if len(r.Damaged) != 0 {
			t.Errorf("cut %d: damage %v", cut, r.Damaged)
		}
		closeLog(t, again)
	}
}

// TestTornFirstFrameOfTheOldestSegment: the segments before it were truncated, and nothing in it was synced.
func TestTornFirstFrameOfTheOldestSegment(t *testing.T) {
	for cut := range FrameHead + 1 {
		fs := vfs.NewMem()
		l := openLog(t, fs, Options{FileSize: 1})
		replayAll(t, l)
		at := appendAll(t, l, "a", "b", "c")
		if err := l.Truncate(at[2], KeepNewest); err != nil {
			t.Fatal(err)
		}
		closeLog(t, l)
		name := path.Join(dir, segmentName(at[2].Segment()))
		if err := fs.Truncate(name, segmentHead+cut); err != nil {
			t.Fatal(err)
		}
		l = openLog(t, fs, Options{})
		_, r := replayAll(t, l)
		if len(r.Damaged) != 0 {
			t.Errorf("cut %d: damage %v", cut, r.Damaged)
		}
		appendAll(t, l, "d")
		closeLog(t, l)
		l = openLog(t, fs, Options{})
		got, r := replayAll(t, l)
		checkRecords(t, got, "d")
		if len(r.Damaged) != 0 {
			t.Errorf("cut %d, after another record: damage %v", cut, r.Damaged)
		}
		closeLog(t, l)
	}
}

func TestDamagedSegmentIsSetAside(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{FileSize: 1})
	replayAll(t, l)
	at := appendAll(t, l, "aaaa", "bbbb", "cccc")
	closeLog(t, l)
	if err := fs.Damage(path.Join(dir, segmentName(1)), int(at[0].Offset())+FrameHead); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	checkRecords(t, got, "bbbb", "cccc")
	if len(r.Damaged) != 1 {
		t.Fatalf("damage %v", r.Damaged)
	}
	appendAll(t, l, "dddd")
	if err := l.Truncate(l.End(), KeepNewest); err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(path.Join(dir, segmentName(1)+damagedSuffix)); err != nil {
		t.Errorf("the damaged segment was not kept: %v", err)
	}
}

func TestFailedSyncIsNotBelieved(t *testing.T) {
	fs := vfs.NewMem()
	broken := false
	faulty := vfs.WithFaults(fs, func(op vfs.Op, _ string) error {
		if broken && op == vfs.OpSync {
			return errors.New("no such luck")
		}
		return nil
	})
	l := openLog(t, faulty, Options{})
	replayAll(t, l)
	at := appendAll(t, l, "a")
	broken = true
	if _, err := l.Append(Record{[]byte("b")}); status.Of(err) != status.StorageUnavailable {
		t.Errorf("append on a failing disk: %v", err)
	}
	broken = false
	next := appendAll(t, l, "c")
	if next[0].Segment() == at[0].Segment() {
		t.Error("the failed segment was written to again")
	}
	closeLog(t, l)
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	checkSubsequence(t, 0, got, []string{"a", "c"})
	if len(r.Damaged) != 0 {
		t.Errorf("damage %v", r.Damaged)
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	h := head{segment: 2, first: 2, synced: 1}.append(nil)
	binary.LittleEndian.PutUint32(h[8:], segmentVersion+1)
	binary.LittleEndian.PutUint32(h[36:], Checksum(h[:36]))
	if _, err := replayBehind(t, h); !errors.Is(err, errVersion) {
		t.Errorf("a segment of a later version is read: %v", err)
	}
}

// TestTornHeader: a crash while a segment is made leaves any part of its header, and anything in it.
func TestTornHeader(t *testing.T) {
	whole := head{segment: 2, first: 2, synced: 1}.append(nil)
	for n := range len(whole) {
		h := slices.Clone(whole[:n])
		if n > 8 {
			h[8+n%4%(n-8)] ^= 0x5A // the version, as far as it is there
		}
		r, err := replayBehind(t, h)
		if err != nil || r.Records != 1 || len(r.Damaged) != 0 {
			t.Errorf("%d bytes of a header: %d records, damage %v, error %v", n, r.Records, r.Damaged, err)
		}
	}
}

// replayBehind replays a log of one segment with one record and a second segment.
func replayBehind(t *testing.T, second []byte) (ReplayResult, error) {
	t.Helper()
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{})
	replayAll(t, l)
	appendAll(t, l, "a")
	closeLog(t, l)
	f, err := fs.Create(path.Join(dir, segmentName(2)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(second); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	return l.Replay(0, func(LSN, []byte) error { return nil })
}

func FuzzReplay(f *testing.F) {
	fs := vfs.NewMem()
	l, err := Open(fs, dir, Options{})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := l.Replay(0, nil); err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"one", "two", "three"} {
		if _, err := l.Append(Record{[]byte(s)}); err != nil {
			f.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	m, err := fs.Map(path.Join(dir, segmentName(1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(m.Bytes())
	f.Fuzz(func(t *testing.T, src []byte) {
		fs := vfs.NewMem()
		if err := fs.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		w, err := fs.Create(path.Join(dir, segmentName(1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(src); err != nil {
			t.Fatal(err)
		}
		l := openLog(t, fs, Options{})
		defer closeLog(t, l)
		n := 0
		if r, err := l.Replay(0, func(LSN, []byte) error { n++; return nil }); err == nil && r.Records != n {
			t.Errorf("%d records counted, %d applied", r.Records, n)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	for _, mode := range []string{SyncAlways, SyncNever} {
		for _, size := range []int{4 << 10, 256 << 10, 4 << 20} {
			b.Run(fmt.Sprintf("sync=%s/size=%d", mode, size), func(b *testing.B) {
				l, err := Open(vfs.OS(), b.TempDir(), Options{Sync: mode})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := l.Replay(0, nil); err != nil {
					b.Fatal(err)
				}
				rec := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := l.Append(Record{rec}); err != nil {
						b.Fatal(err)
					}
					if l.Size() > 1<<30 {
						b.StopTimer()
						if err := l.Truncate(l.End(), KeepNewest); err != nil {
							b.Fatal(err)
						}
						b.StartTimer()
					}
				}
				b.StopTimer()
				if err := l.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
