package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"varve/engine/filter"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sst"
)

// tableScan is a pinned snapshot handed out as pieces.
type tableScan struct {
	e      *core
	ctx    context.Context
	r      *region
	t      *schema.Table
	snap   *regionSnap
	spec   *scan.Spec
	above  filter.And // conditions evaluated after the merge
	mode   mergeMode
	pinned sync.Once

	mu     sync.Mutex // protects pieces
	pieces []piece
}

// piece is some blocks of one run, or the merge of all runs.
type piece struct {
	run    *scanRun
	blocks scan.Pieces
	span   scan.Range // both inclusive
	merge  bool
}

// scanRun is a run with the part it belongs to, if any.
type scanRun struct {
	run  scan.Run
	part *part
}

func (e *core) scan(ctx context.Context, r Request) (*Scan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := &Scan{tableScan{e: e, ctx: ctx, r: r.Table.region, t: r.Table.Schema}}
	if err := s.describe(r); err != nil {
		return nil, err
	}
	s.snap = s.r.pin()
	s.cut()
	return s, nil
}

// describe turns the request into what runs understand.
func (s *tableScan) describe(r Request) error {
	s.spec = &scan.Spec{TimeColumn: s.t.TimeColumn(), Time: r.Time, Newest: r.Newest, Stats: r.Stats}
	for _, id := range r.Columns {
		p := s.t.ByID(id)
		if p < 0 {
			return errors.New("scan of a column that the schema lacks")
		}
		s.spec.Columns = append(s.spec.Columns, s.t.Columns[p])
	}
	if ttl := s.t.Options.TTL; ttl > 0 {
		// Rows past their time are gone at once, whatever has been cleaned up.
		now := s.e.o.Now()
		s.spec.Time.From = max(s.spec.Time.From, inUnit(now.Add(-1*nanoseconds(ttl)), s.spec.TimeColumn.Type))
	}
	for _, c := range r.Filter {
		p := s.t.ByID(c.Column)
		if p < 0 {
			return errors.New("filter on a column that the schema lacks")
		}
		col := s.t.Columns[p]
		if !slices.ContainsFunc(s.spec.FilterColumns, func(x schema.Column) bool { return x.ID == col.ID }) {
			s.spec.FilterColumns = append(s.spec.FilterColumns, col)
		}
		if s.t.Options.AppendMode || col.Semantic != schema.Field {
			s.spec.Filter = append(s.spec.Filter, c)
		} else {
			s.above = append(s.above, c)
		}
	}
	s.mode = mergeMode{keepAll: s.t.Options.AppendMode, lastNonNull: s.t.Options.MergeMode == schema.LastNonNull, filter: s.above}
	return nil
}

// runs are the runs that overlap the time range, oldest first.
func (s *tableScan) runs() []*scanRun {
	var all []*scanRun
	for _, p := range s.snap.parts {
		if st := s.spec.Stats; st != nil {
			st.Runs.Add(1)
			st.BlocksTotal.Add(int64(p.run.Blocks()))
		}
		if s.spec.Time.Overlaps(p.meta.MinTime, p.meta.MaxTime) {
			all = append(all, &scanRun{p.run, p})
		} else if st := s.spec.Stats; st != nil {
			st.BlocksPruned.Add(int64(p.run.Blocks()))
		}
	}
	for _, m := range s.snap.mems() {
		run := m.table.Live()
		if run.Rows() == 0 {
			continue
		}
		if st := s.spec.Stats; st != nil {
			st.Runs.Add(1)
		}
		if span := run.Span(); s.spec.Time.Overlaps(span.From, span.To) {
			all = append(all, &scanRun{run, nil})
		}
	}
	return all
}

// cut makes the pieces.
func (s *tableScan) cut() {
	runs := s.runs()
	if !s.t.Options.AppendMode {
		if len(runs) > 0 {
			span := runs[0].run.Span()
			for _, r := range runs {
				x := r.run.Span()
				span = scan.Range{From: min(span.From, x.From), To: max(span.To, x.To)}
			}
			s.pieces = []piece{{span: span, merge: true}}
		}
		return
	}
	for _, r := range runs {
		for from := 0; from < r.run.Blocks(); {
			p := piece{run: r, blocks: scan.Pieces{From: from, To: from}}
			for p.blocks.To < r.run.Blocks() && p.blocks.To-from < pieceBlocks {
				_, span := r.run.Block(p.blocks.To)
				if from == p.blocks.To {
					p.span = span
				} else {
					p.span = scan.Range{From: min(p.span.From, span.From), To: max(p.span.To, span.To)}
				}
				p.blocks.To++
			}
			from = p.blocks.To
			if s.spec.Time.Overlaps(p.span.From, p.span.To) {
				s.pieces = append(s.pieces, p)
			} else if st := s.spec.Stats; st != nil && r.part != nil {
				st.BlocksPruned.Add(int64(p.blocks.To - p.blocks.From))
			}
		}
	}
	if s.spec.Newest {
		slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(b.span.To, a.span.To) })
	} else {
		slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(a.span.From, b.span.From) })
	}
}

func (s *tableScan) next() (scan.Cursor, scan.Range, bool, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, scan.Range{}, false, err
	}
	s.mu.Lock()
	if len(s.pieces) == 0 {
		s.mu.Unlock()
		return nil, scan.Range{}, false, nil
	}
	p := s.pieces[0]
	s.pieces = s.pieces[1:]
	s.mu.Unlock()
	if p.merge {
		w, err := s.series(0, 1)
		if err != nil {
			return nil, scan.Range{}, false, err
		}
		return &seriesCursor{w: w, done: true}, p.span, true, nil
	}
	spec := *s.spec
	spec.Pieces = &p.blocks
	c, err := p.run.run.Scan(&spec)
	if err != nil {
		return nil, scan.Range{}, false, s.damage(p.run.part, err)
	}
	return &guarded{c, s, p.run.part}, p.span, true, nil
}

// series merges all runs. Key ranges are cut by the first tag's table prefix only when there is one region for many
// tables, so an ordinary table gives everything to worker 0.
func (s *tableScan) series(i, _ int) (scan.Series, error) {
	if i > 0 {
		return emptySeries{}, nil
	}
	var runs []scan.Run
	for _, r := range s.runs() {
		runs = append(runs, &guardedRun{r.run, s, r.part})
	}
	return mergeRuns(runs, s.spec, s.mode)
}

type emptySeries struct{}

func (emptySeries) Next() ([]byte, bool, error)      { return nil, false, nil }
func (emptySeries) Rows(*vector.Batch) (bool, error) { return false, nil }
func (emptySeries) Close()                           {}

func (s *tableScan) rowBound() (n int) {
	for _, r := range s.runs() {
		n += r.run.Rows()
	}
	return n
}

// stat combines the statistics of parts; memtables have none, so it answers only when nothing is in memory.
func (s *tableScan) stat(id schema.ColumnID) (scan.ColumnStat, bool) {
	var total scan.ColumnStat
	p := s.t.ByID(id)
	if p < 0 || !s.t.Options.AppendMode || len(s.spec.Filter) > 0 {
		return total, false
	}
	for _, m := range s.snap.mems() {
		if m.table.Rows() > 0 {
			return total, false
		}
	}
	for _, part := range s.snap.parts {
		if !s.spec.Time.Overlaps(part.meta.MinTime, part.meta.MaxTime) {
			continue
		}
		if !s.spec.Time.Covers(part.meta.MinTime, part.meta.MaxTime) {
			return total, false
		}
		st, ok := part.run.Stat(s.t.Columns[p])
		if !ok {
			return total, false
		}
		total.Count += st.Count
		if st.Count > 0 {
			total.Min = extreme(total.Min, st.Min, -1)
			total.Max = extreme(total.Max, st.Max, 1)
		}
	}
	return total, true
}

// extreme is the smaller (sign -1) or larger (sign 1) of two values of one row each; nil stands for none.
func extreme(a, b *vector.Vector, sign int) *vector.Vector {
	if a == nil {
		return b
	}
	d := 0
	switch a.Type.Kind() {
	case vector.Int64:
		d = cmp.Compare(b.Int(0), a.Int(0))
	case vector.Uint64:
		d = cmp.Compare(b.Uint(0), a.Uint(0))
	case vector.Float64:
		d = cmp.Compare(b.Float(0), a.Float(0))
	case vector.Bytes:
		d = cmp.Compare(b.Str(0), a.Str(0))
	case vector.Bool:
		if b.Bool(0) != a.Bool(0) {
			d = 1
			if a.Bool(0) {
				d = -1
			}
		}
	}
	if d == sign {
		return b
	}
	return a
}

func (s *tableScan) unpin() { s.pinned.Do(s.snap.unpin) }

// damage sets a part aside when err says that it does not hold what it claims: this query fails with a message that
// names file and block, the following ones are served from the rest.
func (s *tableScan) damage(p *part, err error) error {
	if p == nil || !errors.Is(err, sst.ErrCorrupt) || !p.damaged.CompareAndSwap(false, true) {
		return err
	}
	s.e.noteDamage(SetAside{partName(p.meta.File), err.Error()})
	s.r.mu.Lock()
	s.r.replace(func(snap *regionSnap) {
		snap.parts = slices.DeleteFunc(snap.parts, func(x *part) bool { return x == p })
	})
	s.r.mu.Unlock()
	p.release() // the snapshots' reference; this scan still has its own
	return err
}

// guarded notes damage that a cursor meets and stops when the request is over.
type guarded struct {
	scan.Cursor
	s    *tableScan
	part *part
}

func (g *guarded) Next(b *vector.Batch) (bool, error) {
	if err := g.s.ctx.Err(); err != nil {
		return false, err
	}
	ok, err := g.Cursor.Next(b)
	if err != nil {
		err = g.s.damage(g.part, err)
	}
	return ok, err
}

type guardedRun struct {
	scan.Run
	s    *tableScan
	part *part
}

func (g *guardedRun) Series(spec *scan.Spec) (scan.Series, error) {
	w, err := g.Run.Series(spec)
	if err != nil {
		return nil, g.s.damage(g.part, err)
	}
	return &guardedSeries{w, g}, nil
}

type guardedSeries struct {
	scan.Series
	g *guardedRun
}

func (w *guardedSeries) Next() ([]byte, bool, error) {
	if err := w.g.s.ctx.Err(); err != nil {
		return nil, false, err
	}
	key, ok, err := w.Series.Next()
	if err != nil {
		err = w.g.s.damage(w.g.part, err)
	}
	return key, ok, err
}

func (w *guardedSeries) Rows(b *vector.Batch) (bool, error) {
	if err := w.g.s.ctx.Err(); err != nil {
		return false, err
	}
	ok, err := w.Series.Rows(b)
	if err != nil {
		err = w.g.s.damage(w.g.part, err)
	}
	return ok, err
}

// seriesCursor gives the rows of a walk as a cursor.
type seriesCursor struct {
	w    scan.Series
	done bool // the current series has no more rows
}

func (c *seriesCursor) Next(b *vector.Batch) (bool, error) {
	for {
		if c.done {
			if _, ok, err := c.w.Next(); err != nil || !ok {
				return false, err
			}
			c.done = false
		}
		ok, err := c.w.Rows(b)
		if err != nil {
			return false, err
		}
		if ok {
			return true, nil
		}
		c.done = true
	}
}

func (c *seriesCursor) Close() { c.w.Close() }
