package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/wal"
)

// Rebuilt is what a new manifest was made of.
type Rebuilt struct {
	Tables, Parts int
	Notes         []string // what was left out or given another name, and why
}

// brokenManifest is what the manifest that was there before is called.
const brokenManifest = manifest.FileName + ".before"

// rebuild makes a manifest of what parts say of themselves.
type rebuild struct {
	fs      vfs.FS
	dir     string
	state   *manifest.State // that is made
	before  *manifest.State // the readable part of the old manifest; nil: nothing is readable
	parts   map[uint64]*stranger
	present map[uint64]bool
	edits   map[schema.TableID]uint64 // at which a schema was seen last
	out     Rebuilt
}

// RebuildManifest rebuilds the manifest of a data directory that has lost it, or its end, from the parts and the log.
// The old file is kept beside the new one. Knowledge that only the manifest had is lost: tables without rows in parts,
// changes of schemas since the last part of a table was written, and drops of tables whose files still exist.
func RebuildManifest(fs vfs.FS, dir, walDir string) (_ *Rebuilt, err error) {
	if walDir == "" {
		walDir = path.Join(dir, "wal")
	}
	if err := unfinished(fs, dir); err != nil {
		return nil, err
	}
	lock, err := fs.Lock(path.Join(dir, "LOCK"))
	if err != nil {
		return nil, lockError(dir, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	b := &rebuild{fs: fs, dir: dir, parts: map[uint64]*stranger{}, present: map[uint64]bool{},
		edits: map[schema.TableID]uint64{},
		state: &manifest.State{Databases: map[string]manifest.Database{},
			Tables: map[schema.TableID]*manifest.TableState{}, NextTable: 1, NextFile: 1}}
	b.before, _, err = manifest.Read(fs, dir)
	switch {
	// the manifest is whole, and what is not here, or unknown, would be lost
	case errors.Is(err, manifest.ErrElsewhere), errors.Is(err, vfs.ErrNewer):
		return nil, err
	case err != nil && !vfs.NotExist(err):
		b.note("%s cannot be read: %v", manifest.FileName, err)
	}
	b.base()
	if err := b.find(); err != nil {
		return nil, err
	}
	if len(b.present) == 0 && b.before == nil {
		return nil, fmt.Errorf("%s has no parts from which a manifest could be made", dir)
	}
	b.choose()
	b.describe()
	b.name()
	if err := b.log(walDir); err != nil {
		return nil, err
	}
	b.state.Edit++
	return &b.out, b.write()
}

func (b *rebuild) note(format string, args ...any) {
	b.out.Notes = append(b.out.Notes, fmt.Sprintf(format, args...))
}

// base takes over tables without parts and databases from the old manifest.
func (b *rebuild) base() {
	old := b.before
	if old == nil {
		return
	}
	b.state.Positions = old.Positions
	b.state.Edit, b.state.NextTable, b.state.NextFile, b.state.Store = old.Edit, old.NextTable, old.NextFile, old.Store
	maps.Copy(b.state.Databases, old.Databases)
	for id, t := range old.Tables {
		b.state.Tables[id] = &manifest.TableState{Schema: t.Schema, Flushed: t.Flushed}
		b.edits[id] = 0
	}
}

// find looks at all files of parts.
func (b *rebuild) find() error {
	store := parts.At(b.fs, b.dir)
	entries, err := store.List()
	if err != nil && !vfs.NotExist(err) {
		return fmt.Errorf("parts directory: %w", err)
	}
	for _, e := range entries {
		n := e.File
		if e.Unfinished || b.present[n] {
			continue
		}
		b.present[n] = true
		b.state.NextFile = max(b.state.NextFile, n+1)
		s := lookAt(store, n)
		if e.Cold && !slices.Contains(entries, parts.Entry{File: n}) && s.err == nil {
			s.stub, s.err = store.Stub(n)
		}
		if errors.Is(s.err, vfs.ErrNewer) {
			return s.err
		}
		if s.err != nil {
			b.note("%s is left out: %v", e, s.err)
			continue
		}
		b.parts[n] = &s
	}
	return nil
}

// choose keeps the parts whose rows count. Of a merge, these are its inputs, if all of them exist; otherwise its
// outputs, because the first input is removed only after the outputs are listed.
func (b *rebuild) choose() {
	unfinished := func(s *stranger) bool {
		o := s.origin
		return o != nil && len(o.Replaces) > 0 &&
			!slices.ContainsFunc(o.Replaces, func(f uint64) bool { return !b.present[f] })
	}
	gone := map[uint64]string{}
	for n, s := range b.parts {
		switch {
		case s.origin == nil:
		case unfinished(s):
			gone[n] = "what was merged into it is all there"
		default:
			for _, f := range s.origin.Replaces {
				if b.present[f] {
					gone[f] = "it was merged into another"
				}
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(gone)) {
		b.note("%s is left out: %s", parts.Name(n), gone[n])
		b.state.Retired = append(b.state.Retired, n)
		delete(b.parts, n)
	}
}

// describe enters the parts into their tables, whose schemas they bring along.
func (b *rebuild) describe() {
	listed := map[uint64]*manifest.PartMeta{} // by the old manifest
	tableOf := map[uint64]schema.TableID{}
	if b.before != nil {
		for id, t := range b.before.Tables {
			for i := range t.Parts {
				listed[t.Parts[i].File], tableOf[t.Parts[i].File] = &t.Parts[i], id
			}
		}
	}
	for _, n := range slices.Sorted(maps.Keys(b.parts)) {
		s := b.parts[n]
		m := listed[n]
		id := tableOf[n]
		switch {
		case s.origin != nil:
			o := s.origin
			id = o.Table
			b.state.Edit = max(b.state.Edit, o.Edit)
			for _, t := range o.Schemas {
				b.schema(t, o)
			}
			m = &manifest.PartMeta{File: n, Bytes: s.meta.Bytes, IndexBytes: s.meta.IndexBytes, Rows: s.meta.Rows,
				MinTime: s.meta.MinTime, MaxTime: s.meta.MaxTime,
				MinSeq: o.MinSeq, MaxSeq: o.MaxSeq, Checksum: s.meta.Checksum, Level: o.Level, IndexUS: o.IndexUS,
				Unique: o.Unique}
			if s.stub != nil {
				*m = m.Cold(s.stub.Object, s.stub.Checksum, s.stub.Length)
			}
		case m == nil:
			b.note("%s is left out: it was written by an earlier version and does not say what it is", parts.Name(n))
			continue
		}
		t := b.state.Tables[id]
		t.Parts = append(t.Parts, *m)
		if s.origin != nil {
			t.Flushed = max(t.Flushed, s.origin.Flushed)
		}
		b.out.Parts++
	}
	for _, t := range b.state.Tables {
		slices.SortStableFunc(t.Parts, func(x, y manifest.PartMeta) int { return cmp.Compare(x.MinSeq, y.MinSeq) })
	}
}

// schema records a schema unless a later version is recorded.
func (b *rebuild) schema(t *schema.Table, o *manifest.Origin) {
	b.state.NextTable = max(b.state.NextTable, t.ID+1)
	known := b.state.Tables[t.ID]
	if known == nil {
		known = &manifest.TableState{Schema: t}
		b.state.Tables[t.ID] = known
	}
	if t.Version > known.Schema.Version || t.Version == known.Schema.Version && o.Edit >= b.edits[t.ID] {
		known.Schema, b.edits[t.ID] = t, o.Edit
		b.state.Databases[t.Name.DB] = manifest.Database{Options: o.Options}
	}
}

// name makes the names of all tables unique. A truncated logical table has left an older one behind, whose rows must
// stay hidden; other tables with the same name were renamed since, or dropped.
func (b *rebuild) name() {
	taken := map[schema.Name]bool{}
	ids := slices.Sorted(maps.Keys(b.state.Tables))
	slices.Reverse(ids)
	for _, id := range ids {
		t := b.state.Tables[id]
		if t.Schema.Draft {
			b.note("table %d was made as %s, perhaps not to its end", id, t.Schema.Finished().Name)
			t.Schema = t.Schema.Finished()
		}
		if !taken[t.Schema.Name] {
			taken[t.Schema.Name] = true
			continue
		}
		if t.Schema.Physical != 0 {
			b.note("table %d, once %s, is left out: a later one has its name", id, t.Schema.Name)
			delete(b.state.Tables, id)
			continue
		}
		c := *t.Schema
		c.Name.Table = fmt.Sprintf("%s_%d", c.Name.Table, id)
		b.note("table %d is called %s: a later one has its name", id, c.Name)
		t.Schema, taken[c.Name] = &c, true
	}
	b.out.Tables = len(b.state.Tables)
}

// log takes over the state of the log and the ids that its records name.
func (b *rebuild) log(dir string) error {
	found, err := wal.Check(b.fs, dir, wal.Range{}, func(_ wal.LSN, rec []byte) error {
		_ = eachRecord(rec, b.record) // replay reports what cannot be read
		return nil
	})
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if b.state.Store == "" {
		if b.state.Store, err = wal.Store(b.fs, dir); err != nil {
			return err
		}
	}
	b.state.Edit = max(b.state.Edit, found.Edit)
	b.state.Log = manifest.LogRange(found.Segments)
	return nil
}

// record takes over the ids that a record of the log names.
func (b *rebuild) record(rec []byte) error {
	r, _, err := readRecordHead(rec)
	if err != nil {
		return err
	}
	b.state.NextTable = max(b.state.NextTable, r.table+1)
	t := b.state.Tables[r.table]
	if t == nil || len(r.ids) == 0 {
		return nil
	}
	if last := slices.Max(r.ids); last >= t.Schema.NextColumn {
		c := *t.Schema
		c.NextColumn = last + 1
		t.Schema = &c
	}
	return nil
}

// write keeps the old file and publishes the new one.
func (b *rebuild) write() error {
	name := path.Join(b.dir, manifest.FileName)
	if err := b.fs.Rename(name, path.Join(b.dir, brokenManifest)); err != nil && !vfs.NotExist(err) {
		return fmt.Errorf("keeping the old manifest: %w", err)
	}
	return manifest.Replace(b.fs, b.dir, b.state)
}
