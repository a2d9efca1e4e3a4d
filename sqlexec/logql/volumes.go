package logql

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"varve/sqlexec/logql/syntax"
)

// Volume is the bytes of the lines of some streams.
type Volume struct {
	Labels Labels
	Bytes  []float64 // of each step; zero: none
}

// VolumeQuery asks for volumes. Times are ns.
type VolumeQuery struct {
	Selector []syntax.Matcher
	From, To int64 // From included, To not
	// Step is the length of each part of the time, whose volumes are apart; 0: the time is one part.
	Step int64
	// Labels group the streams; nil: the labels that the selector names.
	Labels []string
	// ByLabel adds up the streams that have a label, for each name of a label.
	ByLabel bool
	Stats   *Stats
}

// Ends are the ends of the parts of the time, ns: the multiples of the step.
func (q *VolumeQuery) Ends() (list []int64) {
	if q.Step == 0 {
		return []int64{q.To}
	}
	for end := q.From - floorMod(q.From, q.Step) + q.Step; ; end += q.Step {
		list = append(list, end)
		if end >= q.To {
			return list
		}
	}
}

func floorMod(a, b int64) int64 {
	if m := a % b; m != 0 && (m < 0) != (b < 0) {
		return m + b
	}
	return a % b
}

// Run adds up the bytes of lines. The volumes are sorted by their sum, the greatest first.
func (q *VolumeQuery) Run(ctx context.Context, store Store) ([]Volume, error) {
	ends := q.Ends()
	length := q.Step
	if length == 0 {
		length = max(q.To-q.From, 1)
	}
	by := &syntax.Grouping{Names: q.Labels}
	switch {
	case q.ByLabel:
		by = &syntax.Grouping{Without: true}
	case len(q.Labels) == 0:
		for _, m := range q.Selector {
			by.Names = append(by.Names, m.Name)
		}
	}
	agg := &syntax.RangeAggregation{Op: syntax.OpBytesOverTime, Range: syntax.LogRange{
		Query: &syntax.LogQuery{Matchers: q.Selector}, Interval: time.Duration(length), Offset: 1}}
	one := leafQuery{leaf: &leaf{agg: agg, grouping: by, streams: true}, stats: q.Stats,
		also:  derived{service: q.namesService()},
		frame: newFrame(steps{ends[0], q.Step, len(ends)}, &agg.Range)}
	found, err := one.run(ctx, store)
	if err != nil {
		return nil, err
	}
	var out []Volume
	for i := range found {
		v := Volume{Bytes: make([]float64, len(ends))}
		for _, l := range found[i].labels {
			v.Labels = append(v.Labels, Label(l))
		}
		for k, t := range found[i].t {
			at, _ := slices.BinarySearchFunc(ends, t, func(end, t int64) int { return cmp.Compare(floorMS(end), t) })
			v.Bytes[min(at, len(ends)-1)] += found[i].v[k]
		}
		out = append(out, v)
	}
	if q.ByLabel {
		out = byLabel(out, len(ends), q.Labels)
	}
	slices.SortStableFunc(out, func(a, b Volume) int {
		return cmp.Or(cmp.Compare(b.Sum(), a.Sum()), a.Labels.Compare(b.Labels))
	})
	return out, nil
}

// namesService reports whether volumes have ServiceLabel.
func (q *VolumeQuery) namesService() bool {
	return q.ByLabel || slices.Contains(q.Labels, ServiceLabel) || slices.ContainsFunc(q.Selector,
		func(m syntax.Matcher) bool { return m.Name == ServiceLabel })
}

// Sum is the bytes of all steps.
func (v *Volume) Sum() (total float64) {
	for _, b := range v.Bytes {
		total += b
	}
	return total
}

// byLabel adds up volumes for each name of a label, or for those that are wanted.
func byLabel(list []Volume, n int, wanted []string) []Volume {
	var out []Volume
	for i := range list {
		for _, l := range list[i].Labels {
			if len(wanted) > 0 && !slices.Contains(wanted, l.Name) {
				continue
			}
			at := slices.IndexFunc(out, func(v Volume) bool { return v.Labels[0].Name == l.Name })
			if at < 0 {
				at = len(out)
				out = append(out, Volume{Labels{{Name: l.Name}}, make([]float64, n)})
			}
			for k, b := range list[i].Bytes {
				out[at].Bytes[k] += b
			}
		}
	}
	slices.SortFunc(out, func(a, b Volume) int { return strings.Compare(a.Labels[0].Name, b.Labels[0].Name) })
	return out
}
