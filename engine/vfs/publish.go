package vfs

import (
	"errors"
	"fmt"
	"path"
)

// TempSuffix ends the name of a file that is being written. Such files are swept when the store opens.
const TempSuffix = ".tmp"

// Publish is the only way to create a file name: it writes dir/name.tmp, syncs it, renames it to dir/name and syncs
// dir. When it returns nil, the file is complete after any crash. When it returns an error, the name holds its earlier
// content or, if only the last step failed, the new content; never a part of it.
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
	if err = errors.Join(err, f.Close()); err == nil {
		err = fs.Rename(tmp, path.Join(dir, name))
	}
	if err != nil {
		if rm := fs.Remove(tmp); rm != nil && !NotExist(rm) {
			err = errors.Join(err, rm)
		}
		return fmt.Errorf("publish %s: %w", name, err)
	}
	if err := fs.SyncDir(dir); err != nil {
		return fmt.Errorf("publish %s: %w", name, err)
	}
	return nil
}
