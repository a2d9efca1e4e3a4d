package engine

import (
	"log/slog"
	"path"
	"sync"

	"varve/engine/vfs"
)

// ballastName is a file in the data directory that does nothing but take room. When the disk is full all the same,
// though writes were refused in time (something else filled it), it is given up, so that flushes, expiry, DROP TABLE
// and the edits of the manifest that they need can make room. It is laid again when there is plenty.
const ballastName = "BALLAST"

// ballastWrite is what is written at a time.
const ballastWrite = 1 << 20

// ballast is that file. Safe for concurrent use.
type ballast struct {
	fs   vfs.FS
	dir  string
	size int64 // 0: no ballast
	free int64 // bytes that must be left besides
	log  *slog.Logger

	mu    sync.Mutex // protects there
	there bool
}

// find looks whether the file is there: replay may need its room.
func (b *ballast) find() {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := b.fs.Stat(path.Join(b.dir, ballastName))
	b.there = err == nil && info.Size() > 0
}

// lay creates the ballast file, unless it exists or the disk has no room to spare.
func (b *ballast) lay() {
	if b.size == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if info, err := b.fs.Stat(path.Join(b.dir, ballastName)); err == nil && info.Size() == b.size {
		b.there = true
		return
	}
	free, err := b.fs.FreeBytes(b.dir)
	if err != nil || free < uint64(b.free)+2*uint64(b.size) {
		return
	}
	err = vfs.Publish(b.fs, b.dir, ballastName, func(f vfs.File) error {
		// Not zeros: a file system may keep those without room.
		chunk := make([]byte, ballastWrite)
		for i := range chunk {
			chunk[i] = byte(i*167 + i>>8)
		}
		for left := b.size; left > 0; left -= ballastWrite {
			if _, err := f.Write(chunk[:min(left, ballastWrite)]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.log.Warn("no room can be kept for emergencies", "error", err)
		return
	}
	b.there = true
}

// give removes the file when err says that the disk is full; true: what failed may be tried again.
func (b *ballast) give(err error) bool {
	if !vfs.IsNoSpace(err) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.there {
		return false
	}
	b.there = false
	if err := b.fs.Remove(path.Join(b.dir, ballastName)); err != nil {
		b.log.Error("the room kept for emergencies cannot be given up", "error", err)
		return false
	}
	b.log.Warn("the disk is full: the room kept for emergencies was given up", "bytes", b.size)
	return true
}
