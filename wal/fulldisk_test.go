package wal

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"testing"

	"varve/engine/vfs"
)

// fullDisk makes a log of two records, behind which writes to a full disk have used up numbers: what is left of them
// are headers without frames.
func fullDisk(t *testing.T) *vfs.Mem {
	t.Helper()
	fs := vfs.NewMem()
	l := openLog(t, fs, Options{})
	replayAll(t, l)
	appendAll(t, l, "a", "b")
	for range 3 {
		fs.SetRoom(dir, l.Size()+120) // for a header, not for the frame
		if _, err := l.Append(Record{make([]byte, 200)}); err == nil {
			t.Fatal("a record was written to a full disk")
		}
	}
	fs.SetRoom(dir, 1<<30)
	closeLog(t, l)
	return fs
}

// TestFullDiskThenRestart: records behind a restart after a full disk are replayed, also once the segments before the
// failed ones are removed.
func TestFullDiskThenRestart(t *testing.T) {
	fs := fullDisk(t)
	l := openLog(t, fs, Options{})
	got, _ := replayAll(t, l)
	checkRecords(t, got, "a", "b")
	if err := l.Truncate(l.End(), KeepNewest); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, "c", "d")
	closeLog(t, l)
	l = openLog(t, fs, Options{})
	defer closeLog(t, l)
	got, r := replayAll(t, l)
	checkRecords(t, got, "c", "d")
	if len(r.Damaged) > 0 {
		t.Errorf("damage: %v", r.Damaged)
	}
}

// TestNumbersGivenAgain: earlier versions gave the numbers of failed writes again after a restart. Their logs are
// replayed whole, whatever of their beginning is removed.
func TestNumbersGivenAgain(t *testing.T) {
	for removed := range 3 {
		fs := fullDisk(t)
		l := openLog(t, fs, Options{})
		replayAll(t, l)
		l.w.number, l.w.synced = 2, 2 // as they did
		appendAll(t, l, "c", "d")
		closeLog(t, l)
		for number := 1; number <= removed; number++ {
			if err := fs.Remove(path.Join(dir, segmentName(uint64(number)))); err != nil {
				t.Fatal(err)
			}
		}
		l = openLog(t, fs, Options{})
		got, r := replayAll(t, l)
		want := []string{"a", "b", "c", "d"}
		if removed > 0 {
			want = want[2:]
		}
		checkRecords(t, got, want...)
		if len(r.Damaged) > 0 {
			t.Errorf("%d segments removed: damage: %v", removed, r.Damaged)
		}
		appendAll(t, l, "e")
		closeLog(t, l)
		l = openLog(t, fs, Options{})
		got, _ = replayAll(t, l)
		checkRecords(t, got, append(want, "e")...)
		closeLog(t, l)
	}
}

// TestRoomComesAndGoes writes, fills the disk, restarts and truncates at random: every record that was acknowledged and
// not truncated is replayed, in order, and nothing is called damaged.
func TestRoomComesAndGoes(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		fs := vfs.NewMem()
		l := openLog(t, fs, Options{FileSize: 400})
		replayAll(t, l)
		type record struct {
			at   LSN
			text string
		}
		var kept []record
		for step := range 60 {
			switch r.IntN(8) {
			case 0: // little room, or none
				fs.SetRoom(dir, l.Size()+int64(r.IntN(300)))
			case 1:
				fs.SetRoom(dir, 1<<30)
			case 2:
				cut, end := r.IntN(len(kept)+1), l.End()
				if cut < len(kept) {
					end = kept[cut].at
				}
				if err := l.Truncate(end, KeepNewest); err != nil {
					t.Fatal(err)
				}
				kept = kept[cut:]
			case 3:
				l.Close() //nolint:errcheck // on a full disk the end of the segment is not written
				l = openLog(t, fs, Options{FileSize: 400})
				var got []string
				next := 0
				result, err := l.Replay(0, func(_ LSN, rec []byte) error {
					text := string(rec[:8])
					got = append(got, text)
					if next < len(kept) && kept[next].text == text { // others were truncated, or not acknowledged
						next++
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if next < len(kept) || !slices.IsSorted(got) || len(result.Damaged) > 0 {
					t.Fatalf("seed %d, step %d: replayed %v, want %v; damage %v", seed, step, got, kept, result.Damaged)
				}
			default:
				text := fmt.Sprintf("%08d", step)
				body := append([]byte(text), make([]byte, r.IntN(200))...)
				if at, err := l.Append(Record{body}); err == nil {
					kept = append(kept, record{at, text})
				}
			}
		}
		l.Close() //nolint:errcheck // as above
	}
}
