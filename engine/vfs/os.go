package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"sync"

	"golang.org/x/sys/unix"
)

// Rows may be anybody's secrets: files and directories that are made are for the server's user, and for a group that
// may read.
const (
	FileMode fs.FileMode = 0o640
	DirMode  fs.FileMode = 0o750
)

// OS is the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

func (osFS) Create(name string) (File, error) {
	return open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (osFS) CreateNew(name string) (File, error) {
	return open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (osFS) OpenAppend(name string) (File, error) {
	return open(name, os.O_RDWR|os.O_CREATE|os.O_APPEND)
}

func (osFS) Open(name string) (File, error) { return open(name, os.O_RDONLY) }

func open(name string, flags int) (File, error) {
	f, err := os.OpenFile(name, flags, FileMode)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error       { return os.Rename(from, to) }
func (osFS) Remove(name string) error           { return os.Remove(name) }
func (osFS) Link(from, to string) error         { return os.Link(from, to) }
func (osFS) MkdirAll(dir string) error          { return os.MkdirAll(dir, DirMode) }
func (osFS) Stat(n string) (os.FileInfo, error) { return os.Stat(n) }
func (osFS) Map(name string) (Mapping, error)   { return mapFile(name) }
func (osFS) FreeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// readOnlyFlag is ST_RDONLY of Linux, and MNT_RDONLY of the others.
const readOnlyFlag = 1

// Writable tests the mount first: if it is read-only, the owner of the directory does not matter.
func (osFS) Writable(dir string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err == nil && uint64(s.Flags)&readOnlyFlag != 0 {
		return &fs.PathError{Op: "write", Path: dir, Err: unix.EROFS}
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write", Path: dir, Err: err}
	}
	return nil
}

func (osFS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	sort.Strings(names)
	return names, nil
}

func (osFS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// held are the files that this process has locked. On some systems flock lets one process lock a file twice, through
// two descriptors; held refuses that on all of them.
var held = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, FileMode)
	if err != nil {
		return nil, err
	}
	held.Lock()
	defer held.Unlock()
	key := lockKey(f, name)
	if held.names[key] {
		return nil, errors.Join(fmt.Errorf("%s: %w by this process", name, ErrLocked), f.Close())
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("%s: %w by another process", name, ErrLocked)
		}
		return nil, errors.Join(err, f.Close())
	}
	held.names[key] = true
	return &osLock{f, key}, nil
}

func (osFS) LockShared(name string) (io.Closer, error) {
	f, err := os.Open(name)
	if NotExist(err) {
		return io.NopCloser(nil), nil
	}
	if err != nil {
		return nil, err
	}
	held.Lock()
	defer held.Unlock()
	if held.names[lockKey(f, name)] {
		return nil, errors.Join(fmt.Errorf("%s: %w by this process", name, ErrLocked), f.Close())
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("%s: %w by another process", name, ErrLocked)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockKey names the locked file whatever path led to it.
func lockKey(f *os.File, name string) string {
	var s unix.Stat_t
	if unix.Fstat(int(f.Fd()), &s) == nil {
		return fmt.Sprintf("%d:%d", s.Dev, s.Ino)
	}
	return name
}

type osLock struct {
	f   *os.File
	key string
}

func (l *osLock) Close() error {
	held.Lock()
	delete(held.names, l.key)
	held.Unlock()
	return l.f.Close() // closing the descriptor releases the lock
}

type osFile struct{ *os.File }

// Forget begins at the page that holds off: the kernel keeps pages that are named only in part.
func (f osFile) Forget(off, n int64) {
	from := off &^ int64(os.Getpagesize()-1)
	forget(int(f.Fd()), from, off+n-from)
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// NotExist reports whether err says that a file is absent.
func NotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Exist reports whether an error says that the name is taken.
func Exist(err error) bool { return errors.Is(err, fs.ErrExist) }
