package engine

import (
	"testing"

	"varve/engine/spare"
	"varve/engine/vector"
)

// filled is a set with a row in each of some tables, whose text has so many bytes.
func filled(t *testing.T, sets *SpareSets, bytes int, tables ...string) *WriteSet {
	t.Helper()
	set := sets.Get()
	for _, name := range tables {
		b := set.Rows(public(name), Hint{TimeIndex: "ts", AutoCreate: true})
		c, err := b.Column("text", vector.StringType)
		if err != nil {
			t.Fatal(err)
		}
		c.SetBytes(make([]byte, bytes))
		b.EndRow()
	}
	return set
}

// TestSpareSets: a set comes back empty, with its buffers; one that is larger than what may be kept does not.
func TestSpareSets(t *testing.T) {
	var sets SpareSets
	set := filled(t, &sets, 1<<16, "a")
	sets.Put(set)
	if again := sets.Get(); again != set || again.Held() < 1<<16 || len(again.entries) != 0 {
		t.Errorf("got a set of %d bytes with %d tables, the same: %t", again.Held(), len(again.entries), again == set)
	}
	large := filled(t, &sets, spare.MaxBytes*2/3, "a", "b")
	sets.Put(large)
	if large.Held() <= spare.MaxBytes {
		t.Errorf("the large set has %d bytes", large.Held())
	}
	if again := sets.Get(); again == large {
		t.Errorf("a set of %d bytes was kept", large.Held())
	}
}
