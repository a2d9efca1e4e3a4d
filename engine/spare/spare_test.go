package spare

import (
	"runtime"
	"testing"
)

// TestList: what comes back is given out again, also after the collector ran, and no more is kept than two a processor.
func TestList(t *testing.T) {
	var l List[[]byte]
	if b := l.Get(); b == nil || *b != nil {
		t.Fatalf("an empty list gives %v", b)
	}
	most := 2 * runtime.GOMAXPROCS(0)
	for i := range most + 3 {
		b := make([]byte, i+1)
		l.Put(&b)
	}
	for range 3 {
		runtime.GC()
	}
	for i := range most {
		if b := l.Get(); len(*b) != most-i {
			t.Errorf("value %d has %d bytes, want %d", i, len(*b), most-i)
		}
	}
	if b := l.Get(); *b != nil {
		t.Errorf("%d bytes are left", len(*b))
	}
}
