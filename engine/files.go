package engine

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/vfs"
	"varve/sst"
)

// partFiles opens and writes the parts of the store, and knows which are on their way out of it. Safe for concurrent
// use.
type partFiles struct {
	store   parts.Store   // where parts lie
	local   *parts.Local  // the same, for backups, which link to the files
	objects parts.Objects // of cold parts
	log     *slog.Logger
	cache   *sst.Cache
	metrics *sst.Metrics
	damages *damages
	ballast *ballast
	space   *space
	next    atomic.Uint64 // number of the next file

	mergeBytes, blockBytes int64 // of Options
	// describe writes into a part what it says of itself, see manifest.Origin.
	describe func(j *partJob, w *sst.Writer, unique bool) error

	mu      sync.Mutex // protects what follows
	strays  []uint64   // never listed and never to be: retired by the next edit, then removed
	removed []uint64   // removed since the last part was published
	swept   []uint64   // retired files that are gone for good
	// stubs are the files that have a stub: of cold parts, and of parts that are on their way to the bucket. dead are
	// those of them whose part is gone.
	stubs map[uint64]bool
	dead  []uint64
}

// open opens the file of a part.
func (f *partFiles) open(m manifest.PartMeta) (*part, error) {
	bytes, err := f.store.Open(context.Background(), m.File)
	if err != nil {
		return nil, err
	}
	return f.opened(m, bytes)
}

// openCold opens a part by its stub, while the file of the whole part may still be there.
func (f *partFiles) openCold(m manifest.PartMeta) (*part, error) {
	bytes, err := f.local.OpenCold(m.File)
	if err != nil {
		return nil, err
	}
	return f.opened(m, bytes)
}

func (f *partFiles) opened(m manifest.PartMeta, bytes sst.File) (*part, error) {
	file, err := sst.OpenFile(bytes, parts.Name(m.File), sst.OpenOptions{Cache: f.cache, Metrics: f.metrics})
	if err != nil {
		return nil, err
	}
	file.Prepare()
	p := &part{files: f, meta: m, file: file, run: file.Run()}
	p.refs.Store(1)
	return p, nil
}

// errNoRows: all rows of a merge were replaced or deleted, and a part without rows cannot exist.
var errNoRows = errors.New("no rows are left")

// write merges runs into one new part file and opens it. Nothing lists it yet.
func (f *partFiles) write(j *partJob) (*part, error) {
	p, err := f.try(j)
	if err != nil && f.ballast.give(err) {
		j.any = false
		p, err = f.try(j)
	}
	return p, f.space.noted(err)
}

func (f *partFiles) try(j *partJob) (*part, error) {
	file := f.next.Add(1) - 1
	var meta sst.Meta
	unique := false
	j.held, j.block = f.mergeBytes, f.blockBytes
	j.describe = func(w *sst.Writer, unique bool) error { return f.describe(j, w, unique) }
	synced := f.syncing()
	err := f.store.Publish(file, func(out vfs.File) (err error) {
		meta, unique, err = j.write(out)
		return err
	})
	synced(err)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = storageError(err, "a part cannot be written")
	}
	if err != nil {
		return nil, err
	}
	p, err := f.open(manifest.PartMeta{File: file, Bytes: meta.Bytes, IndexBytes: meta.IndexBytes, Rows: meta.Rows,
		MinTime: meta.MinTime, MaxTime: meta.MaxTime, MinSeq: j.minSeq, MaxSeq: j.maxSeq, Checksum: meta.Checksum,
		Level: j.level, IndexUS: j.indexUS + meta.IndexTime.Microseconds(), Unique: unique})
	if err != nil {
		f.stray(file)
	}
	return p, err
}

// stray notes a file that no edit will list any more; one that failed to may still be found by the next start, so the
// file stays until another edit succeeds.
func (f *partFiles) stray(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.strays = append(f.strays, file)
}

// unlink removes the file of a part that is in no list. One with a stub is gone once the stub is, see mover.bury.
func (f *partFiles) unlink(file uint64) error {
	if err := f.store.Remove(parts.Entry{File: file}); err != nil {
		return err
	}
	f.mu.Lock()
	buries := f.stubs[file]
	if buries && !slices.Contains(f.dead, file) {
		f.dead = append(f.dead, file)
	}
	f.mu.Unlock()
	if !buries {
		f.gone(file)
	}
	return nil
}

// hasStub reports whether a file has a stub.
func (f *partFiles) hasStub(file uint64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stubs[file]
}

// haveStub notes that a file has a stub, or is about to get one.
func (f *partFiles) haveStub(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stubs[file] = true
}

// lackStub notes that a file has no stub any more.
func (f *partFiles) lackStub(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.stubs, file)
	f.dead = slices.DeleteFunc(f.dead, func(d uint64) bool { return d == file })
}

// graves are the stubs whose parts are gone.
func (f *partFiles) graves() []uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.dead)
}

// gone notes a file that is not there any more.
func (f *partFiles) gone(file uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = append(f.removed, file)
}

// syncing takes the files that were removed so far. Once a part is published, they are gone for good.
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

// enter adds strays and swept files to an edit of the manifest. failed takes them back, for the next edit.
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
