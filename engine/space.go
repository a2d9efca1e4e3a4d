package engine

import (
	"sync"
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

	mu  sync.Mutex // protects what follows
	at  time.Time  // of the last look
	err error      // what it found
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
