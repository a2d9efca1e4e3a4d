package engine

import (
	"errors"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/status"
	"varve/engine/vfs"
)

// spaceCheck is how old the knowledge of free space may be.
const spaceCheck = 500 * time.Millisecond

// space knows whether the disks take rows: that of the data directory and that of the log, which may be the same. Safe for
// concurrent use.
type space struct {
	fs          vfs.FS
	dir, logDir string
	free        int64 // bytes of the first that are left to flushes and the manifest; negative: none
	now         func() time.Time

	failed atomic.Pointer[error] // why the log's last write failed; nil: it did not

	mu     sync.Mutex // protects what follows
	at     time.Time  // of the last look
	low    bool       // it found less than free
	err    error      // what it found
	probed time.Time  // when the log was last tried
}

// check refuses writes before the disk is full, so that flushes and the manifest still have room. The log needs none that is
// kept for it: flushing is what makes room where it lies.
func (s *space) check() error {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if age := now.Sub(s.at); age >= 0 && age < spaceCheck && !s.at.IsZero() {
		return s.err
	}
	s.at = now
	free, err := s.fs.FreeBytes(s.dir)
	s.low = err == nil && s.free > 0 && free < uint64(s.free)
	switch {
	case err != nil:
		s.err = status.Wrap(err, status.StorageUnavailable, "free space of the data directory is not known: %v", err)
	case s.low:
		s.err = status.New(status.StorageUnavailable, "the disk is nearly full: %d bytes are free and storage.min_free is %d; writes resume when there is room", free, s.free)
	default:
		s.err = nil
	}
	return s.err
}

// short reports whether a disk has so little room that the log, of so many bytes, is better cut at once.
func (s *space) short(logged int64) bool {
	if failed := s.failed.Load(); failed != nil && vfs.IsNoSpace(*failed) {
		return true
	}
	if s.check() != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.low
	}
	free, err := s.fs.FreeBytes(s.logDir)
	return err == nil && free < uint64(max(0, min(s.free, logged)))
}

// logged notes how a write of the log ended.
func (s *space) logged(err error) {
	switch {
	case err == nil:
		if s.failed.Load() != nil {
			s.failed.Store(nil)
		}
	case vfs.IsNoSpace(err):
		err = status.Wrap(err, status.StorageUnavailable, "the disk is full: the log found no room; writes resume when there is some")
		s.failed.Store(&err)
	case status.Of(err) == status.StorageUnavailable:
		s.failed.Store(&err)
	}
}

// retry tries a log whose last write failed: nobody may be there who writes.
func (s *space) retry() {
	if s.failed.Load() == nil {
		return
	}
	s.mu.Lock()
	due := s.now().Sub(s.probed) >= spaceCheck
	if due {
		s.probed = s.now()
	}
	s.mu.Unlock()
	if due {
		s.probe()
	}
}

// probeName is a file in the directory of the log that is there for the moment of a probe.
const (
	probeName  = "PROBE" + vfs.TempSuffix
	probeBytes = 4096
)

// probe asks the disk of the log itself whether it takes what is written.
func (s *space) probe() {
	name := path.Join(s.logDir, probeName)
	f, err := s.fs.Create(name)
	if err == nil {
		_, err = f.Write(make([]byte, probeBytes))
		if err == nil {
			err = f.Sync()
		}
		err = errors.Join(err, f.Close(), s.fs.Remove(name))
	}
	if err != nil {
		err = storageError(err, "the log cannot be written")
	}
	s.logged(err)
}

// probeEmpty is probe where the disk says that nothing is free: some say so where there is room. At a start the log has not been
// written to.
func (s *space) probeEmpty() {
	if free, err := s.fs.FreeBytes(s.logDir); err == nil && free == 0 {
		s.probe()
	}
}

// ready is check for those who ask whether rows can be written and write none: the log's last write tells, and whether the files
// are there and may be changed.
func (s *space) ready() error {
	if err := s.check(); err != nil {
		return err
	}
	s.retry()
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	for _, name := range []string{path.Join(s.dir, manifest.FileName), path.Join(s.dir, partsDir), s.logDir} {
		if _, err := s.fs.Stat(name); err != nil {
			return storageError(err, path.Base(name)+" of the data directory is gone or cannot be looked at: the next start will not find all rows")
		}
	}
	for _, dir := range []string{s.dir, path.Join(s.dir, partsDir), s.logDir} {
		if err := s.fs.Writable(dir); err != nil {
			return storageError(err, "nothing can be written to "+dir)
		}
	}
	return nil
}
