package rules

import (
	"context"
	"maps"

	"varve/server/rules/notify"
)

// Silenced is an alert that an Alertmanager tells nobody of.
type Silenced struct {
	Labels map[string]string `json:"labels"` // of the alert, without the external ones
	By     []string          `json:"by"`     // ids of silences
}

// maxSilenced bounds the list of silenced alerts.
const maxSilenced = 10_000

// Silences lists the silences of the Alertmanagers, and the alerts of this server that are pending or fire and match
// one that is in force. failed are the Alertmanagers that cannot be asked.
func (m *Manager) Silences(ctx context.Context) (list []notify.Silence, silenced []Silenced, failed map[string]error) {
	list, failed = m.notifier.Silences(ctx)
	var active []*notify.Silence
	for i := range list {
		if list[i].Active() {
			active = append(active, &list[i])
		}
	}
	if len(active) == 0 {
		return list, nil, failed
	}
	groups, _, _ := m.Groups(Filter{Kind: "alert"})
	for _, g := range groups {
		for _, r := range g.Rules {
			for _, a := range r.Alerts {
				if ctx.Err() != nil || len(silenced) >= maxSilenced {
					return list, silenced, failed
				}
				if by := m.silencedBy(a.Labels, active); len(by) > 0 {
					silenced = append(silenced, Silenced{a.Labels, by})
				}
			}
		}
	}
	return list, silenced, failed
}

// silencedBy are the ids of the silences that match an alert as Alertmanagers are told of it.
func (m *Manager) silencedBy(labels map[string]string, active []*notify.Silence) (by []string) {
	told := labels
	if len(m.o.ExternalLabels) > 0 {
		told = maps.Clone(m.o.ExternalLabels)
		maps.Copy(told, labels)
	}
	for _, s := range active {
		if s.Matches(told) {
			by = append(by, s.ID)
		}
	}
	return by
}

// Silence makes a silence, or changes the one with its id; see notify.Notifier.Silence.
func (m *Manager) Silence(ctx context.Context, s notify.Silence) (ids []string, err error) {
	return m.notifier.Silence(ctx, s, m.o.Now())
}

// Expire ends a silence; see notify.Notifier.Expire.
func (m *Manager) Expire(ctx context.Context, id string) error { return m.notifier.Expire(ctx, id) }
