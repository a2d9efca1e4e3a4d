package rules

import (
	"context"
	"encoding/json"
	"time"

	"varve/server/write/rows/samples"
	"varve/sqlexec/promql"
)

// sample is a value of a series at the time of an evaluation.
type sample struct {
	key       string // its labels as JSON
	labels    promql.Labels
	value     float64
	histogram []byte // instead of the value; nil: none
}

// newSample makes a sample of labels, the metric among them.
func newSample(labels map[string]string, value float64, histogram []byte) sample {
	s := sample{labels: sorted(labels), value: value, histogram: histogram}
	s.key = string(promql.AppendLabels(nil, s.labels))
	return s
}

// sorted are labels in their order.
func sorted(labels map[string]string) promql.Labels {
	pairs := make([]string, 0, 2*len(labels))
	for name, value := range labels {
		pairs = append(pairs, name, value)
	}
	return promql.NewLabels(pairs...)
}

// readLabels are the labels of a key.
func readLabels(key string) (map[string]string, error) {
	var texts map[string]string
	err := json.Unmarshal([]byte(key), &texts)
	return texts, err
}

// write writes samples at a time.
func (m *Manager) write(ctx context.Context, at time.Time, list []sample) error {
	if len(list) == 0 {
		return nil
	}
	find, handles, err := m.find(list)
	if err != nil {
		return err
	}
	if err := find.Resolve(ctx); err != nil {
		return err
	}
	set := m.sets.Get()
	defer m.sets.Put(set)
	ms := at.UnixMilli()
	for i := range list {
		series, err := find.Series(handles[i])
		if err != nil {
			return err
		}
		to := set.Samples(series, m.o.Samples.Columns())
		if list[i].histogram == nil {
			to.Float(ms, list[i].value)
		} else if err := to.Histogram(ms, list[i].histogram); err != nil {
			return err
		}
	}
	_, err = m.o.Store.Write(ctx, set)
	return err
}

// Input is a value of a series, its metric among the labels.
type Input struct {
	Labels promql.Labels
	promql.Point
}

// Write writes samples at a time, for trials.
func (m *Manager) Write(ctx context.Context, at time.Time, list []Input) error {
	all := make([]sample, len(list))
	for i, s := range list {
		all[i] = sample{key: string(promql.AppendLabels(nil, s.Labels)), labels: s.Labels, value: s.V}
		if s.H != nil {
			all[i].histogram = s.H.AppendBinary(nil)
		}
	}
	return m.write(ctx, at, all)
}

// find looks up the series of samples.
func (m *Manager) find(list []sample) (*samples.Request, []samples.Handle, error) {
	hints, err := m.o.Samples.Hints(nil)
	if err != nil {
		return nil, nil, err
	}
	find := m.o.Samples.Begin(m.o.DB, "", hints)
	defer find.End()
	handles := make([]samples.Handle, len(list))
	for i := range list {
		name := []byte(list[i].key)
		h, ok := find.Find(name)
		if !ok {
			labels := list[i].labels
			if labels == nil { // of a marker
				texts, err := readLabels(list[i].key)
				if err != nil {
					return nil, nil, err
				}
				labels = sorted(texts)
			}
			if h, err = find.Add(name, given(labels)); err != nil {
				return nil, nil, err
			}
		}
		handles[i] = h
	}
	return find, handles, nil
}

// given are labels as a sender gives them.
func given(labels promql.Labels) []samples.Label {
	list := make([]samples.Label, len(labels))
	for i, l := range labels {
		list[i] = samples.Label{Name: []byte(l.Name), Value: []byte(l.Value)}
	}
	return list
}
