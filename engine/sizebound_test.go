package engine

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vfs"
)

// putPart writes rows of a table into a part of their own.
func putPart(t testing.TB, e *Engine, table string, kind modelKind, rows ...modelRow) {
	t.Helper()
	if err := put(e, table, kind, rows); err != nil {
		t.Fatal(err)
	}
	if err := e.Flush(ctx, public(table)); err != nil {
		t.Fatal(err)
	}
}

// rowsAt is rows of a table at the times [from, to) with one value.
func rowsAt(from, to, v int64) (rows []modelRow) {
	for ts := from; ts < to; ts++ {
		rows = append(rows, modelRow{"ts": ts, "host": "a", "v": v})
	}
	return rows
}

// publicSize is what the store says of the database public.
func publicSize(t testing.TB, e *Engine) DatabaseSize {
	t.Helper()
	all := e.DatabaseSizes()
	at := slices.IndexFunc(all, func(s DatabaseSize) bool { return s.Name == PublicDB })
	if at < 0 {
		t.Fatalf("no database public among %+v", all)
	}
	return all[at]
}

// timesOf are the times of the rows of a table.
func timesOf(t testing.TB, e *Engine, table string) string {
	t.Helper()
	lines, err := scanTable(e, public(table), everything)
	if err != nil {
		t.Fatal(err)
	}
	var times []string
	for _, l := range lines {
		for word := range strings.FieldsSeq(l) {
			if at, ok := strings.CutPrefix(word, "ts="); ok {
				times = append(times, at)
			}
		}
	}
	slices.Sort(times)
	return strings.Join(times, " ")
}

// TestMaxSizeDropsTheOldestFirst: above its bound a database gives up the parts whose newest row is oldest, of all its
// tables, and no more than it must; memtables and other databases stay, and the log says so before and when it happens.
func TestMaxSizeDropsTheOldestFirst(t *testing.T) {
	var log bytes.Buffer
	o := testOptions(vfs.NewMem())
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	e := mustOpen(t, o)
	defer mustClose(t, e)
	putPart(t, e, "one", appendOnly, modelRow{"ts": int64(30)})
	putPart(t, e, "two", appendOnly, modelRow{"ts": int64(10)}, modelRow{"ts": int64(40)}) // spans a long time
	putPart(t, e, "two", appendOnly, modelRow{"ts": int64(20)})
	putPart(t, e, "one", appendOnly, modelRow{"ts": int64(50)})
	if err := put(e, "one", appendOnly, []modelRow{{"ts": int64(1)}}); err != nil {
		t.Fatal(err)
	}
	all := publicSize(t, e).Bytes
	hold := func(most int64) {
		t.Helper()
		e.sizes.o.MaxDatabaseBytes = most
		if err := e.sizes.hold(); err != nil {
			t.Fatal(err)
		}
	}
	check := func(one, two string, dropped int64) {
		t.Helper()
		if got := timesOf(t, e, "one"); got != one {
			t.Errorf("one has the times %q, want %q", got, one)
		}
		if got := timesOf(t, e, "two"); got != two {
			t.Errorf("two has the times %q, want %q", got, two)
		}
		if s := publicSize(t, e); s.DroppedParts != dropped {
			t.Errorf("%d parts are counted as dropped, want %d", s.DroppedParts, dropped)
		}
	}
	hold(all * 2)
	if log.Len() > 0 || publicSize(t, e).Near {
		t.Errorf("far from the bound the log says %s", log.String())
	}
	hold(all)
	check("1 30 50", "10 20 40", 0)
	if !publicSize(t, e).Near || strings.Count(log.String(), "comes near its max_size") != 1 {
		t.Errorf("at the bound the log says %q", log.String())
	}
	hold(all)
	if strings.Count(log.String(), "comes near its max_size") != 1 {
		t.Errorf("it is said twice: %s", log.String())
	}
	hold(all - 1)
	check("1 30 50", "10 40", 1)
	if !strings.Contains(log.String(), "oldest parts dropped") || !strings.Contains(log.String(), "table=two") {
		t.Errorf("after a drop the log says %s", log.String())
	}
	if s := publicSize(t, e); s.DroppedRows != 1 || s.DroppedUntil.UnixMilli() != 20 || s.DroppedBytes != all-s.Bytes {
		t.Errorf("after a drop: %+v of %d bytes", s, all)
	}
	hold(publicSize(t, e).Bytes - 1)
	check("1 50", "10 40", 2)
	hold(1) // the newest part stays whatever its size
	check("1 50", "", 3)
}

// TestMaxSizeOfTimesInOtherUnits: parts of tables with other units of time are compared by the moments they mean.
func TestMaxSizeOfTimesInOtherUnits(t *testing.T) {
	for precision, unit := range map[uint8]int64{0: 1_000_000_000, 3: 1_000_000, 6: 1000, 9: 1} {
		tab := optionTable(precision, nil)
		for at, want := range map[int64]int64{7: 7 * unit, -7: -7 * unit, 1<<63 - 1: 1<<63 - 1} {
			if got := inNanoseconds(at, tab); got != want {
				t.Errorf("precision %d: %d is %d ns, want %d", precision, at, got, want)
			}
		}
	}
}

// TestMaxSizeBringsNothingBack: a part with replaced rows or tombstones does not go before the part with what it hides,
// nor with it where it can stay.
func TestMaxSizeBringsNothingBack(t *testing.T) {
	for _, kind := range []modelKind{lastRow, lastNonNull, noTags} {
		e := mustOpen(t, testOptions(vfs.NewMem()))
		putPart(t, e, "t", kind, rowsAt(0, 50, 1)...)
		putPart(t, e, "t", kind, rowsAt(0, 10, 2)...) // its newest row is older than that of the part before
		if err := remove(e, "t", rowsAt(3, 4, 0)); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("t")); err != nil {
			t.Fatal(err)
		}
		putPart(t, e, "t", kind, rowsAt(60, 70, 1)...)
		for dropped, want := range []int{59, 19, 10, 10} {
			if dropped > 0 {
				e.sizes.o.MaxDatabaseBytes = publicSize(t, e).Bytes - 1
				if err := e.sizes.hold(); err != nil {
					t.Fatal(err)
				}
			}
			lines, err := scanTable(e, public("t"), everything)
			if err != nil {
				t.Fatal(err)
			}
			if s := publicSize(t, e); len(lines) != want || s.DroppedParts != int64(dropped) {
				t.Errorf("kind %d: %d rows are left, %d parts dropped; want %d, %d: %v", kind, len(lines),
					s.DroppedParts, want, dropped, lines)
			}
		}
		mustClose(t, e)
	}
}

// TestMaxSizeOfFarRow: one row in the far future takes nothing along but its own part: newer parts that it overlaps go
// after it, the oldest first.
func TestMaxSizeOfFarRow(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	putPart(t, e, "t", lastRow, append(rowsAt(0, 2, 1), rowsAt(1<<40, 1<<40+1, 1)...)...)
	for at := int64(10); at < 40; at += 10 {
		putPart(t, e, "t", lastRow, rowsAt(at, at+2, 1)...)
	}
	for dropped, want := range []string{"10 11 20 21 30 31", "20 21 30 31", "30 31"} {
		e.sizes.o.MaxDatabaseBytes = publicSize(t, e).Bytes - 1
		if err := e.sizes.hold(); err != nil {
			t.Fatal(err)
		}
		if got, s := timesOf(t, e, "t"), publicSize(t, e); got != want || s.DroppedParts != int64(dropped)+1 {
			t.Errorf("the times are %q, %d parts dropped; want %q, %d", got, s.DroppedParts, want, dropped+1)
		}
	}
}

// TestMaxSizeOfOthersAfterAnError: a database whose parts cannot be dropped keeps no other above its bound.
func TestMaxSizeOfOthersAfterAnError(t *testing.T) {
	var armed atomic.Bool
	broken := errors.New("no")
	fs := vfs.WithFaults(vfs.NewMem(), func(op vfs.Op, name string) error {
		if op == vfs.OpWrite && strings.Contains(strings.ToLower(name), "manifest") &&
			armed.CompareAndSwap(true, false) {
			return broken
		}
		return nil
	})
	e := mustOpen(t, testOptions(fs))
	defer mustClose(t, e)
	dbs := []string{"one", "two"}
	for _, db := range dbs {
		if err := e.CreateDatabase(ctx, Database{Name: db}); err != nil {
			t.Fatal(err)
		}
		for at := range int64(2) {
			var set WriteSet
			name := schema.Name{DB: db, Table: "t"}
			if err := fill(set.Rows(name, hintOf(appendOnly)), rowsAt(at, at+1, 1)); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Write(ctx, &set); err != nil {
				t.Fatal(err)
			}
			if err := e.Flush(ctx, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	parts := func() (n int64) {
		for _, s := range e.DatabaseSizes() {
			n += s.DroppedParts
		}
		return n
	}
	e.sizes.o.MaxDatabaseBytes = 1
	armed.Store(true)
	if err := e.sizes.hold(); !errors.Is(err, broken) || !strings.Contains(err.Error(), "database ") {
		t.Errorf("the error is %v, want that of a database", err)
	}
	if parts() != 1 {
		t.Errorf("%d parts dropped, want that of the other database", parts())
	}
	if err := e.sizes.hold(); err != nil || parts() != 2 {
		t.Errorf("%d parts dropped in the end, %v; want 2", parts(), err)
	}
}

// TestMaxSizeAtRandom: whatever is written, flushed, merged and dropped, a row that is left has its last value, and
// every row newer than the newest dropped one is left.
func TestMaxSizeAtRandom(t *testing.T) {
	for seed := range seedsOf(t, "VARVE_SIZE_SEEDS", effort(30, 60, 500)) {
		r := rand.New(rand.NewPCG(seed, 5))
		e := mustOpen(t, testOptions(vfs.NewMem()))
		m := &modelTable{kind: lastRow, keys: map[string]modelRow{}}
		gone := int64(-1 << 62) // time of the newest dropped row
		for range 60 {
			at := int64(r.IntN(1000))
			rows := rowsAt(at, at+1+int64(r.IntN(200)), int64(r.IntN(1e6)))
			switch r.IntN(5) {
			case 0, 1:
				m.put(rows)
				putPart(t, e, "t", lastRow, rows...)
			case 2:
				if len(m.keys) > 0 {
					m.remove(rows)
					if err := remove(e, "t", rows); err != nil {
						t.Fatal(err)
					}
				}
			case 3:
				if len(m.keys) > 0 {
					if err := mergeEach(e, "t"); err != nil {
						t.Fatal(err)
					}
				}
			default:
				s := publicSize(t, e)
				e.sizes.o.MaxDatabaseBytes = max(1, s.Bytes*int64(50+r.IntN(50))/100)
				if err := e.sizes.hold(); err != nil {
					t.Fatal(err)
				}
				if now := publicSize(t, e); now.DroppedParts > s.DroppedParts {
					gone = max(gone, now.DroppedUntil.UnixMilli())
				}
			}
		}
		want := map[string]bool{}
		for _, row := range m.keys {
			want[row.String()] = row["ts"].(int64) > gone
		}
		if len(m.keys) > 0 {
			lines, err := scanTable(e, public("t"), everything)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				if _, ok := want[l]; !ok {
					t.Fatalf("seed %d: the row%s was replaced or deleted, and is there", seed, l)
				}
				delete(want, l)
			}
		}
		for l, newer := range want {
			if newer {
				t.Errorf("seed %d: the row%s is gone, though it is newer than what was dropped (%d)", seed, l, gone)
			}
		}
		mustClose(t, e)
	}
}

// TestMaxSizeOfEqualTimes: of parts whose newest rows have one time no more go than must, those written first; without
// versions each goes alone.
func TestMaxSizeOfEqualTimes(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for i := range int64(5) {
		putPart(t, e, "t", appendOnly, modelRow{"ts": i}, modelRow{"ts": int64(100)})
	}
	for want := range int64(5) {
		e.sizes.o.MaxDatabaseBytes = max(publicSize(t, e).Bytes-1, 1)
		if want == 0 {
			e.sizes.o.MaxDatabaseBytes++
		}
		if err := e.sizes.hold(); err != nil {
			t.Fatal(err)
		}
		times := []string{"100 100 100 100 100 0 1 2 3 4", "100 100 100 100 1 2 3 4", "100 100 100 2 3 4",
			"100 100 3 4", "100 4"}[want]
		sorted := strings.Fields(times)
		slices.Sort(sorted)
		if got := timesOf(t, e, "t"); got != strings.Join(sorted, " ") || publicSize(t, e).DroppedParts != want {
			t.Errorf("the times are %q, %d parts dropped; want %v, %d", got, publicSize(t, e).DroppedParts, sorted,
				want)
		}
	}
}

// TestMaxSizeOvertaken: what a flush, ALTER and a start change between a look and a drop is looked at again; nothing is
// dropped by what was so before, and nothing is counted as dropped that is there.
func TestMaxSizeOvertaken(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	putPart(t, e, "t", lastRow, rowsAt(0, 3, 1)...)
	tab, err := e.Table(public("t"))
	if err != nil {
		t.Fatal(err)
	}
	before := tab.region.snap.Load()
	putPart(t, e, "t", lastRow, rowsAt(10, 13, 1)...)
	want := timesOf(t, e, "t")
	check := func(when string) {
		t.Helper()
		if got, s := timesOf(t, e, "t"), publicSize(t, e); got != want || s.DroppedParts != 0 {
			t.Errorf("%s: the times are %q, %+v; want %q", when, got, s, want)
		}
	}
	listed := 0
	for _, g := range e.sizes.groupsOf(tab.region, before) {
		if len(g.aside) == 0 {
			continue
		}
		listed++
		if dropped, err := e.sizes.drop(g); dropped || err != nil {
			t.Errorf("a part that a flush has just listed: %v, %v", dropped, err)
		}
		check("after a flush")
	}
	if listed != 1 {
		t.Errorf("%d parts are listed and not in the snapshot, want 1", listed)
	}

	first := tab.region.snap.Load().parts[0]
	first.unlisted.Store(true)
	groups := e.sizes.groupsOf(tab.region, tab.region.snap.Load())
	first.unlisted.Store(false) // the flush that lists it adds a part with older rows
	if dropped, err := e.sizes.drop(groups[0]); dropped || err != nil {
		t.Errorf("a part that the manifest did not list: %v, %v", dropped, err)
	}
	check("after a start")

	e.sizes.o.MaxDatabaseBytes = 1 << 30 // as if ALTER had raised it
	c := e.catalog.Load()
	if err := e.sizes.shrink(c, PublicDB, publicSize(t, e).Bytes, 1); err != nil {
		t.Fatal(err)
	}
	check("after the bound was raised")
	if len(e.sizes.grown) != 1 {
		t.Error("nobody looks again after the bound was raised")
	}
}

// TestMaxSizeLeavesWhatIsHeld: a scan that began before reads on, a backup keeps its rows, and parts that a merge works
// on, and newer ones, stay until it is done.
func TestMaxSizeLeavesWhatIsHeld(t *testing.T) {
	fs := vfs.NewMem()
	e := mustOpen(t, testOptions(fs))
	for i := range int64(4) {
		putPart(t, e, "log", appendOnly, modelRow{"ts": i})
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Backups().Make(ctx, "held")
	if err != nil {
		t.Fatal(err)
	}
	before, err := dump(e)
	if err != nil {
		t.Fatal(err)
	}
	times := []schema.ColumnID{tab.Schema.TimeColumn().ID}
	scan, err := e.Scan(ctx, Request{Table: tab, Columns: times, Time: everything.time})
	if err != nil {
		t.Fatal(err)
	}
	e.sizes.o.MaxDatabaseBytes = 1
	_, left := e.merger.leave(tab.region, tab.region.snap.Load().parts[1:2])
	if err := e.sizes.hold(); err != nil {
		t.Fatal(err)
	}
	if got := timesOf(t, e, "log"); got != "1 2 3" {
		t.Errorf("while a merge has the second part the times are %q, want 1 2 3", got)
	}
	left()
	if err := e.sizes.hold(); err != nil {
		t.Fatal(err)
	}
	if got := timesOf(t, e, "log"); got != "3" {
		t.Errorf("after it the times are %q, want 3", got)
	}
	rows := 0
	for {
		c, _, ok, err := scan.Cursor()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		lines, err := appendRows(nil, tab.Schema, c, everything.time)
		if err != nil {
			t.Fatal(err)
		}
		rows += len(lines)
	}
	scan.Close()
	if rows != 4 {
		t.Errorf("the scan that began before has %d rows, want 4", rows)
	}
	mustClose(t, e)
	o := testOptions(fs)
	o.Dir, o.WALDir = b.Dir, ""
	copied := mustOpen(t, o)
	defer mustClose(t, copied)
	if got, err := dump(copied); err != nil || got != before {
		t.Errorf("the backup holds\n%s\nwant\n%s (%v)", got, before, err)
	}
}

// TestMaxSizeCrash cuts the power at each operation while parts are dropped: the rows that are left then are those of
// the newest parts, whole; and what was not done is done after the start.
func TestMaxSizeCrash(t *testing.T) {
	for cut := range 40 {
		disk := vfs.NewMem()
		f := &fuse{left: -1}
		o := testOptions(vfs.WithFaults(disk, f.before))
		e := mustOpen(t, o)
		for i := range int64(5) {
			putPart(t, e, []string{"a", "b"}[i%2], appendOnly, rowsAt(10*i, 10*i+3, i)...)
		}
		if err := put(e, "a", appendOnly, rowsAt(100, 103, 9)); err != nil {
			t.Fatal(err)
		}
		most := publicSize(t, e).Bytes * 2 / 5
		e.sizes.o.MaxDatabaseBytes = most
		f.left = cut
		err := e.sizes.hold()
		if err != nil && !errors.Is(err, errPower) {
			t.Fatalf("cut %d: %v", cut, err)
		}
		f.left = 0
		_ = e.Close(ctx, false)
		o.FS = disk.Crash(rand.New(rand.NewPCG(uint64(cut), 3)))
		e = mustOpen(t, o)
		left := timesOf(t, e, "a") + " " + timesOf(t, e, "b")
		found := false
		for first := range 5 {
			found = found || left == wantedTimes(first)
		}
		if !found || len(e.SetAside()) > 0 {
			t.Fatalf("cut %d: after the crash the times are %q, set aside %v", cut, left, e.SetAside())
		}
		e.sizes.o.MaxDatabaseBytes = most
		if err := e.sizes.hold(); err != nil {
			t.Fatal(err)
		}
		if s := publicSize(t, e); s.Bytes > most {
			t.Errorf("cut %d: %d bytes, want at most %d", cut, s.Bytes, most)
		}
		if got := timesOf(t, e, "a"); !strings.HasPrefix(got, "100 101 102") {
			t.Errorf("cut %d: the rows in memory are gone: %q", cut, got)
		}
		mustClose(t, e)
		if r, err := Check(CheckOptions{FS: o.FS, Dir: o.Dir, Deep: true}); err != nil || len(r.Faults) > 0 {
			t.Errorf("cut %d: check finds %v, %v", cut, r.Faults, err)
		}
	}
}

// wantedTimes are the times of TestMaxSizeCrash from the first part that is left on.
func wantedTimes(first int) string {
	times := [2][]string{{"100", "101", "102"}, nil}
	for i := first; i < 5; i++ {
		for k := range 3 {
			times[i%2] = append(times[i%2], fmt.Sprint(10*i+k))
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return strings.Join(times[0], " ") + " " + strings.Join(times[1], " ")
}

// TestMaxSizeOption: the option of the database comes before the bound of all, lasts over a restart, and 0 takes the
// bound away; the server's own database has none.
func TestMaxSizeOption(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.MaxDatabaseBytes = 1 << 30
	e := mustOpen(t, o)
	bounds := func() string {
		t.Helper()
		var all []string
		for _, s := range e.DatabaseSizes() {
			all = append(all, fmt.Sprint(s.Name, "=", s.Max))
		}
		return strings.Join(all, " ")
	}
	if got, want := bounds(), "public=1073741824 service_private=0"; got != want {
		t.Errorf("bounds %s, want %s", got, want)
	}
	for value, want := range map[string]string{"2MiB": "public=2097152 service_private=0",
		"0": "public=0 service_private=0"} {
		err := e.AlterDatabase(ctx, Database{Name: PublicDB, Options: []schema.Option{{Key: "max_size", Value: value}}})
		if err != nil {
			t.Fatal(err)
		}
		mustClose(t, e)
		e = mustOpen(t, o)
		if got := bounds(); got != want {
			t.Errorf("max_size %s: bounds %s, want %s", value, got, want)
		}
	}
	mustClose(t, e)
	for text, want := range map[string]int64{"1MiB": 1 << 20, "1.5g": 3 << 29, "1048576": 1 << 20, "2 TB": 2 << 40,
		"none": 0, "0": 0} {
		if n, normal, err := schema.ParseMaxSize(text); err != nil || n != want {
			t.Errorf("%s is %d (%s), %v; want %d", text, n, normal, err, want)
		}
	}
	for _, text := range []string{"", "x", "10", "1023KiB", "-1", "9999999999P", "1QiB"} {
		if n, _, err := schema.ParseMaxSize(text); status.Of(err) != status.InvalidArguments {
			t.Errorf("%q is %d, %v; want a refusal", text, n, err)
		}
	}
}

// TestMaxSizeByItself: with work in the background a flush is enough, nobody waits for the next look.
func TestMaxSizeByItself(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.NoBackground, o.MaxDatabaseBytes, o.mergeParts = false, 4<<10, 1000
	e := mustOpen(t, o)
	defer mustClose(t, e)
	for i := range int64(40) {
		putPart(t, e, "log", appendOnly, rowsAt(i*10, i*10+10, i)...)
	}
	for deadline := time.Now().Add(40 * time.Second); publicSize(t, e).Bytes > 4<<10; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("the database has %+v", publicSize(t, e))
		}
	}
	if got := timesOf(t, e, "log"); !strings.Contains(got, "399") {
		t.Errorf("the newest row is gone: %s", got)
	}
}
