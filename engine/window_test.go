package engine

import (
	"math"
	"slices"
	"testing"

	"varve/engine/manifest"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

// partsOf makes parts of which only the description matters; each is min, max, level.
func partsOf(spans ...[3]int64) (parts []*part) {
	for i, s := range spans {
		parts = append(parts, &part{meta: manifest.PartMeta{File: uint64(i), Rows: 10, MinTime: s[0], MaxTime: s[1], Level: uint8(s[2]), MinSeq: uint64(i + 1), MaxSeq: uint64(i + 1), Unique: true}})
	}
	return parts
}

func optionTable(precision uint8, options map[string]string) *schema.Table {
	o, err := schema.ParseOptions(options)
	if err != nil {
		panic(err)
	}
	return &schema.Table{Columns: []schema.Column{{Name: "ts", Type: vector.Timestamp(precision)}}, Options: o}
}

func TestWindowsOf(t *testing.T) {
	const ms = 1000
	for _, c := range []struct {
		name    string
		table   *schema.Table
		lo, hi  int64
		seconds int64
	}{
		{"a day", optionTable(3, nil), 0, day*ms - 1, day},
		{"a month", optionTable(3, nil), 0, 31 * day * ms, day},
		{"half a year", optionTable(3, nil), 0, 180 * day * ms, 7 * day},
		{"two years", optionTable(0, nil), 0, 730 * day, 28 * day},
		{"configured", optionTable(9, map[string]string{"compaction.twcs.time_window": "2h"}), 0, 1e9, 7200},
	} {
		second := inUnitOf(c.table.Columns[0].Type)
		own, _ := c.table.Options.Find("compaction.twcs.time_window")
		if w := windowsOf(c.table, own, partsOf([3]int64{c.lo, c.hi})); w.size != c.seconds*second {
			t.Errorf("%s: windows of %d seconds, want %d", c.name, w.size/second, c.seconds)
		}
	}
	for _, own := range []string{"", "1s", "106751991167d"} { // absurd times end, in few windows
		w := windowsOf(optionTable(0, nil), own, partsOf([3]int64{math.MinInt64, math.MaxInt64}))
		if !w.within(math.MinInt64, math.MaxInt64, maxOwnWindows) {
			t.Errorf("%q: all times there are make windows of %d seconds", own, w.size)
		}
	}
}

func TestCutCoversAllTimesOnce(t *testing.T) {
	w := windows{10}
	for _, c := range []struct {
		parts []*part
		want  int
	}{
		{partsOf([3]int64{0, 9}, [3]int64{3, 4}), 1},
		{partsOf([3]int64{0, 10}), 2},
		{partsOf([3]int64{-11, -1}, [3]int64{-1, 0}, [3]int64{55, 56}), 4},
		{partsOf([3]int64{math.MinInt64, math.MinInt64 + 3}, [3]int64{math.MaxInt64, math.MaxInt64}), 2},
	} {
		ranges := w.cut(c.parts)
		if len(ranges) != c.want {
			t.Errorf("%d ranges %v, want %d", len(ranges), ranges, c.want)
		}
		for _, p := range c.parts {
			for _, at := range []int64{p.meta.MinTime, p.meta.MaxTime} {
				n := 0
				for _, r := range ranges {
					if r.Holds(at) {
						n++
					}
				}
				if n != 1 {
					t.Errorf("time %d lies in %d of %v", at, n, ranges)
				}
			}
		}
	}
}

func files(parts []*part) (list []uint64) {
	for _, p := range parts {
		list = append(list, p.meta.File)
	}
	return list
}

func TestPick(t *testing.T) {
	w := windows{100}
	fresh := partsOf([3]int64{0, 150, 0}, [3]int64{0, 9, 0}, [3]int64{5, 9, 0}, [3]int64{0, 1, 0}, [3]int64{0, 1, 0}, [3]int64{0, 1, 0}, [3]int64{0, 1, 0}, [3]int64{7, 8, 1})
	if got := pickFresh(fresh, 8); got != nil {
		t.Errorf("seven fresh parts are merged: %v", files(got))
	}
	if got := pickFresh(append(fresh, partsOf([3]int64{0, 1, 0})...), 8); len(got) != 8 {
		t.Errorf("of eight fresh parts %v are merged", files(got))
	}
	var two [][3]int64
	for i := range 14 { // seven in each
		at := int64(i%2) * 100
		two = append(two, [3]int64{at, at + 5, 1})
	}
	if got := pickMerged(partsOf(two...), w, 8, 8); got != nil {
		t.Errorf("parts of different windows are merged: %v", files(got))
	}
	two = append(two, [3]int64{0, 1, 1}, [3]int64{200, 201, 1})
	if got := files(pickMerged(partsOf(two...), w, 8, 8)); !slices.Equal(got, []uint64{0, 2, 4, 6, 8, 10, 12, 14}) {
		t.Errorf("parts %v are merged", got)
	}
	var many [][3]int64
	for i := range 30 { // as many fresh ones as merged ones
		many = append(many, [3]int64{0, 1, int64(i % 2)})
	}
	if got := pickMerged(partsOf(many...), w, 16, 8); got != nil {
		t.Errorf("%d parts are merged where sixteen would be too many", len(got))
	}
	many = append(many, [3]int64{0, 1, 1})
	if got := pickMerged(partsOf(many...), w, 16, 8); len(got) != 16 || got[0].meta.Level != 1 {
		t.Errorf("%v are merged where level 1 has too many", files(got))
	}
}

// none: no part has rows that a merge leaves out.
func none(*part) bool { return false }

func TestPickAny(t *testing.T) {
	w := windows{100}
	if got := files(pickAny(partsOf([3]int64{0, 9, 0}, [3]int64{50, 150, 3}, [3]int64{101, 102, 0}), nil, w, true, none)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("%v before the part that straddles", got)
	}
	if got := files(pickAny(partsOf([3]int64{0, 9, 0}, [3]int64{101, 102, 0}, [3]int64{3, 4, 2}), nil, w, true, none)); !slices.Equal(got, []uint64{0, 2}) {
		t.Errorf("%v of one window", got)
	}
	done := partsOf([3]int64{0, 9, 0}, [3]int64{101, 102, 0})
	if got := pickAny(done, nil, w, true, none); got != nil {
		t.Errorf("%v of parts that are as they should be", files(got))
	}
	done[1].meta.Unique = false
	if got := files(pickAny(done, nil, w, true, none)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("%v, want the part that hides rows", got)
	}
	if got := pickAny(done, nil, w, false, none); got != nil {
		t.Errorf("%v of an append-only table", files(got))
	}
}

// TestLateDataGoesToItsWindow: after merging no part straddles windows, and every row is there once.
func TestLateDataGoesToItsWindow(t *testing.T) {
	e := mustOpen(t, testOptions(vfs.NewMem()))
	defer mustClose(t, e)
	for i := range int64(20) {
		rows := []modelRow{{"ts": 2030 + i, "v": i}, {"ts": i, "v": -i}, {"ts": 1005 + i, "v": i}}
		if err := put(e, "log", appendOnly, rows); err != nil {
			t.Fatal(err)
		}
		if err := e.Flush(ctx, public("log")); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Compact(ctx, public("log")); err != nil {
		t.Fatal(err)
	}
	tab, err := e.Table(public("log"))
	if err != nil {
		t.Fatal(err)
	}
	rows, w := int64(0), windows{1010}
	parts := tab.region.snap.Load().parts
	for _, p := range parts {
		rows += p.meta.Rows
		if w.straddles(p) {
			t.Errorf("a part spans %d to %d", p.meta.MinTime, p.meta.MaxTime)
		}
	}
	if rows != 60 || len(parts) != 3 {
		t.Errorf("%d rows in %d parts, want 60 in 3", rows, len(parts))
	}
	got, err := scanTable(e, public("log"), query{time: scan.Range{From: 1005, To: 1011}, test: func(modelRow) bool { return true }})
	if err != nil || len(got) != 7 {
		t.Errorf("a range over a border gives %v, %v", got, err)
	}
}
