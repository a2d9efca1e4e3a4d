package engine

import (
	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// physicalScan is a scan of a physical table. It has the tables to show, one after the other, and the tags that exist
// only in series keys. Conditions on these tags are decided once for each series.
type physicalScan struct {
	logicals []*logicalTable
	columns  []schema.ColumnID // wanted, the tags of the key among them
	onKey    filter.And        // conditions on the tags of the key
	rest     filter.And        // all others
}

func isKeyTag(id schema.ColumnID) bool {
	return id == schema.TableTagID || id == schema.SeriesTagID
}

func newPhysicalScan(c *catalog, r *region, q Request) *physicalScan {
	v := &physicalScan{logicals: c.logicalsOf(r), columns: q.Columns}
	for _, c := range q.Filter {
		onKey := false
		for _, id := range c.AppendColumns(nil) {
			onKey = onKey || isKeyTag(id)
		}
		if onKey {
			v.onKey = append(v.onKey, c)
		} else {
			v.rest = append(v.rest, c)
		}
	}
	return v
}

// request is the request to the regions: the stored columns, including those for conditions on the key.
func (v *physicalScan) request(q Request) Request {
	q.Columns = nil
	for _, id := range v.columns {
		if !isKeyTag(id) {
			q.Columns = append(q.Columns, id)
		}
	}
	for _, id := range v.onKey.AppendColumns(nil) {
		if !isKeyTag(id) {
			q.Columns = append(q.Columns, id)
		}
	}
	q.Filter = v.rest
	return q
}

// walkLogical walks the series of one logical table in some runs.
func (s *Scan) walkLogical(m *logicalTable, runs []*scanRun, spec scan.Spec) (*logicalSeries, error) {
	spec.KeyPrefix = schema.KeyPrefix(m.id)
	prog, err := filter.Compile(s.physical.onKey)
	if err != nil {
		return nil, err
	}
	w, err := s.merge(runs, spec)
	if err != nil {
		return nil, err
	}
	return &logicalSeries{s: s, walk: w, prog: prog, at: map[schema.ColumnID]int{}}, nil
}

// logicalSeries walks a logical table as the physical one shows it: with the tags of the series keys.
type logicalSeries struct {
	s      *Scan
	walk   scan.Series
	prog   *filter.Program
	at     map[schema.ColumnID]int // position of a column in the inner batch
	table  *vector.Vector          // tags of the current series
	series *vector.Vector
	inner  vector.Batch
	keep   vector.Bitmap
	rows   []uint32
	own    []*vector.Vector // gathered
}

// Next moves to the next series.
func (c *logicalSeries) Next() ([]byte, bool, error) {
	key, ok, err := c.walk.Next()
	if err != nil || !ok {
		return nil, false, err
	}
	c.table = vector.ConstUint(schema.TableTag.Type, uint64(schema.KeyTable(key)))
	c.series = vector.ConstUint(schema.SeriesTag.Type, schema.KeyHash(key))
	return key, true, nil
}

// Rows fills b with the next rows of the current series.
func (c *logicalSeries) Rows(b *vector.Batch) (bool, error) {
	for {
		ok, err := c.walk.Rows(&c.inner)
		if err != nil || !ok {
			return false, err
		}
		if some := c.give(b); some || c.s.ctx.Err() != nil { // an ended request cuts conditions short: no rows then
			return some, c.s.ctx.Err()
		}
	}
}

// column is a column of the rows in hand.
func (c *logicalSeries) column(id schema.ColumnID) *vector.Vector {
	switch id {
	case schema.TableTagID:
		return c.table
	case schema.SeriesTagID:
		return c.series
	}
	at, ok := c.at[id]
	for i := 0; !ok; i++ {
		if c.s.spec.Columns[i].ID == id {
			at, ok = i, true
			c.at[id] = i
		}
	}
	return c.inner.Cols[at]
}

// give puts the rows in hand that pass into b and reports whether there are any.
func (c *logicalSeries) give(b *vector.Batch) bool {
	n := c.inner.N
	b.N, b.Cols = n, b.Cols[:0]
	all := len(c.prog.Conds) == 0
	if !all {
		c.keep = append(c.keep[:0], make(vector.Bitmap, vector.Words(n))...)
		c.keep.Fill(n)
		c.prog.Eval(n, c.column, c.keep)
		all = c.keep.All(n)
	}
	if all {
		for _, id := range c.s.physical.columns {
			b.Cols = append(b.Cols, c.column(id))
		}
		return true
	}
	c.rows = c.keep.AppendRows(c.rows[:0])
	b.N = len(c.rows)
	for i, id := range c.s.physical.columns {
		if i == len(c.own) {
			c.own = append(c.own, &vector.Vector{})
		}
		v := c.column(id)
		if v.Form != vector.Const {
			c.own[i].Gather(v, c.rows)
			v = c.own[i]
		}
		b.Cols = append(b.Cols, v)
	}
	return b.N > 0
}

// Close ends the walk.
func (c *logicalSeries) Close() { c.walk.Close() }

// physicalSeries walks all logical tables in order: series keys begin with the id of the table.
type physicalSeries struct {
	s    *Scan
	runs []*scanRun
	next int // of the logical tables
	now  *logicalSeries
}

// Next moves to the next series.
func (w *physicalSeries) Next() ([]byte, bool, error) {
	for {
		if w.now != nil {
			if key, ok, err := w.now.Next(); ok || err != nil {
				return key, ok, err
			}
			w.now.Close()
			w.now = nil
		}
		if w.next == len(w.s.physical.logicals) {
			return nil, false, nil
		}
		var err error
		if w.now, err = w.s.walkLogical(w.s.physical.logicals[w.next], w.runs, *w.s.spec); err != nil {
			return nil, false, err
		}
		w.next++
	}
}

// Rows fills b with the next rows of the current series.
func (w *physicalSeries) Rows(b *vector.Batch) (bool, error) {
	if w.now == nil {
		return false, nil
	}
	return w.now.Rows(b)
}

// Close ends the walk.
func (w *physicalSeries) Close() {
	if w.now != nil {
		w.now.Close()
	}
	w.now, w.next = nil, len(w.s.physical.logicals)
}
