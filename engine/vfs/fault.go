package vfs

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
)

// Op names a call of FS or File, for faults and counts.
type Op string

// The calls that change something or read from disk.
const (
	OpCreate  Op = "create"
	OpOpen    Op = "open"
	OpMap     Op = "map"
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
	OpLink    Op = "link"
	OpMkdir   Op = "mkdir"
	OpList    Op = "list"
	OpStat    Op = "stat"
	OpSyncDir Op = "syncdir"
	OpWrite   Op = "write"
	OpRead    Op = "read"
	OpSync    Op = "sync"
	OpFree    Op = "free"
)

// WithFaults returns fs with before called ahead of every operation: an error that it returns is the operation's result
// and the operation does not happen. before may be called by many goroutines.
func WithFaults(fs FS, before func(op Op, name string) error) FS { return faultFS{fs, before} }

type faultFS struct {
	fs     FS
	before func(Op, string) error
}

func (f faultFS) file(op Op, name string, open func(string) (File, error)) (File, error) {
	if err := f.before(op, name); err != nil {
		return nil, err
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	return faultFile{file, name, f.before}, nil
}

func (f faultFS) Create(n string) (File, error)     { return f.file(OpCreate, n, f.fs.Create) }
func (f faultFS) CreateNew(n string) (File, error)  { return f.file(OpCreate, n, f.fs.CreateNew) }
func (f faultFS) OpenAppend(n string) (File, error) { return f.file(OpCreate, n, f.fs.OpenAppend) }
func (f faultFS) Open(n string) (File, error)       { return f.file(OpOpen, n, f.fs.Open) }

func (f faultFS) Map(n string) (Mapping, error) {
	if err := f.before(OpMap, n); err != nil {
		return nil, err
	}
	return f.fs.Map(n)
}

func (f faultFS) Rename(from, to string) error {
	if err := f.before(OpRename, to); err != nil {
		return err
	}
	return f.fs.Rename(from, to)
}

func (f faultFS) Remove(n string) error {
	if err := f.before(OpRemove, n); err != nil {
		return err
	}
	return f.fs.Remove(n)
}

func (f faultFS) Link(from, to string) error {
	if err := f.before(OpLink, to); err != nil {
		return err
	}
	return f.fs.Link(from, to)
}

func (f faultFS) MkdirAll(n string) error {
	if err := f.before(OpMkdir, n); err != nil {
		return err
	}
	return f.fs.MkdirAll(n)
}

func (f faultFS) List(n string) ([]string, error) {
	if err := f.before(OpList, n); err != nil {
		return nil, err
	}
	return f.fs.List(n)
}

func (f faultFS) Stat(n string) (os.FileInfo, error) {
	if err := f.before(OpStat, n); err != nil {
		return nil, err
	}
	return f.fs.Stat(n)
}

func (f faultFS) SyncDir(n string) error {
	if err := f.before(OpSyncDir, n); err != nil {
		return err
	}
	return f.fs.SyncDir(n)
}

func (f faultFS) Lock(n string) (io.Closer, error)       { return f.fs.Lock(n) }
func (f faultFS) LockShared(n string) (io.Closer, error) { return f.fs.LockShared(n) }

func (f faultFS) FreeBytes(n string) (uint64, error) {
	if err := f.before(OpFree, n); err != nil {
		return 0, err
	}
	return f.fs.FreeBytes(n)
}

func (f faultFS) Writable(n string) error { return f.fs.Writable(n) }

type faultFile struct {
	File
	name   string
	before func(Op, string) error
}

func (f faultFile) Write(p []byte) (int, error) {
	if err := f.before(OpWrite, f.name); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f faultFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.before(OpRead, f.name); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f faultFile) Truncate(size int64) error {
	if err := f.before(OpWrite, f.name); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f faultFile) Sync() error {
	if err := f.before(OpSync, f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// Fault makes one operation fail, or one and all later ones, and counts operations. Its method Before is passed to
// WithFaults. Safe for concurrent use.
type Fault struct {
	ops     []Op
	err     error
	forever bool
	left    atomic.Int64
	count   atomic.Int64
}

// FailAt makes the n'th operation (from 1) among ops fail with err, and all later ones too when forever is set. Without
// ops every operation counts; n 0 fails none and only counts.
func FailAt(n int, forever bool, err error, ops ...Op) *Fault {
	f := &Fault{ops: ops, err: err, forever: forever}
	f.left.Store(int64(n))
	return f
}

// Arm makes the n'th operation from now fail; 0 mends the disk.
func (f *Fault) Arm(n int) { f.left.Store(int64(n)) }

// Count is the number of operations seen, failed ones included.
func (f *Fault) Count() int { return int(f.count.Load()) }

// Before is called ahead of an operation.
func (f *Fault) Before(op Op, name string) error {
	if len(f.ops) > 0 && !slices.Contains(f.ops, op) {
		return nil
	}
	f.count.Add(1)
	for {
		left := f.left.Load()
		switch {
		case left == 0 || left < 0 && !f.forever:
			return nil
		case left < 0:
			return &os.PathError{Op: string(op), Path: name, Err: f.err}
		case left > 1:
			if f.left.CompareAndSwap(left, left-1) {
				return nil
			}
		default:
			if f.left.CompareAndSwap(1, -1) {
				return &os.PathError{Op: string(op), Path: name, Err: f.err}
			}
		}
	}
}

// ErrNoSpace is what a full disk gives.
var ErrNoSpace error = syscall.ENOSPC

// IsNoSpace reports whether an operation failed because the disk or the user's share of it is full.
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
