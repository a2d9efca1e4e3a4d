package promql

import (
	"context"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/sorting"
	"varve/engine/status"
	"varve/engine/vector"
)

// Labels that choose where a metric is read, and which field of its table.
const (
	fieldLabel    = "__field__"
	databaseLabel = "__database__"
	oldDatabase   = "__schema__"
	newDatabase   = "x_service_database"
)

// choosesDatabase reports whether a label says where a metric is read.
func choosesDatabase(label string) bool {
	return label == databaseLabel || label == oldDatabase || label == newDatabase
}

// informationSchema is a database that has no metrics and is listed with the others.
const informationSchema = "information_schema"

// Endings of the names of the columns that samples make.
const (
	timeColumn      = "timestamp"
	valueColumn     = "value"
	histogramColumn = "native_histogram"
	startColumn     = "start_timestamp"
)

// Tables is a storage over the tables of a database: each table with a numeric field is a metric, and its tags are the
// labels. It serves one query or one request.
type Tables struct {
	Engine *engine.Engine
	DB     string
	// Allow refuses databases that the user may not read; nil: all may be.
	Allow func(db string) error
	// Memory is where the memory of series and samples is taken from; nil: no limit.
	Memory Memory

	symbols *engine.Symbols
}

// field is a value of the rows of a table: a column of floats, and where the table has them, those of histograms and of
// start times.
type field struct {
	name                    string
	value, histogram, start int // positions among the columns that are read; -1: none
}

// wanted is a table of a selection with the fields that are read.
type wanted struct {
	table   *engine.Table
	fields  []field
	columns []schema.ColumnID
	several bool // fields: the series say which is theirs
}

// request is the matchers of a selection by their subject: names, fields, labels.
type request struct {
	db     string
	names  []*Matcher
	fields []*Matcher
	labels []engine.Matcher
}

// sortOut sorts matchers.
func (t *Tables) sortOut(ms []*Matcher) (*request, error) {
	r := &request{db: t.DB}
	for _, m := range ms {
		switch {
		case m.Name == NameLabel:
			r.names = append(r.names, m)
		case m.Name == fieldLabel:
			r.fields = append(r.fields, m)
		case choosesDatabase(m.Name):
			if m.Type != MatchEqual || m.Value == "" {
				return nil, status.New(status.InvalidArguments, "%s: a database is named with = and is not empty", m)
			}
			r.db = m.Value
		default:
			r.labels = append(r.labels,
				engine.Matcher{Label: m.Name, Op: engine.MatchEqual + engine.MatchOp(m.Type), Value: m.Value})
		}
	}
	if r.db != t.DB && t.Allow != nil {
		if err := t.Allow(r.db); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// passesAll reports whether a value passes all matchers.
func passesAll(ms []*Matcher, value string) bool {
	return !slices.ContainsFunc(ms, func(m *Matcher) bool { return !m.Matches(value) })
}

// tables finds the tables of a request. Named tables may be of any kind; without names, only metrics are meant.
func (t *Tables) tables(r *request) ([]*engine.Table, error) {
	for _, m := range r.names {
		if m.Type != MatchEqual {
			continue
		}
		table, err := t.Engine.Table(schema.Name{DB: r.db, Table: m.Value})
		switch status.Of(err) {
		case status.Success:
		case status.TableNotFound, status.DatabaseNotFound:
			return nil, nil
		default:
			return nil, err
		}
		if !passesAll(r.names, m.Value) {
			return nil, nil
		}
		return []*engine.Table{table}, nil
	}
	all, err := t.metrics(r.db)
	return slices.DeleteFunc(all, func(x *engine.Table) bool { return !passesAll(r.names, x.Schema.Name.Table) }), err
}

// metrics lists the tables of metrics of a database.
func (t *Tables) metrics(db string) ([]*engine.Table, error) {
	all, err := t.Engine.Tables(db)
	if status.Of(err) == status.DatabaseNotFound {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(x *engine.Table) bool { return !isMetric(x.Schema) }), err
}

// isMetric reports whether a metrics protocol made the table: it is a logical one, or says so, or has the columns that
// samples make and no others.
func isMetric(t *schema.Table) bool {
	semantic, _ := t.Options.Find(schema.SemanticOption)
	return !t.Shared() && (t.Engine == "metric" || semantic == schema.SemanticMetric || madeOfSamples(t))
}

// madeOfSamples reports whether a table has a value and nothing that samples do not have. A table of tags alone, as
// that of the services of traces, has none.
func madeOfSamples(t *schema.Table) bool {
	values := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		switch c.Semantic {
		case schema.Timestamp:
			if !endsWith(c.Name, timeColumn) {
				return false
			}
		case schema.Field:
			if !endsWith(c.Name, valueColumn) && !endsWith(c.Name, histogramColumn) && !endsWith(c.Name, startColumn) {
				return false
			}
			values++
		}
	}
	return values > 0
}

// fieldsOf are the fields of a table that matchers choose: = and =~ name those that are wanted, != and !~ those that
// are not.
func fieldsOf(t *schema.Table, ms []*Matcher) wanted {
	var w wanted
	histogram, start := -1, -1
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case c.Semantic != schema.Field:
		case c.Type.ID == vector.TypeBinary && endsWith(c.Name, histogramColumn):
			histogram = i
		case c.Type.IsTimestamp() && endsWith(c.Name, startColumn):
			start = i
		case c.Type.IsNumber() || c.Type.ID == vector.TypeBool:
			if chosen(c.Name, ms) {
				w.fields = append(w.fields, field{c.Name, w.column(c.ID), -1, -1})
			}
		}
	}
	if histogram >= 0 {
		w.addHistogram(t, histogram, ms)
	}
	if start >= 0 && len(w.fields) > 0 {
		at := w.column(t.Columns[start].ID)
		for i := range w.fields {
			w.fields[i].start = at
		}
	}
	w.several = len(w.fields) > 1
	return w
}

func (w *wanted) column(id schema.ColumnID) int {
	w.columns = append(w.columns, id)
	return len(w.columns) - 1
}

// addHistogram adds the histograms to the floats of the metric. They are in the column with the same prefix.
func (w *wanted) addHistogram(t *schema.Table, at int, ms []*Matcher) {
	c := &t.Columns[at]
	value := strings.TrimSuffix(c.Name, histogramColumn) + valueColumn
	for i := range w.fields {
		if w.fields[i].name == value {
			w.fields[i].histogram = w.column(c.ID)
			return
		}
	}
	if t.Column(value) < 0 && chosen(c.Name, ms) {
		w.fields = append(w.fields, field{c.Name, -1, w.column(c.ID), -1})
	}
}

// endsWith reports whether a name is an ending, with or without a prefix before it.
func endsWith(name, ending string) bool { return name == ending || strings.HasSuffix(name, "_"+ending) }

func chosen(name string, ms []*Matcher) bool {
	positive, hit := false, false
	for _, m := range ms {
		if m.Type == MatchEqual || m.Type == MatchRegexp {
			positive = true
			hit = hit || m.Matches(name)
		} else if !m.Matches(name) {
			return false
		}
	}
	return hit || !positive
}

// Select finds series in the index of series.
func (t *Tables) Select(ctx context.Context, sel Selection) (SeriesSet, error) {
	set, err := t.selectNow(ctx, sel)
	for engine.Overtaken(err) && ctx.Err() == nil {
		set, err = t.selectNow(ctx, sel)
	}
	return set, err
}

// selectNow is Select for tables that are not altered meanwhile.
func (t *Tables) selectNow(ctx context.Context, sel Selection) (SeriesSet, error) {
	r, err := t.sortOut(sel.Matchers)
	if err != nil || sel.Start > sel.End {
		return &tableSeries{}, err
	}
	tables, err := t.tables(r)
	if err != nil {
		return nil, err
	}
	ask := engine.SelectRequest{Matchers: r.labels, From: sel.Start, To: sel.End, Presence: sel.Presence,
		Labels: sel.Labels, Symbols: t.symbolTable()}
	ask.Reserve = t.reserve
	s := &tableSeries{memory: t.Memory, symbols: ask.Symbols}
	for _, x := range tables {
		w := fieldsOf(x.Schema, r.fields)
		if len(w.fields) == 0 {
			continue
		}
		w.table = x
		s.wanted = append(s.wanted, w)
		ask.Tables = append(ask.Tables, engine.SelectTable{Table: x, Columns: w.columns})
	}
	if len(ask.Tables) == 0 {
		return s, nil
	}
	if s.selection, err = t.Engine.Select(ctx, ask); err != nil {
		return nil, err
	}
	if err := s.number(t); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (t *Tables) symbolTable() *engine.Symbols {
	if t.symbols == nil {
		t.symbols = engine.NewSymbols(t.reserve)
	}
	return t.symbols
}

// reserve takes memory before it is kept.
func (t *Tables) reserve(bytes int64) error {
	if t.Memory == nil {
		return nil
	}
	return t.Memory.Reserve(bytes)
}

// LabelNames lists the labels of the series that pass any of the selections. Without selections the tables say which
// there are.
func (t *Tables) LabelNames(ctx context.Context, sels []Selection) ([]string, error) {
	names := map[string]bool{}
	if len(sels) == 0 {
		all, err := t.metrics(t.DB)
		if err != nil {
			return nil, err
		}
		for _, x := range all {
			names[NameLabel] = true
			shown := x.Schema.Shown()
			for _, at := range shown.Tags {
				names[shown.Columns[at].Name] = true
			}
			if fieldsOf(x.Schema, nil).several {
				names[fieldLabel] = true
			}
		}
		return sorted(ctx, names)
	}
	err := t.each(ctx, sels, func(ls Labels) {
		for _, l := range ls {
			names[l.Name] = true
		}
	})
	if err != nil {
		return nil, err
	}
	return sorted(ctx, names)
}

// LabelValues lists the values of a label.
func (t *Tables) LabelValues(ctx context.Context, name string, sels []Selection) ([]string, error) {
	if choosesDatabase(name) {
		return t.databases(ctx, sels)
	}
	if name == fieldLabel && len(sels) == 0 {
		all, err := t.Engine.Tables(t.DB) // of any kind: each is a metric when it is named
		if err != nil && status.Of(err) != status.DatabaseNotFound {
			return nil, err
		}
		list, err := t.appendValues(ctx, nil, name, all, &request{})
		if err != nil {
			return nil, err
		}
		return listed(ctx, list)
	}
	values := map[string]bool{}
	if len(sels) > 0 && name != fieldLabel {
		err := t.each(ctx, sels, func(ls Labels) {
			if v := ls.Get(name); v != "" {
				values[v] = true
			}
		})
		if err != nil {
			return nil, err
		}
		return sorted(ctx, values)
	}
	if len(sels) == 0 {
		sels = []Selection{{}} // all metrics
	}
	var list []string
	for _, sel := range sels {
		r, err := t.sortOut(sel.Matchers)
		if err != nil {
			return nil, err
		}
		tables, err := t.tables(r)
		if err != nil {
			return nil, err
		}
		if list, err = t.appendValues(ctx, list, name, tables, r); err != nil {
			return nil, err
		}
	}
	return listed(ctx, list)
}

// listed is a list sorted, each text once.
func listed(ctx context.Context, list []string) ([]string, error) {
	if err := sorting.Func(list, strings.Compare, ctx.Err); err != nil {
		return nil, err
	}
	return slices.Compact(list), nil
}

// databases lists the databases; with selections, those that have a table of a selection.
func (t *Tables) databases(ctx context.Context, sels []Selection) (list []string, err error) {
	if len(sels) == 0 {
		list = append(list, informationSchema)
	}
	for _, db := range t.Engine.Databases() {
		if t.Allow != nil && t.Allow(db.Name) != nil {
			continue
		}
		in := len(sels) == 0
		for _, sel := range sels {
			r, err := (&Tables{Engine: t.Engine, DB: db.Name}).sortOut(sel.Matchers)
			if err != nil {
				return nil, err
			}
			tables, err := t.tables(r)
			if err != nil {
				return nil, err
			}
			in = in || r.db == db.Name && len(tables) > 0
		}
		if in {
			list = append(list, db.Name)
		}
	}
	return listed(ctx, list)
}

// appendValues appends the values of a label in whole tables.
func (t *Tables) appendValues(ctx context.Context, dst []string, name string, tables []*engine.Table,
	r *request) ([]string, error) {
	switch name {
	case NameLabel:
		for _, x := range tables {
			dst = append(dst, x.Schema.Name.Table)
		}
		return dst, nil
	case fieldLabel:
		for _, x := range tables {
			for _, f := range fieldsOf(x.Schema, r.fields).fields {
				dst = append(dst, f.name)
			}
		}
		return dst, nil
	}
	all, err := t.Engine.LabelValues(ctx, tables, name, t.reserve)
	if err != nil || dst == nil {
		return all, err
	}
	if err := t.reserve(int64(len(all)) * listedBytes); err != nil {
		return nil, err
	}
	return append(dst, all...), nil
}

// each visits the label sets of the series of selections.
func (t *Tables) each(ctx context.Context, sels []Selection, visit func(Labels)) error {
	for _, sel := range sels {
		set, err := t.Select(ctx, sel)
		if err != nil {
			return err
		}
		for i := range set.Len() {
			if i%askSeries == 0 && ctx.Err() != nil {
				set.Close()
				return ctx.Err()
			}
			visit(set.Labels(i))
		}
		set.Close()
	}
	return nil
}

// listedBytes is about the memory of a text in a set and in the list that is made of it, besides its bytes.
const listedBytes = 64

func sorted(ctx context.Context, set map[string]bool) ([]string, error) {
	out := make([]string, 0, len(set))
	for s := range set {
		if s != "" {
			out = append(out, s)
		}
	}
	return out, sorting.Func(out, strings.Compare, ctx.Err)
}
