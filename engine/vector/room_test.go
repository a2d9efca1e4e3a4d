package vector

import "testing"

func TestRoom(t *testing.T) {
	if r := Room[int64](0); len(r) != 0 {
		t.Errorf("room for nothing has %d values", len(r))
	}
	for _, n := range []int{1, 7, 8, 1000, 1 << 20} {
		r := Room[uint64](n)
		if len(r) != 0 || cap(r) != n {
			t.Fatalf("room for %d values: length %d, capacity %d", n, len(r), cap(r))
		}
		first := &r[:1][0]
		for i := range n {
			r = append(r, uint64(i))
		}
		if &r[0] != first {
			t.Errorf("%d values were moved", n)
		}
		for i, x := range r {
			if x != uint64(i) {
				t.Fatalf("value %d of %d is %d", i, n, x)
			}
		}
	}
}
