package engine

import (
	"errors"
	"math"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/timefmt"
)

// windows cut time into stretches of one length, aligned to the epoch. Merged parts do not straddle them, so that late
// rows are merged with those of their time, and old parts go as a whole when they expire.
type windows struct{ size int64 } // in units of the time index

const day = 24 * 60 * 60

// windowSeconds are the lengths that tables without compaction.twcs.time_window choose from, each a multiple of the one
// before, so that a table that grows older never has to cut what it has merged.
var windowSeconds = []int64{day, 7 * day, 28 * day, 364 * day, 3640 * day}

// maxWindows bounds how many windows a table has, as far as lengths go; time windows that are configured shorter are
// doubled until a table has at most maxOwnWindows.
const (
	maxWindows    = 32
	maxOwnWindows = 4096
)

// windowsOf chooses the windows of a table with parts; own is its compaction.twcs.time_window, empty when it has none.
func windowsOf(t *schema.Table, own string, parts []*part) windows {
	lo, hi := spanOf(parts)
	second := t.TimeColumn().Type.UnitsPerSecond()
	if own != "" {
		ns, err := timefmt.ParseDuration(own)
		if errors.Is(err, timefmt.ErrRange) {
			ns, err = math.MaxInt64, nil
		}
		if err == nil && ns > 0 { // was checked when it was set
			w := windows{max(1, ns/(1e9/second))}
			for !w.within(lo, hi, maxOwnWindows) {
				w.size *= 2
			}
			return w
		}
	}
	var w windows
	for _, s := range windowSeconds {
		if w.size = s * second; w.within(lo, hi, maxWindows) {
			return w
		}
	}
	for !w.within(lo, hi, maxWindows) {
		w.size *= 2
	}
	return w
}

// of is the number of the window that holds a time.
func (w windows) of(t int64) int64 { return timefmt.FloorDiv(t, w.size) }

// within reports whether there are at most n windows from lo to hi, whose number may be more than 64 bits hold.
func (w windows) within(lo, hi int64, n uint64) bool { return uint64(w.of(hi))-uint64(w.of(lo)) < n }

// straddles reports whether the rows of a part lie in more than one window.
func (w windows) straddles(p *part) bool { return w.of(p.meta.MinTime) != w.of(p.meta.MaxTime) }

// cut returns the spans of time for which parts are written: the windows of the rows. A part lies only in windows of
// its own times, so windows without a part are left out.
func (w windows) cut(parts []*part) []scan.Range {
	var numbers []int64
	for _, p := range parts {
		for n, last := w.of(p.meta.MinTime), w.of(p.meta.MaxTime); ; n++ {
			numbers = append(numbers, n)
			if n == last {
				break
			}
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) == 1 {
		return []scan.Range{scan.All}
	}
	ranges := make([]scan.Range, len(numbers))
	for i, n := range numbers {
		ranges[i] = scan.All
		if i > 0 {
			ranges[i].From = n * w.size
		}
		if i+1 < len(numbers) {
			ranges[i].To = (n+1)*w.size - 1 // the last window takes the rest
		}
	}
	return ranges
}

// spanOf is the smallest and the largest time of parts, both inclusive.
func spanOf(parts []*part) (lo, hi int64) {
	for i, p := range parts {
		if i == 0 {
			lo, hi = p.meta.MinTime, p.meta.MaxTime
			continue
		}
		lo, hi = min(lo, p.meta.MinTime), max(hi, p.meta.MaxTime)
	}
	return lo, hi
}
