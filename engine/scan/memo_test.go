package scan

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// TestOnce: what is found for a key is found by one of those who ask at a time, errors too; without a memo by each.
func TestOnce(t *testing.T) {
	var found atomic.Int64
	no := errors.New("no")
	find := func() (int64, error) { return found.Add(1), nil }
	for _, m := range []*Memo{{}, nil} {
		found.Store(0)
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				if n, err := Once(m, "a", find); err != nil || m != nil && n != 1 {
					t.Errorf("found %d, %v", n, err)
				}
			})
		}
		wait.Wait()
		want := int64(8)
		if m != nil {
			want = 1
		}
		if found.Load() != want {
			t.Errorf("found %d times, want %d", found.Load(), want)
		}
		for range 2 {
			if _, err := Once(m, "b", func() (int, error) { return 0, no }); err != no {
				t.Errorf("the error is %v", err)
			}
		}
	}
}
