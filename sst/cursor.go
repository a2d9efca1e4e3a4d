package sst

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
)

// run is a part as a scan.Run.
type run struct{ p *Part }

func (r *run) Rows() int { return int(r.p.meta.Rows) }

func (r *run) Span() scan.Range { return scan.Range{From: r.p.meta.MinTime, To: r.p.meta.MaxTime} }

func (r *run) Blocks() int { return len(r.p.blocks) }

func (r *run) Block(i int) (int, scan.Range) {
	b := &r.p.blocks[i]
	return b.rows, scan.Range{From: b.minTime, To: b.maxTime}
}

// extent returns the blocks that hold rows of series whose keys begin with prefix.
func (p *Part) extent(ctx context.Context, prefix []byte) (scan.Pieces, error) {
	t, err := p.seriesTable(ctx)
	if err != nil {
		return scan.Pieces{}, err
	}
	from, to, err := t.prefix(prefix)
	if err != nil {
		return scan.Pieces{}, p.corrupt(err, "series")
	}
	if from == to {
		return scan.Pieces{}, nil
	}
	return scan.Pieces{From: p.blockOf(int(t.first[from]), -1), To: p.blockOf(int(t.first[to])-1, -1) + 1}, nil
}

// eachTable calls f with the tables that have series in the part and their rows, by rising id, until f says false.
func (p *Part) eachTable(f func(id schema.TableID, rows int) bool) error {
	t, err := p.seriesTable(p.ctx)
	if err != nil {
		return err
	}
	for at := 0; at < t.len(); {
		w, err := t.walk(at)
		if err == nil {
			err = w.step()
		}
		if err != nil || len(w.key) < len(schema.KeyPrefix(0)) {
			return p.corrupt(cmp.Or(err, errors.New("short key")), "series")
		}
		id := schema.KeyTable(w.key)
		_, end, err := t.prefix(schema.KeyPrefix(id))
		if err != nil {
			return p.corrupt(err, "series")
		}
		if !f(id, int(t.first[end]-t.first[at])) {
			return nil
		}
		at = end
	}
	return nil
}

// stat answers for stored columns of unchanged type; not when a string bound was cut.
func (r *run) stat(ctx context.Context, c schema.Column) (s scan.ColumnStat, ok bool, err error) {
	col, err := r.p.column(ctx, c.ID)
	if err != nil || col == nil || col.typ != c.Type || r.p.aside.Load() != nil {
		return s, false, err
	}
	x, err := r.p.index(ctx, col)
	if err != nil {
		return s, false, err
	}
	s.Count = int(r.p.meta.Rows)
	for _, n := range x.zones.Nulls {
		s.Count -= int(n)
	}
	if s.Count == 0 {
		return s, true, nil
	}
	lo, hi, ok := x.zones.Extremes()
	if !ok {
		return scan.ColumnStat{}, false, nil
	}
	s.Min, s.Max = &vector.Vector{}, &vector.Vector{}
	s.Min.Gather(x.zones.Min, []uint32{uint32(lo)})
	s.Max.Gather(x.zones.Max, []uint32{uint32(hi)})
	s.Min.Valid, s.Max.Valid = nil, nil
	return s, true, nil
}

// split cuts by the series section.
func (r *run) split(ctx context.Context, prefix []byte, n int) ([][]byte, error) {
	t, err := r.p.seriesTable(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := t.split(prefix, n)
	if err != nil {
		return nil, r.p.corrupt(err, "series")
	}
	return keys, nil
}

// scan returns a cursor over the blocks that spec.Pieces names.
func (r *run) scan(spec *scan.Spec) (_ scan.Cursor, err error) {
	c := &cursor{p: r.p, to: len(r.p.blocks)}
	if c.sel, err = r.p.selector(spec); err != nil {
		return nil, err
	}
	c.out.sel = c.sel
	if spec.Pieces != nil {
		c.from, c.to = max(spec.Pieces.From, 0), min(spec.Pieces.To, len(r.p.blocks))
	}
	if spec.Newest {
		c.order = r.p.newest(c.from, c.to)
	}
	return c, nil
}

// newest orders blocks [from, to) by falling greatest time.
func (p *Part) newest(from, to int) []int {
	order := make([]int, 0, max(0, to-from))
	for i := to - 1; i >= from; i-- {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := p.blocks[a].maxTime, p.blocks[b].maxTime
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return order
}

// cursor streams the matching rows of a part, block by block.
type cursor struct {
	p        *Part
	sel      *selector
	out      projector
	from, to int   // blocks not yet looked at
	order    []int // the same by falling time; nil: rising numbers
}

// fill fills b with up to vector.Size rows.
func (c *cursor) fill(b *vector.Batch) (bool, error) {
	for {
		if ok, err := c.out.next(b); ok || err != nil {
			return ok, err
		}
		block, ok := c.next()
		if !ok {
			return false, nil
		}
		switch passing, err := c.sel.selectRows(block); {
		case err != nil:
			return false, err
		case passing == 0:
		case passing == c.p.blocks[block].rows:
			c.out.begin(nil, 0, passing)
		default:
			c.out.begin(c.sel.passingRows(), 0, passing)
		}
	}
}

// next takes the next block.
func (c *cursor) next() (int, bool) {
	if c.from >= c.to {
		return 0, false
	}
	block := c.from
	if c.order != nil {
		block = c.order[0]
		c.order = c.order[1:]
	}
	c.from++
	return block, true
}

// Close ends the walk.
func (c *cursor) Close() {
	c.from = c.to
	c.out.end()
	c.sel.release()
}
