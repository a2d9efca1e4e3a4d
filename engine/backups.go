package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"time"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/status"
	"varve/engine/vfs"
)

// BackupsDir is the directory of backups in the data directory.
const BackupsDir = "backups"

// Backups makes and drops the backups of a store. It keeps nothing in memory and takes no lock: what backups there are,
// the file system knows. Safe for concurrent use.
type Backups struct {
	*inventory
	door    *door
	flusher *flusher
}

// Backups returns the backups of the store.
func (e *Engine) Backups() *Backups { return e.backups }

// Backup is a consistent copy of all tables: a data directory of its own whose parts are hard links.
type Backup struct {
	Dir           string
	Tables, Parts int
	Rows, Bytes   int64
}

var backupName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// Make flushes all tables and links their parts into a new directory below BackupsDir, while reading and writing
// continue. Rows acknowledged before the call are in the backup; later rows may be. The manifest is written last, so a
// directory without a manifest is not a backup.
func (k *Backups) Make(ctx context.Context, name string) (b Backup, err error) {
	if err := k.door.enterToChange(); err != nil {
		return b, err
	}
	defer k.door.leave()
	b.Dir = path.Join(k.o.Dir, BackupsDir, name)
	if err := checkBackupName(name); err != nil {
		return b, err
	}
	switch _, err := k.o.FS.Stat(path.Join(b.Dir, manifest.FileName)); {
	case err == nil:
		return b, status.New(status.InvalidArguments, "backup '%s' exists already", name)
	case !vfs.NotExist(err):
		return b, storageError(err, "the backup cannot be made")
	}
	defer func() {
		if err == nil {
			return
		}
		if rm := k.remove(name); rm != nil && status.Of(rm) != status.InvalidArguments {
			err = errors.Join(err, rm)
		}
	}()
	for _, r := range k.catalog.Load().inOrder() {
		if err := k.flusher.flush(ctx, r); err != nil {
			return b, err
		}
	}
	to := parts.At(k.o.FS, b.Dir)
	if err := to.Make(); err != nil {
		return b, storageError(err, "the backup cannot be made")
	}
	state, err := k.linkParts(ctx, to)
	if err != nil {
		return b, err
	}
	for _, t := range state.Tables {
		b.Tables++
		for _, p := range t.Parts {
			b.Parts++
			b.Rows, b.Bytes = b.Rows+p.Rows, b.Bytes+p.Bytes
		}
	}
	err = to.Sync()
	for _, dir := range []string{path.Join(k.o.Dir, BackupsDir), k.o.Dir} {
		if err == nil {
			err = k.o.FS.SyncDir(dir)
		}
	}
	if err != nil {
		return b, storageError(err, "the backup cannot be made durable")
	}
	if err := manifest.Write(k.o.FS, b.Dir, state); err != nil {
		return b, err
	}
	k.o.Logger.Info("backup made", "name", name, "tables", b.Tables, "parts", b.Parts, "bytes", b.Bytes)
	return b, nil
}

// Drop removes a backup, or the remains of a backup that failed.
func (k *Backups) Drop(_ context.Context, name string) error {
	if err := k.door.enterToChange(); err != nil {
		return err
	}
	defer k.door.leave()
	return k.remove(name)
}

func checkBackupName(name string) error {
	if !backupName.MatchString(name) {
		return status.New(status.InvalidArguments,
			"a backup's name is made of letters, digits, '_', '-' and '.', found '%s'", name)
	}
	return nil
}

// remove removes the files of a backup, beginning with the manifest: without a manifest the rest is not taken for a
// backup.
func (k *Backups) remove(name string) error {
	if err := checkBackupName(name); err != nil {
		return err
	}
	dir := path.Join(k.o.Dir, BackupsDir, name)
	if _, err := k.o.FS.Stat(dir); vfs.NotExist(err) {
		return status.New(status.InvalidArguments, "there is no backup '%s'", name)
	}
	gone := func(name string) error {
		if err := k.o.FS.Remove(name); err != nil && !vfs.NotExist(err) {
			return err
		}
		return nil
	}
	err := gone(path.Join(dir, manifest.FileName))
	if err == nil {
		err = gone(path.Join(dir, manifest.FileName+vfs.TempSuffix))
	}
	if err == nil {
		err = parts.At(k.o.FS, dir).Destroy()
	}
	if err == nil {
		err = gone(dir)
	}
	if err != nil {
		return storageError(err, "the backup cannot be removed")
	}
	return nil
}

const (
	// SnapshotPrefix and SnapshotTime make the names of backups that are copied elsewhere and removed at once.
	SnapshotPrefix = "snapshot-"
	SnapshotTime   = "20060102-150405.000"
	// snapshotAge is the age from which on a forgotten snapshot is removed.
	snapshotAge = 24 * time.Hour
)

// sweep removes the snapshots whose makers have failed.
func (k *Backups) sweep() {
	names, err := k.o.FS.List(path.Join(k.o.Dir, BackupsDir))
	if err != nil {
		return // there are none
	}
	for _, n := range names {
		made, err := time.Parse(SnapshotPrefix+SnapshotTime, n)
		if err != nil || k.o.Now().Sub(made) < snapshotAge {
			continue
		}
		if err := k.remove(n); err != nil {
			k.o.Logger.Warn("an old snapshot cannot be removed", "name", n, "error", err)
			continue
		}
		k.o.Logger.Info("an old snapshot was removed", "name", n)
	}
}

// linkRounds is how often linking begins anew because a merge replaced parts meanwhile; each round links only what is
// missing.
const linkRounds = 100

// linkParts links the parts of one state of the manifest and gives the state.
func (k *Backups) linkParts(ctx context.Context, to *parts.Local) (*manifest.State, error) {
	linked := map[parts.Entry]bool{}
	for range linkRounds {
		state := k.manifest.State()
		missing := false
		for _, t := range state.Tables {
			for _, p := range t.Parts {
				if err := ctx.Err(); err != nil {
					return nil, status.Wrap(err, status.Cancelled, "the backup was given up: %v", err)
				}
				e := entryOf(p.File, p.Location)
				if linked[e] {
					continue
				}
				switch err := to.Link(k.files.local, e); {
				case vfs.NotExist(err):
					missing = true
				case err != nil && !vfs.Exist(err):
					return nil, storageError(err, "a part cannot be linked")
				default: // linked now, or by an earlier try with this name that was cut short
					linked[e] = true
				}
			}
		}
		if !missing {
			return state, unlinkOthers(state, to)
		}
		if k.manifest.State() == state {
			return nil, status.New(status.StorageUnavailable,
				"a part that the manifest lists is missing: see varve check")
		}
	}
	return nil, status.New(status.RegionBusy, "parts are merged faster than they can be linked, try again")
}

// unlinkOthers removes links of parts that are in no table of the state.
func unlinkOthers(state *manifest.State, links *parts.Local) error {
	listed := map[parts.Entry]bool{}
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			listed[entryOf(p.File, p.Location)] = true
		}
	}
	if err := links.Keep(func(e parts.Entry) bool { return listed[e] }); err != nil {
		return storageError(err, "the backup cannot be tidied")
	}
	return nil
}

func storageError(err error, what string) error {
	return status.Wrap(err, status.StorageUnavailable, "%s: %s", what, vfs.Reason(err))
}

// String says what a backup holds.
func (b Backup) String() string {
	return fmt.Sprintf("%s: %d tables, %d parts, %d rows, %d bytes", b.Dir, b.Tables, b.Parts, b.Rows, b.Bytes)
}
