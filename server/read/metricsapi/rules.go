package metricsapi

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"varve/server/rules"
	"varve/server/web"
	"varve/sqlexec/promql"
)

// ruleGroup is a group in an answer.
type ruleGroup struct {
	Name           string  `json:"name"`
	File           string  `json:"file"`
	Document       string  `json:"document,omitempty"` // of this server: the group is one of this document
	Database       string  `json:"database"`           // of this server: the rules read and write it
	Rules          []any   `json:"rules"`
	Interval       float64 `json:"interval"` // seconds
	Limit          int     `json:"limit"`
	EvaluationTime float64 `json:"evaluationTime"` // seconds
	LastEvaluation string  `json:"lastEvaluation"`
	Evaluations    int64   `json:"evaluations"` // these three: of this server
	Failures       int64   `json:"failures"`
	Missed         int64   `json:"missed"`
}

// ruleHead is what all rules have in an answer.
type ruleHead struct {
	Name           string            `json:"name"`
	Query          string            `json:"query"`
	Language       string            `json:"language"` // of this server
	Labels         map[string]string `json:"labels"`
	Health         string            `json:"health"`
	LastError      string            `json:"lastError,omitempty"`
	EvaluationTime float64           `json:"evaluationTime"`
	LastEvaluation string            `json:"lastEvaluation"`
	Type           string            `json:"type"`
}

// alertingRule is an alerting rule in an answer.
type alertingRule struct {
	State         string            `json:"state"`
	Duration      float64           `json:"duration"` // seconds
	KeepFiringFor float64           `json:"keepFiringFor"`
	Annotations   map[string]string `json:"annotations"`
	Alerts        []ruleAlert       `json:"alerts"`
	ruleHead
}

// ruleAlert is an alert in an answer.
type ruleAlert struct {
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	State           string            `json:"state"`
	ActiveAt        string            `json:"activeAt"`
	KeepFiringSince string            `json:"keepFiringSince,omitempty"`
	Value           string            `json:"value"`
}

// Rules answers rules: the groups with their rules and the alerts of these.
func (h *Handler) Rules(c *web.Ctx) (tell func(dst []byte) []byte, err error) {
	p, err := read(c)
	if err != nil {
		return nil, err
	}
	f, err := p.ruleFilter()
	if err != nil {
		return nil, err
	}
	answer := struct {
		Groups []ruleGroup `json:"groups"`
		Next   string      `json:"groupNextToken,omitempty"`
	}{Groups: []ruleGroup{}}
	if h.o.Rules == nil {
		return text([]byte(noRules)), nil
	}
	list, next, ok := h.o.Rules.Groups(f)
	if !ok {
		return nil, invalid("group_next_token", "the group that it names is not there any more")
	}
	answer.Next = next
	for i := range list {
		answer.Groups = append(answer.Groups, shownGroup(&list[i], h.o.Rules.Database()))
	}
	return encoded(answer)
}

// encoded is the tell of an answer that is made of a value.
func encoded(v any) (func(dst []byte) []byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return text(data), nil
}

// ruleFilter reads the parameters that choose rules.
func (p *params) ruleFilter() (f rules.Filter, err error) {
	switch f.Kind = p.text("type"); f.Kind {
	case "", "alert", "record":
	default:
		return f, invalid("type", "not supported value %.100q", f.Kind)
	}
	f.Names, f.Groups, f.Files = p.values["rule_name[]"], p.values["rule_group[]"], p.values["file[]"]
	if v := p.text("exclude_alerts"); v != "" {
		if f.WithoutAlerts, err = strconv.ParseBool(v); err != nil {
			return f, invalid("exclude_alerts", "%.100q is not true or false", v)
		}
	}
	var parser promql.Parser
	for _, text := range p.values["match[]"] {
		set, err := parser.Selector(text)
		if err != nil {
			return f, invalid("match[]", "%s", err)
		}
		f.Matchers = append(f.Matchers, set)
	}
	f.After = p.text("group_next_token")
	if f.MostGroups, err = p.limit("group_limit"); err != nil {
		return f, err
	}
	if f.After != "" && f.MostGroups == 0 {
		return f, invalid("group_limit", "group_limit needs to be present in order to paginate over the groups")
	}
	return f, nil
}

func shownGroup(g *rules.GroupState, db string) ruleGroup {
	one := ruleGroup{Name: g.Name, File: g.File, Document: g.Document, Database: db, Rules: []any{},
		Interval: g.Interval.Seconds(),
		Limit:    g.Limit, EvaluationTime: g.Took.Seconds(), LastEvaluation: moment(g.Last), Evaluations: g.Evaluations,
		Failures: g.Failures, Missed: g.Missed}
	for i := range g.Rules {
		r := &g.Rules[i]
		head := ruleHead{Name: r.Record + r.Alert, Query: r.Expr, Language: string(r.Language),
			Labels: orEmpty(r.Labels),
			Health: r.Health, LastError: r.Error, EvaluationTime: r.Took.Seconds(), LastEvaluation: moment(r.Last),
			Type: "recording"}
		if r.Alert == "" {
			one.Rules = append(one.Rules, head)
			continue
		}
		head.Type = "alerting"
		one.Rules = append(one.Rules, alertingRule{State: r.State, Duration: r.For.Seconds(),
			KeepFiringFor: r.KeepFiringFor.Seconds(), Annotations: orEmpty(r.Annotations),
			Alerts: shownAlerts(r.Alerts), ruleHead: head})
	}
	return one
}

func shownAlerts(list []rules.AlertState) []ruleAlert {
	out := []ruleAlert{}
	for _, a := range list {
		one := ruleAlert{Labels: orEmpty(a.Labels), Annotations: orEmpty(a.Annotations), State: a.State,
			ActiveAt: moment(a.ActiveAt), Value: strconv.FormatFloat(a.Value, 'e', -1, 64)}
		if !a.KeepSince.IsZero() {
			one.KeepFiringSince = moment(a.KeepSince)
		}
		out = append(out, one)
	}
	return out
}

// moment is a time in an answer; the zero time is that of the year 1.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// Alerts answers alerts: all that are pending or fire.
func (h *Handler) Alerts(*web.Ctx) (tell func(dst []byte) []byte, err error) {
	if h.o.Rules == nil {
		return text([]byte(noAlerts)), nil
	}
	answer := struct {
		Alerts []ruleAlert `json:"alerts"`
	}{Alerts: []ruleAlert{}}
	list, _, _ := h.o.Rules.Groups(rules.Filter{Kind: "alert"})
	for i := range list {
		for k := range list[i].Rules {
			answer.Alerts = append(answer.Alerts, shownAlerts(list[i].Rules[k].Alerts)...)
		}
	}
	return encoded(answer)
}

// Alertmanagers answers alertmanagers: those that are told of alerts.
func (h *Handler) Alertmanagers(*web.Ctx) (tell func(dst []byte) []byte, err error) {
	type manager struct {
		URL string `json:"url"`
	}
	answer := struct {
		Active  []manager `json:"activeAlertmanagers"`
		Dropped []manager `json:"droppedAlertmanagers"`
	}{[]manager{}, []manager{}}
	if h.o.Rules != nil {
		for _, t := range h.o.Rules.Targets() {
			if t.Kind == "alertmanager" {
				answer.Active = append(answer.Active, manager{strings.TrimRight(t.Address, "/") + "/api/v2/alerts"})
			}
		}
	}
	return encoded(answer)
}
