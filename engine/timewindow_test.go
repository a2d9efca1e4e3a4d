package engine

import (
	"math"
	"testing"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/engine/vfs"
)

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
		second := c.table.Columns[0].Type.UnitsPerSecond()
		own, _ := c.table.Options.Find("compaction.twcs.time_window")
		if w := windowsOf(c.table, own, partsOf([3]int64{c.lo, c.hi})); w.size != c.seconds*second {
			t.Errorf("%s: windows of %d seconds, want %d", c.name, w.size/second, c.seconds)
		}
	}
	for _, own := range []string{"", "1s", "106751991167d", "1000000y"} { // absurd times end, in few windows
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
	got, err := scanTable(e, public("log"),
		query{time: scan.Range{From: 1005, To: 1011}, test: func(modelRow) bool { return true }})
	if err != nil || len(got) != 7 {
		t.Errorf("a range over a border gives %v, %v", got, err)
	}
}
