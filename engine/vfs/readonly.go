package vfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// ErrReadOnly is the error of changes on a read-only file system.
var ErrReadOnly error = syscall.EROFS

// IsReadOnly reports whether an operation failed because the file system is read-only.
func IsReadOnly(err error) bool { return errors.Is(err, ErrReadOnly) }

// ReadOnly refuses every change of a file system, as a read-only mount does. Its locks are shared: several readers may
// hold one, and it keeps writers out.
func ReadOnly(under FS) FS { return readOnlyFS{under} }

type readOnlyFS struct{ FS }

func refuse(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: ErrReadOnly} }

func (readOnlyFS) Create(name string) (File, error)     { return nil, refuse("create", name) }
func (readOnlyFS) CreateNew(name string) (File, error)  { return nil, refuse("create", name) }
func (readOnlyFS) OpenAppend(name string) (File, error) { return nil, refuse("open", name) }
func (readOnlyFS) Rename(_, to string) error            { return refuse("rename", to) }
func (readOnlyFS) Remove(name string) error             { return refuse("remove", name) }
func (readOnlyFS) Link(_, to string) error              { return refuse("link", to) }
func (readOnlyFS) SyncDir(dir string) error             { return refuse("sync", dir) }
func (readOnlyFS) Writable(dir string) error            { return refuse("write", dir) }

// MkdirAll makes nothing: the first use of the directory tells whether it exists.
func (readOnlyFS) MkdirAll(string) error { return nil }

// Lock is LockShared.
func (r readOnlyFS) Lock(name string) (io.Closer, error) { return r.LockShared(name) }
