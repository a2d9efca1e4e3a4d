package engine

import (
	"bytes"
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

// Series is a series of a table of metrics, found by its labels once and written to many times. Safe for concurrent use.
type Series struct {
	home    home
	ref     memtable.Ref
	altered uint32 // schema.Table.Altered of the table in which the labels were found

	census  *census       // that it was counted by; nil: none
	counted atomic.Uint32 // generation of the census << 1 | it has no rows yet
}

// Alive reports whether the table of the series is still there as it was, and the series still counts. Rows written to one whose table
// is gone are gone with it.
func (s *Series) Alive() bool {
	return !s.home.dropped() && s.altered == s.home.schema().Altered && !s.census.stale(s)
}

// SeriesName says which series is meant: its table and its labels, sorted by name, none of them empty.
type SeriesName struct {
	Table schema.Name
	// Physical is the physical table in which the table is made when it is absent; empty: it gets storage of its own.
	Physical string
	Labels   []SeriesLabel
}

// SeriesLabel is a label with its value.
type SeriesLabel struct{ Name, Value string }

// SampleColumns are the names of the columns of the tables that samples make: time index, floats, histograms and start times.
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

// Series finds the series of a request. Absent tables and labels are made, all at once. What keeps one from being written to is
// its error, and no other's.
func (e *Engine) Series(ctx context.Context, r *SeriesRequest) ([]*Series, []error, error) {
	errs := make([]error, len(r.Names))
	for i := range r.Names {
		errs[i] = e.noView(r.Names[i].Table)
	}
	if err := e.enter(); err != nil {
		return nil, nil, err
	}
	defer e.leave()
	return e.series(ctx, r, errs)
}

// series is Series for those that have no error yet.
func (e *Engine) series(ctx context.Context, r *SeriesRequest, errs []error) ([]*Series, []error, error) {
	found := make([]*Series, len(r.Names))
	var unknown []int
	for i := range r.Names {
		if errs[i] == nil {
			unknown = append(unknown, i)
		}
	}
	for {
		c := e.catalog.Load()
		var lacking []int
		for _, i := range unknown {
			if errs[i] = MayChange(ctx, r.Names[i].Table.DB); errs[i] != nil {
				continue
			}
			if found[i], errs[i] = c.seriesOf(r, &r.Names[i]); errs[i] == errEvolve {
				lacking = append(lacking, i)
			}
		}
		if unknown = e.vacant(c, r, lacking, errs); len(unknown) == 0 {
			for _, s := range found {
				if s != nil {
					s.census = e.census
				}
			}
			e.census.admitSeries(found, errs)
			return found, errs, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, nil, status.Wrap(err, status.DeadlineExceeded, "the request ended while tables were made for its series")
		}
		err := e.define(func(d *definition) error {
			for k, i := range unknown {
				if errs[i] = d.admit(r, &r.Names[i]); errs[i] != nil {
					unknown[k] = -1
				}
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		unknown = slices.DeleteFunc(unknown, func(i int) bool { return i < 0 })
	}
}

// vacant leaves of the series that lack a table or a label those for which there is room; the others become errors.
func (e *Engine) vacant(c *catalog, r *SeriesRequest, lacking []int, errs []error) []int {
	if e.census == nil {
		return lacking
	}
	return slices.DeleteFunc(lacking, func(i int) bool {
		t := &schema.Table{Name: r.Names[i].Table}
		if p, ok := c.byName[t.Name]; ok {
			t = p.schema()
		}
		err := e.census.vacant(t)
		if err != nil {
			errs[i] = err
		}
		return err != nil
	})
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
		return nil, errEvolve
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
			return nil, (&Hint{Disabled: true}).refuse("column %s does not exist in table `%s`", n.Labels[i].Name, n.Table.Table)
		case at < 0:
			lacking = true
		case t.Columns[at].Semantic != schema.Tag || !t.Columns[at].Type.IsText():
			return nil, status.New(status.InvalidArguments, "label %s of %s has the name of a column that is no label", n.Labels[i].Name, n.Table.Table)
		default:
			tags++
		}
	}
	if lacking {
		return nil, errEvolve
	}
	s := &Series{home: p, altered: t.Altered}
	key := labelKey(t, n.Labels)
	if len(key) > sst.MaxKeySize {
		return nil, status.New(status.InvalidArguments, "the labels of %s take %d bytes, the limit is %d", n.Table.Table, len(key), sst.MaxKeySize)
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
		return status.New(status.InvalidArguments, "table %s takes no samples: its time index %s is %s, samples need %s", t.Name.Table, at.Name, at.Type, vector.Timestamp(3))
	case t.Physical == 0 && at.Name != names.Time:
		return status.New(status.InvalidArguments, "table %s takes no samples: its time index is %s, that of samples %s", t.Name.Table, at.Name, names.Time)
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; i != t.Time && !c.Nullable && c.Default == nil && c.DefaultExpr == "" {
			return status.New(status.InvalidArguments, "table %s takes no samples: column %s is NOT NULL and has no default value", t.Name.Table, c.Name)
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
			return status.New(status.InvalidArguments, "label %s of %s has the name of a column that is no label", n.Labels[i].Name, n.Table.Table)
		}
	}
	return nil
}

// sampleColumn finds the column of a kind of values; -1: there is none. Logical tables have one of a type, however it is called.
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
		i, ok := slices.BinarySearchFunc(labels, c.Name, func(l SeriesLabel, name string) int { return strings.Compare(l.Name, name) })
		switch {
		case !ok && initial != nil:
			key = schema.AppendKeyNull(key, c.ID)
		case ok && (initial == nil || labels[i].Value != string(initial)):
			key = schema.AppendKeyTag(key, c.ID, []byte(labels[i].Value))
		}
	}
	return bytes.Clone(key) // kept for long: without room to grow
}

// admit makes what a series lacks: its table, or labels and the column of values in it.
func (d *definition) admit(r *SeriesRequest, n *SeriesName) error {
	t := d.table(n.Table)
	if t == nil {
		fresh, err := sampleTableOf(r, n)
		if err == nil {
			fresh.Options, err = fresh.Options.WithDefaults(d.c.databases[n.Table.DB].Options)
		}
		if err == nil {
			err = d.create(fresh)
		}
		return err
	}
	if err := sampleTable(t, &r.Columns); err != nil {
		return err
	}
	var add []schema.Column
	if sampleColumn(t, t.Physical != 0, vector.FloatType, r.Columns.Value) < 0 {
		add = append(add, schema.Column{Name: r.Columns.Value, Type: vector.FloatType, Nullable: true})
	}
	for i := range n.Labels {
		if t.Column(n.Labels[i].Name) < 0 {
			add = append(add, labelColumn(n.Labels[i].Name))
		}
	}
	if len(add) == 0 {
		return nil
	}
	return d.evolve(t, add)
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
