// Package vfs is the file system of the store: a few calls, each of which a test can let fail or cut short. os.go is
// the real file system, mem.go one in memory that can crash, and fault.go wraps either to inject errors.
package vfs

import (
	"errors"
	"io"
	"os"
)

// FS is a file system. Names are slash-separated paths. Safe for concurrent use.
type FS interface {
	// Create makes or truncates a file for writing.
	Create(name string) (File, error)
	// CreateNew makes a file for writing; an error, see Exist, where the name is taken.
	CreateNew(name string) (File, error)
	// OpenAppend opens an existing file for writing at its end, or makes it.
	OpenAppend(name string) (File, error)
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Map returns the whole file read-only. Unmap when no reader is left.
	Map(name string) (Mapping, error)
	Rename(from, to string) error
	Remove(name string) error
	// Link makes a hard link; a file system without links copies and syncs.
	Link(from, to string) error
	MkdirAll(dir string) error
	// List returns the names in dir, sorted, without path.
	List(dir string) ([]string, error)
	Stat(name string) (os.FileInfo, error)
	// SyncDir makes creations, renames and removals in dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive advisory lock of a file, making it if absent; Close releases it. A lock held by
	// another process (or by this one) is an error that says so.
	Lock(name string) (io.Closer, error)
	// LockShared takes the shared lock of a file. Others may share it; it excludes Lock. It creates no file: if the
	// file is absent, it locks nothing.
	LockShared(name string) (io.Closer, error)
	// FreeBytes is the room left for this user on the device that holds dir.
	FreeBytes(dir string) (uint64, error)
	// Writable says why this user cannot make files in dir: it may not, or the file system is read-only.
	Writable(dir string) error
}

// File is an open file. One goroutine at a time, except ReadAt.
type File interface {
	io.Writer
	io.ReaderAt
	io.Closer
	// Sync makes what was written durable. After an error the file must not be trusted or synced again.
	Sync() error
	// Truncate cuts the file to a size; nothing is written after that size any more.
	Truncate(size int64) error
	// Forget advises that a synced range is not read soon: its memory may serve other pages. Offsets are in bytes.
	Forget(off, n int64)
	Size() (int64, error)
}

// Mapping is a file's content in memory, read-only.
type Mapping interface {
	Bytes() []byte
	// WillNeed advises that the range is read soon. Offsets are clipped.
	WillNeed(off, n int64)
	// Release takes the file's pages out of the process's memory. Whoever reads on finds them in the kernel's cache.
	Release()
	Unmap() error
}

// ErrLocked is wrapped by the error of Lock for a lock that somebody holds.
var ErrLocked = errors.New("locked")

// Reason is the cause of an error in words that a client may read: the operating system's own text, without names of
// directories, which only the log has.
func Reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Op + ": " + p.Err.Error()
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Op + ": " + l.Err.Error()
	}
	return err.Error()
}
