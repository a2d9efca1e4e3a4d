package samples

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/private"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/vector"
	"varve/sqlexec/promql"
)

// Exemplar is an event that stands for a sample: labels, mostly of a trace, with a value and a time.
type Exemplar struct {
	DB, Metric string
	Series     promql.Labels // with the metric
	Labels     promql.Labels
	Value      float64
	At         int64 // ms
}

// Limits of exemplars.
const (
	maxExemplarRunes  = 128      // characters of its labels
	maxExemplarSeries = 8 << 10  // bytes of the labels of its series
	maxExemplarBytes  = 16 << 20 // bytes of all exemplars of a request: each has all labels of its series
	maxExemplarNumber = 1 << 62  // a row with a higher number was not written by the server
)

// exemplarTable is a ring: it has a row for each place, and a later exemplar replaces the one in its place. number
// counts all exemplars ever; series and labels are JSON.
var exemplarTable = private.Table{OwnTable: engine.OwnTable{
	Name: engine.ExemplarsTable, Time: "place", Later: originColumns,
	Columns: []vector.Field{
		{Name: "at", Type: vector.Timestamp(3)}, {Name: "database", Type: vector.StringType},
		{Name: "database_made", Type: vector.Int64Type},
		{Name: "labels", Type: vector.StringType}, {Name: "metric", Type: vector.StringType},
		{Name: "number", Type: vector.Int64Type},
		{Name: "place", Type: vector.Timestamp(3)}, {Name: "series", Type: vector.StringType},
		{Name: "table_id", Type: vector.Int64Type},
		{Name: "value", Type: vector.FloatType},
	},
}}

// exemplars is the end of the ring. Safe for concurrent use.
type exemplars struct {
	mu     sync.Mutex // protects what follows; held while exemplars are written
	loaded bool
	next   int64 // number of the next exemplar
}

// Exemplar makes an exemplar from the sender's labels and value; false: it cannot be kept.
func (r *Request) Exemplar(series, labels []Label, value float64, at int64) (x Exemplar, ok bool) {
	var n engine.SeriesName
	n.Table.DB = r.db
	size := labelBytes(series)
	if size > maxExemplarSeries || labelBytes(labels) > utf8.UTFMax*maxExemplarRunes ||
		r.exemplarBytes > maxExemplarBytes || r.take(&n, series) != nil {
		return x, false
	}
	r.exemplarBytes += exemplarBytes + size
	x = Exemplar{DB: n.Table.DB, Metric: n.Table.Table, Value: value, At: at}
	x.Series = append(x.Series, promql.Label{Name: promql.NameLabel, Value: x.Metric})
	for _, l := range n.Labels {
		x.Series = append(x.Series, promql.Label(l))
	}
	slices.SortFunc(x.Series, func(a, b promql.Label) int { return cmp.Compare(a.Name, b.Name) })
	runes := 0
	pairs := make([]string, 0, 2*len(labels))
	for _, l := range labels[:min(len(labels), maxExemplarRunes)] {
		if len(l.Name) == 0 || !utf8.Valid(l.Name) || !utf8.Valid(l.Value) {
			return x, false
		}
		runes += utf8.RuneCount(l.Name) + utf8.RuneCount(l.Value)
		pairs = append(pairs, string(l.Name), string(l.Value))
	}
	x.Labels = promql.NewLabels(pairs...)
	return x, runes <= maxExemplarRunes
}

// KeepExemplars keeps exemplars in place of the oldest ones, and returns how many.
func (t *Tables) KeepExemplars(ctx context.Context, list []Exemplar) (int, error) {
	most := t.o.MaxExemplars
	if len(list) == 0 || most <= 0 {
		return 0, nil
	}
	x := &t.exemplars
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded {
		for row, err := range t.exemplarRows(ctx, "number") {
			if err != nil {
				return 0, err
			}
			if n := row.Int(0); n < maxExemplarNumber {
				x.next = max(x.next, n+1)
			}
		}
		x.loaded = true
	}
	list = list[max(0, len(list)-most):]
	rows := make([][]any, len(list))
	for i := range list {
		one, number := &list[i], x.next+int64(i)
		of, _ := t.owner(one.DB)
		rows[i] = []any{
			one.At, one.DB, of.made, promql.AppendLabels(nil, one.Labels), one.Metric, number, number % int64(most),
			promql.AppendLabels(nil, one.Series), int64(tableID(t.o.Store, one.DB, one.Metric)), one.Value,
		}
	}
	if err := exemplarTable.Put(ctx, t.o.Store, rows...); err != nil {
		return 0, err
	}
	x.next += int64(len(list))
	return len(list), nil
}

// exemplarRows reads some columns of all exemplars that are kept.
func (t *Tables) exemplarRows(ctx context.Context, columns ...string) iter.Seq2[private.Row, error] {
	return exemplarTable.Rows(ctx, t.o.Store,
		private.Query{Columns: columns, Time: &scan.Range{From: 0, To: int64(t.o.MaxExemplars) - 1}})
}

// Exemplars returns the exemplars of a database between two times, both included, whose series pass one of the
// selectors, sorted by series and time. They are reserved from memory, if that is not nil.
func (t *Tables) Exemplars(ctx context.Context, db string, selectors [][]*promql.Matcher, from, to int64,
	memory promql.Memory) ([]Exemplar, error) {
	var list []Exemplar
	series := map[string]promql.Labels{} // nil: they pass no selector
	of, ok := t.owner(db)
	if !ok {
		return nil, nil
	}
	tables := tablesNow{store: t.o.Store, db: db, ids: map[string]schema.TableID{}}
	for row, err := range t.exemplarRows(ctx, "database", "metric", "series", "labels", "value", "at", madeColumn,
		tableColumn) {
		if err != nil {
			return nil, err
		}
		if row.AnyNull(6) || row.Int(5) < from || row.Int(5) > to || string(row.Bytes(0)) != db ||
			row.Int(6) != of.made {
			continue
		}
		if table := schema.TableID(row.Int(7)); table != 0 && table != tables.of(row.Text(1)) {
			continue
		}
		text := row.Bytes(2)
		labels, known := series[string(text)]
		if !known {
			if labels = readLabels(text); !passes(selectors, labels) {
				labels = nil
			}
			series[string(text)] = labels
		}
		if labels == nil {
			continue
		}
		if memory != nil {
			if err := memory.Reserve(exemplarBytes); err != nil {
				return nil, err
			}
		}
		list = append(list, Exemplar{DB: db, Metric: labels.Get(promql.NameLabel), Series: labels,
			Labels: readLabels(row.Bytes(3)), Value: row.Float(4), At: row.Int(5)})
	}
	slices.SortStableFunc(list, func(a, b Exemplar) int {
		return cmp.Or(a.Series.Compare(b.Series), cmp.Compare(a.At, b.At), a.Labels.Compare(b.Labels))
	})
	return slices.CompactFunc(list, func(a, b Exemplar) bool { // senders repeat requests
		return a.At == b.At && a.Value == b.Value && a.Series.Equal(b.Series) && a.Labels.Equal(b.Labels)
	}), nil
}

// tablesNow are the tables of metrics, each looked up once.
type tablesNow struct {
	store *engine.Engine
	db    string
	ids   map[string]schema.TableID
}

func (n *tablesNow) of(metric string) schema.TableID {
	id, ok := n.ids[metric]
	if !ok {
		id = tableID(n.store, n.db, metric)
		n.ids[metric] = id
	}
	return id
}

// exemplarBytes is about the memory of an exemplar in an answer.
const exemplarBytes = 1 << 10

// passes reports whether a series passes one of the selectors.
func passes(selectors [][]*promql.Matcher, labels promql.Labels) bool {
	return slices.ContainsFunc(selectors, func(ms []*promql.Matcher) bool {
		return !slices.ContainsFunc(ms, func(m *promql.Matcher) bool { return !m.Matches(labels.Get(m.Name)) })
	})
}

// readLabels reads labels that promql.AppendLabels wrote; nil: the text is not of that form.
func readLabels(text []byte) promql.Labels {
	var texts map[string]string
	if json.Unmarshal(text, &texts) != nil {
		return nil
	}
	ls := make(promql.Labels, 0, len(texts))
	for name, value := range texts {
		ls = append(ls, promql.Label{Name: name, Value: value})
	}
	slices.SortFunc(ls, func(a, b promql.Label) int { return cmp.Compare(a.Name, b.Name) })
	return ls
}
