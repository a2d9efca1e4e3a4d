package engine

import (
	"slices"
	"testing"

	"varve/engine/manifest"
)

// partOf makes a part of which only the description matters, of one block and 100 bytes of keys.
func partOf(m manifest.PartMeta) *part {
	return &part{meta: m, measured: &partSize{rows: m.Rows, blocks: 1, keys: 100}}
}

// partsOf makes parts of which only the description matters; each is min, max, level.
func partsOf(spans ...[3]int64) (parts []*part) {
	for i, s := range spans {
		parts = append(parts, partOf(manifest.PartMeta{File: uint64(i), Rows: 10, MinTime: s[0], MaxTime: s[1],
			Level: uint8(s[2]), MinSeq: uint64(i + 1), MaxSeq: uint64(i + 1), Unique: true}))
	}
	return parts
}

func files(parts []*part) (list []uint64) {
	for _, p := range parts {
		list = append(list, p.meta.File)
	}
	return list
}

func TestPick(t *testing.T) {
	w := windows{100}
	fresh := partsOf([3]int64{0, 150, 0}, [3]int64{0, 9, 0}, [3]int64{5, 9, 0}, [3]int64{0, 1, 0}, [3]int64{0, 1, 0},
		[3]int64{0, 1, 0}, [3]int64{0, 1, 0}, [3]int64{7, 8, 1})
	if got := pickFresh(fresh, 8, maxPart); got != nil {
		t.Errorf("seven fresh parts are merged: %v", files(got))
	}
	if got := pickFresh(append(fresh, partsOf([3]int64{0, 1, 0})...), 8, maxPart); len(got) != 8 {
		t.Errorf("of eight fresh parts %v are merged", files(got))
	}
	var two [][3]int64
	for i := range 14 { // seven in each
		at := int64(i%2) * 100
		two = append(two, [3]int64{at, at + 5, 1})
	}
	if got := pickMerged(partsOf(two...), w, 8, maxPart); got != nil {
		t.Errorf("parts of different windows are merged: %v", files(got))
	}
	two = append(two, [3]int64{0, 1, 1}, [3]int64{200, 201, 1})
	if got := files(pickMerged(partsOf(two...), w, 8, maxPart)); !slices.Equal(got,
		[]uint64{0, 2, 4, 6, 8, 10, 12, 14}) {
		t.Errorf("parts %v are merged", got)
	}
	var many [][3]int64
	for i := range 30 { // as many fresh ones as merged ones
		many = append(many, [3]int64{0, 1, int64(i % 2)})
	}
	many = append(many, [3]int64{0, 1, 1}, [3]int64{0, 1, 1})
	if got := pickMerged(partsOf(many...), w, 8, maxPart); len(got) != 16 || got[0].meta.Level != 1 {
		t.Errorf("%v of seventeen parts of level 1 are merged", files(got))
	}
}

// TestTakeIsBounded: neighbours that are merged fit into one part. Where keys or blocks keep more from fitting, two are
// enough.
func TestTakeIsBounded(t *testing.T) {
	parts := partsOf(make([][3]int64, 8)...) // of 10 rows, one block and 100 bytes of keys each
	for _, c := range []struct {
		name  string
		bound partSize
		want  []uint64
	}{
		{"all fit", partSize{rows: 80, blocks: 8, keys: 800}, []uint64{0, 1, 2, 3, 4, 5, 6, 7}},
		{"too many rows", partSize{rows: 79, blocks: 8, keys: 800}, nil},
		{"too many blocks", partSize{rows: 80, blocks: 7, keys: 800}, []uint64{0, 1, 2, 3, 4, 5, 6}},
		{"too many keys", partSize{rows: 80, blocks: 8, keys: 299}, []uint64{0, 1}},
		{"keys for one", partSize{rows: 80, blocks: 8, keys: 99}, nil},
	} {
		if got := files(take(parts, 8, 16, c.bound)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v are merged, want %v", c.name, got, c.want)
		}
	}
	if got := files(take(parts[:1], 1, 16, partSize{})); !slices.Equal(got, []uint64{0}) {
		t.Errorf("a part beyond the bound that is written anew alone: %v", got)
	}
}

// none reports whether no part has rows that a merge leaves out.
func none(*part) bool { return false }

func TestPickAny(t *testing.T) {
	w := windows{100}
	if got := files(pickAny(partsOf([3]int64{0, 9, 0}, [3]int64{50, 150, 3}, [3]int64{101, 102, 0}), nil, w, maxPart,
		true, none)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("%v before the part that straddles", got)
	}
	if got := files(pickAny(partsOf([3]int64{0, 9, 0}, [3]int64{101, 102, 0}, [3]int64{3, 4, 2}), nil, w, maxPart, true,
		none)); !slices.Equal(got, []uint64{0, 2}) {
		t.Errorf("%v of one window", got)
	}
	between := partsOf([3]int64{50, 150, 0}, [3]int64{60, 70, 0}, [3]int64{50, 150, 0}, [3]int64{60, 70, 0})
	for unique, want := range map[bool][]uint64{true: {0, 2}, false: {0, 1, 2}} {
		if got := files(pickAny(between, nil, w, maxPart, unique, none)); !slices.Equal(got, want) {
			t.Errorf("%v with parts that straddle, want %v where rows are replaced by others: %v", got, want, unique)
		}
	}
	done := partsOf([3]int64{0, 9, 0}, [3]int64{101, 102, 0})
	if got := pickAny(done, nil, w, maxPart, true, none); got != nil {
		t.Errorf("%v of parts that are as they should be", files(got))
	}
	done[1].meta.Unique = false
	if got := files(pickAny(done, nil, w, maxPart, true, none)); !slices.Equal(got, []uint64{1}) {
		t.Errorf("%v, want the part that hides rows", got)
	}
	if got := pickAny(done, nil, w, maxPart, false, none); got != nil {
		t.Errorf("%v of an append-only table", files(got))
	}
}

// TestBehind counts the merges that wait in all windows of a table.
func TestBehind(t *testing.T) {
	var parts []*part
	add := func(n int, level uint8, time int64) {
		for range n {
			seq := uint64(len(parts) + 1)
			parts = append(parts, partOf(manifest.PartMeta{Level: level, Rows: 1, MinTime: time, MaxTime: time,
				MinSeq: seq, MaxSeq: seq}))
		}
	}
	add(40, 0, 1) // fresh
	add(3, 1, 1)  // too few
	add(4, 1, 11) // one
	add(9, 1, 21) // two, of eight at most
	add(4, 2, 21) // one
	if n := behind(parts, windows{10}, 4, maxPart); n != 4 {
		t.Errorf("%d merges wait, want 4", n)
	}
}
