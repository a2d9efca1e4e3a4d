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
type copyDir struct {
	dir string
	// keepFree is the room on its disk that files of COPY leave: rows, flushes and the manifest may need it.
	keepFree int64
}

// roomStep is how many bytes of a file are written between looks at the free room.
const roomStep = 1 << 20

// room is an error where the disk has no room to spare.
func (d copyDir) room() error {
	if d.keepFree <= 0 {
		return nil
	}
	free, err := vfs.OS().FreeBytes(d.dir)
	if err != nil {
		return status.Wrap(err, status.StorageUnavailable, "the free space of the directory of COPY cannot be read: %s",
			vfs.Reason(err))
	}
	if free < uint64(d.keepFree) {
		return status.New(status.StorageUnavailable,
			"the disk of the directory of COPY is nearly full: %d bytes are free and storage.min_free is %d; make "+
				"room, or set copy.dir to a directory on another disk", free, d.keepFree)
	}
	return nil
}

// partial ends the names of files that are being written.
const partial = ".partial"

// open opens the directory for the file or folder that a statement names; create makes it first. Without one
// configured, COPY is off.
func (d copyDir) open(name string, create bool) (*os.Root, error) {
	if d.dir == "" {
		return nil, status.New(status.PermissionDenied,
			"COPY is turned off: no directory is configured for its files (copy.dir)")
	}
	if create {
		if err := os.MkdirAll(d.dir, 0o750); err != nil {
			return nil, copyError(name, err)
		}
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, copyError(name, err)
	}
	return root, nil
}

// local turns the path of a statement into a name below the directory. A relative path is such a name already; an
// absolute path must lead into the directory. A final slash is cut.
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
	return status.New(status.InvalidArguments,
		"The path '%s' is not below the directory of COPY (copy.dir, else copy in the data directory)", text)
}

// copyError gives the error of a file the code that clients see. Errors that the caller can mend get their own code;
// the others, like a full disk, keep the one that the disk has given.
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
	case errors.Is(err, fs.ErrExist), strings.Contains(err.Error(), "is a directory"),
		strings.Contains(err.Error(), "not a directory"),
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

	room  func() error // asked every roomStep bytes
	since int64        // bytes written since
}

// create begins the file of the name, and the directories above it.
func (d copyDir) create(root *os.Root, name string) (*newFile, error) {
	if err := d.room(); err != nil {
		return nil, err
	}
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
	return &newFile{File: f, root: root, temp: temp, name: name, room: d.room}, nil
}

// Write writes to the file.
func (f *newFile) Write(p []byte) (int, error) {
	if f.since += int64(len(p)); f.since >= roomStep {
		f.since = 0
		if err := f.room(); err != nil {
			return 0, err
		}
	}
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
