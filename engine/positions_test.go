package engine

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"varve/engine/manifest"
	"varve/engine/status"
	"varve/engine/vfs"
	"varve/wal"
)

const queueID = "000102030405060708090a0b0c0d0e0f"

// takeMessages writes the messages from..next of a partition: those of even offset into table a, those that three
// divides into table b, and the rest into none.
func takeMessages(e *Engine, partition int32, from, next int64) error {
	taking := &Taking{Steps: []Advance{{From: from, Position: Position{Source: "s", Topic: "t", Partition: partition,
		Queue: queueID, Next: next}}}}
	var set WriteSet
	for table, every := range map[string]int64{"a": 2, "b": 3} {
		var all []modelRow
		for n := from; n < next; n++ {
			if n%every == 0 {
				all = append(all, modelRow{"ts": n, "batch": int64(partition), "row": n})
			}
		}
		if len(all) > 0 {
			if err := fill(set.Rows(public(table), hintOf(appendOnly)), all); err != nil {
				return err
			}
		}
	}
	if _, err := e.Write(WithTaking(ctx, taking), &set); err != nil {
		return err
	}
	return e.Take(ctx, taking)
}

// nextOf is the position of a partition; 0: there is none.
func nextOf(t *testing.T, e *Engine, partition int32) int64 {
	t.Helper()
	list, err := e.Positions("s")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Topic == "t" && p.Partition == partition {
			return p.Next
		}
	}
	return 0
}

// checkTables compares tables a and b with the messages that were taken.
func checkTables(t *testing.T, e *Engine, when string) {
	t.Helper()
	for table, every := range map[string]int64{"a": 2, "b": 3} {
		want := 0
		for p := range int32(2) {
			want += int((nextOf(t, e, p) + every - 1) / every)
		}
		seen := batchRows(t, e, table)
		rows := 0
		for line, n := range seen {
			if rows += n; n > 1 {
				t.Errorf("%s: table %s has %d times %s", when, table, n, line)
			}
		}
		if rows != want {
			t.Fatalf("%s: table %s has %d rows, the positions say %d", when, table, rows, want)
		}
	}
}

// TestPositionsCrash cuts the power at random operations while two partitions are read: whatever is lost, rows and
// positions agree, and no row is there twice.
func TestPositionsCrash(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_CRASH_SEEDS", effort(40, 100, 1000)) {
		r := rand.New(rand.NewPCG(seed, 73))
		disk := vfs.NewMem()
		for round := range 6 {
			when := fmt.Sprintf("seed %d, round %d", seed, round)
			f := &fuse{left: 20 + r.IntN(300)}
			o := testOptions(vfs.WithFaults(disk, f.before))
			o.WALFileSize = 4 << 10
			e, err := Open(o)
			if err == nil {
				checkTables(t, e, when)
			}
			for err == nil {
				p := r.Int32N(2)
				switch r.IntN(8) {
				case 0:
					err = errors.Join(e.Flush(ctx, public("a")), e.Flush(ctx, public("b")))
				case 1:
					err = e.Flush(ctx, public([]string{"a", "b"}[r.IntN(2)]))
				case 2:
					from := nextOf(t, e, p)
					err = takeMessages(e, p, from, from+1)
				default:
					from := nextOf(t, e, p)
					err = takeMessages(e, p, from, from+1+r.Int64N(40))
				}
				if status.Of(err) == status.TableNotFound {
					err = nil
				}
			}
			if !errors.Is(err, errPower) {
				t.Fatalf("%s: %v", when, err)
			}
			if e != nil {
				_ = e.Close(ctx, r.IntN(2) == 0)
			}
			disk = disk.Crash(r)
		}
		e := mustOpen(t, testOptions(disk))
		checkTables(t, e, fmt.Sprintf("seed %d, the end", seed))
		mustClose(t, e)
		e = mustOpen(t, testOptions(disk))
		checkTables(t, e, fmt.Sprintf("seed %d, after a stop", seed))
		mustClose(t, e)
	}
}

// TestPositionsLogFails: what reached the log although the log said otherwise is there once, whether it is taken again
// before or after a start.
func TestPositionsLogFails(t *testing.T) {
	for _, start := range []bool{false, true} {
		t.Run(fmt.Sprintf("start=%v", start), func(t *testing.T) {
			disk := vfs.NewMem()
			var broken error
			o := testOptions(vfs.WithFaults(disk, func(op vfs.Op, name string) error {
				if op == vfs.OpSync && strings.HasSuffix(name, ".wal") {
					return broken
				}
				return nil
			}))
			e := mustOpen(t, o)
			if err := takeMessages(e, 0, 0, 10); err != nil {
				t.Fatal(err)
			}
			broken = errors.New("the disk is broken")
			if err := takeMessages(e, 0, 10, 30); err == nil {
				t.Fatal("a write that cannot be synced is acknowledged")
			}
			broken = nil
			if start {
				mustClose(t, e)
				e = mustOpen(t, o)
			}
			if from := nextOf(t, e, 0); from == 10 {
				if err := takeMessages(e, 0, 10, 20); err != nil { // divided otherwise
					t.Fatal(err)
				}
				if err := takeMessages(e, 0, 20, 30); err != nil {
					t.Fatal(err)
				}
			}
			checkTables(t, e, "before the start")
			_ = e.Close(ctx, false)
			e = mustOpen(t, o)
			if got := nextOf(t, e, 0); got != 30 {
				t.Errorf("the position is %d", got)
			}
			checkTables(t, e, "after the start")
			mustClose(t, e)
		})
	}
}

// TestPositionsSurviveTheLog: a store that was stopped needs no log to know how far it has read, and neither does its
// backup. A table that was chosen from a backup has no positions.
func TestPositionsSurviveTheLog(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	for n := range int64(5) {
		if err := takeMessages(e, 1, 10*n, 10*n+10); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(ctx, true); err != nil {
		t.Fatal(err)
	}
	s, _, err := manifest.Read(disk, o.Dir)
	if err != nil || len(s.Positions) != 1 || s.Positions[0].Next != 50 || s.Positions[0].Queue != queueID {
		t.Fatalf("positions of the manifest: %+v, %v", s, err)
	}
	if got := s.Select(func(*manifest.TableState) bool { return false }).Positions; len(got) > 0 {
		t.Errorf("a choice of tables has positions: %v", got)
	}
	e = mustOpen(t, o)
	if got := nextOf(t, e, 1); got != 50 {
		t.Errorf("the position is %d", got)
	}
	// The topic is made anew: its first messages are no repetition.
	step := Advance{Position: Position{Source: "s", Topic: "t", Partition: 1, Queue: strings.Repeat("ab", 16), Next: 3}}
	if err := e.Take(ctx, &Taking{Steps: []Advance{step}}); err != nil {
		t.Fatal(err)
	}
	_ = e.Close(ctx, false)
	e = mustOpen(t, o)
	if got := nextOf(t, e, 1); got != 3 {
		t.Errorf("the position in the new topic is %d", got)
	}
	mustClose(t, e)
}

// TestPositionsGoBack: after a position that went back on purpose, messages of the same offsets are taken again.
func TestPositionsGoBack(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	e := mustOpen(t, o)
	if err := takeMessages(e, 0, 0, 20); err != nil {
		t.Fatal(err)
	}
	back := Advance{From: 20, Rewound: true,
		Position: Position{Source: "s", Topic: "t", Queue: queueID, Next: 10}}
	if err := e.Take(ctx, &Taking{Steps: []Advance{back}}); err != nil {
		t.Fatal(err)
	}
	if err := takeMessages(e, 0, 10, 20); err != nil {
		t.Fatal(err)
	}
	_ = e.Close(ctx, false)
	e = mustOpen(t, o)
	if n := len(batchRows(t, e, "a")); n != 10 {
		t.Errorf("table a has %d different rows", n)
	}
	twice := 0
	for _, n := range batchRows(t, e, "a") {
		if n == 2 {
			twice++
		}
	}
	if twice != 5 {
		t.Errorf("%d rows are there twice, want 5", twice)
	}
	mustClose(t, e)
}

// TestOldLog: a store whose log was written before there were positions is read, and takes positions.
func TestOldLog(t *testing.T) {
	disk := vfs.NewMem()
	o := testOptions(disk)
	for _, name := range []string{"MANIFEST", "wal/000001.wal", "wal/STORE"} {
		old, err := os.ReadFile(path.Join("testdata", "logv2", name))
		if err != nil {
			t.Fatal(err)
		}
		to := path.Join(o.Dir, name)
		if err := disk.MkdirAll(path.Dir(to)); err != nil {
			t.Fatal(err)
		}
		if err := vfs.Publish(disk, path.Dir(to), path.Base(to),
			func(f vfs.File) error { _, err := f.Write(old); return err }); err != nil {
			t.Fatal(err)
		}
	}
	e := mustOpen(t, o)
	if aside := e.SetAside(); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
	if a, b := len(batchRows(t, e, "a")), len(batchRows(t, e, "b")); a != 4 || b != 2 {
		t.Errorf("%d and %d rows, want 4 and 2", a, b)
	}
	if err := takeMessages(e, 5, 0, 6); err != nil {
		t.Fatal(err)
	}
	mustClose(t, e)
	e = mustOpen(t, o)
	if a, got := len(batchRows(t, e, "a")), nextOf(t, e, 5); a != 7 || got != 6 {
		t.Errorf("%d rows and position %d, want 7 and 6", a, got)
	}
	mustClose(t, e)
}

// TestTakenRecord holds the form of a record with positions.
func TestTakenRecord(t *testing.T) {
	taking := &Taking{Steps: []Advance{{From: 5, Position: Position{Source: "s", Topic: "top", Partition: 7,
		Queue: queueID, Next: 9}}, {Rewound: true, Position: Position{Queue: strings.Repeat("0", 32), Next: 1}}}}
	pieces, err := taking.record([]wal.Record{{[]byte("ab"), []byte("c")}, {[]byte("de")}})
	if err != nil {
		t.Fatal(err)
	}
	rec := bytes.Join(pieces, nil)
	want := "\x03\x04" + strings.Repeat("\x00", 12) + "\x02\x00" +
		"\x01s\x03top\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x07\x00\x00\x00" +
		"\x05\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00" + strings.Repeat("\x00", 16) + "\x00\x00\x00\x00" + strings.Repeat("\x00", 8) +
		"\x01\x00\x00\x00\x00\x00\x00\x00\x01" + "\x03\x00\x00\x00abc\x02\x00\x00\x00de"
	if string(rec) != want {
		t.Errorf("\n got %q\nwant %q", rec, want)
	}
	steps, records, err := readTaken(rec)
	if err != nil || !slices.Equal(steps, taking.Steps) || len(records) != 2 || string(records[0]) != "abc" {
		t.Errorf("read back %+v, %q, %v", steps, records, err)
	}
	for n := recordHead; n < len(rec); n++ {
		if _, _, err := readTaken(rec[:n]); err == nil && n < len(rec)-6 && n != len(rec)-13 {
			t.Errorf("a record cut to %d of %d bytes is no error", n, len(rec))
		}
	}
	taking.Steps[0].Queue = "short"
	if _, err := taking.record(nil); err == nil {
		t.Error("a queue without 16 bytes is no error")
	}
}

// FuzzTaken replays any bytes as a record with positions.
func FuzzTaken(f *testing.F) {
	taking := &Taking{Steps: []Advance{{Position: Position{Source: "s", Topic: "t", Queue: queueID, Next: 9}}}}
	pieces, err := taking.record([]wal.Record{{[]byte("ab")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bytes.Join(pieces, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if !isTaken(b) {
			return
		}
		if err := DumpRecord(&bytes.Buffer{}, b); err != nil {
			t.Fatal(err)
		}
		if steps, records, err := readTaken(b); err != nil && (steps != nil || records != nil) {
			t.Error("an error with a result")
		}
	})
}
