package samples

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"unicode/utf8"

	"varve/engine"
	"varve/engine/scan"
	"varve/engine/schema"
	"varve/engine/status"
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

// Limits of an exemplar, in characters of its labels and in bytes of those of its series, and of those of a request
// together: each has all labels of its series.
const (
	maxExemplarRunes  = 128
	maxExemplarSeries = 8 << 10
	maxExemplarBytes  = 16 << 20
	maxExemplarNumber = 1 << 62 // others are none that the server gave
)

// exemplarTable is a ring: a row for each place, and what comes later replaces what was there.
//
//	place TIMESTAMP(3) | number BIGINT: of all exemplars ever | database | metric | series, labels: JSON | value | at TIMESTAMP(3) | database_made | table_id
var exemplarTable = schema.Name{DB: engine.PrivateDB, Table: engine.ExemplarsTable}

var exemplarForm = engine.OwnTable{
	Name: engine.ExemplarsTable, Time: "place", Columns: append([]vector.Field{{Name: "place", Type: vector.Timestamp(3)}}, exemplarColumns[:]...),
}

// exemplarColumns are the columns besides the place.
var exemplarColumns = [...]vector.Field{
	{Name: "number", Type: vector.Int64Type}, {Name: "database", Type: vector.StringType}, {Name: "metric", Type: vector.StringType},
	{Name: "series", Type: vector.StringType}, {Name: "labels", Type: vector.StringType}, {Name: "value", Type: vector.FloatType},
	{Name: "at", Type: vector.Timestamp(3)},
}

// exemplars is the end of the ring. Safe for concurrent use.
type exemplars struct {
	mu     sync.Mutex // protects what follows; held while exemplars are written
	loaded bool
	next   int64 // number of the next
}

// Exemplar makes an exemplar of what a sender says; false: it is none that can be kept.
func (r *Request) Exemplar(series, labels []Label, value float64, at int64) (x Exemplar, ok bool) {
	var n engine.SeriesName
	n.Table.DB = r.db
	size := labelBytes(series)
	if size > maxExemplarSeries || labelBytes(labels) > utf8.UTFMax*maxExemplarRunes || r.exemplarBytes > maxExemplarBytes || r.take(&n, series) != nil {
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

// KeepExemplars keeps exemplars in place of the oldest ones, and tells how many.
func (t *Tables) KeepExemplars(ctx context.Context, list []Exemplar) (int, error) {
	most := t.o.MaxExemplars
	if len(list) == 0 || most <= 0 {
		return 0, nil
	}
	x := &t.exemplars
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded {
		if err := t.eachExemplar(ctx, exemplarColumns[:1], func(b *vector.Batch) error {
			for i := range b.N {
				if n := b.Cols[0].Int(i); n < maxExemplarNumber {
					x.next = max(x.next, n+1)
				}
			}
			return nil
		}); err != nil {
			return 0, err
		}
		x.loaded = true
	}
	list = list[max(0, len(list)-most):]
	var set engine.WriteSet
	b := set.Rows(exemplarTable, engine.Hint{AutoCreate: true, TimeIndex: "place"})
	for i := range list {
		of, _ := t.owner(list[i].DB)
		if err := addExemplar(b, &list[i], x.next+int64(i), int64(most)); err != nil {
			return 0, err
		}
		if err := addOrigin(b, of, tableID(t.o.Store, list[i].DB, list[i].Metric)); err != nil {
			return 0, err
		}
		b.EndRow()
	}
	if _, err := t.o.Store.Write(engine.AsServer(ctx), &set); err != nil {
		return 0, err
	}
	x.next += int64(len(list))
	return len(list), nil
}

func addExemplar(b *vector.Builder, x *Exemplar, number, most int64) error {
	place, err := b.Column("place", vector.Timestamp(3))
	if err != nil {
		return err
	}
	place.SetInt(number % most)
	for i, f := range exemplarColumns {
		c, err := b.Column(f.Name, f.Type)
		if err != nil {
			return err
		}
		switch i {
		case 0:
			c.SetInt(number)
		case 1:
			c.SetString(x.DB)
		case 2:
			c.SetString(x.Metric)
		case 3:
			c.SetBytes(promql.AppendLabels(nil, x.Series))
		case 4:
			c.SetBytes(promql.AppendLabels(nil, x.Labels))
		case 5:
			c.SetFloat(x.Value)
		case 6:
			c.SetInt(x.At)
		}
	}
	return nil
}

// eachExemplar reads some columns of all that is kept; nothing where there is no table.
func (t *Tables) eachExemplar(ctx context.Context, columns []vector.Field, f func(b *vector.Batch) error) error {
	table, err := t.o.Store.Own(&exemplarForm)
	if status.Of(err) == status.TableNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	request := engine.Request{Table: table, Time: scan.Range{From: 0, To: int64(t.o.MaxExemplars) - 1}}
	for _, c := range columns {
		request.Columns = append(request.Columns, table.Schema.IDs(c.Name)...)
	}
	request.Columns = append(request.Columns, originIDs(table.Schema)...)
	s, err := t.o.Store.Scan(ctx, request)
	if err != nil {
		return err
	}
	return s.Each(func(b *vector.Batch) (bool, error) { return true, f(b) })
}

// Exemplars returns the exemplars of a database between two times, both inclusive, whose series pass one of some
// selectors: by series, then by time. Memory, if not nil, is what they are taken from.
func (t *Tables) Exemplars(ctx context.Context, db string, selectors [][]*promql.Matcher, from, to int64, memory promql.Memory) ([]Exemplar, error) {
	var list []Exemplar
	series := map[string]promql.Labels{} // nil: they pass no selector
	of, ok := t.owner(db)
	if !ok {
		return nil, nil
	}
	tables := tablesNow{store: t.o.Store, db: db, ids: map[string]schema.TableID{}}
	err := t.eachExemplar(ctx, exemplarColumns[1:], func(b *vector.Batch) error {
		for i := range b.N {
			null := slices.ContainsFunc(b.Cols[:6], func(v *vector.Vector) bool { return v.IsNull(i) })
			if null || b.Cols[5].Int(i) < from || b.Cols[5].Int(i) > to || string(b.Cols[0].Bytes(i)) != db {
				continue
			}
			made, table := originIn(b, 6, i)
			if made != of.made || table != 0 && table != tables.of(string(b.Cols[1].Bytes(i))) {
				continue
			}
			text := b.Cols[2].Bytes(i)
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
					return err
				}
			}
			own := readLabels(b.Cols[3].Bytes(i))
			list = append(list, Exemplar{DB: db, Metric: labels.Get(promql.NameLabel), Series: labels, Labels: own, Value: b.Cols[4].Float(i), At: b.Cols[5].Int(i)})
		}
		return nil
	})
	if err != nil {
		return nil, err
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

// passes reports whether a series passes one of some selectors.
func passes(selectors [][]*promql.Matcher, labels promql.Labels) bool {
	return slices.ContainsFunc(selectors, func(ms []*promql.Matcher) bool {
		return !slices.ContainsFunc(ms, func(m *promql.Matcher) bool { return !m.Matches(labels.Get(m.Name)) })
	})
}

// readLabels reads labels that promql.AppendLabels wrote; of a text that others wrote there are none.
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
