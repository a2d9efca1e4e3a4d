package pipeline

import (
	"slices"

	"varve/engine"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/timefmt"
	"varve/engine/vector"
	"varve/flatten"
	"varve/pipeline/processor"
	"varve/pipeline/value"
)

// Limits of a request.
const (
	// maxSinks bounds the tables and groups of options that a request's rows go to.
	maxSinks = 1024
	// maxAllColumns bounds the columns of all tables of a request.
	maxAllColumns = 64 << 10
)

// target is what the rows of a program have in common: the hint of their tables. A nil program is service_identity.
type target struct {
	program *Program
	hints   hinter
	indexes map[string][]schema.Index
	tags    []string
	sinks   map[string]*sink // by key
	tables  func(schema.Name) func(column string) (vector.Type, bool)
}

func newTarget(m *Manager, r *Request, p *Program) *target {
	t := &target{program: p, hints: hinter{request: r, time: timeColumn, identity: p == nil, strict: m.strict(r)},
		sinks: map[string]*sink{}, tables: m.tableTypes}
	if p == nil {
		t.tags = r.Tags
		return t
	}
	t.hints.time = p.timeName()
	for i := range p.columns {
		c := &p.columns[i]
		if c.tag && !c.time {
			t.tags = append(t.tags, c.name)
		}
		if c.index != nil {
			if t.indexes == nil {
				t.indexes = map[string][]schema.Index{}
			}
			t.indexes[c.name] = []schema.Index{*c.index}
		}
	}
	return t
}

// timeName is the time index of the rows of a program.
func (p *Program) timeName() string {
	for i := range p.columns {
		if p.columns[i].time {
			return p.columns[i].name
		}
	}
	return p.names.Name(p.timeSlot)
}

// sink collects the rows of one program for one table with one set of options.
type sink struct {
	target *target
	key    string
	suffix string
	vars   flatten.OptionVars
	hint   engine.Hint
	b      *vector.Builder
	fixed  []*vector.ColumnBuilder // of the program's columns
	free   []*vector.ColumnBuilder // of inferred columns, by slot; nil for none yet
	rest   []restColumn            // by position of a key that has no slot
	time   *vector.ColumnBuilder   // of auto-transform and identity
	set    []*vector.ColumnBuilder // inferred columns that the current row has set
	w      *worker
	// tableType returns the types of the table's columns where entries fail alone; nil: columns have the type of their
	// first value.
	tableType func(column string) (vector.Type, bool)
	strict    bool // integers and floats are two kinds
}

// restColumn is the column of the key that came at a position last.
type restColumn struct {
	name   string
	column *vector.ColumnBuilder
}

// newSink makes a sink; its builder gets the columns that are known beforehand.
func (w *worker) newSink(t *target, key, suffix string, vars *flatten.OptionVars) (*sink, error) {
	hint, err := t.hints.hint(vars)
	if err != nil {
		return nil, err
	}
	hint.Tags, hint.Indexes = t.tags, t.indexes
	s := &sink{target: t, key: key, suffix: suffix, vars: *vars, hint: hint, b: w.to(suffix, hint), w: w,
		strict: hint.StrictNumbers}
	if r := t.hints.request; r.AllFailures {
		s.tableType = t.tables(schema.Name{DB: r.DB, Table: r.Table + suffix})
	}
	p := t.program
	defer func() { w.columns += s.b.Columns() }()
	if p == nil {
		s.time, err = s.b.Column(timeColumn, vector.Timestamp(9))
		s.b.Pin()
		return s, err
	}
	s.free = make([]*vector.ColumnBuilder, p.names.Len())
	if len(p.columns) == 0 {
		s.time, err = s.b.Column(p.names.Name(p.timeSlot), p.timeType)
	}
	for i := range p.columns {
		c, err := s.b.Column(p.columns[i].name, p.columns[i].typ)
		if err != nil {
			return nil, err
		}
		s.fixed = append(s.fixed, c)
	}
	s.b.Pin()
	return s, err
}

// inferred is the type of the column that a value makes. Null makes no column: its type is NullType.
func inferred(v value.Value) vector.Type {
	switch v.Kind() {
	case value.BoolKind:
		return vector.BoolType
	case value.IntKind:
		return vector.Int64Type
	case value.FloatKind:
		return vector.FloatType
	case value.StringKind:
		return vector.StringType
	case value.TimestampKind:
		return vector.Timestamp(9)
	case value.ArrayKind, value.ObjectKind:
		return vector.JSONType
	}
	return vector.NullType
}

func errAllColumns() error {
	return status.New(status.InvalidArguments, "the rows of the request have more than %d columns in all their tables",
		maxAllColumns)
}

// column finds or adds an inferred column. For an integer, that may be a column of floats.
func (s *sink) column(name string, t vector.Type) (*vector.ColumnBuilder, error) {
	c := s.b.Lookup(name)
	if c == nil {
		if err := schema.CheckColumnName(name); err != nil {
			return nil, err
		}
		if s.b.Columns() >= schema.MaxColumns {
			return nil, status.New(status.InvalidArguments, "column %q: a request can have at most %d columns", name,
				schema.MaxColumns)
		}
		if s.w.columns++; s.w.columns > maxAllColumns {
			return nil, fatal{errAllColumns()}
		}
		// The rows so far are NULL there.
		if err := s.w.grown(flatten.ColumnBytes + 8*s.b.Rows()); err != nil {
			return nil, err
		}
		if s.tableType == nil {
			return s.b.Column(name, t)
		}
		of, ok := s.tableType(name)
		if !ok || !isInferred(of) {
			of = t
		}
		var err error
		if c, err = s.b.Column(name, of); err != nil {
			return nil, err
		}
	}
	switch {
	case s.strict:
	case t == vector.Int64Type && c.Type() == vector.FloatType:
		return c, nil
	case t == vector.FloatType && c.Type() == vector.Int64Type && !slices.Contains(s.fixed, c):
		c.Widen()
	}
	return s.b.Column(name, t)
}

// isInferred reports whether a column of the type may come of a value alone.
func isInferred(t vector.Type) bool {
	switch t {
	case vector.BoolType, vector.Int64Type, vector.FloatType, vector.StringType, vector.Timestamp(9), vector.JSONType:
		return true
	}
	return false
}

// clash is the error of a value that has no place in its column.
func (s *sink) clash(err error, name string, v value.Value) error {
	hint := ""
	if c := s.b.Lookup(name); c != nil {
		hint = flatten.NumbersHint(c.Type(), inferred(v))
	}
	return about(err, name, v, hint)
}

// put sets an inferred value of the current row.
func (s *sink) put(c *vector.ColumnBuilder, v value.Value) {
	s.set = append(s.set, c)
	switch v.Kind() {
	case value.BoolKind:
		c.SetBool(v.Bool())
	case value.IntKind:
		if c.Type() == vector.FloatType { // widened
			c.SetFloat(float64(v.Int()))
		} else {
			c.SetInt(v.Int())
		}
	case value.TimestampKind:
		c.SetInt(v.Nanos())
	case value.FloatKind:
		c.SetFloat(v.Float())
	default:
		setText(c, c.Type(), v)
	}
}

// infer sets the value of a key that no transform names.
func (s *sink) infer(name string, slot int, v value.Value) error {
	t := inferred(v)
	if t == vector.NullType {
		return nil
	}
	c := s.free[slot]
	if c == nil || c.Type() != t {
		var err error
		if c, err = s.column(name, t); err != nil {
			return s.clash(err, name, v)
		}
		s.free[slot] = c
	}
	s.put(c, v)
	return nil
}

// inferRest is infer for the i-th key without a slot. Entries repeat their keys, so its column is mostly that of the
// last entry's i-th.
func (s *sink) inferRest(name string, i int, v value.Value) error {
	t := inferred(v)
	if t == vector.NullType {
		return nil
	}
	if i < len(s.rest) && s.rest[i].column != nil && s.rest[i].name == name && s.rest[i].column.Type() == t {
		s.put(s.rest[i].column, v)
		return nil
	}
	c, err := s.column(name, t)
	if err != nil {
		return s.clash(err, name, v)
	}
	if i < schema.MaxColumns {
		for len(s.rest) <= i {
			s.rest = append(s.rest, restColumn{})
		}
		s.rest[i] = restColumn{c.Name(), c}
	}
	s.put(c, v)
	return nil
}

// drop undoes the current row. The columns it introduced stay, unless entries fail alone: there one must not take the
// places of columns from those behind it.
func (s *sink) drop() {
	set := append(s.set, s.fixed...)
	if s.time != nil {
		set = append(set, s.time)
	}
	s.set = set[:0]
	if !s.target.hints.request.AllFailures {
		s.b.DropRow(set...)
		return
	}
	if removed := s.b.AbandonRow(set...); removed > 0 {
		s.w.columns -= removed
		clear(s.free)
		clear(s.rest)
	}
}

// checkCells refuses entries of few bytes that make many cells of inferred columns.
func (s *sink) checkCells(bytes int64) error {
	return flatten.CheckCells(s.b.Rows(), s.b.Columns()-len(s.fixed), bytes)
}

// row makes the row of an event. After an error nothing of it is left; see drop.
func (s *sink) row(e *processor.Event, now func() int64) error {
	err := s.fill(e, now)
	if err != nil {
		s.drop()
		return err
	}
	s.set = s.set[:0]
	s.endRow()
	return nil
}

// endRow ends the current row. The row records its entry if someone needs that.
func (s *sink) endRow() {
	if r := s.w.request; r.Reject != nil {
		s.b.From(r.Before + s.w.number)
	}
	s.b.EndRow()
}

func (s *sink) fill(e *processor.Event, now func() int64) error {
	p := s.target.program
	for i := range p.columns {
		c := &p.columns[i]
		if err := c.put(e, s.fixed[i], now); err != nil {
			v, has := e.Get(c.slot)
			if !has {
				v = value.Null
			}
			return about(err, p.names.Name(c.slot), v, c.tried(v))
		}
	}
	switch {
	case len(p.columns) == 0:
		if err := s.setTime(e); err != nil {
			return err
		}
	case p.version == 1:
		return nil
	}
	return s.inferAll(e)
}

// setTime sets the time index of auto-transform.
func (s *sink) setTime(e *processor.Event) error {
	p := s.target.program
	v, has := e.Get(p.timeSlot)
	switch {
	case has && v.Kind() == value.TimestampKind:
		s.time.SetInt(timefmt.FloorDiv(v.Nanos(), nanosPer(p.timeType)))
	case has && v.Kind() == value.IntKind:
		s.time.SetInt(v.Int())
	case !has || v.IsNull():
		return about(status.New(status.InvalidArguments, "Failed to cast type, msg: missing field"),
			p.names.Name(p.timeSlot), value.Null, "the time index of the rows")
	default:
		err := status.New(status.InvalidArguments,
			"Failed to cast type, msg: unsupported value type to convert to timestamp: %s",
			flatten.Cut(string(appendText(nil, v))))
		return about(err, p.names.Name(p.timeSlot), v, "the time index of the rows")
	}
	return nil
}

// inferAll sets the values of all keys that are left, in the order of the keys: which error comes first and which
// columns stay after it shows.
func (s *sink) inferAll(e *processor.Event) error {
	p := s.target.program
	e.SortRest()
	at := 0
	for _, slot := range p.inferSlots {
		v, has := e.Get(slot)
		if !has {
			continue
		}
		name := p.names.Name(slot)
		for ; at < len(e.Rest) && e.Rest[at].Key < name; at++ {
			if err := s.inferRest(e.Rest[at].Key, at, e.Rest[at].Value); err != nil {
				return err
			}
		}
		if err := s.infer(name, slot, v); err != nil {
			return err
		}
	}
	for ; at < len(e.Rest); at++ {
		if err := s.inferRest(e.Rest[at].Key, at, e.Rest[at].Value); err != nil {
			return err
		}
	}
	return nil
}
