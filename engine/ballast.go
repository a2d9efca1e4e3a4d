package engine

import (
	"path"

	"varve/engine/vfs"
)

// ballastName is a file in the data directory that does nothing but take room. When the disk is full all the same, though
// writes were refused in time (something else filled it), it is given up, so that flushes, expiry, DROP TABLE and the
// edits of the manifest that they need can make room. It is laid again when there is plenty.
const ballastName = "BALLAST"

// ballastPiece is what is written at a time.
const ballastPiece = 1 << 20

// findBallast looks whether the ballast is there: replay may need its room.
func (e *core) findBallast() {
	e.ballastMu.Lock()
	defer e.ballastMu.Unlock()
	info, err := e.o.FS.Stat(path.Join(e.o.Dir, ballastName))
	e.ballast = err == nil && info.Size() > 0
}

// layBallast makes the ballast unless it is there or there is no room to spare.
func (e *core) layBallast() {
	if e.o.Ballast == 0 {
		return
	}
	e.ballastMu.Lock()
	defer e.ballastMu.Unlock()
	name := path.Join(e.o.Dir, ballastName)
	if info, err := e.o.FS.Stat(name); err == nil && info.Size() == e.o.Ballast {
		e.ballast = true
		return
	}
	free, err := e.o.FS.FreeBytes(e.o.Dir)
	if err != nil || free < uint64(e.o.MinFree)+2*uint64(e.o.Ballast) {
		return
	}
	err = vfs.Publish(e.o.FS, e.o.Dir, ballastName, func(f vfs.File) error {
		// Not zeros: a file system may keep those without room.
		piece := make([]byte, ballastPiece)
		for i := range piece {
			piece[i] = byte(i*167 + i>>8)
		}
		for left := e.o.Ballast; left > 0; left -= ballastPiece {
			if _, err := f.Write(piece[:min(left, ballastPiece)]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		e.o.Logger.Warn("no room can be kept for emergencies", "error", err)
		return
	}
	e.ballast = true
}

// giveBallast removes the ballast when err says that the disk is full; true: what failed may be tried again.
func (e *core) giveBallast(err error) bool {
	if !vfs.IsNoSpace(err) {
		return false
	}
	e.ballastMu.Lock()
	defer e.ballastMu.Unlock()
	if !e.ballast {
		return false
	}
	e.ballast = false
	if err := e.o.FS.Remove(path.Join(e.o.Dir, ballastName)); err != nil {
		e.o.Logger.Error("the room kept for emergencies cannot be given up", "error", err)
		return false
	}
	e.o.Logger.Warn("the disk is full: the room kept for emergencies was given up", "bytes", e.o.Ballast)
	return true
}
