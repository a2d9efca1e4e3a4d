package sqlexec

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"varve/engine/status"
	"varve/engine/vfs"
)

// copyDir is the one directory that COPY reads and writes below. Nothing outside can be reached: names are checked, and
// every file is opened through os.Root, which follows no link that leads out.
type copyDir struct{ dir string }

// partial ends the names of files that are being written.
const partial = ".partial"

// open opens the directory; create makes it first. Without one configured, COPY is off.
func (d copyDir) open(create bool) (*os.Root, error) {
	if d.dir == "" {
		return nil, status.New(status.PermissionDenied, "COPY is turned off: no directory is configured for its files (copy.dir)")
	}
	if create {
		if err := os.MkdirAll(d.dir, 0o750); err != nil {
			return nil, copyError("", err)
		}
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, copyError("", err)
	}
	return root, nil
}

// local is a path of a statement as a name below the directory: relative ones as they are, absolute ones where they lead
// there. A final slash is cut.
func (d copyDir) local(text string) (string, error) {
	name := text
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		if !strings.EqualFold(scheme, "file") {
			return "", status.New(status.Unsupported, "COPY reads and writes local files, not %s://", scheme)
		}
		plain, err := url.PathUnescape(rest)
		if err != nil {
			return "", status.New(status.InvalidArguments, "Invalid path of COPY: '%s'", text)
		}
		name = plain
	}
	if filepath.IsAbs(name) {
		base, err := filepath.Abs(d.dir)
		if err != nil {
			return "", fmt.Errorf("directory of COPY: %w", err)
		}
		rel, err := filepath.Rel(base, name)
		if err != nil || d.dir == "" {
			return "", outside(text)
		}
		name = rel
	}
	if strings.ContainsRune(name, 0) || name == "" {
		return "", status.New(status.InvalidArguments, "Invalid path of COPY: '%s'", text)
	}
	if slices.Contains(strings.Split(filepath.ToSlash(name), "/"), "..") || !filepath.IsLocal(name) {
		return "", outside(text)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

func outside(text string) error {
	return status.New(status.InvalidArguments, "The path '%s' is not below the directory of COPY (copy.dir, else copy in the data directory)", text)
}

// copyError sets the codes of errors of files that clients see: what the caller can mend, else what the disk says, that it is full say.
func copyError(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes") {
		return status.Wrap(err, status.InvalidArguments, "The path '%s' leads out of the directory of COPY", name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return status.Wrap(err, status.InvalidArguments, "File not found in the directory of COPY: '%s'", name)
	case errors.Is(err, fs.ErrPermission):
		return status.Wrap(err, status.PermissionDenied, "The file '%s' of COPY may not be opened", name)
	case errors.Is(err, fs.ErrExist), strings.Contains(err.Error(), "is a directory"), strings.Contains(err.Error(), "not a directory"),
		strings.Contains(err.Error(), "name too long"):
		return status.Wrap(err, status.InvalidArguments, "COPY cannot use the path '%s'", name)
	}
	return status.Wrap(err, status.StorageUnavailable, "the file '%s' of COPY: %s", name, vfs.Reason(err))
}

// newFile is a file that nobody sees under its name before commit.
type newFile struct {
	*os.File
	root *os.Root
	temp string
	name string
}

// create begins the file of the name, and the directories above it.
func create(root *os.Root, name string) (*newFile, error) {
	dir, _ := path.Split(name)
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return nil, status.New(status.InvalidArguments, "The path '%s' of COPY is a directory", name)
	}
	if dir != "" {
		if err := root.MkdirAll(path.Clean(dir), 0o750); err != nil {
			return nil, copyError(name, err)
		}
	}
	temp := dir + "." + rand.Text()[:12] + partial
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o640)
	if err != nil {
		return nil, copyError(name, err)
	}
	return &newFile{File: f, root: root, temp: temp, name: name}, nil
}

// Write writes to the file.
func (f *newFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	if err != nil {
		err = copyError(f.name, err)
	}
	return n, err
}

// commit makes the file durable and gives it its name; a file that had it is replaced.
func (f *newFile) commit() error {
	if err := f.Sync(); err != nil {
		return errors.Join(copyError(f.name, err), f.abort())
	}
	if err := f.Close(); err != nil {
		return errors.Join(copyError(f.name, err), f.root.Remove(f.temp))
	}
	if err := f.root.Rename(f.temp, f.name); err != nil {
		return errors.Join(copyError(f.name, err), f.root.Remove(f.temp))
	}
	dir, err := f.root.Open(path.Dir(f.name))
	if err != nil {
		return copyError(f.name, err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return copyError(f.name, err)
	}
	return nil
}

// abort removes what was written.
func (f *newFile) abort() error { return errors.Join(f.Close(), f.root.Remove(f.temp)) }

// openFile opens a plain file for reading.
func openFile(root *os.Root, name string) (*os.File, int64, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, 0, copyError(name, err)
	}
	if !info.Mode().IsRegular() { // a pipe would wait for ever
		return nil, 0, status.New(status.InvalidArguments, "'%s' is not a plain file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, 0, copyError(name, err)
	}
	return f, info.Size(), nil
}

// files lists the plain files of a directory by name; those that are being written are not there.
func files(root *os.Root, dir string) ([]string, error) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, copyError(dir, err)
	}
	entries, err := d.ReadDir(-1)
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, copyError(dir, err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasSuffix(e.Name(), partial) {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	slices.Sort(names)
	return names, nil
}
