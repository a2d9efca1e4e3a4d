package engine

import (
	"context"
	"math"
	"slices"

	"varve/engine/schema"
)

// LabelValues lists the values of a label in some tables, rising, the empty one left out. It looks at the values of the tag
// in each part and memtable and at no series, so those of rows that are deleted or have expired may be among them until they are merged.
// Reserve, when not nil, is asked before memory is kept.
func (e *Engine) LabelValues(ctx context.Context, tables []*Table, label string, reserve func(bytes int64) error) ([]string, error) {
	if err := e.enter(); err != nil {
		return nil, err
	}
	defer e.leave()
	s := &Selection{e: e, ctx: ctx, request: SelectRequest{From: math.MinInt64, To: math.MaxInt64, Symbols: NewSymbols(nil)}}
	e.scanning.Add(1)
	defer s.Close()
	for _, t := range tables {
		s.request.Tables = append(s.request.Tables, SelectTable{Table: t})
		if err := s.addTable(len(s.request.Tables) - 1); err != nil {
			return nil, err
		}
	}
	s.request.Symbols = NewSymbols(reserve) // of values alone
	for _, g := range s.groups {
		if err := s.valuesIn(g, label); err != nil {
			return nil, err
		}
	}
	values := s.request.Symbols.texts
	slices.Sort(values) // nobody asks for a number any more
	return values, ctx.Err()
}

// valuesIn numbers the values of a label in the tables of a region.
func (s *Selection) valuesIn(g *group, label string) error {
	var tables []schema.TableID
	l := labelOf{}
	for _, t := range g.tables {
		if i := t.tag(label); i >= 0 {
			tables = append(tables, t.id)
			l = t.labels[i]
		}
	}
	if len(tables) == 0 || isKeyTag(l.column.ID) {
		return nil
	}
	slices.Sort(tables)
	for _, run := range s.runsOf(g) {
		var full error
		err := run.run.TagValues(tables, readColumn(l.column), s.ctx.Err, func(val []byte) {
			if full == nil {
				_, full = s.symbol(&l, val)
			}
		})
		if err != nil {
			return s.e.damage(g.region, run.part, err)
		}
		if full != nil {
			return full
		}
	}
	return nil
}
