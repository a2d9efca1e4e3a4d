package spare

import (
	"runtime"
	"testing"
)

// TestList: what comes back is given out again, the last first, also after the collector ran; what takes too much room
// is not kept for good.
func TestList(t *testing.T) {
	var l List[[]byte]
	if b := l.Get(); b == nil || *b != nil {
		t.Fatalf("an empty list gives %v", b)
	}
	for _, size := range []int{1, 2, 3, 4} {
		b := make([]byte, size)
		l.Put(&b, MaxBytes/3)
	}
	for range 3 {
		runtime.GC()
	}
	for _, want := range []int{3, 2, 1} {
		if b := l.Get(); len(*b) != want {
			t.Errorf("%d bytes, want %d", len(*b), want)
		}
	}
	if b := l.Get(); *b != nil {
		t.Errorf("%d bytes were kept beyond the bound", len(*b))
	}
	if l.bytes != 0 {
		t.Errorf("an empty list counts %d bytes", l.bytes)
	}
}

// TestTooLarge: a value that is larger than all that a list keeps is not kept, not even until the collector runs.
func TestTooLarge(t *testing.T) {
	var l List[[]byte]
	b := make([]byte, 1)
	l.Put(&b, MaxBytes+1)
	if got := l.Get(); *got != nil {
		t.Errorf("a value of %d bytes came back, the list keeps %d", MaxBytes+1, MaxBytes)
	}
}

// TestAllListsHaveOneBound: what lists keep for good is bounded for all of them together, and what is taken out makes
// room again.
func TestAllListsHaveOneBound(t *testing.T) {
	before := total.Load()
	Bound(before + 100)
	t.Cleanup(func() { Bound(0) })
	var a, b List[[]byte]
	a.Put(new([]byte), 60)
	b.Put(new([]byte), 60)
	if b.bytes != 0 {
		t.Errorf("lists keep %d and %d bytes, 100 is the bound", a.bytes, b.bytes)
	}
	a.Get()
	b.Put(new([]byte), 60)
	if b.bytes != 60 || total.Load() != before+60 {
		t.Errorf("after the first gave its own back the second keeps %d bytes, %d are counted", b.bytes,
			total.Load()-before)
	}
	b.Get()
}
