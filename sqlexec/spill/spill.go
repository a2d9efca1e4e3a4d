// Package spill keeps rows of queries in temporary files when they do not fit into memory.
//
// # Layout
//
// A file is a sequence of blocks, each a batch of rows:
//
//	+-------------+----------------+------------+------------------------+
//	| stored 4B   | unpacked 4B    | crc32c 4B  | zstd of an encoded batch |  little endian; crc covers the zstd bytes
//	+-------------+----------------+------------+------------------------+
//
// The batch has the form of vector.AppendBatch. The files are in one directory, which is emptied when it is opened,
// because no query outlives the process. They are never synced.
//
// Rows that are spread over partitions by a hash of their keys are in one such file for each partition, see Partitions.
//
// # Promises
//
// Closing the Space of a query removes all its files, in every case. The disk space of all queries together is bounded,
// and some space is left free for the store. Reading a file gives what was written, or an error.
package spill

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"

	"varve/engine/status"
	"varve/engine/vfs"
)

// maxBlock bounds an unpacked block: a batch of rows that fits into the memory of a query has less.
const maxBlock = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Options of a Disk.
type Options struct {
	FS  vfs.FS
	Dir string
	// Limit is how many bytes all files may take together.
	Limit int64
	// KeepFree is the room on the device that is left for others.
	KeepFree int64
	// Logger hears of files that cannot be removed; nil: nobody.
	Logger *slog.Logger
}

// Disk is where queries put rows. Safe for concurrent use.
type Disk struct {
	o    Options
	pack *zstd.Encoder
	open *zstd.Decoder
	next atomic.Int64 // the number of the next file
	held atomic.Int64 // bytes of all files

	bytes, files atomic.Int64 // written since the start
}

// Open empties the directory, or makes it.
func Open(o Options) (*Disk, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.FS.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("directory for temporary files: %w", err)
	}
	names, err := o.FS.List(o.Dir)
	if err == nil {
		err = o.FS.Writable(o.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("directory for temporary files: %w", err)
	}
	for _, n := range names {
		if err := o.FS.Remove(path.Join(o.Dir, n)); err != nil && !vfs.NotExist(err) {
			return nil, fmt.Errorf("directory for temporary files: %w", err)
		}
	}
	d := &Disk{o: o}
	if d.pack, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithWindowSize(1<<20),
		zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0))); err != nil {
		return nil, err
	}
	d.open, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxBlock),
		zstd.WithDecodeAllCapLimit(true))
	return d, err
}

// Written is the number of bytes and files that queries have written since the start.
func (d *Disk) Written() (bytes, files int64) { return d.bytes.Load(), d.files.Load() }

// Held is the number of bytes that running queries have on the disk.
func (d *Disk) Held() int64 { return d.held.Load() }

// roomStep is how many bytes are written between looks at the device's free room.
const roomStep = 16 << 20

// take reserves n bytes of the limit.
func (d *Disk) take(n int64) error {
	held := d.held.Add(n)
	if held > d.o.Limit {
		d.held.Add(-n)
		return status.New(status.RuntimeResourcesExhausted,
			"the query needs more memory than it may keep, and more than %d MiB of temporary files "+
				"(query.spill_limit); narrow its time range, select fewer columns or use LIMIT", d.o.Limit>>20)
	}
	if held/roomStep == (held-n)/roomStep {
		return nil
	}
	free, err := d.o.FS.FreeBytes(d.o.Dir)
	if err == nil && int64(free) < d.o.KeepFree {
		d.held.Add(-n)
		return full(nil)
	}
	return nil
}

// full is the error of a disk without room.
func full(cause error) error {
	const text = "the query needs more memory than it may keep, and the disk has no room for its temporary files; " +
		"narrow its time range, select fewer columns or use LIMIT"
	if cause == nil {
		return status.New(status.RuntimeResourcesExhausted, text)
	}
	return status.Wrap(cause, status.RuntimeResourcesExhausted, text)
}

// failed is the error of a temporary file that cannot be written or read.
func failed(err error) error {
	if vfs.IsNoSpace(err) {
		return full(err)
	}
	return status.Wrap(err, status.StorageUnavailable, "a temporary file of the query: %s", vfs.Reason(err))
}

// Space is the files of one query. Safe for concurrent use.
type Space struct {
	d *Disk

	mu     sync.Mutex
	closed bool
	names  map[string]int64   // files and their sizes, including those being written
	open   map[io.Closer]bool // writers and readers at work

	bytes, files atomic.Int64 // written
}

// Space is an empty space.
func (d *Disk) Space() *Space {
	return &Space{d: d, names: map[string]int64{}, open: map[io.Closer]bool{}}
}

// Written is the number of bytes and files of this query, those that are gone included.
func (s *Space) Written() (bytes, files int64) { return s.bytes.Load(), s.files.Load() }

// errClosed is the error of a worker that continues after its query was closed.
var errClosed = errors.New("the temporary files of the query are gone")

// Close ends all reading and removes all files. No writes or reads may follow. A file that cannot be removed is logged;
// the next start removes it.
func (s *Space) Close() {
	s.mu.Lock()
	open := s.open
	s.open, s.closed = nil, true
	s.mu.Unlock()
	for c := range open {
		s.warn(c.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.names {
		s.warn(s.remove(name))
	}
}

func (s *Space) warn(err error) {
	if err != nil {
		s.d.o.Logger.Warn("a temporary file of a query stays behind", "error", err)
	}
}

// opened notes that a file is open.
func (s *Space) opened(c io.Closer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.open[c] = true
	return nil
}

func (s *Space) shut(c io.Closer) {
	s.mu.Lock()
	delete(s.open, c)
	s.mu.Unlock()
}

// remove takes a file away. The lock is held.
func (s *Space) remove(name string) error {
	s.d.held.Add(-s.names[name])
	delete(s.names, name)
	if err := s.d.o.FS.Remove(name); err != nil && !vfs.NotExist(err) {
		return fmt.Errorf("temporary file: %w", err)
	}
	return nil
}

// create makes a file.
func (s *Space) create() (string, vfs.File, error) {
	name := path.Join(s.d.o.Dir, fmt.Sprintf("%d.spill", s.d.next.Add(1)))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "", nil, errClosed
	}
	f, err := s.d.o.FS.Create(name)
	if err != nil {
		return "", nil, failed(err)
	}
	s.names[name] = 0
	s.files.Add(1)
	s.d.files.Add(1)
	return name, f, nil
}

// size is the number of bytes of a file.
func (s *Space) size(name string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names[name]
}

// grow counts n bytes that are about to be written to a file.
func (s *Space) grow(name string, n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := s.d.take(n); err != nil {
		return err
	}
	s.names[name] += n
	s.bytes.Add(n)
	s.d.bytes.Add(n)
	return nil
}
