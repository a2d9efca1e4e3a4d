package vfs

import (
	"errors"
	"fmt"
	"path"
)

// TempSuffix ends the name of a file that is being written. Such files are swept when the store opens.
const TempSuffix = ".tmp"

// Publish is the one way to a file name: it writes dir/name.tmp, syncs it, renames it to dir/name and syncs dir. When
// it returns nil the file is wholly there after any crash; when it returns an error the name is as before.
func Publish(fs FS, dir, name string, write func(File) error) error {
	tmp := path.Join(dir, name+TempSuffix)
	f, err := fs.Create(tmp)
	if err != nil {
		return fmt.Errorf("publish %s: %w", name, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = fs.Rename(tmp, path.Join(dir, name))
	}
	if err == nil {
		if err = fs.SyncDir(dir); err == nil {
			return nil
		}
		// The rename may or may not survive a crash: take the name away again, so that failure means absent.
		err = errors.Join(err, fs.Remove(path.Join(dir, name)))
		return fmt.Errorf("publish %s: %w", name, err)
	}
	if rm := fs.Remove(tmp); rm != nil && !NotExist(rm) {
		err = errors.Join(err, rm)
	}
	return fmt.Errorf("publish %s: %w", name, err)
}
