package engine

import (
	"errors"
	"fmt"
	"path"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
	"varve/wal"
)

// filesAhead is by how much a server that takes over raises the number of the next part: the former primary may have
// written parts that the standby never heard of, and their objects in a bucket keep their names.
const filesAhead = 1 << 20

// Promote makes the data directory of a standby that of a server of its own, which takes over: the next start is an
// ordinary one. No server may have the directory open. An empty walDir is wal in dir. It returns the new epoch.
func Promote(fs vfs.FS, dir, walDir string) (epoch uint64, err error) {
	if walDir == "" {
		walDir = path.Join(dir, "wal")
	}
	if err := RequireStore(fs, dir); err != nil {
		return 0, err
	}
	lock, err := fs.Lock(path.Join(dir, "LOCK"))
	if err != nil {
		return 0, lockError(dir, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	s, _, err := manifest.Read(fs, dir)
	if err != nil {
		return 0, err
	}
	if err := mayPromote(s, dir); err != nil {
		return 0, err
	}
	log, err := wal.OpenCopy(fs, walDir, s.Store)
	if err != nil {
		return 0, err
	}
	logEdit, err := log.Edit()
	if err == nil {
		err = keepListed(fs, dir, s)
	}
	if err = errors.Join(err, log.Close()); err != nil {
		return 0, err
	}
	next := *s
	// The log may have been copied further than the manifest: its segments refer to edits that are not here.
	next.Edit = max(s.Edit, logEdit) + 1
	next.NextFile += filesAhead
	next.Standing = manifest.Standing{Epoch: s.Standing.Epoch + 1, Took: s.Standing.Follows}
	return next.Standing.Epoch, manifest.Replace(fs, dir, &next)
}

// tookOver reports whether a directory is that of a standby that took over from a server. It does not follow it again:
// the options of a standby may stay as they are.
func tookOver(fs vfs.FS, dir, primary string) bool {
	s, _, err := manifest.Read(fs, dir)
	return err == nil && s.Standing.Follows == "" && s.Standing.Took == primary
}

// mayPromote refuses the directory of a server that is no standby, and of one that has not all rows.
func mayPromote(s *manifest.State, dir string) error {
	switch {
	case s.Standing.Follows == "":
		return fmt.Errorf("%s is not the data directory of a standby", dir)
	case !s.Standing.Whole:
		return fmt.Errorf("the standby in %s cannot take over: its first copy of %s is not whole", dir, s.Standing.Follows)
	}
	return nil
}

// keepListed removes all parts that the manifest does not list: copies whose table is not whole.
func keepListed(fs vfs.FS, dir string, s *manifest.State) error {
	listed := map[parts.Entry]bool{}
	for _, t := range s.Tables {
		for i := range t.Parts {
			listed[entryOfPart(&t.Parts[i])] = true
		}
	}
	local := parts.At(fs, dir)
	if err := local.Keep(func(e parts.Entry) bool { return listed[e] }); err != nil {
		return err
	}
	return local.Sync()
}
