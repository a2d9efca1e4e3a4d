package engine

import (
	"errors"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/status"
	"varve/engine/vfs"
)

// spaceCheck is how old the knowledge of free space may be.
const spaceCheck = 500 * time.Millisecond

// space knows whether the disk has room for rows. Safe for concurrent use.
type space struct {
	fs   vfs.FS
	dir  string
	free int64 // bytes that are left to flushes and the manifest
	now  func() time.Time

	full atomic.Bool // the log's last write found no room

	mu   sync.Mutex // protects what follows
	at   time.Time  // of the last look
	left uint64     // bytes that were free
	err  error      // what it found
}

// check refuses writes before the disk is full, so that flushes and the manifest still have room.
func (s *space) check() error {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.at); age >= 0 && age < spaceCheck && !s.at.IsZero() {
		return s.err
	}
	s.at = now
	free, err := s.fs.FreeBytes(s.dir)
	s.left = free
	switch {
	case err != nil:
		s.err = status.Wrap(err, status.StorageUnavailable, "free space of the data directory is not known: %v", err)
	case free < uint64(s.free):
		s.err = status.New(status.StorageUnavailable, "the disk is nearly full: %d bytes are free and storage.min_free is %d; writes resume when there is room", free, s.free)
	default:
		s.err = nil
	}
	return s.err
}

// logged notes how a write of the log ended.
func (s *space) logged(err error) {
	if full := vfs.IsNoSpace(err); full != s.full.Load() {
		s.full.Store(full)
	}
}

// probeName is a file that is there for the moment of a probe.
const (
	probeName  = "PROBE" + vfs.TempSuffix
	probeBytes = 4096
)

// probe asks the disk itself whether it is full where it says that nothing is free: at a start the log has not been written to.
func (s *space) probe() {
	if free, err := s.fs.FreeBytes(s.dir); err != nil || free > 0 {
		return
	}
	name := path.Join(s.dir, probeName)
	f, err := s.fs.Create(name)
	if err == nil {
		_, err = f.Write(make([]byte, probeBytes))
		if err == nil {
			err = f.Sync()
		}
		err = errors.Join(err, f.Close(), s.fs.Remove(name))
	}
	s.logged(err)
}

// ready is check for those who ask whether rows can be written and write none: where storage.min_free is 0 a disk is full when nothing is free and the log has
// found that it has no room. Neither alone will do: some systems say that nothing is free where there is room.
func (s *space) ready() error {
	if err := s.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 && s.full.Load() {
		return status.New(status.StorageUnavailable, "the disk is full: the log found no room; writes resume when there is some")
	}
	return nil
}
