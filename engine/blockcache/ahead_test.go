package blockcache

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"varve/engine/vfs"
)

// TestAheadJoinsNeighbours: ranges that lie together are one fetch, up to a bound; who asks later finds them.
func TestAheadJoinsNeighbours(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: 1 << 30}), &far{}
	var ranges []Range
	for i := range 200 { // 8 MB without a gap, in any order
		ranges = append(ranges, Range{int64(i) * 40_000, 40_000})
	}
	rand.Shuffle(len(ranges), func(i, j int) { ranges[i], ranges[j] = ranges[j], ranges[i] })
	ranges = append(ranges, Range{100_000_000, 1000}, Range{100_001_000 + joinGap, 1000}, Range{200_000_000, 1000})
	c.Ahead(t.Context(), "a", ranges, f.fetch("a"))
	until(t, "all is there", func() bool { return c.Stats().AheadBytes >= 8_000_000+3_000+joinGap })
	settle(t, c)
	if n := f.calls.Load(); n != 4 {
		t.Errorf("%d fetches, want two of 4 MiB, and two", n)
	}
	for _, r := range ranges {
		get(t, c, f, "a", r.Off, r.N)
	}
	c.Ahead(t.Context(), "a", ranges, f.fetch("a"))
	if n, s := f.calls.Load(), c.Stats(); n != 4 || s.Hits != 203 || s.Misses != 0 {
		t.Errorf("%d fetches, %+v", n, s)
	}
}

// TestAheadAtOnce: so many fetches are under way and no more, and they end with the context.
func TestAheadAtOnce(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: 1 << 30}), &far{gate: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	var ranges []Range
	for i := range 100 {
		ranges = append(ranges, Range{int64(i) * 1_000_000, 1000})
	}
	c.Ahead(ctx, "a", ranges, f.fetch("a"))
	until(t, "fetches are under way", func() bool { return f.calls.Load() == aheadAtOnce })
	for range 10 {
		f.gate <- struct{}{}
	}
	until(t, "others take their place", func() bool { return f.calls.Load() == aheadAtOnce+10 })
	// An asker waits for the one that is under way, and holds it when those ahead have gone.
	c.mu.Lock()
	under := c.objects["a"].flights[len(c.objects["a"].flights)-1]
	c.mu.Unlock()
	got := make(chan error, 1)
	go func() {
		_, release, err := c.Get(t.Context(), "a", under.off+5, 10, f.fetch("a"))
		if err == nil {
			release()
		}
		got <- err
	}()
	until(t, "the asker waits", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return under.waiters == 2
	})
	cancel()
	until(t, "those ahead end", func() bool {
		c.ahead.mu.Lock()
		defer c.ahead.mu.Unlock()
		return c.ahead.workers == 0 && c.ahead.count == 0
	})
	f.gate <- struct{}{}
	if err := <-got; err != nil {
		t.Error(err)
	}
	if n := f.calls.Load(); n != aheadAtOnce+10 {
		t.Errorf("%d fetches", n)
	}
}

// TestAFetchAheadThatFails is not the error of an asker, whose own fetch may do better.
func TestAFetchAheadThatFails(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: MinSize}), &far{}
	gate, away := make(chan struct{}), errors.New("the bucket is away")
	c.Ahead(t.Context(), "a", []Range{{0, 1000}}, func(context.Context, []byte, int64) error {
		<-gate
		return away
	})
	var under *flight
	until(t, "the fetch ahead is under way", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if o := c.objects["a"]; o != nil && len(o.flights) > 0 {
			under = o.flights[0]
		}
		return under != nil
	})
	var all sync.WaitGroup
	all.Go(func() { get(t, c, f, "a", 0, 1000) })
	until(t, "the asker waits", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return under.waiters == 2
	})
	close(gate)
	all.Wait()
	if s := c.Stats(); s.Misses != 1 || s.FetchErrors != 1 || f.calls.Load() != 1 {
		t.Errorf("%d fetches, %+v", f.calls.Load(), s)
	}
}

// TestManyAtOnce: random ranges, asked for and fetched ahead by many, of a cache that is too small for them.
func TestManyAtOnce(t *testing.T) {
	for _, size := range []int64{0, MinSize} {
		fs := vfs.NewMem()
		c, f := open(t, Options{FS: fs, Dir: "/cache", Size: size}), &far{}
		var all sync.WaitGroup
		var gaveUp atomic.Int64
		for g := range 8 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				for range 150 {
					name := string(rune('a' + r.IntN(3)))
					off, n := int64(r.IntN(100))*100_000, 1+r.IntN(300_000)
					switch r.IntN(10) {
					case 0:
						ctx, cancel := context.WithCancel(t.Context())
						go cancel()
						b, release, err := c.Get(ctx, name, off, n, f.fetch(name))
						if err != nil {
							gaveUp.Add(1)
						} else if _ = b[n-1]; true {
							release()
						}
						cancel()
					case 1, 2:
						c.Ahead(t.Context(), name, []Range{{off, n}, {off + 100_000, n}}, f.fetch(name))
					case 3:
						c.Forget(name)
					default:
						get(t, c, f, name, off, n)
					}
				}
			})
		}
		all.Wait()
		if size == 0 {
			continue
		}
		settle(t, c)
		until(t, "those ahead end", func() bool {
			c.ahead.mu.Lock()
			defer c.ahead.mu.Unlock()
			return c.ahead.workers == 0
		})
		settle(t, c)
		n, s := total(t, fs), c.Stats()
		if n != s.Bytes || n > MinSize || s.Evicted == 0 || s.Damaged+s.WriteErrors > 0 {
			t.Errorf("%d bytes, %+v, %d gave up", n, s, gaveUp.Load())
		}
	}
}
