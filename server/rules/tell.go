package rules

import (
	"context"
	"maps"
	"time"

	"varve/server/rules/notify"
)

// tell has Alertmanagers and webhooks told of the alerts of a rule: of those that fire or ended a short while ago, when
// they changed, and Alertmanagers again after Options.ResendDelay.
func (m *Manager) tell(_ context.Context, r *rule, at time.Time) {
	if !m.notifier.Any() {
		return
	}
	var list []notify.Alert
	for _, a := range r.active {
		if a.state == pending || a.kept == nil {
			continue
		}
		if due := a.sentAt.IsZero() || a.endedAt.After(a.sentAt) || at.Sub(a.sentAt) >= m.o.ResendDelay; !due {
			continue
		}
		a.sentAt = at
		list = append(list, m.notification(a, at.Add(4*max(m.o.ResendDelay, r.group.interval))))
	}
	m.notifier.Send(list)
}

// tellUntold has webhooks told of changes before the start, in their order.
func (m *Manager) tellUntold(list []*kept) {
	all := make([]notify.Alert, len(list))
	for i, k := range list {
		a := m.revived(k)
		all[i] = m.notification(a, a.endedAt)
		all[i].Before = true
	}
	m.notifier.Send(all)
}

// notification is an alert as others are told of it. until is when it counts as ended if nobody is told again.
func (m *Manager) notification(a *alert, until time.Time) notify.Alert {
	k := a.kept
	n := notify.Alert{ID: k.id, File: k.file, Group: k.group, Rule: k.rule, Labels: texts(a.labels),
		Annotations: a.annotations, Value: a.value, Firing: a.state == firing, StartsAt: a.firedAt,
		ActiveAt: a.activeAt, EndsAt: until, URL: m.o.ExternalURL, Ref: k}
	if !n.Firing {
		n.EndsAt = a.endedAt
	}
	for name, value := range m.o.ExternalLabels {
		if _, ok := n.Labels[name]; !ok {
			n.Labels[name] = value
		}
	}
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	n.Done = maps.Clone(k.delivered)
	return n
}

// delivered notes that a target knows of alerts.
func (m *Manager) delivered(target string, list []notify.Alert) {
	m.keeping.mu.Lock()
	defer m.keeping.mu.Unlock()
	var rows, over [][]any
	var noted []*kept
	for i := range list {
		k := list[i].Ref.(*kept)
		if k.replaced && !k.past || k.delivered[target] {
			continue
		}
		k.delivered[target] = true
		if k.past && m.notifier.WebhooksKnow(k.delivered) {
			k.past = false
			m.keeping.past--
			over = append(over, []any{k.rowID(), int64(0)})
			continue
		}
		if k.sentAt.IsZero() {
			k.sentAt = m.o.Now()
		}
		rows, noted = append(rows, k.row()), append(noted, k)
	}
	if len(over) > 0 {
		if err := alertsTable.Delete(context.Background(), m.o.Store, over...); err != nil {
			m.log.Warn("changes of alerts that were told cannot be removed from the table of alerts", "error", err)
		}
	}
	if len(rows) == 0 {
		return
	}
	err := alertsTable.Put(context.Background(), m.o.Store, rows...)
	for _, k := range noted {
		k.saved = err == nil
	}
	if err != nil {
		m.log.Warn("it cannot be noted who was told of alerts: the next evaluation tries again", "target",
			notify.Hidden(target), "error", err)
	}
}
