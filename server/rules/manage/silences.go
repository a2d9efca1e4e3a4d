package manage

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"varve/engine/status"
	"varve/server/rules"
	"varve/server/rules/notify"
	"varve/server/web"
)

// unasked is an Alertmanager that cannot be asked.
type unasked struct {
	URL   string `json:"url"`
	Error string `json:"error"`
}

// silences is an answer with silences.
type silences struct {
	Managers []string         `json:"alertmanagers"` // that are configured
	Silences []notify.Silence `json:"silences"`
	Alerts   []rules.Silenced `json:"silenced_alerts"`
	Failed   []unasked        `json:"failed,omitempty"`
	Took     int64            `json:"execution_time_ms"`
}

// Silences answers GET /v1/silences: those of all Alertmanagers, and the alerts that they are for.
func (h *Handler) Silences(c *web.Ctx) error {
	if c.Watch != nil {
		c.Watch()
	}
	list, alerts, failed := h.rules.Silences(c.Context)
	a := silences{Managers: []string{}, Silences: orNone(list), Alerts: orNone(alerts)}
	for _, t := range h.rules.Targets() {
		if t.Kind == "alertmanager" {
			a.Managers = append(a.Managers, t.Address)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(failed)) {
		a.Failed = append(a.Failed, unasked{at, failed[at].Error()})
	}
	a.Took = c.ElapsedMS()
	return reply(c, 200, a)
}

func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// made is the answer of a silence that was made.
type made struct {
	IDs  []string `json:"ids"` // one for each Alertmanager, or cluster of them
	Took int64    `json:"execution_time_ms"`
}

// Silence answers POST /v1/silences: the body is a silence in the form of Alertmanager's API v2.
func (h *Handler) Silence(c *web.Ctx) error {
	text, err := body(c)
	if err != nil {
		return err
	}
	var s notify.Silence
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return status.New(status.InvalidArguments, "the silence is not taken: %s", err)
	}
	if c.User.Name != "" {
		s.CreatedBy = c.User.Name
	}
	ids, err := h.rules.Silence(c.Context, s)
	if err != nil {
		return silenceError(c, err)
	}
	return reply(c, 200, made{ids, c.ElapsedMS()})
}

// Expire answers DELETE /v1/silences/{name}.
func (h *Handler) Expire(c *web.Ctx) error {
	id, err := pathName(c)
	if err != nil {
		return err
	}
	if err := h.rules.Expire(c.Context, id); err != nil {
		return silenceError(c, err)
	}
	return reply(c, 200, made{[]string{id}, c.ElapsedMS()})
}

// silenceError answers 404 where there is no such silence, 502 where the Alertmanager cannot be asked, and returns
// other errors.
func silenceError(c *web.Ctx, err error) error {
	switch {
	case errors.Is(err, notify.ErrNoSilence):
		web.ReplyErrorStatus(c, 404, err)
	case status.Of(err) == status.External:
		web.ReplyErrorStatus(c, 502, err)
	default:
		return err
	}
	return nil
}
