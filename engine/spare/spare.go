// Package spare keeps large buffers for their next use. A sync.Pool drops them at the second garbage collection, and
// where memory is short there are many collections a second: buffers allocated anew for each request would then cause
// the next collection.
package spare

import (
	"sync"
	"sync/atomic"
)

// MaxBytes bounds the memory that a list keeps for good. Values beyond it go to a sync.Pool, whose memory is not
// counted; a single value larger than MaxBytes is not kept at all.
const MaxBytes = 32 << 20

var (
	most  atomic.Int64 // that all lists of the process keep for good; 0: each has its own bound alone
	total atomic.Int64 // that they keep
)

// Bound bounds what all lists of the process keep for good together: each protocol has some. It is set before they are
// used.
func Bound(bytes int64) { most.Store(bytes) }

// keep counts more bytes that a list keeps; false if there is no room for them.
func keep(bytes int64) bool {
	if n, bound := total.Add(bytes), most.Load(); bound > 0 && n > bound {
		total.Add(-bytes)
		return false
	}
	return true
}

// List keeps values that are not in use. The zero value is ready. Safe for concurrent use.
type List[T any] struct {
	mu    sync.Mutex // protects free and bytes
	free  []kept[T]
	bytes int64
	pool  sync.Pool // of *T
}

type kept[T any] struct {
	value *T
	bytes int64
}

// Get takes out the value that was put in last, or creates a zero value.
func (l *List[T]) Get() *T {
	l.mu.Lock()
	if n := len(l.free) - 1; n >= 0 {
		k := l.free[n]
		l.free[n] = kept[T]{}
		l.free, l.bytes = l.free[:n], l.bytes-k.bytes
		total.Add(-k.bytes)
		l.mu.Unlock()
		return k.value
	}
	l.mu.Unlock()
	if x, ok := l.pool.Get().(*T); ok {
		return x
	}
	return new(T)
}

// Put takes a value back whose buffers take some bytes.
func (l *List[T]) Put(x *T, bytes int64) {
	if bytes > MaxBytes {
		return
	}
	l.mu.Lock()
	fits := l.bytes+bytes <= MaxBytes && keep(bytes)
	if fits {
		l.free, l.bytes = append(l.free, kept[T]{x, bytes}), l.bytes+bytes
	}
	l.mu.Unlock()
	if !fits {
		l.pool.Put(x)
	}
}
