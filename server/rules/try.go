package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"varve/engine/status"
	"varve/server/rules/expand"
	"varve/server/rules/file"
	"varve/sqlexec/promql"
)

// Bounds of a trial.
const (
	maxTrialSteps      = 1500 // of PromQL
	maxTrialStatements = 96   // of SQL, which is run once for each step
	maxTrialSeries     = 100
	maxTrialRange      = 31 * 24 * time.Hour
	trialTime          = 30 * time.Second
)

// Trial is what a rule would have done.
type Trial struct {
	From, To time.Time
	Step     time.Duration
	Series   []TrialSeries // by their labels
	Left     int           // further series, which are left out
}

// TrialSeries is one alert of a rule, or one series of a recording rule.
type TrialSeries struct {
	Labels, Annotations map[string]string
	Spans               []Span // none of a recording rule
	Points              []TrialPoint
}

// Span is a time in which an alert was pending or fired.
type Span struct {
	State    string
	From, To time.Time // To is its last step
}

// TrialPoint is a result.
type TrialPoint struct {
	At    time.Time
	Value float64
}

// Try evaluates the one rule of a group between two times, without any effect. Errors of the client are
// InvalidArguments.
func (m *Manager) Try(ctx context.Context, def *file.Group, from, to time.Time) (*Trial, error) {
	if len(def.Rules) != 1 {
		return nil, status.New(status.InvalidArguments, "one rule is tried at a time, here are %d", len(def.Rules))
	}
	if d := to.Sub(from); d <= 0 || d > maxTrialRange {
		return nil, status.New(status.InvalidArguments, "a trial goes over at most %s, and ends after it begins",
			maxTrialRange)
	}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	g := m.newGroup("trial", def)
	r := g.rules[0]
	steps := int64(maxTrialSteps)
	if r.Language == file.SQL {
		steps = maxTrialStatements
	}
	least := to.Sub(from).Milliseconds()/steps + 1
	interval := max(g.interval.Milliseconds(), 1)
	t := &Trial{From: from, To: to, Step: time.Duration((least+interval-1)/interval*interval) * time.Millisecond}
	series, err := m.tryAll(ctx, g, r, t)
	if err != nil {
		return nil, err
	}
	keys := slices.Sorted(maps.Keys(series))
	if more := len(keys) - maxTrialSeries; more > 0 {
		t.Left, keys = more, keys[:maxTrialSeries]
	}
	for _, key := range keys {
		t.Series = append(t.Series, m.trialSeries(ctx, r, t, series[key]))
	}
	return t, ctx.Err()
}

// tried is the results of one label set.
type tried struct {
	labels promql.Labels
	points []TrialPoint
}

// tryAll evaluates a rule at the steps of a trial.
func (m *Manager) tryAll(ctx context.Context, g *group, r *rule, t *Trial) (map[string]*tried, error) {
	series := map[string]*tried{}
	add := func(labels promql.Labels, at time.Time, value float64) error {
		key := string(promql.AppendLabels(nil, labels))
		one := series[key]
		if one == nil {
			if len(series) >= maxResults {
				return fmt.Errorf("the rule has more than %d results", maxResults)
			}
			one = &tried{labels: labels}
			series[key] = one
		}
		if len(series) <= 2*maxTrialSeries { // of others it only counts that they are there
			one.points = append(one.points, TrialPoint{at, value})
		}
		return nil
	}
	if r.Language == file.SQL {
		for at := t.From; !at.After(t.To); at = at.Add(t.Step) {
			points, err := m.ask(ctx, g, r, at)
			if err != nil {
				return nil, err
			}
			for _, p := range points {
				if err := add(p.labels, at, p.value); err != nil {
					return nil, err
				}
			}
		}
		return series, nil
	}
	tables, release := m.tables(ctx)
	defer release()
	q := promql.Query{Expr: r.Expr, Start: t.From.UnixMilli(), End: t.To.UnixMilli(), Step: t.Step.Milliseconds()}
	return series, m.o.Queries.Evaluate(ctx, q, tables, func(out *promql.Result) error {
		for i := range out.Len() {
			for at, p := range out.Samples(i) {
				if err := add(out.Labels(i), time.UnixMilli(at), p.V); err != nil {
					return err
				}
			}
		}
		return ctx.Err()
	})
}

// trialSeries is what becomes of the results of a label set.
func (m *Manager) trialSeries(ctx context.Context, r *rule, t *Trial, of *tried) TrialSeries {
	one := TrialSeries{Labels: texts(of.labels), Points: of.points}
	delete(one.Labels, promql.NameLabel)
	if r.Record != "" {
		maps.Copy(one.Labels, r.Labels)
		one.Labels[promql.NameLabel] = r.Record
		return one
	}
	data := &expand.Data{Labels: texts(of.labels), ExternalLabels: m.o.ExternalLabels, ExternalURL: m.o.ExternalURL}
	at := t.To
	if n := len(of.points); n > 0 {
		at, data.Value = of.points[n-1].At, of.points[n-1].Value
	}
	fill := func(text *expand.Template) string {
		out, err := text.Expand(ctx, data, at, m.template(at))
		if err != nil {
			return "<error expanding template: " + err.Error() + ">"
		}
		return out
	}
	for _, l := range r.labels {
		one.Labels[l.name] = fill(l.text)
	}
	one.Labels[alertName] = r.Alert
	one.Annotations = map[string]string{}
	for _, l := range r.annotations {
		one.Annotations[l.name] = fill(l.text)
	}
	one.Spans = spans(r, t, of.points)
	return one
}

// spans are the states of an alert whose condition is met at some of the steps.
func spans(r *rule, t *Trial, points []TrialPoint) (list []Span) {
	met := map[int64]bool{}
	for _, p := range points {
		met[p.At.UnixMilli()] = true
	}
	now, since, left := inactive, time.Time{}, time.Time{}
	for at := t.From; !at.After(t.To); at = at.Add(t.Step) {
		switch ok := met[at.UnixMilli()]; {
		case ok && now == inactive:
			now, since = pending, at
			if r.For <= 0 {
				now = firing
			}
		case ok && now == pending && at.Sub(since) >= r.For:
			now = firing
		case !ok && now == firing && r.KeepFiringFor > 0:
			if left.IsZero() {
				left = at
			}
			if at.Sub(left) >= r.KeepFiringFor {
				now = inactive
			}
		case !ok:
			now = inactive
		}
		if met[at.UnixMilli()] {
			left = time.Time{}
		}
		if now == inactive {
			continue
		}
		if n := len(list); n > 0 && list[n-1].State == now.String() && at.Sub(list[n-1].To) == t.Step {
			list[n-1].To = at
			continue
		}
		list = append(list, Span{now.String(), at, at})
	}
	return list
}
