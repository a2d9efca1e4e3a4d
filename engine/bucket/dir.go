package bucket

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"varve/engine/vfs"
)

// tempPrefix begins the names of files that are being written; objects' names do not begin with a dot.
const tempPrefix = ".put-"

// dir is a bucket in a directory: an object is a file, slashes are directories. A file appears by a hard link, which
// never overwrites. Calls look at their context between reads and writes; a file system that hangs holds them.
//
// The first Put makes the directory. One that was there and is gone is not made again: its file system was taken away,
// and what was written in its place would be lost when it comes back.
type dir struct {
	place
	o    Options
	fs   vfs.FS
	seen atomic.Bool // the directory has been there
}

func openDir(p place, o Options) Bucket { return &dir{place: p, o: o, fs: o.FS} }

// errAway is wrapped by the error for a directory that is not there.
var errAway = errors.New("the directory is not there")

// root makes sure that the directory is there; create makes one that never was.
func (d *dir) root(create bool) error {
	_, err := d.fs.Stat(d.dir)
	if absent(err) {
		err = errAway
		if create && !d.seen.Load() {
			err = d.fs.MkdirAll(d.dir)
		}
	}
	if err == nil {
		d.seen.Store(true)
	}
	return err
}

// absent reports an error that says that there is no such file, or none that could be a directory of it.
func absent(err error) bool { return vfs.NotExist(err) || errors.Is(err, syscall.ENOTDIR) }

func (d *dir) path(name string) string { return path.Join(d.dir, name) }

// do calls once, counts it and makes its error say what was being done.
func (d *dir) do(ctx context.Context, k Kind, name string, bytes int64, once func() error) error {
	began := time.Now()
	err := checkName(name)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = d.root(k == Puts)
	}
	if err == nil {
		err = once()
	}
	if err != nil {
		bytes = 0
	}
	d.o.Counters.add(k, bytes, time.Since(began), err != nil && !isAnswer(err))
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", d, k, shorten(name), err)
	}
	return nil
}

// Put writes a file of another name, syncs it and links it.
func (d *dir) Put(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	return d.do(ctx, Puts, name, size, func() error {
		if size < 0 {
			return fmt.Errorf("%d bytes", size)
		}
		switch info, err := d.fs.Stat(d.path(name)); {
		case err == nil && info.IsDir():
			return errors.New("names of other objects go on behind it")
		case err == nil:
			return ErrExists
		case !absent(err):
			return err
		}
		if err := d.makeDir(path.Dir(name)); err != nil {
			return err
		}
		at := path.Dir(d.path(name))
		temp := path.Join(at, tempPrefix+rand.Text())
		err := d.write(ctx, temp, body, size)
		if err == nil {
			err = d.fs.Link(temp, d.path(name))
		}
		if vfs.Exist(err) {
			err = ErrExists
		}
		if rm := d.fs.Remove(temp); rm != nil && !vfs.NotExist(rm) {
			err = errors.Join(err, rm)
		}
		if err != nil {
			return err
		}
		return d.fs.SyncDir(at)
	})
}

// makeDir makes a directory below the bucket's, durably.
func (d *dir) makeDir(name string) error {
	if name == "." {
		return nil
	}
	switch info, err := d.fs.Stat(d.path(name)); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s is an object, so that no name goes on behind it", name)
	case !absent(err):
		return err
	}
	if err := d.makeDir(path.Dir(name)); err != nil {
		return err
	}
	if err := d.fs.MkdirAll(d.path(name)); err != nil {
		return err
	}
	return d.fs.SyncDir(path.Dir(d.path(name)))
}

// write makes a file that is durable.
func (d *dir) write(ctx context.Context, name string, body io.ReaderAt, size int64) error {
	f, err := d.fs.CreateNew(name)
	if err != nil {
		return err
	}
	buf := make([]byte, min(sumBytes, size))
	for off := int64(0); off < size && err == nil; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-off)]
		if err = context.Cause(ctx); err != nil {
			break
		}
		if n, failed := body.ReadAt(buf, off); n < len(buf) {
			err = fmt.Errorf("%w: %w", ErrSource, failed)
			break
		}
		_, err = f.Write(buf)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Read reads a part of a file.
func (d *dir) Read(ctx context.Context, name string, p []byte, off int64) error {
	return d.do(ctx, Reads, name, int64(len(p)), func() error {
		if err := checkRead(name, p, off); err != nil || len(p) == 0 {
			return err
		}
		if _, err := d.stat(name); err != nil {
			return err
		}
		f, err := d.fs.Open(d.path(name))
		if vfs.NotExist(err) {
			return ErrNotFound
		}
		if err != nil {
			return err
		}
		n, err := f.ReadAt(p, off)
		if n == len(p) {
			err = nil
		} else if errors.Is(err, io.EOF) {
			err = fmt.Errorf("bytes %d to %d: %w", off, off+int64(len(p))-1, ErrShort)
		}
		return errors.Join(err, f.Close())
	})
}

// Stat looks at a file.
func (d *dir) Stat(ctx context.Context, name string) (o Object, err error) {
	err = d.do(ctx, Stats, name, 0, func() (err error) {
		o, err = d.stat(name)
		return err
	})
	if err != nil {
		return Object{}, err
	}
	return o, nil
}

func (d *dir) stat(name string) (Object, error) {
	info, err := d.fs.Stat(d.path(name))
	if absent(err) || err == nil && info.IsDir() {
		return Object{}, ErrNotFound
	}
	if err != nil {
		return Object{}, err
	}
	return Object{name, info.Size(), info.ModTime()}, nil
}

// List walks the directories that may hold such names.
func (d *dir) List(ctx context.Context, prefix string, each func(Object) error) error {
	began := time.Now()
	err := checkPrefix(prefix)
	if err == nil {
		if err = d.root(false); errors.Is(err, errAway) && !d.seen.Load() {
			return nil // no Put has made it
		}
	}
	var inner error // of each
	if err == nil {
		at := ""
		if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
			at = prefix[:i+1]
		}
		err = d.walk(ctx, at, prefix, func(o Object) error {
			inner = each(o)
			return inner
		})
	}
	if inner != nil {
		return inner
	}
	d.o.Counters.add(Lists, 0, time.Since(began), err != nil)
	if err != nil {
		return fmt.Errorf("%s: list %s: %w", d, shorten(prefix), err)
	}
	return nil
}

// walk lists the objects below a directory, which is empty or ends in a slash.
func (d *dir) walk(ctx context.Context, at, prefix string, each func(Object) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	names, err := d.fs.List(d.path(at))
	if vfs.NotExist(err) {
		return nil // no name begins so, or its last object has just been removed
	}
	if err != nil {
		return err
	}
	for i, name := range names {
		names[i] = at + name
		if badName(names[i]) != "" {
			names[i] = ""
			continue
		}
		info, err := d.fs.Stat(d.path(names[i]))
		if err != nil && !vfs.NotExist(err) {
			return err
		}
		if err == nil && info.IsDir() {
			names[i] += "/" // which is how names behind it are ordered
		}
	}
	slices.Sort(names)
	for _, name := range names {
		switch {
		case name == "":
		case strings.HasSuffix(name, "/"):
			if strings.HasPrefix(name, prefix) || strings.HasPrefix(prefix, name) {
				if err := d.walk(ctx, name, prefix, each); err != nil {
					return err
				}
			}
		case strings.HasPrefix(name, prefix):
			o, err := d.stat(name)
			if errors.Is(err, ErrNotFound) {
				continue // removed meanwhile
			}
			if err == nil {
				err = each(o)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes a file. Its directory stays.
func (d *dir) Remove(ctx context.Context, name string) error {
	return d.do(ctx, Removes, name, 0, func() error {
		if _, err := d.stat(name); errors.Is(err, ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		if err := d.fs.Remove(d.path(name)); err != nil && !vfs.NotExist(err) {
			return err
		}
		return d.fs.SyncDir(path.Dir(d.path(name)))
	})
}
