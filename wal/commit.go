package wal

import (
	"errors"
	"fmt"
	"path"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

// The types of frames.
const (
	typeRecord = 1
	typeClose  = 2 // the segment ends here; its frames are on disk
)

// gatherBytes is the size below which pieces of bodies are copied into one write; larger pieces are written without a
// copy.
const gatherBytes = 64 << 10

// gatherMost bounds what is gathered before it is written.
const gatherMost = 4 << 20

// forgetBytes is how much synced log stays in the page cache before it is given back. The log is read again only after
// a restart, and a kernel that must find fresh memory for every page written costs more than the copy: 4 MiB with fsync
// 12.5 ms, against 3.0 ms when the same pages go round.
const forgetBytes = 256 << 10

// writer is the goroutine that owns the open segment: it takes all that waits, writes it, syncs once, wakes all.
type writer struct {
	l        *Log
	f        vfs.File // nil: the next record opens a new segment
	next     uint64   // number of the next segment
	previous uint64   // number of the segment before that
	size     int64    // of the open segment
	good     int64    // its length without frames that were never acknowledged
	forgot   int64    // where the page cache still holds the open segment from
	number   uint64   // of the last frame written
	synced   uint64   // of the last frame known to be on disk
	batch    []*pending
	buf      []byte
	dirty    bool
	closeErr error
}

func (w *writer) run() {
	defer close(w.l.done)
	var tick <-chan time.Time
	if w.l.o.Sync == SyncInterval {
		t := time.NewTicker(w.l.o.SyncPeriod)
		defer t.Stop()
		tick = t.C
	}
	for {
		select {
		case p, ok := <-w.l.queue:
			if !ok {
				w.closeErr = w.closeSegment()
				return
			}
			w.batch = append(w.batch[:0], p)
			w.drain()
			w.commit()
		case done := <-w.l.cuts:
			if err := w.closeSegment(); err != nil {
				w.l.o.Logger.Error("log: segment could not be closed", "error", err)
			}
			close(done)
		case <-tick:
			if err := w.sync(); err != nil {
				w.l.o.Logger.Error("log: sync failed, a new segment will be opened", "error", err)
				w.abandon()
			}
		}
	}
}

// drain takes further waiting writes, up to a bound that keeps a commit short.
func (w *writer) drain() {
	for bytes := w.batch[0].together(); bytes < 32<<20; {
		select {
		case p, ok := <-w.l.queue:
			if !ok {
				return
			}
			w.batch = append(w.batch, p)
			bytes += p.together()
		default:
			return
		}
	}
}

// commit writes the batch and, under SyncAlways, syncs it; then everybody is woken with the outcome.
func (w *writer) commit() {
	err := w.write()
	if err == nil && w.l.o.Sync == SyncAlways {
		err = w.sync()
	}
	if err == nil {
		w.good = w.size
		if w.l.o.Sync != SyncInterval {
			w.l.mayCopy(w.good)
		}
	} else {
		w.cut(err)
		w.abandon()
		err = status.Wrap(err, status.StorageUnavailable, "the log cannot be written: %s", vfs.Reason(err))
		w.l.metrics.Failures.Inc()
	}
	for i, p := range w.batch {
		p.err = err
		p.wake <- struct{}{}
		w.batch[i] = nil
	}
	if err == nil && w.size >= w.l.o.FileSize {
		if err := w.closeSegment(); err != nil {
			w.l.o.Logger.Error("log: segment could not be closed", "error", err)
		}
	}
}

// write puts the batch's frames into the open segment.
func (w *writer) write() error {
	if w.f == nil {
		if err := w.openSegment(); err != nil {
			return err
		}
	}
	w.buf = w.buf[:0]
	records := 0
	for _, first := range w.batch {
		for p := first; p != nil; p = p.next {
			records++
			if err := w.frame(p); err != nil {
				return err
			}
		}
	}
	w.l.metrics.Appends.Add(float64(records))
	err := w.put(w.buf)
	w.l.setSize(w.next-1, w.size)
	return err
}

// frame puts one record into the buffer; large pieces of it follow without a copy.
func (w *writer) frame(p *pending) error {
	p.at = lsnAt(w.next-1, w.size+int64(len(w.buf)))
	w.number++
	w.buf = appendHead(w.buf, typeRecord, w.number, w.synced, p.size, p.sum)
	for _, piece := range p.body {
		if len(piece) < gatherBytes {
			w.buf = append(w.buf, piece...)
			if len(w.buf) < gatherMost {
				continue
			}
		}
		if err := w.put(w.buf); err != nil {
			return err
		}
		w.buf = w.buf[:0]
		if len(piece) < gatherBytes {
			continue
		}
		if err := w.put(piece); err != nil {
			return err
		}
	}
	return nil
}

// together is the number of bytes of all records of a call.
func (p *pending) together() (n int) {
	for ; p != nil; p = p.next {
		n += p.size
	}
	return n
}

func (w *writer) put(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	w.dirty = true
	n, err := w.f.Write(b)
	w.size += int64(n)
	w.l.metrics.Bytes.Add(float64(n))
	return err
}

func (w *writer) sync() error {
	if w.f == nil || !w.dirty {
		return nil
	}
	start := time.Now()
	if err := w.f.Sync(); err != nil {
		return err
	}
	w.l.metrics.Fsyncs.Observe(time.Since(start).Seconds())
	w.synced, w.dirty = w.number, false
	if w.l.o.Sync == SyncInterval {
		w.l.mayCopy(w.size)
	}
	if n := w.size - w.forgot; n >= forgetBytes {
		w.f.Forget(w.forgot, n)
		w.forgot = w.size
	}
	return nil
}

// openSegment makes the next segment; its header and name are on disk before the first frame is written.
func (w *writer) openSegment() error {
	name := path.Join(w.l.dir, segmentName(w.next))
	f, err := w.l.fs.CreateNew(name)
	for vfs.Exist(err) { // not this log's: it stays as it is
		w.next++
		name = path.Join(w.l.dir, segmentName(w.next))
		f, err = w.l.fs.CreateNew(name)
	}
	if err != nil {
		return fmt.Errorf("new segment: %w", err)
	}
	h := head{segment: w.next, first: w.number + 1, synced: w.synced, previous: w.previous}
	if w.l.o.Edit != nil {
		h.edit = w.l.o.Edit()
	}
	header := h.append(nil)
	_, err = f.Write(header)
	if err == nil && (w.l.o.Sync != SyncNever || w.l.o.Begun != nil) { // a segment that is known of must be there
		if err = f.Sync(); err == nil {
			err = w.l.fs.SyncDir(w.l.dir)
		}
	}
	if err == nil && w.l.o.Begun != nil {
		err = w.l.o.Begun(Range{w.l.oldest(w.next), w.next})
	}
	if err != nil {
		// The name stays taken: whatever is in it is not believed, and a retry makes another.
		w.next++
		w.l.ended(w.next)
		return errors.Join(fmt.Errorf("new segment %s: %w", name, err), f.Close(), w.l.fs.Remove(name))
	}
	w.f, w.size, w.good, w.forgot, w.dirty = f, int64(len(header)), int64(len(header)), 0, false
	w.l.mu.Lock()
	w.l.segments, w.l.open = append(w.l.segments, segment{w.next, w.size}), true
	w.l.copyable = w.size
	w.l.tell()
	w.l.metrics.Segments.Set(float64(len(w.l.segments)))
	w.l.mu.Unlock()
	w.previous = w.next
	w.next++
	return nil
}

// oldest returns the number of the oldest segment; without segments, the number of the next one.
func (l *Log) oldest(next uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		return next
	}
	return l.segments[0].number
}

// closeSegment writes the close frame, syncs and closes.
func (w *writer) closeSegment() error {
	if w.f == nil {
		return nil
	}
	var err error
	dirty := w.dirty
	if w.l.o.Sync != SyncNever {
		err = w.sync()
	}
	if err == nil {
		w.number++
		err = w.put(AppendFrame(w.buf[:0], Frame{Type: typeClose, Number: w.number, Synced: w.synced}))
	}
	if vfs.IsReadOnly(err) && !dirty {
		err = nil // the segment ends as a crash would end it, with all that is needed
	} else if err == nil && w.l.o.Sync != SyncNever {
		err = w.sync()
	}
	w.l.setSize(w.next-1, w.size)
	w.l.ended(w.next)
	err = errors.Join(err, w.f.Close())
	w.f = nil
	return err
}

// cut takes the frames out again that have filled the disk, so that what makes room finds some.
func (w *writer) cut(err error) {
	if w.f == nil || !vfs.IsNoSpace(err) {
		return
	}
	if err := w.f.Truncate(w.good); err != nil {
		w.l.o.Logger.Error("log: what was not written wholly cannot be cut off", "error", err)
		return
	}
	w.size = w.good
}

// abandon gives up the open segment after a failure.
func (w *writer) abandon() {
	if w.f == nil {
		return
	}
	if err := w.f.Close(); err != nil {
		w.l.o.Logger.Error("log: failed segment could not be closed", "error", err)
	}
	w.l.setSize(w.next-1, w.size)
	w.l.ended(w.next)
	w.f, w.dirty = nil, false
}

func (l *Log) setSize(number uint64, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.segments) - 1; i >= 0; i-- {
		if l.segments[i].number == number {
			l.segments[i].size = size
			return
		}
	}
}
