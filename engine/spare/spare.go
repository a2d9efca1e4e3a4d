// Package spare keeps large buffers between their uses. A sync.Pool forgets them with the second cycle of the collector, and
// where memory is short cycles come many times a second: buffers made anew for each request are garbage that calls the next one.
package spare

import (
	"runtime"
	"sync"
)

// List keeps values that are not in use, two for each processor at most. The zero value is ready.
type List[T any] struct {
	mu   sync.Mutex // protects free
	free []*T
}

// Get takes a value out, the one that came last, or makes a zero one.
func (l *List[T]) Get() *T {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.free)
	if n == 0 {
		return new(T)
	}
	x := l.free[n-1]
	l.free[n-1] = nil
	l.free = l.free[:n-1]
	return x
}

// Put gives a value back, whose buffers should be no larger than usual: they are kept for good.
func (l *List[T]) Put(x *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.free) < 2*runtime.GOMAXPROCS(0) {
		l.free = append(l.free, x)
	}
}
