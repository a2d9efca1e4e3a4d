package engine

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
)

// spaceCheck is how old the knowledge of free space may be.
const spaceCheck = 500 * time.Millisecond

// space knows whether the disks of the data directory and of the log accept rows; both may be the same disk. Safe for
// concurrent use.
type space struct {
	fs          vfs.FS
	dir, logDir string
	partsDir    string // in dir
	free        int64  // bytes of the first that are left to flushes and the manifest; negative: none
	now         func() time.Time
	reads       error // why the store was opened for reading alone; nil: it was not
	log         *slog.Logger

	failed atomic.Pointer[error] // why the log's last write failed; nil: it did not
	taken  atomic.Pointer[error] // another server took over from this one; nil: none did

	mu      sync.Mutex // protects what follows
	at      time.Time  // of the last look
	low     bool       // it found less than free
	fixed   error      // why nothing can be changed: a file system is read-only
	refused bool       // something could not be changed for that, and nothing has been since
	err     error      // what the last look found, fixed included
	probed  time.Time  // when the log was last tried
}

// newSpace watches the disks of a store with these options. reads is why it is opened for reading alone; nil: it is
// not.
func newSpace(o *Options, reads error) *space {
	return &space{fs: o.FS, dir: o.Dir, logDir: o.WALDir, partsDir: parts.At(o.FS, o.Dir).Dir(), free: o.MinFree,
		now: o.Now, reads: reads, log: o.Logger}
}

// check refuses writes before the disk of the data directory is full, so that flushes and the manifest still have room.
// No room is kept on the disk of the log: flushes make room there.
func (s *space) check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.err
}

// readOnly says why nothing of the store can be changed; nil: it can, as far as there is room.
func (s *space) readOnly() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look()
	return s.fixed
}

// awaitWritable waits until the store is not read-only, which it asks every so often; false: ctx is over first.
func (s *space) awaitWritable(ctx context.Context, every time.Duration) bool {
	for s.readOnly() != nil {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(every):
		}
	}
	return true
}

// look looks at the disks unless it did a moment ago. The caller holds s.mu.
func (s *space) look() {
	now := s.now()
	if age := now.Sub(s.at); age >= 0 && age < spaceCheck && !s.at.IsZero() {
		return
	}
	s.at = now
	s.lookWhetherFixed()
	free, err := s.fs.FreeBytes(s.dir)
	s.low = err == nil && s.free > 0 && free < uint64(s.free)
	switch {
	case s.fixed != nil:
		s.err = s.fixed
	case err != nil:
		s.err = status.Wrap(err, status.StorageUnavailable, "the free space of the data directory cannot be read: %v",
			err)
	case s.low:
		s.err = status.New(status.StorageUnavailable,
			"the disk is nearly full: %d bytes are free and storage.min_free is %d; writes resume when there is room",
			free, s.free)
	default:
		s.err = nil
	}
}

// lookWhetherFixed looks whether a file system is read-only, and logs when that changes. The caller holds s.mu.
func (s *space) lookWhetherFixed() {
	was := s.fixed
	s.fixed = s.reads
	if taken := s.replaced(); taken != nil {
		s.fixed = taken
	} else if s.reads == nil {
		found := s.findReadOnly(s.refused)
		if s.refused = found != nil; s.refused {
			found.Msg += "; writes resume when it is writable again"
			s.fixed = found
		}
	}
	switch {
	case was == nil && s.fixed != nil:
		s.log.Warn(s.fixed.Error(), "directory", s.dir, "log", s.logDir)
	case was != nil && s.fixed == nil:
		s.log.Info("the store is writable again", "directory", s.dir, "log", s.logDir)
	}
}

// replaced says that another server took over from this one; nil: none did.
func (s *space) replaced() error {
	if err := s.taken.Load(); err != nil {
		return *err
	}
	return nil
}

// replace notes that another server took over.
func (s *space) replace(by *manifest.Standing) {
	var err error = replacedError(by)
	s.taken.Store(&err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at = time.Time{} // look again
}

// findReadOnly names the file system of the store that is read-only; nil: none is. With try it also creates a file on
// each: after a disk error a file system may call itself writable and refuse every change.
func (s *space) findReadOnly(try bool) *status.Error {
	for _, of := range []struct{ dir, what string }{{s.dir, "the data directory"},
		{s.partsDir, "the parts"}, {s.logDir, "the log"}} {
		err := s.fs.Writable(of.dir)
		if err == nil && try {
			err = s.try(of.dir)
		}
		if vfs.IsReadOnly(err) {
			return status.Wrap(err, status.RegionReadonly,
				"the store is read-only: the file system of %s is read-only. "+
					"Queries are answered, changes are refused", of.what)
		}
	}
	return nil
}

// tryName is the file that try creates.
const tryName = "TRY" + vfs.TempSuffix

// try creates a file in a directory and removes it, to learn whether the directory can be written to.
func (s *space) try(dir string) error {
	name := path.Join(dir, tryName)
	f, err := s.fs.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), s.fs.Remove(name))
}

// noted is the error of a change as its caller gets it. If the change failed because a file system is read-only, that
// is the error which all further changes get.
func (s *space) noted(err error) error {
	if fixed := s.learn(err); fixed != nil && vfs.IsReadOnly(err) {
		return fixed
	}
	return err
}

// isNews reports whether the failure of a background job is to be logged. On a read-only store it is not: the store has
// logged its state once.
func (s *space) isNews(err error) bool { return s.learn(err) == nil }

// learn checks the file systems again if a change failed because one is read-only, and returns the result of readOnly
// after that.
func (s *space) learn(err error) error {
	if vfs.IsReadOnly(err) {
		s.mu.Lock()
		s.refused, s.at = true, time.Time{} // it has become so since the last look
		s.mu.Unlock()
	}
	return s.readOnly()
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

// logged notes how a write of the log ended, and gives the error for who wrote.
func (s *space) logged(err error) error {
	err = s.noted(err)
	failed := err
	switch {
	case err == nil:
		if s.failed.Load() != nil {
			s.failed.Store(nil)
		}
	case vfs.IsNoSpace(err):
		failed = status.Wrap(err, status.StorageUnavailable,
			"the disk is full, so the log cannot be written; writes resume when there is room")
		s.failed.Store(&failed)
	case status.Of(err) == status.StorageUnavailable:
		s.failed.Store(&failed)
	}
	return err
}

// retry tries a log whose last write failed, because there may be no writer that would try it.
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

// probe tests with a write whether the disk of the log accepts data.
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
	_ = s.logged(err) // it is noted
}

// probeEmpty is probe where the disk says that nothing is free: some say so where there is room. At a start the log has
// not been written to.
func (s *space) probeEmpty() {
	if free, err := s.fs.FreeBytes(s.logDir); err == nil && free == 0 {
		s.probe()
	}
}

// ready says why rows cannot be written, for callers that write none; nil: they can. Besides check it regards how the
// last write of the log ended, and whether the files are there and may be changed.
func (s *space) ready() error {
	if err := s.check(); err != nil {
		return err
	}
	s.retry()
	if failed := s.failed.Load(); failed != nil {
		return *failed
	}
	for _, name := range []string{path.Join(s.dir, manifest.FileName), s.partsDir, s.logDir} {
		if _, err := s.fs.Stat(name); err != nil {
			return storageError(err, path.Base(name)+
				" of the data directory is gone or cannot be looked at: the next start will not find all rows")
		}
	}
	for _, dir := range []string{s.dir, s.partsDir, s.logDir} {
		if err := s.fs.Writable(dir); err != nil {
			return storageError(err, "nothing can be written to "+dir)
		}
	}
	return nil
}
