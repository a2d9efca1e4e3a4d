package engine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
	"varve/engine/vector"
	"varve/memtable"
	"varve/sst"
)

// Request is what a reader wants of a table.
type Request struct {
	Table   *Table
	Columns []schema.ColumnID
	Time    scan.Range
	Filter  filter.And
	// Bounds are what operators know, or will know while the scan runs, of the rows that they want.
	Bounds []*scan.Bound
	// Newest asks for pieces newest first, Oldest for pieces oldest first. First is the number of rows that the reader
	// wants of them: once it has as many, it tightens a bound of the time index. 0: not known.
	Newest, Oldest bool
	First          int
	// Stats counts what the scan did; may be nil.
	Stats *scan.Stats
	// Reserve, when not nil, learns the memory that cursors hold: see scan.Spec.
	Reserve func(bytes int64) error
	// Moment is the snapshot to read, if it has begun; nil: the table as it is now.
	Moment *Moment
}

// Scan is a pinned snapshot of a table handed out as pieces of work. Close unpins. Cursor is safe for concurrent use.
type Scan struct {
	from     *reading
	ctx      context.Context
	r        *region
	t        *schema.Table
	snap     *regionSnap
	moment   *pinnedRegion // that snap is of; nil: its own
	spec     *scan.Spec
	above    filter.And    // conditions evaluated after the merge
	physical *physicalScan // nil: another table
	mode     mergeMode
	pinned   sync.Once
	spent    spending
	all      []*scanRun     // that overlap the time range, oldest first
	onKeys   scan.Narrowing // the bounds of columns of the row key
	inTurns  bool           // pieces are of turns of the time

	reach reach

	mu     sync.Mutex // protects what follows
	pieces []piece
	bounds scan.Narrowing
}

// scanRun is a run with the part it belongs to; nil for a memtable.
type scanRun struct {
	run  scan.Run
	part *part
}

// ErrDropped is the cause of the error if a table was dropped after it was found and before its rows were pinned or
// written. Another table may have its name by now.
var ErrDropped = errors.New("the table was dropped while a statement began")

func droppedError(n schema.Name) error {
	return status.Wrap(ErrDropped, status.TableNotFound, "Table not found: %s", n)
}

// errAltered is the cause of the error if, while a statement began, a column got another type or the table another key:
// the statement would read rows under the old type, or delete by the old key.
var errAltered = errors.New("the columns of a table changed while a statement began")

// Overtaken reports whether an error says that a table was dropped or altered while a statement began: begun again, it
// finds what is there now.
func Overtaken(err error) bool { return errors.Is(err, ErrDropped) || errors.Is(err, errAltered) }

// sameTypes is an error where columns have another type by now than in t, a table of the home. Call it after the
// snapshot is pinned: rows of another type are written only under a schema that has that type.
func (p home) sameTypes(t *schema.Table, columns ...schema.Column) error {
	now := p.schema()
	if now == t {
		return nil
	}
	for _, c := range columns {
		if at := now.ByID(c.ID); at >= 0 && now.Columns[at].Type != c.Type {
			return status.Wrap(errAltered, status.RegionBusy,
				"the column %s of table %s has just got the type %s, try again", c.Name, t.Name, now.Columns[at].Type)
		}
	}
	return nil
}

// Scan pins the table's rows as they are now; Overtaken where the table is gone or columns have other types. Columns
// come out in the order of r.Columns with the types of r.Table.Schema; expired rows, replaced rows and deleted rows do
// not come out; r.Filter has been applied.
func (e *Engine) Scan(ctx context.Context, r Request) (*Scan, error) {
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Scan{from: e.reading, ctx: ctx, r: r.Table.region, t: r.Table.Schema}
	r.Stats = s.spent.begin(ctx, e.metrics, r.Stats)
	r = s.watch(r)
	if s.t.Shared() {
		s.physical = newPhysicalScan(e.catalog.Load(), s.r, r)
		r = s.physical.request(r)
	}
	if err := s.describe(r); err != nil {
		return nil, err
	}
	if err := s.pin(r); err != nil {
		return nil, err
	}
	s.all = s.runs()
	if err := r.Table.sameTypes(s.t, slices.Concat(s.spec.Columns, s.spec.FilterColumns)...); err != nil {
		s.r.unpin(s.snap)
		return nil, err
	}
	e.reading.open.Add(1)
	s.cut(r)
	s.reach.begin(s.spec.Context, s.pieces)
	return s, nil
}

// pin pins the rows of the request's moment, or those that there are now.
func (s *Scan) pin(r Request) (err error) {
	if s.moment, err = r.Moment.at(r.Table); err != nil {
		return err
	}
	if s.moment != nil {
		s.snap = s.moment.snap
		return nil
	}
	s.snap = s.r.pin()
	if r.Table.dropped() { // the pinned snapshot may be the remains of the table
		s.r.unpin(s.snap)
		return droppedError(s.t.Name)
	}
	return nil
}

// rows are the rows of a memtable that the scan sees.
func (s *Scan) rows(m *mem) *memtable.Run {
	if s.moment != nil {
		return s.moment.rows[m]
	}
	return m.table.Live()
}

// watch returns the request with what its bounds know already, and begins to watch them. Tags that are not stored come
// of merges alone.
func (s *Scan) watch(r Request) Request {
	all, time, and := scan.Watch(r.Bounds)
	s.bounds = all.Only(func(id schema.ColumnID) bool { return s.t.ByID(id) >= 0 })
	s.onKeys = s.bounds.Only(func(id schema.ColumnID) bool {
		return s.t.Columns[s.t.ByID(id)].Semantic != schema.Field
	})
	r.Time = r.Time.And(time)
	r.Filter = slices.Concat(r.Filter, and)
	return r
}

// describe turns the request into what runs understand.
func (s *Scan) describe(r Request) error {
	s.spec = &scan.Spec{TimeColumn: s.t.TimeColumn(), Time: r.Time, Newest: r.Newest, Stats: r.Stats,
		Memo: &scan.Memo{}, Context: s.spent.context(), Reserve: r.Reserve,
		Narrowing: s.bounds.Begin()}
	if s.t.Physical != 0 {
		s.spec.KeyPrefix = schema.KeyPrefix(s.t.ID)
	}
	for _, id := range r.Columns {
		p := s.t.ByID(id)
		if p < 0 {
			return errors.New("scan of a column that the schema lacks")
		}
		s.spec.Columns = append(s.spec.Columns, readColumn(s.t.Columns[p]))
	}
	// Rows past their time are gone at once, whatever has been cleaned up.
	s.spec.Time.From = max(s.spec.Time.From, s.from.oldest(s.t))
	looksAt := r.Filter.AppendColumns(nil)
	for _, b := range r.Bounds {
		if !slices.Contains(looksAt, b.Column) && s.t.ByID(b.Column) >= 0 {
			looksAt = append(looksAt, b.Column)
		}
	}
	for _, id := range looksAt {
		p := s.t.ByID(id)
		if p < 0 {
			return errors.New("filter on a column that the schema lacks")
		}
		s.spec.FilterColumns = append(s.spec.FilterColumns, readColumn(s.t.Columns[p]))
	}
	for _, c := range r.Filter {
		if s.t.Options.AppendMode || s.onKey(&c) {
			s.spec.Filter = append(s.spec.Filter, c)
		} else {
			s.above = append(s.above, c)
		}
	}
	s.narrow()
	var err error
	if s.spec.Filter, err = s.spec.Filter.Prepare(s.ctx.Err); err != nil {
		return err
	}
	if s.above, err = s.above.Prepare(s.ctx.Err); err != nil {
		return err
	}
	s.mode = mergeMode{keepAll: s.t.Options.AppendMode, lastNonNull: s.t.Options.MergeMode == schema.LastNonNull,
		filter: s.above}
	return nil
}

// narrow turns equalities with the first tags into what the series keys must begin with: the runs then look at those
// series alone.
func (s *Scan) narrow() {
	if s.physical != nil || len(s.t.Tags) == 0 {
		return
	}
	var ids []schema.ColumnID
	var values [][]byte
	for _, p := range s.t.Tags {
		tag := &s.t.Columns[p]
		i := slices.IndexFunc(s.spec.Filter, func(c filter.Cond) bool {
			return c.Op == filter.Equal && !c.Lower && c.Column == tag.ID && c.NArgs == 1 && c.Args.Type == tag.Type &&
				!c.Args.IsNull(0)
		})
		// -0 and 0, and all NaN, are equal and have different keys; an initial value is not named in a key.
		if i < 0 || tag.Type.Kind() == vector.Float64 || tag.Initial != nil {
			break
		}
		ids, values = append(ids, tag.ID), append(values, schema.AppendTag([]byte{}, s.spec.Filter[i].Args, 0))
		s.spec.Filter = slices.Delete(slices.Clone(s.spec.Filter), i, i+1)
	}
	if len(ids) > 0 {
		s.spec.KeyPrefix = schema.AppendSeriesKey(nil, s.t.ID, ids, values)
	}
}

// onKey reports whether a condition looks at columns of the row key alone: versions of a row then all pass or none
// does.
func (s *Scan) onKey(c *filter.Cond) bool {
	return !slices.ContainsFunc(c.AppendColumns(nil), func(id schema.ColumnID) bool {
		return s.t.Columns[s.t.ByID(id)].Semantic == schema.Field
	})
}

// readColumn is a column as requested from runs: a run without the column gives the default with which the column was
// added.
func readColumn(c schema.Column) schema.Column {
	c.Default = c.Initial
	return c
}

// runs are the runs that overlap the time range, oldest first.
func (s *Scan) runs() []*scanRun {
	var all []*scanRun
	for _, p := range s.snap.parts {
		if s.spec.Time.Overlaps(p.meta.MinTime, p.meta.MaxTime) {
			all = append(all, &scanRun{p.run, p})
		}
	}
	for _, m := range s.snap.mems() {
		run := s.rows(m)
		if run.Rows() == 0 {
			continue
		}
		if span := run.Span(); s.spec.Time.Overlaps(span.From, span.To) {
			all = append(all, &scanRun{run, nil})
		}
	}
	return all
}

// Each passes all rows to rows, in batches that are reused, and closes the scan. It ends with the first error, or
// without an error once rows reports that it has enough.
func (s *Scan) Each(rows func(b *vector.Batch) (more bool, err error)) error {
	defer s.Close()
	var b vector.Batch
	for {
		c, _, ok, err := s.Cursor()
		if err != nil || !ok {
			return err
		}
		more := true
		for more && err == nil {
			if ok, err = c.Next(&b); err != nil || !ok {
				break
			}
			more, err = rows(&b)
		}
		c.Close()
		if err != nil || !more {
			return err
		}
	}
}

// Cursor returns the next piece of work with the span of times it can hold; ok is false when none is
// left. With Newest, pieces come by falling Span.To, so that a reader with enough rows newer than every remaining
// piece can stop. The caller closes the cursor.
func (s *Scan) Cursor() (c scan.Cursor, span scan.Range, ok bool, err error) {
	if err := s.spent.err(); err != nil {
		return nil, scan.Range{}, false, err
	}
	s.reachOut()
	p, ok := s.next()
	if !ok {
		return nil, scan.Range{}, false, nil
	}
	if c, err = s.open(&p); err != nil {
		return nil, p.span, false, err
	}
	if s.spent.of != nil {
		c = &countedCursor{c, &s.spent}
	}
	return c, p.span, true, nil
}

// next takes the next piece that may have rows within the bounds.
func (s *Scan) next() (p piece, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bounds.Heed()
	wanted, _ := s.bounds.Wanted()
	for !ok && len(s.pieces) > 0 {
		p, s.pieces = s.pieces[0], s.pieces[1:]
		s.reach.took()
		ok = wanted.Overlaps(p.span.From, p.span.To)
	}
	return p, ok
}

// open returns the cursor of a piece.
func (s *Scan) open(p *piece) (scan.Cursor, error) {
	spec := *s.spec
	spec.Time = spec.Time.And(p.span)
	if p.logical != nil {
		w, err := s.walkLogical(p.logical, p.merge, spec)
		if err != nil {
			return nil, err
		}
		return &seriesCursor{w: w, done: true}, nil
	}
	if p.merge != nil {
		spec.Keys = p.keys
		w, err := s.merge(p.merge, spec)
		if err != nil {
			return nil, err
		}
		return &seriesCursor{w: w, done: true}, nil
	}
	spec.Pieces = &p.blocks
	spec.Filter = slices.Concat(spec.Filter, s.above)
	c, err := p.run.run.Scan(&spec)
	if err != nil {
		return nil, s.from.damages.met(s.r, p.run.part, err)
	}
	return &guarded{c, s, p.run.part}, nil
}

// merge walks several runs as one. Bounds on the row key apply to all of them alike. Otherwise one run might leave out
// a row and another return an older version of it that is replaced or deleted.
func (s *Scan) merge(runs []*scanRun, spec scan.Spec) (scan.Series, error) {
	bounds := s.onKeys.Begin()
	bounds.Heed()
	time, and := bounds.Wanted()
	spec.Narrowing = scan.Narrowing{}
	spec.Time = spec.Time.And(time)
	if len(and) > 0 {
		spec.Filter, spec.Memo = slices.Concat(spec.Filter, and), nil // other series pass here
	}
	return mergeRuns(s.guard(runs), &spec, s.mode)
}

// Rows is the number of rows in the snapshot before filters, or an upper bound of it.
func (s *Scan) Rows() (n int) {
	for _, r := range s.all {
		n += r.run.Rows()
	}
	return n
}

// Stat answers count, min and max of a column over the whole snapshot from statistics, when that is exact: no filter,
// no time restriction that cuts a run, append-only. ok false: scan instead, which meets damage.
func (s *Scan) Stat(id schema.ColumnID) (total scan.ColumnStat, ok bool, err error) {
	p := s.t.ByID(id)
	if p < 0 || !s.t.Options.AppendMode || len(s.spec.Filter) > 0 || len(s.spec.KeyPrefix) > 0 {
		return total, false, nil
	}
	column := readColumn(s.t.Columns[p])
	for _, r := range s.all {
		if span := r.run.Span(); !s.spec.Time.Covers(span.From, span.To) {
			return total, false, nil
		}
		st, ok, err := r.run.Stat(s.ctx, column)
		if err != nil && !errors.Is(err, sst.ErrCorrupt) {
			return total, false, err
		}
		if !ok {
			return total, false, nil
		}
		total.Count += st.Count
		if st.Count > 0 {
			total.Min = extreme(total.Min, st.Min, -1)
			total.Max = extreme(total.Max, st.Max, 1)
		}
	}
	return total, true, nil
}

// extreme returns the smaller (sign -1) or larger (sign 1) of two values, one row each; nil stands for no value.
func extreme(a, b *vector.Vector, sign int) *vector.Vector {
	if a == nil || filter.Compare(b, 0, a, 0) == sign {
		return b
	}
	return a
}

// Close unpins the snapshot.
func (s *Scan) Close() {
	s.pinned.Do(func() {
		s.from.open.Add(-1)
		s.reach.end()
		s.r.unpin(s.snap)
		s.spec.Memo.Release(s.spec.Reserve)
	})
}
