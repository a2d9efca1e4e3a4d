package engine

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
)

// RestoringName is the file that marks a data directory while Restore makes it. The manifest is written last: with this
// file and no manifest the directory lacks parts, and unfinished refuses it. With a manifest the file means nothing;
// the restore or the next start removes it.
const RestoringName = "RESTORING"

const restoringText = "varve restore makes a data directory here. If there is no MANIFEST beside this file and no restore " +
	"is running,\nthe restore was cut short: run it once more, or remove the directory.\n"

// Restore makes a data directory of a state and of the parts of a backup that the state lists. The directory must be
// new, empty, or left by an earlier Restore that was cut short. After a crash it is whole, or as it was before, or Open
// refuses it.
func Restore(fs vfs.FS, backup, dir string, state *manifest.State) (err error) {
	lock, err := beginRestore(fs, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	from, to := parts.At(fs, backup), parts.At(fs, dir)
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			if err := to.Copy(from, entryOf(p.File, p.Location)); err != nil {
				return err
			}
		}
	}
	return endRestore(fs, dir, manifest.OfCopy(state))
}

// beginRestore marks a data directory as one that is being made, and locks it.
func beginRestore(fs vfs.FS, dir string) (lock io.Closer, err error) {
	if err := fs.MkdirAll(dir); err != nil {
		return nil, err
	}
	lock, err = fs.Lock(path.Join(dir, "LOCK"))
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("%s is in use by a server, or by another restore: %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	if err = clearUnfinished(fs, dir); err == nil {
		err = vfs.Publish(fs, dir, RestoringName, func(f vfs.File) error {
			_, err := io.WriteString(f, restoringText)
			return err
		})
	}
	if err == nil {
		err = parts.At(fs, dir).Make()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// endRestore makes all that was restored durable, and then the manifest.
func endRestore(fs vfs.FS, dir string, state *manifest.State) error {
	// The directory of the parts is synced even if no part was copied: some may have been removed.
	if err := parts.At(fs, dir).Sync(); err != nil {
		return err
	}
	for _, d := range []string{dir, path.Dir(path.Clean(dir))} {
		if err := fs.SyncDir(d); err != nil {
			return err
		}
	}
	if err := manifest.Replace(fs, dir, state); err != nil {
		return err
	}
	if err := fs.Remove(path.Join(dir, RestoringName)); err != nil {
		return err
	}
	return fs.SyncDir(dir)
}

// clearUnfinished removes the parts that a restore left which was cut short. Any other file in the directory is an
// error.
func clearUnfinished(fs vfs.FS, dir string) error {
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	begun := slices.Contains(names, RestoringName)
	for _, n := range names {
		switch {
		case n == "LOCK" || n == RestoringName || n == RestoringName+vfs.TempSuffix:
		case begun && (n == parts.DirName || n == manifest.FileName+vfs.TempSuffix):
		case begun && (n == EpochsName || n == EpochsName+vfs.TempSuffix): // its ids may be in the bucket
		default:
			return fmt.Errorf("%s is not empty: it holds %s", dir, n)
		}
	}
	if !begun {
		return nil
	}
	return parts.At(fs, dir).Clear()
}

// RequireStore is an error if a directory has no manifest; the error says so if a restore was cut short.
func RequireStore(fs vfs.FS, dir string) error {
	if err := unfinished(fs, dir); err != nil {
		return err
	}
	if _, err := fs.Stat(path.Join(dir, manifest.FileName)); err != nil {
		return fmt.Errorf("%s is not a data directory: %w", dir, err)
	}
	return nil
}

// unfinished refuses a directory in which a restore was cut short.
func unfinished(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(path.Join(dir, manifest.FileName)); !vfs.NotExist(err) {
		return nil // reading the manifest reports other errors
	}
	if _, err := fs.Stat(path.Join(dir, RestoringName)); err != nil {
		return nil
	}
	return fmt.Errorf("%s is not whole: a restore into it is under way, or was cut short. "+
		"Run varve restore with this --data once more, or remove the directory", dir)
}
