package rules

import (
	"context"
	"math"
	"time"

	"varve/server/rules/file"
	"varve/sqlexec/promql"
)

// found is what the start found in the store.
type found struct {
	states map[string]before // of alerts, by their labels
	kept   map[rowOf][]*kept // alerts that fired, by their rules
}

// rowOf is the rule of a row.
type rowOf struct{ file, group, rule string }

// before is the state of an alert at the last evaluation before the start.
type before struct {
	since, last time.Time
	firing      bool
}

// restore reads the state of alerts before the start. The caller holds m.changing.
func (m *Manager) restore(ctx context.Context) error {
	list, err := m.readKept(ctx)
	if err != nil {
		return err
	}
	f := &found{states: map[string]before{}, kept: map[rowOf][]*kept{}}
	last := map[string]*kept{}
	for _, k := range list {
		last[k.id] = k
	}
	var untold []*kept
	var over [][]any
	now := m.o.Now()
	m.keeping.mu.Lock()
	for _, k := range list {
		if last[k.id] != k || k.state == inactive && now.Sub(k.endedAt) > resolvedFor {
			if m.replace(k) {
				over = append(over, []any{k.rowID(), int64(0)})
			} else {
				untold = append(untold, k)
			}
			continue
		}
		if !m.notifier.WebhooksKnow(k.delivered) { // the first evaluation may change it
			untold = append(untold, k)
		}
		of := rowOf{k.file, k.group, k.rule}
		f.kept[of] = append(f.kept[of], k)
	}
	m.keeping.mu.Unlock()
	m.found = f
	m.tellUntold(untold)
	if len(over) > 0 {
		if err := alertsTable.Delete(ctx, m.o.Store, over...); err != nil {
			return err
		}
	}
	return m.readStates(ctx, f.states) // without them pending alerts begin anew
}

// offsetSlack is how far before its evaluation a sample of an alert is looked for, see file.Group.QueryOffset. Pending
// alerts of groups with a longer offset begin anew after a start.
const offsetSlack = time.Hour

// readStates reads the last samples of the series of alerts.
func (m *Manager) readStates(ctx context.Context, states map[string]before) error {
	now := m.o.Now()
	from, to := now.Add(-m.o.Tolerance-offsetSlack).UnixMilli(), now.UnixMilli()
	err := m.lastSamples(ctx, forStateMetric, from, to, func(labels map[string]string, t int64, v float64) {
		states[keyOf(labels)] = before{since: time.Unix(int64(v), 0), last: time.UnixMilli(t)}
	})
	if err != nil {
		return err
	}
	return m.lastSamples(ctx, alertsMetric, from, to, func(labels map[string]string, t int64, _ float64) {
		fires := labels[stateLabel] == firing.String()
		delete(labels, stateLabel)
		key := keyOf(labels)
		if b, ok := states[key]; ok && fires && b.last.UnixMilli() == t {
			b.firing = true
			states[key] = b
		}
	})
}

func keyOf(labels map[string]string) string { return string(promql.AppendLabels(nil, sorted(labels))) }

// lastSamples visits the last samples of the series of a metric within a time, those that have ended left out.
func (m *Manager) lastSamples(ctx context.Context, metric string, from, to int64,
	visit func(labels map[string]string, t int64, v float64)) error {
	name, err := promql.NewMatcher(promql.MatchEqual, promql.NameLabel, metric)
	if err != nil {
		return err
	}
	tables, release := m.tables(ctx)
	defer release()
	set, err := tables.Select(ctx, promql.Selection{Matchers: []*promql.Matcher{name}, Start: from, End: to})
	if err != nil {
		return err
	}
	defer set.Close()
	return set.Scan(ctx, 0, set.Len(), func(i int, s promql.Samples) error {
		n := len(s.T)
		if n == 0 || math.Float64bits(s.V[n-1]) == math.Float64bits(promql.Stale) {
			return nil
		}
		labels := texts(set.Labels(i))
		delete(labels, promql.NameLabel)
		visit(labels, s.T[n-1], s.V[n-1])
		return nil
	})
}

// adopt gives the rules of a group the alerts that fired before the start. The caller holds m.changing.
func (m *Manager) adopt(g *group) {
	if m.found == nil {
		return
	}
	for _, r := range g.rules {
		if r.Alert == "" || r.begun {
			continue
		}
		r.found = m.found
		of := rowOf{g.file, g.def.Name, r.Alert}
		rest := m.found.kept[of][:0]
		for _, k := range m.found.kept[of] {
			if !r.owns(k) {
				rest = append(rest, k)
				continue
			}
			a := m.revived(k)
			r.active[a.key] = a
			if a.state == firing {
				for _, s := range a.samples() {
					r.written[s.key] = true
				}
			}
		}
		m.found.kept[of] = rest
	}
}

// revived is the alert of a row. If all targets know of it they are told again when it is time.
func (m *Manager) revived(k *kept) *alert {
	a := &alert{key: string(promql.AppendLabels(nil, k.labels)), labels: k.labels, annotations: k.annotations,
		state: k.state, value: k.value, activeAt: k.activeAt, firedAt: k.firedAt, endedAt: k.endedAt,
		keepSince: k.keepSince, kept: k}
	if len(k.delivered) > 0 && m.notifier.KnownBy(k.delivered) {
		a.sentAt = k.sentAt
		if b, ok := m.found.states[a.key]; ok && b.last.After(a.sentAt) {
			a.sentAt = b.last
		}
	}
	return a
}

// owns reports whether an alert may be one of the rule: it has the labels that are the same in all of them.
func (r *rule) owns(k *kept) bool {
	for _, l := range r.labels {
		if fixed, ok := l.text.Fixed(); ok && k.labels.Get(l.name) != fixed {
			return false
		}
	}
	return true
}

// forgetGone resolves the alerts of rules that were taken away while the server was stopped. Those of files that cannot
// be read wait for the next load. The caller holds m.changing.
func (m *Manager) forgetGone(ctx context.Context) {
	if m.found == nil {
		return
	}
	at := m.o.Now()
	for of, list := range m.found.kept {
		if len(list) > 0 && m.unread(of.file) {
			continue
		}
		delete(m.found.kept, of)
		if len(list) == 0 {
			continue
		}
		g := &group{m: m, file: of.file, def: goneGroup(of), interval: m.o.Interval}
		r := newRule(g, &g.def.Rules[0])
		over := map[string]*alert{}
		for _, k := range list {
			a := m.revived(k)
			switch {
			case a.state == firing:
				a.resolve(at)
			case at.Sub(a.endedAt) > resolvedFor:
				over[a.key] = a
			}
			r.active[a.key] = a
		}
		if err := m.keep(ctx, r, at); err != nil {
			m.log.Warn("alerts of a rule that is gone cannot be noted as ended", "rule", of.rule, "error", err)
		}
		m.tell(ctx, r, at)
		m.forget(ctx, over)
	}
	if len(m.found.kept) == 0 {
		m.found = nil
	}
}

// unread reports whether a file is there whose rules are not known because it is wrong: its alerts wait for it.
func (m *Manager) unread(name string) bool {
	for _, s := range m.sources.Load().list {
		if s.name == name && s.file == nil {
			return true
		}
	}
	return m.sources.Load().err != nil
}

// lastRecorded is the last time between two of an evaluation that wrote a series of a recording rule of the group;
// without one, the first.
func (g *group) lastRecorded(ctx context.Context, from, to time.Time) (time.Time, error) {
	last := from
	from = g.asked(from)
	for _, r := range g.rules {
		if r.Record == "" {
			continue
		}
		later := func(_ map[string]string, t int64, _ float64) {
			if at := time.UnixMilli(t).Add(g.def.QueryOffset); at.After(last) {
				last = at
			}
		}
		err := g.m.lastSamples(ctx, r.Record, from.UnixMilli(), to.UnixMilli(), later)
		if err != nil {
			return last, err
		}
	}
	return last, nil
}

// goneGroup is the definition that stands for a rule that is gone.
func goneGroup(of rowOf) *file.Group {
	return &file.Group{Name: of.group, Rules: []file.Rule{{Alert: of.rule, Language: file.PromQL}}}
}
