package engine

import (
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
)

// Hint says how the rows of a write match their table, what to create where it is absent, and what becomes of rows that
// the table refuses.
type Hint struct {
	// AutoCreate false: an absent table is an error, and so are new columns.
	AutoCreate bool
	// Disabled says that the configuration turned AutoCreate off, not a hint of the client: the error says so.
	Disabled bool
	// TimeIndex names the time index column of the builder; Tags the tag columns, in key order.
	TimeIndex string
	Tags      []string
	// Planned is the table for which a statement built the builder with all its columns; nil if the builder's columns
	// are matched by names and types. If columns have other names or types by now, the values are converted like
	// existing rows. If another table has the name, the write fails with ErrDropped.
	Planned *schema.Table
	// Strict refuses fields that are tags of the table.
	Strict bool
	// TableRoles takes Tags for tables and columns that are made alone: a column that is a field of the table stays
	// one.
	TableRoles bool
	// LeftOut, when not nil, makes the store leave out rows of new series beyond storage.max_series, and is called with
	// them after the write. Without it, the write fails as a whole.
	LeftOut func(rows int, why error)
	// Reject, when not nil, makes the store leave out rows that their table does not take: a value of another type or
	// role, a column without room, a text that is too long. After the write it is called for each such row, with its
	// entry (Builder.From) and the reason. Without it, one such row makes the write fail.
	Reject func(entry int, why error)
	// StrictNumbers keeps integers and floats apart. Without it, integers may be written to columns of floats, and a
	// column of integers becomes a column of floats with the first float.
	StrictNumbers bool
	// Indexes are the indexes of created columns, by name.
	Indexes map[string][]schema.Index
	// Options are the table options of a created table, already checked (schema.ParseOptions). Two builders of one
	// table with different options are two groups.
	Options schema.Options
	Comment string
}

// AutoCreate reports whether the hints that came with a request let it make tables and columns; they do unless they say
// otherwise.
func AutoCreate(hints map[string]string) (bool, error) {
	x, given := hints[schema.AutoCreateHint]
	switch {
	case !given || strings.EqualFold(x, "true"):
		return true, nil
	case strings.EqualFold(x, "false"):
		return false, nil
	}
	return false, status.New(status.InvalidArguments,
		"Invalid InsertRequest, reason: `auto_create_table` hint must be a boolean")
}

// StrictNumbers reports whether a request keeps integers and floats apart: its hint says so, or else the configuration.
func StrictNumbers(hints map[string]string, configured bool) bool {
	if text := hints[schema.NumbersHint]; text != "" {
		return !IsTrue(text)
	}
	return configured
}

// IsTrue reports whether the text of a parameter or hint means yes.
func IsTrue(text string) bool {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on", "t":
		return true
	}
	return false
}

// WriteSet holds the rows of one request: a builder for each table and each group of options. SpareSets keeps it for
// the next request. One goroutine at a time.
type WriteSet struct {
	entries []*writeEntry
	byName  map[schema.Name]*writeEntry // the last entry of a table; made when there are many
	spare   []*vector.Builder
	expect  int64 // bytes of text in all rows; 0: nobody knows

	samples, spareSamples []*Samples
}

// writeEntry holds the rows for one table with one hint.
type writeEntry struct {
	name    schema.Name
	hint    Hint
	builder *vector.Builder
	before  *writeEntry // of the same table, with another hint; only when byName is there
}

// fewEntries is the number of entries up to which looking at each is faster than a map.
const fewEntries = 8

// Rows returns the builder of the rows for table t with hint h. The hint's time index column need not exist yet.
func (s *WriteSet) Rows(t schema.Name, h Hint) *vector.Builder {
	b, _ := s.Table(t, h)
	return b
}

// Table is Rows for decoders that find out which columns are tags while they read: they add them to the hint.
func (s *WriteSet) Table(t schema.Name, h Hint) (*vector.Builder, *Hint) {
	if len(s.entries) <= fewEntries {
		for _, e := range s.entries {
			if e.name == t && e.takes(&h) {
				return e.builder, &e.hint
			}
		}
	} else {
		s.index()
		for e := s.byName[t]; e != nil; e = e.before {
			if e.takes(&h) {
				return e.builder, &e.hint
			}
		}
	}
	var b *vector.Builder
	if k := len(s.spare); k > 0 {
		b, s.spare = s.spare[k-1], s.spare[:k-1]
	} else {
		b = vector.NewBuilder()
	}
	b.Expect(s.expect)
	e := &writeEntry{name: t, hint: h, builder: b}
	s.entries = append(s.entries, e)
	if s.byName != nil {
		e.before, s.byName[t] = s.byName[t], e
	}
	return b, &e.hint
}

// Expect notes about how much text the rows will have: the body that they come from, say. Their memory grows to it in
// few steps.
func (s *WriteSet) Expect(bytes int64) { s.expect = max(bytes, 0) }

// takes reports whether rows with a hint belong to the entry.
func (e *writeEntry) takes(h *Hint) bool {
	return e.hint.AutoCreate == h.AutoCreate && slices.Equal(e.hint.Options.All, h.Options.All) &&
		e.hint.TimeIndex == h.TimeIndex && e.hint.Planned == h.Planned && e.hint.Strict == h.Strict &&
		e.hint.TableRoles == h.TableRoles &&
		e.hint.StrictNumbers == h.StrictNumbers && (e.hint.Reject == nil) == (h.Reject == nil) &&
		slices.Equal(e.hint.Tags, h.Tags)
}

// index makes byName.
func (s *WriteSet) index() {
	if s.byName != nil {
		return
	}
	s.byName = make(map[schema.Name]*writeEntry, 2*len(s.entries))
	for _, e := range s.entries {
		e.before, s.byName[e.name] = s.byName[e.name], e
	}
}

// Reset empties the set and keeps its builders' buffers.
func (s *WriteSet) Reset() {
	for i, e := range s.entries {
		e.builder.Reset()
		s.spare = append(s.spare, e.builder)
		s.entries[i] = nil
	}
	s.entries, s.byName = s.entries[:0], nil
	for i, g := range s.samples {
		g.reset()
		s.samples[i] = nil
		s.spareSamples = append(s.spareSamples, g)
	}
	s.samples, s.expect = s.samples[:0], 0
}

// Held is the memory of the set's buffers in bytes, used or not.
func (s *WriteSet) Held() (bytes int64) {
	for _, e := range s.entries {
		bytes += e.builder.Held()
	}
	for _, b := range s.spare {
		bytes += b.Held()
	}
	for _, g := range s.samples {
		bytes += g.held()
	}
	for _, g := range s.spareSamples {
		bytes += g.held()
	}
	return bytes
}
