// Package manifest keeps the one durable list of databases, tables and parts: a snapshot and the edits since, in one
// file of checksummed frames, replaced by rename when the edits outgrow the snapshot.
package manifest

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"varve/engine/schema"
)

// State is the content of the manifest. The manifest never changes a State that it has handed out: Apply publishes a
// new one.
type State struct {
	// Store is the name by which clients recognise this store. The first start creates it, and it never changes; copies
	// get a name of their own, and so does an empty store in its place.
	Store     string
	Databases map[string]Database
	Tables    map[schema.TableID]*TableState
	// NextTable and NextFile are the smallest ids never given out.
	NextTable schema.TableID
	NextFile  uint64
	// Edit is the number of the last edit: it rises over all files that the manifest had.
	Edit uint64
	// Log are the segments of the log that replay needs.
	Log LogRange
	// Positions are how far queues have been read: all rows of the messages before are in parts. In order of source,
	// topic and partition.
	Positions []Position
	// Retired are files of parts that were listed once, or have been given up before, and may still be on disk. What is
	// neither listed nor retired was not known to this manifest.
	Retired []uint64
	// Standing says which of several servers may write to the store.
	Standing Standing
}

// LogRange is segments of the log, both inclusive; First is above Last when none is needed. 0: not known.
type LogRange struct {
	First uint64 `json:"first,omitempty"`
	Last  uint64 `json:"last,omitempty"`
}

// Database describes a database, without its name.
type Database struct {
	Options []schema.Option `json:"options,omitempty"`
	// Made distinguishes the database from earlier databases of the same name: no two have the same number. 0: the
	// database is older than these numbers, or always exists.
	Made int64 `json:"made,omitempty"`
}

// TableState is one table with its parts. Immutable.
type TableState struct {
	Schema *schema.Table
	// Flushed is the highest sequence number up to which all rows are in parts or removed by truncation. Replay of the
	// log skips these rows.
	Flushed uint64
	Parts   []PartMeta // in the order they were added
}

// PartMeta describes a part without opening it.
type PartMeta struct {
	File       uint64 `json:"file"`
	Bytes      int64  `json:"bytes"`
	IndexBytes int64  `json:"index_bytes,omitempty"`
	Rows       int64  `json:"rows"`
	MinTime    int64  `json:"min_time"` // of the time index, inclusive
	MaxTime    int64  `json:"max_time"` // inclusive
	MinSeq     uint64 `json:"min_seq"`
	MaxSeq     uint64 `json:"max_seq"`
	Checksum   uint32 `json:"checksum"` // of the part's footer
	Level      uint8  `json:"level,omitempty"`
	// IndexUS is the time spent on the part's indexes and on those of the parts it was merged of, in microseconds.
	IndexUS int64 `json:"index_us,omitempty"`
	// Unique: no two rows have the same series and time, and none is a tombstone.
	Unique bool `json:"unique,omitempty"`
	// Location is where the part lies; empty: in the data directory, in the file of its number. See Object.
	Location string `json:"location,omitempty"`
	// ObjectSum is the CRC-32C of the whole part, of a part that lies in a bucket.
	ObjectSum uint32 `json:"object_sum,omitempty"`
	// StubBytes is what such a part takes in the data directory.
	StubBytes int64 `json:"stub_bytes,omitempty"`
	// Damage is what reads have found; the part is served without it and never merged.
	Damage []Damage `json:"damage,omitempty"`
}

// inBucket begins the location of a cold part; the name of its object in the bucket follows.
const inBucket = "bucket:"

// Object is the name of the object that holds a cold part; empty: the part is not cold.
func (m *PartMeta) Object() string {
	name, ok := strings.CutPrefix(m.Location, inBucket)
	if !ok {
		return ""
	}
	return name
}

// Cold returns the description of the part after it has moved to an object with a checksum. All but its pages stays in
// the data directory, in stub bytes.
func (m PartMeta) Cold(object string, sum uint32, stub int64) PartMeta {
	m.Location, m.ObjectSum, m.StubBytes = inBucket+object, sum, stub
	return m
}

// LocalBytes is what the part takes in the data directory.
func (m *PartMeta) LocalBytes() int64 {
	if m.Location == "" {
		return m.Bytes
	}
	return m.StubBytes
}

// Damage is a damaged place of a part: a block or, with Block -1, a section that all blocks need.
type Damage struct {
	Block  int    `json:"block"`
	Reason string `json:"reason"`
}

// Edit is one change, applied wholly or not at all. Members that are nil or empty change nothing. They take effect in
// the order of the fields.
type Edit struct {
	PutDatabase  map[string]Database `json:"put_database,omitempty"`
	DropDatabase []string            `json:"drop_database,omitempty"`
	PutTable     []*schema.Table     `json:"-"`
	DropTable    []schema.TableID    `json:"drop_table,omitempty"`
	RemoveParts  []PartEdit          `json:"remove_parts,omitempty"`
	AddParts     []PartEdit          `json:"add_parts,omitempty"`
	Flushed      []FlushedEdit       `json:"flushed,omitempty"`
	Damaged      []DamageEdit        `json:"damaged,omitempty"`
	NextFile     uint64              `json:"next_file,omitempty"`
	NextTable    schema.TableID      `json:"next_table,omitempty"`
	// Store names a store that has no name.
	Store string `json:"store,omitempty"`
	// Log raises what is needed of the log.
	Log LogRange `json:"log,omitzero"`
	// Positions replace those of the same partitions, unless less of the log is given up than before.
	Positions []Position `json:"positions,omitempty"`
	// Retired are files that were never listed and never will be. Files of parts that are removed, and of dropped
	// tables, are retired by that.
	Retired []uint64 `json:"retired,omitempty"`
	// Swept are retired files that are gone for good.
	Swept []uint64 `json:"swept,omitempty"`
	// Standing replaces the present one; nil: that stays.
	Standing *Standing `json:"standing,omitempty"`
}

// PartEdit adds or removes a part of a table; removal looks at File alone.
type PartEdit struct {
	Table schema.TableID `json:"table"`
	Part  PartMeta       `json:"part"`
}

// DamageEdit replaces the recorded damage of a part. A table or part that no longer exists is skipped.
type DamageEdit struct {
	Table  schema.TableID `json:"table"`
	File   uint64         `json:"file"`
	Damage []Damage       `json:"damage,omitempty"`
}

// FlushedEdit raises a table's flushed sequence number.
type FlushedEdit struct {
	Table    schema.TableID `json:"table"`
	Sequence uint64         `json:"sequence"`
}

func newState() *State {
	return &State{Databases: map[string]Database{}, Tables: map[schema.TableID]*TableState{}, NextTable: 1, NextFile: 1}
}

// NewStore is a name for a store.
func NewStore() string {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	return hex.EncodeToString(b[:])
}

// apply returns the state after the edit; s stays as it is.
func (s *State) apply(e *Edit) (*State, error) {
	n := *s
	n.Databases, n.Tables = maps.Clone(s.Databases), maps.Clone(s.Tables)
	n.Edit++
	n.Retired = append(slices.DeleteFunc(slices.Clone(s.Retired),
		func(f uint64) bool { return slices.Contains(e.Swept, f) }), e.Retired...)
	maps.Copy(n.Databases, e.PutDatabase)
	for _, d := range e.DropDatabase {
		delete(n.Databases, d)
	}
	for _, t := range e.PutTable {
		ts := TableState{Schema: t}
		if old := n.Tables[t.ID]; old != nil {
			ts.Flushed, ts.Parts = old.Flushed, old.Parts
		}
		n.Tables[t.ID] = &ts
		n.NextTable = max(n.NextTable, t.ID+1)
	}
	for _, id := range e.DropTable {
		if t := n.Tables[id]; t != nil {
			for _, p := range t.Parts {
				n.Retired = append(n.Retired, p.File)
			}
		}
		delete(n.Tables, id)
	}
	for _, p := range e.RemoveParts {
		if err := n.change(p.Table, func(t *TableState) error {
			i := slices.IndexFunc(t.Parts, func(m PartMeta) bool { return m.File == p.Part.File })
			if i < 0 {
				return fmt.Errorf("table %d has no part %d to remove", p.Table, p.Part.File)
			}
			t.Parts = slices.Delete(slices.Clone(t.Parts), i, i+1)
			n.Retired = append(n.Retired, p.Part.File)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, p := range e.AddParts {
		if err := n.change(p.Table, func(t *TableState) error {
			t.Parts = append(slices.Clone(t.Parts), p.Part)
			// Of a part that moves, the file counts again.
			n.Retired = slices.DeleteFunc(n.Retired, func(f uint64) bool { return f == p.Part.File })
			n.NextFile = max(n.NextFile, p.Part.File+1)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, f := range e.Flushed {
		if err := n.change(f.Table, func(t *TableState) error {
			t.Flushed = max(t.Flushed, f.Sequence)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	for _, d := range e.Damaged {
		n.noteDamage(&d)
	}
	n.Store = cmp.Or(n.Store, e.Store)
	n.NextFile, n.NextTable = max(n.NextFile, e.NextFile), max(n.NextTable, e.NextTable)
	if e.Log.First >= s.Log.First {
		n.Positions = withPositions(s.Positions, e.Positions)
	}
	n.Log = LogRange{max(n.Log.First, e.Log.First), max(n.Log.Last, e.Log.Last)}
	if e.Standing != nil {
		n.Standing = *e.Standing
	}
	return &n, nil
}

func (s *State) noteDamage(d *DamageEdit) {
	old := s.Tables[d.Table]
	if old == nil {
		return
	}
	i := slices.IndexFunc(old.Parts, func(m PartMeta) bool { return m.File == d.File })
	if i < 0 {
		return
	}
	t := *old
	t.Parts = slices.Clone(old.Parts)
	t.Parts[i].Damage = d.Damage
	s.Tables[d.Table] = &t
}

func (s *State) change(id schema.TableID, f func(*TableState) error) error {
	old := s.Tables[id]
	if old == nil {
		return fmt.Errorf("edit of table %d, which does not exist", id)
	}
	t := *old
	s.Tables[id] = &t
	return f(&t)
}

// ErrElsewhere is the cause where a part is listed that lies where this program cannot read.
var ErrElsewhere = errors.New("this program reads only parts in its own data directory and in a bucket")

// reachable is an error when a part lies elsewhere: whoever went on without it would serve, and might write, a list
// that lacks it.
func (s *State) reachable() error {
	for _, id := range s.tableIDs() {
		for _, p := range s.Tables[id].Parts {
			if p.Location != "" && p.Object() == "" {
				return fmt.Errorf("part %d of table %s lies at %q: %w", p.File, s.Tables[id].Schema.Name, p.Location,
					ErrElsewhere)
			}
		}
	}
	return nil
}

// Lists reports whether the table has the part.
func (t *TableState) Lists(file uint64) bool {
	return slices.ContainsFunc(t.Parts, func(m PartMeta) bool { return m.File == file })
}

// FlushedOf is Flushed of the table that has the rows of t: t itself, or the physical one.
func (s *State) FlushedOf(t *TableState) uint64 {
	if physical := s.Tables[t.Schema.Physical]; physical != nil {
		return physical.Flushed
	}
	return t.Flushed
}
