package wal

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"varve/engine/vfs"
)

// storeFile names the store whose log a directory holds. A directory without it, as earlier programs left them, is
// taken by the store that opens it next.
const storeFile = "STORE"

// maxStoreFile is more than a name has bytes.
const maxStoreFile = 256

// ErrOtherStore is wrapped by the error of Open if the directory holds the log of another store.
var ErrOtherStore = errors.New("it holds the log of another store")

// Store is the name of the store whose log a directory holds; empty if there is no name, or if it does not match its
// checksum.
func Store(fs vfs.FS, dir string) (string, error) {
	f, err := fs.Open(path.Join(dir, storeFile))
	if vfs.NotExist(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("log directory: %w", err)
	}
	var b [maxStoreFile]byte
	n, err := f.ReadAt(b[:], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	name, sum, ok := strings.Cut(strings.TrimSuffix(string(b[:n]), "\n"), " ")
	if !ok || sum != sumOf(name) {
		return "", nil
	}
	return name, nil
}

// sumOf is the checksum of a name as text.
func sumOf(name string) string { return fmt.Sprintf("%08x", Checksum([]byte(name))) }

// claim makes sure that the directory is of the store. Where its name cannot be written, as on a full disk, the next
// start tries again.
func claim(fs vfs.FS, dir string, o Options) error {
	if o.Store == "" {
		return nil
	}
	switch is, err := Store(fs, dir); {
	case err != nil:
		return err
	case is == o.Store:
		return nil
	case is != "":
		return fmt.Errorf(
			"the directory of the log, %s, cannot be used: %w. Its file %s says %s, this data directory is %s; "+
				"nothing was changed. "+
				"Give each server a directory of its own (wal.dir). Where that store is gone for good, remove the "+
				"files of %s", dir, ErrOtherStore, storeFile, is, o.Store, dir)
	}
	err := vfs.Publish(fs, dir, storeFile, func(f vfs.File) error {
		_, err := fmt.Fprintf(f, "%s %s\n", o.Store, sumOf(o.Store))
		return err
	})
	if err != nil && !vfs.IsReadOnly(err) {
		o.Logger.Warn("the name of the store cannot be written beside its log", "error", err)
	}
	return nil
}
