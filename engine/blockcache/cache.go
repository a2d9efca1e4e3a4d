// Package blockcache keeps ranges of the bytes of objects on disk, so that a range is fetched from afar once.
//
//	cache.go    what the cache holds, and Get
//	object.go   the ranges of one object
//	flight.go   one fetch, for all who ask
//	ahead.go    fetches before anybody asks
//	writer.go   what is kept, and what has to go
//	segment.go  the files
//	load.go     what an earlier process has left
//	buffer.go   the memory that is lent
//
// # Promises
//
// Objects never change, and their names are never used again: so nothing in the cache grows old. A range is fetched
// once for all who ask for it at the same time, and each of them waits no longer than its own context; a fetch that
// nobody waits for any more is cancelled. Who has waited for another's fetch that failed begins one of its own. No lock
// is held while bytes are fetched, read or written.
//
// Bytes from the cache have passed their checksum. A file that is damaged is removed, and its ranges are fetched anew.
// A disk that is full, or fails, costs the cache and nothing else.
//
// The cache survives a restart but for the file that was being written at the end of a process that was killed. It uses
// at most Options.Size bytes. What goes is decided as by a clock: the file that has been there for longest goes, and
// of its ranges those that were asked for since they came are written again, up to half of a file.
package blockcache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/vfs"
)

const (
	// MinSize is the size of the smallest cache, in bytes.
	MinSize = 16 << 20
	// maxRange bounds one range, in bytes.
	maxRange = 1 << 30
	// maxName bounds the name of an object, in bytes.
	maxName = 1024
	// queueBytes bounds the ranges that wait to be written; what comes then is not kept.
	queueBytes = 64 << 20
	// retryAfter is how long nothing is kept after a write that failed, such as on a full disk.
	retryAfter = 30 * time.Second
)

// Options say where a cache is and how large.
type Options struct {
	FS  vfs.FS // nil: the operating system's
	Dir string // made if it is not there; it belongs to the cache
	// Size bounds the files of the cache, in bytes; at least MinSize. 0: nothing is kept, and concurrent askers still
	// share their fetches.
	Size int64
	// Of names where the objects are, such as the URL of the bucket. What was kept of another place is removed.
	Of string
	// Now is the time; nil: time.Now.
	Now func() time.Time
}

// Fetch fills p with an object's bytes from off on.
type Fetch func(ctx context.Context, p []byte, off int64) error

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("the cache of cold data is closed")

// Cache is the ranges that are kept. Safe for concurrent use.
type Cache struct {
	o       Options
	lock    io.Closer // of the directory
	writer  *writer   // nil: nothing is kept
	base    context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // fetches, and fetches ahead
	ahead   ahead
	count   counters

	mu      sync.Mutex // protects what follows, the segments' refs and dead, and the objects' contents
	objects map[string]*object
	closed  bool
}

// counters are what Stats shows.
type counters struct {
	hits, misses, shared, hitBytes, fetchedBytes, aheadBytes, fetchErrors atomic.Uint64
	stored, kept, evicted, skipped, damaged, writeErrors                  atomic.Uint64
	bytes, files, spans                                                   atomic.Int64
}

// Stats are the counters since Open, and what there is now.
type Stats struct {
	Hits, Misses, Shared   uint64 // ranges that were there, were fetched, and for which another's fetch was awaited
	HitBytes, FetchedBytes uint64 // given from the disk; fetched by those who waited
	AheadBytes             uint64 // fetched ahead
	FetchErrors            uint64
	Stored, Kept, Evicted  uint64 // ranges that were written, were written again at their file's end, and went
	Skipped                uint64 // ranges that were not kept: too many waited for the disk, or it had failed
	Damaged, WriteErrors   uint64 // files that went for it
	Bytes, Files, Spans    int64  // that are there
}

// Open opens the cache in a directory. Files that are damaged, unfinished or of another place are removed.
func Open(o Options) (*Cache, error) {
	if o.FS == nil {
		o.FS = vfs.OS()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Size != 0 && o.Size < MinSize {
		return nil, fmt.Errorf("a cache of %d bytes: at least %d, or 0 for none", o.Size, int64(MinSize))
	}
	if len(o.Of) > maxName {
		return nil, fmt.Errorf("the cache's place has a name of %d bytes: at most %d", len(o.Of), maxName)
	}
	c := &Cache{o: o, objects: map[string]*object{}}
	c.base, c.cancel = context.WithCancelCause(context.Background())
	c.ahead.c = c
	if o.Size == 0 {
		return c, nil
	}
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("cache of cold data: %w", err)
	}
	lock, err := o.FS.Lock(path.Join(o.Dir, "lock"))
	if err != nil {
		return nil, fmt.Errorf("cache of cold data: %w", err)
	}
	c.lock = lock
	c.writer = newWriter(c)
	if err := c.writer.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("cache of cold data: %w", err), lock.Close())
	}
	c.writer.start()
	return c, nil
}

// Close ends fetches, writes what is needed to open the cache again, and waits for all its goroutines. Bytes that were
// lent stay as they are.
func (c *Cache) Close() error {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if was {
		return nil
	}
	c.cancel(ErrClosed)
	c.running.Wait()
	if c.writer == nil {
		return nil
	}
	return errors.Join(c.writer.close(), c.lock.Close())
}

// Get lends the n bytes of an object from off on, until release is called, once; they are not to be changed. What is
// not there is fetched.
func (c *Cache) Get(ctx context.Context, name string, off int64, n int, fetch Fetch) ([]byte, func(), error) {
	if err := checkRange(name, off, n); err != nil {
		return nil, nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if n == 0 {
		return nil, func() {}, nil
	}
	c.hasten(name, off, n)
	for join := true; ; {
		s, f, first, err := c.find(ctx, name, off, n, fetch, join)
		switch {
		case err != nil:
			return nil, nil, err
		case f != nil:
			b, release, err := c.wait(ctx, f, off, n, first)
			if err == nil || first || ctx.Err() != nil {
				return b, release, err
			}
			join = false // another's fetch has failed: this asker's may do better
			continue
		}
		b, release, err := s.read(off, n)
		c.unpin(s.segment)
		if err == nil {
			c.count.hits.Add(1)
			c.count.hitBytes.Add(uint64(n))
			return b, release, nil
		}
		c.damaged(s.segment)
	}
}

func checkRange(name string, off int64, n int) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("cache of cold data: an object's name has 1 to %d bytes, this one %d", maxName, len(name))
	case off < 0 || n < 0 || n > maxRange || off+int64(n) < off:
		return fmt.Errorf("cache of cold data: %s: %d bytes at %d are no range", name, n, off)
	}
	return nil
}

// find gives the span that holds a range, pinned, or the fetch that will; first: that fetch was begun for it. join lets
// it be one that is under way.
func (c *Cache) find(ctx context.Context, name string, off int64, n int, fetch Fetch, join bool) (
	s *span, f *flight, first bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, false, ErrClosed
	}
	o := c.objects[name]
	if o != nil {
		if s = o.span(off, n); s != nil {
			s.used = true
			s.segment.refs++
			return s, nil, false, nil
		}
		if f = o.flight(off, n); f != nil && join {
			f.join()
			return nil, f, false, nil
		}
	}
	return nil, c.launch(ctx, name, off, n, fetch), true, nil
}

// Forget drops what is kept of an object. Its bytes go with the files that hold them.
func (c *Cache) Forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.objects[name]
	if o == nil {
		return
	}
	c.count.spans.Add(-int64(len(o.spans)))
	o.spans = nil
	c.drop(o)
}

// drop forgets an object of which there is nothing. c.mu is held.
func (c *Cache) drop(o *object) {
	if len(o.spans) == 0 && len(o.flights) == 0 {
		delete(c.objects, o.name)
	}
}

// of is the object of a name, which is made. c.mu is held.
func (c *Cache) of(name string) *object {
	o := c.objects[name]
	if o == nil {
		o = &object{name: name}
		c.objects[name] = o
	}
	return o
}

// Stats are the counters.
func (c *Cache) Stats() Stats {
	n := &c.count
	return Stats{
		Hits: n.hits.Load(), Misses: n.misses.Load(), Shared: n.shared.Load(),
		HitBytes: n.hitBytes.Load(), FetchedBytes: n.fetchedBytes.Load(), AheadBytes: n.aheadBytes.Load(),
		FetchErrors: n.fetchErrors.Load(), Stored: n.stored.Load(), Kept: n.kept.Load(), Evicted: n.evicted.Load(),
		Skipped: n.skipped.Load(), Damaged: n.damaged.Load(), WriteErrors: n.writeErrors.Load(),
		Bytes: n.bytes.Load(), Files: n.files.Load(), Spans: n.spans.Load(),
	}
}
