package promql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"varve/engine"
	"varve/engine/status"
)

// Cardinality is how many series there are, and what makes them many. Lists begin with the greatest count.
type Cardinality struct {
	Series   int
	Pairs    int   // distinct labels with their values
	From, To int64 // ms: bounds of the rows; From is greater than To if there are none

	SeriesByMetric []Count
	ValuesByLabel  []Count
	BytesByLabel   []Count // of the values, as often as series have them
	SeriesByPair   []Count // name=value
}

// Count is how often something is there.
type Count struct {
	Name string
	N    int64
}

// pairBytes is about the memory of a label with its value that is counted.
const pairBytes = 256

// askSeries is the number of series after which the context is checked.
const askSeries = 1024

// Cardinality counts all series of the metrics; lists have at most the given number of entries.
func (t *Tables) Cardinality(ctx context.Context, most int) (*Cardinality, error) {
	set, err := t.Select(ctx, Selection{Start: FirstTime, End: LastTime})
	if err != nil {
		return nil, err
	}
	defer set.Close()
	all := set.(*tableSeries)
	c := &Cardinality{Series: all.Len(), From: LastTime, To: FirstTime}
	if all.selection != nil {
		c.From, c.To = all.selection.Span()
	}
	counts, err := t.countLabels(ctx, all)
	if err != nil {
		return nil, err
	}
	c.Pairs = len(counts)
	metrics, values, bytes, texts := map[string]int64{}, map[string]int64{}, map[string]int64{},
		make(map[string]int64, len(counts))
	for l, n := range counts {
		values[l.Name]++
		bytes[l.Name] += n * int64(len(l.Value))
		texts[l.Name+"="+l.Value] = n
		if l.Name == NameLabel {
			metrics[l.Value] = n
		}
	}
	c.SeriesByMetric, c.ValuesByLabel, c.BytesByLabel, c.SeriesByPair = greatest(metrics, most), greatest(values, most),
		greatest(bytes, most), greatest(texts, most)
	return c, nil
}

// countLabels counts the series of each label with its value.
func (t *Tables) countLabels(ctx context.Context, all *tableSeries) (map[Label]int64, error) {
	pairs, own := map[engine.Label]int64{}, map[Label]int64{} // by number; labels that only name the place of a series
	known := 0
	for i := range all.Len() {
		x := all.serie(i)
		if i%askSeries == 0 {
			if ctx.Err() != nil {
				return nil, status.Wrap(ctx.Err(), status.DeadlineExceeded,
					"the request ended after %d of %d series were counted", i, all.Len())
			}
			if fresh := len(pairs) - known; fresh > 0 && t.Memory != nil {
				if err := t.Memory.Reserve(int64(fresh) * pairBytes); err != nil {
					return nil, err
				}
			}
			known = len(pairs)
		}
		w := &all.wanted[all.selection.Table(int(x.at))]
		own[Label{NameLabel, w.table.Schema.Name.Table}]++
		if w.several {
			own[Label{fieldLabel, w.fields[x.field].name}]++
		}
		for _, l := range all.selection.Labels(int(x.at)) {
			pairs[l]++
		}
	}
	for l, n := range pairs {
		own[Label{t.symbols.String(l.Name), t.symbols.String(l.Value)}] += n
	}
	return own, nil
}

// greatest lists the greatest counts; equal counts are ordered by name.
func greatest(counts map[string]int64, most int) []Count {
	list := make([]Count, 0, len(counts))
	for name, n := range counts {
		list = append(list, Count{name, n})
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), most)]
}
