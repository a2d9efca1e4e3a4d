package fleet

import (
	"encoding/binary"
	"testing"
)

// TestFleet: ten thousand different series; counters never fall.
func TestFleet(t *testing.T) {
	s := New()
	if s.Len() != 10_000 {
		t.Fatalf("%d series", s.Len())
	}
	seen := map[string]bool{}
	for i := range s.series {
		x := &s.series[i]
		if seen[string(x.labels)] {
			t.Fatalf("series %d is there twice", i)
		}
		seen[string(x.labels)] = true
		for step := range int64(50) {
			if x.kind <= events && x.value(step+1) < x.value(step) {
				t.Fatalf("counter %d falls from %v to %v", i, x.value(step), x.value(step+1))
			}
		}
	}
	n, rest := 0, s.AppendRequest(nil, 5, 8, 3, 1000)
	for ; len(rest) > 0; n++ {
		size, k := binary.Uvarint(rest[1:])
		if rest[0] != 1<<3|2 || k <= 0 || uint64(len(rest)) < 1+uint64(k)+size {
			t.Fatalf("series %d of a request is cut off", n)
		}
		rest = rest[1+k+int(size):]
	}
	if n != 3 {
		t.Errorf("a request of 3 series has %d", n)
	}
}
