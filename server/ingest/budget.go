package ingest

import (
	"context"
	"sync"
	"time"

	"varve/server/web"
)

// budget bounds the bytes of the bodies that are taken at a time, by their Content-Length. Safe for concurrent use.
type budget struct {
	most int64
	wait time.Duration

	mu    sync.Mutex
	used  int64
	freed chan struct{} // closed and replaced when bytes come back
}

func newBudget(most int64, wait time.Duration) *budget {
	return &budget{most: most, wait: wait, freed: make(chan struct{})}
}

// exhausted is the refusal when there is no room in time.
var exhausted = web.NewReject(429, "Request body memory limit exceeded: too many bytes are being written at the moment")

// take reserves n bytes, waiting for room. A body larger than the whole budget counts as all of it.
func (b *budget) take(ctx context.Context, n int64) (giveBack func(), err error) {
	n = min(max(n, 0), b.most)
	if n == 0 {
		return func() {}, nil
	}
	var patience *time.Timer
	for {
		b.mu.Lock()
		if b.used+n <= b.most {
			b.used += n
			b.mu.Unlock()
			return func() { b.put(n) }, nil
		}
		freed := b.freed
		b.mu.Unlock()
		if b.wait <= 0 {
			return nil, exhausted
		}
		if patience == nil {
			patience = time.NewTimer(b.wait)
			defer patience.Stop()
		}
		select {
		case <-freed:
		case <-patience.C:
			return nil, exhausted
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (b *budget) put(n int64) {
	b.mu.Lock()
	b.used -= n
	close(b.freed)
	b.freed = make(chan struct{})
	b.mu.Unlock()
}
