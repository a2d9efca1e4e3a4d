package logql

import (
	"context"
	"slices"
	"strings"
	"time"

	"varve/engine/vector"
	"varve/sqlexec/logql/syntax"
)

// streamBytes is about the memory of a set of labels in a list, besides its labels.
const streamBytes = 96

// Streams lists the label sets of the streams that pass any of the selectors and have a line in a time, from included,
// to not, ns; without selectors, of all streams. Label, if not empty, is the only label that is wanted.
func Streams(ctx context.Context, store Store, selectors [][]syntax.Matcher, label string, from, to int64) ([]Labels,
	error) {
	if len(selectors) == 0 {
		selectors = [][]syntax.Matcher{nil}
	}
	var all []Labels
	for _, one := range selectors {
		matchers, err := tests(one)
		if err != nil {
			return nil, err
		}
		tables, err := sources(ctx, store, matchers)
		if err != nil {
			return nil, err
		}
		for _, s := range tables {
			var w where
			w.within(s, from, to)
			w.matched(s, matchers)
			if all, err = s.labelSets(ctx, store, w, label, all); err != nil {
				return nil, err
			}
		}
	}
	if err := Sort(ctx, all, Labels.Compare); err != nil {
		return nil, err
	}
	return slices.CompactFunc(all, func(a, b Labels) bool { return a.Compare(b) == 0 }), nil
}

// labelSets appends the label sets of the rows of a table that meet a condition.
func (s *source) labelSets(ctx context.Context, store Store, w where, label string, all []Labels) ([]Labels, error) {
	wanted := s.labels
	switch c := s.label(label); {
	case label == "":
	case label == ServiceLabel:
		wanted = s.serviceColumns()
	case c != nil:
		wanted = []column{*c}
	case label == TableLabel:
		wanted = nil
	default:
		return all, nil
	}
	list := make([]string, 0, len(wanted))
	for i := range wanted {
		list = append(list, wanted[i].sql)
	}
	statement := "SELECT DISTINCT " + strings.Join(list, ", ") + " FROM " + s.from() + w.String()
	if len(list) == 0 {
		statement = "SELECT 1 FROM " + s.from() + w.String() + " LIMIT 1"
	}
	rows, err := store.Run(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var b vector.Batch
	for {
		more, err := rows.Next(&b)
		if err != nil || !more {
			return all, err
		}
		bytes := int64(0)
		for i := range b.N {
			one := Labels{}
			for k := range wanted {
				if v := b.Cols[k]; !v.IsNull(i) && len(v.Bytes(i)) > 0 {
					one = append(one, Label{wanted[k].name, string(v.Bytes(i))})
					bytes += labelBytes + int64(len(v.Bytes(i)))
				}
			}
			one = one.with(TableLabel, s.schema.Name.Table)
			if label == "" || label == ServiceLabel {
				one = one.with(ServiceLabel, one.service())
			}
			bytes += streamBytes
			all = append(all, one)
		}
		if err := store.Reserve(bytes); err != nil {
			return nil, err
		}
	}
}

// LabelNames lists the names of the labels of all tables of logs.
func LabelNames(ctx context.Context, store Store) ([]string, error) {
	tables, err := sources(ctx, store, nil)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, s := range tables {
		for i := range s.labels {
			list = append(list, s.labels[i].name)
		}
		list = append(list, TableLabel, ServiceLabel)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// LongestRange is the longest time before an instant that an expression looks at.
func LongestRange(e syntax.Expr) (longest time.Duration) {
	var t translator
	t.expr(e)
	for _, l := range t.leaves {
		longest = max(longest, l.agg.Range.Interval+l.agg.Range.Offset)
	}
	return longest
}

// Selectors are the matchers of each selector of a query.
func Selectors(q syntax.Query) (list [][]syntax.Matcher) {
	switch q := q.(type) {
	case *syntax.LogQuery:
		return [][]syntax.Matcher{q.Matchers}
	case syntax.Expr:
		var t translator
		t.expr(q)
		for _, l := range t.leaves {
			list = append(list, l.agg.Range.Query.Matchers)
		}
	}
	return list
}

// Size is the lines and bytes of streams.
type Size struct{ Streams, Lines, Bytes int64 }

// SizeOf sums up the streams that pass a selector and have a line in a time.
func SizeOf(ctx context.Context, store Store, selector []syntax.Matcher, from, to int64) (total Size, err error) {
	matchers, err := tests(selector)
	if err != nil {
		return total, err
	}
	tables, err := sources(ctx, store, matchers)
	if err != nil {
		return total, err
	}
	for _, s := range tables {
		if sizes := s.sizes(matchers, s.labels); sizes != nil {
			if err := total.measure(ctx, store, s, sizes, timeSpan{from, to}); err != nil {
				return total, err
			}
			continue
		}
		var w where
		w.within(s, from, to)
		w.matched(s, matchers)
		list := make([]string, 0, len(s.labels))
		for i := range s.labels {
			list = append(list, s.labels[i].sql)
		}
		statement := "SELECT count(*), sum(octet_length(" + s.line + ")) FROM " + s.from() + w.String()
		if len(list) > 0 {
			statement += " GROUP BY " + strings.Join(list, ", ")
		}
		if err := total.add(ctx, store, statement); err != nil {
			return total, err
		}
	}
	return total, nil
}

// add adds the rows of a statement: the lines and bytes of a stream each.
func (t *Size) add(ctx context.Context, store Store, statement string) error {
	rows, err := store.Run(ctx, statement, nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	var b vector.Batch
	for {
		more, err := rows.Next(&b)
		if err != nil || !more {
			return err
		}
		for i := range b.N {
			lines := integer(b.Cols[0], i)
			if lines == 0 {
				continue
			}
			t.Streams++
			t.Lines += lines
			t.Bytes += integer(b.Cols[1], i)
		}
	}
}

// integer is a whole number of a row; NULL is zero.
func integer(v *vector.Vector, i int) int64 {
	if v.IsNull(i) {
		return 0
	}
	switch v.Type.Kind() {
	case vector.Int64:
		return v.Int(i)
	case vector.Uint64:
		return int64(v.Uint(i))
	}
	return int64(v.Float(i))
}
