package promql_test

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"varve/sqlexec/promql"
	"varve/sqlexec/promql/histogram"
)

// memoryStore is series in memory. Writing and reading must not happen at the same time.
type memoryStore struct {
	series []*memorySeries
	index  map[string]*memorySeries
}

type memorySeries struct {
	labels  promql.Labels
	samples promql.Samples
}

// newMemory makes an empty store.
func newMemory() *memoryStore { return &memoryStore{index: map[string]*memorySeries{}} }

// memorySample is a point to store: a float where H is nil.
type memorySample struct {
	T, ST int64
	V     float64
	H     *histogram.Histogram
}

// Add stores samples of a series. A sample at a time that has one takes its place.
func (s *memoryStore) Add(ls promql.Labels, samples ...memorySample) {
	key := ls.String()
	own := s.index[key]
	if own == nil {
		own = &memorySeries{labels: ls}
		s.index[key] = own
		s.series = append(s.series, own)
	}
	for _, x := range samples {
		own.add(x)
	}
}

func (s *memorySeries) add(x memorySample) {
	p := &s.samples
	at, found := slices.BinarySearch(p.T, x.T)
	if x.H != nil && p.H == nil {
		p.H = make([]*histogram.Histogram, len(p.T))
	}
	if x.ST != 0 && p.ST == nil {
		p.ST = make([]int64, len(p.T))
	}
	if !found {
		p.T, p.V = slices.Insert(p.T, at, x.T), slices.Insert(p.V, at, 0)
		if p.H != nil {
			p.H = slices.Insert(p.H, at, nil)
		}
		if p.ST != nil {
			p.ST = slices.Insert(p.ST, at, 0)
		}
	}
	p.V[at] = x.V
	if p.H != nil {
		p.H[at] = x.H
	}
	if p.ST != nil {
		p.ST[at] = x.ST
	}
}

// Each visits all series with all their samples, which must not be changed.
func (s *memoryStore) Each(visit func(promql.Labels, promql.Samples)) {
	for _, x := range s.series {
		visit(x.labels, x.samples)
	}
}

// Select finds series in the order in which they came.
func (s *memoryStore) Select(_ context.Context, sel promql.Selection) (promql.SeriesSet, error) {
	out := &memorySet{sel: sel}
	for _, x := range s.series {
		if passes(x.labels, sel.Matchers) {
			out.series = append(out.series, x)
		}
	}
	return out, nil
}

func passes(ls promql.Labels, ms []*promql.Matcher) bool {
	for _, m := range ms {
		if !m.Matches(ls.Get(m.Name)) {
			return false
		}
	}
	return true
}

// LabelNames lists the names of labels.
func (s *memoryStore) LabelNames(_ context.Context, sels []promql.Selection) ([]string, error) {
	return s.list(sels, func(l promql.Label) (string, bool) { return l.Name, true }), nil
}

// LabelValues lists the values of a label.
func (s *memoryStore) LabelValues(_ context.Context, name string, sels []promql.Selection) ([]string, error) {
	return s.list(sels, func(l promql.Label) (string, bool) { return l.Value, l.Name == name }), nil
}

func (s *memoryStore) list(sels []promql.Selection, of func(promql.Label) (string, bool)) []string {
	var out []string
	for _, x := range s.series {
		if len(sels) > 0 && !slices.ContainsFunc(sels,
			func(sel promql.Selection) bool { return passes(x.labels, sel.Matchers) }) {
			continue
		}
		for _, l := range x.labels {
			if v, ok := of(l); ok {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(a, b) })
	return slices.Compact(out)
}

// memorySet is a selection.
type memorySet struct {
	sel    promql.Selection
	series []*memorySeries
}

func (s *memorySet) Len() int                   { return len(s.series) }
func (s *memorySet) Labels(i int) promql.Labels { return s.series[i].labels }
func (s *memorySet) Close()                     {}

func (s *memorySet) Scan(ctx context.Context, from, to int, visit func(i int, s promql.Samples) error) error {
	for i := from; i < to; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		all := &s.series[i].samples
		lo := sort.Search(len(all.T), func(k int) bool { return all.T[k] >= s.sel.Start })
		hi := sort.Search(len(all.T), func(k int) bool { return all.T[k] > s.sel.End })
		if hi < lo { // the time ends before it starts
			hi = lo
		}
		part := promql.Samples{T: all.T[lo:hi], V: all.V[lo:hi]}
		if s.sel.Presence {
			part.V = slices.Clone(part.V)
			for k, v := range part.V {
				if v == v {
					part.V[k] = -77 // a number as good as any
				}
			}
		}
		if all.H != nil {
			part.H = all.H[lo:hi]
		}
		if all.ST != nil {
			part.ST = all.ST[lo:hi]
		}
		if err := visit(i, part); err != nil {
			return err
		}
	}
	return nil
}
