package engine

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"sync"

	"varve/engine/manifest"
	"varve/engine/vfs"
)

const (
	partsDir   = "parts"
	partSuffix = ".part"
)

func partName(file uint64) string { return fmt.Sprintf("%08d%s", file, partSuffix) }

func partNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, partSuffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}

// partFiles is the directory of the parts and what is on its way out of it. Safe for concurrent use.
type partFiles struct {
	fs  vfs.FS
	dir string

	mu      sync.Mutex // protects what follows
	strays  []uint64   // never listed and never to be: retired by the next edit, then removed
	removed []uint64   // removed since the directory was synced
	swept   []uint64   // retired files that are gone for good
}

func (f *partFiles) path(file uint64) string { return path.Join(f.dir, partName(file)) }

// stray notes a file that no edit will list any more; one that failed to may still be found by the next start, so the file
// stays until another edit succeeds.
func (f *partFiles) stray(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.strays = append(f.strays, file)
}

// unlink removes the file of a part that is in no list.
func (f *partFiles) unlink(file uint64) error {
	if err := f.fs.Remove(f.path(file)); err != nil && !vfs.NotExist(err) {
		return err
	}
	f.gone(file)
	return nil
}

// gone notes a file that is not there any more.
func (f *partFiles) gone(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = append(f.removed, file)
}

// syncing takes what has been removed until now: once the directory was synced, it is gone for good.
func (f *partFiles) syncing() (synced func(error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	removed := f.removed
	f.removed = nil
	return func(err error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if err != nil {
			f.removed = append(f.removed, removed...)
		} else {
			f.swept = append(f.swept, removed...)
		}
	}
}

// enter adds to an edit of the manifest what it is to say of files. failed takes that back.
func (f *partFiles) enter(edit *manifest.Edit) (failed func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	strays, swept := f.strays, f.swept
	f.strays, f.swept = nil, nil
	edit.Retired, edit.Swept = strays, swept
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.strays, f.swept = append(f.strays, strays...), append(f.swept, swept...)
	}
}
