package wal

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"sync"
	"testing"

	"varve/engine/vfs"
)

// chained writes five segments of one record each, 2 to 6, the first of which are truncated, and gives what the log
// must hold.
func chained(t *testing.T) (*vfs.Mem, Range) {
	t.Helper()
	fs := vfs.NewMem()
	var needs Range
	l := openLog(t, fs, Options{FileSize: 1, Begun: func(all Range) error { needs = all; return nil }})
	replayAll(t, l)
	at := appendAll(t, l, "1", "2", "3", "4", "5", "6")
	if err := l.Truncate(at[1], KeepNewest); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	if needs.Last != 6 || needs.First != 1 {
		t.Fatalf("the log was said to be %v", needs)
	}
	return fs, Range{2, 6}
}

func at(n int) string { return path.Join(dir, segmentName(uint64(n))) }

// TestSegmentsThatAreMissing removes segments and puts others in their place: each is reported, and what is left is
// read.
func TestSegmentsThatAreMissing(t *testing.T) {
	read := func(t *testing.T, fs vfs.FS, name string) []byte {
		m, err := fs.Map(name)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(m.Bytes())
	}
	put := func(t *testing.T, fs vfs.FS, name string, b []byte) {
		f, err := fs.Create(name)
		if err == nil {
			_, err = f.Write(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	type damage struct {
		name string
		gone []int
		do   func(t *testing.T, fs vfs.FS)
	}
	var all []damage
	for _, gone := range [][]int{{2}, {3}, {6}, {2, 3}, {3, 4}, {5, 6}, {2, 4, 6}, {2, 3, 4, 5, 6}} {
		all = append(all, damage{fmt.Sprint("removed ", gone), gone, func(t *testing.T, fs vfs.FS) {
			for _, n := range gone {
				if err := fs.Remove(at(n)); err != nil {
					t.Fatal(err)
				}
			}
		}})
	}
	for a := 2; a <= 6; a++ {
		for b := 2; b <= 6; b++ {
			if a == b {
				continue
			}
			all = append(all, damage{fmt.Sprintf("%d in the place of %d", a, b), []int{b},
				func(t *testing.T, fs vfs.FS) {
					put(t, fs, at(b), read(t, fs, at(a)))
				}})
			if a < b {
				all = append(all, damage{fmt.Sprintf("%d and %d exchanged", a, b), []int{a, b},
					func(t *testing.T, fs vfs.FS) {
						x, y := read(t, fs, at(a)), read(t, fs, at(b))
						put(t, fs, at(a), y)
						put(t, fs, at(b), x)
					}})
			}
		}
	}
	for _, d := range all {
		t.Run(d.name, func(t *testing.T) {
			fs, needs := chained(t)
			d.do(t, fs)
			var want []string
			for n := 2; n <= 6; n++ {
				if !slices.Contains(d.gone, n) {
					want = append(want, fmt.Sprint(n))
				}
			}
			l := openLog(t, fs, Options{Needs: needs})
			got, r := replayAll(t, l)
			checkRecords(t, got, want...)
			for _, n := range d.gone {
				// Of several in a row the chain names the last one.
				named := func(x Damage) bool { return x.File == segmentName(uint64(n)) }
				if !slices.ContainsFunc(r.Damaged, named) &&
					!(slices.Contains(d.gone, n+1) || n+1 > 6 || slices.Contains(d.gone, n-1)) {
					t.Errorf("segment %d: %v", n, r.Damaged)
				}
			}
			if len(r.Damaged) == 0 {
				t.Error("no damage is reported")
			}
			if next := appendAll(t, l, "next")[0].Segment(); next != 7 {
				t.Errorf("goes on with segment %d", next)
			}
			closeLog(t, l)
		})
	}
	fs, needs := chained(t)
	l := openLog(t, fs, Options{Needs: needs})
	if _, r := replayAll(t, l); len(r.Damaged) > 0 {
		t.Errorf("the whole log: %v", r.Damaged)
	}
	closeLog(t, l)
}

// TestNothingIsNeeded: where no segment is needed, as after a stop that wrote all rows into parts, an empty directory
// is no damage, and numbers go on.
func TestNothingIsNeeded(t *testing.T) {
	l := openLog(t, vfs.NewMem(), Options{Needs: Range{7, 6}})
	if _, r := replayAll(t, l); len(r.Damaged) > 0 {
		t.Errorf("damage %v", r.Damaged)
	}
	if next := appendAll(t, l, "next")[0].Segment(); next != 7 {
		t.Errorf("goes on with segment %d", next)
	}
	closeLog(t, l)
}

// TestGarbledBeforeItWasSynced: of a batch that was never synced the first frame is garbled and the second intact.
// Nobody was told that either is there, so it is no damage, now and at later starts.
func TestGarbledBeforeItWasSynced(t *testing.T) {
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{Sync: SyncNever})
	replayAll(t, l)
	place := appendAll(t, l, "a", "b", "c")
	l.w.abandon() // as a crash: no close frame
	closeLog(t, l)
	if err := fs.Damage(at(1), int(place[1].Offset())+FrameHead); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		l = openLog(t, fs, Options{})
		got, r := replayAll(t, l)
		checkRecords(t, got[:2], "a", "c")
		if len(r.Damaged) > 0 {
			t.Errorf("damage %v", r.Damaged)
		}
		appendAll(t, l, "later")
		closeLog(t, l)
	}
}

// TestTruncatesAtOnce truncates from many goroutines: only what lies before the place that they name is taken away, and
// the log knows of what is left.
func TestTruncatesAtOnce(t *testing.T) {
	fs := vfs.NewMem()
	o := Options{FileSize: 1}
	l := openLog(t, fs, o)
	replayAll(t, l)
	for range 50 {
		places := appendAll(t, l, "a", "b", "c", "d")
		var wg sync.WaitGroup
		for _, before := range []LSN{places[1], places[2], places[2], places[2], places[1]} {
			wg.Go(func() {
				if err := l.Truncate(before, KeepNewest); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if l.End() <= places[3] || l.Holds(places[2], KeepNewest) {
			t.Fatalf("the log ends at %s behind a record at %s", l.End(), places[3])
		}
	}
	closeLog(t, l)
	l = openLog(t, fs, o)
	got, result := replayAll(t, l)
	checkRecords(t, got, "c", "d")
	if len(result.Damaged) > 0 {
		t.Errorf("reported as damage: %v", result.Damaged)
	}
	closeLog(t, l)
}

// TestLastHeaderIsGone empties, cuts and garbles the last segment that the log was said to have: its header was on the
// disk before that, so that it is damage.
func TestLastHeaderIsGone(t *testing.T) {
	for name, left := range map[string]func(b []byte) []byte{
		"empty":   func([]byte) []byte { return nil },
		"cut":     func(b []byte) []byte { return b[:segmentHead-1] },
		"zeros":   func(b []byte) []byte { return make([]byte, len(b)) },
		"garbled": func(b []byte) []byte { b[20] ^= 1; return b },
	} {
		fs, needs := chained(t)
		m, err := fs.Map(at(6))
		if err != nil {
			t.Fatal(err)
		}
		f, err := fs.Create(at(6))
		if err == nil {
			_, err = f.Write(left(slices.Clone(m.Bytes())))
		}
		if err != nil {
			t.Fatal(err)
		}
		l := openLog(t, fs, Options{FileSize: 1, Needs: needs})
		got, result := replayAll(t, l)
		want := 4
		if name == "garbled" {
			want = 5
		}
		if len(got) != want || len(result.Damaged) != 1 || result.Damaged[0].File != segmentName(6) {
			t.Errorf("%s: records %v, damage %v", name, got, result.Damaged)
		}
		closeLog(t, l)
	}
}

// TestSecondLog refuses a second log in a directory while the first is open, whoever opens it, and leaves its segments
// alone.
func TestSecondLog(t *testing.T) {
	disk := vfs.NewMem()
	first := openLog(t, disk, Options{})
	replayAll(t, first)
	appendAll(t, first, "a")
	if _, err := Open(disk, dir, Options{}); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("a second log: %v, want %v", err, vfs.ErrLocked)
	}
	if _, err := Check(disk, dir, Range{}, func(LSN, []byte) error { return nil }); err != nil {
		t.Errorf("looking at the log meanwhile: %v", err)
	}
	appendAll(t, first, "b")
	closeLog(t, first)
	second := openLog(t, disk, Options{})
	got, _ := replayAll(t, second)
	checkRecords(t, got, "a", "b")
	closeLog(t, second)
}

// TestTakenSegment puts somebody else's file where the next segment goes: it stays as it is, and the log goes on behind
// it.
func TestTakenSegment(t *testing.T) {
	disk := vfs.NewMem()
	l := openLog(t, disk, Options{})
	replayAll(t, l)
	foreign, err := disk.Create(path.Join(dir, segmentName(1)))
	if err == nil {
		_, err = foreign.Write([]byte("not ours"))
	}
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, "a", "b")
	closeLog(t, l)
	m, err := disk.Map(path.Join(dir, segmentName(1)))
	if err != nil || string(m.Bytes()) != "not ours" {
		t.Errorf("the file that was there: %v", err)
	}
}
