package opentables

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"varve/engine/bucket"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/sqlexec/opentables/iceberg"
)

// The properties of tables and of snapshots that say what they hold.
const (
	propState    = "varve.state"           // where our state lies
	propUntil    = "varve.complete-until"  // days before it were written
	propExported = "varve.exported-at"     // when ADMIN export_table last wrote what there was
	propWindow   = "varve.window"          // the day of a snapshot
	propSequence = "varve.window.sequence" // the newest write that it has, as of the last flush
	propRows     = "varve.window.rows"     // its rows
	propSum      = "varve.window.sum"      // over their content
)

// state is what is kept of a table beside its metadata, one file for each version.
type state struct {
	Columns   []column `json:"columns"`
	LastField int      `json:"last_field"`
	More      *more    `json:"more,omitempty"`
	// Epoch counts how often all days had to be written anew.
	Epoch int   `json:"epoch"`
	Days  []day `json:"days"`
	// Retired are files that the current snapshot does not have.
	Retired []retired `json:"retired,omitempty"`
}

// more is the map of columns past the bound.
type more struct {
	Field int         `json:"field"`
	Map   iceberg.Map `json:"map"`
}

// day is a day that was written.
type day struct {
	Day      int32            `json:"day"` // since 1970-01-01
	Sequence uint64           `json:"sequence"`
	Rows     int64            `json:"rows"`
	Sum      uint64           `json:"sum"`
	Epoch    int              `json:"epoch"`
	AtMS     int64            `json:"at_ms"` // when it was written
	Files    []dataFile       `json:"files"`
	Manifest iceberg.Manifest `json:"manifest"`
}

// dataFile is a file of a day.
type dataFile struct {
	Path string `json:"path"` // within the directory of the table
	Size int64  `json:"size"`
	Rows int64  `json:"rows"`
}

// retired is a file that goes once no snapshot needs it.
type retired struct {
	Path string `json:"path"`
	AtMS int64  `json:"at_ms"` // since when the current snapshot does not have it
}

// table is what is kept of a table. The fields below busy, but for the last two, belong to who holds it.
type table struct {
	x   *Exporter
	dir string

	busy    chan struct{} // of one place: a lock that waits as long as a context lasts
	loaded  bool
	version int64 // 0: the table is not there yet
	meta    *iceberg.Metadata
	state   *state
	looked  map[int32]look
	swept   time.Time

	seen     atomic.Pointer[seen]      // the last version that is known; nil: none is
	complete atomic.Pointer[time.Time] // days before it were written
}

// look is what the last look at a day told.
type look struct {
	at       time.Time
	sequence uint64 // the rows were those that the state has, or none, as of it
	gone     bool   // also without a part that may hold its rows
}

// Bounds of what is read back.
const (
	maxMetadata = 256 << 20
	// maxSnapshots bounds the snapshots that a table keeps.
	maxSnapshots = 100
	// maxMetadataLog bounds the earlier versions that a table names and keeps.
	maxMetadataLog = 20
)

// lock takes the table.
func (k *table) lock(ctx context.Context) error {
	select {
	case k.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *table) unlock() { <-k.busy }

// url is the address of a file of the table.
func (k *table) url(path string) string { return k.x.o.Bucket.String() + "/" + k.dir + "/" + path }

// metadataPath is where a version lies.
func metadataPath(version int64) string { return fmt.Sprintf("metadata/v%d.metadata.json", version) }

// statePath begins the names of the states of a version.
func statePath(version int64) string { return fmt.Sprintf("metadata/state-%d-", version) }

// versionOf is the version that a file of a table is of; 0: it is another file.
func versionOf(path string) int64 {
	text, ok := strings.CutPrefix(path, "metadata/v")
	text, is := strings.CutSuffix(text, ".metadata.json")
	n, err := strconv.ParseInt(text, 10, 64)
	if !ok || !is || err != nil || n < 1 {
		return 0
	}
	return n
}

// load reads the newest version, unless it is known.
func (k *table) load(ctx context.Context) error {
	if k.loaded {
		return nil
	}
	k.version, k.meta, k.state = 0, nil, nil
	k.looked = map[int32]look{}
	err := k.x.o.Bucket.List(ctx, k.dir+"/metadata/v", func(o bucket.Object) error {
		k.version = max(k.version, versionOf(strings.TrimPrefix(o.Name, k.dir+"/")))
		return nil
	})
	if err != nil {
		return k.failed(ctx, err)
	}
	if k.version == 0 {
		k.state = &state{}
		k.loaded = true
		return nil
	}
	k.meta, k.state = &iceberg.Metadata{}, &state{}
	if err := k.readJSON(ctx, metadataPath(k.version), k.meta); err != nil {
		return err
	}
	path := k.meta.Properties[propState]
	if !strings.HasPrefix(path, statePath(k.version)) {
		return status.New(status.StorageUnavailable, "Open table %s: version %d was written by another program: "+
			"remove %s", k.url(""), k.version, metadataPath(k.version))
	}
	if err := k.readJSON(ctx, path, k.state); err != nil {
		return err
	}
	k.loaded = true
	k.seen.Store(&seen{k.version, k.meta})
	return nil
}

// readJSON reads a file of the table.
func (k *table) readJSON(ctx context.Context, path string, into any) error {
	name := k.dir + "/" + path
	o, err := k.x.o.Bucket.Stat(ctx, name)
	if err != nil {
		return k.failed(ctx, err)
	}
	if o.Size > maxMetadata {
		return status.New(status.StorageUnavailable, "Open table file %s has %d bytes, at most %d are read",
			k.url(path), o.Size, int64(maxMetadata))
	}
	text := make([]byte, o.Size)
	if err := k.x.o.Bucket.Read(ctx, name, text, 0); err != nil {
		return k.failed(ctx, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return status.Wrap(err, status.StorageUnavailable, "Open table file %s is damaged: %v", k.url(path), err)
	}
	return nil
}

// failed names the bucket in an error of it, for the user. The error of a context that ended stays as it is.
func (k *table) failed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return status.Wrap(err, status.StorageUnavailable, "The bucket of open tables, %s, fails: the log says why",
		k.x.o.Bucket.String())
}

// put creates a file of the table.
func (k *table) put(ctx context.Context, path string, content []byte) error {
	return k.failed(ctx, k.x.o.Bucket.Put(ctx, k.dir+"/"+path, bytes.NewReader(content), int64(len(content))))
}

// name is a name that no file has.
func name() string { return strings.ToLower(rand.Text()) }

// clone returns copies of the metadata and the state, to be changed.
func (k *table) clone() (*iceberg.Metadata, *state, error) {
	var m *iceberg.Metadata
	if k.meta != nil {
		m = &iceberg.Metadata{}
		if err := copyJSON(m, k.meta); err != nil {
			return nil, nil, err
		}
	}
	s := &state{}
	return m, s, copyJSON(s, k.state)
}

func copyJSON(to, from any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// commit makes metadata and state the next version. After an error the version may be there: what is known is read
// again before the next use.
func (k *table) commit(ctx context.Context, m *iceberg.Metadata, s *state) (err error) {
	defer func() {
		if err != nil {
			k.loaded = false
		}
	}()
	next := k.version + 1
	now := k.x.o.Now()
	m.UpdatedMS = max(m.UpdatedMS, now.UnixMilli())
	oldest := now.Add(-k.x.o.Keep).UnixMilli()
	m.Expire(oldest, maxSnapshots)
	s.Retired = slices.DeleteFunc(s.Retired, func(r retired) bool { return r.AtMS < oldest })
	if k.version > 0 {
		m.MetadataLog = append(m.MetadataLog, iceberg.MetadataLog{TimeMS: k.meta.UpdatedMS,
			File: k.url(metadataPath(k.version))})
		m.MetadataLog = m.MetadataLog[max(0, len(m.MetadataLog)-maxMetadataLog):]
	}
	path := statePath(next) + name() + ".json"
	m.Properties[propState] = path
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := k.put(ctx, path, text); err != nil {
		return err
	}
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	err = k.put(ctx, metadataPath(next), text)
	if errors.Is(err, bucket.ErrExists) {
		return status.Wrap(err, status.StorageUnavailable, "Open table %s: another program writes it", k.url(""))
	}
	if err != nil {
		return err
	}
	k.version, k.meta, k.state = next, m, s
	k.seen.Store(&seen{next, m})
	return nil
}

// prepare brings the columns up to the schema of the table. It is a commit of its own if they changed.
func (k *table) prepare(ctx context.Context, t *schema.Table) error {
	m, s, err := k.clone()
	if err != nil {
		return err
	}
	changed, anew, err := s.align(t, k.x.o.MaxColumns)
	if err != nil {
		return err
	}
	if anew {
		s.Epoch++
	}
	if k.version > 0 && !changed && !anew {
		return nil
	}
	if m == nil {
		source := t.TimeColumn()
		m = iceberg.New(uuid(k.url("")), strings.TrimSuffix(k.url(""), "/"), k.x.o.Now().UnixMilli(),
			iceberg.ByDay(s.fieldOf(source.ID), s.freeName(source.Name+"_day")))
		m.Properties["write.format.default"] = "parquet"
		m.Properties["write.parquet.compression-codec"] = "zstd"
	}
	m.Evolve(s.fields(t), s.LastField)
	return k.commit(ctx, m, s)
}

// uuid makes a UUID of a text.
func uuid(text string) string {
	b := sha256.Sum256([]byte(text))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8, made by an own rule
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// newSnapshot is the id of a snapshot.
func newSnapshot() (int64, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b[:]) &^ (1 << 63)), nil
}
