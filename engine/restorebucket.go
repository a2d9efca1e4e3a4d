package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/sst"
	"varve/wal"
)

// BucketRestore says of what a data directory is made.
type BucketRestore struct {
	FS     vfs.FS
	Bucket bucket.Bucket
	Dir    string // to be made: new, empty, or left by a restore that was cut short
	// WALDir holds the log of the server that is gone; empty: there is none. It stays where it is, and is the log of
	// the new server.
	WALDir string
	Now    func() time.Time // nil: time.Now
}

// BucketRestored is what a data directory was made of.
type BucketRestored struct {
	Before   *manifest.Epoch // of the server that used the prefix; nil: none did
	Snapshot string          // the manifest
	At       time.Time       // when it was put
	Tables   int
	Parts    int   // cold ones, whose rows are there
	Rows     int64 // in them
	// What was on the disk of the server that is gone alone. The log may have the rows.
	LostParts int
	LostRows  int64
}

// fetchAtOnce bounds the parts of which stubs are made at a time.
const fetchAtOnce = 16

// RestoreBucket makes a data directory of the newest manifest in a bucket: the new store has the name of the old one
// and its place in the bucket, which refuses the old one from then on. Rows that lay on the disk of the old one alone
// come of the log, as far as it has them. After a crash the directory is whole, or as it was before, or Open refuses
// it.
func RestoreBucket(ctx context.Context, o BucketRestore) (_ *BucketRestored, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &BucketRestored{}
	var state *manifest.State
	if state, err = o.find(ctx, r); err != nil {
		return nil, err
	}
	if err := o.readLog(state); err != nil {
		return nil, err
	}
	lock, err := beginRestore(o.FS, o.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := o.fetch(ctx, state); err != nil {
		return nil, err
	}
	h := holder{fs: o.FS, bucket: o.Bucket, dir: o.Dir, store: state.Store, now: o.Now}
	if err := h.take(ctx, r.Before, true); err != nil {
		return nil, err
	}
	return r, endRestore(o.FS, o.Dir, state)
}

// find reads the newest manifest of the store that used the prefix last, without the parts that only its disk had.
func (o *BucketRestore) find(ctx context.Context, r *BucketRestored) (*manifest.State, error) {
	var err error
	if r.Before, err = lastEpoch(ctx, o.Bucket); err != nil {
		return nil, err
	}
	store := ""
	if r.Before != nil {
		store = r.Before.Store
	}
	all, err := listSnapshots(ctx, o.Bucket, store)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no manifest of a server", o.Bucket)
	}
	newest := all[len(all)-1]
	for _, s := range all {
		first, _ := parts.StoreOfManifest(newest.Name)
		if other, ok := parts.StoreOfManifest(s.Name); !ok || other != first {
			return nil, fmt.Errorf("%s has manifests of the stores %s and %s, and no epoch says which of them used it last",
				o.Bucket, other, first)
		}
	}
	state, err := readSnapshot(ctx, o.Bucket, newest)
	if err != nil {
		return nil, err
	}
	r.Snapshot, r.At, r.Tables = newest.Name, newest.Modified, len(state.Tables)
	r.takeCold(state)
	return state, nil
}

// takeCold leaves the cold parts alone in a state that was just read. The log is to give back as many of the other
// rows as it has.
func (r *BucketRestored) takeCold(state *manifest.State) {
	state.Log, state.Retired = manifest.LogRange{}, nil
	for _, t := range state.Tables {
		var cold, hot uint64 // the highest number of rows in cold parts, the least in others
		kept := t.Parts[:0]
		for _, p := range t.Parts {
			if p.Location == "" {
				r.LostParts, r.LostRows = r.LostParts+1, r.LostRows+p.Rows
				hot = min(cmp.Or(hot, p.MinSeq), p.MinSeq)
				continue
			}
			r.Parts, r.Rows = r.Parts+1, r.Rows+p.Rows
			cold = max(cold, p.MaxSeq)
			kept = append(kept, p)
		}
		if t.Parts = slices.Clip(kept); hot > 0 {
			// All rows from here on are in no cold part. Those before may be, and are not taken of the log twice.
			t.Flushed = min(t.Flushed, max(cold, hot-1))
		}
	}
}

// readLog takes over what the log says of itself.
func (o *BucketRestore) readLog(state *manifest.State) error {
	if o.WALDir == "" {
		state.Edit++
		return nil
	}
	store, err := wal.Store(o.FS, o.WALDir)
	if err != nil {
		return fmt.Errorf("log %s: %w", o.WALDir, err)
	}
	if store != state.Store {
		return fmt.Errorf("the log in %s is of the store %q, the manifest in %s of the store %q", o.WALDir, store,
			o.Bucket, state.Store)
	}
	b := &rebuild{fs: o.FS, state: state, edits: map[schema.TableID]uint64{}}
	if err := b.log(o.WALDir); err != nil {
		return err
	}
	state.Edit++
	return nil
}

// fetch makes the stubs of all parts, and enters their sizes.
func (o *BucketRestore) fetch(ctx context.Context, state *manifest.State) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	local := parts.At(o.FS, o.Dir)
	var all sync.WaitGroup
	places := make(chan struct{}, fetchAtOnce)
	for _, t := range state.Tables {
		for i := range t.Parts {
			places <- struct{}{}
			if ctx.Err() != nil {
				break
			}
			all.Go(func() {
				defer func() { <-places }()
				if err := o.fetchPart(ctx, local, &t.Parts[i]); err != nil {
					cancel(fmt.Errorf("table %s: %s of %s: %w", t.Schema.Name, t.Parts[i].Object(), o.Bucket, err))
				}
			})
		}
	}
	all.Wait()
	return context.Cause(ctx)
}

// fetchPart makes the stub of a part and holds it against what the manifest says.
func (o *BucketRestore) fetchPart(ctx context.Context, local *parts.Local, p *manifest.PartMeta) error {
	stub := &parts.Stub{Object: p.Object(), Checksum: p.ObjectSum, Size: p.Bytes}
	if err := local.Fetch(ctx, p.File, stub, o.Bucket.Read); err != nil {
		return err
	}
	p.StubBytes = stub.Length
	f, err := local.OpenCold(p.File)
	if err != nil {
		return err
	}
	part, err := sst.OpenFile(f, p.Object(), sst.OpenOptions{Context: ctx})
	if err != nil {
		return err
	}
	meta := part.Meta()
	if err := part.Close(); err != nil {
		return err
	}
	if meta.Checksum != p.Checksum || meta.Rows != p.Rows {
		return fmt.Errorf("%w: %d rows with checksum %08x, the manifest has %d and %08x", sst.ErrCorrupt, meta.Rows,
			meta.Checksum, p.Rows, p.Checksum)
	}
	return nil
}
