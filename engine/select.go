package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
)

// SelectRequest describes the series that a reader wants: an evaluator of metrics, or a reader of labels.
type SelectRequest struct {
	Tables   []SelectTable // each once; tables of one physical table are looked up together
	Matchers []Matcher     // all must pass
	// From and To are milliseconds since the epoch, both inclusive, whatever the unit of a table's time index.
	From, To int64
	// Presence: the values of floats are not needed, except whether they are NaN; the value may be any number. The
	// reader then need not decode rows to know that they have a value.
	Presence bool
	// Labels, when not nil, are the only labels that are wanted; several series may then have equal label sets.
	// Physical tables show all labels nevertheless, and so do tables in which several keys may form one series.
	Labels []string
	// Symbols number names and values of labels. Selections with the same Symbols can be compared by number. Symbols
	// count their own memory; nil: new Symbols that use Reserve.
	Symbols *Symbols
	// Reserve, when not nil, is called before memory is kept; its error ends the call. Readers of a selection call it
	// at the same time.
	Reserve func(bytes int64) error
	Stats   *scan.Stats // what reads did; may be nil
}

// SelectTable is a table of a request with its wanted fields. Numbers, booleans, decimals and times are read as floats,
// all other types as bytes.
type SelectTable struct {
	Table   *Table
	Columns []schema.ColumnID
}

// Select finds series by their labels and pins the current rows of the tables; it fails with Overtaken if columns have
// other types now. It reads no row of a part. A label or a value that does not exist is found nowhere and is not an
// error.
func (e *Engine) Select(ctx context.Context, r SelectRequest) (*Selection, error) {
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	if r.Symbols == nil {
		r.Symbols = NewSymbols(r.Reserve)
	}
	s := &Selection{from: e.reading, ctx: ctx, request: r}
	s.request.Stats = s.spent.begin(ctx, e.metrics, r.Stats)
	e.reading.open.Add(1) // merges give way
	if err := s.find(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// find pins the regions of the tables and gathers their series.
func (s *Selection) find() error {
	var tests []*labelTest
	for i := range s.request.Matchers {
		t, err := s.request.Matchers[i].compile(s.ctx.Err)
		if err != nil {
			return err
		}
		tests = append(tests, t)
	}
	for i := range s.request.Tables {
		if err := s.addTable(i); err != nil {
			return err
		}
	}
	for _, g := range s.groups {
		if err := s.findIn(g, tests); err != nil {
			return err
		}
	}
	s.end()
	if s.doubtful {
		if err := s.withAllLabels(); err != nil {
			return err
		}
		if err := s.unite(); err != nil {
			return err
		}
	}
	return s.account()
}

// end closes the lists behind the last series.
func (s *Selection) end() {
	s.labelsFrom = append(s.labelsFrom, uint32(len(s.labels)))
	s.sourcesFrom = append(s.sourcesFrom, uint32(len(s.sources)))
}

// withAllLabels lists the series once more if it was with some of their labels: all are compared where keys may have
// the same.
func (s *Selection) withAllLabels() error {
	if s.request.Labels == nil {
		return nil
	}
	s.request.Labels = nil
	s.shown, s.tables, s.labels, s.labelsFrom, s.sources, s.sourcesFrom = s.shown[:0], s.tables[:0], s.labels[:0],
		s.labelsFrom[:0], s.sources[:0], s.sourcesFrom[:0]
	for _, g := range s.groups {
		for _, t := range g.tables {
			for i := range t.labels {
				t.labels[i].unwanted = false
			}
		}
		if len(g.runs) > 0 {
			if err := s.merge(g); err != nil {
				return err
			}
		}
	}
	s.end()
	return nil
}

// group is the wanted tables of one region, with its snapshot.
type group struct {
	region *region
	snap   *regionSnap
	tables []*wantedTable // by rising id
	runs   []foundRun
	time   scan.Range
	late   []*labelTest // of labels that a physical table shows and no key holds
}

// foundRun is what was found in a part or memtable.
type foundRun struct {
	part  *part // nil: a memtable
	span  scan.Range
	found scan.Found
}

// wantedTable is a wanted table, or a logical table of a wanted physical one.
type wantedTable struct {
	number   int // in the request
	id       schema.TableID
	schema   *schema.Table
	columns  []schema.Column
	at       []int // position of each column among the columns requested from the runs
	group    *group
	time     scan.Range // in its unit
	unit     int64      // units of its time index in a second
	mode     mergeMode
	labels   []labelOf // by name
	byID     []int     // positions in labels, by rising number of the column
	physical bool      // its series are shown with the tags that the physical table has
}

// labelOf is a tag as a label, with the value that was seen last.
type labelOf struct {
	name     uint32
	column   *schema.Column
	initial  []byte // in series key form: of keys that do not name the tag
	unwanted bool
	last     string // in series key form
	symbol   uint32 // of last
}

// addTable enters a table of the request in the group of its region.
func (s *Selection) addTable(i int) error {
	t := s.request.Tables[i].Table
	g := s.groupOf(t.region)
	one := wantedTable{number: i, id: t.Schema.ID, schema: t.Schema, group: g,
		unit: t.Schema.TimeColumn().Type.UnitsPerSecond(), physical: t.Schema.Shared(),
		mode: mergeMode{keepAll: t.Schema.Options.AppendMode,
			lastNonNull: t.Schema.Options.MergeMode == schema.LastNonNull}}
	for _, id := range s.request.Tables[i].Columns {
		p := t.Schema.ByID(id)
		if p < 0 || t.Schema.Columns[p].Semantic != schema.Field {
			return status.New(status.TableColumnNotFound, "table %s has no field with number %d", t.Schema.Name, id)
		}
		one.columns = append(one.columns, readColumn(t.Schema.Columns[p]))
	}
	one.time = unitSpan(s.request.From, s.request.To, one.unit)
	one.time.From = max(one.time.From, s.from.oldest(t.Schema))
	g.time = scan.Range{From: min(g.time.From, one.time.From), To: max(g.time.To, one.time.To)}
	if err := s.describeLabels(&one); err != nil {
		return err
	}
	if !one.physical {
		g.tables = append(g.tables, &one)
		return nil
	}
	for _, m := range s.from.catalog.Load().logicalsOf(t.region) {
		shown := one
		shown.id, shown.labels = m.id, slices.Clone(one.labels)
		g.tables = append(g.tables, &shown)
	}
	return nil
}

// groupOf is the group of a region, whose rows are pinned with the first of its tables.
func (s *Selection) groupOf(r *region) *group {
	for _, g := range s.groups {
		if g.region == r {
			return g
		}
	}
	g := &group{region: r, snap: r.pin(), time: scan.Range{From: math.MaxInt64, To: math.MinInt64}}
	s.groups = append(s.groups, g)
	return g
}

// describeLabels sorts the tags of a table by name.
func (s *Selection) describeLabels(t *wantedTable) error {
	t.labels, t.byID = make([]labelOf, len(t.schema.Tags)), make([]int, len(t.schema.Tags))
	for i, p := range t.schema.Tags {
		t.labels[i].column = &t.schema.Columns[p]
	}
	slices.SortFunc(t.labels, func(a, b labelOf) int { return strings.Compare(a.column.Name, b.column.Name) })
	for i := range t.labels {
		l := &t.labels[i]
		c := l.column
		t.byID[i] = i
		name, err := s.request.Symbols.id([]byte(c.Name))
		if err != nil {
			return err
		}
		l.name, l.initial = name, schema.InitialTag(c.Initial)
		l.unwanted = s.request.Labels != nil && !t.physical && c.Type.IsText() &&
			!slices.Contains(s.request.Labels, c.Name)
	}
	slices.SortFunc(t.byID, func(a, b int) int { return cmp.Compare(t.labels[a].column.ID, t.labels[b].column.ID) })
	return nil
}

// unitSpan is a span of milliseconds, both ends inclusive, in a unit of so many to a second.
func unitSpan(from, to, unit int64) scan.Range {
	if unit >= 1000 {
		k := unit / 1000
		r := scan.Range{From: math.MinInt64, To: math.MaxInt64}
		if from > math.MinInt64/k {
			r.From = min(from, math.MaxInt64/k) * k
		}
		if to < math.MaxInt64/k {
			r.To = max(to, math.MinInt64/k)*k + k - 1
		}
		if from > math.MaxInt64/k || to < math.MinInt64/k {
			return scan.Range{From: 1, To: 0}
		}
		return r
	}
	k := 1000 / unit
	return scan.Range{From: -timefmt.FloorDiv(-max(from, math.MinInt64+1), k), To: timefmt.FloorDiv(to, k)}
}

// findIn finds the series of a group in its runs and merges their lists.
func (s *Selection) findIn(g *group, tests []*labelTest) error {
	slices.SortFunc(g.tables, func(a, b *wantedTable) int { return int(int64(a.id) - int64(b.id)) })
	if g.time.From > g.time.To || len(g.tables) == 0 {
		return nil
	}
	want := &scan.Find{Time: g.time, TimeColumn: g.tables[0].schema.TimeColumn(), Presence: s.request.Presence,
		Stats: s.request.Stats, Context: s.spent.context(), Reserve: s.request.Reserve}
	for _, t := range g.tables {
		want.Tables = append(want.Tables, t.id)
		for _, c := range t.columns {
			at := slices.IndexFunc(want.Columns, func(o schema.Column) bool { return o.ID == c.ID })
			if at < 0 {
				at = len(want.Columns)
				want.Columns = append(want.Columns, c)
			}
			t.at = append(t.at, at)
		}
	}
	for _, test := range tests {
		i := slices.IndexFunc(g.tables, func(t *wantedTable) bool { return t.tag(test.label) >= 0 })
		switch {
		case i >= 0:
			t := g.tables[i]
			if c := t.labels[t.tag(test.label)].column; isKeyTag(c.ID) {
				g.late = append(g.late, test)
			} else {
				want.Tests = append(want.Tests, test.on(*c))
			}
		case !test.empty:
			return nil // no table has the label
		}
	}
	if err := s.findRuns(g, want); err != nil {
		return err
	}
	return s.merge(g)
}

// tag finds a label by name; -1: the table lacks it.
func (t *wantedTable) tag(name string) int {
	return slices.IndexFunc(t.labels, func(l labelOf) bool { return l.column.Name == name })
}

// tagWith finds the label of a column; from is the position in byID behind that of the tag before: keys have their tags
// by rising number.
func (t *wantedTable) tagWith(id schema.ColumnID, from *int) (label int, ok bool) {
	at := *from
	if at >= len(t.byID) || t.labels[t.byID[at]].column.ID != id {
		at, ok = slices.BinarySearchFunc(t.byID, id, func(label int, id schema.ColumnID) int {
			return cmp.Compare(t.labels[label].column.ID, id)
		})
		if !ok {
			return 0, false
		}
	}
	*from = at + 1
	return t.byID[at], true
}

// findRuns asks the parts and memtables of a group. The runs that have series are ordered by their first time, so that
// the samples of a series mostly lie one behind the other.
func (s *Selection) findRuns(g *group, want *scan.Find) error {
	all := s.runsOf(g)
	for _, t := range g.tables {
		if err := s.request.Tables[t.number].Table.sameTypes(t.schema, t.columns...); err != nil {
			return err
		}
	}
	for _, r := range all {
		span := r.run.Span()
		if r.run.Rows() == 0 || !g.time.Overlaps(span.From, span.To) {
			continue
		}
		f, err := r.run.Find(want)
		if err != nil {
			return s.from.damages.met(g.region, r.part, err)
		}
		if f.Len() == 0 {
			continue
		}
		g.runs = append(g.runs, foundRun{r.part, span, f})
		s.found += f.Bytes()
		if err := s.account(); err != nil {
			return err
		}
	}
	slices.SortStableFunc(g.runs, func(a, b foundRun) int { return cmp.Compare(a.span.From, b.span.From) })
	return nil
}

// runsOf are the parts and memtables of a group, oldest first.
func (s *Selection) runsOf(g *group) (all []*scanRun) {
	for _, p := range g.snap.parts {
		all = append(all, &scanRun{p.run, p})
	}
	for _, m := range g.snap.mems() {
		all = append(all, &scanRun{m.table.Live(), nil})
	}
	return all
}

// Selection is series that were found, with dense numbers from 0 on: table by table, and inside a table by rising key,
// so that neighbours lie side by side on the disk. Safe for concurrent use.
type Selection struct {
	from    *reading
	ctx     context.Context
	request SelectRequest
	spent   spending
	groups  []*group
	closed  sync.Once

	tables      []uint32 // of each series: its position in shown
	shown       []*wantedTable
	labels      []Label
	labelsFrom  []uint32 // labels of series i: labels[labelsFrom[i]:labelsFrom[i+1]]
	sources     []seriesSource
	sourcesFrom []uint32 // the same for sources
	doubtful    bool     // two keys may have the same labels
	found       int64    // bytes of what the runs hold
	held        int64    // bytes that were reserved
}

// Label is a label of a series: symbols of its name and of its value, which is not empty.
type Label struct{ Name, Value uint32 }

// seriesSource is where rows of a series are: the i'th series of a run of its group.
type seriesSource struct{ run, i uint32 }

// Len is the number of series. Some may turn out to have no sample.
func (s *Selection) Len() int { return len(s.tables) }

// Table is the table of series i, as its position in the request.
func (s *Selection) Table(i int) int { return s.tableOf(i).number }

func (s *Selection) tableOf(i int) *wantedTable { return s.shown[s.tables[i]] }

// Labels are the labels of series i by name, those with the empty value left out. They are not to be changed.
func (s *Selection) Labels(i int) []Label { return s.labels[s.labelsFrom[i]:s.labelsFrom[i+1]] }

// Symbols are the texts of the labels.
func (s *Selection) Symbols() *Symbols { return s.request.Symbols }

// Span bounds the times of the rows, in milliseconds; rows of other series may also lie in the span. If there are no
// rows, its begin is greater than its end.
func (s *Selection) Span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, g := range s.groups {
		for _, run := range g.runs {
			ends := appendMS(nil, []int64{run.span.From, run.span.To}, g.tables[0].unit)
			from, to = min(from, ends[0]), max(to, ends[1])
		}
	}
	return from, to
}

// Rows bounds the rows of series [from, to): those at other times than the wanted ones may count.
func (s *Selection) Rows(from, to int) (n int) {
	for i := from; i < to; i++ {
		g := s.tableOf(i).group
		for _, src := range s.sourcesOf(i) {
			n += g.runs[src.run].found.Rows(int(src.i))
		}
	}
	return n
}

func (s *Selection) sourcesOf(i int) []seriesSource {
	return s.sources[s.sourcesFrom[i]:s.sourcesFrom[i+1]]
}

// Close lets go of the rows. No Read may be under way.
func (s *Selection) Close() {
	s.closed.Do(func() {
		s.from.open.Add(-1)
		_ = s.spent.err() // what was read last counts; whoever evaluates asks the context
		for _, g := range s.groups {
			g.region.unpin(g.snap)
		}
	})
}

// readsAsFloat reports whether values of a type are given as floats.
func readsAsFloat(t vector.Type) bool {
	return t.Kind() != vector.Bytes || t.ID == vector.TypeDecimal
}

// floats reports whether a column is read as floats.
func (t *wantedTable) floats(column int) bool { return readsAsFloat(t.columns[column].Type) }
