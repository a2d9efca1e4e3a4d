package blockcache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"varve/engine/vfs"
)

// far is where objects come from: byte i of an object is a function of its name and i.
type far struct {
	calls atomic.Int64
	bytes atomic.Int64
	gate  chan struct{} // if it is there, each fetch waits for a value, or for its context
	err   atomic.Pointer[error]
}

// noise is what objects are made of; its length shares no divisor with any other length here.
var noise = func() []byte {
	b := make([]byte, 65521)
	for i, r := 0, rand.New(rand.NewPCG(1, 2)); i < len(b); i++ {
		b[i] = byte(r.Uint32())
	}
	return b
}()

func content(name string, p []byte, off int64) {
	at := (off + 7919*int64(name[len(name)-1]) + int64(len(name))) % int64(len(noise))
	for len(p) > 0 {
		p = p[copy(p, noise[at:]):]
		at = 0
	}
}

func (f *far) fetch(name string) Fetch {
	return func(ctx context.Context, p []byte, off int64) error {
		f.calls.Add(1)
		if f.gate != nil {
			select {
			case <-f.gate:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := f.err.Load(); err != nil {
			return *err
		}
		f.bytes.Add(int64(len(p)))
		content(name, p, off)
		return nil
	}
}

// open opens a cache that is closed, and leaves no goroutine, when the test ends.
func open(t *testing.T, o Options) *Cache {
	t.Helper()
	before := runtime.NumGoroutine()
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
	})
	return c
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			buf := make([]byte, 1<<16)
			t.Fatalf("not yet: %s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
	}
}

// settle waits until nothing waits to be written.
func settle(t *testing.T, c *Cache) {
	t.Helper()
	until(t, "all is written", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, o := range c.objects {
			if len(o.flights) > 0 {
				return false
			}
		}
		return c.writer.queued.Load() == 0
	})
}

// get gets a range and holds it against its content.
func get(t *testing.T, c *Cache, f *far, name string, off int64, n int) {
	t.Helper()
	b, release, err := c.Get(t.Context(), name, off, n, f.fetch(name))
	if err != nil {
		t.Errorf("%s: %d bytes at %d: %v", name, n, off, err)
		return
	}
	want := make([]byte, n)
	if content(name, want, off); !bytes.Equal(b, want) {
		t.Errorf("%s: %d bytes at %d are others", name, n, off)
	}
	release()
}

func TestARangeIsFetchedOnce(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: MinSize}), &far{}
	get(t, c, f, "a", 1000, 100_000)
	settle(t, c)
	for _, r := range [][2]int{{1000, 100_000}, {1000, 1}, {100_999, 1}, {50_000, 40_000}, {33_767, 2}} {
		get(t, c, f, "a", int64(r[0]), r[1])
	}
	if n := f.calls.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
	get(t, c, f, "a", 999, 10)
	get(t, c, f, "a", 100_995, 10)
	get(t, c, f, "b", 1000, 10)
	if n := f.calls.Load(); n != 4 {
		t.Errorf("%d fetches, of three other ranges", n)
	}
	settle(t, c)
	if s := c.Stats(); s.Hits != 5 || s.Misses != 4 || s.HitBytes != 140_004 || s.FetchedBytes != 100_030 ||
		s.Spans != 4 || s.Stored != 4 || s.Files != 1 || s.Bytes < 100_030 || s.Bytes > 101_000 {
		t.Errorf("%+v", s)
	}
	c.Forget("a")
	get(t, c, f, "a", 1000, 1)
	if n := f.calls.Load(); n != 5 {
		t.Errorf("%d fetches after it was forgotten", n)
	}
}

func TestRangesThatAreNone(t *testing.T) {
	c, f := open(t, Options{}), &far{}
	for _, r := range []struct {
		name string
		off  int64
		n    int
	}{{"", 0, 1}, {strings.Repeat("a", maxName+1), 0, 1}, {"a", -1, 1}, {"a", 0, -1}, {"a", 0, maxRange + 1},
		{"a", 1<<63 - 1, 2}} {
		if _, _, err := c.Get(t.Context(), r.name, r.off, r.n, f.fetch("a")); err == nil {
			t.Errorf("%d bytes at %d of %.10q are taken", r.n, r.off, r.name)
		}
	}
	b, release, err := c.Get(t.Context(), "a", 5, 0, f.fetch("a"))
	if err != nil || len(b) != 0 || f.calls.Load() != 0 {
		t.Errorf("no bytes: %d, %v, after %d fetches", len(b), err, f.calls.Load())
	}
	release()
	for _, o := range []Options{{Size: -1}, {Size: MinSize - 1}, {Of: strings.Repeat("a", maxName+1)}} {
		if _, err := Open(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestAskersShareAFetch: each ends with its own context, and the fetch with the last of them.
func TestAskersShareAFetch(t *testing.T) {
	for _, size := range []int64{0, MinSize} {
		c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: size}), &far{gate: make(chan struct{})}
		gone := errors.New("the asker has gone")
		var all sync.WaitGroup
		var failed atomic.Int64
		leave := make([]context.CancelCauseFunc, 6)
		for i := range leave {
			ctx, cancel := context.WithCancelCause(t.Context())
			leave[i] = cancel
			all.Go(func() {
				b, release, err := c.Get(ctx, "a", int64(100+i), 1000, f.fetch("a"))
				if err != nil {
					if !errors.Is(err, gone) {
						t.Error(err)
					}
					failed.Add(1)
					return
				}
				want := make([]byte, 1000)
				if content("a", want, int64(100+i)); !bytes.Equal(b, want) {
					t.Errorf("asker %d has other bytes", i)
				}
				release()
			})
			if i == 0 {
				until(t, "the fetch is under way", func() bool { return f.calls.Load() == 1 })
			}
		}
		// The first one asked for [100, 1100), the others for more than that.
		until(t, "all fetch", func() bool { return f.calls.Load() == 6 })
		b := make(chan error, 3)
		for i := range 3 {
			all.Go(func() {
				_, release, err := c.Get(t.Context(), "a", int64(102+10*i), 900, f.fetch("a"))
				if err == nil {
					release()
				}
				b <- err
			})
		}
		until(t, "three wait", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			waiters := 0
			for _, f := range c.objects["a"].flights {
				waiters += f.waiters
			}
			return waiters == 9
		})
		if n := f.calls.Load(); n != 6 {
			t.Errorf("%d fetches", n)
		}
		leave[0](gone)
		until(t, "the first one has gone", func() bool { return failed.Load() == 1 })
		for range 6 {
			f.gate <- struct{}{}
		}
		all.Wait()
		for range 3 {
			if err := <-b; err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNobodyWaits: a fetch ends when its last asker does, and the next asker begins another.
func TestNobodyWaits(t *testing.T) {
	c, f := open(t, Options{}), &far{gate: make(chan struct{})}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, err := c.Get(ctx, "a", 0, 10, func(ctx context.Context, p []byte, off int64) error {
			err := f.fetch("a")(ctx, p, off)
			ended <- err
			return err
		})
		ended <- err
	}()
	until(t, "the fetch is under way", func() bool { return f.calls.Load() == 1 })
	cancel()
	for range 2 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	close(f.gate)
	get(t, c, f, "a", 0, 10)
	if n := f.calls.Load(); n != 2 {
		t.Errorf("%d fetches", n)
	}
}

// TestAFetchThatFails: all who wait get its error, and nothing is kept.
func TestAFetchThatFails(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: MinSize}), &far{}
	away := errors.New("the bucket is away")
	f.err.Store(&away)
	if _, _, err := c.Get(t.Context(), "a", 0, 10, f.fetch("a")); !errors.Is(err, away) {
		t.Error(err)
	}
	c.Ahead(t.Context(), "a", []Range{{0, 10}}, f.fetch("a"))
	until(t, "the second fetch", func() bool { return c.Stats().FetchErrors == 2 })
	f.err.Store(nil)
	get(t, c, f, "a", 0, 10)
	if s := c.Stats(); s.Misses != 1 || s.Hits != 0 || s.FetchErrors != 2 || s.AheadBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// TestClose: askers end, and later ones are refused.
func TestClose(t *testing.T) {
	c, f := open(t, Options{FS: vfs.NewMem(), Dir: "/cache", Size: MinSize}), &far{gate: make(chan struct{})}
	err := make(chan error, 1)
	go func() {
		_, _, e := c.Get(context.Background(), "a", 0, 10, f.fetch("a"))
		err <- e
	}()
	until(t, "the fetch is under way", func() bool { return f.calls.Load() == 1 })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-err; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, _, err := c.Get(t.Context(), "a", 0, 10, f.fetch("a")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	c.Ahead(t.Context(), "a", []Range{{0, 10}}, f.fetch("a"))
	if n := f.calls.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// TestRestart: what was kept is there again, but not what was being written when the process was killed, and nothing of
// another place.
func TestRestart(t *testing.T) {
	fs, f := vfs.NewMem(), &far{}
	o := Options{FS: fs, Dir: "/cache", Size: MinSize, Of: "s3://here"}
	c := open(t, o)
	for i := range 100 { // three files
		get(t, c, f, "a", int64(i)*30_000, 30_000)
	}
	settle(t, c)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open(t, o)
	for i := range 100 {
		get(t, c, f, "a", int64(i)*30_000, 30_000)
	}
	if n, s := f.calls.Load(), c.Stats(); n != 100 || s.Hits != 100 || s.Files != 3 || s.Spans != 100 {
		t.Errorf("%d fetches, %+v", n, s)
	}
	get(t, c, f, "b", 0, 1000)
	settle(t, c)
	fs = fs.Crash(rand.New(rand.NewPCG(1, 2)))
	o.FS = fs
	d := open(t, o)
	get(t, d, f, "b", 0, 1000)
	if n := f.calls.Load(); n != 102 {
		t.Errorf("%d fetches after a crash", n)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	o.Of = "s3://there"
	d = open(t, o)
	if s := d.Stats(); s.Files != 0 || s.Bytes != 0 {
		t.Errorf("of another place: %+v", s)
	}
	if names, err := fs.List("/cache"); err != nil || fmt.Sprint(names) != "[lock]" && len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// TestDamage: a damaged file is removed, and its ranges are fetched anew; whatever byte it is.
func TestDamage(t *testing.T) {
	for _, when := range []string{"while it is open", "before it is opened"} {
		for at := range 12 {
			t.Run(fmt.Sprintf("%s, %d", when, at), func(t *testing.T) {
				fs, f := vfs.NewMem(), &far{}
				o := Options{FS: fs, Dir: "/cache", Size: MinSize}
				c := open(t, o)
				for i := range 4 {
					get(t, c, f, "a", int64(i)*70_000, 70_000)
				}
				settle(t, c)
				if when != "while it is open" {
					if err := c.Close(); err != nil {
						t.Fatal(err)
					}
				}
				flip(t, fs, path.Join("/cache", fileName(0)), at)
				if when != "while it is open" {
					c = open(t, o)
				}
				for i := range 40 {
					get(t, c, f, "a", int64(i)*7_000, 7_000)
				}
				settle(t, c)
				s := c.Stats()
				if when == "while it is open" && s.Damaged > 1 || s.Files > 1 || f.calls.Load() > 44 {
					t.Errorf("%d fetches, %+v", f.calls.Load(), s)
				}
			})
		}
	}
}

// flip changes a byte of a file, the i'th of twelve places.
func flip(t *testing.T, fs vfs.FS, name string, i int) {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	size, err := f.Size()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, size)
	if err := readWhole(f, b, 0); err != nil {
		t.Fatal(err)
	}
	b[(len(b)-1)*i/11] ^= 0x10
	out, err := fs.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBound: the files take no more than was allowed, and ranges that are asked for again and again stay.
func TestBound(t *testing.T) {
	fs, f := vfs.NewMem(), &far{}
	o := Options{FS: fs, Dir: "/cache", Size: MinSize}
	c := open(t, o)
	hot := func(i int) string { return fmt.Sprint("hot ", i%20) }
	for i := range 2000 {
		get(t, c, f, hot(i), 0, 20_000)
		get(t, c, f, "cold", int64(i)*40_000, 40_000)
		if i%10 == 0 {
			settle(t, c)
		}
		if n := total(t, fs); n > MinSize {
			t.Fatalf("%d bytes after %d ranges", n, i)
		}
	}
	settle(t, c)
	s := c.Stats()
	if n := total(t, fs); n != s.Bytes {
		t.Errorf("%d bytes are there, %d are counted", n, s.Bytes)
	}
	if s.Files != int64(len(c.writer.segments)) || s.Evicted == 0 || s.Bytes < MinSize*8/10 {
		t.Errorf("%+v", s)
	}
	if s.Kept == 0 || s.Hits+s.Shared < 1900 {
		t.Errorf("what is used goes: %+v", s)
	}
}

// total is the size of all files of a cache.
func total(t *testing.T, fs vfs.FS) (bytes int64) {
	t.Helper()
	names, err := fs.List("/cache")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		info, err := fs.Stat(path.Join("/cache", n))
		if err != nil && !vfs.NotExist(err) {
			t.Fatal(err)
		}
		if err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

// TestASmallerCache: files that are too many for a new bound go when the cache is opened.
func TestASmallerCache(t *testing.T) {
	fs, f := vfs.NewMem(), &far{}
	o := Options{FS: fs, Dir: "/cache", Size: 4 * MinSize}
	c := open(t, o)
	for i := range 300 {
		get(t, c, f, "a", int64(i)*200_000, 200_000)
		settle(t, c)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	o.Size = MinSize
	c = open(t, o)
	if s := c.Stats(); s.Bytes > MinSize || s.Bytes < MinSize/2 || total(t, fs) != s.Bytes {
		t.Errorf("%+v", s)
	}
	get(t, c, f, "a", 299*200_000, 200_000)
	if n := f.calls.Load(); n != 300 {
		t.Errorf("%d fetches: the newest range has gone", n)
	}
}

// TestAFullDisk: the cache does without what cannot be written, for a while, and then begins anew.
func TestAFullDisk(t *testing.T) {
	fs, f := vfs.NewMem(), &far{}
	now := time.Unix(1000, 0)
	var mu sync.Mutex
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	c := open(t, Options{FS: fs, Dir: "/cache", Size: MinSize, Now: clock})
	get(t, c, f, "a", 0, 1000)
	settle(t, c)
	fs.SetRoom("/cache", 2000)
	for i := range 5 {
		get(t, c, f, "b", int64(i)*1000, 1000)
		settle(t, c)
	}
	if s := c.Stats(); s.WriteErrors != 1 || s.Skipped == 0 || s.Files != 0 {
		t.Errorf("%+v", s)
	}
	fs.SetRoom("/cache", 1<<30)
	mu.Lock()
	now = now.Add(retryAfter)
	mu.Unlock()
	get(t, c, f, "c", 0, 1000)
	settle(t, c)
	before := f.calls.Load()
	get(t, c, f, "c", 0, 1000)
	if f.calls.Load() != before {
		t.Error("nothing is kept although there is room again")
	}
}

// TestADiskThatOthersFill gets its files back one by one.
func TestADiskThatOthersFill(t *testing.T) {
	fs, f := vfs.NewMem(), &far{}
	now := atomic.Int64{}
	clock := func() time.Time { return time.Unix(now.Load(), 0) }
	c := open(t, Options{FS: fs, Dir: "/cache", Size: MinSize, Now: clock})
	for i := range 30 {
		get(t, c, f, "a", int64(i)*200_000, 200_000)
		settle(t, c)
	}
	if n := c.Stats().Files; n < 5 {
		t.Fatalf("%d files", n)
	}
	fs.SetFree(100)
	for i := range 30 {
		get(t, c, f, "b", int64(i)*200_000, 200_000)
		settle(t, c)
		now.Add(int64(retryAfter / time.Second))
	}
	if s := c.Stats(); s.Files != 0 || s.Bytes != 0 {
		t.Errorf("%+v", s)
	}
}

// TestFaults: whatever call of the file system fails once, every answer is right.
func TestFaults(t *testing.T) {
	broken := errors.New("a broken disk")
	use := func(c *Cache, f *far) {
		for i := range 18 {
			get(t, c, f, "a", int64(i%12)*100_000, 100_000)
			if c.writer != nil {
				settle(t, c)
			}
		}
	}
	count := vfs.FailAt(0, false, broken)
	run := func(fault *vfs.Fault) {
		now := atomic.Int64{}
		fs := vfs.WithFaults(vfs.NewMem(), fault.Before)
		clock := func() time.Time { return time.Unix(now.Add(10), 0) }
		for range 2 {
			c, err := Open(Options{FS: fs, Dir: "/cache", Size: MinSize, Now: clock})
			if err != nil {
				if !errors.Is(err, broken) {
					t.Fatal(err)
				}
				continue
			}
			use(c, &far{})
			if err := c.Close(); err != nil && !errors.Is(err, broken) {
				t.Error(err)
			}
		}
	}
	run(count)
	if count.Count() < 50 {
		t.Fatalf("%d operations", count.Count())
	}
	for n := 1; n <= count.Count(); n++ {
		run(vfs.FailAt(n, false, broken))
	}
	for n := 1; n <= count.Count(); n += 7 {
		run(vfs.FailAt(n, true, broken))
	}
}
