package engine

import (
	"bytes"
	"encoding/binary"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// keyHead is a run's list of series with the key at hand.
type keyHead struct {
	run  uint32
	keys scan.Keys
	key  []byte
	i, n int
}

// merge merges the series of the runs of a group into one list, ordered by key.
func (s *Selection) merge(g *group) error {
	s.makeRoom(g)
	if err := s.account(); err != nil {
		return err
	}
	heads := make([]*keyHead, 0, len(g.runs))
	for r, run := range g.runs {
		keys, err := run.found.Keys()
		if err != nil {
			return s.from.damages.met(g.region, run.part, err)
		}
		h := &keyHead{run: uint32(r), keys: keys, n: run.found.Len()}
		if err := s.load(g, h); err != nil {
			return err
		}
		heads = append(heads, h)
	}
	add := adder{s: s, g: g}
	var least []*keyHead
	for merged := 1; len(heads) > 0; merged++ {
		least = leastOf(least[:0], heads)
		wanted, err := add.series(least[0].key)
		if err != nil {
			return s.from.damages.met(g.region, g.runs[least[0].run].part, err)
		}
		done := false
		for _, h := range least {
			if wanted {
				s.sources = append(s.sources, seriesSource{h.run, uint32(h.i)})
			}
			h.i++
			done = done || h.i == h.n
			if err := s.load(g, h); err != nil {
				return err
			}
		}
		if done {
			heads = slices.DeleteFunc(heads, func(h *keyHead) bool { return h.i == h.n })
		}
		if merged%accountSeries == 0 {
			if err := s.account(); err != nil {
				return err
			}
		}
	}
	return nil
}

// leastOf appends the heads with the least key.
func leastOf(dst, heads []*keyHead) []*keyHead {
	dst = append(dst, heads[0])
	for _, h := range heads[1:] {
		switch bytes.Compare(h.key, dst[0].key) {
		case -1:
			dst = append(dst[:0], h)
		case 0:
			dst = append(dst, h)
		}
	}
	return dst
}

// makeRoom has the lists grow once for the series of a group: at least as many as one of its runs has.
func (s *Selection) makeRoom(g *group) {
	series, sources := 0, 0
	for _, run := range g.runs {
		series, sources = max(series, run.found.Len()), sources+run.found.Len()
	}
	s.tables = slices.Grow(s.tables, series)
	s.labelsFrom = slices.Grow(s.labelsFrom, series+1)
	s.sourcesFrom = slices.Grow(s.sourcesFrom, series+1)
	s.sources = slices.Grow(s.sources, sources)
	wanted := 0
	for i := range g.tables[0].labels {
		wanted += int(vector.Bit(!g.tables[0].labels[i].unwanted))
	}
	s.labels = slices.Grow(s.labels, series*min(wanted, usualLabels))
}

// usualLabels is the number of labels that series have at most, but for few.
const usualLabels = 8

// accountSeries is the number of series after which a selection reports to the budget and checks whether it was
// cancelled.
const accountSeries = 4096

// load reads the key of the current series, if there is one.
func (s *Selection) load(g *group, h *keyHead) (err error) {
	if h.i == h.n {
		return nil
	}
	if h.key, err = h.keys.Next(); err != nil {
		return s.from.damages.met(g.region, g.runs[h.run].part, err)
	}
	return nil
}

// account reserves what the list has grown by.
func (s *Selection) account() error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.request.Reserve == nil {
		return nil
	}
	bytes := int64(cap(s.labels)+cap(s.sources))*8 + int64(cap(s.tables)+cap(s.labelsFrom)+cap(s.sourcesFrom))*4 +
		s.found
	if bytes <= s.held {
		return nil
	}
	more := bytes - s.held
	s.held = bytes
	return s.request.Reserve(more)
}

// adder enters series of a group by their keys.
type adder struct {
	s       *Selection
	g       *group
	t       *wantedTable // of the key before
	values  []uint32     // symbols by label
	scratch []byte
}

// series enters a series and reports whether it is wanted.
func (a *adder) series(key []byte) (bool, error) {
	id, tags, err := schema.CutTable(key)
	if err != nil {
		return false, err
	}
	if a.t == nil || a.t.id != id {
		i, _ := slices.BinarySearchFunc(a.g.tables, id,
			func(t *wantedTable, id schema.TableID) int { return int(int64(t.id) - int64(id)) })
		a.t = a.g.tables[i]
		a.values = make([]uint32, len(a.t.labels))
		a.s.shown = append(a.s.shown, a.t)
	}
	t, s := a.t, a.s
	for i := range t.labels {
		a.values[i] = 0
		if l := &t.labels[i]; l.initial != nil && !l.unwanted {
			if a.values[i], err = s.symbol(l, l.initial); err != nil {
				return false, err
			}
		}
	}
	for next := 0; len(tags) > 0; {
		var c schema.ColumnID
		var val []byte
		if c, val, tags, err = schema.CutTag(tags, &a.scratch); err != nil {
			return false, err
		}
		i, ok := t.tagWith(c, &next)
		if !ok { // added after the caller looked at the schema
			s.doubtful = true
			continue
		}
		s.doubtful = s.doubtful || len(val) == 0 // another key may leave it out
		if t.labels[i].unwanted {
			continue
		}
		if a.values[i], err = s.symbol(&t.labels[i], val); err != nil {
			return false, err
		}
	}
	s.tables = append(s.tables, uint32(len(s.shown)-1))
	s.labelsFrom = append(s.labelsFrom, uint32(len(s.labels)))
	s.sourcesFrom = append(s.sourcesFrom, uint32(len(s.sources)))
	for i, v := range a.values {
		if v != 0 {
			s.labels = append(s.labels, Label{t.labels[i].name, v})
		}
	}
	if t.physical {
		if err := a.physicalLabels(key); err != nil {
			return false, err
		}
	}
	if !a.passes() {
		last := len(s.tables) - 1
		s.labels = s.labels[:s.labelsFrom[last]]
		s.tables, s.labelsFrom, s.sourcesFrom = s.tables[:last], s.labelsFrom[:last], s.sourcesFrom[:last]
		return false, nil
	}
	return true, nil
}

// passes holds the labels of the series in hand against the tests that no run could decide.
func (a *adder) passes() bool {
	labels := a.s.labels[a.s.labelsFrom[len(a.s.labelsFrom)-1]:]
	for _, test := range a.g.late {
		var text string
		for _, l := range labels {
			if a.s.request.Symbols.String(l.Name) == test.label {
				text = a.s.request.Symbols.String(l.Value)
			}
		}
		if !test.test([]byte(text)) {
			return false
		}
	}
	return true
}

// symbol numbers a value of a tag; nil: NULL.
func (s *Selection) symbol(l *labelOf, val []byte) (uint32, error) {
	if len(val) == 0 {
		return 0, nil
	}
	if l.last == string(val) { // neighbours often have the same
		return l.symbol, nil
	}
	text := val
	if !l.column.Type.IsText() {
		text = tagText(l.column.Type, val)
	}
	id, err := s.request.Symbols.id(text)
	if err != nil {
		return 0, err
	}
	if l.last, l.symbol = s.request.Symbols.String(id), id; !l.column.Type.IsText() {
		l.last = string(val)
	}
	return id, nil
}

// physicalLabels sets the labels that a physical table shows in addition to those of its logical tables.
func (a *adder) physicalLabels(key []byte) error {
	s, t := a.s, a.t
	own := s.labels[s.labelsFrom[len(s.labelsFrom)-1]:]
	set := func(c schema.Column, x uint64) error {
		i, ok := t.tagWith(c.ID, new(int))
		if !ok {
			return nil
		}
		value, err := s.request.Symbols.id(tagText(c.Type, binary.BigEndian.AppendUint64(nil, x)))
		if err != nil {
			return err
		}
		l := Label{t.labels[i].name, value}
		at := slices.IndexFunc(own, func(o Label) bool { return t.rank(o.Name) > i })
		if at < 0 {
			at = len(own)
		}
		own = slices.Insert(own, at, l)
		return nil
	}
	if err := set(schema.TableTag, uint64(schema.KeyTable(key))); err != nil {
		return err
	}
	if err := set(schema.SeriesTag, schema.KeyHash(key)); err != nil {
		return err
	}
	s.labels = append(s.labels[:s.labelsFrom[len(s.labelsFrom)-1]], own...)
	return nil
}

// rank is the position of a label among the table's.
func (t *wantedTable) rank(name uint32) int {
	return slices.IndexFunc(t.labels, func(l labelOf) bool { return l.name == name })
}

// unite joins series of a table with equal labels into one: a tag may be NULL in one key and empty in another.
func (s *Selection) unite() error {
	first := make(map[string]int, s.Len())
	var of [][]seriesSource
	var text []byte
	kept := 0
	labels, labelsFrom := []Label(nil), []uint32(nil)
	for i := range s.tables {
		if i%accountSeries == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		text = binary.AppendUvarint(text[:0], uint64(s.tableOf(i).id))
		for _, l := range s.Labels(i) {
			text = binary.AppendUvarint(binary.AppendUvarint(text, uint64(l.Name)), uint64(l.Value))
		}
		at, ok := first[string(text)]
		if !ok {
			at = kept
			first[string(text)] = at
			of = append(of, nil)
			s.tables[kept] = s.tables[i]
			kept++
			labelsFrom = append(labelsFrom, uint32(len(labels)))
			labels = append(labels, s.Labels(i)...)
		}
		of[at] = append(of[at], s.sourcesOf(i)...)
	}
	s.tables, s.labels, s.labelsFrom = s.tables[:kept], labels, append(labelsFrom, uint32(len(labels)))
	s.sources, s.sourcesFrom = nil, nil
	for _, all := range of {
		s.sourcesFrom = append(s.sourcesFrom, uint32(len(s.sources)))
		s.sources = append(s.sources, all...)
	}
	s.sourcesFrom = append(s.sourcesFrom, uint32(len(s.sources)))
	return nil
}
