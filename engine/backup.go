package engine

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"time"

	"varve/engine/manifest"
	"varve/engine/status"
	"varve/engine/vfs"
)

// BackupsDir is the directory of backups in the data directory.
const BackupsDir = "backups"

// Backup is a consistent copy of all tables: a data directory of its own whose parts are hard links.
type Backup struct {
	Dir           string
	Tables, Parts int
	Rows, Bytes   int64
}

var backupName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)

// Backup flushes all tables and links their parts into a new directory below BackupsDir, while reading and writing
// continue. Rows acknowledged before the call are in the backup; later rows may be. The manifest is written last, so a
// directory without a manifest is not a backup.
func (e *Engine) Backup(ctx context.Context, name string) (b Backup, err error) {
	if err := e.door.enterToChange(); err != nil {
		return b, err
	}
	defer e.door.leave()
	b.Dir = path.Join(e.o.Dir, BackupsDir, name)
	if err := checkBackupName(name); err != nil {
		return b, err
	}
	switch _, err := e.o.FS.Stat(path.Join(b.Dir, manifest.FileName)); {
	case err == nil:
		return b, status.New(status.InvalidArguments, "backup '%s' exists already", name)
	case !vfs.NotExist(err):
		return b, storageError(err, "the backup cannot be made")
	}
	defer func() {
		if err == nil {
			return
		}
		if rm := e.dropBackup(name); rm != nil && status.Of(rm) != status.InvalidArguments {
			err = errors.Join(err, rm)
		}
	}()
	for _, r := range e.catalog.Load().inOrder() {
		if err := e.flusher.flush(ctx, r); err != nil {
			return b, err
		}
	}
	parts := path.Join(b.Dir, partsDir)
	if err := e.o.FS.MkdirAll(parts); err != nil {
		return b, storageError(err, "the backup cannot be made")
	}
	state, err := e.linkParts(ctx, parts)
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
	for _, dir := range []string{parts, path.Join(e.o.Dir, BackupsDir), e.o.Dir} {
		if err := e.o.FS.SyncDir(dir); err != nil {
			return b, storageError(err, "the backup cannot be made durable")
		}
	}
	if err := manifest.Write(e.o.FS, b.Dir, state); err != nil {
		return b, err
	}
	e.o.Logger.Info("backup made", "name", name, "tables", b.Tables, "parts", b.Parts, "bytes", b.Bytes)
	return b, nil
}

// DropBackup removes a backup, or the remains of a backup that failed.
func (e *Engine) DropBackup(_ context.Context, name string) error {
	if err := e.door.enterToChange(); err != nil {
		return err
	}
	defer e.door.leave()
	return e.dropBackup(name)
}

func checkBackupName(name string) error {
	if !backupName.MatchString(name) {
		return status.New(status.InvalidArguments,
			"a backup's name is made of letters, digits, '_', '-' and '.', found '%s'", name)
	}
	return nil
}

// dropBackup removes the files of a backup, beginning with the manifest: without a manifest the rest is not taken for a
// backup.
func (e *Engine) dropBackup(name string) error {
	if err := checkBackupName(name); err != nil {
		return err
	}
	dir := path.Join(e.o.Dir, BackupsDir, name)
	if _, err := e.o.FS.Stat(dir); vfs.NotExist(err) {
		return status.New(status.InvalidArguments, "there is no backup '%s'", name)
	}
	parts := path.Join(dir, partsDir)
	files := []string{path.Join(dir, manifest.FileName), path.Join(dir, manifest.FileName+vfs.TempSuffix)}
	names, err := e.o.FS.List(parts)
	if err != nil && !vfs.NotExist(err) {
		return storageError(err, "the backup cannot be removed")
	}
	for _, n := range names {
		files = append(files, path.Join(parts, n))
	}
	for _, f := range append(files, parts, dir) {
		if err := e.o.FS.Remove(f); err != nil && !vfs.NotExist(err) {
			return storageError(err, "the backup cannot be removed")
		}
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

// sweepSnapshots removes the snapshots whose makers have failed.
func (e *Engine) sweepSnapshots() {
	names, err := e.o.FS.List(path.Join(e.o.Dir, BackupsDir))
	if err != nil {
		return // there are none
	}
	for _, n := range names {
		made, err := time.Parse(SnapshotPrefix+SnapshotTime, n)
		if err != nil || e.o.Now().Sub(made) < snapshotAge {
			continue
		}
		if err := e.dropBackup(n); err != nil {
			e.o.Logger.Warn("an old snapshot cannot be removed", "name", n, "error", err)
			continue
		}
		e.o.Logger.Info("an old snapshot was removed", "name", n)
	}
}

// linkRounds is how often linking begins anew because a merge replaced parts meanwhile; each round links only what is
// missing.
const linkRounds = 100

// linkParts links the parts of one state of the manifest and gives the state.
func (e *Engine) linkParts(ctx context.Context, dir string) (*manifest.State, error) {
	linked := map[uint64]bool{}
	for range linkRounds {
		state := e.manifest.State()
		missing := false
		for _, t := range state.Tables {
			for _, p := range t.Parts {
				if err := ctx.Err(); err != nil {
					return nil, status.Wrap(err, status.Cancelled, "the backup was given up: %v", err)
				}
				if linked[p.File] {
					continue
				}
				switch err := e.o.FS.Link(e.files.path(p.File), path.Join(dir, partName(p.File))); {
				case vfs.NotExist(err):
					missing = true
				case err != nil && !vfs.Exist(err):
					return nil, storageError(err, "a part cannot be linked")
				default: // linked now, or by an earlier try with this name that was cut short
					linked[p.File] = true
				}
			}
		}
		if !missing {
			return state, e.unlinkOthers(state, dir)
		}
		if e.manifest.State() == state {
			return nil, status.New(status.StorageUnavailable,
				"a part that the manifest lists is missing: see varve check")
		}
	}
	return nil, status.New(status.RegionBusy, "parts are merged faster than they can be linked, try again")
}

// unlinkOthers removes links of parts that are in no table of the state.
func (e *Engine) unlinkOthers(state *manifest.State, dir string) error {
	listed := map[string]bool{}
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			listed[partName(p.File)] = true
		}
	}
	names, err := e.o.FS.List(dir)
	if err != nil {
		return storageError(err, "the backup cannot be listed")
	}
	for _, n := range names {
		if !listed[n] {
			if err := e.o.FS.Remove(path.Join(dir, n)); err != nil {
				return storageError(err, "the backup cannot be tidied")
			}
		}
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
