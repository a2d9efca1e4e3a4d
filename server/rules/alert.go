package rules

import (
	"context"
	"fmt"
	"strings"
	"time"

	"varve/server/rules/expand"
	"varve/sqlexec/promql"
)

// state is the state of an alert.
type state uint8

// The states. An inactive alert has ended; it is known for a while so that everybody is told.
const (
	inactive state = iota
	pending
	firing
)

func (s state) String() string { return [...]string{"inactive", "pending", "firing"}[s] }

// resolvedFor is how long an alert is known, and Alertmanagers are told of it, after it ended.
const resolvedFor = 15 * time.Minute

// The metrics of alerts.
const (
	alertsMetric   = "ALERTS"
	forStateMetric = "ALERTS_FOR_STATE"
	alertName      = "alertname"
	stateLabel     = "alertstate"
)

// alert is one alert of a rule. The lock of the group protects it; only evaluations change it.
type alert struct {
	key         string        // its labels as JSON
	labels      promql.Labels // alertname among them
	annotations map[string]string
	state       state
	value       float64

	activeAt  time.Time // since when it is pending or firing
	firedAt   time.Time // since when it fires
	endedAt   time.Time // when it ended; zero: it has not
	keepSince time.Time // since when it fires only because of keep_firing_for; zero: it does not

	sentAt time.Time // when Alertmanagers were told last
	kept   *kept     // its row in the table of alerts; nil: none yet
}

// resolve ends an alert that fires.
func (a *alert) resolve(at time.Time) {
	a.state, a.endedAt, a.keepSince = inactive, at, time.Time{}
}

// notAfter takes over that the clock was set back to a time: nothing happened after it, and whoever was told is told
// again.
func (a *alert) notAfter(at time.Time) {
	for _, t := range [...]*time.Time{&a.activeAt, &a.firedAt, &a.endedAt, &a.keepSince} {
		if t.After(at) {
			*t = at
		}
	}
	if a.sentAt.After(at) {
		a.sentAt = time.Time{}
	}
}

// alert evaluates an alerting rule: it moves its alerts on, writes their series, and has everybody told.
func (g *group) alert(ctx context.Context, r *rule, at time.Time) error {
	points, err := g.m.ask(ctx, g, r, at)
	if err != nil {
		return err
	}
	results, err := g.expand(ctx, r, at, points)
	if err != nil {
		return err
	}
	if err := limited(g, len(results)); err != nil {
		return err
	}
	dropped := g.move(r, at, results)
	keeping := g.m.keep(ctx, r, at)
	err = g.put(ctx, r, at, r.series())
	g.m.tell(ctx, r, at)
	g.m.forget(ctx, dropped)
	if err == nil {
		err = keeping
	}
	return err
}

// expand makes an alert of each result, by their labels.
func (g *group) expand(ctx context.Context, r *rule, at time.Time, points []point) (map[string]*alert, error) {
	results := make(map[string]*alert, len(points))
	query := g.m.template(g.asked(at))
	var size sizes
	for _, p := range points {
		data := &expand.Data{Labels: texts(p.labels), ExternalLabels: g.m.o.ExternalLabels,
			ExternalURL: g.m.o.ExternalURL, Value: p.value}
		fill := func(t *expand.Template) string {
			text, err := t.Expand(ctx, data, at, query)
			if err != nil {
				return "<error expanding template: " + err.Error() + ">"
			}
			return text
		}
		labels := texts(p.labels)
		delete(labels, promql.NameLabel)
		for _, l := range r.labels {
			labels[l.name] = fill(l.text)
		}
		labels[alertName] = r.Alert
		a := &alert{labels: sorted(labels), value: p.value, annotations: map[string]string{}}
		for i, l := range a.labels { // those of a result are part of what the query held
			a.labels[i] = promql.Label{Name: strings.Clone(l.Name), Value: strings.Clone(l.Value)}
		}
		for _, l := range r.annotations {
			a.annotations[l.name] = fill(l.text)
			if err := size.add(l.name, a.annotations[l.name]); err != nil {
				return nil, err
			}
		}
		a.key = string(promql.AppendLabels(nil, a.labels))
		if err := size.add(a.key, a.key); err != nil { // the key and the texts in it
			return nil, err
		}
		if results[a.key] != nil {
			return nil, fmt.Errorf("vector contains metrics with the same labelset after applying alert labels: %s",
				a.key)
		}
		results[a.key] = a
	}
	return results, ctx.Err()
}

// move moves the alerts of a rule on to a time. It returns those that are known no longer.
func (g *group) move(r *rule, at time.Time, results map[string]*alert) (dropped map[string]*alert) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for key, now := range results {
		a := r.active[key]
		if a == nil || a.state == inactive {
			now.state, now.activeAt = pending, at
			if a != nil {
				now.kept, now.sentAt = a.kept, a.sentAt
			} else if !r.begun {
				r.group.m.recall(r, now, at)
			}
			r.active[key] = now
			continue
		}
		a.value, a.annotations = now.value, now.annotations
	}
	dropped = map[string]*alert{}
	for key, a := range r.active {
		a.notAfter(at)
		if results[key] == nil {
			if r.gone(a, at) {
				dropped[key] = a
				delete(r.active, key)
			}
			continue
		}
		a.keepSince = time.Time{}
		if a.state == pending && at.Sub(a.activeAt) >= r.For {
			a.state, a.firedAt, a.sentAt = firing, at, time.Time{}
		}
	}
	r.begun, r.found = true, nil
	return dropped
}

// gone moves an alert on whose condition is met no longer, and reports whether it need not be known any more.
func (r *rule) gone(a *alert, at time.Time) bool {
	switch a.state {
	case pending:
		if a.kept == nil || a.kept.state == firing {
			return true
		}
		// It ended, came back for less than Rule.For, and went again: its end is still to be told.
		a.state, a.endedAt = inactive, a.kept.endedAt
		return at.Sub(a.endedAt) > resolvedFor
	case inactive:
		return at.Sub(a.endedAt) > resolvedFor
	}
	if r.KeepFiringFor > 0 {
		if a.keepSince.IsZero() {
			a.keepSince = at
		}
		if at.Sub(a.keepSince) < r.KeepFiringFor {
			return false
		}
	}
	a.resolve(at)
	return false
}

// series are the samples of the alerts of a rule.
func (r *rule) series() []sample {
	var list []sample
	for _, a := range r.active {
		if a.state == inactive {
			continue
		}
		list = append(list, a.samples()...)
	}
	return list
}

// samples are those of one alert: that it is there, and since when.
func (a *alert) samples() []sample {
	labels := texts(a.labels)
	labels[promql.NameLabel] = forStateMetric
	since := newSample(labels, float64(a.activeAt.Unix()), nil)
	labels[promql.NameLabel], labels[stateLabel] = alertsMetric, a.state.String()
	return []sample{newSample(labels, 1, nil), since}
}

// recall gives an alert that a rule finds in its first evaluation the state that it had before the start. The caller
// holds the lock of the group.
func (m *Manager) recall(r *rule, a *alert, at time.Time) {
	if r.found == nil {
		return
	}
	before, ok := r.found.states[a.key]
	before.last = before.last.Add(r.group.def.QueryOffset) // of the evaluation that wrote the sample
	if !ok || at.Sub(before.last) > m.o.Tolerance || before.since.After(at) {
		return
	}
	a.activeAt = before.since
	if before.firing || before.last.Sub(before.since) >= r.For {
		a.state, a.firedAt = firing, before.last
		return
	}
	if away := at.Sub(before.last) - r.group.interval; away > 0 { // nobody looked meanwhile: that time does not count
		a.activeAt = a.activeAt.Add(away)
	}
}
