package logql

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"varve/engine/convert"
	"varve/engine/vector"
	"varve/sqlexec/logql/syntax"
	"varve/sqlexec/parse"
)

// Lines that no stage looks at need not go through a private function: SQL groups them by the columns of labels and by
// buckets of time. Structured metadata may have labels, too: lines that have some go through the function.

// grouped makes the plans of an aggregation by columns; nil: labels of its series may lie elsewhere.
func (q *leafQuery) grouped(s *source, w where, total string) []leafPlan {
	keys, whole, ok := q.groupKeys(s)
	f := &q.frame
	apart := f.n > 1 && f.step > f.interval // with gaps between windows
	if !ok || apart || f.bucket == 0 || s.time.Type != vector.Timestamp(9) {
		return nil
	}
	var columns []string
	p := leafPlan{s: s, keys: keys}
	for i := range keys {
		columns = append(columns, keys[i].sql)
	}
	if f.n > 1 {
		p.bins = true
		columns = append(columns, "date_bin(INTERVAL '"+strconv.FormatInt(f.bucket, 10)+" nanoseconds', "+
			parse.QuoteIdent(s.time.Name)+", "+instant(f.start-f.offset+1)+"::TIMESTAMP(9))")
	}
	plain := slices.Clone(w)
	if !whole {
		for _, object := range s.objects {
			plain.add("(" + object + " IS NULL OR " + object + " = '{}')")
		}
	}
	p.statement = "SELECT " + strings.Join(append(slices.Clone(columns), total), ", ") + " FROM " + s.from() +
		plain.String()
	if len(columns) > 0 {
		p.statement += " GROUP BY " + strings.Join(columns, ", ")
	}
	p.grouped = true
	return []leafPlan{p}
}

// groupKeys are the columns of the labels of series. whole says that metadata cannot have one of them; ok false: some
// lie in other columns.
func (q *leafQuery) groupKeys(s *source) (keys []column, whole, ok bool) {
	g := q.leaf.grouping
	if q.level {
		return nil, false, false
	}
	if g != nil && !g.Without {
		for i := range s.labels {
			if slices.Contains(g.Names, s.labels[i].name) {
				keys = append(keys, s.labels[i])
			}
		}
		elsewhere := s.shown && slices.Contains(g.Names, TableLabel) ||
			slices.ContainsFunc(s.fields, func(c column) bool { return slices.Contains(g.Names, c.name) })
		return keys, len(s.objects) == 0 || len(g.Names) == 0 || q.leaf.streams, !elsewhere
	}
	for i := range s.labels {
		if g == nil || !slices.Contains(g.Names, s.labels[i].name) {
			keys = append(keys, s.labels[i])
		}
	}
	return keys, len(s.objects) == 0 || q.leaf.streams, !s.shown && (len(s.fields) == 0 || q.leaf.streams)
}

// withMetadata is the condition of rows that have structured metadata.
func (s *source) withMetadata() string {
	parts := make([]string, len(s.objects))
	for i, object := range s.objects {
		parts[i] = object + " <> '{}'"
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// addGroup adds a row of a grouped statement and returns the memory that it takes. key is scratch.
func (q *leafQuery) addGroup(found map[string]*series, p *leafPlan, b *vector.Batch, i int, key []byte) ([]byte,
	int64) {
	key = key[:0]
	for k := range p.keys {
		v := b.Cols[k]
		if v.IsNull(i) || len(v.Bytes(i)) == 0 {
			continue
		}
		key = binary.AppendUvarint(key, uint64(len(p.keys[k].name)))
		key = append(key, p.keys[k].name...)
		key = binary.AppendUvarint(key, uint64(len(v.Bytes(i))))
		key = append(key, v.Bytes(i)...)
	}
	total := b.Cols[len(b.Cols)-1]
	if total.IsNull(i) {
		return key, 0
	}
	bucket := int64(0)
	if p.bins {
		begin, _ := convert.Time(b.Cols[len(p.keys)].Int(i), b.Cols[len(p.keys)].Type, vector.Timestamp(9))
		bucket = (begin-1-(q.frame.start-q.frame.offset))/q.frame.bucket + 1
	}
	n := float64(integer(total, i))
	if n == 0 && len(p.keys) == 0 && !p.bins {
		return key, 0 // the count of no rows
	}
	s, bytes := seriesOf(found, key)
	s.tallies = append(s.tallies, tally{bucket, n})
	return key, bytes + tallyBytes
}

// countsLines reports whether an aggregation counts lines or their bytes.
func countsLines(agg *syntax.RangeAggregation) bool {
	switch agg.Op {
	case syntax.OpCountOverTime, syntax.OpRate, syntax.OpBytesOverTime, syntax.OpBytesRate, syntax.OpAbsentOverTime:
		return agg.Range.Unwrap == nil
	}
	return false
}
