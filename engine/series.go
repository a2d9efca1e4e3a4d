package engine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/memtable"
	"varve/sst"
)

// Series is a series of a table of metrics, found by its labels once and written to many times. Safe for concurrent
// use.
type Series struct {
	home    home
	ref     memtable.Ref
	altered uint32        // schema.Table.Altered of the table in which the labels were found
	freed   atomic.Uint32 // Freed of a table that has the labels

	census  *census       // that it was counted by; nil: none
	counted atomic.Uint32 // generation of the census << 1 | it has no rows yet
}

// Alive reports whether the table of the series exists unchanged and takes rows, and the series still counts. Rows
// written to a series of a dropped table are lost with the table.
func (s *Series) Alive() bool {
	return !s.home.dropped() && s.in(s.home.schema()) && !s.census.stale(s) && s.home.refusing() == nil
}

// in reports whether the labels are columns of a table, which is that of the series, as they were when they were found.
func (s *Series) in(t *schema.Table) bool {
	if s.altered != t.Altered {
		return false
	}
	if s.freed.Load() == t.Freed {
		return true
	}
	there := true
	_, err := schema.ParseSeriesKey(s.ref.Key(), func(c schema.ColumnID, _ []byte) { there = there && t.ByID(c) >= 0 })
	if there = there && err == nil; there {
		s.freed.Store(t.Freed)
	}
	return there
}

// SeriesName names a series: its table and its labels, sorted by name, without empty ones.
type SeriesName struct {
	Table schema.Name
	// Physical is the physical table in which the table is made when it is absent; empty: it gets storage of its own.
	Physical string
	Labels   []SeriesLabel
}

// SeriesLabel is a label with its value.
type SeriesLabel struct{ Name, Value string }

// SampleColumns are the names of the columns of the tables that samples make: time index, floats, histograms and start
// times.
type SampleColumns struct{ Time, Value, Histogram, Start string }

// SeriesRequest asks for series.
type SeriesRequest struct {
	Columns SampleColumns
	Names   []SeriesName
	// Plain are the options of tables with storage of their own.
	Plain schema.Options
	// TTL is the ttl of logical tables; empty: that of their physical table.
	TTL string
	// NoAutoCreate: a table that is absent, and a label that its table lacks, is an error.
	NoAutoCreate bool
}

// Series finds the series of a request. It creates missing tables and labels, all at once. If a series cannot be
// written to, only that series gets the error. RateLimited where the user or a table must not be written to now.
func (e *Engine) Series(ctx context.Context, r *SeriesRequest) ([]*Series, []error, error) {
	errs := make([]error, len(r.Names))
	for i := range r.Names {
		errs[i] = e.views.refuse(r.Names[i].Table)
	}
	if err := e.door.enterToChange(); err != nil {
		return nil, nil, err
	}
	defer e.door.leave()
	if err := e.toll.ready(ctx, e.catalog.Load(), r.Names); err != nil {
		e.metrics.Refused.WithLabelValues("rate").Inc()
		return nil, nil, err
	}
	return e.finder.find(ctx, r, errs)
}

// seriesOf finds a series; errEvolve: its table is absent or lacks a label.
func (c *catalog) seriesOf(r *SeriesRequest, n *SeriesName) (*Series, error) {
	p, ok := c.byName[n.Table]
	if !ok {
		if _, ok := c.databases[n.Table.DB]; !ok {
			return nil, status.New(status.DatabaseNotFound, "Database not found: %s", n.Table.DB)
		}
		if r.NoAutoCreate {
			return nil, (&Hint{Disabled: true}).refuse("Table `%s` does not exist", n.Table.Table)
		}
		if err := c.refusing(n); err != nil {
			return nil, err
		}
		return nil, errEvolve
	}
	if err := p.refusing(); err != nil {
		return nil, err
	}
	t := p.schema()
	if err := sampleTable(t, &r.Columns); err != nil {
		return nil, err
	}
	if err := r.Columns.refuse(n); err != nil {
		return nil, err
	}
	lacking := sampleColumn(t, p.logical != nil, vector.FloatType, r.Columns.Value) < 0
	tags := 0
	for i := range n.Labels {
		at := t.Column(n.Labels[i].Name)
		switch {
		case at < 0 && r.NoAutoCreate:
			return nil, (&Hint{Disabled: true}).refuse("column %s does not exist in table `%s`", n.Labels[i].Name,
				n.Table.Table)
		case at < 0:
			lacking = true
		case t.Columns[at].Semantic != schema.Tag || !t.Columns[at].Type.IsText():
			return nil, status.New(status.InvalidArguments, "label %s of %s has the same name as a column that is not a label",
				n.Labels[i].Name, n.Table.Table)
		default:
			tags++
		}
	}
	if lacking {
		return nil, errEvolve
	}
	s := &Series{home: p, altered: t.Altered}
	s.freed.Store(t.Freed)
	key := labelKey(t, n.Labels)
	if len(key) > sst.MaxKeySize {
		return nil, status.New(status.InvalidArguments, "the labels of %s take %d bytes, the limit is %d",
			n.Table.Table, len(key), sst.MaxKeySize)
	}
	s.ref.Name(key)
	return s, nil
}

// sampleTable says why samples cannot be written to a table.
func sampleTable(t *schema.Table, names *SampleColumns) error {
	switch at := t.TimeColumn(); {
	case t.Shared():
		return errPhysical(t.Name, "written to")
	case at.Type != vector.Timestamp(3):
		return status.New(status.InvalidArguments,
			"table %s takes no samples: its time index %s is %s, samples need %s", t.Name.Table, at.Name, at.Type,
			vector.Timestamp(3))
	case t.Physical == 0 && at.Name != names.Time:
		return status.New(status.InvalidArguments,
			"table %s takes no samples: its time index is %s, samples need %s", t.Name.Table, at.Name, names.Time)
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; i != t.Time && !c.Nullable && c.Default == nil && c.DefaultExpr == "" {
			return status.New(status.InvalidArguments,
				"table %s takes no samples: column %s is NOT NULL and has no default value", t.Name.Table, c.Name)
		}
	}
	at := t.Column(names.Value)
	if at >= 0 && sampleColumn(t, t.Physical != 0, vector.FloatType, names.Value) < 0 {
		return errSampleColumn(t, &t.Columns[at], vector.FloatType)
	}
	return nil
}

// refuse is an error where a label has the name of a column of samples.
func (names *SampleColumns) refuse(n *SeriesName) error {
	for i := range n.Labels {
		switch n.Labels[i].Name {
		case names.Time, names.Value, names.Histogram, names.Start:
			return status.New(status.InvalidArguments, "label %s of %s has the same name as a column that is not a label",
				n.Labels[i].Name, n.Table.Table)
		}
	}
	return nil
}

// sampleColumn finds the column for a kind of values; -1 if there is none. Logical tables have one column for each
// type, whatever its name.
func sampleColumn(t *schema.Table, logical bool, typ vector.Type, name string) int {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Semantic == schema.Field && c.Type == typ && (logical || c.Name == name) {
			return i
		}
	}
	return -1
}

// labelKey is the key of the series with some labels, which are sorted by name and all columns of the table.
func labelKey(t *schema.Table, labels []SeriesLabel) []byte {
	key := schema.KeyPrefix(t.ID)
	for _, at := range t.Tags {
		c := &t.Columns[at]
		initial := schema.InitialTag(c.Initial)
		i, ok := slices.BinarySearchFunc(labels, c.Name,
			func(l SeriesLabel, name string) int { return strings.Compare(l.Name, name) })
		switch {
		case !ok && initial != nil:
			key = schema.AppendKeyNull(key, c.ID)
		case ok && (initial == nil || labels[i].Value != string(initial)):
			key = schema.AppendKeyTag(key, c.ID, []byte(labels[i].Value))
		}
	}
	return bytes.Clone(key) // kept for long: without room to grow
}

// admit creates the missing tables, labels and columns of values for the series of a request, for all series of a table
// at once. If that fails for a series, the series gets the error.
func (d *definition) admit(r *SeriesRequest, which []int, errs []error) {
	var order []schema.Name
	byTable := map[schema.Name][]int{}
	for _, i := range which {
		n := r.Names[i].Table
		if byTable[n] == nil {
			order = append(order, n)
		}
		byTable[n] = append(byTable[n], i)
	}
	for _, n := range order {
		d.admitTo(r, byTable[n], errs)
	}
}

// admitTo is admit for series of one table.
func (d *definition) admitTo(r *SeriesRequest, which []int, errs []error) {
	var a *newTags
	for _, i := range which {
		n := &r.Names[i]
		if a == nil {
			t := d.table(n.Table)
			if t == nil {
				errs[i] = d.createFor(r, n)
				continue
			}
			a = &newTags{d: d, t: t, added: map[string]bool{}}
		}
		errs[i] = a.take(r, n)
	}
	if a == nil || len(a.add) == 0 {
		return
	}
	if err := d.evolve(a.t, a.add); err != nil {
		for _, i := range which {
			errs[i] = cmp.Or(errs[i], err)
		}
	}
}

// createFor makes the table of a series.
func (d *definition) createFor(r *SeriesRequest, n *SeriesName) error {
	fresh, err := sampleTableOf(r, n)
	if err == nil {
		fresh.Options, err = fresh.Options.WithDefaults(d.c.databases[n.Table.DB].Options)
	}
	if err == nil {
		err = d.create(fresh)
	}
	return err
}

// newTags are the columns that a table gets for series of a request.
type newTags struct {
	d     *definition
	t     *schema.Table
	add   []schema.Column
	added map[string]bool
	more  int // of add, those that the physical table lacks
}

// take adds everything that a series lacks, or nothing.
func (a *newTags) take(r *SeriesRequest, n *SeriesName) error {
	if err := sampleTable(a.t, &r.Columns); err != nil {
		return err
	}
	var lacks []schema.Column
	if value := r.Columns.Value; sampleColumn(a.t, a.t.Physical != 0, vector.FloatType, value) < 0 && !a.added[value] {
		lacks = append(lacks, schema.Column{Name: value, Type: vector.FloatType, Nullable: true})
	}
	for i := range n.Labels {
		if name := n.Labels[i].Name; !a.added[name] && a.t.Column(name) < 0 {
			if err := schema.CheckColumnName(name); err != nil {
				return err
			}
			lacks = append(lacks, labelColumn(name))
		}
	}
	if count := len(a.t.Columns) + len(a.add) + len(lacks); count > schema.MaxColumns {
		return errTooMany(a.t, count, schema.MaxColumns)
	}
	more, err := a.physicallyLacks(lacks)
	if err != nil {
		return err
	}
	for i := range lacks {
		a.added[lacks[i].Name] = true
	}
	a.add, a.more = append(a.add, lacks...), a.more+more
	return nil
}

// physicallyLacks is the number of labels that the physical table of a logical one lacks as well.
func (a *newTags) physicallyLacks(lacks []schema.Column) (more int, err error) {
	p := a.t
	if a.t.Physical != 0 {
		p = a.d.storageOf(a.t)
	}
	if p == nil || p == a.t || len(lacks) == 0 {
		return 0, nil
	}
	for i := range lacks {
		at := columnIn(p, &lacks[i])
		if at < 0 {
			more++
		} else if err := labelIn(a.t, p, at); err != nil && lacks[i].Semantic == schema.Tag {
			return 0, err
		}
	}
	if count := len(p.Columns) + a.more + more; count > schema.MaxLabels {
		return 0, errTooMany(p, count, schema.MaxLabels)
	}
	return more, nil
}

// errTooMany is the error for more columns than a table may have.
func errTooMany(t *schema.Table, count, most int) error {
	return status.Wrap(errFull, status.InvalidArguments, "table %s would have %d columns, the limit is %d",
		t.Name.Table, count, most)
}

func labelColumn(name string) schema.Column {
	return schema.Column{Name: name, Type: vector.StringType, Semantic: schema.Tag, Nullable: true}
}

// sampleTableOf is the table that the first sample of a metric makes.
func sampleTableOf(r *SeriesRequest, n *SeriesName) (*schema.Table, error) {
	t := &schema.Table{Name: n.Table, Engine: "mito", Options: r.Plain, Columns: []schema.Column{
		{Name: r.Columns.Time, Type: vector.Timestamp(3), Semantic: schema.Timestamp},
		{Name: r.Columns.Value, Type: vector.FloatType, Nullable: true},
	}}
	if n.Physical != "" {
		var err error
		options := map[string]string{schema.LogicalOption: n.Physical}
		if r.TTL != "" {
			options["ttl"] = r.TTL
		}
		if t.Options, err = schema.ParseOptions(options); err != nil {
			return nil, err
		}
	}
	if err := r.Columns.refuse(n); err != nil {
		return nil, err
	}
	for i := range n.Labels {
		t.Tags = append(t.Tags, len(t.Columns))
		t.Columns = append(t.Columns, labelColumn(n.Labels[i].Name))
	}
	return t, nil
}

// String names the series for the log.
func (s *Series) String() string { return fmt.Sprintf("%s %q", s.home.schema().Name, s.ref.Key()) }

// KeyBytes is the size of what the series keeps of its labels.
func (s *Series) KeyBytes() int { return len(s.ref.Key()) }
