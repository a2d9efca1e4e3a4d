package wal

import (
	"slices"
	"testing"
)

// TestMissingSegmentStaysReported: a segment that is missing is damage at the first start; the ones after it, for which
// the log is whole, name it until its file is removed.
func TestMissingSegmentStaysReported(t *testing.T) {
	fs, needs := chained(t)
	if err := fs.Remove(at(4)); err != nil {
		t.Fatal(err)
	}
	name := segmentName(4) + missingSuffix
	for start, want := range [][]string{nil, {name}, {name}, nil} {
		if start == 3 {
			if err := fs.Remove(at(4) + missingSuffix); err != nil {
				t.Fatal(err)
			}
		}
		l := openLog(t, fs, Options{FileSize: 1, Needs: needs})
		_, r := replayAll(t, l)
		if !slices.Equal(r.Kept, want) || len(want) > 0 && !Missing(r.Kept[0]) {
			t.Errorf("start %d: kept %v, want %v", start+1, r.Kept, want)
		}
		if start == 0 && len(r.Damaged) == 0 {
			t.Error("the first start reports nothing")
		}
		for _, d := range r.Damaged {
			l.Keep(d.Segment)
		}
		ends := appendAll(t, l, "more", "and more")
		if err := l.Truncate(ends[1], KeepNewest); err != nil {
			t.Fatal(err)
		}
		needs = Range{ends[1].Segment(), ends[1].Segment()}
		closeLog(t, l)
	}
}
