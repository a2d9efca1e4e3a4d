package engine

import (
	"context"
	"slices"
	"strings"

	"varve/engine/schema"
	"varve/engine/sorting"
)

// LabelValues lists the values of a label in some tables, rising, without the empty value. It reads the values of the
// tag in each part and memtable but no series. So it may list values of deleted or expired rows until they are merged.
// Reserve, when not nil, is called before memory is kept.
func (e *Engine) LabelValues(ctx context.Context, tables []*Table, label string,
	reserve func(bytes int64) error) ([]string, error) {
	if err := e.door.enter(); err != nil {
		return nil, err
	}
	defer e.door.leave()
	s := &Selection{from: e.reading, ctx: ctx, request: SelectRequest{Symbols: NewSymbols(reserve)}}
	s.request.Stats = s.spent.begin(ctx, e.metrics, nil)
	e.reading.open.Add(1)
	defer s.Close()
	var all []*labelled
	for _, t := range tables {
		at := t.Schema.Column(label)
		if at < 0 || t.Schema.Columns[at].Semantic != schema.Tag || isKeyTag(t.Schema.Columns[at].ID) {
			continue
		}
		g := s.groupOf(t.region)
		i := slices.IndexFunc(all, func(l *labelled) bool { return l.group == g })
		if i < 0 {
			i = len(all)
			all = append(all, &labelled{group: g, label: labelOf{column: &t.Schema.Columns[at]}})
		}
		all[i].add(e.catalog.Load(), t)
	}
	for _, l := range all {
		if err := s.valuesIn(l); err != nil {
			return nil, err
		}
	}
	values, err := s.request.Symbols.all()
	if err != nil {
		return nil, err
	}
	return values, sorting.Func(values, strings.Compare, ctx.Err) // the numbers are not needed any more
}

// labelled is the tables of a region that have a label.
type labelled struct {
	group  *group
	label  labelOf
	tables []schema.TableID
}

// add adds a table; a physical table stands for all its logical tables.
func (l *labelled) add(c *catalog, t *Table) {
	if !t.Schema.Shared() {
		l.tables = append(l.tables, t.Schema.ID)
		return
	}
	for _, m := range c.logicalsOf(t.region) {
		l.tables = append(l.tables, m.id)
	}
}

// valuesIn numbers the values of a label in the tables of a region.
func (s *Selection) valuesIn(l *labelled) error {
	slices.Sort(l.tables)
	for _, run := range s.runsOf(l.group) {
		var full error
		seen := 0
		// the tables of a region often have the same values in the same order
		known, next := s.request.Symbols, uint32(0)
		err := run.run.TagValues(s.ctx, l.tables, readColumn(*l.label.column), func(val []byte) {
			if seen++; full == nil && seen%accountSeries == 0 {
				full = s.ctx.Err()
			}
			if full == nil && next < uint32(known.Len()) && l.label.column.Type.IsText() &&
				known.text(next) == string(val) {
				next++
			} else if full == nil {
				next, full = s.symbol(&l.label, val) // numbers begin at 1: it is the index of the text after val
			}
		})
		if err != nil {
			return s.from.damages.met(l.group.region, run.part, err)
		}
		if full != nil {
			return full
		}
	}
	return nil
}
