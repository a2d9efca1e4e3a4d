package blockcache

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"sync/atomic"
)

const (
	// minSegment and maxSegment bound the size of a file, in bytes; between, it is a 32nd of the cache.
	minSegment, maxSegment = 1 << 20, 1 << 30
	// queueSpans bounds the number of ranges that wait to be written.
	queueSpans = 1024
)

// writer writes ranges to files and removes files. All but offer, kill and unpin belongs to its goroutine, and to Open
// and Close when that does not run.
type writer struct {
	c        *Cache
	limit    int64      // of the size of a file, in bytes
	segments []*segment // oldest first; the last one may be cur
	cur      *segment   // which is written to; nil: none
	next     uint64     // the number of the next file

	queue  chan *flight
	queued atomic.Int64 // bytes
	paused atomic.Int64 // until when nothing is kept, in ns
	done   chan struct{}
	err    error // of the end, after done
}

func newWriter(c *Cache) *writer {
	limit := min(max(c.o.Size/32, minSegment), maxSegment)
	return &writer{c: c, limit: limit, queue: make(chan *flight, queueSpans), done: make(chan struct{})}
}

// start starts the writer's goroutine, which close ends.
func (w *writer) start() {
	go func() {
		defer close(w.done)
		for f := range w.queue {
			s := w.write(f)
			w.queued.Add(-int64(f.n))
			w.c.landed(f, s)
		}
		w.seal()
	}()
}

// close writes what waits, and lets go of all files. Nobody calls offer any more.
func (w *writer) close() error {
	close(w.queue)
	<-w.done
	err := w.err
	for _, s := range w.segments {
		err = errors.Join(err, w.release(s))
	}
	return err
}

// release lets go of a file that stays; readers may hold it still.
func (w *writer) release(s *segment) error {
	w.c.mu.Lock()
	if s.dead {
		w.c.mu.Unlock()
		return nil
	}
	s.dead = true
	s.refs--
	last := s.refs == 0
	w.c.mu.Unlock()
	if last {
		return s.file.Close()
	}
	return nil
}

// offer takes a fetched range to be written, with the flight's hold on its bytes; false: it is not kept.
func (w *writer) offer(f *flight) bool {
	n := int64(f.n)
	if n > w.limit/4 || w.c.o.Now().UnixNano() < w.paused.Load() {
		w.c.count.skipped.Add(1)
		return false
	}
	if w.queued.Add(n) <= queueBytes {
		select {
		case w.queue <- f:
			return true
		default:
		}
	}
	w.queued.Add(-n)
	w.c.count.skipped.Add(1)
	return false
}

// write writes a range; nil: it is not kept.
func (w *writer) write(f *flight) *span {
	if w.c.o.Now().UnixNano() < w.paused.Load() {
		w.c.count.skipped.Add(1)
		return nil
	}
	s, err := w.append(f.object.name, f.off, f.buf.b)
	if err != nil {
		w.fail()
		return nil
	}
	w.c.count.stored.Add(1)
	return s
}

// fail removes the file that could not be written, and keeps nothing for a while.
func (w *writer) fail() {
	w.c.count.writeErrors.Add(1)
	w.paused.Store(w.c.o.Now().Add(retryAfter).UnixNano())
	if w.cur != nil {
		w.kill(w.cur)
		w.cur = nil
	}
}

// append writes bytes behind others.
func (w *writer) append(object string, off int64, b []byte) (*span, error) {
	entry := indexSize(object, len(b))
	if err := w.makeRoom(int64(len(b)), entry); err != nil {
		return nil, err
	}
	cur := w.cur
	if _, err := cur.file.Write(b); err != nil {
		return nil, err
	}
	s := &span{object: object, off: off, n: len(b), segment: cur, at: cur.size, sums: sumsOf(b)}
	cur.size += int64(len(b))
	cur.index += entry
	w.c.grow(cur, int64(len(b)), s)
	return s, nil
}

// makeRoom has a file that takes so many bytes, and so many in its index.
func (w *writer) makeRoom(bytes, entry int64) error {
	w.forgetDead()
	if w.cur != nil && w.cur.size+w.cur.index+bytes+entry+tailSize <= w.limit && w.cur.index+entry <= maxIndex {
		return nil
	}
	w.seal()
	victim, err := w.evict()
	if err != nil {
		return err
	}
	if err := w.create(); err != nil || victim == nil {
		return err
	}
	err = w.keepUsed(victim)
	w.kill(victim)
	w.forgetDead()
	return err
}

// forgetDead drops files that were found to be damaged.
func (w *writer) forgetDead() {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	w.segments = slices.DeleteFunc(w.segments, func(s *segment) bool { return s.dead })
	if w.cur != nil && w.cur.dead {
		w.cur = nil
	}
}

// evict removes the oldest files until there is room for one and a half: a new one, and what it takes over of the last
// victim, which is returned and still there.
func (w *writer) evict() (victim *segment, err error) {
	free, err := w.c.o.FS.FreeBytes(w.c.o.Dir)
	if err != nil {
		return nil, err
	}
	if free < 2*uint64(w.limit) {
		if len(w.segments) > 0 {
			w.kill(w.segments[0])
		}
		return nil, fmt.Errorf("the disk has %d bytes left", free)
	}
	victims := w.victims()
	if len(victims) == 0 {
		return nil, nil
	}
	last := len(victims) - 1
	for _, s := range victims[:last] {
		w.kill(s)
	}
	return victims[last], nil
}

// victims are the oldest files that have to go.
func (w *writer) victims() []*segment {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	total := w.limit + w.limit/2
	for _, s := range w.segments {
		total += s.disk
	}
	n := 0
	for ; n < len(w.segments) && total > w.c.o.Size; n++ {
		total -= w.segments[n].disk
	}
	return w.segments[:n]
}

// create begins a file.
func (w *writer) create() error {
	f, err := w.c.o.FS.CreateNew(w.path(w.next))
	if err != nil {
		return err
	}
	head := appendHead(nil, w.c.o.Of)
	w.cur = &segment{number: w.next, file: f, size: int64(len(head)), refs: 1}
	w.next++
	w.segments = append(w.segments, w.cur)
	w.c.count.files.Add(1)
	w.c.grow(w.cur, w.cur.size, nil)
	_, err = f.Write(head)
	return err
}

// keepUsed writes spans of a file again that were asked for since they were written, up to half a file.
func (w *writer) keepUsed(victim *segment) error {
	w.c.mu.Lock()
	if victim.dead {
		w.c.mu.Unlock()
		return nil
	}
	var used []*span
	left := w.limit / 2
	for _, s := range victim.spans {
		if cost := int64(s.n) + indexSize(s.object, s.n); s.used && cost <= left {
			used = append(used, s)
			left -= cost
		}
	}
	victim.refs++
	w.c.mu.Unlock()
	defer w.c.unpin(victim)
	for _, old := range used {
		b, release, err := old.read(old.off, old.n)
		if err != nil {
			w.c.count.damaged.Add(1)
			return nil // the rest of the file goes now in any case
		}
		s, err := w.append(old.object, old.off, b)
		release()
		if err != nil {
			return err
		}
		w.c.mu.Lock()
		if o := w.c.objects[old.object]; o != nil && o.remove(old) { // not forgotten
			w.c.count.spans.Add(-1)
			w.c.insert(o, s)
			w.c.count.kept.Add(1)
		}
		w.c.mu.Unlock()
	}
	return nil
}

// seal ends the file that is written to.
func (w *writer) seal() {
	if w.cur == nil {
		return
	}
	cur := w.cur
	w.cur = nil
	w.c.mu.Lock()
	var end []byte
	if !cur.dead && len(cur.spans) > 0 {
		end = appendIndex(nil, cur.spans)
	}
	w.c.mu.Unlock()
	if end == nil {
		w.kill(cur)
		return
	}
	if _, err := cur.file.Write(end); err != nil {
		w.cur = cur
		w.fail()
		return
	}
	w.c.grow(cur, int64(len(end)), nil)
}

// kill removes a file and all that the cache knows of it. The bytes that readers hold stay.
func (w *writer) kill(s *segment) {
	c := w.c
	c.mu.Lock()
	if s.dead {
		c.mu.Unlock()
		return
	}
	s.dead = true
	for _, sp := range s.spans {
		if o := c.objects[sp.object]; o != nil && o.remove(sp) {
			c.count.spans.Add(-1)
			c.count.evicted.Add(1)
			c.drop(o)
		}
	}
	c.count.files.Add(-1)
	c.count.bytes.Add(-s.disk)
	c.mu.Unlock()
	if err := c.o.FS.Remove(w.path(s.number)); err != nil {
		c.count.writeErrors.Add(1) // Open removes it, or refuses to open
	}
	c.unpin(s)
}

func (w *writer) path(number uint64) string { return path.Join(w.c.o.Dir, fileName(number)) }

// insert lets a span be found. c.mu is held.
func (c *Cache) insert(o *object, s *span) {
	if s.segment.dead {
		return
	}
	o.add(s)
	c.count.spans.Add(1)
}

// grow counts bytes that a file has got, and the span that they are; nil: they are none.
func (c *Cache) grow(s *segment, n int64, sp *span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.dead {
		return
	}
	s.disk += n
	c.count.bytes.Add(n)
	if sp != nil {
		s.spans = append(s.spans, sp)
	}
}

// unpin lets go of a file.
func (c *Cache) unpin(s *segment) {
	c.mu.Lock()
	s.refs--
	last := s.dead && s.refs == 0
	c.mu.Unlock()
	if last {
		_ = s.file.Close() // nothing is read from it any more, whatever it says
	}
}

// damaged removes a file whose bytes are not those that were written, or cannot be read.
func (c *Cache) damaged(s *segment) {
	c.count.damaged.Add(1)
	c.writer.kill(s)
}
