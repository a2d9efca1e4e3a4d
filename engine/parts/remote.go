package parts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"varve/engine/blockcache"
	"varve/engine/bucket"
)

// DefaultColdTimeout is how long a read waits for a bucket that is away.
const DefaultColdTimeout = 30 * time.Second

// The pauses between two tries of a read.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// Remote is the Objects of a bucket. A read that fails is tried again until the time is over.
type Remote struct {
	Bucket  bucket.Bucket
	Timeout time.Duration     // 0: DefaultColdTimeout
	Cache   *blockcache.Cache // nil: none
}

// Read waits no longer than the timeout; the error then names the bucket and the object.
func (r *Remote) Read(ctx context.Context, object string, off, n int64) ([]byte, func(), error) {
	most := cmp.Or(r.Timeout, DefaultColdTimeout)
	own, end := context.WithTimeoutCause(ctx, most, errColdTimeout)
	defer end()
	last := new(lastError)
	b, release, err := r.get(own, object, off, n, last)
	if err != nil && ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil && !bucket.Final(err) {
		if errors.Is(err, errColdTimeout) {
			err = cmp.Or(last.load(), err)
		}
		// Not wrapped: who asked must not take the end of a wait here for the end of its own.
		err = errors.New(err.Error())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cold data cannot be read of %s (%d bytes at %d of %s, storage.cold_timeout is %s): %w",
			r.Bucket, n, off, object, most, err)
	}
	return b, release, nil
}

// errColdTimeout is the cause of the end of a wait for the bucket.
var errColdTimeout = errors.New("no answer in time")

// lastError is the error of the last try of a read, which may go on when the wait for it is over.
type lastError struct {
	mu  sync.Mutex
	err error
}

func (l *lastError) store(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lastError) load() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (r *Remote) get(ctx context.Context, object string, off, n int64, last *lastError) ([]byte, func(), error) {
	fetch := r.fetch(object, last)
	if r.Cache != nil {
		return r.Cache.Get(ctx, object, off, int(n), fetch)
	}
	b := make([]byte, n)
	if err := fetch(ctx, b, off); err != nil {
		return nil, nil, err
	}
	return b, func() {}, nil
}

// fetch reads of an object, again and again until ctx ends, unless the error is one that stays.
func (r *Remote) fetch(object string, last *lastError) blockcache.Fetch {
	return func(ctx context.Context, p []byte, off int64) error {
		for pause := firstPause; ; pause = min(2*pause, mostPause) {
			err := r.Bucket.Read(ctx, object, p, off)
			if err == nil || bucket.Final(err) {
				return err
			}
			if ctx.Err() == nil {
				last.store(err)
			}
			again := time.NewTimer(pause)
			select {
			case <-again.C:
			case <-ctx.Done():
				again.Stop()
				return err
			}
		}
	}
}

// Ahead has the cache fetch a range, with one try, which ends with ctx.
func (r *Remote) Ahead(ctx context.Context, object string, off, n int64) {
	if r.Cache == nil {
		return
	}
	r.Cache.Ahead(ctx, object, []blockcache.Range{{Off: off, N: int(n)}},
		func(ctx context.Context, p []byte, off int64) error {
			ctx, end := context.WithTimeout(ctx, cmp.Or(r.Timeout, DefaultColdTimeout))
			defer end()
			return r.Bucket.Read(ctx, object, p, off)
		})
}

// Drop has the cache forget an object.
func (r *Remote) Drop(object string) {
	if r.Cache != nil {
		r.Cache.Forget(object)
	}
}
