package engine

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"time"

	"varve/engine/blockcache"
	"varve/engine/bucket"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vfs"
)

// ColdOptions say where old parts go. A cold part is one object of the bucket, all of the part; in the data directory
// stays its stub, so that plans, needles and counts need no bucket.
type ColdOptions struct {
	Bucket bucket.Bucket
	// After is the age from which on parts of tables without the option cold_after move; 0: they stay.
	After time.Duration
	// Timeout bounds the wait for the bucket of a query. Default 30s.
	Timeout time.Duration
	// Cache keeps what was read of objects; nil: nothing does.
	Cache *blockcache.Cache
	// Keep is how long a manifest in the bucket counts after the next one was put: no object that it names is removed,
	// nor any younger one. Default 7 days.
	Keep time.Duration
}

// keepManifests is the default of ColdOptions.Keep.
const keepManifests = 7 * 24 * time.Hour

func (c *ColdOptions) keep() time.Duration { return cmp.Or(c.Keep, keepManifests) }

// coldBefore is the time before which rows of a table are cold; the earliest possible if they never are.
func (v *inventory) coldBefore(t *schema.Table) int64 {
	if v.o.Cold == nil || ofServer(t) {
		return math.MinInt64
	}
	age := v.o.Cold.After
	if text, ok := v.catalog.Load().option(t, schema.ColdOption); ok && text != "" {
		age = schema.ColdAge(text)
	}
	if age <= 0 {
		return math.MinInt64
	}
	return inUnit(v.o.Now().Add(-age), t.TimeColumn().Type)
}

// isCold reports whether the pages of a part lie in a bucket.
func (p *part) isCold() bool { return p.meta.Location != "" }

// warm leaves the parts that lie in the data directory wholly: merges in the background draw no others in.
func warm(all []*part) []*part {
	list := make([]*part, 0, len(all))
	for _, p := range all {
		if !p.isCold() {
			list = append(list, p)
		}
	}
	return list
}

// entryOf is the file of a part that the manifest lists.
func entryOf(file uint64, location string) parts.Entry {
	return parts.Entry{File: file, Cold: location != ""}
}

// heldObjects are the objects that the backups in the data directory name: a backup links the stubs of cold parts, not
// their objects.
func heldObjects(fs vfs.FS, dir string) (map[string]bool, error) {
	held := map[string]bool{}
	names, err := fs.List(path.Join(dir, BackupsDir))
	if vfs.NotExist(err) {
		return held, nil
	}
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if err := stubObjects(parts.At(fs, path.Join(dir, BackupsDir, n)), held); err != nil {
			return nil, fmt.Errorf("backup %s: %w", n, err)
		}
	}
	return held, nil
}

// stubObjects enters the objects that the stubs of a directory name.
func stubObjects(local *parts.Local, into map[string]bool) error {
	entries, err := local.List()
	if err != nil && !vfs.NotExist(err) {
		return err
	}
	for _, e := range entries {
		if !e.Cold || e.Unfinished {
			continue
		}
		s, err := local.Stub(e.File)
		if err != nil && !vfs.NotExist(err) {
			return fmt.Errorf("%s: %w", e, err)
		}
		if err == nil {
			into[s.Object] = true
		}
	}
	return nil
}

// ColdStats describe the parts in a bucket and what moves.
type ColdStats struct {
	Bucket string `json:"bucket"` // empty: none is set
	// Parts lie in the bucket, with so many bytes there and so many in the data directory.
	Parts       int    `json:"parts"`
	Bytes       int64  `json:"bytes"`
	LocalBytes  int64  `json:"local_bytes"`
	Waiting     int    `json:"waiting"`   // parts that were old enough and had not moved, as of the last pass
	ToRemove    int    `json:"to_remove"` // objects that no part needs, as of the last look through the bucket
	Moved       int64  `json:"moved"`     // parts, since the start
	MovedBytes  int64  `json:"moved_bytes"`
	Failures    int64  `json:"failures"`               // moves that failed, since the start
	LastFailure string `json:"last_failure,omitempty"` // why a move failed, if none succeeded since
	// LastFailedAt is when a move failed last; zero: none has since the start.
	LastFailedAt time.Time `json:"last_failed_at,omitzero"`
}

// Cold describes the cold parts of the store.
func (e *Engine) Cold() ColdStats { return e.mover.stats() }
