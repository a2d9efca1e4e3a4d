package vfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
)

// overlayFS shows a directory that is never written to: changes go to another directory, whose files hide those of
// the first.
type overlayFS struct {
	FS           // of both directories
	lower, upper string

	mu   sync.Mutex
	gone map[string]bool // names below lower that were removed or renamed
}

// Overlay is the operating system's file system with one directory, lower, that seems writable but is never changed:
// changes below it go to the empty directory upper. Files that change in part are copied as a whole. The lock of a file
// below lower is shared: readers do not disturb each other, and a server neither starts nor continues meanwhile.
func Overlay(lower, upper string) FS {
	return &overlayFS{FS: OS(), lower: path.Clean(lower), upper: path.Clean(upper), gone: map[string]bool{}}
}

// over is where changes of a name go; below is false for names elsewhere.
func (o *overlayFS) over(name string) (upper string, below bool) {
	name = path.Clean(name)
	if name == o.lower {
		return o.upper, true
	}
	rest, below := strings.CutPrefix(name, o.lower+"/")
	return path.Join(o.upper, rest), below
}

// find is where a name is read from.
func (o *overlayFS) find(name string) (string, error) {
	upper, below := o.over(name)
	if !below {
		return name, nil
	}
	if _, err := os.Lstat(upper); err == nil {
		return upper, nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.gone[path.Clean(name)] {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return name, nil
}

// make prepares a name for being written; what is there already is copied if keep says so.
func (o *overlayFS) make(name string, keep bool) (upper string, err error) {
	upper, below := o.over(name)
	if !below {
		return "", &fs.PathError{Op: "write", Path: name, Err: fs.ErrPermission}
	}
	if err := o.FS.MkdirAll(path.Dir(upper)); err != nil {
		return "", err
	}
	from, err := o.find(name)
	if !keep || from == upper || NotExist(err) {
		return upper, nil
	}
	if err != nil {
		return "", err
	}
	if err := copyFile(from, upper); err != nil && !NotExist(err) {
		return "", err
	}
	return upper, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, FileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func (o *overlayFS) Create(name string) (File, error) {
	upper, err := o.make(name, false)
	if err != nil {
		return nil, err
	}
	return o.FS.Create(upper)
}

func (o *overlayFS) CreateNew(name string) (File, error) {
	if _, err := o.Stat(name); err == nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	} else if !NotExist(err) {
		return nil, err
	}
	return o.Create(name)
}

func (o *overlayFS) OpenAppend(name string) (File, error) {
	upper, err := o.make(name, true)
	if err != nil {
		return nil, err
	}
	return o.FS.OpenAppend(upper)
}

func (o *overlayFS) Open(name string) (File, error) {
	found, err := o.find(name)
	if err != nil {
		return nil, err
	}
	return o.FS.Open(found)
}

func (o *overlayFS) Map(name string) (Mapping, error) {
	found, err := o.find(name)
	if err != nil {
		return nil, err
	}
	return o.FS.Map(found)
}

func (o *overlayFS) Stat(name string) (os.FileInfo, error) {
	found, err := o.find(name)
	if err != nil {
		return nil, err
	}
	return o.FS.Stat(found)
}

func (o *overlayFS) Rename(from, to string) error {
	if _, err := o.Stat(from); err != nil {
		return err
	}
	source, err := o.make(from, true)
	if err != nil {
		return err
	}
	target, err := o.make(to, false)
	if err == nil {
		err = o.FS.Rename(source, target)
	}
	if err == nil {
		o.hide(from)
	}
	return err
}

// hide keeps a name of the lower directory from being found.
func (o *overlayFS) hide(name string) {
	o.mu.Lock()
	o.gone[path.Clean(name)] = true
	o.mu.Unlock()
}

func (o *overlayFS) Remove(name string) error {
	found, err := o.find(name)
	if err != nil {
		return err
	}
	upper, below := o.over(name)
	switch {
	case !below:
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrPermission}
	case found == upper:
		err = o.FS.Remove(upper)
	default:
		_, err = o.FS.Stat(found)
	}
	if err == nil {
		o.hide(name)
	}
	return err
}

func (o *overlayFS) Link(from, to string) error {
	found, err := o.find(from)
	if err != nil {
		return err
	}
	if _, err := o.Stat(to); err == nil {
		return &fs.PathError{Op: "link", Path: to, Err: fs.ErrExist}
	}
	target, err := o.make(to, false)
	if err != nil {
		return err
	}
	return copyFile(found, target)
}

func (o *overlayFS) MkdirAll(dir string) error {
	upper, below := o.over(dir)
	if !below {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrPermission}
	}
	return o.FS.MkdirAll(upper)
}

func (o *overlayFS) List(dir string) ([]string, error) {
	upper, below := o.over(dir)
	if !below {
		return o.FS.List(dir)
	}
	names, err := o.FS.List(dir)
	o.mu.Lock()
	names = slices.DeleteFunc(names, func(n string) bool { return o.gone[path.Join(path.Clean(dir), n)] })
	o.mu.Unlock()
	more, moreErr := o.FS.List(upper)
	switch { // a directory may be in one of both
	case err != nil && (moreErr != nil || !NotExist(err)):
		return nil, err
	case moreErr != nil && !NotExist(moreErr):
		return nil, moreErr
	}
	names = append(names, more...)
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (o *overlayFS) SyncDir(string) error { return nil }

func (o *overlayFS) FreeBytes(string) (uint64, error) { return o.FS.FreeBytes(o.upper) }

func (o *overlayFS) Writable(string) error { return o.FS.Writable(path.Dir(o.upper)) }

func (o *overlayFS) Lock(name string) (io.Closer, error) { return o.LockShared(name) }
