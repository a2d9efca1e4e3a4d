package blockcache

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// joinBytes bounds what one request brings, in bytes.
	joinBytes = 4 << 20
	// joinGap is how many bytes between two ranges are fetched with them: what 64 KiB take is less than what a request
	// costs.
	joinGap = 64 << 10
	// aheadAtOnce bounds the fetches ahead, and with joinBytes their memory: 96 MiB.
	aheadAtOnce = 24
	// maxWanted bounds the ranges that wait to be fetched ahead; more are left to those who ask.
	maxWanted = 1 << 16
	// gather is how long the first of several ranges waits for its neighbours.
	gather = 500 * time.Microsecond
)

// Range is a range of the bytes of an object.
type Range struct {
	Off int64
	N   int
}

// wanted is a range that is to be fetched ahead.
type wanted struct {
	Range
	ctx   context.Context
	fetch Fetch
}

// ahead is the ranges that wait to be fetched ahead, and who fetches.
type ahead struct {
	c *Cache

	mu      sync.Mutex
	ranges  map[string][]wanted // by object, in the order of their offsets
	order   []string            // the objects, in turn
	count   int
	workers int
}

// Ahead has ranges fetched that will be asked for, and returns at once. Neighbours are fetched together. A range that
// is there, or under way, is not fetched; the end of the context ends all. An error shows when somebody asks.
func (c *Cache) Ahead(ctx context.Context, name string, ranges []Range, fetch Fetch) {
	if c.writer == nil || ctx.Err() != nil {
		return // nothing is kept for those who ask
	}
	c.mu.Lock()
	ranges = slices.DeleteFunc(slices.Clone(ranges), func(r Range) bool {
		return c.closed || r.N <= 0 || int64(r.N) > c.writer.limit/4 || checkRange(name, r.Off, r.N) != nil ||
			c.has(name, r)
	})
	c.mu.Unlock()
	if len(ranges) > 0 {
		c.ahead.add(ctx, name, ranges, fetch)
	}
}

// has reports whether a range is there or under way. c.mu is held.
func (c *Cache) has(name string, r Range) bool {
	o := c.objects[name]
	return o != nil && (o.span(r.Off, r.N) != nil || o.flight(r.Off, r.N) != nil)
}

// add takes ranges, and sees to it that somebody fetches them.
func (a *ahead) add(ctx context.Context, name string, ranges []Range, fetch Fetch) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ranges == nil {
		a.ranges = map[string][]wanted{}
	}
	all, ok := a.ranges[name]
	if !ok {
		a.order = append(a.order, name)
	}
	for _, r := range ranges {
		if a.count == maxWanted {
			break
		}
		i, _ := slices.BinarySearchFunc(all, r.Off, func(w wanted, off int64) int { return cmp.Compare(w.Off, off) })
		all = slices.Insert(all, i, wanted{r, ctx, fetch})
		a.count++
	}
	a.ranges[name] = all
	for a.workers < min(aheadAtOnce, a.count) && a.begin() {
		a.workers++
	}
}

// begin starts one who fetches, unless the cache is closed. a.mu is held.
func (a *ahead) begin() bool {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	if a.c.closed {
		return false
	}
	a.c.running.Go(func() {
		t := time.NewTimer(gather)
		defer t.Stop()
		select {
		case <-t.C:
		case <-a.c.base.Done():
		}
		for {
			name, r, ok := a.take()
			if !ok {
				return
			}
			a.c.fetchAhead(name, r)
		}
	})
	return true
}

// claim takes a range away that contains one for which somebody asks now, with the neighbours behind it; false: none
// waits.
func (a *ahead) claim(name string, off int64, n int) (joined wanted, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.ranges[name]
	i, found := slices.BinarySearchFunc(all, off, func(w wanted, off int64) int { return cmp.Compare(w.Off, off) })
	if !found {
		i--
	}
	if i < 0 || all[i].Off+int64(all[i].N) < off+int64(n) {
		return wanted{}, false
	}
	joined, k := a.join(all[i:])
	a.count -= k
	if all = slices.Delete(all, i, i+k); len(all) > 0 {
		a.ranges[name] = all
	} else {
		delete(a.ranges, name)
		a.order = slices.DeleteFunc(a.order, func(of string) bool { return of == name })
	}
	return joined, joined.ctx.Err() == nil
}

// join makes one range of the first k ranges of some. a.mu is held.
func (a *ahead) join(all []wanted) (joined wanted, k int) {
	joined = all[0]
	end := joined.Off + int64(joined.N)
	for k = 1; k < len(all); k++ {
		to := max(end, all[k].Off+int64(all[k].N))
		if all[k].Off > end+joinGap || to-joined.Off > min(joinBytes, a.c.writer.limit/4) {
			break
		}
		end = to
		if joined.ctx.Err() != nil {
			joined.ctx, joined.fetch = all[k].ctx, all[k].fetch
		}
	}
	joined.N = int(end - joined.Off)
	return joined, k
}

// take takes the next range with its neighbours away; false: there is none, and the worker is not counted any more.
func (a *ahead) take() (name string, joined wanted, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.order) > 0 {
		name, a.order = a.order[0], a.order[1:]
		all := a.ranges[name]
		var n int
		joined, n = a.join(all)
		a.count -= n
		if n == len(all) {
			delete(a.ranges, name)
		} else {
			a.ranges[name] = all[n:]
			a.order = append(a.order, name)
		}
		if joined.ctx.Err() == nil && a.c.base.Err() == nil {
			return name, joined, true
		}
	}
	a.workers--
	return "", wanted{}, false
}

// fetchAhead fetches a range, as one who waits for it.
func (c *Cache) fetchAhead(name string, r wanted) {
	c.mu.Lock()
	if c.closed || c.has(name, r.Range) {
		c.mu.Unlock()
		return
	}
	f := c.launch(r.ctx, name, r.Off, r.N, r.fetch)
	c.mu.Unlock()
	c.await(f, r)
}

// hasten begins the fetch of a range that waits to be fetched ahead, for somebody asks for a part of it.
func (c *Cache) hasten(name string, off int64, n int) {
	if c.writer == nil {
		return
	}
	r, ok := c.ahead.claim(name, off, n)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.has(name, r.Range) {
		return
	}
	f := c.launch(r.ctx, name, r.Off, r.N, r.fetch)
	c.running.Go(func() { c.await(f, r) })
}

// await waits for a fetch ahead.
func (c *Cache) await(f *flight, r wanted) {
	select {
	case <-f.done:
		if f.err == nil {
			c.count.aheadBytes.Add(uint64(f.n))
		}
	case <-r.ctx.Done():
	}
	c.leave(f)
	f.buf.free()
}
