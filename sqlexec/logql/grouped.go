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

// groupKeys are the columns by which lines are grouped.
type groupKeys struct {
	list []column // sorted by name
	// hidden[i] says that list[i] is no label of the series, and is there to name the service.
	hidden         []bool
	table, service bool // TableLabel or ServiceLabel is a label of the series
}

// grouped makes the plan of an aggregation by columns. whole says that the plan has all lines, else it lacks those with
// metadata; ok false: labels of its series may lie elsewhere.
func (q *leafQuery) grouped(s *source, w where, total string) (p leafPlan, whole, ok bool) {
	keys, whole, ok := q.groupKeys(s)
	f := &q.frame
	apart := f.n > 1 && f.step > f.interval // with gaps between windows
	if !ok || apart || f.bucket == 0 || s.time.Type != vector.Timestamp(9) {
		return p, false, false
	}
	var columns []string
	p = leafPlan{s: s, keys: keys, grouped: true}
	for i := range keys.list {
		columns = append(columns, keys.list[i].sql)
	}
	if f.n > 1 {
		p.bins = true
		columns = append(columns, "date_bin(INTERVAL '"+strconv.FormatInt(f.bucket, 10)+" nanoseconds', "+
			parse.QuoteIdent(s.time.Name)+", "+instant(f.start-f.offset+1)+"::TIMESTAMP(9))")
	}
	plain := slices.Clone(w)
	if !whole {
		for _, object := range s.objects {
			plain.add("(" + object.sql + " IS NULL OR " + object.sql + " = '{}')")
		}
	}
	p.statement = "SELECT " + strings.Join(append(slices.Clone(columns), total), ", ") + " FROM " + s.from() +
		plain.String()
	if len(columns) > 0 {
		p.statement += " GROUP BY " + strings.Join(columns, ", ")
	}
	return p, whole, true
}

// groupKeys are the columns of the labels of series. whole says that metadata cannot have one of them; ok false: some
// lie in other columns.
func (q *leafQuery) groupKeys(s *source) (keys groupKeys, whole, ok bool) {
	g := q.leaf.grouping
	by := g != nil && !g.Without
	kept := func(name string) bool { return g == nil || slices.Contains(g.Names, name) == by }
	keys.table, keys.service = kept(TableLabel), q.also.service && kept(ServiceLabel)
	for i := range s.labels {
		c := &s.labels[i]
		if shown := kept(c.name); shown || keys.service && c.service > 0 {
			keys.list, keys.hidden = append(keys.list, *c), append(keys.hidden, !shown)
		}
	}
	if q.leaf.streams {
		return keys, true, true
	}
	elsewhere := q.also.level && kept(LevelLabel) ||
		slices.ContainsFunc(s.fields, func(c column) bool { return kept(c.name) })
	return keys, len(s.objects) == 0 || by && len(g.Names) == 0, !elsewhere
}

// withMetadata is the condition of rows that have structured metadata.
func (s *source) withMetadata() string {
	parts := make([]string, len(s.objects))
	for i, object := range s.objects {
		parts[i] = object.sql + " <> '{}'"
	}
	return "(" + strings.Join(parts, " OR ") + ")"
}

// addGroup adds a row of a grouped statement and returns the memory that it takes. key is scratch.
func (q *leafQuery) addGroup(found map[string]*series, p *leafPlan, b *vector.Batch, i int, key []byte) ([]byte,
	int64) {
	key = p.keys.appendKey(key[:0], p.s, func(n int) []byte {
		if v := b.Cols[n]; !v.IsNull(i) {
			return v.Bytes(i)
		}
		return nil
	})
	total := b.Cols[len(b.Cols)-1]
	if total.IsNull(i) {
		return key, 0
	}
	bucket := int64(0)
	if p.bins {
		begin, _ := convert.Time(b.Cols[len(p.keys.list)].Int(i), b.Cols[len(p.keys.list)].Type, vector.Timestamp(9))
		bucket = (begin-1-(q.frame.start-q.frame.offset))/q.frame.bucket + 1
	}
	n := float64(integer(total, i))
	if n == 0 && len(p.keys.list) == 0 && !p.bins {
		return key, 0 // the count of no rows
	}
	s, bytes := seriesOf(found, key)
	s.tallies = append(s.tallies, tally{bucket, n})
	return key, bytes + tallyBytes
}

// fixed is a label that no key holds.
type fixed struct {
	name  string
	value []byte
}

// appendKey appends the labels of a series as seriesLabels reads them. value is the value of a key; empty: the series
// does not have the label.
func (k *groupKeys) appendKey(key []byte, s *source, value func(n int) []byte) []byte {
	pair := func(name string, value []byte) {
		key = binary.AppendUvarint(key, uint64(len(name)))
		key = append(key, name...)
		key = binary.AppendUvarint(key, uint64(len(value)))
		key = append(key, value...)
	}
	next := k.begin(s, value)
	for n := range k.list {
		c := &k.list[n]
		text := value(n)
		if k.hidden[n] || len(text) == 0 {
			continue
		}
		for len(next) > 0 && next[0].name < c.name {
			pair(next[0].name, next[0].value)
			next = next[1:]
		}
		pair(c.name, text)
	}
	for _, d := range next {
		pair(d.name, d.value)
	}
	return key
}

// begin is the labels of a series that no key holds, sorted by name.
func (k *groupKeys) begin(s *source, key func(n int) []byte) []fixed {
	var list [2]fixed
	out := list[:0]
	if k.service {
		value, rank := unknownServiceText, len(serviceNames)+1
		for n := range k.list {
			c := &k.list[n]
			if v := key(n); c.service > 0 && c.service < rank && len(v) > 0 {
				value, rank = v, c.service
			}
		}
		if rank > 1 { // 1: it is a key
			out = append(out, fixed{ServiceLabel, value})
		}
	}
	if k.table {
		out = append(out, fixed{TableLabel, s.table})
	}
	return out
}

// countsLines reports whether an aggregation counts lines or their bytes.
func countsLines(agg *syntax.RangeAggregation) bool {
	switch agg.Op {
	case syntax.OpCountOverTime, syntax.OpRate, syntax.OpBytesOverTime, syntax.OpBytesRate, syntax.OpAbsentOverTime:
		return agg.Range.Unwrap == nil
	}
	return false
}
