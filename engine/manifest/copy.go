package manifest

import (
	"fmt"
	"path"

	"varve/engine/vfs"
)

// Read returns the state of a data directory without changing anything, so also while a server runs. whole is false
// when an edit that was never acknowledged lies at the end: a crash left it, the next start cuts it off.
func Read(fs vfs.FS, dir string) (s *State, whole bool, err error) {
	name := path.Join(dir, FileName)
	mapping, err := fs.Map(name)
	if err != nil {
		return nil, false, fmt.Errorf("manifest: %w", err)
	}
	if s, whole, err = (&Manifest{fs: fs, dir: dir}).readMapped(mapping); err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	return s, whole, nil
}

// Write makes the manifest of another directory with the given state, whose parts are there and nothing else: no log,
// no files that were left over, and another store.
func Write(fs vfs.FS, dir string, s *State) error { return Replace(fs, dir, OfCopy(s)) }

// OfCopy is the state of a copy of the store: another store, without a log and without files that were left over.
func OfCopy(s *State) *State {
	c := *s
	c.Store, c.Log, c.Retired, c.Standing = "", LogRange{}, nil, Standing{}
	return &c
}

// Encode returns the bytes of a manifest with the given state as its snapshot and no edits.
func Encode(s *State) ([]byte, error) {
	b, _, err := encodeFile(s)
	return b, err
}

// Decode returns the state of what Encode gave; other bytes are ErrCorrupt.
func Decode(b []byte) (*State, error) {
	s, whole, err := new(Manifest).read(b)
	if err == nil && !whole {
		err = fmt.Errorf("%w: it does not end with a whole edit", ErrCorrupt)
	}
	if err == nil {
		err = s.reachable()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Replace makes the manifest of a directory with the given state.
func Replace(fs vfs.FS, dir string, s *State) error {
	m := &Manifest{fs: fs, dir: dir}
	if err := m.rewrite(s); err != nil {
		return err
	}
	return m.Close()
}

// Select is the state with the chosen tables alone; databases stay. Positions go: rows of others are missing.
func (s *State) Select(choose func(*TableState) bool) *State {
	c := *s
	c.Positions = nil
	c.Tables = newState().Tables
	for id, t := range s.Tables {
		if choose(t) {
			c.Tables[id] = t
		}
	}
	return &c
}
