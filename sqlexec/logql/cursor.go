package logql

import (
	"context"

	"varve/engine/vector"
)

// cursor reads the lines of a table that pass, one after the other, in the order of the query.
type cursor struct {
	p     *linePlan
	rows  Rows
	w     *worker // has the line in hand
	kept  sharer
	batch vector.Batch
	next  int // row of the batch
}

// open runs the statement of a table for a span. The caller closes the rows.
func (q *LineQuery) open(ctx context.Context, store Store, p *linePlan, span timeSpan) (*cursor, error) {
	rows, err := store.Run(ctx, q.statement(p, span), p.function)
	if err != nil {
		return nil, err
	}
	return &cursor{p: p, rows: rows, w: newWorker(p.s, p.stages, derived{service: true, level: true})}, nil
}

// step moves to the next line; false: there is none.
func (c *cursor) step() (bool, error) {
	for {
		for c.next < c.batch.N {
			c.next++
			if c.w.run(c.next - 1) {
				return true, nil
			}
		}
		more, err := c.rows.Next(&c.batch)
		if err != nil || !more {
			return false, err
		}
		if err := c.w.rows.begin(c.batch.Cols); err != nil {
			return false, err
		}
		c.next = 0
	}
}

// take copies the line in hand.
func (q *LineQuery) take(c *cursor, store Store) (found, error) {
	one := q.keep(c.w, &c.kept)
	if err := store.Reserve(one.bytes); err != nil {
		return one, err
	}
	q.Stats.Kept.Add(1)
	if c.p.function == nil {
		q.Stats.Lines.Add(1)
		q.Stats.Bytes.Add(int64(len(c.w.rows.line)))
	}
	return one, nil
}

// spaced finds lines that are apart by the interval, whatever tables they are of.
func (q *LineQuery) spaced(ctx context.Context, store Store, plans []linePlan) (all []found, err error) {
	var open []*cursor
	defer func() {
		for _, c := range open {
			c.rows.Close()
		}
	}()
	var ready []*cursor // those that have a line in hand
	for i := range plans {
		c, err := q.open(ctx, store, &plans[i], timeSpan{q.From, q.To})
		if err != nil {
			return nil, err
		}
		open = append(open, c)
		more, err := c.step()
		if err != nil {
			return nil, err
		}
		if more {
			ready = append(ready, c)
		}
	}
	for len(ready) > 0 && len(all) < q.Limit {
		first := 0
		for i := range ready {
			if q.order(ready[i].w.rows.at, ready[first].w.rows.at) < 0 {
				first = i
			}
		}
		c := ready[first]
		if len(all) == 0 || q.apart(all[len(all)-1].At, c.w.rows.at) {
			one, err := q.take(c, store)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		more, err := c.step()
		if err != nil {
			return nil, err
		}
		if !more {
			ready = append(ready[:first], ready[first+1:]...)
		}
	}
	return all, nil
}
