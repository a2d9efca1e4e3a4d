// Package wal is the write-ahead log: its records make acknowledged writes survive a crash.
//
// # Layout
//
// A log is a directory of segments, 000001.wal, 000002.wal, ... A segment is a header (segment.go) and frames
// (frame.go); both are drawn in docs/format/wal.md.
//
// # Promises
//
// Append returns once the record is as durable as Options.Sync says. Replay drops a torn tail, which can only be what
// follows the last synced frame, without a report; it reports damage before that and goes on behind it. A write or sync
// that fails closes its segment for good, because the kernel may have dropped the data and a later sync would not say
// so.
//
// Many goroutines may call Append; Replay may be called only before the first Append.
package wal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"path"
	"sort"
	"strings"
	"sync"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

// The modes of Options.Sync.
const (
	SyncAlways   = "always"   // fsync before Append returns
	SyncInterval = "interval" // fsync every SyncPeriod
	SyncNever    = "never"    // leave it to the kernel
)

// Options of a log. Zero values mean the defaults.
type Options struct {
	Sync       string        // default always
	SyncPeriod time.Duration // default 1s, for SyncInterval
	FileSize   int64         // size at which a segment is closed. Default 128 MiB
	Now        func() time.Time
	Logger     *slog.Logger
	// Needs is the range of segments that must exist. Replay reports a missing one as damage.
	Needs Range
	// Begun, if not nil, is called with the state of the log after a new segment was added, before the first record in
	// it is acknowledged. After an error the segment is given up. It must not append.
	Begun func(all Range) error
	// Store is the name of the store that owns the log. The log of another store is refused with ErrOtherStore. Empty:
	// any store.
	Store string
	// Edit, if not nil, gives the number that headers of new segments keep, see Log.Edit.
	Edit func() uint64
}

// Range is numbers of segments, both inclusive; empty when First is above Last. First 0: nothing is known.
type Range struct{ First, Last uint64 }

func (o Options) withDefaults() (Options, error) {
	switch o.Sync {
	case "":
		o.Sync = SyncAlways
	case SyncAlways, SyncInterval, SyncNever:
	default:
		return o, fmt.Errorf("wal.sync = %q: expected always, interval or never", o.Sync)
	}
	if o.SyncPeriod <= 0 {
		o.SyncPeriod = time.Second
	}
	if o.FileSize <= 0 {
		o.FileSize = 128 << 20
	}
	o.FileSize = min(o.FileSize, 1<<31)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Log is an open log. Safe for concurrent use after Replay.
type Log struct {
	fs      vfs.FS
	dir     string
	o       Options
	metrics *Metrics
	edit    uint64
	lock    io.Closer // of the directory; nil: the log is only looked at
	queue   chan *pending
	cuts    chan chan struct{} // each asks the writer to end the open segment
	done    chan struct{}

	closing sync.RWMutex // held for reading while an Append is in the queue
	closed  bool

	truncating sync.Mutex // held while segments are removed, the oldest first

	mu       sync.Mutex    // protects what follows: the list of segments
	segments []segment     // rising; the last one may be open for writing
	open     bool          // it is
	upcoming uint64        // least number of the next segment
	copyable int64         // bytes of the open segment that may be copied, see Copyable
	news     chan struct{} // closed when there is more to copy; nil: nobody waits
	damaged  map[uint64]bool
	kept     []string

	w writer // of the writer goroutine alone
}

type segment struct {
	number uint64
	size   int64
}

// find reads the size of an existing segment and the edit in its header.
func (l *Log) find(n uint64) (segment, error) {
	f, err := l.fs.Open(path.Join(l.dir, segmentName(n)))
	if err != nil {
		return segment{}, err
	}
	s := segment{number: n}
	if s.size, err = f.Size(); err == nil {
		src := make([]byte, min(s.size, segmentHead))
		if _, err := f.ReadAt(src, 0); err == nil || errors.Is(err, io.EOF) {
			if h, err := readHead(src); err == nil { // Replay reports a wrong header
				l.edit = max(l.edit, h.edit)
			}
		}
	}
	return s, errors.Join(err, f.Close())
}

// Edit is the highest number that Options.Edit gave for a segment that was there when the log was opened.
func (l *Log) Edit() uint64 { return l.edit }

// lockName is a file that is locked while a log is open: two would write segments of the same names.
const lockName = "LOCK"

// Open opens the log of a directory, making it if absent. Nothing is read before Replay and nothing written before the
// first Append. A second log in the directory is an error, see vfs.ErrLocked.
func Open(fs vfs.FS, dir string, o Options) (*Log, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := fs.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("log directory: %w", err)
	}
	lock, err := fs.Lock(path.Join(dir, lockName))
	if errors.Is(err, vfs.ErrLocked) {
		return nil,
			fmt.Errorf(
				"the directory of the log, %s, is in use by another server: each needs one of its own (wal.dir): %w",
				dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("log directory: %w", err)
	}
	if err := claim(fs, dir, o); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l, err := openWithoutLock(fs, dir, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.lock = lock
	return l, nil
}

// openWithoutLock lists the segments of a directory and starts the writer. A directory that is absent has no segments.
func openWithoutLock(fs vfs.FS, dir string, o Options) (*Log, error) {
	names, err := fs.List(dir)
	if err != nil && !vfs.NotExist(err) {
		return nil, fmt.Errorf("log directory: %w", err)
	}
	l := &Log{fs: fs, dir: dir, o: o, metrics: newMetrics(), queue: make(chan *pending, 256),
		cuts: make(chan chan struct{}), done: make(chan struct{}),
		damaged: map[uint64]bool{}}
	for _, name := range names {
		if strings.HasSuffix(name, damagedSuffix) || strings.HasSuffix(name, missingSuffix) {
			l.kept = append(l.kept, name)
		}
		n, ok := segmentNumber(name)
		if !ok {
			continue
		}
		s, err := l.find(n)
		if err != nil {
			return nil, fmt.Errorf("log segment %s: %w", name, err)
		}
		l.segments = append(l.segments, s)
	}
	sort.Slice(l.segments, func(i, j int) bool { return l.segments[i].number < l.segments[j].number })
	l.w.next = o.Needs.Last + 1
	if k := len(l.segments); k > 0 {
		l.w.previous = l.segments[k-1].number
		l.w.next = max(l.w.next, l.w.previous+1)
	}
	l.w.l, l.upcoming = l, l.w.next
	go l.w.run()
	return l, nil
}

// Metrics are the log's counters.
func (l *Log) Metrics() *Metrics { return l.metrics }

// Record is a record, in pieces that may lie apart: together they are its body. Long texts need not be copied to be
// logged.
type Record [][]byte

// Size is the length of the body.
func (r Record) Size() (n int) {
	for _, piece := range r {
		n += len(piece)
	}
	return n
}

// sum is the checksum of the body.
func (r Record) sum() (sum uint32) {
	for _, piece := range r {
		sum = crc32.Update(sum, castagnoli, piece)
	}
	return sum
}

// pending is a record that waits to be written.
type pending struct {
	body Record
	size int
	sum  uint32
	at   LSN
	next *pending // of the same call
	err  error    // of the first record of a call, as wake
	wake chan struct{}
}

var pendings = sync.Pool{New: func() any { return &pending{wake: make(chan struct{}, 1)} }}

// ErrClosed is returned by Append after Close.
var ErrClosed = errors.New("the log is closed")

// Append adds records in order, with one sync, and returns the place of the first once they are as durable as
// Options.Sync says. After an error (a status.StorageUnavailable) a later Replay may find each of them, wholly, or not.
// Append does not keep the records.
func (l *Log) Append(recs ...Record) (at LSN, err error) {
	for _, rec := range recs {
		if size := rec.Size(); size > MaxRecord {
			return 0, status.New(status.InvalidArguments, "a log record of %d bytes exceeds the limit of %d", size,
				MaxRecord)
		}
	}
	l.closing.RLock()
	if l.closed {
		l.closing.RUnlock()
		return 0, ErrClosed
	}
	var first *pending
	for i := len(recs) - 1; i >= 0; i-- {
		p := pendings.Get().(*pending)
		p.body, p.size, p.sum, p.err, p.next = recs[i], recs[i].Size(), recs[i].sum(), nil, first
		first = p
	}
	if first == nil {
		l.closing.RUnlock()
		return 0, nil
	}
	l.queue <- first
	<-first.wake
	l.closing.RUnlock()
	at, err = first.at, first.err
	for first != nil {
		p := first
		first, p.next, p.body = p.next, nil, nil
		pendings.Put(p)
	}
	return at, err
}

// Size is the total size of the segments in bytes.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int64
	for _, s := range l.segments {
		n += s.size
	}
	return n
}

// End returns a place at or before the place of the next record.
func (l *Log) End() LSN {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.open {
		return lsnAt(l.upcoming, 0)
	}
	s := l.segments[len(l.segments)-1]
	return lsnAt(s.number, s.size)
}

// ended notes that no segment is open any more.
func (l *Log) ended(next uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open, l.upcoming = false, next
	l.tell()
}

// EndSegment ends the open segment, if there is one. The next record begins a new segment, so that all earlier ones can
// be truncated.
func (l *Log) EndSegment() {
	l.closing.RLock()
	defer l.closing.RUnlock()
	if l.closed {
		return
	}
	done := make(chan struct{})
	l.cuts <- done
	<-done
}

// Holds reports whether Truncate would remove anything.
func (l *Log) Holds(before LSN, keep Keeping) bool {
	_, holds := l.oldestBefore(before, keep)
	return holds
}

// oldestBefore is the number of the oldest segment, if Truncate removes it.
func (l *Log) oldestBefore(before LSN, keep Keeping) (number uint64, removed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 || len(l.segments) == 1 && (l.open || keep == KeepNewest) {
		return 0, false
	}
	number = l.segments[0].number
	return number, number < before.Segment()
}

// Keeping selects what Truncate leaves of a log that is not needed at all.
type Keeping bool

const (
	KeepNewest Keeping = false // the newest segment, whose header refers to the earlier ones
	KeepOpen   Keeping = true  // nothing but the segment that is open, where each byte of the disk counts
)

// Truncate removes the segments that lie wholly before the given place. Segments in which Replay found damage are
// renamed to NAME.damaged instead.
func (l *Log) Truncate(before LSN, keep Keeping) error {
	l.truncating.Lock()
	defer l.truncating.Unlock()
	for {
		number, gone := l.oldestBefore(before, keep)
		if !gone {
			return nil
		}
		if err := l.remove(number); err != nil {
			return fmt.Errorf("truncate log: %w", err)
		}
		l.mu.Lock()
		l.segments = l.segments[1:]
		l.metrics.Segments.Set(float64(len(l.segments)))
		l.mu.Unlock()
	}
}

// remove takes a segment away and syncs the directory. Otherwise a crash might bring the segment back without the later
// ones that were removed after it, and replay would report these as missing.
func (l *Log) remove(number uint64) error {
	name := path.Join(l.dir, segmentName(number))
	var err error
	if l.damaged[number] && l.link(number) != nil {
		err = l.fs.Rename(name, name+damagedSuffix)
	} else {
		err = l.fs.Remove(name)
	}
	if err != nil && !vfs.NotExist(err) {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// Keep makes sure that a segment stays as NAME.damaged, whatever happens to the log. It is for segments with damage, or
// with a record that cannot be applied, because the next Replay may not notice. A missing segment leaves an empty
// NAME.missing. Call it before the first Append.
func (l *Log) Keep(segment uint64) {
	err := l.link(segment)
	if vfs.NotExist(err) {
		if err := l.noteMissing(segment); err != nil {
			l.o.Logger.Warn("log: that a segment is missing cannot be noted: the next start will not report it",
				"segment", segmentName(segment), "error", err)
		}
		return
	}
	if err != nil {
		l.o.Logger.Warn("log: a segment will be kept when it is truncated, not before", "segment", segmentName(segment),
			"error", err)
		l.damaged[segment] = true
	}
}

// noteMissing makes the file that stands for a missing segment.
func (l *Log) noteMissing(segment uint64) error {
	f, err := l.fs.Create(path.Join(l.dir, segmentName(segment)+missingSuffix))
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// Missing reports whether a name among the kept segments stands for a missing segment.
func Missing(name string) bool { return strings.HasSuffix(name, missingSuffix) }

// link gives a segment a second name, under which it is kept. Its name there before does no harm. The segment keeps its
// own name until it is removed: a rename between two names of one file would do nothing.
func (l *Log) link(number uint64) error {
	name := path.Join(l.dir, segmentName(number))
	if err := l.fs.Link(name, name+damagedSuffix); err != nil && !vfs.Exist(err) {
		return err
	}
	return l.fs.SyncDir(l.dir)
}

// Close waits for running Appends, syncs and closes the segment. The log writes nothing afterwards.
func (l *Log) Close() error {
	l.closing.Lock()
	if l.closed {
		l.closing.Unlock()
		return nil
	}
	l.closed = true
	l.closing.Unlock()
	close(l.queue)
	<-l.done
	if l.lock == nil {
		return l.w.closeErr
	}
	return errors.Join(l.w.closeErr, l.lock.Close())
}
