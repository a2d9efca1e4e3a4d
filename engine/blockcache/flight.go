package blockcache

import "context"

// flight is the fetch of one range, and all who wait for it.
type flight struct {
	object *object
	off    int64
	n      int
	buf    *buffer
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when err is set, or the bytes are there
	err    error

	waiters int // under the cache's lock
}

// join adds one who waits and holds the buffer. The cache's lock is held.
func (f *flight) join() {
	f.waiters++
	f.buf.hold()
}

// launch begins a fetch, for one who waits. c.mu is held, and the cache is open. The fetch sees the values of the
// context that it was begun for, and not its end.
func (c *Cache) launch(ctx context.Context, name string, off int64, n int, fetch Fetch) *flight {
	f := &flight{object: c.of(name), off: off, n: n, buf: newBuffer(n), done: make(chan struct{})}
	f.object.flights = append(f.object.flights, f)
	f.join()
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	f.cancel = cancel
	stop := context.AfterFunc(c.base, func() { cancel(ErrClosed) })
	c.running.Go(func() {
		defer stop()
		defer cancel(nil)
		f.err = fetch(inner, f.buf.b, off)
		if f.err != nil {
			c.count.fetchErrors.Add(1)
			c.landed(f, nil) // before anybody hears of it: whoever asks then begins another fetch
			close(f.done)
			return
		}
		close(f.done)
		if c.writer != nil && c.writer.offer(f) {
			return // who lets go of the buffer, and of the flight, when the bytes are on the disk
		}
		c.landed(f, nil)
	})
	return f
}

// landed ends a flight; s is where its bytes are now, nil: they are not kept.
func (c *Cache) landed(f *flight, s *span) {
	c.mu.Lock()
	f.object.land(f)
	if s != nil && c.objects[f.object.name] == f.object {
		c.insert(f.object, s)
	}
	if c.objects[f.object.name] == f.object {
		c.drop(f.object)
	}
	c.mu.Unlock()
	f.buf.free()
}

// wait waits for a flight that was joined, and lends its bytes.
func (c *Cache) wait(ctx context.Context, f *flight, off int64, n int, first bool) ([]byte, func(), error) {
	select {
	case <-f.done:
	default:
		select {
		case <-f.done:
		case <-ctx.Done():
			c.leave(f)
			f.buf.free()
			return nil, nil, context.Cause(ctx)
		}
	}
	c.leave(f)
	if f.err != nil {
		f.buf.free()
		return nil, nil, f.err
	}
	if first {
		c.count.misses.Add(1)
		c.count.fetchedBytes.Add(uint64(n))
	} else {
		c.count.shared.Add(1)
	}
	b, release := f.buf.lend(int(off-f.off), n)
	return b, release, nil
}

// leave takes one who waits away. The last one ends the fetch, which others are not to join then.
func (c *Cache) leave(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.waiters--; f.waiters > 0 {
		return
	}
	select {
	case <-f.done:
	default:
		f.object.land(f)
		f.cancel(context.Canceled)
	}
}
