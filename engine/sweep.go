package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"varve/engine/manifest"
	"varve/engine/parts"
	"varve/engine/schema"
	"varve/engine/vfs"
	"varve/sst"
)

// Files of parts come and go beside the manifest, which alone says what counts. A file is removed only when that is
// known to lose nothing: it was never finished, or listed once and given up (State.Retired), or its rows are elsewhere
// by what it says of itself. Everything else stays: a manifest that lost its end must not cost the parts that it
// listed.

// stranger is a file that the manifest does not know.
type stranger struct {
	file   uint64
	meta   sst.Meta
	origin *manifest.Origin // nil: it says nothing of itself
	stub   *parts.Stub      // of a cold part, where a manifest is made anew
	err    error            // why it cannot be read
	empty  bool
}

// strangers handles the files that the manifest does not list: it removes unfinished and retired ones, and returns the
// others.
func (st *starting) strangers() ([]stranger, error) {
	entries, err := st.files.store.List()
	if err != nil && !(st.reads && vfs.NotExist(err)) {
		return nil, fmt.Errorf("parts directory: %w", err)
	}
	listed := map[uint64]*manifest.PartMeta{}
	for _, t := range st.state.Tables {
		for i := range t.Parts {
			listed[t.Parts[i].File] = &t.Parts[i]
		}
	}
	for _, e := range entries {
		if e.Cold && !e.Unfinished {
			st.files.haveStub(e.File)
		}
	}
	var found []stranger
	for _, e := range entries {
		st.files.next.Store(max(st.files.next.Load(), e.File+1))
		m := listed[e.File]
		switch {
		case e.Unfinished:
			err = st.files.store.Remove(e)
		case m != nil && m.Location != "" && !e.Cold && st.files.hasStub(e.File):
			err = st.files.store.Remove(e) // the part moved, and the server ended before its file was removed
		case m != nil:
			continue
		case e.Cold && slices.Contains(entries, parts.Entry{File: e.File}):
			continue // it goes or stays with the whole part
		case slices.Contains(st.state.Retired, e.File):
			err = st.files.unlink(e.File)
		default:
			found = append(found, lookAt(st.files.store, e.File))
			continue
		}
		st.left(e.String(), err)
	}
	for _, n := range st.state.Retired {
		if !slices.Contains(entries, parts.Entry{File: n}) && !st.files.hasStub(n) {
			st.files.gone(n)
		}
	}
	return found, nil
}

// lookAt reads what a part says of itself.
func lookAt(store parts.Store, file uint64) stranger {
	s := stranger{file: file}
	bytes, err := store.Open(context.Background(), file)
	var p *sst.Part
	if err == nil {
		p, err = sst.OpenFile(bytes, parts.Name(file), sst.OpenOptions{})
	}
	if err != nil {
		size, unknown := store.Size(file)
		s.err, s.empty = err, unknown == nil && size == 0
		return s
	}
	s.meta = p.Meta()
	b, err := p.Origin()
	if err == nil && b != nil {
		s.origin, err = manifest.DecodeOrigin(b)
	}
	s.err = errors.Join(err, p.Close())
	return s
}

// knows refuses a manifest if parts or segments refer to later edits: the manifest has lost its end, or is an old copy.
func (st *starting) knows(found []stranger) error {
	for _, s := range found {
		if s.origin == nil {
			continue
		}
		st.leastTable = max(st.leastTable, s.origin.Table+1)
		for _, t := range s.origin.Schemas {
			st.leastTable = max(st.leastTable, t.ID+1)
		}
	}
	if err := isBehind(st.state, st.log.Edit(), found); err != nil {
		return fmt.Errorf("%s/%w. Nothing was changed. %s", st.o.Dir, err, wayOut(st.o.Dir))
	}
	return nil
}

// isBehind tells a manifest that lost its end by files that were written when it had more.
func isBehind(state *manifest.State, logEdit uint64, found []stranger) error {
	last, what := logEdit, "the log"
	for _, s := range found {
		if s.origin != nil && s.origin.Edit > last {
			last, what = s.origin.Edit, parts.Name(s.file)
		}
	}
	if last <= state.Edit {
		return nil
	}
	return fmt.Errorf("%s ends at edit %d, but %s was written after edit %d: it was cut, or is an old one",
		manifest.FileName, state.Edit, what, last)
}

// wayOut says what can be done about a directory without a manifest that can be used.
func wayOut(dir string) string {
	return fmt.Sprintf(
		"Put the right file back, restore a backup (varve restore), or make a manifest of what the parts say of "+
			"themselves: varve check --rebuild-manifest %s", dir)
}

// sweep removes the files that the manifest does not know and whose rows are known to be elsewhere: what a crash left
// of flushes and merges. Others are reported and stay. The log has been replayed.
func (st *starting) sweep(found []stranger) {
	for i := range found {
		s := &found[i]
		switch why := s.holds(st.files.store, st.state, st.logWhole); {
		case why == "":
			st.left(parts.Name(s.file), st.files.unlink(s.file))
			st.files.stray(s.file) // it may come back
		case s.err == nil && s.origin == nil:
			st.o.Logger.Warn("a part that no list names is kept", "file", parts.Name(s.file), "reason", why)
		default:
			st.damages.note(s.aside(st.state, why))
		}
	}
}

// holds says why a file that the manifest does not know may hold rows that are nowhere else; empty: it does not.
func (s *stranger) holds(store parts.Store, state *manifest.State, logWhole bool) string {
	gone := func(file uint64) bool {
		_, err := store.Size(file)
		return err != nil
	}
	switch {
	case s.empty:
		return ""
	case s.err != nil:
		return s.err.Error()
	case s.origin == nil:
		return "no list names the part, and it was written by an earlier version, which did not say what it is"
	}
	t := state.Tables[s.origin.Table]
	switch {
	case t == nil && s.origin.Table < state.NextTable:
		return "" // of a table that was dropped
	case t == nil:
		return "no list names the part, nor its table"
	case len(s.origin.Replaces) == 0 && logWhole && s.origin.MinSeq > t.Flushed:
		return "" // a flush that did not end: the log has the rows
	case len(s.origin.Replaces) > 0 &&
		!slices.ContainsFunc(s.origin.Replaces, func(f uint64) bool { return !t.Lists(f) || gone(f) }):
		return "" // a merge that did not end
	}
	return "no list names the part, and its rows may be nowhere else"
}

// aside describes a file that is kept and not served.
func (s *stranger) aside(state *manifest.State, why string) SetAside {
	a := SetAside{File: parts.Name(s.file),
		Reason: why + ": it is kept and not served, see varve check --rebuild-manifest", Block: -1, Rows: s.meta.Rows,
		Min: s.meta.MinTime, Max: s.meta.MaxTime}
	if s.origin == nil {
		return a
	}
	if t := state.Tables[s.origin.Table]; t != nil {
		a.Table = t.Schema.Name
	} else if i := slices.IndexFunc(s.origin.Schemas,
		func(t *schema.Table) bool { return t.ID == s.origin.Table }); i >= 0 {
		a.Table = s.origin.Schemas[i].Name
	}
	return a
}
