package notify

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// managed is an alert as Alertmanagers take it.
type managed struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
	URL         string            `json:"generatorURL,omitempty"`
}

// Message is the usual body of webhooks, and the data of their template.
type Message struct {
	ID          string            `json:"id"`     // of the alert
	Key         string            `json:"key"`    // of this message: a receiver that knows it has it already
	Status      string            `json:"status"` // firing or resolved
	Name        string            `json:"alert"`
	Group       string            `json:"group"`
	File        string            `json:"file"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Value       string            `json:"value"`
	ActiveAt    time.Time         `json:"active_at"`
	StartsAt    time.Time         `json:"starts_at"`
	EndsAt      *time.Time        `json:"ends_at,omitempty"` // of one that is resolved
	URL         string            `json:"url,omitempty"`
}

// key names a message: an alert, since when it fires, and whether it does.
func key(a *Alert) string {
	return a.ID + "-" + strconv.FormatInt(a.StartsAt.UnixMilli(), 36) + "-" + statusOf(a)
}

func statusOf(a *Alert) string {
	if a.Firing {
		return "firing"
	}
	return "resolved"
}

// bodyOf is the body of a request.
func (t *target) bodyOf(ctx context.Context, list []Alert) ([]byte, error) {
	if t.kind == "alertmanager" {
		all := make([]managed, len(list))
		for i, a := range list {
			all[i] = managed{a.Labels, a.Annotations, a.StartsAt.UTC(), a.EndsAt.UTC(), a.URL}
		}
		return json.Marshal(all)
	}
	a := &list[0]
	m := Message{ID: a.ID, Key: key(a), Status: statusOf(a), Name: a.Rule, Group: a.Group, File: a.File,
		Labels: a.Labels, Annotations: a.Annotations, Value: strconv.FormatFloat(a.Value, 'g', -1, 64),
		ActiveAt: a.ActiveAt.UTC(), StartsAt: a.StartsAt.UTC(), URL: a.URL}
	if !a.Firing {
		ends := a.EndsAt.UTC()
		m.EndsAt = &ends
	}
	if t.n.body == nil {
		return json.Marshal(m)
	}
	text, err := t.n.body.Fill(ctx, &m, time.Now())
	return []byte(text), err
}
