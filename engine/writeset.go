package engine

import (
	"slices"

	"varve/engine/schema"
	"varve/engine/vector"
)

type writeSet struct {
	entries []*writeEntry
	spare   []*vector.Builder
}

// writeEntry is the rows for one table with one hint.
type writeEntry struct {
	name    schema.Name
	hint    Hint
	builder *vector.Builder
}

func (s *writeSet) rows(t schema.Name, h Hint) *vector.Builder {
	for _, e := range s.entries {
		if e.name == t && e.hint.AutoCreate == h.AutoCreate && slices.Equal(e.hint.Options.All, h.Options.All) &&
			e.hint.TimeIndex == h.TimeIndex && slices.Equal(e.hint.Tags, h.Tags) {
			return e.builder
		}
	}
	var b *vector.Builder
	if k := len(s.spare); k > 0 {
		b, s.spare = s.spare[k-1], s.spare[:k-1]
	} else {
		b = vector.NewBuilder()
	}
	s.entries = append(s.entries, &writeEntry{t, h, b})
	return b
}

func (s *writeSet) reset() {
	for i, e := range s.entries {
		e.builder.Reset()
		s.spare = append(s.spare, e.builder)
		s.entries[i] = nil
	}
	s.entries = s.entries[:0]
}
