package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"varve/engine/bucket"
	"varve/engine/manifest"
	"varve/engine/parts"
)

// Each snapshot of the manifest is also put to the bucket, after the parts that it names: a server can be made of the
// bucket, and objects go only when no manifest of the last seven days names them.

const (
	// snapshotPeriod is the least time between two snapshots; for each snapshotBytes of it there is as much more, so
	// that they stay below 1.5 GiB a day.
	snapshotPeriod = time.Minute
	snapshotBytes  = 1 << 20
	// maxSnapshot bounds a snapshot, in bytes.
	maxSnapshot = 1 << 30
)

// snapshots are the manifests of a store in the bucket. One goroutine uses it at a time.
type snapshots struct {
	bucket bucket.Bucket
	store  string
	now    func() time.Time

	edit uint64    // of the last one that was put; 0: none by this process
	due  time.Time // from when on the next one may be put
}

// put puts the manifest if it has changed since, and it is time for another one.
func (s *snapshots) put(ctx context.Context, epoch uint64, state *manifest.State) error {
	if state.Edit == s.edit || s.now().Before(s.due) {
		return nil
	}
	body, err := manifest.Encode(state)
	if err != nil {
		return err
	}
	if len(body) > maxSnapshot {
		return fmt.Errorf("the manifest has %d bytes: at most %d are put to the bucket", len(body), maxSnapshot)
	}
	name := parts.ManifestObject(s.store, epoch, state.Edit)
	err = s.bucket.Put(ctx, name, bytes.NewReader(body), int64(len(body)))
	if err != nil && !errors.Is(err, bucket.ErrExists) { // it came there by a try whose answer was lost
		return fmt.Errorf("the manifest cannot be put to the bucket: %w", err)
	}
	s.edit, s.due = state.Edit, s.now().Add(snapshotPeriod*time.Duration(1+len(body)/snapshotBytes))
	return nil
}

// list lists the snapshots of a store, the oldest first.
func listSnapshots(ctx context.Context, b bucket.Bucket, store string) (all []bucket.Object, err error) {
	err = b.List(ctx, parts.ManifestPrefix(store), func(o bucket.Object) error {
		all = append(all, o)
		return nil
	})
	return all, err
}

// readSnapshot reads a manifest of the bucket.
func readSnapshot(ctx context.Context, b bucket.Bucket, o bucket.Object) (*manifest.State, error) {
	if o.Size > maxSnapshot {
		return nil, fmt.Errorf("%s: %s has %d bytes, at most %d", b, o.Name, o.Size, maxSnapshot)
	}
	body := make([]byte, o.Size)
	for off := 0; off < len(body); off += readPiece {
		if err := b.Read(ctx, o.Name, body[off:min(len(body), off+readPiece)], int64(off)); err != nil {
			return nil, err
		}
	}
	state, err := manifest.Decode(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", b, o.Name, err)
	}
	return state, nil
}

// readPiece is what one request reads of a snapshot, in bytes.
const readPiece = 4 << 20

// sortOut divides the snapshots, the oldest first, into those that stay and those that go. One counts until its
// successor is as old as keep; the last one always does. Of those that count, each of the last hour stays, the last of
// each hour of the last day, and the last of each day before.
func sortOut(all []bucket.Object, now time.Time, keep time.Duration) (stay, gone []bucket.Object) {
	for i, o := range all {
		if i == len(all)-1 {
			return append(stay, o), gone
		}
		next := all[i+1].Modified
		step := time.Duration(1)
		switch age := now.Sub(o.Modified); {
		case age > 24*time.Hour:
			step = 24 * time.Hour
		case age > time.Hour:
			step = time.Hour
		}
		if now.Sub(next) >= keep || o.Modified.Truncate(step).Equal(next.Truncate(step)) {
			gone = append(gone, o)
		} else {
			stay = append(stay, o)
		}
	}
	return stay, gone
}

// nameObjects enters the objects that a manifest names.
func nameObjects(state *manifest.State, into map[string]bool) {
	for _, t := range state.Tables {
		for _, p := range t.Parts {
			if p.Location != "" {
				into[p.Object()] = true
			}
		}
	}
}
