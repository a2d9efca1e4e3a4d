package engine

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

type writeSet struct {
	entries []*writeEntry
	byName  map[schema.Name]*writeEntry // the last entry of a table; made when there are many
	spare   []*vector.Builder
}

// writeEntry is the rows for one table with one hint.
type writeEntry struct {
	name    schema.Name
	hint    Hint
	builder *vector.Builder
	before  *writeEntry // of the same table, with another hint; only when byName is there
}

// fewEntries is the number of entries up to which looking at each is faster than a map.
const fewEntries = 8

func (s *writeSet) rows(t schema.Name, h Hint) *vector.Builder {
	if len(s.entries) <= fewEntries {
		for _, e := range s.entries {
			if e.name == t && e.takes(&h) {
				return e.builder
			}
		}
	} else {
		s.index()
		for e := s.byName[t]; e != nil; e = e.before {
			if e.takes(&h) {
				return e.builder
			}
		}
	}
	var b *vector.Builder
	if k := len(s.spare); k > 0 {
		b, s.spare = s.spare[k-1], s.spare[:k-1]
	} else {
		b = vector.NewBuilder()
	}
	e := &writeEntry{name: t, hint: h, builder: b}
	s.entries = append(s.entries, e)
	if s.byName != nil {
		e.before, s.byName[t] = s.byName[t], e
	}
	return b
}

// takes tells whether rows with a hint belong to the entry.
func (e *writeEntry) takes(h *Hint) bool {
	return e.hint.AutoCreate == h.AutoCreate && slices.Equal(e.hint.Options.All, h.Options.All) &&
		e.hint.TimeIndex == h.TimeIndex && e.hint.Typed == h.Typed && slices.Equal(e.hint.Tags, h.Tags)
}

// index makes byName.
func (s *writeSet) index() {
	if s.byName != nil {
		return
	}
	s.byName = make(map[schema.Name]*writeEntry, 2*len(s.entries))
	for _, e := range s.entries {
		e.before, s.byName[e.name] = s.byName[e.name], e
	}
}

func (s *writeSet) reset() {
	for i, e := range s.entries {
		e.builder.Reset()
		s.spare = append(s.spare, e.builder)
		s.entries[i] = nil
	}
	s.entries, s.byName = s.entries[:0], nil
}

// held is the memory of the builders, those in use and spare ones.
func (s *writeSet) held() (bytes int64) {
	for _, e := range s.entries {
		bytes += e.builder.Held()
	}
	for _, b := range s.spare {
		bytes += b.Held()
	}
	return bytes
}
